//! Options that say how a file is read.

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use halfspaces_frame::{Decimal, Format, Ragged, ReadOptions};
use halfspaces_linalg::Threads;

/// Options that say how a file is read.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Reading")]
pub(crate) struct ReadingArgs {
    /// Format of the file [default: detected from its content]
    #[arg(long, value_name = "FORMAT", value_parser = format())]
    pub(crate) format: Option<Format>,
    /// Character that separates the cells of a CSV file [default: detected among , ; | and tab]
    #[arg(long, value_name = "CHAR", value_parser = delimiter)]
    pub(crate) delimiter: Option<u8>,
    /// The first line contains column names [default: detected]
    #[arg(long, conflicts_with = "no_header")]
    pub(crate) header: bool,
    /// The first line is data; name the columns c1, c2, ..
    #[arg(long)]
    pub(crate) no_header: bool,
    /// What to do with rows that have more or fewer cells than the header
    #[arg(long, value_name = "HOW", value_parser = ragged(), default_value = "error")]
    pub(crate) ragged: Ragged,
    /// Another text that marks a missing value, in addition to an empty cell, ?, NA, NaN, null and None; may be
    /// repeated
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) missing: Vec<String>,
    /// A text that is a value in this table and not a missing-value marker, such as None; may be repeated
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) not_missing: Vec<String>,
    /// Decimal mark of numbers, . or , [default: detected for each column]
    #[arg(long, value_name = "MARK", value_parser = decimal)]
    pub(crate) decimal: Option<Decimal>,
    /// Read dates such as 3/4/2025 as day first (3 April)
    #[arg(long)]
    pub(crate) day_first: bool,
    /// Read a column of numbers, such as postcodes, as categories; may be repeated
    #[arg(long, value_name = "COLUMN")]
    pub(crate) category: Vec<String>,
    /// Number of threads; the results do not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = threads, help_heading = None)]
    threads: Option<Threads>,
}

impl ReadingArgs {
    /// The corresponding options of the library.
    pub(crate) fn options(&self) -> ReadOptions {
        ReadOptions {
            format: self.format,
            delimiter: self.delimiter,
            header: (self.header || self.no_header).then_some(self.header),
            ragged: self.ragged,
            missing: self.missing.clone(),
            not_missing: self.not_missing.clone(),
            decimal: self.decimal,
            day_first: self.day_first.then_some(true),
            category: self.category.clone(),
            threads: self.threads(),
        }
    }

    /// The number of threads to use.
    pub(crate) fn threads(&self) -> Threads {
        self.threads.unwrap_or_else(Threads::all)
    }
}

fn threads(text: &str) -> Result<Threads, String> {
    let count: usize =
        text.parse().map_err(|_| "expected a whole number of at least 1".to_owned())?;
    Threads::new(count).map_err(|e| e.to_string())
}

fn ragged() -> impl TypedValueParser<Value = Ragged> {
    let values = [
        PossibleValue::new("error").help("Fail and name the lines and the likely cause"),
        PossibleValue::new("pad").help(
            "Pad short rows with missing cells, and put cells beyond the header in columns of their own",
        ),
        PossibleValue::new("skip").help("Skip these rows and print a note that lists them"),
    ];
    PossibleValuesParser::new(values).map(|name| match name.as_str() {
        "pad" => Ragged::Pad,
        "skip" => Ragged::Skip,
        _ => Ragged::Error,
    })
}

fn format() -> impl TypedValueParser<Value = Format> {
    let value = |format: Format| PossibleValue::new(format.name()).help(help(format));
    PossibleValuesParser::new(Format::ALL.map(value)).try_map(|name| name.parse::<Format>())
}

fn help(format: Format) -> &'static str {
    match format {
        Format::Csv => "Comma-separated values, or another separator (--delimiter)",
        Format::Tsv => "Tab-separated values",
        Format::Libsvm => "`label index:value ..` per line; columns are named by their indices",
        Format::Parquet => "Apache Parquet",
        Format::Arrow => "Arrow IPC, file or stream; Feather version 2",
        Format::Npy => {
            "NumPy array: the first dimension gives the rows, the others the columns x0, x1, ..; a one-dimensional \
             array gives column x"
        }
        Format::Npz => {
            "Named NumPy arrays: at most one two-dimensional array gives columns x0, x1, ..; each one-dimensional \
             array gives a column of its name"
        }
    }
}

fn decimal(text: &str) -> Result<Decimal, String> {
    match text {
        "." => Ok(Decimal::Point),
        "," => Ok(Decimal::Comma),
        _ => Err("expected . or ,".into()),
    }
}

fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"\\t" | b"tab" => Ok(b'\t'),
        [b'"' | b'\n' | b'\r'] => {
            Err("a quotation mark or a line end cannot separate cells".into())
        }
        [byte] if byte.is_ascii() => Ok(*byte),
        _ => Err("expected one ASCII character, or tab".into()),
    }
}
