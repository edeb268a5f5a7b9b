//! The random number streams of this crate. No two streams of the workspace share a number.

use halfspaces_linalg::RngStream;

/// The points of a marginal.
pub(crate) const POINTS: RngStream = RngStream::new(1);
/// A target halfspace.
pub(crate) const TARGET: RngStream = RngStream::new(2);
/// The noisy examples of an instance: points, then the coin tosses for their labels.
pub(crate) const EXAMPLES: RngStream = RngStream::new(3);
/// The points of a population.
pub(crate) const POPULATION: RngStream = RngStream::new(4);
/// A random rotation.
pub(crate) const ROTATION: RngStream = RngStream::new(5);
/// The order of the rows of a data set.
pub(crate) const SHUFFLE: RngStream = RngStream::new(6);
/// Points with planted heavy subspaces.
pub(crate) const PLANTED_SUBSPACES: RngStream = RngStream::new(7);
/// The centres of clusters.
pub(crate) const CLUSTER_CENTRES: RngStream = RngStream::new(8);
