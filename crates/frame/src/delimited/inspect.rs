//! Shows how a file is read, and writes the table as it stands.

use super::reading::FileRecord;
use super::rows::Rows;
use super::{Text, add_notes, check_rows};
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
use std::collections::HashMap;
use std::io::Write;
use std::path::Path;

/// Columns of a block that are shown.
const OF_A_BLOCK: usize = 300;

/// What a reader understood of a file.
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
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Inspection {
    /// The name of the file.
    pub source: String,
    /// How the file was read.
    pub reading: FileRecord,
    /// The columns, without those that are left out.
    pub columns: Vec<ColumnSummary>,
    /// Decisions that could be wrong.
    pub warnings: Vec<String>,
    /// Why the table cannot be learned from as it is.
    pub problem: Option<String>,
    /// Rows of cells as they stand in the file, the names first if there is a header.
    #[serde(skip)]
    cells: Vec<Vec<Vec<u8>>>,
}

/// Reads a file and shows how it was understood.
///
/// # Errors
/// If the file cannot be read, or is in no format that is known.
pub fn inspect(path: &Path, options: &ReadOptions) -> Result<Inspection, DataError> {
    let is_empty = std::fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() == 0);
    if is_empty {
        return Ok(of_nothing(&path.display().to_string()));
    }
    of_source(&Source::open(path)?, options)
}

/// Shows how bytes would be read as a file of this name.
///
/// # Errors
/// If they are in no format that is known.
pub fn inspect_bytes(
    name: &str,
    bytes: Vec<u8>,
    options: &ReadOptions,
) -> Result<Inspection, DataError> {
    if bytes.is_empty() {
        return Ok(of_nothing(name));
    }
    of_source(&Source::of_bytes(name, bytes, Budget::of_machine())?, options)
}

fn of_nothing(name: &str) -> Inspection {
    Inspection {
        source: name.to_owned(),
        reading: FileRecord::of_format("csv", 0, 0),
        columns: Vec::new(),
        warnings: vec![format!("{name}: the file is empty")],
        problem: Some(format!("{name}: the file is empty")),
        cells: Vec::new(),
    }
}

fn of_source(source: &Source, options: &ReadOptions) -> Result<Inspection, DataError> {
    let format = match options.format {
        Some(format) => format,
        None => detect::format(source)?,
    };
    match format {
        Format::Csv | Format::Tsv => of_text(source, format, options),
        other => {
            let frame = crate::read::read_format(source, other, options, &Hints::default())?;
            let reading =
                FileRecord::of_format(other.name(), frame.rows as u64, frame.column_count());
            let cells = cells_of(&frame);
            Ok(Inspection {
                source: source.name().to_owned(),
                reading,
                columns: summaries(&frame),
                warnings: frame.notes.clone(),
                problem: None,
                cells,
            })
        }
    }
}

fn of_text(
    source: &Source,
    format: Format,
    options: &ReadOptions,
) -> Result<Inspection, DataError> {
    let bytes = source.bytes()?;
    let text = Text::new(source, &bytes, format, options, &Hints::default())?;
    let layout = &text.layout;
    // Shown even if a fit refuses them.
    let ragged = if options.ragged == Ragged::Error { Ragged::Pad } else { options.ragged };
    let mut rows = text.rows(source, ragged)?;
    let mut cells = Vec::new();
    if layout.header > 0 {
        let mut names = layout.raw_names.clone();
        if layout.row_names {
            names.insert(0, Vec::new());
        }
        let empty_last =
            names.len() == layout.names.len() + 1 && names.last().is_some_and(Vec::is_empty);
        if empty_last {
            names.pop();
        }
        cells.push(names);
    }
    while rows.next()?.is_some() {
        cells.push(as_they_stand(&rows, layout.trailing, layout.width, layout.spaced));
    }
    if options.ragged == Ragged::Pad {
        pad(&mut cells, layout.header > 0);
    }
    let mut warnings = Vec::new();
    add_notes(source, layout, &rows.tally, options.ragged, &mut warnings);
    let refused = check_rows(source, layout, &rows.tally, options.ragged).err();
    let lenient = ReadOptions { ragged, ..options.clone() };
    let (frame, problem) = match super::read(source, format, &lenient, &Hints::default()) {
        Ok(frame) => (Some(frame), refused),
        Err(error) => (None, Some(error)),
    };
    let columns = match &frame {
        Some(frame) => summaries(frame),
        None => Vec::new(),
    };
    if let Some(frame) = &frame {
        let new = frame.notes.iter().filter(|note| !warnings.contains(note));
        let new: Vec<String> = new.cloned().collect();
        warnings.extend(new);
    }
    let mut problem = problem.map(|error| error.to_string());
    if let Some(frame) = &frame
        && let Err(error) = crate::read::check_names(frame)
    {
        problem.get_or_insert(error.to_string());
    }
    let count = if frame.is_some() { columns.len() } else { layout.names.len() };
    Ok(Inspection {
        source: source.name().to_owned(),
        reading: FileRecord::of_text(layout, text.encoded, &rows.tally, count),
        columns,
        warnings,
        problem,
        cells,
    })
}

/// The cells of a row, without the empty one after a trailing delimiter.
fn as_they_stand(rows: &Rows<'_>, trailing: bool, width: usize, spaced: bool) -> Vec<Vec<u8>> {
    let mut cells = Vec::new();
    rows.cells(|at, cell| {
        let is_trailing = trailing && at + 1 == width && cell.is_empty();
        if !is_trailing {
            cells.push(if spaced { cell.trim_ascii() } else { cell }.to_vec());
        }
    });
    cells
}

/// Fills rows to the same number of cells, and names the columns that have no name.
fn pad(cells: &mut [Vec<Vec<u8>>], has_names: bool) {
    let width = cells.iter().map(Vec::len).max().unwrap_or(0);
    for (at, row) in cells.iter_mut().enumerate() {
        while row.len() < width {
            let name = format!("c{}", row.len() + 1).into_bytes();
            row.push(if has_names && at == 0 { name } else { Vec::new() });
        }
    }
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

fn shortened(summary: ColumnSummary) -> ColumnSummary {
    ColumnSummary { examples: summary.examples.iter().map(|e| short(e)).collect(), ..summary }
}

/// The cells of a table in a binary format.
fn cells_of(frame: &Frame) -> Vec<Vec<Vec<u8>>> {
    let names = frame.names();
    let columns: Vec<_> = names.iter().filter_map(|name| frame.column(name)).collect();
    let header = names.iter().map(|name| name.as_bytes().to_vec()).collect();
    let row = |row: usize| columns.iter().map(|c| c.text(row).into_bytes()).collect();
    std::iter::once(header).chain((0..frame.rows).map(row)).collect()
}

impl Inspection {
    /// Writes the table as plain CSV (RFC 4180), its cells as they stand in the file. A table without names in the file
    /// has none in the result.
    ///
    /// # Errors
    /// If `out` cannot be written to.
    pub fn write_csv(&self, out: impl Write) -> Result<(), DataError> {
        let failed = |e: csv::Error| DataError::system(format!("the table cannot be written: {e}"));
        let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(out);
        for row in &self.cells {
            writer.write_record(row).map_err(failed)?;
        }
        writer.flush().map_err(|e| DataError::system(format!("the table cannot be written: {e}")))
    }
}
