//! A search for points in radially isotropic position on which the weak learner makes many updates or fails.

use super::runs::{pair, run};
use super::workload::{Goal, Outcome};
use crate::experiments::common::*;
use halfspaces_forster::Isotropy;
use halfspaces_linalg::{Classifier, Halfspace, Points, normalise};
use halfspaces_online::{Cap, WeakRun};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

/// Number of points per dimension. It is odd, so that no walk passes exactly |U|/(4k) points.
const POINTS_PER_DIMENSION: usize = 13;
/// Number of starting vectors with which a search for failures scores a move.
const STARTS: usize = 16;
/// Maximum number of points that one move changes.
const CHANGED: usize = 3;
/// The range of lengths of a move, as powers of ten.
const LENGTHS: std::ops::Range<f64> = -2.5..0.3;

/// Unit points of R^k, labelled by the sign of their first coordinate, and a starting vector.
#[derive(Clone)]
struct Instance {
    rows: Vec<Vec<f64>>,
    start: Vec<f64>,
}

fn random_unit(k: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
    moved(&vec![0.0; k], 1.0, rng)
}

/// The unit vector in the direction of `v` plus a Gaussian vector of scale `size`.
fn moved(v: &[f64], size: f64, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let normal = |v: &f64| -> f64 {
        let step: f64 = StandardNormal.sample(rng);
        v + size * step
    };
    let mut u: Vec<f64> = v.iter().map(normal).collect();
    assert!(normalise(&mut u), "a normal vector is 0 with probability 0");
    u
}

/// The start, rotated so that w₀ · e₁ = 1/(2√k) and rounded so that the premise holds.
fn aligned(mut start: Vec<f64>) -> Vec<f64> {
    let along = 0.5 / (start.len() as f64).sqrt() * (1.0 + 1e-12);
    start[0] = 0.0;
    if normalise(&mut start) {
        let across = (1.0 - along * along).sqrt();
        start.iter_mut().for_each(|v| *v *= across);
    }
    start[0] = along;
    start
}

impl Instance {
    /// The points; `None` if they are not in radially isotropic position with relative accuracy 1/2.
    fn in_position(&self) -> Result<Option<Points>, Failure> {
        let points = Points::from_rows(&self.rows)?;
        let least = Isotropy::measure(&points)?.least();
        Ok((least >= 0.5).then_some(points))
    }

    /// A random move: one to three points are perturbed, or replaced by perturbed or exact copies of other points. The
    /// starting vector is changed with probability 1/3.
    fn moved(&self, rng: &mut ChaCha8Rng) -> Instance {
        let mut next = self.clone();
        let size = 10f64.powf(rng.random_range(LENGTHS));
        for _ in 0..rng.random_range(1..=CHANGED) {
            let [i, j] = [0; 2].map(|_| rng.random_range(0..self.rows.len()));
            next.rows[i] = match rng.random_range(0..3) {
                0 => moved(&self.rows[i], size, rng),
                1 => moved(&self.rows[j], size, rng),
                _ => self.rows[j].clone(),
            };
        }
        if rng.random_range(0..3) == 0 {
            next.start = aligned(moved(&self.start, size, rng));
        }
        next
    }
}

/// Runs the weak learner on the result of a search with the given number of moves. It starts from the starting vector
/// found by the search, or from a fresh random start and its opposite.
pub(super) fn searched(
    goal: Goal,
    k: usize,
    moves: usize,
    rng: &mut ChaCha8Rng,
) -> Result<Outcome, Failure> {
    let target = first_axis(k)?;
    let starts: Vec<Vec<f64>> = (0..STARTS).map(|_| random_unit(k, rng)).collect();
    let score = |points: &Points, start: &[f64]| -> Result<usize, Failure> {
        let labels = target.label_all(points)?;
        let run = |start: Vec<f64>| WeakRun::simulate(points, &labels, start, Cap::Corrected);
        match goal {
            Goal::Updates => {
                let run = run(start.to_vec())?;
                Ok(run.updates() + usize::from(!run.succeeded()))
            }
            Goal::Failures => {
                let mut failed = 0;
                for start in &starts {
                    let opposite = start.iter().map(|v| -v).collect();
                    failed += usize::from(
                        !run(start.clone())?.succeeded() && !run(opposite)?.succeeded(),
                    );
                }
                Ok(failed)
            }
        }
    };
    let count = POINTS_PER_DIMENSION * k;
    let (mut instance, mut points) = loop {
        let rows = (0..count).map(|_| random_unit(k, rng)).collect();
        let first = Instance { rows, start: aligned(random_unit(k, rng)) };
        if let Some(points) = first.in_position()? {
            break (first, points);
        }
    };
    let mut best = score(&points, &instance.start)?;
    for _ in 0..moves {
        let next = instance.moved(rng);
        let Some(inside) = next.in_position()? else { continue };
        let found = score(&inside, &next.start)?;
        // Ties are accepted, since most moves change no count.
        if found >= best {
            (instance, points, best) = (next, inside, found);
        }
    }
    let labels = target.label_all(&points)?;
    let runs = match goal {
        Goal::Updates => vec![run(&points, &labels, &target, &instance.start)?],
        Goal::Failures => pair(&points, &labels, &target, &random_unit(k, rng))?,
    };
    Ok(Outcome::Weak { k, runs })
}

fn first_axis(k: usize) -> Result<Halfspace, Failure> {
    let mut normal = vec![0.0; k];
    normal[0] = 1.0;
    Ok(Halfspace::new(normal)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn a_search_lengthens_runs_and_keeps_the_premises() {
        let longest = |moves| {
            let updates = (0..10).map(|seed| {
                let mut rng = ChaCha8Rng::seed_from_u64(seed);
                let found = searched(Goal::Updates, 5, moves, &mut rng).unwrap();
                let Outcome::Weak { k, runs } = found else {
                    unreachable!("a search returns runs")
                };
                assert_eq!((k, runs.len()), (5, 1));
                assert!(runs[0].is_aligned(5) && runs[0].cosine < 0.224 && runs[0].succeeded);
                runs[0].spent
            });
            updates.sum::<f64>()
        };
        assert!(longest(300) > 1.5 * longest(0));
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let found = searched(Goal::Failures, 3, 10, &mut rng).unwrap();
        let Outcome::Weak { runs, .. } = found else { unreachable!("a search returns runs") };
        assert_eq!(runs[0].cosine.to_bits(), (-runs[1].cosine).to_bits());
    }
}
