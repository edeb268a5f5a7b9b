//! Hit-and-run sampling from a convex set.
//!
//! Every step draws one direction for all points, as a random combination of their differences, and moves each point to
//! a uniformly random point on its chord. For a single point this is plain hit-and-run. Because the points share
//! directions, a step costs O(cuts + d) per point instead of O(cuts · d), once the products of the direction with every
//! cut are known.
//!
//! A cut that leaves little of the sample is made in levels that each keep a fraction of the sample. The sample can
//! therefore follow a set that becomes very thin.
//!
//! *Bounded work.* For any set, a cut may take at most [`step_budget`] steps, which is 16384 (d + 4). The hardest known
//! non-empty set needed 1100 (d + 4) steps. An empty set is detected long before that: if a cut has still not succeeded
//! after 64 levels, [`HardMargin`] checks once whether the cuts have a common point.
//!
//! *Source.* Bertsimas and Vempala 2004 for hit-and-run with cuts.

use super::hard_margin::HardMargin;
use super::learner::Centre;
use crate::direction::random_unit;
use halfspaces_linalg::{Threads, kernels, norm};
use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

/// The sample after the sweeps counts as independent of the sample before them if their correlation is at most this
/// value.
pub(super) const MAX_CORRELATION: f64 = 0.3;
/// Maximum number of levels of a deep cut.
const MAX_LEVELS: usize = 1000;
/// If a cut is unfinished after this number of levels, [`HardMargin`] checks whether any point satisfies all cuts. If
/// there is such a point, a cut takes at most about 35 levels, unless the sample has lost a direction.
const LEVELS_BEFORE_CHECK: usize = 64;
/// Steps per round in successive attempts at a cut, as multiples of the usual number.
const EFFORTS: [usize; 4] = [1, 4, 16, 64];
/// Width below which the sample is numerically a ray.
const MIN_WIDTH: f64 = 1e-13;
/// The number of steps whose directions are drawn at once, and the number of points that a thread moves at a time.
const STEPS_PER_BATCH: usize = 64;
const POINTS_PER_TASK: usize = 8;
/// Threads are used if a round of steps updates at least this many slacks (points times cuts): at 350 000 slacks, two
/// threads were as fast as one; at 1.4 million slacks, they were 1.4 times as fast. The threshold is smaller in tests.
const THREADED_SLACKS: usize = if cfg!(test) { 1 << 14 } else { 1 << 19 };
/// Maximum number of rounds of steps for a cut.
const MAX_ROUNDS: usize = 16_384;

/// Number of steps of a round in R^`dim`: enough directions to span the space.
fn round_steps(dim: usize) -> usize {
    4 + dim
}

/// Maximum number of hit-and-run steps for one cut, or for one answer about a point of a pool, in R^`dim`.
pub(crate) fn step_budget(dim: usize) -> usize {
    MAX_ROUNDS * round_steps(dim)
}

/// Diagnostics of the last cut of a hit-and-run sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Mixing {
    /// Number of sweeps of hit-and-run.
    pub(crate) sweeps: usize,
    /// Correlation, over the sample, of a · w before the sweeps with a · w after them: near 0 if the sample has mixed.
    pub(crate) correlation: f64,
}

/// A uniformly random point in the unit ball.
pub(crate) fn uniform_in_ball(dim: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let radius = rng.random::<f64>().powf(1.0 / dim as f64);
    let mut w = random_unit(dim, rng);
    w.iter_mut().for_each(|v| *v *= radius);
    w
}

