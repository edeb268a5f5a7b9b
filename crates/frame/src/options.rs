//! The options for reading a file, and the hints about its table.

use crate::typing::{ColumnRule, Decimal};
use halfspaces_linalg::Threads;
use std::collections::{BTreeMap, BTreeSet};

/// The user's options for reading a file. By default, the reader makes every decision.
///
/// ```
/// use halfspaces_frame::{Format, ReadOptions};
/// let options = ReadOptions { format: Some(Format::Csv), delimiter: Some(b';'), ..ReadOptions::default() };
/// assert_eq!(options.header, None);
/// assert_eq!("parquet".parse(), Ok(Format::Parquet));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// The format of the file. By default, it is detected from the contents and the name of the file.
    pub format: Option<Format>,
    /// The delimiter of delimited text. By default, it is detected from the contents of the file.
    pub delimiter: Option<u8>,
    /// Whether the first line of delimited text contains the names of the columns. By default, this is detected from
    /// the contents of the file.
    pub header: Option<bool>,
    /// The cells that count as missing, in addition to the common markers.
    pub missing: Vec<String>,
    /// Common markers of missing values, such as `None` or `NA`, that are read as values because they are names of
    /// classes or categories. In a column of numbers, dates or truth values, they still mark a missing value.
    pub not_missing: Vec<String>,
    /// The decimal mark. By default, it is detected from the contents of each column.
    pub decimal: Option<Decimal>,
    /// Whether the day precedes the month in dates that fit both orders. By default, this is detected from the contents
    /// of the column. If the contents are ambiguous, the day is first only in dates with points.
    pub day_first: Option<bool>,
    /// The columns to read as categories even if their cells look like numbers.
    pub category: Vec<String>,
    /// The treatment of rows with more or fewer cells than the others.
    pub ragged: Ragged,
    /// The number of threads that read delimited text. The number does not affect the result. The default is one
    /// thread.
    pub threads: Threads,
}

/// The treatment of rows of delimited text that have more or fewer cells than the others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ragged {
    /// Reject a table with such rows.
    #[default]
    Error,
    /// Fill absent cells with missing values, and put additional cells into additional columns.
    Pad,
    /// Leave such rows out.
    Skip,
}

impl std::str::FromStr for Ragged {
    type Err = String;

    fn from_str(name: &str) -> Result<Ragged, String> {
        match name {
            "error" => Ok(Ragged::Error),
            "pad" => Ok(Ragged::Pad),
            "skip" => Ok(Ragged::Skip),
            other => Err(format!("`{other}` is not one of error, pad and skip")),
        }
    }
}

/// The format of a file that contains a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Values separated by commas or by another character.
    Csv,
    /// Tab-separated values.
    Tsv,
    /// LIBSVM text, which consists of lines of the form `label index:value ..`. Columns are named by their indices.
    Libsvm,
    /// Apache Parquet.
    Parquet,
    /// Arrow IPC, as a file or a stream. This includes Feather version 2.
    Arrow,
    /// A `NumPy` array. The first dimension gives the rows, and the other dimensions give the columns x0, x1, .. A
    /// vector gives the column x.
    Npy,
    /// An archive of named `NumPy` arrays. An array with two dimensions gives the columns x0, x1, .. Each vector gives
    /// a column with the name of the vector.
    Npz,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 7] = [
        Format::Csv,
        Format::Tsv,
        Format::Libsvm,
        Format::Parquet,
        Format::Arrow,
        Format::Npy,
        Format::Npz,
    ];

    /// The name of the format in lower case.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Format::Csv => "csv",
            Format::Tsv => "tsv",
            Format::Libsvm => "libsvm",
            Format::Parquet => "parquet",
            Format::Arrow => "arrow",
            Format::Npy => "npy",
            Format::Npz => "npz",
        }
    }
}

impl std::str::FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> Result<Format, String> {
        let found = Format::ALL.into_iter().find(|format| format.name() == name);
        found.ok_or_else(|| format!("`{name}` is not a format"))
    }
}

/// Facts that are known about a table before it is read.
#[derive(Debug, Clone, Default)]
pub struct Hints {
    /// Columns, such as labels and categories, that contain texts whatever their cells look like.
    pub texts: BTreeSet<String>,
    /// Columns that are expected. If the first line contains one of these names, it is a header.
    pub expected: BTreeSet<String>,
    /// The rules by which columns are read. They were found when a model was fitted, and they take precedence over
    /// `texts`.
    pub rules: BTreeMap<String, ColumnRule>,
    /// Columns of texts in which only an empty cell is missing. Markers such as `None` are kept as texts.
    pub verbatim: BTreeSet<String>,
    /// Whether all other columns are also read as texts, because they are not used. The cells of these columns are not
    /// checked.
    pub others_are_texts: bool,
    /// Whether every row must be kept, because every row needs a prediction. In this case, trailing rows are not
    /// treated as footnotes. A line that repeats the header is not a row. A blank line is a row only in a table with
    /// one column, and only if another row follows.
    pub keeps_rows: bool,
}

impl Hints {
    /// Creates hints that say that the given columns are expected and contain texts.
    pub fn texts<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Hints {
        let texts: BTreeSet<String> = names.into_iter().map(Into::into).collect();
        Hints { expected: texts.clone(), texts, ..Hints::default() }
    }

    /// Creates hints that say that the given columns are expected and contain texts in which only an empty cell is
    /// missing.
    pub fn verbatim<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Hints {
        let hints = Hints::texts(names);
        Hints { verbatim: hints.texts.clone(), ..hints }
    }

    /// Whether a column with this name is expected.
    pub(crate) fn expects(&self, cell: &[u8]) -> bool {
        std::str::from_utf8(cell).is_ok_and(|name| self.expected.contains(name))
    }

    /// Whether the first line of a text file contains names, or `None` if the expected names do not decide this.
    pub(crate) fn header(&self, first: &[Vec<u8>]) -> Option<bool> {
        if first.iter().any(|cell| self.expects(cell)) {
            return Some(true);
        }
        let numbered =
            |name: &String| name.strip_prefix('c').is_some_and(|n| n.parse::<usize>().is_ok());
        let without = !self.expected.is_empty() && self.expected.iter().all(numbered);
        without.then_some(false)
    }
}
