//! Labelled points in memory as a stream of examples.

use crate::streams;
use halfspaces_linalg::{ExampleStream, InputError, Label, PointSet, RowsAhead, rng_for};
use rand::seq::SliceRandom;

/// A stream of borrowed points and labels.
///
/// ```
/// use halfspaces_data::LabelledPoints;
/// use halfspaces_linalg::{ExampleStream, Label, Points};
/// let points = Points::from_rows(&[[1.0], [-1.0]])?;
/// let labels = [Label::Positive, Label::Negative];
/// let mut stream = LabelledPoints::new(&points, &labels)?;
/// assert_eq!(stream.next_row()?.map(|(_, y)| y), Some(Label::Positive));
/// assert_eq!(stream.next_row()?.map(|(_, y)| y), Some(Label::Negative));
/// assert!(stream.next_row()?.is_none());
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone)]
pub struct LabelledPoints<'p, P> {
    points: &'p P,
    labels: &'p [Label],
    /// Indices in the order of the stream; `None` for the given order.
    order: Option<Vec<usize>>,
    next: usize,
}

impl<'p, P: PointSet> LabelledPoints<'p, P> {
    /// Streams the examples in the given order.
    ///
    /// # Errors
    /// [`InputError::LengthMismatch`].
    pub fn new(points: &'p P, labels: &'p [Label]) -> Result<Self, InputError> {
        InputError::check_len(points.len(), labels.len())?;
        Ok(LabelledPoints { points, labels, order: None, next: 0 })
    }

    /// Streams the examples in the random order determined by `seed`.
    ///
    /// # Errors
    /// Same as [`LabelledPoints::new`].
    pub fn shuffled(points: &'p P, labels: &'p [Label], seed: u64) -> Result<Self, InputError> {
        let mut stream = LabelledPoints::new(points, labels)?;
        let mut order: Vec<usize> = (0..labels.len()).collect();
        order.shuffle(&mut rng_for(streams::SHUFFLE, seed));
        stream.order = Some(order);
        Ok(stream)
    }

    /// Number of examples not yet read.
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.labels.len() - self.next
    }
}

impl<P: PointSet> ExampleStream for LabelledPoints<'_, P> {
    type Row<'a>
        = P::Row<'a>
    where
        Self: 'a;
    type Error = InputError;

    fn dim(&self) -> usize {
        self.points.dim()
    }

    #[inline]
    fn next_row(&mut self) -> Result<Option<(P::Row<'_>, Label)>, InputError> {
        if self.next == self.labels.len() {
            return Ok(None);
        }
        let index = self.order.as_ref().map_or(self.next, |order| order[self.next]);
        self.next += 1;
        let Some(x) = self.points.row(index) else {
            unreachable!("the order permutes the rows, one label each")
        };
        Ok(Some((x, self.labels[index])))
    }

    /// All remaining rows, if they are dense and in the given order.
    fn rows_ahead(&self) -> Option<RowsAhead<'_>> {
        let points = self.points.as_dense().filter(|_| self.order.is_none())?;
        Some(RowsAhead::new(points, self.labels, self.next))
    }

    fn skip(&mut self, count: usize) {
        assert!(count <= self.remaining(), "{count} examples of {}", self.remaining());
        self.next += count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_linalg::{Points, RowView, SparsePoints};

    #[test]
    fn rows_ahead_are_those_that_come() {
        let points = Points::new((0..6).map(f64::from).collect(), 2).unwrap();
        let labels = [Label::Positive, Label::Negative, Label::Positive];
        let mut stream = LabelledPoints::new(&points, &labels).unwrap();
        stream.next_row().unwrap();
        let ahead = stream.rows_ahead().unwrap();
        assert_eq!((ahead.values(), ahead.labels()), (&points.as_slice()[2..], &labels[1..]));
        let mut borrowed = &mut stream;
        ExampleStream::skip(&mut borrowed, 1);
        assert_eq!(ExampleStream::rows_ahead(&borrowed).unwrap().values(), [4.0, 5.0]);
        assert_eq!(stream.next_row().unwrap().unwrap().0.as_slice(), [4.0, 5.0]);
        assert_eq!(stream.rows_ahead().unwrap().labels(), []);
        // Neither sparse rows nor rows in another order are contiguous.
        let sparse = SparsePoints::from_dense(&points).unwrap();
        assert_eq!(LabelledPoints::new(&sparse, &labels).unwrap().rows_ahead(), None);
        assert_eq!(LabelledPoints::shuffled(&points, &labels, 1).unwrap().rows_ahead(), None);
    }

    #[test]
    #[should_panic(expected = "2 examples of 1")]
    fn more_than_is_left_is_not_skipped() {
        let points = Points::new(vec![1.0], 1).unwrap();
        LabelledPoints::new(&points, &[Label::Positive]).unwrap().skip(2);
    }

    #[test]
    fn every_example_comes_once_with_its_label() {
        let values: Vec<f64> = (0..50).map(f64::from).map(|v| v - 25.5).collect();
        let points = Points::new(values.clone(), 1).unwrap();
        let labels: Vec<Label> = values.iter().map(|v| Label::from_sign(*v)).collect();
        let sparse = SparsePoints::from_dense(&points).unwrap();
        let mut stream = LabelledPoints::shuffled(&sparse, &labels, 3).unwrap();
        assert_eq!(stream.remaining(), 50);
        let mut seen = Vec::new();
        while let Some((x, y)) = stream.next_row().unwrap() {
            let v = x.dot(&[1.0]);
            assert_eq!(y, Label::from_sign(v));
            seen.push(v);
        }
        assert_eq!(stream.remaining(), 0);
        assert_ne!(seen, values);
        seen.sort_by(f64::total_cmp);
        assert_eq!(seen, values);
        assert!(LabelledPoints::new(&points, &labels[1..]).is_err());
    }
}
