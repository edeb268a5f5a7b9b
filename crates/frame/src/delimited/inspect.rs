//! Shows how a file is read, and writes its table with unchanged cells.

use super::checks::{add_notes, check_rows};
use super::layout::{Layout, column_name};
use super::reading::FileRecord;
use super::records::Records;
use super::rows::Rows;
use super::split::Delimiter;
use super::text::Text;
use crate::budget::Budget;
use crate::detect;
use crate::error::DataError;
use crate::frame::{Column, Frame};
use crate::names::short;
use crate::options::{Format, Hints, Ragged, ReadOptions};
use crate::source::Source;
use crate::typing::{ColumnRecord, ColumnRule, ColumnSummary};
use crate::values::Values;
use serde::Serialize;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Write;
use std::path::Path;

/// At most this many columns of a block are shown.
const OF_A_BLOCK: usize = 300;

/// The reader's interpretation of a file.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use halfspaces_frame::{ReadOptions, inspect_bytes};
/// let text = "Report of May\n\nname;size\nA;1,5\nB;2,5\n".to_owned();
/// let inspection = inspect_bytes("t.csv", text.into_bytes(), &ReadOptions::default())?;
/// assert_eq!((inspection.reading.preamble_lines, inspection.reading.rows), (2, 2));
/// let mut table = Vec::new();
/// inspection.write_csv(&mut table)?;
/// assert_eq!(String::from_utf8(table)?, "name,size\nA,\"1,5\"\nB,\"2,5\"\n");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct Inspection {
    /// The name of the file.
    pub source: String,
    /// The decisions of the reader.
    pub reading: FileRecord,
    /// The columns that are read. Columns that are left out are not included.
    pub columns: Vec<ColumnSummary>,
    /// Notes on decisions that could be wrong.
    pub warnings: Vec<String>,
    /// The reason why the table cannot be used for learning in its present form, if there is one.
    pub problem: Option<String>,
    #[serde(skip)]
    table: Table,
}

/// The table that was inspected.
#[derive(Debug)]
enum Table {
    Empty,
    /// The grey values of a folder of images.
    Folder(Box<Frame>),
    Text(Box<TextTable>),
    Typed(Box<TypedTable>),
}

/// Delimited text with its layout.
#[derive(Debug)]
struct TextTable {
    source: Source,
    text: Vec<u8>,
    layout: Layout,
    ragged: Ragged,
}

/// A table in a format whose columns have types.
#[derive(Debug)]
struct TypedTable {
    source: Source,
    format: Format,
    options: ReadOptions,
    /// The columns that are read, in order.
    names: Vec<String>,
}

/// Reads a file and returns its interpretation. `hints` must be the hints that are used to read the file as a table.
///
/// # Errors
/// Returns an error if the file cannot be read, if its format is unknown, or if a folder contains no images.
pub fn inspect(path: &Path, options: &ReadOptions, hints: &Hints) -> Result<Inspection, DataError> {
    if path.is_dir() {
        return of_folder(path, options, hints);
    }
    let is_empty = std::fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() == 0);
    if is_empty {
        return Ok(of_nothing(&path.display().to_string()));
    }
    of_source(Source::open(path)?, options, hints)
}

/// Returns the interpretation of bytes as a file named `name`.
///
/// # Errors
/// Returns an error if the format is unknown.
pub fn inspect_bytes(
    name: &str,
    bytes: Vec<u8>,
    options: &ReadOptions,
) -> Result<Inspection, DataError> {
    if bytes.is_empty() {
        return Ok(of_nothing(name));
    }
    let source = Source::of_bytes(name, bytes, Budget::of_machine())?;
    of_source(source, options, &Hints::default())
}

/// Returns the interpretation of a folder of images.
fn of_folder(path: &Path, options: &ReadOptions, hints: &Hints) -> Result<Inspection, DataError> {
    let frame = crate::folder::read(path, options, hints)?;
    let (rows, columns) = (frame.rows as u64, frame.column_count());
    Ok(Inspection {
        source: frame.source.clone(),
        reading: FileRecord::of_format("folder of images", rows, columns),
        columns: summaries(&frame),
        warnings: [frame.notes.clone(), remarks(&frame)].concat(),
        problem: None,
        table: Table::Folder(Box::new(frame)),
    })
}

