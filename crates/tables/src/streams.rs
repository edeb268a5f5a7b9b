//! The random streams of this crate. No two streams of the workspace share a number.

use halfspaces_linalg::RngStream;

/// Splits the rows of a table into held-out rows, validation rows and the remaining training rows.
pub(crate) const TABLE_ROWS: RngStream = RngStream::new(43);
/// Draws the order of the rows in each pass of a fit. Each family of candidates uses its own round of this stream.
pub(crate) const TABLE_ORDER: RngStream = RngStream::new(44);
