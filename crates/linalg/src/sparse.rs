//! Sparse points in compressed rows.

use crate::angle::{norm_by, normalise_by};
use crate::error::InputError;
use crate::kernels;
use crate::load_checked;
use crate::points::{PointSet, Points, radius_of};
use crate::row::{RowView, SparseRow, check_sparse_row};
use crate::zeros::zeros;
use halfspaces_kernels::request_large_pages;
use std::borrow::Cow;
use std::f64::consts::FRAC_1_SQRT_2;

/// Sparse points in compressed sparse rows (CSR): one buffer contains the stored values of all rows and another
/// contains their columns. The points own the buffers ([`SparsePoints`]) or borrow them ([`CsrPoints::borrowed`]).
///
/// ```
/// use halfspaces_linalg::{CsrPoints, PointSet, SparsePoints};
/// // Rows (0, 2, 0) and (1, 0, 3).
/// let (starts, columns, values) = ([0, 1, 3], [1, 0, 2], [2.0, 1.0, 3.0]);
/// let borrowed = CsrPoints::borrowed(&starts, &columns, &values, 3)?;
/// let owned = SparsePoints::new(starts.to_vec(), columns.to_vec(), values.to_vec(), 3)?;
/// assert_eq!(borrowed, owned);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct CsrPoints<'a> {
    /// Row `i` is stored at `row_starts[i] .. row_starts[i + 1]`.
    row_starts: Cow<'a, [usize]>,
    columns: Cow<'a, [u32]>,
    values: Cow<'a, [f64]>,
    dim: usize,
}

/// Sparse points that own their buffers.
///
/// ```
/// use halfspaces_linalg::{PointSet, Points, SparsePoints};
/// // Rows (0, 2, 0) and (1, 0, 3).
/// let points = SparsePoints::new(vec![0, 1, 3], vec![1, 0, 2], vec![2.0, 1.0, 3.0], 3)?;
/// assert_eq!(points.to_dense()?, Points::from_rows(&[[0.0, 2.0, 0.0], [1.0, 0.0, 3.0]])?);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
pub type SparsePoints = CsrPoints<'static>;

load_checked! {
    SparsePoints { row_starts: Vec<usize>, columns: Vec<u32>, values: Vec<f64>, dim: usize } => SparsePoints::new
}

/// Maximum number of coordinates of sparse points. Column indices are 32-bit numbers; half of their range is reserved
/// for lifting, which adds one coordinate each time.
pub const MAX_SPARSE_DIM: usize = 1 << 31;

fn check_width(dim: usize) -> Result<(), InputError> {
    let in_range = dim <= MAX_SPARSE_DIM;
    InputError::check_parameter("dimension", dim as f64, in_range, "at most 2^31 for sparse points")
}

impl SparsePoints {
    /// Takes the three CSR buffers. `row_starts` has one more entry than there are rows; it starts at 0 and ends at the
    /// number of stored values. Column indices increase strictly within a row and are 32-bit numbers, which limits
    /// `dim` ([`MAX_SPARSE_DIM`]).
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`], [`InputError::ParameterOutOfRange`],
    /// [`InputError::LengthMismatch`], [`InputError::BrokenRowBoundaries`], [`InputError::UnsortedColumns`],
    /// [`InputError::IndexOutOfRange`], [`InputError::NonFinite`].
    pub fn new(
        row_starts: Vec<usize>,
        columns: Vec<u32>,
        values: Vec<f64>,
        dim: usize,
    ) -> Result<SparsePoints, InputError> {
        CsrPoints::from_checked(row_starts, columns, values, dim).checked()
    }

    /// Wraps buffers that form valid rows of `dim >= 1` coordinates, or that the caller checks next.
    fn from_checked(
        row_starts: Vec<usize>,
        columns: Vec<u32>,
        values: Vec<f64>,
        dim: usize,
    ) -> SparsePoints {
        let (row_starts, columns) = (Cow::Owned(row_starts), Cow::Owned(columns));
        CsrPoints { row_starts, columns, values: Cow::Owned(values), dim }
    }

    /// An empty collection in `dim` dimensions; add points with [`SparsePoints::push`].
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`].
    pub fn empty(dim: usize) -> Result<SparsePoints, InputError> {
        SparsePoints::new(vec![0], vec![], vec![], dim)
    }

    /// Appends one row. After an error the collection is unchanged.
    ///
    /// # Errors
    /// The errors of [`SparseRow::new`], with the index that this row would have had.
    pub fn push(&mut self, columns: &[u32], values: &[f64]) -> Result<(), InputError> {
        check_sparse_row(self.len(), columns, values, self.dim)?;
        self.columns.to_mut().extend_from_slice(columns);
        self.values.to_mut().extend_from_slice(values);
        self.row_starts.to_mut().push(self.values.len());
        Ok(())
    }

    /// Stores the non-zero coordinates of dense points.
    ///
    /// # Errors
    /// [`InputError::ParameterOutOfRange`] for more than [`MAX_SPARSE_DIM`] coordinates.
    pub fn from_dense(points: &Points) -> Result<SparsePoints, InputError> {
        check_width(points.dim())?;
        let (mut row_starts, mut columns, mut values) = (vec![0], vec![], vec![]);
        for row in points.rows() {
            for (j, v) in row.entries().filter(|(_, v)| *v != 0.0) {
                columns.push(j as u32);
                values.push(v);
            }
            row_starts.push(values.len());
        }
        Ok(CsrPoints::from_checked(row_starts, columns, values, points.dim()))
    }
}