fn of_nothing(name: &str) -> Inspection {
    Inspection {
        source: name.to_owned(),
        reading: FileRecord::of_format("csv", 0, 0),
        columns: Vec::new(),
        warnings: vec![format!("{name}: the file is empty")],
        problem: Some(format!("{name}: the file is empty")),
        table: Table::Empty,
    }
}

fn of_source(
    source: Source,
    options: &ReadOptions,
    hints: &Hints,
) -> Result<Inspection, DataError> {
    let format = options.format.map_or_else(|| detect::format(&source), Ok)?;
    match format {
        Format::Csv | Format::Tsv => of_text(source, format, options, hints),
        format => {
            let taken = source.budget().taken();
            let frame = crate::read::read_format(&source, format, options, hints)?;
            let reading =
                FileRecord::of_format(format.name(), frame.rows as u64, frame.column_count());
            let columns = summaries(&frame);
            let names = frame.names().into_iter().map(Cow::into_owned).collect();
            let warnings = [frame.notes.clone(), remarks(&frame)].concat();
            let problem = crate::read::check_names(&frame).err().map(|error| error.to_string());
            drop(frame);
            source.budget().reset(taken);
            let name = source.name().to_owned();
            let table = TypedTable { source, format, options: options.clone(), names };
            let table = Table::Typed(Box::new(table));
            Ok(Inspection { source: name, reading, columns, warnings, problem, table })
        }
    }
}

fn of_text(
    source: Source,
    format: Format,
    options: &ReadOptions,
    hints: &Hints,
) -> Result<Inspection, DataError> {
    // Ragged rows are shown here, even though a fit would reject them.
    let ragged = if options.ragged == Ragged::Error { Ragged::Pad } else { options.ragged };
    let bytes = source.bytes()?;
    let text = Text::new(&source, &bytes, format, options, hints)?;
    let mut rows = text.rows(&source, ragged)?;
    while rows.next()?.is_some() {}
    let tally = &std::mem::take(&mut rows.tally);
    drop(rows);
    let layout = &text.layout;
    let mut warnings = Vec::new();
    add_notes(&source, layout, tally, options.ragged, &mut warnings);
    let refused = check_rows(&source, layout, tally, options.ragged).err();
    let lenient = ReadOptions { ragged, ..options.clone() };
    let (frame, problem) = match super::of_text(&source, &text, &lenient, hints) {
        Ok(frame) => (Some(frame), refused),
        Err(error) => (None, Some(error)),
    };
    let mut problem = problem.map(|error| error.to_string());
    let columns = frame.as_ref().map(summaries).unwrap_or_default();
    if let Some(frame) = &frame {
        let known: HashSet<&String> = warnings.iter().collect();
        let new = frame.notes.iter().filter(|note| !known.contains(note));
        let new: Vec<String> = new.cloned().collect();
        warnings.extend(new);
        warnings.extend(remarks(frame));
        if let Err(error) = crate::read::check_names(frame) {
            problem.get_or_insert(error.to_string());
        }
        if frame.rows == 0 {
            problem.get_or_insert(format!("{}: the table has no rows", source.name()));
        }
    }
    let count = if frame.is_some() { columns.len() } else { layout.names.len() };
    let mut reading = FileRecord::of_text(layout, text.encoded, tally, count);
    reading.compression = source.compression().map(|found| found.name().to_owned());
    let name = source.name().to_owned();
    let Text { text, layout, .. } = text;
    let text = text.into_owned();
    drop(bytes);
    let table = Table::Text(Box::new(TextTable { source, text, layout, ragged }));
    Ok(Inspection { source: name, reading, columns, warnings, problem, table })
}

fn summaries(frame: &Frame) -> Vec<ColumnSummary> {
    let records: HashMap<&str, &ColumnRecord> =
        frame.records.iter().map(|record| (record.name.as_str(), record)).collect();
    let of_column = |column: &Column| {
        let record = records.get(column.name.as_str()).map(|record| (*record).clone());
        let record =
            record.unwrap_or_else(|| ColumnRecord::new(&column.name, ColumnRule::default()));
        record.summary(&column.values)
    };
    let columns = frame.columns.iter().map(of_column);
    let block = frame.block.iter().flat_map(|block| {
        (0..block.dim().min(OF_A_BLOCK)).map(|at| {
            let record = ColumnRecord::new(block.name(at), ColumnRule::default());
            record.summary(&Values::numbers(block.column(at)))
        })
    });
    columns.chain(block).map(shortened).collect()
}

