//! The weight vector linear learners share.

use crate::error::OnlineError;
use crate::protocol::Prediction;
use halfspaces_linalg::{Halfspace, InputError, RowView, zeros};

/// Weights w in R^d, d >= 1.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Vec<f64>", into = "Vec<f64>"))]
pub(crate) struct Weights(Vec<f64>);

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
    pub(crate) fn zero(dim: usize) -> Result<Weights, InputError> {
        if dim == 0 { Err(InputError::ZeroDimension) } else { Ok(Weights(zeros(1, dim)?)) }
    }

    pub(crate) fn dim(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn as_slice(&self) -> &[f64] {
        &self.0
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [f64] {
        &mut self.0
    }

    pub(crate) fn check<R: RowView>(&self, x: R) -> Result<(), InputError> {
        InputError::check_dim(self.0.len(), x.dim())
    }

    /// `w · x`, refused where it is not finite: no label is drawn from an overflow.
    #[inline]
    pub(crate) fn value<R: RowView>(&self, x: R) -> Result<f64, OnlineError> {
        self.check(x)?;
        finite(x.dot(&self.0))
    }

    /// A number of the sign of `w · x`, refused as that is.
    #[inline]
    pub(crate) fn sign<R: RowView>(&self, x: R) -> Result<f64, OnlineError> {
        self.check(x)?;
        finite(x.dot_sign(&self.0))
    }

    /// `sign(w · x)`.
    #[inline]
    pub(crate) fn predict<R: RowView>(&self, x: R) -> Result<Prediction, OnlineError> {
        self.value(x).map(Prediction::from_value)
    }

    /// `w += a x`.
    #[inline]
    pub(crate) fn add<R: RowView>(&mut self, a: f64, x: R) {
        x.add_scaled_to(a, &mut self.0);
    }

    pub(crate) fn scale(&mut self, factor: f64) {
        self.0.iter_mut().for_each(|w| *w *= factor);
    }

    pub(crate) fn halfspace(&self) -> Result<Halfspace, InputError> {
        Halfspace::new(self.0.clone())
    }
}

#[inline]
fn finite(value: f64) -> Result<f64, OnlineError> {
    if value.is_finite() { Ok(value) } else { Err(OnlineError::Overflow) }
}
