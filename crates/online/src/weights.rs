//! The weight vector linear learners share.

use crate::error::OnlineError;
use crate::learner::Prediction;
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

/// ‖x‖², refused where it is 0 or overflows: for learners that divide by it.
pub(crate) fn positive_norm_sq<R: RowView>(x: R) -> Result<f64, OnlineError> {
    let norm_sq = x.norm_sq();
    if norm_sq.is_normal() {
        return Ok(norm_sq);
    }
    check_scale(x)?;
    Err(InputError::ZeroVector.into())
}

/// As many squares of numbers up to this as there may be have a finite sum.
const NO_OVERFLOW: f64 = 1e140;
/// A number from this on has a normal square.
const NO_UNDERFLOW: f64 = 1e-150;

/// Refuses a point whose squared norm is no normal number although the point is not zero: products
/// with it would lose their digits, and the bounds their meaning.
pub(crate) fn check_scale<R: RowView>(x: R) -> Result<(), OnlineError> {
    // Nearly always: no square overflows and some square is normal, which needs no sum.
    let (mut small, mut seen) = (true, false);
    for (_, v) in x.entries() {
        small &= v.abs() <= NO_OVERFLOW;
        seen |= v.abs() >= NO_UNDERFLOW;
    }
    if small && seen {
        return Ok(());
    }
    let norm_sq = x.norm_sq();
    if norm_sq.is_normal() {
        Ok(())
    } else if !norm_sq.is_finite() {
        Err(OnlineError::Overflow)
    } else if x.entries().any(|(_, v)| v != 0.0) {
        Err(OnlineError::Underflow)
    } else {
        Ok(())
    }
}

/// Checks for single fields of saved learners.
#[cfg(feature = "serde")]
pub(crate) mod saved {
    use serde::de::{Deserialize, Deserializer, Error};

    fn check<'de, D: Deserializer<'de>>(
        deserializer: D,
        accept: impl Fn(f64) -> bool,
        requirement: &str,
    ) -> Result<f64, D::Error> {
        let value = f64::deserialize(deserializer)?;
        if accept(value) {
            Ok(value)
        } else {
            Err(D::Error::custom(format!("{value} is out of range; it must be {requirement}")))
        }
    }

    pub(crate) fn positive<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        check(deserializer, |v| v > 0.0 && v.is_finite(), "positive and finite")
    }

    pub(crate) fn from_0_below_1<'de, D: Deserializer<'de>>(d: D) -> Result<f64, D::Error> {
        check(d, |v| (0.0..1.0).contains(&v), "at least 0 and below 1")
    }

    pub(crate) fn above_0_to_1<'de, D: Deserializer<'de>>(d: D) -> Result<f64, D::Error> {
        check(d, |v| v > 0.0 && v <= 1.0, "above 0 and at most 1")
    }

    /// Counters go up by one at a time; one that no run can have reached would overflow.
    pub(crate) fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        let count = u64::deserialize(deserializer)?;
        if count < 1 << 53 {
            Ok(count)
        } else {
            Err(D::Error::custom(format!("{count} is out of range; it must be below 2^53")))
        }
    }

    pub(crate) fn below_half<'de, D: Deserializer<'de>>(d: D) -> Result<f64, D::Error> {
        check(d, |v| (0.0..0.5).contains(&v), "at least 0 and below 1/2")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_linalg::DenseRow;

    #[test]
    fn scales_are_judged_by_the_squared_norm() {
        let sizes = [0.0, 5e-324, 1e-170, 1e-154, 1e-150, 1e-149, 1.0, 1e140, 1e141, 1e153, 1e154];
        for a in sizes {
            for b in sizes.into_iter().chain([1e155, f64::MAX]) {
                let row = [a, -b];
                let x = DenseRow::new(&row).unwrap();
                let norm_sq = x.norm_sq();
                let expected = match (norm_sq.is_finite(), norm_sq.is_normal()) {
                    (false, _) => Err(OnlineError::Overflow),
                    (_, true) => Ok(()),
                    _ if a + b > 0.0 => Err(OnlineError::Underflow),
                    _ => Ok(()),
                };
                assert_eq!(check_scale(x), expected, "{a:e}, {b:e}");
            }
        }
    }
}
