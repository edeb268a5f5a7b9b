//! Hit-and-run for many points of a convex set at once.
//!
//! Every step draws one direction for all points, from their own differences, and moves each to a
//! uniform point of its chord. What each does alone is plain hit-and-run; that they share directions
//! makes a step cost O(cuts) a point once the direction has met every cut, in place of O(cuts · d).
//!
//! *Source.* Bertsimas and Vempala 2004 for hit-and-run with cuts.

use halfspaces_linalg::{kernels, norm};
use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

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
pub(crate) struct Walkers<'a> {
    points: &'a mut [Vec<f64>],
    cuts: &'a [&'a [f64]],
    /// a · w of every cut, one point after the other.
    slack: Vec<f64>,
}

impl<'a> Walkers<'a> {
    /// Points with ‖w‖ <= 1 and a · w >= 0 for every cut a, but for the last, where it is `level`.
    pub(crate) fn new(points: &'a mut [Vec<f64>], cuts: &'a [&'a [f64]], level: f64) -> Self {
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
    pub(crate) fn spread(
        &mut self,
        cloud: Option<&[Vec<f64>]>,
        steps: usize,
        rng: &mut ChaCha8Rng,
    ) {
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
