//! The random streams of the command. Each stream of the workspace has its own number.

use halfspaces_linalg::RngStream;

/// The random order of a simulated labelling session.
pub(crate) const SIMULATED_ORDER: RngStream = RngStream::new(82);
