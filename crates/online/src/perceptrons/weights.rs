//! The weight vector of the linear learners.

use crate::direction::origin;
use halfspaces_linalg::{Halfspace, InputError, RowView};

/// Weights w in R^d, d >= 1.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Vec<f64>", into = "Vec<f64>"))]
pub(super) struct Weights(Vec<f64>);

impl TryFrom<Vec<f64>> for Weights {
    type Error = InputError;

    fn try_from(weights: Vec<f64>) -> Result<Weights, InputError> {
        Ok(Weights(Halfspace::new(weights)?.into_normal()))
    }
}

impl From<Weights> for Vec<f64> {
    fn from(weights: Weights) -> Vec<f64> {
        weights.0
    }
}

impl Weights {
    pub(super) fn zero(dim: usize) -> Result<Weights, InputError> {
        Ok(Weights(origin(dim)?))
    }

    pub(super) fn dim(&self) -> usize {
        self.0.len()
    }

    pub(super) fn as_slice(&self) -> &[f64] {
        &self.0
    }

    pub(super) fn as_mut_slice(&mut self) -> &mut [f64] {
        &mut self.0
    }

    pub(super) fn check<R: RowView>(&self, x: R) -> Result<(), InputError> {
        InputError::check_dim(self.0.len(), x.dim())
    }

    /// `w · x`, or an error if the product is not finite: the sign of a product that overflows is not reliable.
    #[inline]
    pub(super) fn value<R: RowView>(&self, x: R) -> Result<f64, InputError> {
        self.check(x)?;
        finite(x.dot(&self.0))
    }

    /// A number with the sign of `w · x`, or an error if the number is not finite.
    #[inline]
    pub(super) fn sign<R: RowView>(&self, x: R) -> Result<f64, InputError> {
        self.check(x)?;
        finite(x.dot_sign(&self.0))
    }

    /// `w += a x`.
    #[inline]
    pub(super) fn add<R: RowView>(&mut self, a: f64, x: R) {
        x.add_scaled_to(a, &mut self.0);
    }

    pub(super) fn scale(&mut self, factor: f64) {
        self.0.iter_mut().for_each(|w| *w *= factor);
    }

    pub(super) fn halfspace(&self) -> Result<Halfspace, InputError> {
        Halfspace::new(self.0.clone())
    }
}

#[inline]
pub(super) fn finite(value: f64) -> Result<f64, InputError> {
    if value.is_finite() { Ok(value) } else { Err(InputError::Overflow { row: 0 }) }
}

/// Implements the methods and `Classifier` for a learner whose hypothesis is sign(w · x) with w in its field `weights`.
macro_rules! linear_classifier {
    ($learner:ty) => {
        impl $learner {
            /// The weights w.
            #[must_use]
            pub fn weights(&self) -> &[f64] {
                self.weights.as_slice()
            }

            /// The current hypothesis.
            ///
            /// # Errors
            /// [`halfspaces_linalg::InputError::NonFinite`] if the weights have overflowed.
            pub fn halfspace(
                &self,
            ) -> Result<halfspaces_linalg::Halfspace, halfspaces_linalg::InputError> {
                self.weights.halfspace()
            }
        }

        /// The decision value is w · x.
        impl halfspaces_linalg::Classifier for $learner {
            fn dim(&self) -> usize {
                self.weights.dim()
            }

            #[inline]
            fn decision_value<R: halfspaces_linalg::RowView>(
                &self,
                x: R,
            ) -> Result<f64, halfspaces_linalg::InputError> {
                self.weights.value(x)
            }
        }
    };
}
pub(super) use linear_classifier;