/// Returns messages that explain the remarks on columns.
fn remarks(frame: &Frame) -> Vec<String> {
    frame.remarks.iter().map(|(name, remark)| frame.about(name, remark)).collect()
}

fn shortened(summary: ColumnSummary) -> ColumnSummary {
    ColumnSummary { examples: summary.examples.iter().map(|e| short(e)).collect(), ..summary }
}

impl Inspection {
    /// Writes the table as plain CSV (RFC 4180) with unchanged cells. If the file has no column names, the output has
    /// no column names either.
    ///
    /// # Errors
    /// Returns an error if `out` cannot be written.
    pub fn write_csv(&self, out: impl Write) -> Result<(), DataError> {
        self.write(out, b',', "", &BTreeMap::new())
    }

    /// Like [`Inspection::write_csv`], but with new values in one column and with the delimiter of the file if that is
    /// one character. `values` maps row numbers, counted from 0, to the new values.
    ///
    /// ```
    /// use halfspaces_frame::{ReadOptions, inspect_bytes};
    /// let text = b"size;class\n1,50;ham\n02;ham\n".to_vec();
    /// let inspection = inspect_bytes("t.csv", text, &ReadOptions::default())?;
    /// let mut table = Vec::new();
    /// inspection.write_corrected(&mut table, "class", &[(1, "spam".to_owned())].into())?;
    /// assert_eq!(String::from_utf8(table)?, "size;class\n1,50;ham\n02;spam\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if `out` cannot be written, the column does not exist, or a row does not exist.
    pub fn write_corrected(
        &self,
        out: impl Write,
        column: &str,
        values: &BTreeMap<usize, String>,
    ) -> Result<(), DataError> {
        let name = &self.source;
        let has_column = match &self.table {
            Table::Empty => false,
            Table::Folder(frame) => frame.has(column),
            Table::Typed(table) => table.names.iter().any(|name| name == column),
            Table::Text(table) => table.layout.names.iter().any(|name| name == column),
        };
        if !has_column {
            return Err(DataError::user(format!("{name}: there is no column `{column}`")));
        }
        if let Some((row, _)) =
            values.last_key_value().filter(|(row, _)| **row as u64 >= self.reading.rows)
        {
            return Err(DataError::user(format!(
                "{name}: there is no row {row}; there are {} rows, counted from 0",
                self.reading.rows
            )));
        }
        let delimiter = match &self.table {
            Table::Text(table) => table.layout.dialect.delimiter,
            Table::Typed(_) | Table::Empty | Table::Folder(_) => Delimiter::Byte(b','),
        };
        let delimiter = if let Delimiter::Byte(byte) = delimiter { byte } else { b',' };
        self.write(out, delimiter, column, values)
    }

    fn write(
        &self,
        out: impl Write,
        delimiter: u8,
        column: &str,
        values: &BTreeMap<usize, String>,
    ) -> Result<(), DataError> {
        let mut builder = csv::WriterBuilder::new();
        let mut writer = builder.flexible(true).delimiter(delimiter).from_writer(out);
        match &self.table {
            Table::Empty => {}
            Table::Folder(frame) => {
                write_frame(&mut writer, frame, &frame.names(), column, values)?
            }
            Table::Typed(table) => table.write(&mut writer, column, values)?,
            Table::Text(table) => {
                let TextTable { source, text, layout, ragged } = &**table;
                let records = || Records::of_text(text, layout.dialect);
                let (mut width, mut given, mut count) = (0, 0, 0);
                if *ragged == Ragged::Pad {
                    let mut rows = Rows::new(source, records(), layout, *ragged)?;
                    while rows.next()?.is_some() {
                        let cells = as_they_stand(&rows, layout).len();
                        (width, given, count) = (width.max(cells), given + cells, count + 1);
                    }
                }
                if layout.header > 0 {
                    let names = names(records(), layout, width);
                    writer.write_record(&names).map_err(|e| failed(&e))?;
                    width = if *ragged == Ragged::Pad { names.len() } else { 0 };
                }
                if count * width > 17 * given + (1 << 20) {
                    return Err(DataError::user(format!(
                        "{}: the rows differ too much in length for missing cells to be filled in; pass --ragged skip",
                        source.name()
                    )));
                }
                let mut rows = Rows::new(source, records(), layout, *ragged)?;
                let place = layout.names.iter().position(|name| name == column);
                let mut row = 0;
                while rows.next()?.is_some() {
                    let mut cells = as_they_stand(&rows, layout);
                    cells.resize(cells.len().max(width), Vec::new());
                    if let (Some(value), Some(place)) = (values.get(&row), place) {
                        cells.resize(cells.len().max(place + 1), Vec::new());
                        cells[place] = value.clone().into_bytes();
                    }
                    row += 1;
                    writer.write_record(&cells).map_err(|e| failed(&e))?;
                }
            }
        }
        writer.flush().map_err(|e| DataError::system(format!("the table cannot be written: {e}")))
    }
}

