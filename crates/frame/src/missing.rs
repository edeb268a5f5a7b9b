//! The usual markers of missing values.

/// Cells of text files that mean that a value is missing.
pub(crate) const MISSING_CELLS: [&str; 13] =
    ["", "?", "NA", "N/A", "n/a", "#N/A", "<NA>", "nan", "NaN", "NAN", "null", "NULL", "None"];

/// Whether a cell is a usual marker of a missing value.
///
/// ```
/// assert!(halfspaces_frame::is_missing_marker("NA") && !halfspaces_frame::is_missing_marker("0"));
/// ```
#[must_use]
pub fn is_missing_marker(cell: &str) -> bool {
    MISSING_CELLS.contains(&cell)
}

/// The usual markers of missing values, as a message names them.
pub const MISSING_SHOWN: &str = "an empty cell, ?, NA, N/A, NaN, null and None";
