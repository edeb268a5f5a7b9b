//! How a file is read: what the user said, and what is known of the table beforehand.

use crate::typing::{ColumnRule, Decimal};
use halfspaces_linalg::Threads;
use std::collections::{BTreeMap, BTreeSet};

/// How a file is read: what the user said of it. The default leaves every decision to the reader.
///
/// ```
/// use halfspaces_frame::{Format, ReadOptions};
/// let options = ReadOptions { format: Some(Format::Csv), delimiter: Some(b';'), ..ReadOptions::default() };
/// assert_eq!(options.header, None);
/// assert_eq!("parquet".parse(), Ok(Format::Parquet));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// Format of the file. Default: by its contents.
    pub format: Option<Format>,
    /// The character between the cells of delimited text. Default: the one that fits.
    pub delimiter: Option<u8>,
    /// Whether the first line of delimited text holds names. Default: by its contents.
    pub header: Option<bool>,
    /// Cells that mean that a value is missing, in addition to the usual ones.
    pub missing: Vec<String>,
    /// Usual markers of missing values, such as `None` or `NA`, that are values: the names of classes or of categories.
    pub not_missing: Vec<String>,
    /// The decimal mark. Default: by the contents of the columns.
    pub decimal: Option<Decimal>,
    /// Whether the day stands before the month in dates that fit both orders. Default: by the contents of the column, else
    /// only where points separate the parts.
    pub day_first: Option<bool>,
    /// Columns to read as categories although their cells look like numbers.
    pub category: Vec<String>,
    /// What to do with rows that have more or fewer cells than the others.
    pub ragged: Ragged,
    /// How many threads read delimited text; no result depends on it. Default: one.
    pub threads: Threads,
}

/// What to do with rows of delimited text that have more or fewer cells than the others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ragged {
    /// Refuse the table.
    #[default]
    Error,
    /// Fill missing cells with missing values, and keep further cells in columns of their own.
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
            other => Err(format!("`{other}` is none of error, pad and skip")),
        }
    }
}

/// Formats of tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Comma-separated values, or separated by another character.
    Csv,
    /// Tab-separated values.
    Tsv,
    /// `label index:value ..` for each line; columns are named by their indices.
    Libsvm,
    /// Apache Parquet.
    Parquet,
    /// Arrow IPC, file or stream; Feather version 2.
    Arrow,
    /// A `NumPy` array: its first dimension gives rows, all others columns x0, x1, ..; of one dimension column x.
    Npy,
    /// `NumPy` arrays by name: one of two dimensions gives columns x0, x1, .., each of one dimension its own.
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

    /// The name in lower case.
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

/// What is known of a table before it is read.
#[derive(Debug, Clone, Default)]
pub struct Hints {
    /// Columns that hold texts, whatever they look like: labels and categories.
    pub texts: BTreeSet<String>,
    /// Columns that are looked for: a first line with one of these names is a header.
    pub expected: BTreeSet<String>,
    /// How columns are read, by name: the rules found when a model was learned. They come before `texts`.
    pub rules: BTreeMap<String, ColumnRule>,
    /// Columns of texts in which only an empty cell is missing: words such as `None` are kept.
    pub verbatim: BTreeSet<String>,
}

impl Hints {
    /// These columns are looked for, and hold texts.
    pub fn texts<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Hints {
        let texts: BTreeSet<String> = names.into_iter().map(Into::into).collect();
        Hints { expected: texts.clone(), texts, ..Hints::default() }
    }

    /// Whether a column of this name is looked for.
    pub(crate) fn expects(&self, cell: &[u8]) -> bool {
        std::str::from_utf8(cell).is_ok_and(|name| self.expected.contains(name))
    }

    /// Whether the first line of a text file holds names, if the names that are looked for say so.
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
