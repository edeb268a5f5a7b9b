//! Checks for ragged rows, and adds notes on rows that were left out or repaired.

use super::layout::Layout;
use super::rows::Tally;
use crate::error::DataError;
use crate::options::Ragged;
use crate::source::Source;

const RAGGED: &str = "fix the file, or pass --ragged pad to fill missing cells or --ragged skip to leave such rows out";

/// Rejects a header that has more or fewer names than the rows have cells.
pub(super) fn check_header(
    source: &Source,
    layout: &Layout,
    ragged: Ragged,
) -> Result<(), DataError> {
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

/// Rejects ragged rows, unless an option determines how to treat them.
pub(super) fn check_rows(
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
        cause.push(match layout.keeps_rows {
            // Every row of a new table gets a prediction, so no line is left out.
            true => {
                "a missing delimiter, a lost quote, a line break inside a cell, or a footnote, which must be deleted"
            }
            false => "a missing delimiter, a lost quote or a line break inside a cell",
        });
    }
    let unit = if cells == 1 { "cell" } else { "cells" };
    let have = if layout.header > 0 { "has" } else { "have" };
    Err(DataError::user(format!(
        "{name}, line {line}: {cells} {unit}, but {which} {have} {}; {count} {are} a different number of cells: {}; \
         the likely cause is {}; {RAGGED}",
        layout.width,
        parts.join(", "),
        cause.join(", or "),
    )))
}

/// Adds notes on decisions that could be wrong.
pub(super) fn add_notes(
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
                (Ragged::Pad, "more") => "the additional cells are in additional columns",
                (Ragged::Pad, _) => "the absent cells are missing values",
                (Ragged::Error, _) => "an error unless --ragged is pad or skip",
            };
            let rows = if lines.count == 1 { "row has" } else { "rows have" };
            add(&format!(
                "{} {rows} {what} than {} cells ({}): {done}",
                lines.count,
                layout.width,
                lines.shown()
            ));
        }
    }
    if tally.inner_quotes.count > 0 {
        let lines = tally.inner_quotes.shown();
        add(&format!(
            "{lines}: there is a quotation mark inside an unquoted cell; a delimiter may be missing before it"
        ));
    }
    if tally.repaired.count > 0 {
        add(&format!(
            "a quote that does not enclose a cell is read as a character of the text ({})",
            tally.repaired.shown()
        ));
    }
    if tally.empty_rows.count > 0 {
        add(&format!(
            "blank lines are read as rows with a missing value ({})",
            tally.empty_rows.shown()
        ));
    }
    for (lines, what) in
        [(&tally.blank, "blank"), (&tally.comments, "comment"), (&tally.headers, "repeated header")]
    {
        if lines.count > 0 {
            let verb = if lines.count == 1 { "is" } else { "are" };
            add(&format!("{} {verb} left out ({what})", lines.shown()));
        }
    }
    tally.notes.iter().for_each(|note| add(note));
}
