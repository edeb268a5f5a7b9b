//! The streams of random numbers of this crate. Each stream of the workspace has its own stream number.

use halfspaces_linalg::RngStream;

/// Selects the iterates that become candidates.
pub(crate) const RETENTION: RngStream = RngStream::new(32);
/// Selects the iterate that is returned if the examples end early.
pub(crate) const RESERVOIR_ITERATE: RngStream = RngStream::new(33);
/// Splits a sample, and shuffles the points for the passes over it.
pub(crate) const SPLIT: RngStream = RngStream::new(34);
/// Draws the first direction of a heuristic.
pub(crate) const HEURISTIC_START: RngStream = RngStream::new(35);
/// Draws the columns of a random projection. Each coordinate of the points has its own round.
pub(crate) const PROJECTION: RngStream = RngStream::new(36);
/// Shuffles the points for the passes of the support vector machine.
pub(crate) const SVM_ORDER: RngStream = RngStream::new(37);
/// Drives the descents of DGT19.
pub(crate) const DGT_DESCENT: RngStream = RngStream::new(38);
/// Shuffles the examples in the descents of a positioned learner. Each descent has its own round.
pub(crate) const POSITIONED_DESCENT: RngStream = RngStream::new(39);
