//! Random directions.

use halfspaces_linalg::normalise;
use rand::Rng;
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
