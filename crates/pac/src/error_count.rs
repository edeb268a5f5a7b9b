//! The empirical 0-1 error, which every PAC guarantee speaks of.

use halfspaces_linalg::{Classifier, InputError, Label, PointSet, load_checked};

/// How many labelled points a classifier gets wrong: its empirical 0-1 error ℓ01.
///
/// ```
/// use halfspaces_linalg::{Halfspace, Label, Points};
/// use halfspaces_pac::ErrorCount;
/// let points = Points::from_rows(&[[1.0], [-1.0], [2.0], [-3.0]])?;
/// let labels = [Label::Positive, Label::Positive, Label::Positive, Label::Negative];
/// let errors = ErrorCount::count(&Halfspace::new(vec![1.0])?, &points, &labels)?;
/// assert_eq!((errors.errors(), errors.rate()), (1, 0.25));
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ErrorCount {
    pub(crate) errors: usize,
    pub(crate) points: usize,
}

load_checked!(ErrorCount { errors: usize, points: usize });

#[cfg(feature = "serde")]
impl ErrorCount {
    fn check_saved(&self) -> Result<(), InputError> {
        let ErrorCount { errors, points } = *self;
        if points == 0 {
            return Err(InputError::Empty);
        }
        let in_range = errors <= points;
        InputError::check_parameter("errors", errors as f64, in_range, "at most the points")
    }
}

impl ErrorCount {
    /// Counts the points whose label differs from the classifier's.
    ///
    /// # Errors
    /// [`InputError::Empty`], [`InputError::LengthMismatch`], [`InputError::DimensionMismatch`].
    pub fn count<C: Classifier, P: PointSet>(
        classifier: &C,
        points: &P,
        labels: &[Label],
    ) -> Result<ErrorCount, InputError> {
        InputError::check_len(points.len(), labels.len())?;
        if labels.is_empty() {
            return Err(InputError::Empty);
        }
        let predicted = classifier.label_all(points)?;
        let errors = predicted.iter().zip(labels).filter(|(p, y)| p != y).count();
        Ok(ErrorCount { errors, points: labels.len() })
    }

    /// Number of wrong points.
    #[must_use]
    pub fn errors(self) -> usize {
        self.errors
    }

    /// Number of points.
    #[must_use]
    pub fn points(self) -> usize {
        self.points
    }

    /// Share of wrong points, in [0, 1].
    #[must_use]
    pub fn rate(self) -> f64 {
        self.errors as f64 / self.points as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_linalg::{Halfspace, Points, SparsePoints};

    #[test]
    fn a_halfspace_and_its_opposite_share_the_points() {
        let points = Points::from_rows(&[[0.5, 1.0], [-2.0, 0.0], [1.0, -1.0]]).unwrap();
        let labels = [Label::Positive, Label::Positive, Label::Negative];
        let sparse = SparsePoints::from_dense(&points).unwrap();
        let count = |w: Vec<f64>| {
            let halfspace = Halfspace::new(w).unwrap();
            let dense = ErrorCount::count(&halfspace, &points, &labels).unwrap();
            assert_eq!(ErrorCount::count(&halfspace, &sparse, &labels).unwrap(), dense);
            dense.errors()
        };
        assert_eq!(count(vec![1.0, 0.0]) + count(vec![-1.0, 0.0]), 3);
        assert_eq!(count(vec![0.0, 0.0]), 1);
    }

    #[test]
    fn bad_input_is_typed() {
        let halfspace = Halfspace::new(vec![1.0]).unwrap();
        let none = Points::new(vec![], 1).unwrap();
        assert_eq!(ErrorCount::count(&halfspace, &none, &[]), Err(InputError::Empty));
        let one = Points::new(vec![1.0], 1).unwrap();
        assert!(ErrorCount::count(&halfspace, &one, &[]).is_err());
        let wide = Points::new(vec![1.0, 1.0], 2).unwrap();
        assert!(ErrorCount::count(&halfspace, &wide, &[Label::Positive]).is_err());
    }

    #[cfg(feature = "serde")]
    #[test]
    fn saved_counts_are_checked() {
        let count = ErrorCount { errors: 1, points: 3 };
        let text = serde_json::to_string(&count).unwrap();
        assert_eq!(serde_json::from_str::<ErrorCount>(&text).unwrap(), count);
        for bad in [r#"{"errors":4,"points":3}"#, r#"{"errors":0,"points":0}"#] {
            assert!(serde_json::from_str::<ErrorCount>(bad).is_err());
        }
    }
}