/// A sample of the unit ball, cut by halfspaces a · w >= 0.
pub(crate) struct Sample<'a> {
    /// The points that satisfy all cuts except the last.
    pub(crate) points: &'a mut Vec<Vec<f64>>,
    /// The sample after it was last spread; the differences of its points span the space.
    pub(crate) shape: &'a mut Vec<Vec<f64>>,
    /// The cuts a; the points do not satisfy the last one yet.
    pub(crate) cuts: &'a [&'a [f64]],
    /// Maximum number of rounds of steps. Rounds are repeated until the sample is independent of its earlier positions.
    pub(crate) max_sweeps: usize,
    /// Remaining number of steps; a level starts only if enough steps remain for it.
    pub(crate) steps_left: &'a mut usize,
    /// The sample does not depend on the number of threads.
    pub(crate) threads: Threads,
}

/// The outcome of an attempt at a cut.
enum CutOutcome {
    Made(Mixing),
    /// Too little of the sample is left, or the sample has become too narrow to continue.
    Lost,
    /// No point satisfies all cuts, or the steps are used up.
    GivenUp,
}

impl Sample<'_> {
    /// Makes the last cut, in levels if it is deep. Returns `None` and restores the sample if too little is left. On
    /// the way to a deep cut, a sample that has not mixed may lose a direction and then fail to reach the cut. A set is
    /// therefore abandoned only after increasingly thorough walks, or once it is known to be empty.
    pub(crate) fn cut_by_last(&mut self, rng: &mut ChaCha8Rng) -> Option<Mixing> {
        let (points, shape) = (self.points.clone(), self.shape.clone());
        let mut levels = 0;
        for effort in EFFORTS {
            match self.approach(effort, &mut levels, rng) {
                CutOutcome::Made(mixing) => return Some(mixing),
                outcome => {
                    self.points.clone_from(&points);
                    self.shape.clone_from(&shape);
                    if let CutOutcome::GivenUp = outcome {
                        break;
                    }
                }
            }
        }
        None
    }

    /// The cut that the points do not satisfy yet.
    fn last(&self) -> &[f64] {
        let Some(a) = self.cuts.last() else { unreachable!("a sample has at least one cut") };
        a
    }

    /// Makes one attempt at the cut, with `effort` times the usual number of steps per round. `levels` counts the
    /// levels of all attempts.
    fn approach(&mut self, effort: usize, levels: &mut usize, rng: &mut ChaCha8Rng) -> CutOutcome {
        let dim = self.last().len();
        let steps = effort * round_steps(dim);
        // A deep cut is approached through levels. A quarter of the sample reaches each level.
        for _ in 0..MAX_LEVELS {
            if *self.steps_left < steps * (1 + self.max_sweeps) {
                return CutOutcome::GivenUp;
            }
            let mut values = along(self.points, self.last());
            values.sort_by(f64::total_cmp);
            let (&[least, ..], &[.., most]) = (&values[..], &values[..]) else {
                unreachable!("at least a quarter of the sample reached the previous level")
            };
            let quarter = values[values.len() * 3 / 4];
            if quarter > 0.0 {
                return CutOutcome::Made(self.cut_to(0.0, steps, rng));
            }
            // If all values, or those of the top quarter, coincide, the sample cannot reach a further level.
            if most - least <= MIN_WIDTH || quarter >= most {
                return CutOutcome::Lost;
            }
            self.cut_to(quarter, steps, rng);
            *levels += 1;
            if *levels == LEVELS_BEFORE_CHECK && !self.has_point(dim) {
                return CutOutcome::GivenUp;
            }
        }
        CutOutcome::Lost
    }

    /// Whether some w strictly satisfies all cuts, up to rounding.
    fn has_point(&self, dim: usize) -> bool {
        match HardMargin::from_cuts(dim, self.cuts.iter().copied()) {
            Ok(centre) => !centre.is_exhausted(),
            Err(error) => unreachable!("the cuts have been stored before: {error}"),
        }
    }

    /// Keeps the points with a · w >= `level` for the last cut a, refills the sample with copies of them, and spreads
    /// the sample over the resulting set in rounds of `steps` steps.
    fn cut_to(&mut self, level: f64, steps: usize, rng: &mut ChaCha8Rng) -> Mixing {
        let before_cut = std::mem::take(self.points);
        let a = self.last();
        let alive: Vec<&Vec<f64>> =
            before_cut.iter().filter(|w| kernels::dot(w, a) >= level).collect();
        let filled: Vec<Vec<f64>> =
            alive.iter().cycle().take(self.shape.len()).map(|w| (*w).clone()).collect();
        let before = along(&filled, a);
        *self.points = filled;
        let mut mixing = Mixing { sweeps: 0, correlation: 1.0 };
        // All points share the directions, so fewer than d directions would leave the copies in a subspace. The
        // differences of the sample after it was last spread span the space, whichever points survived; the differences
        // of the current sample reflect its shape.
        let threads = self.threads;
        let walkers = Walkers::new(self.points, self.cuts, level, threads);
        walkers.spread(Some(self.shape), steps, rng);
        *self.steps_left -= steps;
        while mixing.sweeps < self.max_sweeps && mixing.correlation > MAX_CORRELATION {
            Walkers::new(self.points, self.cuts, level, threads).spread(None, steps, rng);
            *self.steps_left -= steps;
            mixing.sweeps += 1;
            mixing.correlation = correlation(&before, &along(self.points, self.last()));
        }
        self.shape.clone_from(self.points);
        mixing
    }
}

