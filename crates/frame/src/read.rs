//! Reads tables from files or standard input. The formats are delimited text, LIBSVM, Parquet, Arrow, NPY and NPZ, and
//! files may be compressed.

#[cfg(feature = "arrow")]
use crate::arrow;
#[cfg(feature = "arrow")]
use crate::batches::from_batches;
use crate::block::Block;
use crate::budget::Budget;
use crate::delimited;
use crate::detect;
use crate::error::DataError;
use crate::frame::Frame;
use crate::libsvm;
use crate::npy;
use crate::options::{Format, Hints, ReadOptions};
#[cfg(feature = "parquet")]
use crate::parquet;
use crate::source::Source;
use crate::typing::{ColumnRecord, ColumnRule, Markers};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

/// A CSV, LIBSVM or Parquet file that is too large for memory and is therefore read several times.
///
/// ```
/// use halfspaces_frame::{Hints, LargeTable, ReadOptions};
/// let path = std::env::temp_dir().join(format!("halfspaces-large-{}.csv", std::process::id()));
/// std::fs::write(&path, "a,b\n1,x\n2,y\n3,x\n")?;
/// let table = LargeTable::open(&path, &ReadOptions::default(), Hints::default())?;
/// assert_eq!((table.count()?, table.rows(&[1])?.rows), (3, 1));
/// std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct LargeTable {
    source: Source,
    /// The largest index in the rows of a LIBSVM file that have been read so far. No later table has fewer columns.
    largest: AtomicU32,
    format: Format,
    reading: ReadOptions,
    hints: Hints,
}

impl LargeTable {
    /// Opens a file for reading in chunks.
    ///
    /// # Errors
    /// Returns an error if the path is standard input, the file cannot be opened, or its format cannot be read in
    /// chunks.
    pub fn open(path: &Path, options: &ReadOptions, hints: Hints) -> Result<LargeTable, DataError> {
        if path == Path::new("-") {
            return Err(DataError::user(
                "--stream: standard input cannot be read more than once; pass a file",
            ));
        }
        let source = Source::open(path)?;
        let format = options.format.map_or_else(|| detect::format(&source), Ok)?;
        match format {
            Format::Csv | Format::Tsv | Format::Libsvm => {}
            #[cfg(feature = "parquet")]
            Format::Parquet => {}
            other => {
                let (name, other) = (source.name(), other.name());
                return Err(DataError::user(format!(
                    "{name}: --stream reads CSV, TSV, LIBSVM and Parquet files, but this one is {other}; write it as one of \
                     these, or read it without --stream"
                )));
            }
        }
        let (hints, largest) = (with_categories(&hints, options), AtomicU32::new(0));
        Ok(LargeTable { source, largest, format, reading: options.clone(), hints })
    }

    /// Reads a LIBSVM file in chunks with `learn`, and returns its result and the notes on the lines.
    fn of_libsvm<T, E: From<DataError>>(
        &self,
        size: usize,
        learn: impl FnOnce(&mut libsvm::Chunks<'_>) -> Result<T, E>,
    ) -> Result<(T, Vec<String>), E> {
        let largest = self.largest.load(Ordering::Relaxed);
        let mut chunks = libsvm::Chunks::open(&self.source, size, largest)?;
        let learnt = learn(&mut chunks)?;
        self.largest.fetch_max(chunks.largest(), Ordering::Relaxed);
        Ok((learnt, chunks.notes()))
    }

    fn stream(&self) -> Result<delimited::Stream<'_>, DataError> {
        delimited::Stream::open(&self.source, self.format, &self.reading, &self.hints)
    }

    /// The name of the file, as shown in messages.
    #[must_use]
    pub fn name(&self) -> &str {
        self.source.name()
    }

    /// The number of rows.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read.
    pub fn count(&self) -> Result<u64, DataError> {
        match self.format {
            Format::Libsvm => libsvm::count(&self.source),
            #[cfg(feature = "parquet")]
            Format::Parquet => parquet::count(&self.source),
            _ => self.stream()?.count(),
        }
    }

    /// Reads the rows with the numbers `rows`, which are counted from 0 and must be ascending. Text files are checked to
    /// the end.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or if a cell does not match its column.
    pub fn rows(&self, rows: &[u64]) -> Result<Frame, DataError> {
        let frame = match self.format {
            Format::Libsvm => libsvm::select(&self.source, rows)?,
            #[cfg(feature = "parquet")]
            Format::Parquet => parquet::select(&self.source, &self.reading, &self.hints, rows)?,
            _ => self.stream()?.rows(rows)?,
        };
        self.finished(frame)
    }

