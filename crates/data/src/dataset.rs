//! Points with their labels and the names of their coordinates.

use halfspaces_linalg::{InputError, Label, PointSet, getters};

/// Labelled points, dense ([`Points`](halfspaces_linalg::Points)) or sparse
/// ([`SparsePoints`](halfspaces_linalg::SparsePoints)), optionally with a name for every coordinate.
///
/// ```
/// use halfspaces_data::Dataset;
/// use halfspaces_linalg::{Label, PointSet, Points};
/// let points = Points::from_rows(&[[0.0], [1.0]])?;
/// let data = Dataset::new(points, vec![Label::Negative, Label::Positive], vec!["x".into()])?;
/// assert_eq!((data.len(), data.dim(), data.positives()), (2, 1, 1));
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset<P> {
    points: P,
    labels: Vec<Label>,
    columns: Vec<String>,
}

impl<P: PointSet> Dataset<P> {
    /// Combines the parts: one label per point, and either one name per coordinate or no names.
    ///
    /// # Errors
    /// [`InputError::LengthMismatch`]; [`InputError::DimensionMismatch`] if the number of names is wrong.
    pub fn new(
        points: P,
        labels: Vec<Label>,
        columns: Vec<String>,
    ) -> Result<Dataset<P>, InputError> {
        InputError::check_len(points.len(), labels.len())?;
        if !columns.is_empty() {
            InputError::check_dim(points.dim(), columns.len())?;
        }
        Ok(Dataset { points, labels, columns })
    }

    /// Number of examples.
    #[must_use]
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there are no examples.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// Number of coordinates.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.points.dim()
    }

    /// Number of examples labelled +1.
    #[must_use]
    pub fn positives(&self) -> usize {
        self.labels.iter().filter(|&&label| label == Label::Positive).count()
    }

    getters! {
        /// The points.
        points: &P,

        /// The labels, one per point.
        labels: &[Label],

        /// Names of the coordinates after one-hot coding (`"colour=red"`); empty if the coordinates have no names.
        columns: &[String],
    }

    /// Consumes the data set and returns points, labels and names.
    #[must_use]
    pub fn into_parts(self) -> (P, Vec<Label>, Vec<String>) {
        (self.points, self.labels, self.columns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_linalg::Points;

    #[test]
    fn the_parts_must_fit() {
        let points = Points::new(vec![1.0, 2.0], 2).unwrap();
        assert_eq!(
            Dataset::new(points.clone(), vec![], vec![]),
            Err(InputError::LengthMismatch { points: 1, labels: 0 })
        );
        assert_eq!(
            Dataset::new(points.clone(), vec![Label::Positive], vec!["a".into()]),
            Err(InputError::DimensionMismatch { expected: 2, found: 1 })
        );
        let data = Dataset::new(points.clone(), vec![Label::Positive], vec![]).unwrap();
        assert!(!data.is_empty());
        assert_eq!(data.into_parts(), (points, vec![Label::Positive], vec![]));
    }
}
