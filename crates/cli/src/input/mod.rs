//! Tables from files: CSV, LIBSVM, Parquet, Arrow, NPY and NPZ, compressed or not, or from standard input.

#[cfg(feature = "arrow")]
mod arrow;
mod csv;
mod csv_columns;
mod csv_layout;
mod detect;
mod levels;
mod libsvm;
mod npy;
#[cfg(feature = "parquet")]
mod parquet;
mod reading;
mod source;

use crate::error::CliError;
use crate::frame::Frame;
use clap::Args;
pub(crate) use reading::{Format, Hints, MISSING_SHOWN, ReadingArgs};
use source::Source;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Which file, and how it is read.
#[derive(Debug, Clone, Args)]
pub(crate) struct InputArgs {
    /// The table: CSV, TSV, LIBSVM, Parquet, Arrow, NPY or NPZ, also as .gz or .zst; - for standard input
    #[arg(value_name = "DATA")]
    pub(crate) data: PathBuf,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
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
            None => detect::format(&source)?,
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
        None => detect::format(&source)?,
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
