//! Affine halfspaces, the models of learners with an intercept.

use crate::{Classifier, Halfspace, InputError, RowView, getters, load_checked};

/// An affine halfspace `sign(w · x + b)`, with `sign(0) = +1`.
///
/// ```
/// use halfspaces_linalg::{AffineHalfspace, Classifier, Label, PointSet, Points};
/// let points = Points::from_rows(&[[1.0], [3.0]])?;
/// let beyond_two = AffineHalfspace::new(vec![1.0], -2.0)?;
/// assert_eq!(beyond_two.label_all(&points)?, [Label::Negative, Label::Positive]);
/// // The same halfspace in homogeneous form, over lifted points.
/// let lifted = beyond_two.lifted()?;
/// assert_eq!(lifted.label_all(&points.lifted())?, beyond_two.label_all(&points)?);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct AffineHalfspace {
    linear: Halfspace,
    bias: f64,
}

load_checked!(AffineHalfspace { linear: Halfspace, bias: f64 } => |linear: Halfspace, bias| AffineHalfspace::new(linear.into_normal(), bias));

impl AffineHalfspace {
    /// Creates the halfspace with weights `w` and bias `b`.
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`], [`InputError::NonFinite`].
    pub fn new(weights: Vec<f64>, bias: f64) -> Result<Self, InputError> {
        if !bias.is_finite() {
            return Err(InputError::NonFinite { row: 0, column: weights.len(), value: bias });
        }
        Ok(AffineHalfspace { linear: Halfspace::new(weights)?, bias })
    }

    /// The weights w.
    #[must_use]
    pub fn weights(&self) -> &[f64] {
        self.linear.normal()
    }

    getters! {
        /// The bias b; 0 for a learner without an intercept.
        bias: f64,

        /// The homogeneous part `sign(w · x)`; equal to the whole halfspace if the bias is 0.
        linear: &Halfspace,
    }

    /// The same halfspace over lifted points ([`crate::PointSet::lifted`]).
    ///
    /// # Errors
    /// Never fails for a value of this type. The signature includes an [`InputError`] because the constructor of a
    /// [`Halfspace`] checks its normal.
    pub fn lifted(&self) -> Result<Halfspace, InputError> {
        Halfspace::from_affine(self.linear.normal().to_vec(), self.bias)
    }
}

impl Classifier for AffineHalfspace {
    fn dim(&self) -> usize {
        self.linear.dim()
    }

    fn decision_value<R: RowView>(&self, x: R) -> Result<f64, InputError> {
        let value = self.linear.decision_value(x)? + self.bias;
        if value.is_finite() { Ok(value) } else { Err(InputError::Overflow { row: 0 }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DenseRow, Label};

    #[test]
    fn the_bias_moves_the_boundary_and_nothing_else() {
        let h = AffineHalfspace::new(vec![2.0, 0.0], -1.0).unwrap();
        let at = |x: f64| h.label(DenseRow::new(&[x, 7.0]).unwrap()).unwrap();
        assert_eq!(
            (at(0.5), at(0.4), at(0.6)),
            (Label::Positive, Label::Negative, Label::Positive)
        );
        assert_eq!(h.linear().normal(), [2.0, 0.0]);
        assert_eq!(h.bias(), -1.0);
    }

    #[test]
    fn bad_input_is_typed() {
        assert_eq!(AffineHalfspace::new(vec![], 0.0), Err(InputError::ZeroDimension));
        assert!(AffineHalfspace::new(vec![f64::NAN], 0.0).is_err());
        assert!(AffineHalfspace::new(vec![1.0], f64::INFINITY).is_err());
        let h = AffineHalfspace::new(vec![1e308], 1e308).unwrap();
        assert!(h.label(DenseRow::new(&[1.0, 1.0]).unwrap()).is_err());
        let far = DenseRow::new(&[1.0]).unwrap();
        assert_eq!(h.decision_value(far), Err(InputError::Overflow { row: 0 }));
    }
}