    /// Reads the first `most` rows, and no more of the file than is needed. The notes on the lines of the file come from
    /// [`LargeTable::in_chunks`].
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or if a cell does not match its column.
    pub fn head(&self, most: usize) -> Result<Frame, DataError> {
        let frame = match self.format {
            Format::Libsvm => {
                let first = self.of_libsvm(most, |chunks| chunks.next().transpose())?.0;
                first.map_or_else(|| libsvm::select(&self.source, &[]), Ok)?
            }
            #[cfg(feature = "parquet")]
            Format::Parquet => {
                let most = (most as u64).min(parquet::count(&self.source)?);
                let rows: Vec<u64> = (0..most).collect();
                parquet::select(&self.source, &self.reading, &self.hints, &rows)?
            }
            _ => self.stream()?.head(most)?,
        };
        self.finished(frame)
    }

    fn finished(&self, frame: Frame) -> Result<Frame, DataError> {
        let frame = finished(frame, &self.reading, &self.hints)?;
        check_names(&frame)?;
        Ok(frame)
    }

    /// Reads all rows in chunks of `size` rows, using `hints` about the columns, and passes the chunks to `learn`.
    /// Returns the result of `learn` and notes on the lines of the file that were left out or repaired. A chunk of a
    /// LIBSVM file has the columns of all rows read so far, because the last column is not known before the end.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or if `learn` fails.
    pub fn in_chunks<T, E: From<DataError>>(
        &self,
        hints: &Hints,
        size: usize,
        learn: impl FnOnce(&mut dyn Iterator<Item = Result<Frame, DataError>>) -> Result<T, E>,
    ) -> Result<(T, Vec<String>), E> {
        match self.format {
            Format::Libsvm => self.of_libsvm(size, |chunks| learn(chunks)),
            #[cfg(feature = "parquet")]
            Format::Parquet => {
                let chunks = &mut parquet::chunks(&self.source, &self.reading, hints, size)?;
                Ok((learn(chunks)?, Vec::new()))
            }
            _ => {
                let stream =
                    delimited::Stream::open(&self.source, self.format, &self.reading, hints)?;
                let mut chunks = stream.chunks(size)?;
                let learnt = learn(&mut chunks)?;
                Ok((learnt, chunks.notes()))
            }
        }
    }
}

/// Reads a table from a file, or from standard input if the path is `-`. The notes of the frame list decisions that
/// could be wrong.
///
/// A folder is read as a table with one row for each PNG or JPEG image in the folder and its sub-folders, in the order
/// of the file names. The column `file` contains the file name. If there are sub-folders, the column `label` contains
/// the name of the sub-folder. The columns `pixel0` to `pixel255` contain the grey values from 0 (black) to 255, after
/// the image has been stretched to a grid of 16 x 16. If an image is in colour, or if the hints expect the column
/// `pixel256`, the columns `pixel256` to `pixel383` contain the colours on a grid of 8 x 8: for each cell, the red value
/// minus the grey value, and the blue value minus the grey value.
///
/// # Errors
/// Returns an error if the file cannot be read as a table. The message says where the error is, what was expected, and
/// what to do.
pub fn read(path: &Path, reading: &ReadOptions, hints: &Hints) -> Result<Frame, DataError> {
    if path.is_dir() {
        return crate::folder::read(path, reading, hints);
    }
    Source::open(path)?.read(reading, hints)
}

impl Source {
    /// Reads the source as a table. It may be read several times, even if it is a pipe or standard input.
    ///
    /// # Errors
    /// Returns the same errors as the function [`read`].
    pub fn read(&self, reading: &ReadOptions, hints: &Hints) -> Result<Frame, DataError> {
        let taken = self.budget().taken();
        let frame = read_source(self, reading, hints);
        self.budget().reset(taken);
        frame
    }
}

/// Reads a table from bytes. `name` is the name of the table in messages.
///
/// ```
/// use halfspaces_frame::{Hints, ReadOptions, read_bytes};
/// let frame = read_bytes("t.svm", b"1 2:0.5\n-1\n".to_vec(), &ReadOptions::default(), &Hints::default())?;
/// assert_eq!((frame.rows, frame.column_count()), (2, 3));
/// # Ok::<(), halfspaces_frame::DataError>(())
/// ```
///
/// # Errors
/// Returns an error if the bytes cannot be read as a table.
pub fn read_bytes(
    name: &str,
    bytes: Vec<u8>,
    reading: &ReadOptions,
    hints: &Hints,
) -> Result<Frame, DataError> {
    read_source(&Source::of_bytes(name, bytes, Budget::of_machine())?, reading, hints)
}

