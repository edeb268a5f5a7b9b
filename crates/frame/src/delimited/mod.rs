//! Reads delimited text. Bytes are converted to text, text to records, records to rows, and rows to columns.

mod checks;
mod columns;
mod dialect;
mod encoding;
mod foreign;
mod header;
mod inspect;
mod kinds;
mod layout;
mod plain;
mod reading;
mod records;
mod rows;
mod split;
mod split_cells;
mod stream;
mod text;

pub use inspect::{Inspection, inspect, inspect_bytes};
pub use reading::FileRecord;
pub(crate) use stream::Stream;

use crate::error::DataError;
use crate::frame::Frame;
use crate::options::{Format, Hints, ReadOptions};
use crate::source::Source;
use Wanted::{All, First, Numbers};
use checks::{add_notes, check_rows};
use columns::Columns;
pub(crate) use encoding::{is_utf16, without_utf16};
use layout::Layout;
use rows::{Rows, Tally};
use std::collections::BTreeSet;
use text::Text;

/// Reads delimited text as a table.
pub(crate) fn read(
    source: &Source,
    format: Format,
    options: &ReadOptions,
    hints: &Hints,
) -> Result<Frame, DataError> {
    let bytes = source.bytes()?;
    let text = Text::new(source, &bytes, format, options, hints)?;
    of_text(source, &text, options, hints)
}

fn of_text(
    source: &Source,
    text: &Text<'_>,
    options: &ReadOptions,
    hints: &Hints,
) -> Result<Frame, DataError> {
    let start = || text.rows(source, options.ragged);
    let (mut frame, tally) = read_columns(source, &text.layout, options, hints, start, All)?;
    add_notes(source, &text.layout, &tally, options.ragged, &mut frame.notes);
    let count = frame.columns.len();
    frame.reading = Some(FileRecord::of_text(&text.layout, text.encoded, &tally, count));
    Ok(frame)
}

/// The rows that are wanted.
#[derive(Debug, Clone, Copy)]
enum Wanted<'w> {
    All,
    First(usize),
    /// The rows with these numbers, in ascending order.
    Numbers(&'w [u64]),
}

/// Reads the wanted rows, several times if necessary. `start` returns the rows from the beginning.
fn read_columns<'r>(
    source: &Source,
    layout: &Layout,
    options: &ReadOptions,
    hints: &Hints,
    start: impl Fn() -> Result<Rows<'r>, DataError>,
    wanted: Wanted<'_>,
) -> Result<(Frame, Tally), DataError> {
    // A column in which texts follow numbers requires a second reading. A column in which points may separate thousands
    // requires one more, and so does a column of longer rows in which texts follow numbers.
    const READINGS: usize = 4;
    let (most, only) = match wanted {
        All => (usize::MAX, None),
        First(most) => (most, None),
        Numbers(rows) => (usize::MAX, Some(rows)),
    };
    let mut texts = BTreeSet::new();
    let mut last = String::new();
    for _ in 0..READINGS {
        let mut rows = start()?;
        let mut columns = Columns::new(layout, options, hints, &texts);
        columns.take(source, &mut rows, most, only)?;
        check_rows(source, layout, &rows.tally, options.ragged)?;
        match columns.finish(source)? {
            columns::Outcome::Frame(frame) => return Ok((*frame, rows.tally)),
            columns::Outcome::Words(words) => {
                last = words.keys().next().cloned().unwrap_or_default();
                texts.extend(words.into_keys());
            }
        }
    }
    let name = source.name();
    Err(DataError::user(format!(
        "{name}: column `{last}` cannot be read; pass --category '{last}'"
    )))
}
