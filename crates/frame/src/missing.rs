//! The common markers of missing values.

/// The cells of text files that count as missing.
pub(crate) const MISSING_CELLS: [&str; 13] =
    ["", "?", "NA", "N/A", "n/a", "#N/A", "<NA>", "nan", "NaN", "NAN", "null", "NULL", "None"];

/// Whether a cell is a common marker of a missing value.
///
/// ```
/// assert!(halfspaces_frame::is_missing_marker("NA") && !halfspaces_frame::is_missing_marker("0"));
/// ```
#[must_use]
pub fn is_missing_marker(cell: &str) -> bool {
    MISSING_CELLS.contains(&cell)
}

/// The common markers of missing values, as listed in messages.
pub const MISSING_SHOWN: &str = "an empty cell, ?, NA, N/A, NaN, null and None";
