//! The trait for a view of one point; learners are generic over it.

use crate::error::{InputError, check_finite};
use crate::kernels;

/// One point, dense or sparse, with the operations that a linear learner needs.
///
/// Implementations guarantee that coordinates are finite and that results are rounded as in [`kernels`]. A learner
/// compares [`RowView::dim`] with its own dimension before it calls the other methods. If a vector has a different
/// length, the missing coordinates count as zero, and nothing panics.
///
/// ```
/// use halfspaces_linalg::{PointSet, Points, RowView, SparsePoints};
/// fn squared_distance<R: RowView>(x: R, w: &[f64]) -> f64 {
///     x.norm_sq() - 2.0 * x.dot(w) + w.iter().map(|v| v * v).sum::<f64>()
/// }
/// let dense = Points::from_rows(&[[3.0, 0.0, 1.0]])?;
/// let sparse = SparsePoints::from_dense(&dense)?;
/// let w = [1.0, 0.0, 1.0];
/// assert_eq!(dense.row(0).map(|x| squared_distance(x, &w)), Some(4.0));
/// assert_eq!(sparse.row(0).map(|x| squared_distance(x, &w)), Some(4.0));
/// assert_eq!(sparse.row(0).map(|x| x.entries().count()), Some(2));
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
pub trait RowView: Copy {
    /// Number of coordinates of the point.
    fn dim(self) -> usize;

    /// `x · w`.
    fn dot(self, w: &[f64]) -> f64;

    /// A number that has the sign of `x · w` and is finite if `x · w` is. This method is cheaper than [`RowView::dot`].
    #[inline]
    fn dot_sign(self, w: &[f64]) -> f64 {
        self.dot(w)
    }

    /// Computes `w += a x`.
    fn add_scaled_to(self, a: f64, w: &mut [f64]);

    /// `‖x‖²`.
    fn norm_sq(self) -> f64;

    /// The stored coordinates as (column, value), in order of increasing column; a sparse row skips zeros.
    fn entries(self) -> impl Iterator<Item = (usize, f64)>;

    /// Prefetches this row, which will be read soon. Use this method if the processor cannot predict the order of rows.
    /// The prefetch affects only speed.
    #[inline]
    fn prefetch(self) {}

    /// Prefetches data a few rows after this one. Use this method when a collection is read in order and the processor
    /// itself does not prefetch the rows early enough. The prefetch affects only speed.
    #[inline]
    fn prefetch_ahead(self) {}
}

/// A borrowed dense row with finite values.
///
/// ```
/// use halfspaces_linalg::{DenseRow, InputError, RowView};
/// let x = DenseRow::new(&[1.0, 2.0])?;
/// assert_eq!(x.dot(&[3.0, -1.0]), 1.0);
/// assert!(matches!(DenseRow::new(&[f64::NAN]), Err(InputError::NonFinite { .. })));
/// # Ok::<(), InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DenseRow<'a>(&'a [f64]);

impl<'a> DenseRow<'a> {
    /// Checks that `values` has at least one coordinate and that all are finite.
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`], [`InputError::NonFinite`].
    pub fn new(values: &'a [f64]) -> Result<Self, InputError> {
        if values.is_empty() {
            return Err(InputError::ZeroDimension);
        }
        check_finite(values, values.len())?;
        Ok(DenseRow(values))
    }

    /// Wraps a row of a collection that has been checked as a whole.
    #[inline]
    pub(crate) fn from_checked(values: &'a [f64]) -> Self {
        DenseRow(values)
    }

    /// The coordinates.
    #[inline]
    #[must_use]
    pub fn as_slice(self) -> &'a [f64] {
        self.0
    }
}

impl RowView for DenseRow<'_> {
    #[inline(always)]
    fn prefetch(self) {
        halfspaces_kernels::prefetch(self.0);
    }

    #[inline]
    fn dim(self) -> usize {
        self.0.len()
    }

    #[inline]
    fn dot(self, w: &[f64]) -> f64 {
        kernels::dot(self.0, w)
    }

    #[inline]
    fn add_scaled_to(self, a: f64, w: &mut [f64]) {
        kernels::axpy(a, self.0, w);
    }

    #[inline]
    fn norm_sq(self) -> f64 {
        kernels::norm_sq(self.0)
    }

    fn entries(self) -> impl Iterator<Item = (usize, f64)> {
        self.0.iter().copied().enumerate()
    }
}

/// A borrowed sparse row, with strictly increasing columns below `dim` and finite values.
///
/// ```
/// use halfspaces_linalg::{RowView, SparseRow};
/// let x = SparseRow::new(&[1, 4], &[2.0, 3.0], 5)?;
/// assert_eq!(x.dot(&[1.0; 5]), 5.0);
/// assert_eq!(x.norm_sq(), 13.0);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SparseRow<'a> {
    columns: &'a [u32],
    values: &'a [f64],
    dim: usize,
}

