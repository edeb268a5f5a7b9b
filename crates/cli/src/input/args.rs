//! What a person says of a file.

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use halfspaces_frame::{Decimal, Format, Ragged, ReadOptions};
use halfspaces_linalg::Threads;

/// How a file is read.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Reading")]
pub(crate) struct ReadingArgs {
    /// Format of the file [default: by what is in it]
    #[arg(long, value_name = "FORMAT", value_parser = format())]
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
    /// What to do with rows of other lengths than the first: an error, pad them with missing cells, or skip them
    #[arg(long, value_name = "HOW", value_parser = ragged(), default_value = "error")]
    pub(crate) ragged: Ragged,
    /// A cell that means that a value is missing, besides the usual ones (empty, ?, NA, NaN, null, None)
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) missing: Vec<String>,
    /// A usual marker of a missing value that is a value in this table, such as None as a class
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) not_missing: Vec<String>,
    /// The decimal mark of numbers, . or , [default: by what is in the columns]
    #[arg(long, value_name = "MARK", value_parser = decimal)]
    pub(crate) decimal: Option<Decimal>,
    /// In dates such as 3/4/2025 the day stands first
    #[arg(long)]
    pub(crate) day_first: bool,
    /// Read a column as categories although its cells look like numbers (postcodes)
    #[arg(long, value_name = "COLUMN")]
    pub(crate) category: Vec<String>,
    /// Threads; no result depends on them [default: all cores]
    #[arg(long, value_name = "N", value_parser = threads, help_heading = None)]
    threads: Option<Threads>,
}

impl ReadingArgs {
    /// The options of the library.
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

    /// How many threads the command uses.
    pub(crate) fn threads(&self) -> Threads {
        self.threads.unwrap_or_else(Threads::all)
    }
}

fn threads(text: &str) -> Result<Threads, String> {
    let count: usize =
        text.parse().map_err(|_| "a whole number of at least 1 is needed".to_owned())?;
    Threads::new(count).map_err(|e| e.to_string())
}

fn ragged() -> impl TypedValueParser<Value = Ragged> {
    let values = [
        PossibleValue::new("error").help("An error that names the lines and the likely cause"),
        PossibleValue::new("pad").help(
            "Short rows get missing cells, and cells beyond the header a column of their own",
        ),
        PossibleValue::new("skip")
            .help("Rows of other lengths are left out, and a note says which"),
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
        Format::Csv => "Comma-separated values, or separated otherwise (--delimiter)",
        Format::Tsv => "Tab-separated values",
        Format::Libsvm => "`label index:value ..` per line; columns are named by their indices",
        Format::Parquet => "Apache Parquet",
        Format::Arrow => "Arrow IPC, file or stream; Feather version 2",
        Format::Npy => {
            "NumPy array: rows are its first dimension, columns x0, x1, .. all others; of one dimension column x"
        }
        Format::Npz => {
            "NumPy arrays by name; one of two dimensions gives columns x0, x1, .., others of one their own"
        }
    }
}

fn decimal(text: &str) -> Result<Decimal, String> {
    match text {
        "." => Ok(Decimal::Point),
        "," => Ok(Decimal::Comma),
        _ => Err("a point or a comma is needed".into()),
    }
}

fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"\\t" | b"tab" => Ok(b'\t'),
        [b'"' | b'\n' | b'\r'] => Err("quotes and line ends have a meaning of their own".into()),
        [byte] if byte.is_ascii() => Ok(*byte),
        _ => Err("one ASCII character is needed, or tab".into()),
    }
}
