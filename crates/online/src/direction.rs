//! Random directions, and generators for rounds that are counted.

use halfspaces_linalg::{RngStream, normalise, rng_for_round};
use rand::Rng;
use rand::rngs::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

/// A uniformly random unit vector of R^`dim`; empty for dimension 0.
pub(crate) fn random_unit<R: Rng + ?Sized>(dim: usize, rng: &mut R) -> Vec<f64> {
    let mut w = vec![0.0; dim];
    loop {
        w.iter_mut().for_each(|v| *v = StandardNormal.sample(rng));
        if normalise(&mut w) || dim == 0 {
            return w;
        }
    }
}

/// The generator of `seed` for round `count` of a purpose.
pub(crate) fn rng_for_count(stream: RngStream, seed: u64, count: u64) -> ChaCha8Rng {
    let Ok(round) = u32::try_from(count) else {
        unreachable!("each of 2^32 rounds would have stored a point or a cut")
    };
    rng_for_round(stream, seed, round)
}
