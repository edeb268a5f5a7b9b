//! Algorithm 1, and its update rule in random order, simulated from their exact distributions and run on points.

use super::wedge::{Angle, occurrences};
use crate::Failure;
use halfspaces_data::{Marginal, UnitSphere, random_target_with_rng};
use halfspaces_linalg::{Classifier, Halfspace, Label, PointSet, RowView, kernels, norm};
use halfspaces_online::{ChainLength, TwoChains};
use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// Number of points per dimension that the start sums, as in [`TwoChains`].
const START_POINTS: usize = 4;

/// The counts of one run of Algorithm 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Run {
    /// Mistakes on the points of the start.
    pub(super) start: u64,
    /// Mistakes in buckets.
    pub(super) chains: u64,
    /// Mistakes made when each chain labels the points that the other chain left. For a simulated run, this is an upper
    /// bound.
    pub(super) end: f64,
    /// Mean over the two chains of ln sin θ at the end.
    pub(super) log_sin: f64,
}

impl Run {
    pub(super) fn total(&self) -> f64 {
        self.start as f64 + self.chains as f64 + self.end
    }
}

/// Sums y x over 4d uniform points, each predicted by the sum so far. Returns the mistakes and the angle between the
/// sum and the target. The angle is acute, since y (w* · x) >= 0 for every term.
pub(super) fn start(dim: usize, rng: &mut ChaCha8Rng) -> Result<(u64, Angle), Failure> {
    let points = UnitSphere::new(dim)?.sample_with_rng(START_POINTS * dim, rng)?;
    let mut sum = vec![0.0; dim];
    let mut mistakes = 0;
    for x in points.rows() {
        let truth = Label::from_sign(x.as_slice()[0]);
        mistakes += u64::from(Label::from_sign(x.dot(&sum)) != truth);
        kernels::axpy(truth.as_f64(), x.as_slice(), &mut sum);
    }
    let length = norm(&sum);
    Ok((mistakes, Angle::new(norm(&sum[1..]) / length, sum[0] / length)))
}

/// Simulates a run of Algorithm 1 on `points` uniform points from its exact distribution, given the angle of the start.
///
/// Buckets are independent, and the past of a chain affects the next bucket only through the angle. The angle is
/// therefore a Markov chain. A bucket without a misclassified point leaves the angle unchanged and is labelled
/// completely.
pub(super) fn chains(
    (start, first): (u64, Angle),
    points: f64,
    dim: usize,
    length: ChainLength,
    rng: &mut ChaCha8Rng,
) -> Run {
    let per_chain = length.buckets(dim, points) as f64;
    let count = 2.0 * per_chain;
    let left = points - (START_POINTS * dim) as f64;
    // The sizes of buckets differ by at most one, provided that a double can represent a difference of one.
    let size = |b: f64| ((b + 1.0) * left / count).floor() - (b * left / count).floor();
    let mut mistakes = [0.0; 2];
    // Number of points in buckets that end with a mistake.
    let mut unlabelled = [0.0; 2];
    let angles = [0, 1].map(|chain| {
        let mut angle = first;
        let offset = per_chain * chain as f64;
        for b in 0..per_chain as u64 {
            let size = size(offset + b as f64);
            if let Some(x) = angle.surest(size, dim, rng) {
                mistakes[chain] += 1.0;
                unlabelled[chain] += size;
                angle = angle.after(x);
            }
        }
        angle
    });
    // Each chain labels the remaining points in the buckets of the other chain. Counting all points of these buckets
    // gives an upper bound.
    let end = [0, 1].map(|chain| occurrences(unlabelled[chain], angles[1 - chain].error(), rng));
    Run {
        start,
        chains: (mistakes[0] + mistakes[1]) as u64,
        end: end[0] + end[1],
        log_sin: 0.5 * (angles[0].sin.ln() + angles[1].sin.ln()),
    }
}

/// Runs the update of Algorithm 1, after its start, on points in random order. Returns the mistakes on the first n
/// points for each n in `sizes`, which must increase. The waiting time for the next mistake is geometric.
pub(super) fn random_order(
    (start, first): (u64, Angle),
    sizes: &[f64],
    dim: usize,
    rng: &mut ChaCha8Rng,
) -> Vec<f64> {
    let mut angle = first;
    let mut mistakes = start as f64;
    let mut seen = (START_POINTS * dim) as f64;
    let mut counts = Vec::with_capacity(sizes.len());
    while counts.len() < sizes.len() {
        let wait = (1.0 - rng.random::<f64>()).ln() / (-angle.error()).ln_1p();
        seen += wait.floor() + 1.0;
        while counts.len() < sizes.len() && seen > sizes[counts.len()] {
            counts.push(mistakes);
        }
        mistakes += 1.0;
        angle = angle.after(Angle::any(dim, rng));
    }
    counts
}

/// Runs the algorithm itself on points.
pub(super) fn real(
    points: usize,
    dim: usize,
    length: ChainLength,
    rng: &mut ChaCha8Rng,
) -> Result<Run, Failure> {
    let target = random_target_with_rng(dim, rng)?;
    let pool = UnitSphere::new(dim)?.sample_with_rng(points, rng)?;
    let labels = target.label_all(&pool)?;
    let learner = TwoChains::new(dim, length, rng.random())?;
    let run = learner.simulate(&pool, &labels)?;
    let planned = length.buckets(dim, points as f64);
    assert_eq!(run.chain_length(), planned, "the k of the simulated runs");
    Ok(Run {
        start: run.start_mistakes() as u64,
        chains: run.chain_mistakes() as u64,
        end: (run.mistakes().len() - run.chain_mistakes() - run.start_mistakes()) as f64,
        log_sin: 0.5 * run.weights().iter().map(|w| log_sin(w, &target)).sum::<f64>(),
    })
}

/// ln sin of the angle between `w` and the unit target.
fn log_sin(w: &[f64], target: &Halfspace) -> f64 {
    let mut across = w.to_vec();
    let along = kernels::dot(w, target.normal());
    kernels::axpy(-along, target.normal(), &mut across);
    (norm(&across) / norm(w)).ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    /// The start takes 4d points, and the next point may already be misclassified.
    #[test]
    fn mistakes_go_on_after_the_start() {
        let dim = 5;
        let mut later = 0;
        for seed in 0..100 {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let first = start(dim, &mut rng).unwrap();
            let counts = random_order(first, &[20.0, 21.0], dim, &mut rng);
            assert_eq!(counts[0], first.0 as f64, "seed {seed}");
            later += usize::from(counts[1] > counts[0]);
        }
        assert!(later > 0);
    }
}
