//! Options that say how a file is read.

use super::{InputArgs, print_notes};
use crate::error::CliError;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use halfspaces_frame::{DataError, Decimal, Format, Ragged, ReadOptions};
use halfspaces_labelling::{Opening, SessionAccess, SessionFile};
use halfspaces_linalg::Threads;
use halfspaces_pipeline::{Costs, JoinedTable, LabelFile, RecipeOptions};
use std::path::{Path, PathBuf};

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
    /// A text, such as None, that is not a missing-value marker in this table but a category, text or class; in columns
    /// of numbers, dates and truth values, it still marks a missing value; may be repeated
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) not_missing: Vec<String>,
    /// Decimal mark of numbers, . or , [default: detected for each column]
    #[arg(long, value_name = "MARK", value_parser = decimal)]
    pub(crate) decimal: Option<Decimal>,
    /// Read dates such as 3/4/2025 with the day first (3 April)
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

/// Options that name a file of labels.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct LabelFileArgs {
    /// File of labels, such as y.npy or the output of `label`. Its labels are matched to the rows by --id, by its
    /// column `row` (data rows, counted from 0), or in order. Without --id, other columns that occur in both files must
    /// agree. Rows without a label are left out
    #[arg(long, value_name = "FILE")]
    pub(crate) labels: Option<PathBuf>,
    /// Column of unique ids in both files, by which labels are matched to rows; the model does not learn from it
    #[arg(long, value_name = "COLUMN", requires = "labels")]
    pub(crate) id: Option<String>,
}

impl LabelFileArgs {
    /// The input files, which an output must not overwrite.
    pub(crate) fn with<'p>(&'p self, data: &'p Path) -> Vec<&'p Path> {
        std::iter::once(data).chain(self.labels.as_deref()).collect()
    }

    /// The file of labels with its column of labels, if that column is known.
    pub(crate) fn file(&self, column: Option<&str>) -> Option<LabelFile> {
        let (column, id) = (column.map(str::to_owned), self.id.clone());
        self.labels.clone().map(|path| LabelFile { path, column, id })
    }

    /// Reads the table with its labels and prints its notes. Returns `None` if --labels is not given.
    pub(crate) fn read(
        &self,
        input: &InputArgs,
        column: Option<&str>,
        columns: &RecipeOptions,
    ) -> Result<Option<JoinedTable>, CliError> {
        let Some(file) = self.file(column) else { return Ok(None) };
        let joined = file.read_table(&input.data, &input.reading.options(), columns);
        let mut joined = joined.map_err(|error| failed_labels(&file.path, error))?;
        print_notes(&mut joined.frame);
        Ok(Some(joined))
    }
}

/// The error for a file of labels that cannot be read or joined.
pub(crate) fn failed_labels(path: &Path, error: DataError) -> CliError {
    match wrong_labels(path) {
        Some(advice) => CliError::user(format!("{}: {advice}", path.display())),
        None => error,
    }
}

/// Advice on what to pass instead if the file is a session or contains labels that were not written as a table; `None`
/// for any other file.
fn wrong_labels(path: &Path) -> Option<String> {
    if matches!(SessionFile::open(path, SessionAccess::Read), Ok(Opening::Existing(_))) {
        let session = path.display();
        return Some(format!(
            "this is a session of `halfspaces label`, not a table of labels; pass it to `fit` with --session, or write its \
             labels with `halfspaces label DATA --session {session} --export -o labels.csv`"
        ));
    }
    let ending = path.extension()?.to_str()?.to_lowercase();
    ["json", "jsonl", "ndjson"].contains(&ending.as_str()).then(|| {
        "labels in JSON are not supported; if they are those of a session, pass the session to `fit` with --session, or write \
         them with `halfspaces label --export` to a file whose name ends in .csv"
            .to_owned()
    })
}

/// Options that change the decisions of a model.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct CostArgs {
    /// Cost of misclassifying a row of CLASS, such as ill=9; the cost of other classes is 1. The predicted class is the
    /// one with the least expected cost; may be repeated
    #[arg(long, value_name = "CLASS=COST", value_parser = cost, conflicts_with = "threshold")]
    cost: Vec<(String, f64)>,
    /// Predict the second of two classes (the one that --positive names in `fit`) if its probability is at least
    /// PROBABILITY
    #[arg(long, value_name = "PROBABILITY", allow_negative_numbers = true)]
    threshold: Option<f64>,
}

impl CostArgs {
    /// The costs; `None` if no option is given.
    pub(crate) fn costs(&self, classes: &[String]) -> Result<Option<Costs>, CliError> {
        match self.threshold {
            Some(threshold) => Costs::of_threshold(classes, threshold).map(Some),
            None if self.cost.is_empty() => Ok(None),
            None => Costs::new(classes, &self.cost).map(Some),
        }
    }
}

fn cost(text: &str) -> Result<(String, f64), String> {
    let found = text.rsplit_once('=').and_then(|(class, cost)| Some((class, cost.parse().ok()?)));
    let (class, cost) = found.ok_or("expected CLASS=COST, such as ill=9")?;
    Ok((class.to_owned(), cost))
}

fn threads(text: &str) -> Result<Threads, String> {
    let count: usize =
        text.parse().map_err(|_| "expected a whole number of at least 1".to_owned())?;
    Threads::new(count).map_err(|e| e.to_string())
}

fn ragged() -> impl TypedValueParser<Value = Ragged> {
    let values = [
        PossibleValue::new("error").help("Fail; the error names the lines and the likely cause"),
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
        Format::Csv => "Comma-separated values, or values with another separator (--delimiter)",
        Format::Tsv => "Tab-separated values",
        Format::Libsvm => "`label index:value ..` per line; columns are named by their indices",
        Format::Parquet => "Apache Parquet",
        Format::Arrow => "Arrow IPC, file or stream; Feather version 2",
        Format::Npy => {
            "NumPy array: the first dimension gives the rows, the others the columns x0, x1, ..; a one-dimensional \
             array gives column x"
        }
        Format::Npz => {
            "Named NumPy arrays: a two-dimensional array (at most one) gives columns x0, x1, ..; each one-dimensional \
             array gives a column with its name"
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
