//! Streams of labelled examples.

use crate::DenseRow;
use crate::{DensePoints, Label, PointSet, RowView};

/// Labelled examples that arrive one at a time, for example from a file, a generator or a socket. They need not fit in
/// memory.
///
/// After an error the stream continues with the example after the faulty one, so a caller may report the error and
/// continue reading.
///
/// ```
/// use halfspaces_linalg::{DenseRow, ExampleStream, InputError, Label};
///
/// /// The corners of the square, repeated endlessly.
/// struct Corners([f64; 2], usize);
///
/// impl ExampleStream for Corners {
///     type Row<'a> = DenseRow<'a>;
///     type Error = InputError;
///
///     fn dim(&self) -> usize {
///         2
///     }
///
///     fn next_row(&mut self) -> Result<Option<(DenseRow<'_>, Label)>, InputError> {
///         self.1 += 1;
///         self.0 = [[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [-1.0, 1.0]][self.1 % 4];
///         let label = Label::from_sign(self.0[0]);
///         Ok(Some((DenseRow::new(&self.0)?, label)))
///     }
/// }
///
/// let mut corners = Corners([0.0; 2], 0);
/// assert_eq!(corners.next_row()?.map(|(_, label)| label), Some(Label::Positive));
/// # Ok::<(), InputError>(())
/// ```
pub trait ExampleStream {
    /// The view of one point, valid until the next call.
    type Row<'a>: RowView
    where
        Self: 'a;

    /// The error for an invalid example or a failure to read it.
    type Error;

    /// Number of coordinates `d >= 1` of every point.
    fn dim(&self) -> usize;

    /// The next example; `None` after the last.
    ///
    /// # Errors
    /// Fails if the next example is invalid or cannot be read.
    fn next_row(&mut self) -> Result<Option<(Self::Row<'_>, Label)>, Self::Error>;

    /// The next examples, if they are contiguous in memory. Learners can process many rows faster together than one at
    /// a time. The rows remain in the stream until [`ExampleStream::skip`] removes them.
    fn rows_ahead(&self) -> Option<RowsAhead<'_>> {
        None
    }

    /// Removes the first `count` rows of [`ExampleStream::rows_ahead`].
    ///
    /// # Panics
    /// Panics if there are fewer than `count` rows.
    fn skip(&mut self, count: usize) {
        assert_eq!(count, 0, "a stream with rows ahead must implement `skip`");
    }
}

/// Dense examples that are contiguous in memory.
///
/// ```
/// use halfspaces_linalg::{Label, Points, RowsAhead};
/// let points = Points::from_rows(&[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])?;
/// let labels = [Label::Positive, Label::Negative, Label::Negative];
/// let ahead = RowsAhead::new(&points, &labels, 1).at_most(1);
/// assert_eq!((ahead.values(), ahead.labels()), (&[3.0, 4.0][..], &[Label::Negative][..]));
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RowsAhead<'a> {
    values: &'a [f64],
    labels: &'a [Label],
    dim: usize,
}

impl<'a> RowsAhead<'a> {
    /// The examples from index `first` up to the last index that has both a point and a label.
    #[must_use]
    pub fn new(points: &'a DensePoints<'_>, labels: &'a [Label], first: usize) -> Self {
        let (end, dim) = (points.len().min(labels.len()), points.dim());
        let first = first.min(end);
        let values = &points.as_slice()[first * dim..end * dim];
        RowsAhead { values, labels: &labels[first..end], dim }
    }

    /// The first `count` examples.
    #[must_use]
    pub fn at_most(self, count: u64) -> Self {
        let count = count.min(self.labels.len() as u64) as usize;
        let (values, labels) = (&self.values[..count * self.dim], &self.labels[..count]);
        RowsAhead { values, labels, ..self }
    }

    /// The examples after the first `count`.
    #[must_use]
    pub fn skip(self, count: usize) -> Self {
        let count = count.min(self.labels.len());
        let (values, labels) = (&self.values[count * self.dim..], &self.labels[count..]);
        RowsAhead { values, labels, ..self }
    }

    /// Iterates over the examples in order.
    pub fn rows(self) -> impl ExactSizeIterator<Item = (DenseRow<'a>, Label)> {
        let rows = self.values.chunks_exact(self.dim).map(DenseRow::from_checked);
        rows.zip(self.labels.iter().copied())
    }

    /// The rows as one row-major slice of finite values.
    #[must_use]
    pub fn values(self) -> &'a [f64] {
        self.values
    }

    /// The labels of the rows.
    #[must_use]
    pub fn labels(self) -> &'a [Label] {
        self.labels
    }

    /// Number of coordinates of each row.
    #[must_use]
    pub fn dim(self) -> usize {
        self.dim
    }
}

impl<S: ExampleStream> ExampleStream for &mut S {
    type Row<'a>
        = S::Row<'a>
    where
        Self: 'a;
    type Error = S::Error;

    fn dim(&self) -> usize {
        (**self).dim()
    }

    fn next_row(&mut self) -> Result<Option<(Self::Row<'_>, Label)>, Self::Error> {
        (**self).next_row()
    }

    fn rows_ahead(&self) -> Option<RowsAhead<'_>> {
        (**self).rows_ahead()
    }

    fn skip(&mut self, count: usize) {
        (**self).skip(count);
    }
}
