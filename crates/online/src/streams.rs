//! The streams of random numbers of this crate. No two streams of the workspace have the same number.

use halfspaces_linalg::RngStream;

/// A random order of a pool.
pub(crate) const ORDER: RngStream = RngStream::new(16);
/// The starting weights of the modified perceptron.
pub(crate) const INITIAL_WEIGHTS: RngStream = RngStream::new(17);
/// The hit-and-run sample of the centre of gravity; each cut uses one round of the stream.
pub(crate) const CENTRE_OF_GRAVITY: RngStream = RngStream::new(18);
/// The chains of the self-directed Algorithm 1.
pub(crate) const CHAINS: RngStream = RngStream::new(19);
/// The starting weights of the strong self-directed learner; each round of the learner uses one round of the stream.
pub(crate) const STRONG_STARTS: RngStream = RngStream::new(20);
/// The version-space sample of the sampled greedy learner; each refill of the sample uses one round of the stream.
pub(crate) const SAMPLED_GREEDY: RngStream = RngStream::new(21);
