//! Models of two or more classes.

use crate::{Classifier, InputError, Label, PointSet, RowView, Threads};
use std::ops::Range;

/// Number of points per task. The predicted classes do not depend on this number.
const BLOCK: usize = 512;

/// A model of two or more classes, numbered 0, 1, ... in the order of their names.
///
/// With more than two classes, a model computes one decision value per class and predicts the class with the largest
/// value; ties go to the first class. With two classes, it computes a single value and predicts the second class if the
/// value is at least zero. Every [`Classifier`] is a model of two classes; the second class is [`Label::Positive`].
///
/// ```
/// use halfspaces_linalg::{AffineHalfspace, ClassModel, InputError, PointSet, Points, Threads};
/// fn shares<M: ClassModel + Sync>(model: &M, points: &Points) -> Result<Vec<f64>, InputError> {
///     let found = model.class_all(points, Threads::ONE)?;
///     let share = |class| found.iter().filter(|c| **c == class).count() as f64 / found.len() as f64;
///     Ok((0..model.class_count()).map(share).collect())
/// }
/// let points = Points::from_rows(&[[1.0], [2.0], [3.0], [4.0]])?;
/// assert_eq!(shares(&AffineHalfspace::new(vec![1.0], -3.5)?, &points)?, [0.75, 0.25]);
/// # Ok::<(), InputError>(())
/// ```
pub trait ClassModel {
    /// Number of classes, at least two.
    fn class_count(&self) -> usize;

    /// Number of coordinates of the points.
    fn point_dim(&self) -> usize;

    /// The decision values of a point: one value for two classes, otherwise one for each class.
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`]; [`InputError::Overflow`] if a value overflows `f64`.
    fn class_values<R: RowView>(&self, x: R) -> Result<Vec<f64>, InputError>;

    /// The probability of each class, given the decision values of a point; `None` if the model has no probabilities.
    fn class_probabilities(&self, values: &[f64]) -> Option<Vec<f64>> {
        let _ = values;
        None
    }

    /// The decision values of all points, on any number of threads. Override this method if the values of many points
    /// can be computed faster together than separately.
    ///
    /// # Errors
    /// Same as [`ClassModel::class_values`]; an overflow error contains the row of the point.
    fn class_values_all<P: PointSet>(
        &self,
        points: &P,
        threads: Threads,
    ) -> Result<Vec<Vec<f64>>, InputError>
    where
        Self: Sync,
    {
        InputError::check_dim(self.point_dim(), points.dim())?;
        let block = |rows: Range<usize>| -> Result<Vec<Vec<f64>>, InputError> {
            let values = |row| {
                let Some(x) = points.row(row) else { unreachable!("blocks are within the points") };
                x.prefetch_ahead();
                self.class_values(x).map_err(|error| error.at_row(row))
            };
            rows.map(values).collect()
        };
        let mut all = Vec::with_capacity(points.len());
        for block in threads.map_blocks(points.len(), BLOCK, block) {
            all.append(&mut block?);
        }
        Ok(all)
    }

    /// The class of a point.
    ///
    /// # Errors
    /// Same as [`ClassModel::class_values`].
    fn class_of<R: RowView>(&self, x: R) -> Result<usize, InputError> {
        Ok(deciding_class(&self.class_values(x)?))
    }

    /// The classes of all points, on any number of threads.
    ///
    /// # Errors
    /// Same as [`ClassModel::class_values_all`].
    fn class_all<P: PointSet>(&self, points: &P, threads: Threads) -> Result<Vec<usize>, InputError>
    where
        Self: Sync,
    {
        let values = self.class_values_all(points, threads)?;
        Ok(values.iter().map(|values| deciding_class(values)).collect())
    }
}

/// Returns the class with the largest decision value, or the first such class in case of a tie. With a single value,
/// returns the second class if the value is at least zero, otherwise the first.
///
/// ```
/// use halfspaces_linalg::deciding_class;
/// assert_eq!([deciding_class(&[-1.0]), deciding_class(&[0.0]), deciding_class(&[1.0, 3.0, 3.0])], [0, 1, 1]);
/// ```
#[must_use]
pub fn deciding_class(values: &[f64]) -> usize {
    if let [value] = values {
        return usize::from(Label::from_sign(*value) == Label::Positive);
    }
    let mut best = 0;
    for (class, value) in values.iter().enumerate() {
        if *value > values[best] {
            best = class;
        }
    }
    best
}

impl<C: Classifier> ClassModel for C {
    fn class_count(&self) -> usize {
        2
    }

    fn point_dim(&self) -> usize {
        self.dim()
    }

    fn class_values<R: RowView>(&self, x: R) -> Result<Vec<f64>, InputError> {
        Ok(vec![self.decision_value(x)?])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Halfspace, Points};

    #[test]
    fn a_classifier_is_a_model_of_two_classes() {
        let n = 2 * BLOCK + 3;
        let values = (0..n).map(|i| ((i * 7919) % 101) as f64 - 50.0).collect();
        let points = Points::new(values, 1).unwrap();
        let halfspace = Halfspace::new(vec![-2.0]).unwrap();
        let labels = halfspace.label_all(&points).unwrap();
        for count in [1, 2, 5] {
            let found = halfspace.class_all(&points, Threads::new(count).unwrap()).unwrap();
            let expected = labels.iter().map(|y| usize::from(*y == Label::Positive));
            assert!(found.into_iter().eq(expected), "{count} threads");
        }
        let wide = Points::new(vec![1.0, 2.0], 2).unwrap();
        assert!(matches!(
            halfspace.class_all(&wide, Threads::ONE),
            Err(InputError::DimensionMismatch { .. })
        ));
    }
}
