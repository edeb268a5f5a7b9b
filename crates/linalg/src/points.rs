//! Dense points, and the interface common to dense and sparse collections.

use crate::angle::{norm, normalise};
use crate::contract::{checkpoint, checkpoint_at};
use crate::error::{InputError, check_finite};
use crate::load_checked;
use crate::row::{DenseRow, RowView};
use crate::zeros::reserve;
use faer::MatRef;
use halfspaces_kernels::request_large_pages;
use std::borrow::Cow;
use std::f64::consts::FRAC_1_SQRT_2;

/// A collection of points in one space, accessed row by row: [`Points`] or [`crate::SparsePoints`].
///
/// ```
/// use halfspaces_linalg::{PointSet, Points, RowView, SparsePoints};
/// fn widest<P: PointSet>(points: &P) -> Option<usize> {
///     (0..points.len()).max_by(|i, j| {
///         let size = |i: usize| points.row(i).map_or(0.0, RowView::norm_sq);
///         size(*i).total_cmp(&size(*j))
///     })
/// }
/// let dense = Points::from_rows(&[[1.0, 0.0], [0.0, -3.0], [2.0, 1.0]])?;
/// assert_eq!(widest(&dense), Some(1));
/// assert_eq!(widest(&SparsePoints::from_dense(&dense)?), Some(1));
/// assert_eq!(dense.select(&[2, 0])?.as_slice(), [2.0, 1.0, 1.0, 0.0]);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
pub trait PointSet: Send + Sync + Sized {
    /// The view of one point.
    type Row<'a>: RowView + Send + Sync
    where
        Self: 'a;

    /// Number of points `n`.
    fn len(&self) -> usize;

    /// Whether there are no points.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of coordinates `d >= 1`.
    fn dim(&self) -> usize;

    /// The point with index `i`, counted from 0; `None` after the last.
    fn row(&self, i: usize) -> Option<Self::Row<'_>>;

    /// All points in order.
    fn rows(&self) -> impl Iterator<Item = Self::Row<'_>>;

    /// The points themselves if they are dense, otherwise `None`. Algorithms that read many rows at once use this
    /// method.
    fn as_dense(&self) -> Option<&DensePoints<'_>> {
        None
    }

    /// The points at `indices`, in that order; indices may repeat.
    ///
    /// # Errors
    /// [`InputError::IndexOutOfRange`].
    fn select(&self, indices: &[usize]) -> Result<Self, InputError>;

    /// Maps every point `x` to `(x, 1)/√2`, which has one more coordinate. An affine halfspace becomes a homogeneous
    /// one. If ‖x‖ <= 1, ‖w‖ <= 1 and |b| <= 1, a margin γ becomes at least γ/2 (CKST24, Remark 2).
    #[must_use]
    fn lifted(&self) -> Self;

    /// Scales every point to norm 1.
    ///
    /// # Errors
    /// [`InputError::ZeroRow`].
    fn normalised(self) -> Result<Self, InputError>;

    /// Divides all points by the largest norm `R`, and also returns `R`. A margin γ becomes γ/R.
    ///
    /// # Errors
    /// [`InputError::Empty`]; [`InputError::ZeroVector`] if all points are zero; [`InputError::Overflow`] if a norm
    /// overflows `f64`.
    fn rescaled_to_unit_ball(self) -> Result<(Self, f64), InputError>;

    /// The norms of all points, computed without overflow of the squares.
    fn norms(&self) -> Vec<f64>;

    /// The largest norm `R`; 0 if there are no points.
    fn max_norm(&self) -> f64 {
        self.norms().into_iter().fold(0.0, f64::max)
    }
}

/// The number of values that are copied between two checkpoints.
const COPIED_AT_ONCE: usize = 1 << 18;

/// The largest of `norms`, if it is a valid radius.
pub(crate) fn radius_of(norms: &[f64]) -> Result<f64, InputError> {
    if norms.is_empty() {
        return Err(InputError::Empty);
    }
    if let Some(row) = norms.iter().position(|r| !r.is_finite()) {
        return Err(InputError::Overflow { row });
    }
    let radius = norms.iter().copied().fold(0.0, f64::max);
    if radius == 0.0 {
        return Err(InputError::ZeroVector);
    }
    Ok(radius)
}

