//! Readers of labelled points from CSV and LIBSVM text, and the writers that undo them.
//!
//! Every reader works in two steps. A *scan* reads the input once and remembers only what its
//! columns are ([`CsvSchema`], [`LibsvmSchema`]); a *stream* then yields one example at a time in
//! memory that does not grow with the number of rows ([`CsvStream`], [`LibsvmStream`], both an
//! [`ExampleStream`]). [`read_csv`], [`read_libsvm`] and their relatives do both and collect a
//! [`Dataset`].
//!
//! Input is bytes, not text: UTF-8 is required of header names only. Whatever the bytes, the answer
//! is a value or a [`ReadError`] that names file, line and column.
//!
//! ```
//! use halfspaces_data::read::{CsvOptions, read_csv_from};
//! use halfspaces_linalg::Label;
//!
//! let text = "length, colour, class\n1.5, red, ham\n2.5, blue, spam\n";
//! let data = read_csv_from(text.as_bytes(), "mail", &CsvOptions::new().positive("spam"))?;
//! assert_eq!(data.columns(), ["length", "colour=blue", "colour=red"]);
//! assert_eq!(data.points().as_slice(), [1.5, 0.0, 1.0, 2.5, 1.0, 0.0]);
//! assert_eq!(data.labels(), [Label::Negative, Label::Positive]);
//! # Ok::<(), halfspaces_data::read::ReadError>(())
//! ```

mod classes;
mod collect;
mod csv_options;
mod csv_schema;
mod csv_stream;
mod dataset;
mod error;
mod libsvm;
mod lines;
mod number;
mod records;
mod write;

pub use csv_options::{Categorical, Column, CsvOptions, Header, LabelColumn, Missing};
pub use csv_schema::{ColumnKind, CsvSchema};
pub use csv_stream::{
    CsvSparseStream, CsvStream, read_csv, read_csv_from, read_csv_sparse, read_csv_sparse_from,
};
pub use dataset::Dataset;
pub use error::{Location, ReadError};
pub use libsvm::{LibsvmOptions, LibsvmSchema, LibsvmStream, read_libsvm, read_libsvm_from};
pub use write::{WriteError, write_csv, write_libsvm};

use halfspaces_linalg::{Label, RowView};

/// Labelled examples that come one at a time and need not fit in memory.
///
/// After an error the stream stands behind the faulty record, so a caller may report it and go on.
///
/// ```
/// use halfspaces_data::read::{ExampleStream, LibsvmOptions, LibsvmSchema, LibsvmStream, ReadError};
/// use halfspaces_linalg::RowView;
///
/// /// One pass of the perceptron over any stream: the mistakes made, and the final normal.
/// fn perceptron<S: ExampleStream>(mut stream: S) -> Result<(usize, Vec<f64>), ReadError> {
///     let mut mistakes = 0;
///     let mut w = vec![0.0; stream.dim()];
///     while let Some((x, label)) = stream.next_row()? {
///         if label.as_f64() * x.dot(&w) <= 0.0 {
///             mistakes += 1;
///             x.add_scaled_to(label.as_f64(), &mut w);
///         }
///     }
///     Ok((mistakes, w))
/// }
///
/// let schema = LibsvmSchema::declared(&LibsvmOptions::new().dim(2))?;
/// let stream = LibsvmStream::new(&b"+1 1:1\n-1 2:1\n"[..], "two examples", schema);
/// assert_eq!(perceptron(stream)?, (2, vec![1.0, -1.0]));
/// # Ok::<(), ReadError>(())
/// ```
pub trait ExampleStream {
    /// The view of one point, valid until the next is asked for.
    type Row<'a>: RowView
    where
        Self: 'a;

    /// Number of coordinates `d >= 1` of every point.
    fn dim(&self) -> usize;

    /// The next example; `None` after the last.
    ///
    /// # Errors
    /// What is wrong with the next record, or with reading it.
    fn next_row(&mut self) -> Result<Option<(Self::Row<'_>, Label)>, ReadError>;
}