impl<'a> CsrPoints<'a> {
    /// Borrows the three CSR buffers in the format of [`SparsePoints::new`].
    ///
    /// # Errors
    /// Same as [`SparsePoints::new`].
    pub fn borrowed(
        row_starts: &'a [usize],
        columns: &'a [u32],
        values: &'a [f64],
        dim: usize,
    ) -> Result<CsrPoints<'a>, InputError> {
        let (row_starts, columns) = (Cow::Borrowed(row_starts), Cow::Borrowed(columns));
        CsrPoints { row_starts, columns, values: Cow::Borrowed(values), dim }.checked()
    }

    fn checked(self) -> Result<CsrPoints<'a>, InputError> {
        let CsrPoints { row_starts, columns, values, dim } = &self;
        if *dim == 0 {
            return Err(InputError::ZeroDimension);
        }
        check_width(*dim)?;
        InputError::check_len(columns.len(), values.len())?;
        if row_starts.first() != Some(&0) {
            return Err(InputError::BrokenRowBoundaries { row: 0 });
        }
        for (row, ends) in row_starts.windows(2).enumerate() {
            let (Some(columns), Some(values)) =
                (columns.get(ends[0]..ends[1]), values.get(ends[0]..ends[1]))
            else {
                return Err(InputError::BrokenRowBoundaries { row });
            };
            check_sparse_row(row, columns, values, *dim)?;
        }
        if row_starts.last() != Some(&values.len()) {
            return Err(InputError::BrokenRowBoundaries { row: row_starts.len() - 1 });
        }
        Ok(self)
    }

    /// Returns the same points with their own buffers; borrowed buffers are copied.
    #[must_use]
    pub fn into_owned(self) -> SparsePoints {
        CsrPoints {
            row_starts: Cow::Owned(self.row_starts.into_owned()),
            columns: Cow::Owned(self.columns.into_owned()),
            values: Cow::Owned(self.values.into_owned()),
            dim: self.dim,
        }
    }

    /// The same points in dense form.
    ///
    /// # Errors
    /// [`InputError::TooLarge`].
    pub fn to_dense(&self) -> Result<Points, InputError> {
        let mut values = zeros(self.len(), self.dim)?;
        for (row, out) in self.rows().zip(values.chunks_exact_mut(self.dim)) {
            row.add_scaled_to(1.0, out);
        }
        Ok(Points::from_checked(values, self.dim))
    }

    /// The same points in a space of `dim` coordinates; the additional coordinates are zero.
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`] if `dim` is less than the current dimension;
    /// [`InputError::ParameterOutOfRange`] for more than [`MAX_SPARSE_DIM`] coordinates.
    pub fn widened(mut self, dim: usize) -> Result<Self, InputError> {
        if dim < self.dim {
            return Err(InputError::DimensionMismatch { expected: self.dim, found: dim });
        }
        check_width(dim)?;
        self.dim = dim;
        Ok(self)
    }

    /// Keeps only the points at `rows`, which must be in increasing order, and moves them in place.
    ///
    /// # Errors
    /// [`InputError::IndexOutOfRange`] for a row that does not exist or is not greater than the preceding one.
    ///
    /// ```
    /// use halfspaces_linalg::{PointSet, SparsePoints};
    /// let points = SparsePoints::new(vec![0, 1, 3, 4], vec![1, 0, 2, 0], vec![2.0, 1.0, 3.0, 5.0], 3)?;
    /// assert_eq!(points.clone().into_rows(&[1, 2])?, points.select(&[1, 2])?);
    /// # Ok::<(), halfspaces_linalg::InputError>(())
    /// ```
    pub fn into_rows(mut self, rows: &[usize]) -> Result<Self, InputError> {
        let len = self.len();
        let mut least = 0;
        for &index in rows {
            if index < least || index >= len {
                return Err(InputError::IndexOutOfRange { index, len });
            }
            least = index + 1;
        }
        let (starts, columns) = (self.row_starts.to_mut(), self.columns.to_mut());
        let values = self.values.to_mut();
        let mut end = 0;
        for (to, &from) in rows.iter().enumerate() {
            let stored = starts[from]..starts[from + 1];
            let width = stored.len();
            columns.copy_within(stored.clone(), end);
            values.copy_within(stored, end);
            end += width;
            // The row starts up to index `from` are no longer needed, and `to` is at most `from`.
            starts[to + 1] = end;
        }
        starts.truncate(rows.len() + 1);
        columns.truncate(end);
        values.truncate(end);
        Ok(self)
    }

    /// Moves the entries to other columns, in place. Column j becomes column `places[j]`, or is dropped if `places[j]`
    /// is `u32::MAX`. The other places must increase with j.
    ///
    /// # Errors
    /// [`InputError::LengthMismatch`] if the number of places differs from the number of columns;
    /// [`InputError::IndexOutOfRange`] for a place that is not below `dim` or not greater than the preceding one;
    /// [`InputError::ZeroDimension`].
    ///
    /// ```
    /// use halfspaces_linalg::{PointSet, SparsePoints};
    /// let points = SparsePoints::new(vec![0, 1, 3], vec![1, 0, 2], vec![2.0, 1.0, 3.0], 3)?;
    /// let moved = points.into_columns(&[u32::MAX, 4, 5], 6)?;
    /// assert_eq!(moved, SparsePoints::new(vec![0, 1, 2], vec![4, 5], vec![2.0, 3.0], 6)?);
    /// # Ok::<(), halfspaces_linalg::InputError>(())
    /// ```
    pub fn into_columns(mut self, places: &[u32], dim: usize) -> Result<Self, InputError> {
        InputError::check_len(self.dim, places.len())?;
        if dim == 0 {
            return Err(InputError::ZeroDimension);
        }
        check_width(dim)?;
        let mut least = 0;
        for place in places.iter().filter(|place| **place != u32::MAX) {
            let index = *place as usize;
            if index < least || index >= dim {
                return Err(InputError::IndexOutOfRange { index, len: dim });
            }
            least = index + 1;
        }
        let (starts, columns) = (self.row_starts.to_mut(), self.columns.to_mut());
        let values = self.values.to_mut();
        let (mut end, mut start) = (0, 0);
        for row_end in starts.iter_mut().skip(1) {
            let stop = *row_end;
            for at in start..stop {
                let place = places[columns[at] as usize];
                if place != u32::MAX {
                    columns[end] = place;
                    values[end] = values[at];
                    end += 1;
                }
            }
            start = stop;
            *row_end = end;
        }
        columns.truncate(end);
        values.truncate(end);
        self.dim = dim;
        Ok(self)
    }

    /// Number of stored values in all rows.
    #[must_use]
    pub fn stored(&self) -> usize {
        self.values.len()
    }
}

