//! Labelled examples that come one at a time.

use crate::{Label, RowView};

/// Labelled examples that come one at a time and need not fit in memory: from a file, from a
/// generator, from a socket.
///
/// After an error the stream stands behind the faulty example, so a caller may report it and go on.
///
/// ```
/// use halfspaces_linalg::{DenseRow, ExampleStream, InputError, Label};
///
/// /// The corners of the square, for ever.
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
    /// The view of one point, valid until the next is asked for.
    type Row<'a>: RowView
    where
        Self: 'a;

    /// What can be wrong with an example, or with fetching it.
    type Error;

    /// Number of coordinates `d >= 1` of every point.
    fn dim(&self) -> usize;

    /// The next example; `None` after the last.
    ///
    /// # Errors
    /// What is wrong with the next example, or with fetching it.
    fn next_row(&mut self) -> Result<Option<(Self::Row<'_>, Label)>, Self::Error>;
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
}
