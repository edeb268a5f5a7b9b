//! What a person says of a file, and what is known of it before it is read.

use clap::{Args, ValueEnum};
use std::collections::BTreeSet;

/// Cells of text files that mean that a value is missing.
pub(super) const MISSING_CELLS: [&str; 13] =
    ["", "?", "NA", "N/A", "n/a", "#N/A", "<NA>", "nan", "NaN", "NAN", "null", "NULL", "None"];

/// They as a message says them.
pub(crate) const MISSING_SHOWN: &str = "an empty cell, ?, NA, N/A, NaN, null and None";

/// How a file is read.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Reading")]
pub(crate) struct ReadingArgs {
    /// Format of the file [default: by what is in it]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<Format>,
    /// What separates the cells of a CSV file [default: the one of , ; | and tab that fits]
    #[arg(long, value_name = "CHAR", value_parser = delimiter)]
    pub(crate) delimiter: Option<u8>,
    /// The first line holds names [default: by what is in it]
    #[arg(long, conflicts_with = "no_header")]
    pub(crate) header: bool,
    /// The first line is data; columns are named c1, c2, ..
    #[arg(long)]
    pub(crate) no_header: bool,
    /// A cell that means that a value is missing, besides the usual ones (empty, ?, NA, NaN, null, None)
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) missing: Vec<String>,
    /// Read a column as categories although its cells look like numbers (postcodes)
    #[arg(long, value_name = "COLUMN")]
    pub(crate) category: Vec<String>,
}

/// Formats of tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Comma-separated values, or separated otherwise (--delimiter)
    Csv,
    /// Tab-separated values
    Tsv,
    /// `label index:value ..` per line; columns are named by their indices
    Libsvm,
    /// Apache Parquet
    Parquet,
    /// Arrow IPC, file or stream; Feather version 2
    Arrow,
    /// `NumPy` array: rows are its first dimension, columns x0, x1, .. all others; of one dimension column x
    Npy,
    /// `NumPy` arrays by name; one of two dimensions gives columns x0, x1, .., others of one their own
    Npz,
}

fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"\\t" | b"tab" => Ok(b'\t'),
        [b'"' | b'\n' | b'\r'] => Err("quotes and line ends have a meaning of their own".into()),
        [byte] if byte.is_ascii() => Ok(*byte),
        _ => Err("one ASCII character is needed, or tab".into()),
    }
}

/// What is known of a table before it is read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hints {
    /// Columns that hold texts, whatever they look like: labels and categories.
    pub(crate) texts: BTreeSet<String>,
    /// Columns that are looked for: a first line with one of these names is a header.
    pub(crate) expected: BTreeSet<String>,
}

impl Hints {
    /// These columns are looked for, and hold texts.
    pub(crate) fn texts<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Hints {
        let texts: BTreeSet<String> = names.into_iter().map(Into::into).collect();
        Hints { expected: texts.clone(), texts }
    }

    /// Whether the first line of a text file holds names, if the names that are looked for say so.
    pub(super) fn header(&self, first: &[Vec<u8>]) -> Option<bool> {
        if first.iter().any(|cell| self.expected.iter().any(|name| name.as_bytes() == cell)) {
            return Some(true);
        }
        let numbered =
            |name: &String| name.strip_prefix('c').is_some_and(|n| n.parse::<usize>().is_ok());
        let without = !self.expected.is_empty() && self.expected.iter().all(numbered);
        without.then_some(false)
    }
}
