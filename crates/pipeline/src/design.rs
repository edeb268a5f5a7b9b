//! Points as a recipe makes them: dense, or by their entries.

use halfspaces_linalg::{InputError, PointSet, Points, SparsePoints};

/// Points that are stored in full or by their entries, whichever takes less memory.
///
/// ```
/// use halfspaces_linalg::Points;
/// use halfspaces_pipeline::Design;
/// let design = Design::Dense(Points::from_rows(&[[1.0, 2.0], [3.0, 4.0]])?);
/// assert_eq!((design.len(), design.dim()), (2, 2));
/// assert_eq!(design.select(&[1])?, Design::Dense(Points::from_rows(&[[3.0, 4.0]])?));
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Design {
    /// All coordinates, row by row.
    Dense(Points),
    /// Coordinates that are not 0.
    Sparse(SparsePoints),
}

impl Design {
    /// Number of points.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Design::Dense(points) => points.len(),
            Design::Sparse(points) => points.len(),
        }
    }

    /// Whether there are no points.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of coordinates.
    #[must_use]
    pub fn dim(&self) -> usize {
        match self {
            Design::Dense(points) => points.dim(),
            Design::Sparse(points) => points.dim(),
        }
    }

    /// The points at `rows`, in that order.
    ///
    /// # Errors
    /// [`InputError::IndexOutOfRange`].
    pub fn select(&self, rows: &[usize]) -> Result<Design, InputError> {
        Ok(match self {
            Design::Dense(points) => Design::Dense(points.select(rows)?),
            Design::Sparse(points) => Design::Sparse(points.select(rows)?),
        })
    }

    /// The points with every coordinate written out.
    ///
    /// # Errors
    /// [`InputError::TooLarge`].
    pub fn into_dense(self) -> Result<Points, InputError> {
        match self {
            Design::Dense(points) => Ok(points),
            Design::Sparse(points) => points.to_dense(),
        }
    }
}
