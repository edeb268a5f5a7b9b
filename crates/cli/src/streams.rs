//! The random streams of the command. Each stream of the workspace has its own number.

use halfspaces_linalg::RngStream;

/// The choice of rows on which `explain` measures importance.
pub(crate) const EXPLAINED_ROWS: RngStream = RngStream::new(80);
/// The permutations of a column in `explain`, one round for each shuffle.
pub(crate) const SHUFFLED_COLUMN: RngStream = RngStream::new(81);
/// The random order of a simulated labelling session.
pub(crate) const SIMULATED_ORDER: RngStream = RngStream::new(82);
