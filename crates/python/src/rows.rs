//! Arrays and sparse matrices as points.

use crate::error::Fault;
use halfspaces_linalg::{CsrPoints, DensePoints, InputError, PointSet, SparsePoints};
pub(crate) use halfspaces_pipeline::DesignRows;
use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

/// The rows of an argument `X`, read in place: a C-contiguous array of float64, or the three arrays of a CSR matrix and
/// its number of columns.
#[derive(FromPyObject)]
pub(crate) enum Rows<'py> {
    Dense(PyReadonlyArray2<'py, f64>),
    Sparse(
        PyReadonlyArray1<'py, i64>,
        PyReadonlyArray1<'py, i32>,
        PyReadonlyArray1<'py, f64>,
        usize,
    ),
}

/// Calls the same code for dense and sparse points.
macro_rules! on_points {
    ($rows:expr, $points:ident => $body:expr) => {
        match $rows {
            $crate::rows::DesignRows::Dense($points) => $body,
            $crate::rows::DesignRows::Sparse($points) => $body,
        }
    };
}
pub(crate) use on_points;

impl Rows<'_> {
    /// The rows as points that borrow memory owned by Python. The arrays of CSR rows are copied only if their columns
    /// are not sorted. All numbers must be finite.
    pub(crate) fn points(&self) -> PyResult<DesignRows<'_>> {
        self.points_from(0)
    }

    /// Like [`Rows::points`], for rows that start at row `first` of a table; an error gives the row number in the
    /// table.
    pub(crate) fn points_from(&self, first: usize) -> PyResult<DesignRows<'_>> {
        let named = |error| {
            let error = match error {
                InputError::NonFinite { row, column, value } => {
                    InputError::NonFinite { row: first + row, column, value }
                }
                other => other,
            };
            Fault::new(format!("X: {error}"))
        };
        Ok(match self {
            Rows::Dense(array) => {
                let points = DensePoints::borrowed(array.as_slice()?, array.shape()[1]);
                DesignRows::Dense(points.map_err(named)?)
            }
            Rows::Sparse(starts, columns, values, dim) => {
                // A negative number becomes an index beyond the end, which the check refuses.
                let starts = bytemuck::try_cast_slice::<i64, usize>(starts.as_slice()?);
                let starts =
                    starts.map_err(|_| Fault::new("X: CSR matrices need a 64-bit system"))?;
                let columns = bytemuck::cast_slice::<i32, u32>(columns.as_slice()?);
                let values = values.as_slice()?;
                let points = match CsrPoints::borrowed(starts, columns, values, *dim) {
                    Err(InputError::UnsortedColumns { .. }) => {
                        sorted(starts, columns, values, *dim)
                    }
                    points => points,
                };
                DesignRows::Sparse(points.map_err(named)?)
            }
        })
    }

    /// The number of stored numbers.
    pub(crate) fn entries(&self) -> usize {
        match self {
            Rows::Dense(array) => array.len(),
            Rows::Sparse(_, _, values, _) => values.len(),
        }
    }

    /// The values of dense rows, which may be NaN or infinite, and the number of columns; `None` if the rows are
    /// sparse.
    pub(crate) fn dense_values(&self) -> PyResult<Option<(&[f64], usize)>> {
        match self {
            Rows::Dense(array) => Ok(Some((array.as_slice()?, array.shape()[1]))),
            Rows::Sparse(..) => Ok(None),
        }
    }
}

/// CSR rows whose columns are in any order and may repeat. Values in the same place are added.
fn sorted(
    starts: &[usize],
    columns: &[u32],
    values: &[f64],
    dim: usize,
) -> Result<SparsePoints, InputError> {
    let mut points = SparsePoints::empty(dim)?;
    for (row, ends) in starts.windows(2).enumerate() {
        let range = ends[0]..ends[1];
        let (Some(columns), Some(values)) = (columns.get(range.clone()), values.get(range)) else {
            return Err(InputError::BrokenRowBoundaries { row });
        };
        let mut entries: Vec<(u32, f64)> =
            columns.iter().copied().zip(values.iter().copied()).collect();
        entries.sort_by_key(|(column, _)| *column);
        entries.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 += if same { next.1 } else { 0.0 };
            same
        });
        let (columns, values): (Vec<u32>, Vec<f64>) = entries.into_iter().unzip();
        points.push(&columns, &values)?;
    }
    Ok(points)
}

/// The largest norm of the rows.
#[pyfunction]
pub(crate) fn largest_norm(rows: Rows<'_>) -> PyResult<f64> {
    Ok(on_points!(rows.points()?, points => points.max_norm()))
}
