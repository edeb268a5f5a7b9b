//! The random streams of this crate. No two streams in the workspace share a number.

use halfspaces_linalg::RngStream;

/// Orders the rows for an online learner.
pub(crate) const PASSES: RngStream = RngStream::new(90);

/// Flips labels.
pub(crate) const FLIPS: RngStream = RngStream::new(95);
