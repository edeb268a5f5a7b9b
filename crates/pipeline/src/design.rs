//! The points that a recipe creates: dense or sparse.

use halfspaces_linalg::{InputError, PointSet, Points, SparsePoints};

/// Points stored as dense rows or as sparse entries, whichever takes less memory.
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
    /// The non-zero coordinates.
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

    /// Appends points of the same kind.
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`].
    ///
    /// # Panics
    /// If one is dense and the other sparse.
    pub fn append(&mut self, other: &Design) -> Result<(), InputError> {
        InputError::check_dim(self.dim(), other.dim())?;
        match (&mut *self, other) {
            (Design::Dense(points), Design::Dense(more)) => {
                let dim = points.dim();
                let none = Points::new(Vec::new(), dim)?;
                let mut values = std::mem::replace(points, none).into_vec();
                values.extend_from_slice(more.as_slice());
                *points = Points::new(values, dim)?;
            }
            (Design::Sparse(points), Design::Sparse(more)) => {
                for row in more.rows() {
                    points.push(row.columns(), row.values())?;
                }
            }
            _ => unreachable!("one recipe stores its points in one way"),
        }
        Ok(())
    }

    /// Converts the points to dense rows.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_appended_in_both_forms() {
        let points = Points::from_rows(&[[1.0, 0.0], [0.0, 2.0], [3.0, 4.0]]).unwrap();
        let sparse = SparsePoints::from_dense(&points).unwrap();
        for design in [Design::Dense(points), Design::Sparse(sparse)] {
            let mut first = design.select(&[0]).unwrap();
            first.append(&design.select(&[1, 2]).unwrap()).unwrap();
            assert_eq!(first, design);
        }
    }
}
