//! The random number streams of this crate. No two streams of the workspace share a number.

use halfspaces_linalg::RngStream;

/// Draws the points of a marginal.
pub(crate) const POINTS: RngStream = RngStream::new(1);
/// Draws a target halfspace.
pub(crate) const TARGET: RngStream = RngStream::new(2);
/// Draws the noisy examples of an instance: first the points, then the flips of their labels.
pub(crate) const EXAMPLES: RngStream = RngStream::new(3);
/// Draws the points of a population.
pub(crate) const POPULATION: RngStream = RngStream::new(4);
/// Draws a random rotation.
pub(crate) const ROTATION: RngStream = RngStream::new(5);
/// Draws the order of the rows of a data set.
pub(crate) const SHUFFLE: RngStream = RngStream::new(6);
/// Draws points with planted heavy subspaces.
pub(crate) const PLANTED_SUBSPACES: RngStream = RngStream::new(7);
/// Draws the centres of clusters.
pub(crate) const CLUSTER_CENTRES: RngStream = RngStream::new(8);
