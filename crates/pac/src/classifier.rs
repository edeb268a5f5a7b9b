//! What a learner hands out: something that labels points.

use crate::{AffineHalfspace, Fit};
use halfspaces_linalg::{Halfspace, InputError, Label, PointSet, RowView};

/// A map from points to labels, proper (a [`Halfspace`]) or not.
///
/// ```
/// use halfspaces_linalg::{Halfspace, InputError, Label, PointSet, Points};
/// use halfspaces_pac::Classifier;
/// fn share_of_positives<C: Classifier, P: PointSet>(c: &C, points: &P) -> Result<f64, InputError> {
///     let labels = c.label_all(points)?;
///     let positive = labels.iter().filter(|y| **y == Label::Positive).count();
///     Ok(positive as f64 / labels.len() as f64)
/// }
/// let points = Points::from_rows(&[[1.0], [-1.0], [-2.0], [-3.0]])?;
/// assert_eq!(share_of_positives(&Halfspace::new(vec![1.0])?, &points)?, 0.25);
/// # Ok::<(), InputError>(())
/// ```
pub trait Classifier {
    /// Number of coordinates of the points it labels.
    fn dim(&self) -> usize;

    /// The label of one point.
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`]; [`InputError::Overflow`] if a product leaves `f64`.
    fn predict<R: RowView>(&self, x: R) -> Result<Label, InputError>;

    /// The label of every point.
    ///
    /// # Errors
    /// As [`Classifier::predict`], with the row of an overflow.
    fn label_all<P: PointSet>(&self, points: &P) -> Result<Vec<Label>, InputError> {
        InputError::check_dim(self.dim(), points.dim())?;
        let at_row = |row| {
            move |error| match error {
                InputError::Overflow { .. } => InputError::Overflow { row },
                other => other,
            }
        };
        points.rows().enumerate().map(|(i, x)| self.predict(x).map_err(at_row(i))).collect()
    }
}

impl Classifier for Halfspace {
    fn dim(&self) -> usize {
        Halfspace::dim(self)
    }

    fn predict<R: RowView>(&self, x: R) -> Result<Label, InputError> {
        Halfspace::predict(self, x)
    }

    fn label_all<P: PointSet>(&self, points: &P) -> Result<Vec<Label>, InputError> {
        Halfspace::label_all(self, points)
    }
}

impl Classifier for AffineHalfspace {
    fn dim(&self) -> usize {
        self.linear().dim()
    }

    fn predict<R: RowView>(&self, x: R) -> Result<Label, InputError> {
        AffineHalfspace::predict(self, x)
    }
}

/// Of points as they were given.
impl Classifier for Fit {
    fn dim(&self) -> usize {
        Fit::dim(self)
    }

    fn predict<R: RowView>(&self, x: R) -> Result<Label, InputError> {
        Fit::predict(self, x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_linalg::Points;

    /// Leaves [`Classifier::label_all`] as provided.
    struct Plain(Halfspace);

    impl Classifier for Plain {
        fn dim(&self) -> usize {
            self.0.dim()
        }

        fn predict<R: RowView>(&self, x: R) -> Result<Label, InputError> {
            self.0.predict(x)
        }
    }

    #[test]
    fn a_pool_is_labelled_point_by_point() {
        let halfspace = Halfspace::new(vec![1e200, 0.0]).unwrap();
        let plain = Plain(halfspace.clone());
        let points = Points::from_rows(&[[0.5, 1.0], [-2.0, 0.0], [0.0, -1.0]]).unwrap();
        let [p, n] = [Label::Positive, Label::Negative];
        assert_eq!(plain.label_all(&points).unwrap(), [p, n, p]);
        assert_eq!(Classifier::label_all(&halfspace, &points).unwrap(), [p, n, p]);
        let wide = Points::new(vec![], 3).unwrap();
        assert!(matches!(plain.label_all(&wide), Err(InputError::DimensionMismatch { .. })));
        let far = Points::from_rows(&[[1.0, 0.0], [1e200, 0.0]]).unwrap();
        assert_eq!(plain.label_all(&far), Err(InputError::Overflow { row: 1 }));
        assert_eq!(Classifier::label_all(&halfspace, &far), Err(InputError::Overflow { row: 1 }));
    }
}
