//! Hit-and-run for many points of a convex set at once.
//!
//! Every step draws one direction for all points, from their own differences, and moves each to a
//! uniform point of its chord. What each does alone is plain hit-and-run; that they share directions
//! makes a step cost O(cuts + d) a point once the direction has met every cut, in place of O(cuts · d).
//!
//! A cut that leaves little of the sample is made in steps that each keep a share of it, so a set is
//! followed however thin it becomes.
//!
//! *Source.* Bertsimas and Vempala 2004 for hit-and-run with cuts.

use super::centre_of_gravity::Mixing;
use halfspaces_linalg::{kernels, norm};
use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

/// Correlation with the sample before the sweeps at which it counts as forgotten.
pub(crate) const FORGOTTEN: f64 = 0.3;
/// Steps in which a deep cut is made, at most.
const MAX_STEPS: usize = 1000;
/// Steps of a round, in multiples of the usual number, with which a cut is tried before the set counts as
/// empty.
const EFFORTS: [usize; 4] = [1, 4, 16, 64];
/// Width of the sample below which it cannot be told from a ray.
const MIN_WIDTH: f64 = 1e-13;

/// A sample of the unit ball cut by halfspaces a · w >= 0.
pub(crate) struct Sample<'a> {
    /// The points alive.
    pub(crate) points: &'a mut Vec<Vec<f64>>,
    /// The sample as it was last spread: its differences span the space.
    pub(crate) shape: &'a mut Vec<Vec<f64>>,
    /// The cuts a; the last is new to the points.
    pub(crate) cuts: &'a [&'a [f64]],
    /// A round of steps is repeated until the sample forgets where it was, at most so often.
    pub(crate) most_sweeps: usize,
}

impl Sample<'_> {
    /// Makes the last cut, in steps if it is deep; `None` if too little is left. On the way to a deep cut
    /// a sample that has not mixed may lose a direction and with it the way: a set is given up only after
    /// ever more thorough walks.
    pub(crate) fn cut_by_last(&mut self, rng: &mut ChaCha8Rng) -> Option<Mixing> {
        let a = *self.cuts.last()?;
        let (points, shape) = (self.points.clone(), self.shape.clone());
        for effort in EFFORTS {
            if let Some(mixing) = self.approach(a, effort, rng) {
                return Some(mixing);
            }
            self.points.clone_from(&points);
            self.shape.clone_from(&shape);
        }
        None
    }

    /// One try at the cut, with so many times the steps of a round.
    fn approach(&mut self, a: &[f64], effort: usize, rng: &mut ChaCha8Rng) -> Option<Mixing> {
        // A deep cut is approached through levels that a quarter of the sample reaches.
        for _ in 0..MAX_STEPS {
            let mut values = along(self.points, a);
            values.sort_by(f64::total_cmp);
            let (least, most) = (*values.first()?, *values.last()?);
            let quarter = values.get(values.len() * 3 / 4).copied().unwrap_or(most);
            if quarter > 0.0 {
                return Some(self.cut_to(a, 0.0, effort, rng));
            }
            // A quarter of the sample in one place is no sample either; nothing lies beyond it.
            if most - least <= MIN_WIDTH || quarter >= most {
                return None;
            }
            self.cut_to(a, quarter, effort, rng);
        }
        None
    }

    /// Keeps the points with a · w >= `level` for the last cut a, fills the sample with copies of them
    /// and spreads it over the set so cut.
    fn cut_to(&mut self, a: &[f64], level: f64, effort: usize, rng: &mut ChaCha8Rng) -> Mixing {
        let cloud = std::mem::take(self.points);
        let alive: Vec<&Vec<f64>> = cloud.iter().filter(|w| kernels::dot(w, a) >= level).collect();
        *self.points = alive.iter().cycle().take(self.shape.len()).map(|w| (*w).clone()).collect();
        let survivors = alive.len() as f64 / cloud.len() as f64;
        let mut mixing = Mixing { sweeps: 0, correlation: 1.0, survivors };
        let before = along(self.points, a);
        // Directions are shared, so fewer than d of them would leave copies in a subspace. Those of the
        // sample as last spread span the space, whatever survived; those of the present one have its
        // shape.
        let steps = effort * (4 + a.len());
        Walkers::new(self.points, self.cuts, level).spread(Some(self.shape), steps, rng);
        while mixing.sweeps < self.most_sweeps && mixing.correlation > FORGOTTEN {
            Walkers::new(self.points, self.cuts, level).spread(None, steps, rng);
            mixing.sweeps += 1;
            mixing.correlation = correlation(&before, &along(self.points, a));
        }
        self.shape.clone_from(self.points);
        mixing
    }
}

/// a · w for every point.
fn along(points: &[Vec<f64>], a: &[f64]) -> Vec<f64> {
    points.iter().map(|w| kernels::dot(w, a)).collect()
}

