//! Generators for what a learner draws, apart from those of the data.
//!
//! A learner and the source of its examples may well be given the same seed, and the proofs need their
//! draws independent: what is drawn here comes from streams that no source of `halfspaces-data` uses.

use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;

/// What is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Which iterates are kept.
    Kept = 1,
    /// Which iterate stands in when the examples end early.
    Spare = 2,
    /// How a sample is split, and in which order it is gone through.
    Split = 3,
    /// Where a descent starts.
    Start = 4,
}

/// The generator of `seed` for a purpose.
pub(crate) fn draws(seed: u64, purpose: Purpose) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(LEARNERS + purpose as u64);
    rng
}

/// First of the streams set aside: "learners" in ASCII.
const LEARNERS: u64 = 0x6c65_6172_6e65_7273;

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;

    #[test]
    fn purposes_and_sources_draw_apart() {
        let first = |mut rng: ChaCha8Rng| rng.random::<u64>();
        let mut words = vec![first(ChaCha8Rng::seed_from_u64(7))];
        for purpose in [Purpose::Kept, Purpose::Spare, Purpose::Split, Purpose::Start] {
            words.push(first(draws(7, purpose)));
        }
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), 5);
    }
}
