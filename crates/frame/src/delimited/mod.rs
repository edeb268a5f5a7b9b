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
mod stream;
mod text;

pub use inspect::{Inspection, inspect, inspect_bytes};
pub use reading::FileRecord;
pub(crate) use stream::Stream;

use crate::error::DataError;
use crate::frame::Frame;
use crate::options::{Format, Hints, ReadOptions};
use crate::source::Source;
use checks::{add_notes, check_rows};
use columns::Columns;
pub(crate) use encoding::is_utf16;
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
    // A column in which texts follow numbers requires a second reading. A column in which points may separate thousands
    // requires one more.
    const READINGS: usize = 4;
    let mut texts = BTreeSet::new();
    let mut last = String::new();
    for _ in 0..READINGS {
        let mut rows = text.rows(source, options.ragged)?;
        let mut columns = Columns::new(&text.layout, options, hints, &texts);
        columns.take(source, &mut rows, usize::MAX, None)?;
        check_rows(source, &text.layout, &rows.tally, options.ragged)?;
        match columns.finish(source)? {
            columns::Outcome::Frame(mut frame) => {
                add_notes(source, &text.layout, &rows.tally, options.ragged, &mut frame.notes);
                let count = frame.columns.len();
                let (layout, encoded) = (&text.layout, text.encoded);
                frame.reading = Some(FileRecord::of_text(layout, encoded, &rows.tally, count));
                return Ok(*frame);
            }
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
