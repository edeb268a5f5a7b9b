//! Files that name rows of a table in a column `row`: those of `correct` and of `label --review`.

use crate::error::CliError;
use crate::output::note_all;
use halfspaces_frame::{Frame, same_class};
use halfspaces_pipeline::check_same_rows;

/// Checks that other columns of both tables agree, except for the columns `except`. `pairs` are a row of the table and a
/// line of the file each. All lines are checked, including those that are not used, because any of them can show that the
/// rows have moved. Returns whether there are such columns.
pub(super) fn check_rows(
    table: &Frame,
    file: &Frame,
    pairs: &[(usize, usize)],
    except: &[&str],
) -> Result<bool, CliError> {
    let advice = format!("pass the table to which {} belongs", file.source);
    let same = check_same_rows(table, file, pairs, except, &advice)?;
    note_all(&same.notes);
    Ok(same.columns > 0)
}

/// Checks that the label in line `at` of a file is the label of the row in the table.
pub(super) fn check_label(
    (file, at, here): (&Frame, usize, &str),
    (table, row, there): (&Frame, usize, &str),
) -> Result<(), CliError> {
    if same_class(here, there) {
        return Ok(());
    }
    Err(CliError::user(format!(
        "{}: row {row} has the label `{here}` here, but `{there}` in {}; was the row moved, or has it already been corrected?",
        file.place(at),
        table.place(row)
    )))
}
