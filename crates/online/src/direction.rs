//! Initial weight vectors, and random number generators for numbered rounds.

use halfspaces_linalg::{InputError, RngStream, normalise, rng_for_round, zeros};
use rand::Rng;
use rand::rngs::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

/// The zero vector of R^`dim`. Returns an error for dimension 0, or if the vector does not fit in memory.
pub(crate) fn origin(dim: usize) -> Result<Vec<f64>, InputError> {
    if dim == 0 { Err(InputError::ZeroDimension) } else { zeros(1, dim) }
}

/// A uniformly random unit vector of R^`dim`; the vector is empty for dimension 0.
pub(crate) fn random_unit<R: Rng + ?Sized>(dim: usize, rng: &mut R) -> Vec<f64> {
    let mut w = vec![0.0; dim];
    loop {
        w.iter_mut().for_each(|v| *v = StandardNormal.sample(rng));
        if normalise(&mut w) || dim == 0 {
            return w;
        }
    }
}

/// The random number generator for round `count` of the stream `stream` with seed `seed`.
pub(crate) fn rng_for_count(stream: RngStream, seed: u64, count: u64) -> ChaCha8Rng {
    let Ok(round) = u32::try_from(count) else {
        unreachable!("each of 2^32 rounds would have stored a point or a cut")
    };
    rng_for_round(stream, seed, round)
}
