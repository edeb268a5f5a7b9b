//! The rows that `--review` names.

use crate::error::CliError;
use crate::output::{counted, note};
use halfspaces_frame::{Hints, ReadOptions, Values};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::Path;

/// The rows of a CSV file whose `suggested` label differs from their `label`, or all of its rows if one of these
/// columns is missing.
pub(super) fn rows(path: &Path, count: usize) -> Result<BTreeSet<usize>, CliError> {
    let hints = Hints::verbatim(["row", "label", "suggested"]);
    let frame = halfspaces_frame::read(path, &ReadOptions::default(), &hints)?;
    let column = frame.column("row").ok_or_else(|| frame.no_column("row"))?;
    let labels = frame.column("label").zip(frame.column("suggested"));
    let mut rows = BTreeSet::new();
    for at in 0..frame.rows {
        let is_same = |(label, suggested): &(Cow<'_, Values>, Cow<'_, Values>)| {
            label.text(at) == suggested.text(at)
        };
        if labels.as_ref().is_some_and(is_same) {
            continue;
        }
        rows.insert(frame.row_number(&column, at, "the pool", count)?);
    }
    note(&format!("{} to review", counted(rows.len() as u64, "row")));
    Ok(rows)
}