pub(crate) fn read_source(
    source: &Source,
    reading: &ReadOptions,
    hints: &Hints,
) -> Result<Frame, DataError> {
    let format = reading.format.map_or_else(|| detect::format(source), Ok)?;
    let frame = read_format(source, format, reading, hints)?;
    check_names(&frame)?;
    Ok(frame)
}

/// Reads a table in a known format, without checking the names of its columns.
pub(crate) fn read_format(
    source: &Source,
    format: Format,
    reading: &ReadOptions,
    hints: &Hints,
) -> Result<Frame, DataError> {
    let hints = with_categories(hints, reading);
    let frame = match format {
        Format::Csv | Format::Tsv => delimited::read(source, format, reading, &hints),
        Format::Libsvm => libsvm::read(source),
        Format::Npy => npy::read(source, reading, &hints),
        Format::Npz => npy::read_npz(source, reading, &hints),
        #[cfg(feature = "parquet")]
        Format::Parquet => parquet::read(source, reading, &hints),
        #[cfg(feature = "arrow")]
        Format::Arrow => arrow::read(source, reading, &hints),
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => Err(without("Parquet")),
        #[cfg(not(feature = "arrow"))]
        Format::Arrow => Err(without("Arrow")),
    }?;
    finished(frame, reading, &hints)
}

/// Reads a table from Arrow record batches in memory, by the same rules as for Arrow files. `name` is the name of the
/// table in messages.
///
/// ```
/// use arrow_array::{RecordBatch, record_batch};
/// use halfspaces_frame::{Hints, ReadOptions, read_batches};
/// let batch = record_batch!(("size", Float64, [1.0, 2.5]), ("class", Utf8, ["a", "b"]))?;
/// let frame = read_batches("sizes", &batch.schema(), [batch], &ReadOptions::default(), &Hints::default())?;
/// assert_eq!((frame.rows, frame.place(1)), (2, "sizes, row 1".to_owned()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns the same errors as [`read_bytes`].
#[cfg(feature = "arrow")]
pub fn read_batches(
    name: &str,
    schema: &arrow_schema::Schema,
    batches: impl IntoIterator<Item = arrow_array::RecordBatch>,
    reading: &ReadOptions,
    hints: &Hints,
) -> Result<Frame, DataError> {
    read_part(name, schema, batches, 0, reading, hints)
}

/// Like [`read_batches`], but reads a part of a table, whose first row is row `first` of the table in messages.
///
/// # Errors
/// Returns the same errors as [`read_batches`].
#[cfg(feature = "arrow")]
pub fn read_part(
    name: &str,
    schema: &arrow_schema::Schema,
    batches: impl IntoIterator<Item = arrow_array::RecordBatch>,
    first: u64,
    reading: &ReadOptions,
    hints: &Hints,
) -> Result<Frame, DataError> {
    let hints = with_categories(hints, reading);
    let source = Source::named(name, Budget::of_machine());
    let batches = batches.into_iter().map(Ok);
    let frame = from_batches(&source, reading, &hints, schema, (first, None), batches)?;
    let frame = finished(frame, reading, &hints)?;
    check_names(&frame)?;
    Ok(frame)
}

/// Adds to the hints the columns that the user declares as categories.
fn with_categories(hints: &Hints, reading: &ReadOptions) -> Hints {
    let mut hints = hints.clone();
    hints.texts.extend(reading.category.iter().cloned());
    hints
}

/// Checks a table after reading and marks the missing values of its block.
fn finished(mut frame: Frame, reading: &ReadOptions, hints: &Hints) -> Result<Frame, DataError> {
    if frame.rows == 0 {
        return Err(DataError::user(format!("{}: the table has no rows", frame.source)));
    }
    mark_missing(&mut frame, reading, hints);
    for name in &reading.category {
        if !frame.has(name) {
            return Err(frame.no_column(name));
        }
    }
    Ok(frame)
}

/// Replaces numbers in a dense block with NaN if they mark missing values. Also adds a record for each column that has
/// such markers.
fn mark_missing(frame: &mut Frame, reading: &ReadOptions, hints: &Hints) {
    let Some(block @ Block::Dense { .. }) = &mut frame.block else { return };
    let names: Vec<String> = (0..block.dim()).map(|place| block.name(place)).collect();
    let missing_of = |name: &String| {
        let by_rule = hints.rules.get(name).map_or(&[][..], |rule| &rule.missing[..]);
        [by_rule, &reading.missing].concat()
    };
    let missing: Vec<Vec<String>> = names.iter().map(missing_of).collect();
    let markers: Vec<Option<Markers>> = missing
        .iter()
        .map(|missing| (!missing.is_empty()).then(|| Markers::new(missing, &[])))
        .collect();
    let Block::Dense { values, .. } = block else { return };
    if markers.iter().all(Option::is_none) {
        return;
    }
    for (at, value) in values.iter_mut().enumerate() {
        if markers[at % markers.len()].as_ref().is_some_and(|markers| markers.has_number(*value)) {
            *value = f64::NAN;
        }
    }
    for (name, missing) in names.into_iter().zip(missing).filter(|(_, missing)| !missing.is_empty())
    {
        frame
            .records
            .push(ColumnRecord::new(name, ColumnRule { missing, ..ColumnRule::default() }));
    }
}

