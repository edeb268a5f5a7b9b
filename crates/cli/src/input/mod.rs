//! Tables from files: CSV, LIBSVM, Parquet, Arrow, NPY and NPZ, compressed or not, or from standard input.

#[cfg(feature = "arrow")]
mod arrow;
mod csv;
mod csv_columns;
mod csv_layout;
mod levels;
mod libsvm;
mod npy;
#[cfg(feature = "parquet")]
mod parquet;
mod source;

use crate::error::CliError;
use crate::frame::Frame;
use clap::{Args, ValueEnum};
use source::Source;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Cells of text files that mean that a value is missing.
const MISSING_CELLS: [&str; 13] =
    ["", "?", "NA", "N/A", "n/a", "#N/A", "<NA>", "nan", "NaN", "NAN", "null", "NULL", "None"];

/// Which file, and how it is read.
#[derive(Debug, Clone, Args)]
pub(crate) struct InputArgs {
    /// The table: CSV, TSV, LIBSVM, Parquet, Arrow, NPY or NPZ, also as .gz or .zst; - for standard input
    #[arg(value_name = "DATA")]
    pub(crate) data: PathBuf,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
}

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
    #[arg(long, value_name = "TEXT")]
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
    /// `NumPy` array of two dimensions; columns are named x0, x1, ..
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
    fn header(&self, first: &[Vec<u8>]) -> Option<bool> {
        if first.iter().any(|cell| self.expected.iter().any(|name| name.as_bytes() == cell)) {
            return Some(true);
        }
        let numbered =
            |name: &String| name.strip_prefix('c').is_some_and(|n| n.parse::<usize>().is_ok());
        let without = !self.expected.is_empty() && self.expected.iter().all(numbered);
        without.then_some(false)
    }
}

impl InputArgs {
    /// Reads the table.
    pub(crate) fn read(&self) -> Result<Frame, CliError> {
        self.read_as(&Hints::default())
    }

    /// Reads the table, knowing something of it.
    pub(crate) fn read_as(&self, hints: &Hints) -> Result<Frame, CliError> {
        read(&self.data, &self.reading, hints)
    }
}

/// A text file too large for memory, read more than once.
#[derive(Debug)]
pub(crate) struct LargeTable {
    source: Source,
    format: Format,
    reading: ReadingArgs,
    hints: Hints,
}

impl LargeTable {
    /// Opens a file.
    pub(crate) fn open(input: &InputArgs, mut hints: Hints) -> Result<LargeTable, CliError> {
        if input.data == std::path::Path::new("-") {
            return Err(CliError::user(
                "--stream: standard input cannot be read more than once; name a file",
            ));
        }
        let source = Source::open(&input.data)?;
        let format = match input.reading.format {
            Some(format) => format,
            None => source.format()?,
        };
        if !matches!(format, Format::Csv | Format::Tsv) {
            let name = source.name();
            return Err(CliError::user(format!("{name}: --stream reads CSV and TSV files only")));
        }
        hints.texts.extend(input.reading.category.iter().cloned());
        Ok(LargeTable { source, format, reading: input.reading.clone(), hints })
    }

    fn stream(&self) -> Result<csv::Stream<'_>, CliError> {
        csv::Stream::open(&self.source, self.format, &self.reading, &self.hints)
    }

    /// The number of rows.
    pub(crate) fn count(&self) -> Result<u64, CliError> {
        self.stream()?.count()
    }

    /// The rows numbered `rows`, which rise.
    pub(crate) fn rows(&self, rows: &[u64]) -> Result<Frame, CliError> {
        let frame = self.stream()?.rows(rows)?;
        check_names(&frame)?;
        Ok(frame)
    }

    /// Hands all rows to `learn`, `size` at a time, read as the columns that `hints` knows.
    pub(crate) fn in_chunks<T>(
        &self,
        hints: &Hints,
        size: usize,
        learn: impl FnOnce(&mut dyn Iterator<Item = Result<Frame, CliError>>) -> Result<T, CliError>,
    ) -> Result<T, CliError> {
        let stream = csv::Stream::open(&self.source, self.format, &self.reading, hints)?;
        learn(&mut stream.chunks(size)?)
    }
}

/// Reads a table from a file, or from standard input for `-`.
pub(crate) fn read(
    path: &std::path::Path,
    reading: &ReadingArgs,
    hints: &Hints,
) -> Result<Frame, CliError> {
    let source = Source::open(path)?;
    let format = match reading.format {
        Some(format) => format,
        None => source.format()?,
    };
    let mut hints = hints.clone();
    hints.texts.extend(reading.category.iter().cloned());
    let frame = match format {
        Format::Csv | Format::Tsv => csv::read(&source, format, reading, &hints),
        Format::Libsvm => libsvm::read(&source),
        Format::Npy => npy::read(&source),
        Format::Npz => npy::read_npz(&source),
        #[cfg(feature = "parquet")]
        Format::Parquet => parquet::read(&source, &hints),
        #[cfg(feature = "arrow")]
        Format::Arrow => arrow::read(&source, &hints),
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => Err(without("Parquet")),
        #[cfg(not(feature = "arrow"))]
        Format::Arrow => Err(without("Arrow")),
    }?;
    if frame.rows == 0 {
        return Err(CliError::user(format!("{}: the table has no rows", frame.source)));
    }
    for name in &reading.category {
        if frame.column(name).is_none() {
            return Err(frame.no_column(name));
        }
    }
    check_names(&frame)?;
    Ok(frame)
}

fn check_names(frame: &Frame) -> Result<(), CliError> {
    let mut seen = BTreeSet::new();
    for (at, column) in frame.columns.iter().enumerate() {
        let name = column.name.as_str();
        let source = &frame.source;
        if name.is_empty() {
            return Err(CliError::user(format!(
                "{source}: column {} has no name; give it one in the header",
                at + 1
            )));
        }
        if !seen.insert(name) {
            return Err(CliError::user(format!(
                "{source}: two columns are called `{name}`; rename one"
            )));
        }
    }
    Ok(())
}

#[cfg(not(all(feature = "arrow", feature = "parquet")))]
fn without(format: &str) -> CliError {
    let feature = format.to_lowercase();
    CliError::user(format!(
        "this program was built without {format}; build it with `--features {feature}`"
    ))
}