/// Dense points: `n` rows of `d >= 1` finite coordinates in one contiguous buffer. The points own the buffer
/// ([`Points`]) or borrow it ([`DensePoints::borrowed`]).
///
/// ```
/// use halfspaces_linalg::{DensePoints, PointSet, Points};
/// let values = vec![1.0, 2.0, 3.0, 4.0];
/// let borrowed = DensePoints::borrowed(&values, 2)?;
/// assert_eq!(borrowed.as_slice().as_ptr(), values.as_ptr());
/// assert_eq!(borrowed.lifted(), Points::new(values.clone(), 2)?.lifted());
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct DensePoints<'a> {
    values: Cow<'a, [f64]>,
    dim: usize,
}

/// Dense points that own their buffer.
///
/// ```
/// use halfspaces_linalg::{PointSet, Points, RowView};
/// let points = Points::new(vec![1.0, 2.0, 3.0, 4.0], 2)?;
/// assert_eq!((points.len(), points.dim()), (2, 2));
/// assert_eq!(points.row(1).map(|x| x.norm_sq()), Some(25.0));
/// assert_eq!(points.as_mat()[(1, 0)], 3.0); // faer's view of the same memory
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
pub type Points = DensePoints<'static>;

load_checked!(Points { values: Vec<f64>, dim: usize } => Points::new);

