//! The streams of random numbers of this crate. No two streams of the workspace share a number.

use halfspaces_linalg::RngStream;

/// The iterates that become candidates.
pub(crate) const RETENTION: RngStream = RngStream::new(32);
/// The iterate that is returned if the examples end early.
pub(crate) const RESERVOIR_ITERATE: RngStream = RngStream::new(33);
/// The split of a sample, and the order of the passes over it.
pub(crate) const SPLIT: RngStream = RngStream::new(34);
/// The first direction of a heuristic.
pub(crate) const HEURISTIC_START: RngStream = RngStream::new(35);
/// The columns of a random projection, with a round per coordinate of its points.
pub(crate) const PROJECTION: RngStream = RngStream::new(36);
/// The order of passes of the support vector machine.
pub(crate) const SVM_ORDER: RngStream = RngStream::new(37);
/// The descents of DGT19.
pub(crate) const DGT_DESCENT: RngStream = RngStream::new(38);
/// The order in which the descents of a positioned learner take examples, with a round per descent.
pub(crate) const POSITIONED_DESCENT: RngStream = RngStream::new(39);
