//! Independent streams of random numbers.
//!
//! A user may give a learner and the source of its examples the same seed, but every proof requires their random draws
//! to be independent. Therefore every crate of the workspace has a separate stream for each purpose.

use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;

/// A stream of random numbers for one purpose, such as the split of a sample.
///
/// Streams with different numbers are independent for all seeds. Each crate defines its streams as constants in a
/// module `streams`. The tests of the workspace check that no two of these constants share a number.
///
/// ```
/// use halfspaces_linalg::{RngStream, rng_for};
/// use rand::RngExt;
/// const SPLIT: RngStream = RngStream::new(1000);
/// let first = |stream| rng_for(stream, 7).random::<u64>();
/// assert_eq!(first(SPLIT), first(SPLIT));
/// assert_ne!(first(SPLIT), first(RngStream::CALLER));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RngStream(u32);

impl RngStream {
    /// The stream for users of the library: no learner or generator of the workspace draws from it.
    pub const CALLER: RngStream = RngStream::new(0);

    /// The stream with the given number. The workspace uses numbers below 1000.
    #[must_use]
    pub const fn new(number: u32) -> RngStream {
        RngStream(number)
    }

    /// The number of the ChaCha stream for `round`. The upper half of its bits contains the number of this stream and
    /// the lower half contains the round, so no two pairs of a stream and a round share a number.
    fn number(self, round: u32) -> u64 {
        u64::from(self.0) << u32::BITS | u64::from(round)
    }
}

/// The random number generator for a seed and a purpose.
#[must_use]
pub fn rng_for(stream: RngStream, seed: u64) -> ChaCha8Rng {
    rng_for_round(stream, seed, 0)
}

/// The random number generator for a seed, a purpose and a round. Each round has its own stream; [`rng_for`] gives
/// round 0.
#[must_use]
pub fn rng_for_round(stream: RngStream, seed: u64, round: u32) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(stream.number(round));
    rng
}
