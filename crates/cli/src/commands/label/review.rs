//! The rows that `--review` names.

use crate::commands::named_rows::{check_label, check_rows};
use crate::error::CliError;
use crate::output::{counted, note};
use halfspaces_frame::{Frame, Hints, ReadOptions, same_class};
use std::collections::BTreeSet;
use std::path::Path;

/// The rows of a CSV file whose `suggested` label differs from their `label`, or all of its rows if one of these
/// columns is missing. Other columns that occur in both the file and the pool must agree, except for the column
/// `except` of known labels. `known` has the known labels of the pool in the order of the rows; a `label` in the file
/// must be the known label of its row.
pub(super) fn rows(
    path: &Path,
    pool: &Frame,
    except: Option<&str>,
    known: &[(usize, String)],
) -> Result<BTreeSet<usize>, CliError> {
    let hints = Hints::verbatim(["row", "label", "suggested"]);
    let frame = halfspaces_frame::read(path, &ReadOptions::default(), &hints)?;
    let column = frame.column("row").ok_or_else(|| frame.no_column("row"))?;
    let labels = frame.column("label").zip(frame.column("suggested"));
    let row = |at: usize| frame.row_number(&column, at, "the pool", pool.rows);
    let mut reviewed: Vec<(usize, usize)> = Vec::new();
    for at in 0..frame.rows {
        let is_same = labels
            .as_ref()
            .is_some_and(|(label, suggested)| same_class(&label.text(at), &suggested.text(at)));
        if !is_same {
            reviewed.push((row(at)?, at));
        }
    }
    check_rows(pool, &frame, &column, except.as_slice())?;
    for (row, at) in &reviewed {
        let place = known.binary_search_by_key(row, |(row, _)| *row);
        let (Some((label, _)), Ok(place)) = (&labels, place) else { continue };
        check_label((&frame, *at, &label.text(*at)), (pool, *row, &known[place].1))?;
    }
    let rows: BTreeSet<usize> = reviewed.into_iter().map(|(row, _)| row).collect();
    note(&format!("{} to review", counted(rows.len() as u64, "row")));
    Ok(rows)
}
