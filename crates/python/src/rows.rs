//! Arrays and sparse matrices as points.

use crate::error::Fault;
use halfspaces_linalg::{DenseRow, InputError, PointSet, Points, SparsePoints, checkpoint, norm};
use halfspaces_pipeline::Design;
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

/// The number of values that are copied between two checkpoints.
const COPIED_AT_ONCE: usize = 1 << 18;

/// The rows of an argument `X`: a C-contiguous array of float64, read in place, or the three arrays of a CSR matrix and
/// its number of columns, which are copied.
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

/// Rows without references to Python objects.
#[derive(Debug, Clone)]
pub(crate) enum Slices<'a> {
    /// Finite rows of this many numbers.
    Dense { values: &'a [f64], rows: usize, dim: usize },
    /// CSR rows.
    Sparse(SparsePoints),
}

impl Rows<'_> {
    /// Checks the array and borrows it.
    pub(crate) fn slices(&self) -> PyResult<Slices<'_>> {
        Ok(match self {
            Rows::Dense(array) => {
                let (rows, dim) = (array.as_array().nrows(), array.as_array().ncols());
                let values = array.as_slice().map_err(Fault::new)?;
                Slices::Dense { values, rows, dim }
            }
            Rows::Sparse(starts, columns, values, dim) => {
                let (starts, columns) = (starts.as_slice()?, columns.as_slice()?);
                let starts: Result<Vec<usize>, _> =
                    starts.iter().map(|i| (*i).try_into()).collect();
                // A negative column becomes one beyond the last, which `SparsePoints::new` refuses.
                let columns = bytemuck::cast_slice::<i32, u32>(columns).to_vec();
                let starts = starts.map_err(|e| Fault::new(format!("X.indptr: {e}")))?;
                let values = values.as_slice()?.to_vec();
                let points = SparsePoints::new(starts, columns, values, *dim);
                Slices::Sparse(points.map_err(Fault::from)?)
            }
        })
    }
}

impl Slices<'_> {
    /// The number of rows.
    pub(crate) fn len(&self) -> usize {
        match self {
            Slices::Dense { rows, .. } => *rows,
            Slices::Sparse(points) => points.len(),
        }
    }

    /// The number of columns.
    pub(crate) fn dim(&self) -> usize {
        match self {
            Slices::Dense { dim, .. } => *dim,
            Slices::Sparse(points) => points.dim(),
        }
    }

    /// The number of stored numbers.
    pub(crate) fn entries(&self) -> usize {
        match self {
            Slices::Dense { values, .. } => values.len(),
            Slices::Sparse(points) => points.stored(),
        }
    }

    /// The points of the learners, a copy of dense rows.
    pub(crate) fn into_design(self) -> Result<Design, InputError> {
        Ok(match self {
            Slices::Dense { values, dim, .. } => {
                let mut copy = Vec::with_capacity(values.len());
                for part in values.chunks(COPIED_AT_ONCE) {
                    checkpoint();
                    copy.extend_from_slice(part);
                }
                Design::Dense(Points::new(copy, dim)?)
            }
            Slices::Sparse(points) => Design::Sparse(points),
        })
    }

    /// A dense row, borrowed; `None` if the rows are sparse.
    pub(crate) fn dense_row(&self, row: usize) -> Option<Result<DenseRow<'_>, InputError>> {
        let Slices::Dense { values, dim, .. } = self else { return None };
        let found = DenseRow::new(&values[row * dim..(row + 1) * dim]);
        Some(found.map_err(|error| error.at_row(row)))
    }
}

/// The largest norm of the rows.
#[pyfunction]
pub(crate) fn largest_norm(rows: Rows<'_>) -> PyResult<f64> {
    Ok(match rows.slices()? {
        slices @ Slices::Dense { rows, .. } => {
            let mut largest = 0.0_f64;
            for row in 0..rows {
                let Some(x) = slices.dense_row(row) else { unreachable!("the rows are dense") };
                largest = largest.max(norm(x.map_err(Fault::from)?.as_slice()));
            }
            largest
        }
        Slices::Sparse(points) => points.max_norm(),
    })
}
