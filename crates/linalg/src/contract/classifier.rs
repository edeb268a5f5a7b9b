//! Classifiers: models that label points.

use crate::{InputError, Label, PointSet, RowView, Threads};
use std::ops::Range;

/// Number of points labelled per task. The number is small enough that with about 10 000 points no thread waits long
/// for the last block. The labels do not depend on this number.
const BLOCK: usize = 512;

/// A map from points to labels. A classifier may be a halfspace, another kind of hypothesis, the result of a fit, or
/// the current hypothesis of an online learner.
///
/// A classifier computes one number per point, the decision value. Its sign is the label (`sign(0) = +1`), and a larger
/// magnitude means a more confident label. Values of different classifiers need not be comparable.
///
/// ```
/// use halfspaces_linalg::{Classifier, Halfspace, InputError, Label, PointSet, Points};
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
    /// Number of coordinates of the points.
    fn dim(&self) -> usize;

    /// The decision value of `x`, whose sign is the label.
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`]; [`InputError::Overflow`] if the value overflows `f64`.
    fn decision_value<R: RowView>(&self, x: R) -> Result<f64, InputError>;

    /// The label of one point.
    ///
    /// # Errors
    /// Same as [`Classifier::decision_value`].
    fn label<R: RowView>(&self, x: R) -> Result<Label, InputError> {
        self.decision_value(x).map(Label::from_sign)
    }

    /// The labels of the points whose indices are in `rows`, in order.
    ///
    /// The other methods for many points call this one. Override this method if many points can be labelled faster
    /// together than separately. The labels must equal those of [`Classifier::label`].
    ///
    /// # Errors
    /// Same as [`Classifier::decision_value`]; an overflow error contains the first row whose value overflows.
    /// [`InputError::IndexOutOfRange`] for an index beyond the last point.
    fn label_rows<P: PointSet>(
        &self,
        points: &P,
        rows: Range<usize>,
    ) -> Result<Vec<Label>, InputError> {
        let label = |row| {
            let x = points.row(row);
            let x = x.ok_or(InputError::IndexOutOfRange { index: row, len: points.len() })?;
            x.prefetch_ahead();
            self.label(x).map_err(|error| error.at_row(row))
        };
        rows.map(label).collect()
    }

    /// The labels of all points.
    ///
    /// # Errors
    /// Same as [`Classifier::decision_value`]; an overflow error contains the first row whose value overflows.
    fn label_all<P: PointSet>(&self, points: &P) -> Result<Vec<Label>, InputError> {
        InputError::check_dim(self.dim(), points.dim())?;
        self.label_rows(points, 0..points.len())
    }

    /// [`Classifier::label_all`] on several threads, with the same labels and the same error.
    ///
    /// # Errors
    /// Same as [`Classifier::label_all`].
    ///
    /// ```
    /// use halfspaces_linalg::{Classifier, Halfspace, Points, Threads};
    /// let points = Points::from_rows(&[[1.0], [-1.0], [-2.0]])?;
    /// let halfspace = Halfspace::new(vec![1.0])?;
    /// assert_eq!(halfspace.label_all_on(&points, Threads::all())?, halfspace.label_all(&points)?);
    /// # Ok::<(), halfspaces_linalg::InputError>(())
    /// ```
    fn label_all_on<P: PointSet>(
        &self,
        points: &P,
        threads: Threads,
    ) -> Result<Vec<Label>, InputError>
    where
        Self: Sync,
    {
        InputError::check_dim(self.dim(), points.dim())?;
        let blocks = threads.map_blocks(points.len(), BLOCK, |rows| self.label_rows(points, rows));
        let mut labels = Vec::with_capacity(points.len());
        for block in blocks {
            labels.append(&mut block?);
        }
        Ok(labels)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Halfspace, Points};

    #[test]
    fn a_pool_is_labelled_point_by_point() {
        let halfspace = Halfspace::new(vec![1e200, 0.0]).unwrap();
        let points = Points::from_rows(&[[0.5, 1.0], [-2.0, 0.0], [0.0, -1.0]]).unwrap();
        let [p, n] = [Label::Positive, Label::Negative];
        assert_eq!(halfspace.label_all(&points).unwrap(), [p, n, p]);
        let wide = Points::new(vec![], 3).unwrap();
        assert!(matches!(halfspace.label_all(&wide), Err(InputError::DimensionMismatch { .. })));
        let far = Points::from_rows(&[[1.0, 0.0], [1e200, 0.0]]).unwrap();
        assert_eq!(halfspace.label_all(&far), Err(InputError::Overflow { row: 1 }));
    }

    #[test]
    fn threads_change_neither_labels_nor_errors() {
        let n = 3 * BLOCK + 5;
        let value = |i: usize| ((i * 7919) % 101) as f64 - 50.0;
        let points = Points::new((0..n).map(value).collect(), 1).unwrap();
        let halfspace = Halfspace::new(vec![-2.0]).unwrap();
        let expected = halfspace.label_all(&points);
        for count in [1, 2, 5] {
            let threads = Threads::new(count).unwrap();
            assert_eq!(halfspace.label_all_on(&points, threads), expected);
        }
        // If values in two different blocks overflow, the error reports the first of these rows.
        let mut values = points.into_vec();
        (values[BLOCK + 3], values[2 * BLOCK]) = (1e300, 1e300);
        let far = Points::new(values, 1).unwrap();
        let steep = Halfspace::new(vec![1e300]).unwrap();
        let overflow = Err(InputError::Overflow { row: BLOCK + 3 });
        assert_eq!(steep.label_all_on(&far, Threads::new(3).unwrap()), overflow);
        assert_eq!(steep.label_all(&far), overflow);
    }
}