/// Checks that every column has a unique name. As in delimited text, blanks around a name do not count.
pub(crate) fn check_names(frame: &Frame) -> Result<(), DataError> {
    let mut seen = BTreeSet::new();
    let is_in_block =
        |name: &str| frame.block.as_ref().is_some_and(|block| block.place(name).is_some());
    for (at, column) in frame.columns.iter().enumerate() {
        let name = column.name.trim();
        let source = &frame.source;
        if name.is_empty() {
            return Err(DataError::user(format!(
                "{source}: column {} has no name; give it one in the header",
                at + 1
            )));
        }
        if !seen.insert(name) || is_in_block(name) {
            return Err(DataError::user(format!(
                "{source}: two columns are named `{}`; rename one",
                crate::names::short(name)
            )));
        }
    }
    Ok(())
}

#[cfg(not(all(feature = "arrow", feature = "parquet")))]
fn without(format: &str) -> DataError {
    let feature = format.to_lowercase();
    DataError::user(format!(
        "this program was built without {format}; build it with `--features {feature}`"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table that is read in chunks is checked like a table in memory: a category must exist, and there must be rows.
    #[test]
    fn a_large_table_needs_its_categories_and_rows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        let head = |text: &str, category: &[&str]| {
            std::fs::write(&path, text).unwrap();
            let category = category.iter().map(|name| (*name).to_owned()).collect();
            let options = ReadOptions { category, ..ReadOptions::default() };
            let table = LargeTable::open(&path, &options, Hints::default())?;
            table.head(2).map(|frame| frame.rows)
        };
        let text = "colour,y\nred,1\nblue,2\n";
        assert_eq!(head(text, &["colour"]).unwrap(), 2);
        let typo = head(text, &["color"]).unwrap_err().to_string();
        assert!(typo.contains("no column `color`; did you mean `colour`?"), "{typo}");
        let empty = head("colour,y\n", &[]).unwrap_err().to_string();
        assert!(empty.contains("the table has no rows"), "{empty}");
    }

    /// The columns of a block have names too, and blanks around a name do not count.
    #[test]
    fn two_columns_with_the_same_name_are_refused() {
        use crate::frame::Column;
        use crate::values::Values;
        let column = |name: &str| Column { name: name.into(), values: Values::numbers(vec![1.0]) };
        let frame = |names: [&str; 2]| Frame {
            block: Some(Block::dense("a.", vec![1.0, 2.0], vec![0, 1])),
            ..Frame::new("t", names.map(column).to_vec())
        };
        assert!(check_names(&frame(["a", "a.2"])).is_ok());
        for (names, name) in [(["b", "a.1"], "a.1"), (["b", " a.0"], "a.0"), (["b", "b "], "b")] {
            let error = check_names(&frame(names)).unwrap_err().to_string();
            assert_eq!(error, format!("t: two columns are named `{name}`; rename one"));
        }
    }

    /// The error for a word after many numbers says how to declare that it marks a missing value.
    #[test]
    fn a_late_word_may_mark_a_missing_value() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        std::fs::write(&path, format!("x,y\n{}-,3\n", "1,2\n".repeat(10))).unwrap();
        let read = |missing: &[&str]| {
            let missing = missing.iter().map(|cell| (*cell).to_owned()).collect();
            let options = ReadOptions { missing, ..ReadOptions::default() };
            let table = LargeTable::open(&path, &options, Hints::default())?;
            let count = |chunks: &mut dyn Iterator<Item = Result<Frame, DataError>>| {
                chunks.map(|chunk| chunk.map(|frame| frame.rows)).sum::<Result<usize, DataError>>()
            };
            table.in_chunks(&Hints::default(), 4, count).map(|(rows, _)| rows)
        };
        assert_eq!(read(&["-"]).unwrap(), 11);
        let error = read(&[]).unwrap_err().to_string();
        assert!(error.contains("line 12") && error.contains("pass --missing '-' if"), "{error}");
    }
}