impl<'a> SparseRow<'a> {
    /// Checks columns and values.
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`], [`InputError::LengthMismatch`] (the numbers of columns and values differ),
    /// [`InputError::UnsortedColumns`], [`InputError::IndexOutOfRange`] (a column is not below `dim`),
    /// [`InputError::NonFinite`].
    pub fn new(columns: &'a [u32], values: &'a [f64], dim: usize) -> Result<Self, InputError> {
        check_sparse_row(0, columns, values, dim)?;
        Ok(SparseRow { columns, values, dim })
    }

    #[inline]
    pub(crate) fn from_checked(columns: &'a [u32], values: &'a [f64], dim: usize) -> Self {
        SparseRow { columns, values, dim }
    }

    /// The stored columns.
    #[must_use]
    pub fn columns(self) -> &'a [u32] {
        self.columns
    }

    /// The stored values, one per column.
    #[must_use]
    pub fn values(self) -> &'a [f64] {
        self.values
    }
}

/// Checks the conditions of a sparse row. Errors contain `row` as the row number.
pub(crate) fn check_sparse_row(
    row: usize,
    columns: &[u32],
    values: &[f64],
    dim: usize,
) -> Result<(), InputError> {
    if dim == 0 {
        return Err(InputError::ZeroDimension);
    }
    InputError::check_len(columns.len(), values.len())?;
    let mut next = 0u64;
    for (&j, &value) in columns.iter().zip(values) {
        let column = j as usize;
        if u64::from(j) < next {
            return Err(InputError::UnsortedColumns { row, column });
        }
        if column >= dim {
            return Err(InputError::IndexOutOfRange { index: column, len: dim });
        }
        if !value.is_finite() {
            return Err(InputError::NonFinite { row, column, value });
        }
        next = u64::from(j) + 1;
    }
    Ok(())
}

impl RowView for SparseRow<'_> {
    #[inline]
    fn dim(self) -> usize {
        self.dim
    }

    #[inline]
    fn dot(self, w: &[f64]) -> f64 {
        kernels::sparse_dot(self.columns, self.values, w)
    }

    #[inline]
    fn dot_sign(self, w: &[f64]) -> f64 {
        kernels::sparse_sign(self.columns, self.values, w)
    }

    #[inline]
    fn add_scaled_to(self, a: f64, w: &mut [f64]) {
        kernels::sparse_axpy(a, self.columns, self.values, w);
    }

    #[inline]
    fn norm_sq(self) -> f64 {
        kernels::sparse_norm_sq(self.columns, self.values)
    }

    fn entries(self) -> impl Iterator<Item = (usize, f64)> {
        self.columns.iter().zip(self.values).map(|(&j, &v)| (j as usize, v))
    }

    // Reads of weights at scattered columns prevent the processor's own prefetcher from predicting the reads of the
    // next columns and values.
    #[inline]
    fn prefetch(self) {
        halfspaces_kernels::prefetch(self.columns);
        halfspaces_kernels::prefetch(self.values);
    }

    #[inline]
    fn prefetch_ahead(self) {
        halfspaces_kernels::prefetch_ahead(self.columns);
        halfspaces_kernels::prefetch_ahead(self.values);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sparse_rows_are_checked() {
        let ok = SparseRow::new(&[0, 2], &[1.0, 2.0], 3).unwrap();
        assert_eq!(ok.entries().collect::<Vec<_>>(), [(0, 1.0), (2, 2.0)]);
        let case = |c: &[u32], v: &[f64], d| SparseRow::new(c, v, d).map(|_| ()).unwrap_err();
        assert_eq!(case(&[], &[], 0), InputError::ZeroDimension);
        assert_eq!(case(&[1], &[], 3), InputError::LengthMismatch { points: 1, labels: 0 });
        assert_eq!(
            case(&[1, 1], &[1.0, 1.0], 3),
            InputError::UnsortedColumns { row: 0, column: 1 }
        );
        assert_eq!(case(&[3], &[1.0], 3), InputError::IndexOutOfRange { index: 3, len: 3 });
        assert!(matches!(case(&[2], &[f64::INFINITY], 3), InputError::NonFinite { column: 2, .. }));
    }
}