/// a · w for every point.
fn along(points: &[Vec<f64>], a: &[f64]) -> Vec<f64> {
    points.iter().map(|w| kernels::dot(w, a)).collect()
}

/// Pearson's correlation; 0 if one of the two is constant.
fn correlation(x: &[f64], y: &[f64]) -> f64 {
    let n = x.len() as f64;
    let (x_mean, y_mean) = (x.iter().sum::<f64>() / n, y.iter().sum::<f64>() / n);
    let (mut together, mut x_sq, mut y_sq) = (0.0, 0.0, 0.0);
    for (a, b) in x.iter().zip(y) {
        together += (a - x_mean) * (b - y_mean);
        x_sq += (a - x_mean).powi(2);
        y_sq += (b - y_mean).powi(2);
    }
    let scale = (x_sq * y_sq).sqrt();
    if scale > 0.0 { together / scale } else { 0.0 }
}

/// The mean of a non-empty set of points.
pub(crate) fn mean(points: &[Vec<f64>]) -> Vec<f64> {
    let [first, ..] = points else { unreachable!("a sample has points") };
    let mut mean = vec![0.0; first.len()];
    let share = 1.0 / points.len() as f64;
    points.iter().for_each(|w| kernels::axpy(share, w, &mut mean));
    mean
}

/// The direction of a Gaussian vector with the covariance of `cloud`, computed from standard normal `weights`. Returns
/// `None` if all points of the cloud coincide.
fn direction(cloud: &[Vec<f64>], mean: &[f64], weights: &[f64]) -> Option<Vec<f64>> {
    let mut u = vec![0.0; mean.len()];
    for (other, weight) in cloud.iter().zip(weights) {
        kernels::axpy(*weight, other, &mut u);
        kernels::axpy(-weight, mean, &mut u);
    }
    let length = norm(&u);
    if length == 0.0 {
        return None;
    }
    u.iter_mut().for_each(|v| *v /= length);
    Some(u)
}

/// The distances to the nearest boundary in both directions: the smallest `slack · down` and the smallest `slack · up`.
/// An entry that cannot bind is infinite; if its slack is 0, the product is NaN, which is ignored.
fn chord(slack: &[f64], down: &[f64], up: &[f64]) -> (f64, f64) {
    let (mut low, mut high) = ([f64::INFINITY; 4], [f64::INFINITY; 4]);
    let least = |least: &mut f64, v: f64| {
        if v < *least {
            *least = v;
        }
    };
    let (s, d, u) = (slack.chunks_exact(4), down.chunks_exact(4), up.chunks_exact(4));
    let remainder = s.remainder().iter().zip(d.remainder()).zip(u.remainder());
    for ((s, d), u) in remainder {
        least(&mut low[0], s * d);
        least(&mut high[0], s * u);
    }
    for ((s, d), u) in s.zip(d).zip(u) {
        for j in 0..4 {
            least(&mut low[j], s[j] * d[j]);
            least(&mut high[j], s[j] * u[j]);
        }
    }
    (low.into_iter().fold(f64::INFINITY, f64::min), high.into_iter().fold(f64::INFINITY, f64::min))
}

