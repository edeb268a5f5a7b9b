//! The random streams of this crate. No two streams in the workspace share a number.

use halfspaces_linalg::RngStream;

/// Selects the held-out rows.
pub(crate) const HOLD_OUT: RngStream = RngStream::new(64);
/// Selects the rows on which candidates for sparse points are compared.
pub(crate) const SPARSE_ROWS: RngStream = RngStream::new(65);
/// Determines the order of the rows for an online learner for two classes.
pub(crate) const PASSES: RngStream = RngStream::new(66);
/// Assigns rows to the folds of a label audit.
pub(crate) const AUDIT_PARTS: RngStream = RngStream::new(67);
/// Selects the rows on which importance is measured.
pub(crate) const EXPLAINED_ROWS: RngStream = RngStream::new(80);
/// Permutes a column. Each shuffle uses a separate round of the stream.
pub(crate) const SHUFFLED_COLUMN: RngStream = RngStream::new(81);
/// Selects the rows with which an explained row is compared, and the orders in which columns are replaced. Each
/// explained row uses a separate stream.
pub(crate) const COMPARED_ROWS: RngStream = RngStream::new(83);