/// Pearson's correlation; 0 if one side does not vary.
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

/// The mean of points; empty for none.
pub(crate) fn mean(points: &[Vec<f64>]) -> Vec<f64> {
    let mut mean = vec![0.0; points.first().map_or(0, Vec::len)];
    let share = 1.0 / points.len() as f64;
    points.iter().for_each(|w| kernels::axpy(share, w, &mut mean));
    mean
}

/// A unit vector distributed as a Gaussian with the covariance of `cloud`; `None` where all its points
/// are one.
fn direction(cloud: &[Vec<f64>], mean: &[f64], rng: &mut ChaCha8Rng) -> Option<Vec<f64>> {
    let mut u = vec![0.0; mean.len()];
    for other in cloud {
        let weight: f64 = StandardNormal.sample(rng);
        kernels::axpy(weight, other, &mut u);
        kernels::axpy(-weight, mean, &mut u);
    }
    let length = norm(&u);
    if length == 0.0 {
        return None;
    }
    u.iter_mut().for_each(|v| *v /= length);
    Some(u)
}

/// What is left to the least boundary ahead, in both directions: the least `slack · down` and
/// `slack · up`, where an entry that cannot bind is infinite (and one with no slack is then ignored, as
/// a NaN).
fn chord(slack: &[f64], down: &[f64], up: &[f64]) -> (f64, f64) {
    let (mut low, mut high) = ([f64::INFINITY; 4], [f64::INFINITY; 4]);
    let least = |least: &mut f64, v: f64| {
        if v < *least {
            *least = v;
        }
    };
    let (s, d, u) = (slack.chunks_exact(4), down.chunks_exact(4), up.chunks_exact(4));
    let rest = s.remainder().iter().zip(d.remainder()).zip(u.remainder());
    for ((s, d), u) in rest {
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

/// Points with what they have to spare at every cut.
struct Walkers<'a> {
    points: &'a mut [Vec<f64>],
    cuts: &'a [&'a [f64]],
    /// a · w of every cut, one point after the other.
    slack: Vec<f64>,
}

impl<'a> Walkers<'a> {
    /// Points with ‖w‖ <= 1 and a · w >= 0 for every cut a, but for the last, where it is `level`.
    fn new(points: &'a mut [Vec<f64>], cuts: &'a [&'a [f64]], level: f64) -> Self {
        let mut slack = Vec::with_capacity(points.len() * cuts.len());
        for w in points.iter() {
            slack.extend(cuts.iter().map(|a| kernels::dot(a, w).max(0.0)));
            if let (Some(last), Some(a)) = (slack.last_mut(), cuts.last()) {
                *last = (kernels::dot(a, w) - level).max(0.0);
            }
        }
        Walkers { points, cuts, slack }
    }

    /// `steps` steps of hit-and-run in directions shaped by `cloud`, by the points as they are now if
    /// there is none.
    fn spread(&mut self, cloud: Option<&[Vec<f64>]>, steps: usize, rng: &mut ChaCha8Rng) {
        let now: Vec<Vec<f64>>;
        let cloud = match cloud {
            Some(cloud) => cloud,
            None => {
                now = self.points.to_vec();
                &now
            }
        };
        let mean = mean(cloud);
        for _ in 0..steps {
            if let Some(u) = direction(cloud, &mean, rng) {
                self.step(&u, rng);
            }
        }
    }

    /// Each point to a uniform point of its chord along the unit `u`.
    fn step(&mut self, u: &[f64], rng: &mut ChaCha8Rng) {
        let rates: Vec<f64> = self.cuts.iter().map(|a| kernels::dot(a, u)).collect();
        let apart = |rate: f64| if rate > 0.0 { 1.0 / rate } else { f64::INFINITY };
        let down: Vec<f64> = rates.iter().map(|rate| apart(*rate)).collect();
        let up: Vec<f64> = rates.iter().map(|rate| apart(-*rate)).collect();
        let count = self.cuts.len();
        for (k, w) in self.points.iter_mut().enumerate() {
            let Some(slack) = self.slack.get_mut(k * count..(k + 1) * count) else { return };
            let (low, high) = chord(slack, &down, &up);
            // ‖w + tu‖ <= 1
            let along = kernels::dot(w, u);
            let root = (along * along + (1.0 - kernels::norm_sq(w)).max(0.0)).sqrt();
            let (low, high) = ((-low).max(-along - root), high.min(-along + root));
            if low < high {
                let t = low + (high - low) * rng.random::<f64>();
                kernels::axpy(t, u, w);
                slack.iter_mut().zip(&rates).for_each(|(s, rate)| *s = (*s + t * rate).max(0.0));
            }
        }
    }
}
