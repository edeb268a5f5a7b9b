//! The random streams of this crate. No two streams of the workspace share a number.

use halfspaces_linalg::RngStream;

/// Draws the pairs of points whose median distance is the scale of a kernel.
pub(crate) const DISTANCE_PAIRS: RngStream = RngStream::new(40);
/// Draws the landmarks of a Nyström map.
pub(crate) const LANDMARKS: RngStream = RngStream::new(41);
