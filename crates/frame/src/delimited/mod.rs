//! Delimited text: bytes to text, text to records, records to rows, rows to columns.

mod columns;
mod dialect;
mod encoding;
mod foreign;
mod header;
mod inspect;
mod kinds;
mod layout;
mod reading;
mod records;
mod rows;
mod split;
mod stream;

pub use inspect::{Inspection, inspect, inspect_bytes};
pub use reading::FileRecord;
pub(crate) use stream::Stream;

use crate::error::DataError;
use crate::frame::Frame;
use crate::options::{Format, Hints, Ragged, ReadOptions};
use crate::source::Source;
use columns::Columns;
use encoding::Encoded;
pub(crate) use encoding::is_utf16;
use layout::Layout;
use records::Records;
use rows::{Rows, Tally};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Bytes of a text from which its layout is found, and most of them if lines are long.
const SAMPLE: usize = 1 << 17;
const LONGEST_SAMPLE: usize = 1 << 24;
/// Lines that a sample has at least.
const SAMPLE_LINES: usize = 20;

/// A text in memory, and how it is laid out.
struct Text<'a> {
    text: Cow<'a, [u8]>,
    encoded: Encoded,
    layout: Layout,
}

impl<'a> Text<'a> {
    fn new(
        source: &Source,
        bytes: &'a [u8],
        format: Format,
        options: &ReadOptions,
        hints: &Hints,
    ) -> Result<Text<'a>, DataError> {
        let encoded = encoding::find(bytes, true);
        let text = encoding::decode(bytes, encoded);
        foreign::check(source.name(), &text)?;
        let mut layout = layout::find(sample(&text), format, options, hints)?;
        if encoded.guessed {
            let name = encoded.encoding.name();
            layout.notes.insert(0, format!("the text is not UTF-8 and is read as {name}"));
        }
        Ok(Text { text, encoded, layout })
    }

    fn rows<'t>(&'t self, source: &'t Source, ragged: Ragged) -> Result<Rows<'t>, DataError> {
        Rows::new(source, Records::of_text(&self.text, self.layout.dialect), &self.layout, ragged)
    }
}

/// The start of a text: enough lines to find the layout.
fn sample(text: &[u8]) -> &[u8] {
    let mut length = SAMPLE;
    while length < text.len()
        && length < LONGEST_SAMPLE
        && text[..length].iter().filter(|b| matches!(b, b'\n' | b'\r')).take(SAMPLE_LINES).count()
            < SAMPLE_LINES
    {
        length *= 2;
    }
    if length >= text.len() {
        return text;
    }
    // Whole lines.
    let end = memchr::memrchr2(b'\n', b'\r', &text[..length]).map_or(length, |end| end + 1);
    &text[..end]
}

/// Reads a table.
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
    // Twice if there are words below numbers, and once more if points turn out to stand between thousands.
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

const RAGGED: &str = "fix the file, or pass --ragged pad to fill missing cells or --ragged skip to leave such rows out";

/// Refuses a header that has another number of names than the rows have cells.
fn check_header(source: &Source, layout: &Layout, ragged: Ragged) -> Result<(), DataError> {
    let expected = layout.names.len() + usize::from(layout.trailing);
    if ragged != Ragged::Error || expected == layout.width {
        return Ok(());
    }
    Err(DataError::user(format!(
        "{}: the header in line {} has {expected} names, but most rows have {} cells; {RAGGED}",
        source.name(),
        layout.preamble + 1,
        layout.width,
    )))
}

/// Refuses rows of different numbers of cells, unless the user said what to do with them.
fn check_rows(
    source: &Source,
    layout: &Layout,
    tally: &Tally,
    ragged: Ragged,
) -> Result<(), DataError> {
    if ragged != Ragged::Error {
        return Ok(());
    }
    if tally.rows > 0 {
        check_header(source, layout, ragged)?;
    }
    let name = source.name();
    let count = tally.longer.count + tally.shorter.count;
    let Some((line, cells)) = tally.example else { return Ok(()) };
    let which = if layout.header > 0 { "the header" } else { "most rows" };
    let are = if count == 1 { "row has".to_owned() } else { "rows have".to_owned() };
    let mut parts = Vec::new();
    let mut cause = Vec::new();
    if tally.longer.count > 0 {
        parts.push(format!("more in {}", tally.longer.shown()));
        cause.push("a delimiter inside a cell without quotes");
    }
    if tally.shorter.count > 0 {
        parts.push(format!("fewer in {}", tally.shorter.shown()));
        cause.push("a missing delimiter, a lost quote or a line break inside a cell");
    }
    let unit = if cells == 1 { "cell" } else { "cells" };
    let have = if layout.header > 0 { "has" } else { "have" };
    Err(DataError::user(format!(
        "{name}, line {line}: {cells} {unit}, but {which} {have} {}; {count} {are} another number of cells: {}; \
         the likely cause is {}; {RAGGED}",
        layout.width,
        parts.join(", "),
        cause.join(", or "),
    )))
}

/// Notes on decisions that could be wrong.
fn add_notes(
    source: &Source,
    layout: &Layout,
    tally: &Tally,
    ragged: Ragged,
    notes: &mut Vec<String>,
) {
    let name = source.name();
    let mut add = |note: &str| notes.push(format!("{name}: {note}"));
    layout.notes.iter().for_each(|note| add(note));
    for (lines, what) in [(&tally.longer, "more"), (&tally.shorter, "fewer")] {
        if lines.count > 0 {
            let done = match (ragged, what) {
                (Ragged::Skip, _) => "left out",
                (Ragged::Pad, "more") => "the cells at the end are in columns of their own",
                (Ragged::Pad, _) => "filled with missing values",
                (Ragged::Error, _) => "an error unless --ragged is pad or skip",
            };
            let rows = if lines.count == 1 { "row has" } else { "rows have" };
            add(&format!(
                "{} {rows} {what} cells than {}, {}: {done}",
                lines.count,
                layout.width,
                lines.shown()
            ));
        }
    }
    if tally.inner_quotes.count > 0 {
        let lines = tally.inner_quotes.shown();
        add(&format!(
            "{lines}: a quotation mark stands inside a cell that is not quoted; perhaps a delimiter is missing before it"
        ));
    }
    if tally.repaired.count > 0 {
        add(&format!(
            "a quote that does not enclose a cell is read as a character of the text, {}",
            tally.repaired.shown()
        ));
    }
    if tally.empty_rows.count > 0 {
        add(&format!("{} blank: each is a row with a missing value", tally.empty_rows.shown()));
    }
    for (lines, what) in [
        (&tally.blank, "blank"),
        (&tally.comments, "a comment"),
        (&tally.headers, "the header once more"),
    ] {
        if lines.count > 0 {
            let verb = if lines.count == 1 { "is" } else { "are" };
            add(&format!("{} {verb} {what}, left out", lines.shown()));
        }
    }
    tally.notes.iter().for_each(|note| add(note));
}
