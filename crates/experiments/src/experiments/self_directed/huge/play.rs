//! Algorithm 1 and its update in random order, in law and for real.

use super::wedge::{Angle, occurrences};
use crate::Failure;
use halfspaces_data::{Marginal, UnitSphere, random_target_with_rng};
use halfspaces_linalg::{Classifier, Halfspace, Label, PointSet, RowView, kernels, norm};
use halfspaces_online::{ChainLength, TwoChains};
use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// Points per dimension of which the start is made, as in [`TwoChains`].
const START_POINTS: usize = 4;

/// What a run of Algorithm 1 comes to.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Run {
    /// Mistakes on the points of the start.
    pub(super) start: u64,
    /// Mistakes in buckets.
    pub(super) chains: u64,
    /// In law at least as many as are made where each chain labels what the other has left.
    pub(super) end: f64,
    /// Mean over the two chains of ln sin θ at the end.
    pub(super) log_sin: f64,
}

impl Run {
    pub(super) fn total(&self) -> f64 {
        self.start as f64 + self.chains as f64 + self.end
    }
}

/// k = ⌈c d lnln n⌉, as [`ChainLength::Practical`].
pub(super) fn buckets(factor: f64, dim: usize, points: f64) -> f64 {
    (factor * dim as f64 * points.ln().ln()).ceil()
}

/// The sum of y x over 4d uniform points, each predicted by the sum so far: mistakes, and the angle of the sum to
/// the target, which is acute as no term points away from it.
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

/// Algorithm 1 on `points` uniform points, from the angle of the start, in law.
///
/// Buckets are independent, and what a chain has seen tells of the points of a bucket to come nothing but the angle: so the
/// angle is a Markov chain. A bucket without a wrong point leaves it, and is labelled whole.
pub(super) fn chains(
    (start, first): (u64, Angle),
    points: f64,
    dim: usize,
    factor: f64,
    rng: &mut ChaCha8Rng,
) -> Run {
    let per_chain = buckets(factor, dim, points);
    let count = 2.0 * per_chain;
    let left = points - (START_POINTS * dim) as f64;
    // Sizes differ by one at most, while there is a one.
    let size = |b: f64| ((b + 1.0) * left / count).floor() - (b * left / count).floor();
    let mut mistakes = [0.0; 2];
    // Points of buckets that were left with a mistake.
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
    // What one chain leaves the other labels; of all points of those buckets, more.
    let end = [0, 1].map(|chain| occurrences(unlabelled[chain], angles[1 - chain].error(), rng));
    Run {
        start,
        chains: (mistakes[0] + mistakes[1]) as u64,
        end: end[0] + end[1],
        log_sin: 0.5 * (angles[0].sin.ln() + angles[1].sin.ln()),
    }
}

/// The update of Algorithm 1 on points as they come, after its start: mistakes on the first n for each of
/// `sizes`, increasing. The next wrong point comes after a geometric number of points.
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

/// The algorithm itself, on points.
pub(super) fn real(
    points: usize,
    dim: usize,
    factor: f64,
    rng: &mut ChaCha8Rng,
) -> Result<Run, Failure> {
    let target = random_target_with_rng(dim, rng)?;
    let pool = UnitSphere::new(dim)?.sample_with_rng(points, rng)?;
    let labels = target.label_all(&pool)?;
    let learner = TwoChains::new(dim, ChainLength::Practical { factor }, rng.random())?;
    let run = learner.simulate(&pool, &labels)?;
    let planned = buckets(factor, dim, points as f64) as usize;
    assert_eq!(run.chain_length, planned, "the k of the pool that is drawn");
    Ok(Run {
        start: run.start_mistakes as u64,
        chains: run.chain_mistakes as u64,
        end: (run.mistakes.len() - run.chain_mistakes - run.start_mistakes) as f64,
        log_sin: 0.5 * run.weights.iter().map(|w| log_sin(w, &target)).sum::<f64>(),
    })
}

/// ln sin of the angle to the unit target.
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

    /// The start takes 4d points, and the next one may be wrong.
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
