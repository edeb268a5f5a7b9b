//! The first questions of a session. Part of `LabellingSession`. Claims: none.
//!
//! While there are few answers, the surest points are similar to each other, and questions about them yield little
//! information. The first questions are therefore about the points that reduce the variance of the pool the most. Each
//! such point a maximises Σ_z C(a, z)² / (C(a, a) + 0.2), where C is the posterior covariance given the preceding
//! points (Cohn, Ghahramani and Jordan 1996). The choice of these points needs no answers. It is made once, on a sample
//! of the pool.

use super::kernel::Kernel;
use super::posterior::NOISE;
use halfspaces_linalg::{Threads, kernels};

/// Maximum number of first questions.
pub(super) const EXPLORED: usize = 20;
/// The pool must have at least this many points for each of the first questions.
const SHARE: usize = 20;
/// The maximum number of points in the sample, and of multiplications for its kernel.
const MAX_SAMPLE: usize = 2000;
const MAX_WORK: usize = 400_000_000;
const MIN_SAMPLE: usize = 200;

/// The points of the first questions, in order.
pub(super) fn first_questions(kernel: &Kernel, threads: Threads) -> Vec<usize> {
    let most = (MAX_WORK / kernel.work().max(1)).isqrt().clamp(MIN_SAMPLE, MAX_SAMPLE);
    let step = kernel.len().div_ceil(most).max(1);
    let sample: Vec<usize> = (0..kernel.len()).step_by(step).collect();
    let count = EXPLORED.min(kernel.len() / SHARE);
    let places: Vec<usize> = (0..sample.len()).collect();
    let mut covariance: Vec<Vec<f64>> =
        threads.map_with(places.iter(), || (), |(), place| kernel.between(sample[*place], &sample));
    let mut chosen = Vec::with_capacity(count);
    for _ in 0..count {
        let gains = threads.map_with(
            covariance.iter().enumerate(),
            || (),
            |(), (place, row)| kernels::norm_sq(row) / (row[place] + NOISE),
        );
        let best =
            (0..gains.len()).fold(0, |best, i| if gains[i] > gains[best] { i } else { best });
        let row = covariance[best].clone();
        let total = row[best] + NOISE;
        threads.map_with(
            covariance.iter_mut().zip(&row),
            || (),
            |(), (other, v)| kernels::axpy(-v / total, &row, other),
        );
        if !chosen.contains(&sample[best]) {
            chosen.push(sample[best]);
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::super::tests::texts;
    use super::*;

    /// Given the preceding points, each chosen point reduces the summed squares of the covariance the most. The test
    /// recomputes this from the definition. One point in twenty is chosen, but at most twenty points.
    #[test]
    fn each_point_reduces_the_variance_the_most() {
        let (points, _) = texts(100, 2);
        let kernel = Kernel::fit(&points, Threads::ONE).unwrap().unwrap();
        let chosen = first_questions(&kernel, Threads::ONE);
        assert_eq!(chosen.len(), 5);
        let all: Vec<usize> = (0..100).collect();
        let mut covariance: Vec<Vec<f64>> = all.iter().map(|i| kernel.between(*i, &all)).collect();
        for best in chosen {
            let gain = |a: usize| {
                covariance[a].iter().map(|v| v * v).sum::<f64>() / (covariance[a][a] + 0.2)
            };
            assert!(all.iter().all(|a| gain(*a) <= gain(best) + 1e-9));
            let row = covariance[best].clone();
            for (i, other) in covariance.iter_mut().enumerate() {
                for (value, v) in other.iter_mut().zip(&row) {
                    *value -= row[i] * v / (row[best] + 0.2);
                }
            }
        }
        let (points, _) = texts(500, 2);
        let kernel = Kernel::fit(&points, Threads::ONE).unwrap().unwrap();
        let chosen = first_questions(&kernel, Threads::ONE);
        assert_eq!(chosen.len(), 20);
        assert_eq!(chosen, first_questions(&kernel, Threads::all()));
    }
}
