//! The points that a recipe creates: dense or sparse.

use halfspaces_linalg::{CsrPoints, DensePoints, InputError, PointSet, Points};

/// The limits of [`DesignRows::as_table`]: columns, and the memory of dense rows as a multiple of that of sparse ones.
const FEW_COLUMNS: usize = 100;
const DENSE: usize = 8;

/// Points that own their numbers.
pub type Design = DesignRows<'static>;

/// Points stored as dense rows or as sparse entries, whichever takes less memory. They own their numbers, or borrow them
/// from their owner.
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
    /// All coordinates, row by row.
    Dense(DensePoints<'a>),
    /// The non-zero coordinates.
    Sparse(CsrPoints<'a>),
}

impl<'a> DesignRows<'a> {
    /// Number of points.
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

    /// Number of coordinates.
    #[must_use]
    pub fn dim(&self) -> usize {
        match self {
            DesignRows::Dense(points) => points.dim(),
            DesignRows::Sparse(points) => points.dim(),
        }
    }

    /// Number of coordinates in memory: all of dense points, the entries of sparse ones.
    #[must_use]
    pub fn stored(&self) -> usize {
        match self {
            DesignRows::Dense(points) => points.as_slice().len(),
            DesignRows::Sparse(points) => points.stored(),
        }
    }

    /// The points at `rows`, in that order.
    ///
    /// # Errors
    /// [`InputError::IndexOutOfRange`].
    pub fn select(&self, rows: &[usize]) -> Result<Design, InputError> {
        Ok(match self {
            DesignRows::Dense(points) => Design::Dense(points.select(rows)?.into_owned()),
            DesignRows::Sparse(points) => Design::Sparse(points.select(rows)?.into_owned()),
        })
    }

    /// The points as dense rows if they are sparse and have so few columns that they are a table rather than texts: at most
    /// 100, with dense rows of at most eight times the memory. [`Method::Auto`](crate::Method::Auto) learns more from
    /// dense rows. `None` otherwise.
    ///
    /// # Errors
    /// [`InputError::TooLarge`].
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

    /// Converts the points to dense rows. Those that are dense are not copied.
    ///
    /// # Errors
    /// [`InputError::TooLarge`].
    pub fn into_dense(self) -> Result<DensePoints<'a>, InputError> {
        match self {
            DesignRows::Dense(points) => Ok(points),
            DesignRows::Sparse(points) => points.to_dense(),
        }
    }
}

impl Design {
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