/// The random numbers for one step of all points. Each point of the cloud has a normally distributed weight, from which
/// the direction is computed. Each moving point has a new position on its chord.
struct Drawn {
    weights: Vec<f64>,
    places: Vec<f64>,
}

/// A step that moves all points along the unit vector `u`.
struct Step {
    u: Vec<f64>,
    /// a · u for every cut.
    rates: Vec<f64>,
    /// For every cut, the distance that a point with slack 1 may move against u (`down`) and along u (`up`).
    down: Vec<f64>,
    up: Vec<f64>,
    /// The new position of each point on its chord, in [0, 1).
    places: Vec<f64>,
}

impl Step {
    fn new(u: Vec<f64>, places: Vec<f64>, cuts: &[&[f64]]) -> Self {
        let rates: Vec<f64> = cuts.iter().map(|a| kernels::dot(a, &u)).collect();
        let apart = |rate: f64| if rate > 0.0 { 1.0 / rate } else { f64::INFINITY };
        let down = rates.iter().map(|rate| apart(*rate)).collect();
        let up = rates.iter().map(|rate| apart(-*rate)).collect();
        Step { u, rates, down, up, places }
    }

    /// Moves `w`, whose slacks at the cuts are `slack`, to the position `place` on its chord.
    fn walk(&self, w: &mut [f64], slack: &mut [f64], place: f64) {
        let (low, high) = chord(slack, &self.down, &self.up);
        // Stay in the ball: ‖w + tu‖ <= 1.
        let along = kernels::dot(w, &self.u);
        let root = (along * along + (1.0 - kernels::norm_sq(w)).max(0.0)).sqrt();
        let (low, high) = ((-low).max(-along - root), high.min(-along + root));
        if low < high {
            let t = low + (high - low) * place;
            kernels::axpy(t, &self.u, w);
            slack.iter_mut().zip(&self.rates).for_each(|(s, rate)| *s = (*s + t * rate).max(0.0));
        }
    }
}

/// Points with their slack a · w at every cut.
struct Walkers<'a> {
    points: &'a mut [Vec<f64>],
    cuts: &'a [&'a [f64]],
    /// The slacks of each point at every cut, point by point.
    slack: Vec<f64>,
    threads: Threads,
}

