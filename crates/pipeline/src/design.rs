//! The points that a recipe creates, which are dense or sparse.

use halfspaces_linalg::{CsrPoints, DensePoints, InputError, PointSet, Points};

/// The limits of [`DesignRows::as_table`]: the number of columns, and the memory of dense rows as a multiple of the
/// memory of sparse rows.
const FEW_COLUMNS: usize = 100;
const DENSE: usize = 8;

/// Points that own their coordinates.
pub type Design = DesignRows<'static>;

/// Points that are stored as dense rows or as sparse entries. They own their coordinates or borrow them.
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
pub enum DesignRows<'a> {
    /// Dense points, stored as all coordinates row by row.
    Dense(DensePoints<'a>),
    /// Sparse points, stored as their non-zero coordinates.
    Sparse(CsrPoints<'a>),
}

impl<'a> DesignRows<'a> {
    /// The number of points.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            DesignRows::Dense(points) => points.len(),
            DesignRows::Sparse(points) => points.len(),
        }
    }

    /// Whether there are no points.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of coordinates of each point.
    #[must_use]
    pub fn dim(&self) -> usize {
        match self {
            DesignRows::Dense(points) => points.dim(),
            DesignRows::Sparse(points) => points.dim(),
        }
    }

    /// The number of coordinates in memory. This counts all coordinates of dense points and the entries of sparse
    /// points.
    #[must_use]
    pub fn stored(&self) -> usize {
        match self {
            DesignRows::Dense(points) => points.as_slice().len(),
            DesignRows::Sparse(points) => points.stored(),
        }
    }

    /// Copies the points with the indices `rows`, in that order.
    ///
    /// # Errors
    /// [`InputError::IndexOutOfRange`] if there is no point with one of the indices.
    pub fn select(&self, rows: &[usize]) -> Result<Design, InputError> {
        Ok(match self {
            DesignRows::Dense(points) => Design::Dense(points.select(rows)?.into_owned()),
            DesignRows::Sparse(points) => Design::Sparse(points.select(rows)?.into_owned()),
        })
    }

    /// Converts sparse points to dense rows if they resemble a table rather than texts. They resemble a table if they
    /// have at most 100 columns and if dense rows take at most eight times as much memory as the sparse points. Returns
    /// `None` otherwise, or if the points are already dense. [`Method::Auto`](crate::Method::Auto) learns more from
    /// dense rows.
    ///
    /// # Errors
    /// [`InputError::TooLarge`] if the dense rows do not fit in memory.
    pub fn as_table(&self) -> Result<Option<DesignRows<'_>>, InputError> {
        match self {
            DesignRows::Sparse(points)
                if points.dim() <= FEW_COLUMNS
                    && points.len().saturating_mul(points.dim())
                        <= DENSE * (points.stored() + points.len()) =>
            {
                Ok(Some(DesignRows::Dense(points.to_dense()?)))
            }
            _ => Ok(None),
        }
    }

    /// Converts the points to dense rows. Points that are already dense are not copied.
    ///
    /// # Errors
    /// [`InputError::TooLarge`] if the dense rows do not fit in memory.
    pub fn into_dense(self) -> Result<DensePoints<'a>, InputError> {
        match self {
            DesignRows::Dense(points) => Ok(points),
            DesignRows::Sparse(points) => points.to_dense(),
        }
    }
}

impl Design {
    /// Appends points in the same format, dense or sparse.
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`] if the numbers of coordinates differ.
    ///
    /// # Panics
    /// Panics if one of the designs is dense and the other is sparse.
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_linalg::SparsePoints;

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