fn failed(error: &csv::Error) -> DataError {
    DataError::system(format!("the table cannot be written: {error}"))
}

/// The column names as written in the file, extended to `width` columns.
fn names(records: Records<'_>, layout: &Layout, width: usize) -> Vec<Vec<u8>> {
    let mut names = with_spaces(records, layout).unwrap_or_else(|| layout.raw_names.clone());
    if layout.row_names {
        names.insert(0, Vec::new());
    }
    if names.len() == layout.names.len() + 1 && names.last().is_some_and(Vec::is_empty) {
        names.pop();
    }
    while names.len() < width {
        names.push(column_name(names.len(), &layout.names).into_bytes());
    }
    names
}

/// The column names with the spaces around them. Returns `None` if the names span several lines, or if spaces after
/// delimiters have no meaning in the layout.
fn with_spaces(mut records: Records<'_>, layout: &Layout) -> Option<Vec<Vec<u8>>> {
    if layout.header != 1 || layout.spaced {
        return None;
    }
    let mut last = records.next().ok()??.line;
    while last <= layout.preamble {
        last = records.next().ok()??.line;
    }
    let names: Vec<Vec<u8>> = records.iter().map(<[u8]>::to_vec).collect();
    let are_same = names.iter().map(|name| name.trim_ascii()).eq(layout.raw_names.iter());
    are_same.then_some(names)
}

/// The cells of a row as they are in the file, without the empty cell after a trailing delimiter.
fn as_they_stand(rows: &Rows<'_>, layout: &Layout) -> Vec<Vec<u8>> {
    let mut cells = Vec::new();
    rows.cells(|at, cell| {
        let is_trailing = layout.trailing && at + 1 == layout.width && cell.is_empty();
        if !is_trailing {
            cells.push(if layout.spaced { cell.trim_ascii() } else { cell }.to_vec());
        }
    });
    cells
}

impl TypedTable {
    /// Writes the table. The file is read again with every cell as text, because reading a cell as a number may round
    /// it, and because texts such as `None` must be kept.
    fn write(
        &self,
        writer: &mut csv::Writer<impl Write>,
        column: &str,
        values: &BTreeMap<usize, String>,
    ) -> Result<(), DataError> {
        let options = ReadOptions { missing: Vec::new(), ..self.options.clone() };
        let hints = Hints::verbatim(self.names.clone());
        let (name, budget) = (self.source.name(), self.source.budget());
        let frame = crate::read::read_format(&self.source, self.format, &options, &hints)?;
        // The columns of a block are copied. A column of a sparse block is written with one number for each row.
        let of_block =
            frame.block.as_ref().map_or(0, |block| block.dim().saturating_mul(frame.rows));
        budget.take_items::<f64>(of_block).map_err(|error| error.at(name))?;
        write_frame(writer, &frame, &self.names, column, values)
    }
}

fn write_frame(
    writer: &mut csv::Writer<impl Write>,
    frame: &Frame,
    names: &[impl AsRef<str>],
    column: &str,
    values: &BTreeMap<usize, String>,
) -> Result<(), DataError> {
    let columns: Vec<_> = names.iter().filter_map(|name| frame.column(name.as_ref())).collect();
    assert_eq!(columns.len(), names.len(), "two readings of a file have the same columns");
    writer.write_record(names.iter().map(AsRef::as_ref)).map_err(|e| failed(&e))?;
    for row in 0..frame.rows {
        let cells = names.iter().zip(&columns).map(|(name, cells)| match values.get(&row) {
            Some(value) if name.as_ref() == column => value.clone(),
            _ => cells.text(row),
        });
        writer.write_record(cells).map_err(|e| failed(&e))?;
    }
    Ok(())
}