impl Points {
    /// Takes a row-major buffer: row `i` is `values[i * dim .. (i + 1) * dim]`. No copy is made. An empty buffer gives
    /// an empty collection.
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`], [`InputError::RaggedBuffer`], [`InputError::NonFinite`].
    pub fn new(values: Vec<f64>, dim: usize) -> Result<Points, InputError> {
        DensePoints::checked(Cow::Owned(values), dim)
    }

    /// Wraps values that are known to be finite and to form rows of `dim >= 1` coordinates.
    pub(crate) fn from_checked(values: Vec<f64>, dim: usize) -> Points {
        DensePoints { values: Cow::Owned(values), dim }
    }

    /// Copies the given rows.
    ///
    /// # Errors
    /// [`InputError::Empty`] (without rows the dimension is unknown), [`InputError::DimensionMismatch`] if the lengths
    /// of the rows differ, and the errors of [`Points::new`].
    pub fn from_rows<R: AsRef<[f64]>>(rows: &[R]) -> Result<Points, InputError> {
        let dim = rows.first().ok_or(InputError::Empty)?.as_ref().len();
        let mut values = Vec::new();
        reserve(&mut values, rows.len().saturating_mul(dim))?;
        for row in rows {
            InputError::check_dim(dim, row.as_ref().len())?;
            values.extend_from_slice(row.as_ref());
        }
        Points::new(values, dim)
    }
}

impl<'a> DensePoints<'a> {
    /// Borrows a row-major buffer in the format of [`Points::new`].
    ///
    /// # Errors
    /// Same as [`Points::new`].
    pub fn borrowed(values: &'a [f64], dim: usize) -> Result<DensePoints<'a>, InputError> {
        DensePoints::checked(Cow::Borrowed(values), dim)
    }

    fn checked(values: Cow<'a, [f64]>, dim: usize) -> Result<DensePoints<'a>, InputError> {
        if dim == 0 {
            return Err(InputError::ZeroDimension);
        }
        if !values.len().is_multiple_of(dim) {
            return Err(InputError::RaggedBuffer { len: values.len(), dim });
        }
        check_finite(&values, dim)?;
        Ok(DensePoints { values, dim })
    }

    /// Returns the same points with their own buffer; a borrowed buffer is copied.
    #[must_use]
    pub fn into_owned(self) -> Points {
        let values = match self.values {
            Cow::Owned(values) => values,
            Cow::Borrowed(values) => {
                let mut copy = Vec::with_capacity(values.len());
                request_large_pages(&mut copy);
                for part in values.chunks(COPIED_AT_ONCE) {
                    checkpoint();
                    copy.extend_from_slice(part);
                }
                copy
            }
        };
        Points::from_checked(values, self.dim)
    }

    /// faer's view of the same memory, `n × d`.
    #[must_use]
    pub fn as_mat(&self) -> MatRef<'_, f64> {
        MatRef::from_row_major_slice(&self.values, self.len(), self.dim)
    }

    /// The row-major buffer.
    #[must_use]
    pub fn as_slice(&self) -> &[f64] {
        &self.values
    }

    /// Consumes the points and returns the row-major buffer; a borrowed buffer is copied.
    #[must_use]
    pub fn into_vec(self) -> Vec<f64> {
        self.values.into_owned()
    }

    /// Computes `w · x_i` for the points starting with index `first`, one value for each element of `out`. This is
    /// faster than computing the products one by one, and rounds identically.
    ///
    /// ```
    /// use halfspaces_linalg::Points;
    /// let points = Points::from_rows(&[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])?;
    /// let mut margins = [0.0; 2];
    /// points.margins_from(1, &[1.0, -2.0], &mut margins)?;
    /// assert_eq!(margins, [-5.0, -7.0]);
    /// # Ok::<(), halfspaces_linalg::InputError>(())
    /// ```
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`]; [`InputError::IndexOutOfRange`] if there are too few points.
    pub fn margins_from(&self, first: usize, w: &[f64], out: &mut [f64]) -> Result<(), InputError> {
        InputError::check_dim(self.dim, w.len())?;
        let len = self.len();
        if len.checked_sub(first).is_none_or(|left| left < out.len()) {
            return Err(InputError::IndexOutOfRange { index: len.max(first), len });
        }
        halfspaces_kernels::products(&self.values[first * self.dim..], w, out);
        Ok(())
    }

    fn row_slices(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        self.values.chunks_exact(self.dim)
    }
}

impl PointSet for DensePoints<'_> {
    type Row<'a>
        = DenseRow<'a>
    where
        Self: 'a;

    fn len(&self) -> usize {
        self.values.len() / self.dim
    }

    fn dim(&self) -> usize {
        self.dim
    }

    #[inline]
    fn row(&self, i: usize) -> Option<DenseRow<'_>> {
        let start = i.checked_mul(self.dim)?;
        let values = self.values.get(start..start.checked_add(self.dim)?)?;
        Some(DenseRow::from_checked(values))
    }

    fn rows(&self) -> impl Iterator<Item = DenseRow<'_>> {
        self.row_slices().map(DenseRow::from_checked)
    }

    fn as_dense(&self) -> Option<&DensePoints<'_>> {
        Some(self)
    }

    fn select(&self, indices: &[usize]) -> Result<Self, InputError> {
        let mut values = Vec::new();
        reserve(&mut values, indices.len().saturating_mul(self.dim))?;
        for (at, &index) in indices.iter().enumerate() {
            checkpoint_at(at);
            let row =
                self.row(index).ok_or(InputError::IndexOutOfRange { index, len: self.len() })?;
            values.extend_from_slice(row.as_slice());
        }
        Ok(DensePoints { values: Cow::Owned(values), dim: self.dim })
    }

    fn lifted(&self) -> Self {
        let dim = self.dim + 1;
        let mut values = Vec::with_capacity(self.len() * dim);
        request_large_pages(&mut values);
        for (at, row) in self.row_slices().enumerate() {
            checkpoint_at(at);
            values.extend(row.iter().map(|v| v * FRAC_1_SQRT_2));
            values.push(FRAC_1_SQRT_2);
        }
        DensePoints { values: Cow::Owned(values), dim }
    }

    fn normalised(mut self) -> Result<Self, InputError> {
        for (row, values) in self.values.to_mut().chunks_exact_mut(self.dim).enumerate() {
            if !normalise(values) {
                return Err(InputError::ZeroRow { row });
            }
        }
        Ok(self)
    }

    fn rescaled_to_unit_ball(mut self) -> Result<(Self, f64), InputError> {
        let radius = radius_of(&self.norms())?;
        for (at, row) in self.values.to_mut().chunks_exact_mut(self.dim).enumerate() {
            checkpoint_at(at);
            row.iter_mut().for_each(|v| *v /= radius);
        }
        Ok((self, radius))
    }

    fn norms(&self) -> Vec<f64> {
        let of = |(at, row)| {
            checkpoint_at(at);
            norm(row)
        };
        self.row_slices().enumerate().map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    #[test]
    fn construction_is_checked() {
        assert_eq!(Points::new(vec![], 0), Err(InputError::ZeroDimension));
        assert_eq!(Points::new(vec![1.0; 3], 2), Err(InputError::RaggedBuffer { len: 3, dim: 2 }));
        let nan = Points::new(vec![0.0, 1.0, 2.0, f64::NAN], 2).unwrap_err();
        assert!(matches!(nan, InputError::NonFinite { row: 1, column: 1, .. }));
        assert_eq!(nan.to_string(), "row 1, column 1 is NaN; all values must be finite");
        assert_eq!(Points::from_rows::<[f64; 2]>(&[]), Err(InputError::Empty));
        assert_eq!(
            Points::from_rows(&[vec![1.0], vec![1.0, 2.0]]),
            Err(InputError::DimensionMismatch { expected: 1, found: 2 })
        );
        assert!(Points::new(vec![], 3).unwrap().is_empty());
        let values = [0.0, 1.0, f64::INFINITY];
        assert!(DensePoints::borrowed(&values[..2], 1).is_ok());
        assert!(matches!(
            DensePoints::borrowed(&values, 1),
            Err(InputError::NonFinite { row: 2, .. })
        ));
    }

    #[test]
    fn rows_beyond_the_end_are_none() {
        let points = Points::new(vec![1.0, 2.0], 1).unwrap();
        assert!(points.row(2).is_none());
        assert!(points.row(usize::MAX).is_none());
        assert_eq!(points.select(&[1, 1]).unwrap().as_slice(), [2.0, 2.0]);
        assert_eq!(points.select(&[5]), Err(InputError::IndexOutOfRange { index: 5, len: 2 }));
    }

    #[test]
    fn the_faer_view_is_the_same_memory() {
        let points = Points::new((0..6).map(f64::from).collect(), 3).unwrap();
        let mat = points.as_mat();
        assert_eq!((mat.nrows(), mat.ncols()), (2, 3));
        assert!(std::ptr::eq(&mat[(1, 2)], &points.as_slice()[5]));
    }

    #[test]
    fn lifting_halves_a_margin_at_most() {
        let points = Points::from_rows(&[[0.6, 0.0], [-0.6, 0.0]]).unwrap();
        let lifted = points.lifted();
        assert_eq!(lifted.dim(), 3);
        assert_relative_eq!(lifted.as_slice()[0], 0.6 * FRAC_1_SQRT_2);
        assert!(lifted.max_norm() <= 1.0);
        // w = e1, b = 0.1: the margins are .7 and .5; the lifted normal (1, 0, .1) has margin >= .25.
        let normal_norm = 1.01f64.sqrt();
        for x in lifted.rows() {
            assert!(x.dot(&[1.0, 0.0, 0.1]).abs() / normal_norm >= 0.25);
        }
    }

    #[test]
    fn extreme_norms_are_normalised() {
        let points = Points::from_rows(&[[3e150, 4e150], [3e-150, 4e-150], [1e-320, 0.0]]).unwrap();
        for x in points.normalised().unwrap().rows() {
            assert_relative_eq!(x.norm_sq(), 1.0, max_relative = 1e-15);
        }
        let zero = Points::from_rows(&[[1.0], [0.0]]).unwrap();
        assert_eq!(zero.normalised(), Err(InputError::ZeroRow { row: 1 }));
    }

    #[test]
    fn rescaling_reports_the_radius() {
        let (points, radius) =
            Points::from_rows(&[[3.0, 4.0], [1.0, 0.0]]).unwrap().rescaled_to_unit_ball().unwrap();
        assert_eq!(radius, 5.0);
        assert_eq!(points.as_slice(), [0.6, 0.8, 0.2, 0.0]);
        let zero = Points::from_rows(&[[0.0]]).unwrap();
        assert_eq!(zero.rescaled_to_unit_ball(), Err(InputError::ZeroVector));
        let huge = Points::from_rows(&[[1.0, 1.0], [1.5e308, 1.5e308]]).unwrap();
        assert_eq!(huge.rescaled_to_unit_ball(), Err(InputError::Overflow { row: 1 }));
    }

    #[cfg(feature = "serde")]
    #[test]
    fn deserialising_checks_too() {
        let points = Points::new(vec![1.0, 2.0], 2).unwrap();
        let text = serde_json::to_string(&points).unwrap();
        assert_eq!(serde_json::from_str::<Points>(&text).unwrap(), points);
        assert!(serde_json::from_str::<Points>(r#"{"values":[1.0],"dim":2}"#).is_err());
    }
}
