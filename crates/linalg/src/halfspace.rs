//! Homogeneous halfspaces.

use crate::angle::{angle, norm, normalise};
use crate::contract::Classifier;
use crate::error::{InputError, check_finite};
use crate::label::Label;
use crate::load_checked;
use crate::points::PointSet;
use crate::row::RowView;
use std::ops::Range;

/// Number of products computed per block.
const BLOCK: usize = 64;

/// A homogeneous halfspace `h_w(x) = sign(w · x)`, with `sign(0) = +1`.
///
/// The normal `w` need not have unit length. If it is zero, every point is labelled +1. Learners start with the zero
/// normal.
///
/// ```
/// use halfspaces_linalg::{Classifier, DenseRow, Halfspace, Label};
/// let h = Halfspace::new(vec![2.0, 0.0])?;
/// let x = DenseRow::new(&[-0.3, 0.9])?;
/// assert_eq!(h.label(x)?, Label::Negative);
/// assert_eq!(h.margin(x)?, 0.3); // |w·x| / ‖w‖
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Halfspace {
    normal: Vec<f64>,
}

load_checked!(Halfspace { normal: Vec<f64> } => Halfspace::new);

impl Halfspace {
    /// Creates the halfspace with the given normal.
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`], [`InputError::NonFinite`].
    pub fn new(normal: Vec<f64>) -> Result<Halfspace, InputError> {
        if normal.is_empty() {
            return Err(InputError::ZeroDimension);
        }
        check_finite(&normal, normal.len())?;
        Ok(Halfspace { normal })
    }

    /// The affine halfspace `sign(w·x + b)` as a homogeneous one over lifted points ([`PointSet::lifted`]), with one
    /// more coordinate.
    pub(crate) fn from_affine(mut weights: Vec<f64>, bias: f64) -> Result<Halfspace, InputError> {
        if weights.is_empty() {
            return Err(InputError::ZeroDimension);
        }
        weights.push(bias);
        Halfspace::new(weights)
    }

    /// The normal `w`.
    #[must_use]
    pub fn normal(&self) -> &[f64] {
        &self.normal
    }

    /// Consumes the halfspace and returns the normal.
    #[must_use]
    pub fn into_normal(self) -> Vec<f64> {
        self.normal
    }

    /// Number of coordinates.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.normal.len()
    }

    /// The same halfspace with a normal of norm 1.
    ///
    /// # Errors
    /// [`InputError::ZeroVector`].
    pub fn normalised(mut self) -> Result<Halfspace, InputError> {
        if normalise(&mut self.normal) { Ok(self) } else { Err(InputError::ZeroVector) }
    }

    /// `|w · x| / ‖w‖`, the distance of `x` from the boundary.
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`], [`InputError::ZeroVector`] if `w` is zero.
    pub fn margin<R: RowView>(&self, x: R) -> Result<f64, InputError> {
        let length = self.positive_norm()?;
        Ok(self.decision_value(x)?.abs() / length)
    }

    /// The minimum of `y (w · x) / ‖w‖` over labelled points. If the minimum is positive, it is the γ of the mistake
    /// bounds. Otherwise it is minus the largest distance of a misclassified point from the boundary.
    ///
    /// # Errors
    /// [`InputError::Empty`], [`InputError::LengthMismatch`], [`InputError::DimensionMismatch`],
    /// [`InputError::ZeroVector`].
    pub fn margin_on<P: PointSet>(&self, points: &P, labels: &[Label]) -> Result<f64, InputError> {
        InputError::check_dim(self.dim(), points.dim())?;
        InputError::check_len(points.len(), labels.len())?;
        let length = self.positive_norm()?;
        let mut least: Option<f64> = None;
        for (row, (x, y)) in points.rows().zip(labels).enumerate() {
            let signed = y.as_f64() * finite(row, x.dot(&self.normal))?;
            least = Some(least.map_or(signed, |least| least.min(signed)));
        }
        least.map(|least| least / length).ok_or(InputError::Empty)
    }

    /// The angle between the normals, in [0, π].
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`], [`InputError::ZeroVector`].
    pub fn angle_to(&self, other: &Halfspace) -> Result<f64, InputError> {
        angle(&self.normal, &other.normal)
    }

    fn positive_norm(&self) -> Result<f64, InputError> {
        let length = norm(&self.normal);
        if length > 0.0 { finite(0, length) } else { Err(InputError::ZeroVector) }
    }
}

impl Classifier for Halfspace {
    fn dim(&self) -> usize {
        self.normal.len()
    }

    fn decision_value<R: RowView>(&self, x: R) -> Result<f64, InputError> {
        InputError::check_dim(self.dim(), x.dim())?;
        finite(0, x.dot(&self.normal))
    }

    fn label_rows<P: PointSet>(
        &self,
        points: &P,
        rows: Range<usize>,
    ) -> Result<Vec<Label>, InputError> {
        InputError::check_dim(self.dim(), points.dim())?;
        let mut labels = Vec::with_capacity(rows.len());
        if let Some(points) = points.as_dense() {
            let mut values = [0.0; BLOCK];
            for first in rows.clone().step_by(BLOCK) {
                let values = &mut values[..BLOCK.min(rows.end - first)];
                points.margins_from(first, &self.normal, values)?;
                for (row, value) in (first..).zip(values) {
                    labels.push(Label::from_sign(finite(row, *value)?));
                }
            }
        } else {
            for row in rows {
                let x = points.row(row);
                let x = x.ok_or(InputError::IndexOutOfRange { index: row, len: points.len() })?;
                labels.push(Label::from_sign(finite(row, x.dot(&self.normal))?));
            }
        }
        Ok(labels)
    }
}

/// Returns `value`, or an overflow error for row `row` if `value` is not finite.
fn finite(row: usize, value: f64) -> Result<f64, InputError> {
    if value.is_finite() { Ok(value) } else { Err(InputError::Overflow { row }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DenseRow, Points};

    #[test]
    fn the_zero_normal_predicts_positive_and_has_no_margin() {
        let zero = Halfspace::new(vec![0.0, 0.0]).unwrap();
        let x = DenseRow::new(&[-1.0, 2.0]).unwrap();
        assert_eq!(zero.label(x), Ok(Label::Positive));
        assert_eq!(zero.margin(x), Err(InputError::ZeroVector));
        assert_eq!(zero.normalised(), Err(InputError::ZeroVector));
    }

    #[test]
    fn margins_do_not_depend_on_the_normals_length() {
        let points = Points::from_rows(&[[1.0, 0.0], [0.5, 0.5], [-0.25, 3.0]]).unwrap();
        for scale in [1e-120, 1.0, 1e120] {
            let h = Halfspace::new(vec![scale, 0.0]).unwrap();
            let labels = h.label_all(&points).unwrap();
            assert_eq!(labels, [Label::Positive, Label::Positive, Label::Negative]);
            assert_eq!(h.margin_on(&points, &labels), Ok(0.25));
            assert_eq!(h.margin_on(&points, &[Label::Positive; 3]), Ok(-0.25));
        }
    }

    #[test]
    fn bad_input_is_typed() {
        assert_eq!(Halfspace::new(vec![]), Err(InputError::ZeroDimension));
        assert!(matches!(Halfspace::new(vec![f64::NAN]), Err(InputError::NonFinite { .. })));
        let h = Halfspace::new(vec![1.0]).unwrap();
        let mismatch = InputError::DimensionMismatch { expected: 1, found: 2 };
        assert_eq!(h.label(DenseRow::new(&[1.0, 2.0]).unwrap()), Err(mismatch.clone()));
        let wide = Points::from_rows(&[[1.0, 2.0]]).unwrap();
        assert_eq!(h.label_all(&wide), Err(mismatch));
        let points = Points::from_rows(&[[1.0]]).unwrap();
        assert!(matches!(h.margin_on(&points, &[]), Err(InputError::LengthMismatch { .. })));
        let none = Points::new(vec![], 1).unwrap();
        assert_eq!(h.margin_on(&none, &[]), Err(InputError::Empty));
        // Products and norms that overflow `f64` give errors, not labels.
        let long = Halfspace::new(vec![1e200, 1e200]).unwrap();
        let points = Points::from_rows(&[[1.0, 1.0], [1e200, -1e200]]).unwrap();
        assert_eq!(long.label_all(&points), Err(InputError::Overflow { row: 1 }));
        let labels = [Label::Positive; 2];
        assert_eq!(long.margin_on(&points, &labels), Err(InputError::Overflow { row: 1 }));
        let longest = Halfspace::new(vec![1.5e308, 1.5e308]).unwrap();
        let x = DenseRow::new(&[0.1, 0.1]).unwrap();
        assert!(matches!(longest.margin(x), Err(InputError::Overflow { .. })));
    }
}
