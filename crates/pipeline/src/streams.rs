//! The random streams of this crate. No two streams in the workspace share a number.

use halfspaces_linalg::RngStream;

/// Selects the held-out rows.
pub(crate) const HOLD_OUT: RngStream = RngStream::new(64);
/// Selects the rows on which candidates for sparse points are compared.
pub(crate) const SPARSE_ROWS: RngStream = RngStream::new(65);
/// Orders the rows for an online learner of two classes.
pub(crate) const PASSES: RngStream = RngStream::new(66);
/// Assigns rows to the folds of a label audit.
pub(crate) const AUDIT_PARTS: RngStream = RngStream::new(67);
/// Selects the rows on which importance is measured.
pub(crate) const EXPLAINED_ROWS: RngStream = RngStream::new(80);
/// Permutes a column, one round for each shuffle.
pub(crate) const SHUFFLED_COLUMN: RngStream = RngStream::new(81);
/// Selects the rows with which a row is compared, one stream for each row, and the orders of their columns.
pub(crate) const COMPARED_ROWS: RngStream = RngStream::new(83);
