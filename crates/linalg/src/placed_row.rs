//! Views of rows that scale or lift them without a copy.

use crate::RowView;
use std::f64::consts::FRAC_1_SQRT_2;

/// The row sx: a row x multiplied by a number s.
///
/// ```
/// use halfspaces_linalg::{DenseRow, RowView, ScaledRow};
/// let x = ScaledRow::new(DenseRow::new(&[1.0, 2.0])?, 0.5);
/// assert_eq!((x.dot(&[1.0, 1.0]), x.norm_sq()), (1.5, 1.25));
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScaledRow<R> {
    row: R,
    scale: f64,
}

impl<R: RowView> ScaledRow<R> {
    /// The row `scale` times `row`. The products of `scale` and the coordinates must be finite, as [`RowView`]
    /// requires.
    #[must_use]
    pub fn new(row: R, scale: f64) -> Self {
        ScaledRow { row, scale }
    }
}

impl<R: RowView> RowView for ScaledRow<R> {
    #[inline]
    fn dim(self) -> usize {
        self.row.dim()
    }

    #[inline]
    fn dot(self, w: &[f64]) -> f64 {
        self.scale * self.row.dot(w)
    }

    #[inline]
    fn add_scaled_to(self, a: f64, w: &mut [f64]) {
        self.row.add_scaled_to(self.scale * a, w);
    }

    #[inline]
    fn norm_sq(self) -> f64 {
        self.scale * self.row.norm_sq() * self.scale
    }

    fn entries(self) -> impl Iterator<Item = (usize, f64)> {
        let scale = self.scale;
        self.row.entries().map(move |(j, v)| (j, scale * v))
    }

    #[inline]
    fn prefetch(self) {
        self.row.prefetch();
    }

    #[inline]
    fn prefetch_ahead(self) {
        self.row.prefetch_ahead();
    }
}

/// A row lifted by one dimension: (x, 1)/√2. An affine halfspace over x is homogeneous over the lifted row.
///
/// ```
/// use halfspaces_linalg::{DenseRow, LiftedRow, RowView};
/// let x = LiftedRow::new(DenseRow::new(&[1.0])?);
/// assert_eq!(x.dim(), 2);
/// assert!((x.dot(&[3.0, -3.0])).abs() < 1e-15 && (x.norm_sq() - 1.0).abs() < 1e-15);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LiftedRow<R>(R);

impl<R: RowView> LiftedRow<R> {
    /// The row (`row`, 1)/√2.
    #[must_use]
    pub fn new(row: R) -> Self {
        LiftedRow(row)
    }
}

impl<R: RowView> RowView for LiftedRow<R> {
    #[inline]
    fn dim(self) -> usize {
        self.0.dim() + 1
    }

    #[inline]
    fn dot(self, w: &[f64]) -> f64 {
        let (body, last) = w.split_at(self.0.dim().min(w.len()));
        FRAC_1_SQRT_2 * (self.0.dot(body) + last.first().copied().unwrap_or(0.0))
    }

    #[inline]
    fn add_scaled_to(self, a: f64, w: &mut [f64]) {
        let a = FRAC_1_SQRT_2 * a;
        let (body, last) = w.split_at_mut(self.0.dim().min(w.len()));
        self.0.add_scaled_to(a, body);
        if let Some(last) = last.first_mut() {
            *last += a;
        }
    }

    #[inline]
    fn norm_sq(self) -> f64 {
        0.5 * (self.0.norm_sq() + 1.0)
    }

    fn entries(self) -> impl Iterator<Item = (usize, f64)> {
        let end = self.0.dim();
        let lifted = self.0.entries().map(|(j, v)| (j, v * FRAC_1_SQRT_2));
        lifted.chain(std::iter::once((end, FRAC_1_SQRT_2)))
    }

    #[inline]
    fn prefetch(self) {
        self.0.prefetch();
    }

    #[inline]
    fn prefetch_ahead(self) {
        self.0.prefetch_ahead();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DenseRow, PointSet, Points, SparsePoints};
    use approx::assert_relative_eq;

    /// The views agree with copies of the lifted and scaled points, dense and sparse.
    #[test]
    fn views_agree_with_copies() {
        let points = Points::from_rows(&[[0.5, 0.0, -2.0], [0.0, 1.0, 3.0]]).unwrap();
        let sparse = SparsePoints::from_dense(&points).unwrap();
        let lifted = points.lifted();
        let w = [0.3, -0.2, 0.9, 0.4];
        for ((x, s), copy) in points.rows().zip(sparse.rows()).zip(lifted.rows()) {
            let view = LiftedRow::new(x);
            assert_relative_eq!(view.dot(&w), copy.dot(&w), epsilon = 1e-15);
            assert_relative_eq!(view.norm_sq(), copy.norm_sq(), epsilon = 1e-15);
            assert!(view.entries().eq(copy.entries()));
            assert_eq!(view.dot(&w).to_bits(), LiftedRow::new(s).dot(&w).to_bits());
            let (mut a, mut b) = ([0.0; 4], [0.0; 4]);
            view.add_scaled_to(2.0, &mut a);
            copy.add_scaled_to(2.0, &mut b);
            a.iter().zip(&b).for_each(|(a, b)| assert_relative_eq!(a, b, epsilon = 1e-15));

            let view = ScaledRow::new(x, 0.25);
            assert_eq!(view.dot(&w), 0.25 * x.dot(&w));
            assert_relative_eq!(view.norm_sq(), x.norm_sq() / 16.0);
            let mut a = [0.0; 3];
            view.add_scaled_to(4.0, &mut a);
            assert_eq!(a, x.as_slice());
        }
    }

    /// A vector that is too short causes no panic.
    #[test]
    fn short_vectors_count_as_zero() {
        let x = LiftedRow::new(DenseRow::new(&[1.0, 2.0]).unwrap());
        assert_relative_eq!(x.dot(&[1.0]), FRAC_1_SQRT_2);
        x.add_scaled_to(1.0, &mut []);
    }
}
