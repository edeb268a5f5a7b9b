//! Readers of labelled points from CSV and LIBSVM text, and the writers that undo them.
//!
//! Every reader works in two steps. A *scan* reads the input once and remembers only what its
//! columns are ([`CsvSchema`], [`LibsvmSchema`]); a *stream* then yields one example at a time in
//! memory that does not grow with the number of rows ([`CsvStream`], [`LibsvmStream`], both an
//! [`ExampleStream`](halfspaces_linalg::ExampleStream)). [`read_csv`] and its relatives do both and collect a
//! [`Dataset`]; [`read_libsvm`] collects one while it scans.
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

mod blocks;
mod classes;
mod collect;
mod csv_column;
mod csv_numbers;
mod csv_options;
mod csv_read;
mod csv_scan;
mod csv_schema;
mod csv_stream;
mod dataset;
mod error;
mod file_kind;
mod input;
mod libsvm;
mod libsvm_example;
mod libsvm_schema;
mod lines;
mod number;
mod number_fault;
mod records;
mod write;

pub use csv_options::{
    Categorical, Column, CsvOptions, Header, LabelColumn, MAX_LINE_BYTES, Missing,
};
pub use csv_read::{read_csv, read_csv_from, read_csv_sparse, read_csv_sparse_from};
pub use csv_schema::{AutoCategorical, ColumnKind, CsvSchema};
pub use csv_stream::{CsvSparseStream, CsvStream};
pub use dataset::Dataset;
pub use error::{Location, ReadError};
pub use file_kind::FileKind;
pub use libsvm::{LibsvmStream, read_libsvm, read_libsvm_from};
pub use libsvm_schema::{LibsvmOptions, LibsvmSchema};
pub use number_fault::NumberFault;
pub use write::{WriteError, write_csv, write_libsvm};