impl PointSet for CsrPoints<'_> {
    type Row<'a>
        = SparseRow<'a>
    where
        Self: 'a;

    fn len(&self) -> usize {
        self.row_starts.len() - 1
    }

    fn dim(&self) -> usize {
        self.dim
    }

    #[inline]
    fn row(&self, i: usize) -> Option<SparseRow<'_>> {
        let start = *self.row_starts.get(i)?;
        let end = *self.row_starts.get(i + 1)?;
        Some(SparseRow::from_checked(
            self.columns.get(start..end)?,
            self.values.get(start..end)?,
            self.dim,
        ))
    }

    fn rows(&self) -> impl Iterator<Item = SparseRow<'_>> {
        self.row_starts.windows(2).map(|ends| {
            SparseRow::from_checked(
                &self.columns[ends[0]..ends[1]],
                &self.values[ends[0]..ends[1]],
                self.dim,
            )
        })
    }

    fn select(&self, indices: &[usize]) -> Result<Self, InputError> {
        let (mut row_starts, mut columns, mut values) = (vec![0], vec![], vec![]);
        for &index in indices {
            let row =
                self.row(index).ok_or(InputError::IndexOutOfRange { index, len: self.len() })?;
            columns.extend_from_slice(row.columns());
            values.extend_from_slice(row.values());
            row_starts.push(values.len());
        }
        Ok(CsrPoints::from_checked(row_starts, columns, values, self.dim))
    }

    fn lifted(&self) -> Self {
        let stored = self.stored() + self.len();
        let mut row_starts = Vec::with_capacity(self.row_starts.len());
        let mut columns = Vec::with_capacity(stored);
        let mut values = Vec::with_capacity(stored);
        request_large_pages(&mut columns);
        request_large_pages(&mut values);
        row_starts.push(0);
        for row in self.rows() {
            columns.extend_from_slice(row.columns());
            values.extend(row.values().iter().map(|v| v * FRAC_1_SQRT_2));
            columns.push(self.dim as u32);
            values.push(FRAC_1_SQRT_2);
            row_starts.push(values.len());
        }
        CsrPoints::from_checked(row_starts, columns, values, self.dim + 1)
    }

    fn normalised(mut self) -> Result<Self, InputError> {
        let values = self.values.to_mut();
        for (row, ends) in self.row_starts.windows(2).enumerate() {
            let columns = &self.columns[ends[0]..ends[1]];
            let norm_sq = |values: &[f64]| kernels::sparse_norm_sq(columns, values);
            if !normalise_by(&mut values[ends[0]..ends[1]], norm_sq) {
                return Err(InputError::ZeroRow { row });
            }
        }
        Ok(self)
    }

    fn rescaled_to_unit_ball(mut self) -> Result<(Self, f64), InputError> {
        let radius = radius_of(&self.norms())?;
        self.values.to_mut().iter_mut().for_each(|v| *v /= radius);
        Ok((self, radius))
    }

    fn norms(&self) -> Vec<f64> {
        self.rows().map(|row| norm_by(row.values(), row.norm_sq())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DensePoints;
    use proptest::prelude::*;

    #[test]
    fn construction_is_checked() {
        let case = |starts: &[usize], columns: &[u32], values: &[f64], dim| {
            SparsePoints::new(starts.to_vec(), columns.to_vec(), values.to_vec(), dim).unwrap_err()
        };
        assert_eq!(case(&[0], &[], &[], 0), InputError::ZeroDimension);
        assert_eq!(case(&[], &[], &[], 1), InputError::BrokenRowBoundaries { row: 0 });
        assert_eq!(case(&[1], &[0], &[1.0], 1), InputError::BrokenRowBoundaries { row: 0 });
        assert_eq!(case(&[0, 2], &[0], &[1.0], 1), InputError::BrokenRowBoundaries { row: 0 });
        assert_eq!(case(&[0, 1, 0], &[0], &[1.0], 1), InputError::BrokenRowBoundaries { row: 1 });
        assert_eq!(case(&[0, 0], &[0], &[1.0], 1), InputError::BrokenRowBoundaries { row: 1 });
        assert_eq!(
            case(&[0, 2], &[1, 0], &[1.0, 1.0], 2),
            InputError::UnsortedColumns { row: 0, column: 0 }
        );
    }

    #[test]
    fn a_failed_push_changes_nothing() {
        let mut points = SparsePoints::empty(3).unwrap();
        points.push(&[1], &[2.0]).unwrap();
        let before = points.clone();
        assert!(points.push(&[0, 3], &[1.0, 1.0]).is_err());
        assert!(matches!(
            points.push(&[0], &[f64::NAN]),
            Err(InputError::NonFinite { row: 1, column: 0, .. })
        ));
        assert_eq!(points, before);
        assert!(points.clone().widened(1 << 32).is_err());
        assert_eq!(points.widened(5).unwrap().dim(), 5);
    }

    #[test]
    fn columns_are_moved_in_place() {
        let points =
            SparsePoints::new(vec![0, 2, 2, 3], vec![0, 2, 1], vec![1.0, 2.0, 3.0], 3).unwrap();
        let none = u32::MAX;
        let moved = points.clone().into_columns(&[0, none, 1], 2).unwrap();
        let expected = SparsePoints::new(vec![0, 2, 2, 2], vec![0, 1], vec![1.0, 2.0], 2).unwrap();
        assert_eq!(moved, expected);
        assert_eq!(points.clone().into_columns(&[0, 1, 2], 3).unwrap(), points);
        for (places, dim) in
            [(vec![1, 0, 2], 3), (vec![0, 1, 3], 3), (vec![0, 1], 3), (vec![0, 1, 2], 0)]
        {
            assert!(points.clone().into_columns(&places, dim).is_err(), "{places:?} {dim}");
        }
    }

    #[test]
    fn rows_are_kept_in_place() {
        let points =
            SparsePoints::new(vec![0, 1, 3, 3, 4], vec![1, 0, 2, 0], vec![2.0, 1.0, 3.0, 5.0], 3)
                .unwrap();
        for rows in [vec![], vec![0], vec![3], vec![0, 2], vec![1, 3], vec![0, 1, 2, 3]] {
            let expected = points.select(&rows).unwrap();
            assert_eq!(points.clone().into_rows(&rows).unwrap(), expected, "{rows:?}");
        }
        for rows in [vec![4], vec![1, 1], vec![2, 0]] {
            assert!(points.clone().into_rows(&rows).is_err(), "{rows:?}");
        }
    }

    proptest! {
        /// Every method gives bit-identical results for both forms.
        #[test]
        fn dense_and_sparse_agree(
            rows in prop::collection::vec(
                prop::collection::vec((any::<bool>(), -10.0..10.0f64), 13), 1..20),
        ) {
            let rows: Vec<Vec<f64>> = rows
                .into_iter()
                .map(|row| row.into_iter().map(|(keep, v)| if keep { v } else { 0.0 }).collect())
                .collect();
            let dense = Points::from_rows(&rows).unwrap();
            let sparse = SparsePoints::from_dense(&dense).unwrap();
            prop_assert_eq!(&sparse.to_dense().unwrap(), &dense);
            prop_assert_eq!(sparse.norms(), dense.norms());
            prop_assert_eq!(sparse.lifted().to_dense().unwrap(), dense.lifted());
            let picked = [0, rows.len() - 1, 0];
            prop_assert_eq!(sparse.select(&picked).unwrap().to_dense().unwrap(), dense.select(&picked).unwrap());
            // Points that borrow their buffers equal points that own them, and changing a borrowed collection leaves
            // the borrowed buffers unchanged.
            let borrowed = CsrPoints::borrowed(&sparse.row_starts, &sparse.columns, &sparse.values, 13).unwrap();
            prop_assert_eq!(&borrowed, &sparse);
            prop_assert_eq!(borrowed.select(&picked).unwrap(), sparse.select(&picked).unwrap());
            prop_assert_eq!(borrowed.clone().normalised(), sparse.clone().normalised());
            prop_assert_eq!(borrowed.clone().into_rows(&[0]), sparse.clone().into_rows(&[0]));
            prop_assert_eq!(borrowed.into_owned(), sparse.clone());
            let borrowed = DensePoints::borrowed(dense.as_slice(), 13).unwrap();
            prop_assert_eq!(borrowed.clone().normalised(), dense.clone().normalised());
            prop_assert_eq!(borrowed.clone().rescaled_to_unit_ball(), dense.clone().rescaled_to_unit_ball());
            prop_assert_eq!(borrowed.into_owned(), dense.clone());
            match (sparse.clone().normalised(), dense.clone().normalised()) {
                (Ok(s), Ok(d)) => prop_assert_eq!(s.to_dense().unwrap(), d),
                (s, d) => prop_assert_eq!(s.unwrap_err(), d.unwrap_err()),
            }
            match (sparse.rescaled_to_unit_ball(), dense.rescaled_to_unit_ball()) {
                (Ok((s, r)), Ok((d, q))) => {
                    prop_assert_eq!(s.to_dense().unwrap(), d);
                    prop_assert_eq!(r, q);
                }
                (s, d) => prop_assert_eq!(s.unwrap_err(), d.unwrap_err()),
            }
        }
    }
}