impl<'a> Walkers<'a> {
    /// Points with ‖w‖ <= 1 and a · w >= 0 for every cut a except the last, which requires a · w >= `level`.
    fn new(
        points: &'a mut [Vec<f64>],
        cuts: &'a [&'a [f64]],
        level: f64,
        threads: Threads,
    ) -> Self {
        let Some((last, earlier)) = cuts.split_last() else {
            unreachable!("a sample has at least one cut")
        };
        let mut slack = vec![0.0; points.len() * cuts.len()];
        let moved = slack.len() * round_steps(last.len());
        let threads = if moved < THREADED_SLACKS { Threads::ONE } else { threads };
        let of_points =
            points.chunks(POINTS_PER_TASK).zip(slack.chunks_mut(POINTS_PER_TASK * cuts.len()));
        threads.map_with(
            of_points,
            || (),
            |(), (points, slack)| {
                for (w, slack) in points.iter().zip(slack.chunks_mut(cuts.len())) {
                    for (slack, a) in slack.iter_mut().zip(earlier) {
                        *slack = kernels::dot(a, w).max(0.0);
                    }
                    slack[earlier.len()] = (kernels::dot(last, w) - level).max(0.0);
                }
            },
        );
        Walkers { points, cuts, slack, threads }
    }

    /// Takes `steps` steps of hit-and-run in directions shaped by `cloud`, or by the current points if `cloud` is
    /// `None`.
    fn spread(mut self, cloud: Option<&[Vec<f64>]>, steps: usize, rng: &mut ChaCha8Rng) {
        let now: Vec<Vec<f64>>;
        let cloud = match cloud {
            Some(cloud) => cloud,
            None => {
                now = self.points.to_vec();
                &now
            }
        };
        let mean = mean(cloud);
        for from in (0..steps).step_by(STEPS_PER_BATCH) {
            let count = STEPS_PER_BATCH.min(steps - from);
            let drawn: Vec<Drawn> = (0..count)
                .map(|_| Drawn {
                    weights: cloud.iter().map(|_| StandardNormal.sample(rng)).collect(),
                    places: self.points.iter().map(|_| rng.random()).collect(),
                })
                .collect();
            let cuts = self.cuts;
            let steps = self.threads.map_with(
                drawn.into_iter(),
                || (),
                |(), Drawn { weights, places }| {
                    let u = direction(cloud, &mean, &weights)?;
                    Some(Step::new(u, places, cuts))
                },
            );
            // A sample of one point has no direction to move in.
            self.walk(&steps.into_iter().flatten().collect::<Vec<Step>>());
        }
    }

    /// Takes the steps. The points move independently of each other.
    fn walk(&mut self, steps: &[Step]) {
        let count = self.cuts.len();
        let parts = self
            .points
            .chunks_mut(POINTS_PER_TASK)
            .zip(self.slack.chunks_mut(POINTS_PER_TASK * count));
        self.threads.map_with(
            parts.enumerate(),
            || (),
            |(), (part, (points, slack))| {
                for step in steps {
                    let places = &step.places[part * POINTS_PER_TASK..];
                    let walkers = points.iter_mut().zip(slack.chunks_mut(count)).zip(places);
                    walkers.for_each(|((w, slack), place)| step.walk(w, slack, *place));
                }
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_linalg::{RngStream, normalise, rng_for};

    /// In several dimensions, cuts that no point satisfies are abandoned after a small fraction of the allowed steps.
    #[test]
    fn an_empty_set_is_recognised_within_few_steps() {
        for dim in [2, 3, 5, 9, 13, 20] {
            let mut rng = rng_for(RngStream::CALLER, dim as u64);
            let mut points: Vec<Vec<f64>> =
                (0..64 + 4 * dim).map(|_| uniform_in_ball(dim, &mut rng)).collect();
            let mut shape = points.clone();
            // The cuts are the axes and the negative of their sum.
            let mut cuts = vec![vec![0.0; dim]; dim];
            cuts.iter_mut().enumerate().for_each(|(j, a)| a[j] = 1.0);
            cuts.push(vec![-1.0; dim]);
            assert!(normalise(&mut cuts[dim]));
            let cuts: Vec<&[f64]> = cuts.iter().map(Vec::as_slice).collect();
            for made in 1..=cuts.len() {
                let mut steps_left = step_budget(dim);
                let mut sample = Sample {
                    points: &mut points,
                    shape: &mut shape,
                    cuts: &cuts[..made],
                    max_sweeps: 12,
                    steps_left: &mut steps_left,
                    threads: Threads::ONE,
                };
                let before = sample.points.clone();
                let outcome = sample.cut_by_last(&mut rng);
                assert_eq!(outcome.is_some(), made <= dim, "{made} cuts in dimension {dim}");
                if outcome.is_none() {
                    assert_eq!(points, before);
                    let spent = step_budget(dim) - steps_left;
                    assert!(spent <= 1000 * round_steps(dim), "{spent} steps in dimension {dim}");
                }
            }
        }
    }

    /// However small the budget is, it is not exceeded, and an unfinished cut is undone.
    #[test]
    fn the_budget_is_kept() {
        assert_eq!(step_budget(10), 16_384 * 14);
        let (dim, max_sweeps) = (3, 4);
        // The cut is so deep that a sample of this size has no point beyond it.
        let mut rng = rng_for(RngStream::CALLER, 1);
        let narrow = [[1.0, 0.0, 0.0], [-0.99, 0.14, 0.0], [0.0, -1.0, 0.01]].map(|mut a| {
            assert!(normalise(&mut a));
            a
        });
        let cuts: Vec<&[f64]> = narrow.iter().map(|a| a.as_slice()).collect();
        let (mut made, mut refused) = (0, 0);
        for budget in [0, 1, 34, 35, 70, 140, 500, 5000, step_budget(dim)] {
            let mut points: Vec<Vec<f64>> =
                (0..80).map(|_| uniform_in_ball(dim, &mut rng)).collect();
            let mut shape = points.clone();
            for count in 1..=cuts.len() {
                let mut steps_left = budget;
                let before = points.clone();
                let mut sample = Sample {
                    points: &mut points,
                    shape: &mut shape,
                    cuts: &cuts[..count],
                    max_sweeps,
                    steps_left: &mut steps_left,
                    threads: Threads::ONE,
                };
                let outcome = sample.cut_by_last(&mut rng);
                // With at least this many steps, one level with all its sweeps is affordable.
                let level = (1 + max_sweeps) * round_steps(dim);
                assert!(count > 1 || outcome.is_some() == (budget >= level), "budget {budget}");
                if outcome.is_none() {
                    assert_eq!(points, before);
                    refused += 1;
                    break;
                }
                made += 1;
            }
        }
        assert!(made > 3 && refused > 3, "{made} made, {refused} refused");
    }

    /// Test oracle: hit-and-run as it is defined, moving one point at a time and computing every chord from its
    /// definition.
    #[test]
    fn steps_made_together_are_those_made_one_by_one() {
        let dim = 4;
        let mut rng = rng_for(RngStream::CALLER, 4);
        let start: Vec<Vec<f64>> = (0..3 * POINTS_PER_TASK + 1)
            .map(|_| uniform_in_ball(dim, &mut rng))
            .map(|w| w.iter().map(|v| 0.2 * v).zip([0.4; 4]).map(|(v, to)| v + to).collect())
            .collect();
        let cuts = [[1.0, 0.0, 0.0, 0.0], [0.0, 0.6, -0.1, 0.3], [-0.2, 0.7, 0.1, 0.0]];
        let cuts: Vec<&[f64]> = cuts.iter().map(|a| a.as_slice()).collect();
        let (level, steps) = (0.09, STEPS_PER_BATCH + 3);
        assert!(start.iter().all(|w| kernels::dot(w, cuts[2]) > level && norm(w) < 1.0));
        let mut walked = start.clone();
        let [mut rng, mut rng_of_walk] = [5, 5].map(|seed| rng_for(RngStream::CALLER, seed));
        Walkers::new(&mut walked, &cuts, level, Threads::ONE).spread(None, steps, &mut rng_of_walk);
        let middle: Vec<f64> = (0..dim)
            .map(|j| start.iter().map(|w| w[j]).sum::<f64>() / start.len() as f64)
            .collect();
        let mut plain = start.clone();
        for _ in 0..steps {
            let mut u = vec![0.0; dim];
            for w in &start {
                let weight: f64 = StandardNormal.sample(&mut rng);
                (0..dim).for_each(|j| u[j] += weight * (w[j] - middle[j]));
            }
            assert!(normalise(&mut u));
            for w in &mut plain {
                // w + tu stays in the ball and satisfies every cut.
                let (b, c) = (kernels::dot(w, &u), 1.0 - kernels::dot(w, w));
                let (mut low, mut high) = (-b - (b * b + c).sqrt(), -b + (b * b + c).sqrt());
                for (a, bound) in cuts.iter().zip([0.0, 0.0, level]) {
                    let (rate, t) = (kernels::dot(a, &u), bound - kernels::dot(a, w));
                    if rate > 0.0 {
                        low = low.max(t / rate);
                    } else if rate < 0.0 {
                        high = high.min(t / rate);
                    }
                }
                let t = low + (high - low) * rng.random::<f64>();
                (0..dim).for_each(|j| w[j] += t * u[j]);
            }
        }
        assert_eq!(rng.random::<u64>(), rng_of_walk.random::<u64>());
        let far = |(a, b): (&f64, &f64)| (a - b).abs();
        let apart = walked.concat().iter().zip(&plain.concat()).map(far).fold(0.0, f64::max);
        assert!(apart < 1e-9, "{apart}");
        assert!(walked.iter().any(|w| kernels::dot(w, cuts[2]) < level + 0.05));
    }

    /// There are enough cuts for threads to be used, and more steps than are drawn at once. With any number of threads,
    /// the sample is the same, bit for bit.
    #[test]
    fn threads_move_no_point() {
        let dim = 6;
        let mut rng = rng_for(RngStream::CALLER, 2);
        let mut inside: Vec<Vec<f64>> = (0..70).map(|_| uniform_in_ball(dim, &mut rng)).collect();
        for w in &mut inside {
            w.iter_mut().for_each(|v| *v *= 0.1);
            w[0] += 0.5;
        }
        let cuts: Vec<Vec<f64>> = (0..2000).map(|_| random_unit(dim, &mut rng)).collect();
        let contains = |a: &&Vec<f64>| inside.iter().all(|w| kernels::dot(w, a) >= 0.0);
        let kept: Vec<&[f64]> = cuts.iter().filter(contains).map(Vec::as_slice).collect();
        assert!(inside.len() * kept.len() * round_steps(dim) > THREADED_SLACKS);
        let walked = |count: usize| {
            let (mut points, threads) = (inside.clone(), Threads::new(count).unwrap());
            let mut rng = rng_for(RngStream::CALLER, 3);
            let walkers = Walkers::new(&mut points, &kept, 0.0, threads);
            assert_eq!(walkers.threads, threads);
            walkers.spread(None, STEPS_PER_BATCH + 9, &mut rng);
            (points, rng.random::<u64>())
        };
        let one = walked(1);
        assert!((0..70).any(|k| one.0[k] != inside[k]));
        assert!([2, 3, 7].into_iter().all(|count| walked(count) == one));
    }

    /// The slack of every point at every cut is that of its definition, for several tasks of points.
    #[test]
    fn slacks_are_those_of_all_points() {
        let mut rng = rng_for(RngStream::CALLER, 5);
        let mut points: Vec<Vec<f64>> =
            (0..3 * POINTS_PER_TASK + 1).map(|_| uniform_in_ball(3, &mut rng)).collect();
        let cuts = [[1.0, 0.0, 0.0], [0.0, 0.6, 0.8], [0.0, 1.0, 0.0], [0.8, 0.0, -0.6]];
        let cuts: Vec<&[f64]> = cuts.iter().map(|a| a.as_slice()).collect();
        let (before, level) = (points.clone(), -0.25);
        let walkers = Walkers::new(&mut points, &cuts, level, Threads::ONE);
        assert_eq!(walkers.slack.len(), before.len() * cuts.len());
        for (w, slack) in before.iter().zip(walkers.slack.chunks_exact(cuts.len())) {
            for (j, a) in cuts.iter().enumerate() {
                let level = if j + 1 == cuts.len() { level } else { 0.0 };
                assert_eq!(slack[j], (kernels::dot(a, w) - level).max(0.0));
            }
        }
    }
}
