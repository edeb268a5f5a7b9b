//! The greedy learner on the whole pool ([`halfspaces_online::Greedy`]), simulated from its exact distribution and run
//! on points.
//!
//! After a mistake with margin m at the hypothesis w, all that is known about the remaining points is that |w · x| < m.
//! The rest of a Poisson pool is therefore a Poisson process on the part of the sphere that lies in all slabs. Each
//! mistake adds one slab. The hypothesis, the target and the slabs form a Markov chain. Proofs:
//! docs/theory/algorithm-1-in-law.md.

use super::wedge::{Angle, WrongPoint};
use crate::Failure;
use halfspaces_data::{Marginal, UnitSphere, random_target_with_rng};
use halfspaces_linalg::{Classifier, kernels, norm, normalise};
use halfspaces_online::Greedy;
use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use rand_distr::{Distribution, Poisson, StandardNormal};
use serde::{Deserialize, Serialize};

/// The counts of one run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct GreedyRun {
    pub(super) mistakes: u64,
    /// ln sin of the angle to the target at the end.
    pub(super) log_sin: f64,
    /// Number of sampled points that a slab excluded, divided by the number of mistakes; 0 for a run on points.
    pub(super) excluded: f64,
}

/// A slab, which contains all points that have not been seen. The points with the largest |w · x| have been seen, so
/// the others have |w · x| < μ sin θ, where w = cos θ w* + sin θ e.
struct Slab {
    /// The vector e, in coordinates orthogonal to w*.
    axis: Vec<f64>,
    /// cot θ.
    cotangent: f64,
    /// μ.
    margin: f64,
}

impl Slab {
    /// Whether a point with these coordinates lies in the slab.
    fn contains(&self, along: f64, across: &[f64]) -> bool {
        (self.cotangent * along + kernels::dot(&self.axis, across)).abs() < self.margin
    }
}

/// A uniform unit vector orthogonal to the unit vector `axis`.
fn orthogonal(axis: &[f64], rng: &mut ChaCha8Rng) -> Vec<f64> {
    loop {
        let mut v: Vec<f64> = axis.iter().map(|_| StandardNormal.sample(rng)).collect();
        kernels::axpy(-kernels::dot(&v, axis), axis, &mut v);
        if normalise(&mut v) {
            return v;
        }
    }
}

/// The coordinates of a misclassified point x: w* · x, the part of x orthogonal to w*, and the direction of the part of
/// x orthogonal to both w* and w. The sign of x is chosen so that w · x > 0.
fn place(
    angle: Angle,
    axis: &[f64],
    x: WrongPoint,
    rng: &mut ChaCha8Rng,
) -> (f64, Vec<f64>, Vec<f64>) {
    let r = (1.0 - x.off_plane).sqrt();
    let (sin, cos) = (x.turn * angle.radians()).sin_cos();
    let off = orthogonal(axis, rng);
    let mut across: Vec<f64> = off.iter().map(|v| v * x.off_plane.sqrt()).collect();
    kernels::axpy(r * cos, axis, &mut across);
    (-r * sin, across, off)
}

/// The vector e of the hypothesis w - (w · x) x.
fn turned(angle: Angle, axis: &[f64], x: WrongPoint, off: &[f64]) -> Vec<f64> {
    let deficit = angle.deficit(x);
    let margin = (1.0 - deficit).max(0.0).sqrt();
    // 1 - μ r cos(uθ) with u = 1 - t, computed without a difference of nearly equal numbers.
    let product = margin * (1.0 - x.off_plane).sqrt();
    let rest = (deficit + x.off_plane - deficit * x.off_plane) / (1.0 + product);
    let half = (0.5 * x.turn * angle.radians()).sin();
    let kept = rest + 2.0 * product * half * half;
    let mut next: Vec<f64> = axis.iter().map(|v| kept * v).collect();
    kernels::axpy(-margin * x.off_plane.sqrt(), off, &mut next);
    assert!(normalise(&mut next), "a misclassified point does not lie on w");
    next
}

/// Simulates a run on uniform points from its exact distribution. The number of points is Poisson with mean `points`.
pub(super) fn drawn(points: f64, dim: usize, rng: &mut ChaCha8Rng) -> Result<GreedyRun, Failure> {
    // The first point is predicted +1. Multiplied by ±1 so that it lies on the target's side, it is the first
    // hypothesis.
    let first = UnitSphere::new(dim)?.sample_with_rng(1, rng)?;
    let mut axis = first.as_slice()[1..].to_vec();
    let mut angle = Angle::new(norm(&axis), first.as_slice()[0].abs());
    assert!(normalise(&mut axis), "a random point is not the target");
    let mut mistakes = u64::from(rng.random::<bool>());
    let (mut slabs, mut excluded) = (Vec::<Slab>::new(), 0u64);
    loop {
        let expected = points * angle.error();
        let count = |[inner, share]: [f64; 2], rng: &mut ChaCha8Rng| {
            let mean = expected * (share - inner);
            Poisson::new(mean).map_or(0.0, |poisson| poisson.sample(rng))
        };
        let found = angle.search(expected, dim, rng, count, |x, rng| {
            let (along, across, off) = place(angle, &axis, x, rng);
            let inside = slabs.iter().rev().all(|slab| slab.contains(along, &across));
            excluded += u64::from(!inside);
            inside.then_some(off)
        });
        let Some((x, off)) = found else {
            let excluded = excluded as f64 / mistakes.max(1) as f64;
            return Ok(GreedyRun { mistakes, log_sin: angle.sin.ln(), excluded });
        };
        mistakes += 1;
        let next = turned(angle, &axis, x, &off);
        let margin = (1.0 - angle.deficit(x)).max(0.0).sqrt();
        slabs.push(Slab { axis, cotangent: angle.cos / angle.sin, margin });
        (angle, axis) = (angle.after(x), next);
    }
}

/// Runs the learner itself on points.
pub(super) fn real(points: usize, dim: usize, rng: &mut ChaCha8Rng) -> Result<GreedyRun, Failure> {
    let target = random_target_with_rng(dim, rng)?;
    let pool = UnitSphere::new(dim)?.sample_with_rng(points, rng)?;
    let run = Greedy::simulate(&pool, &target.label_all(&pool)?)?;
    let mut across = run.halfspace().normal().to_vec();
    let along = kernels::dot(&across, target.normal());
    kernels::axpy(-along, target.normal(), &mut across);
    let log_sin = norm(&across).ln();
    Ok(GreedyRun { mistakes: run.mistakes().len() as u64, log_sin, excluded: 0.0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    /// The placed point has the stated margins, and the next axis is that of the updated vector.
    #[test]
    fn a_step_is_that_of_vectors() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for _ in 0..500 {
            let dim = 6;
            let theta: f64 = rng.random_range(0.01..1.5);
            let angle = Angle::new(theta.sin(), theta.cos());
            let mut axis = vec![0.0; dim - 1];
            axis[0] = 1.0;
            axis = orthogonal(&axis, &mut rng);
            let x = WrongPoint { off_plane: rng.random(), turn: rng.random() };
            let (along, across, off) = place(angle, &axis, x, &mut rng);
            // All coordinates, w* first.
            let with = |first: f64, rest: &[f64]| [vec![first], rest.to_vec()].concat();
            let point = with(along, &across);
            assert!((norm(&point) - 1.0).abs() < 1e-12);
            let w = with(theta.cos(), &axis.iter().map(|v| theta.sin() * v).collect::<Vec<_>>());
            let value = kernels::dot(&w, &point);
            let margin = (1.0 - angle.deficit(x)).sqrt();
            assert!((value - margin * theta.sin()).abs() < 1e-9 && along <= 0.0);
            let mut after = w.clone();
            kernels::axpy(-value, &point, &mut after);
            let length = norm(&after[1..]);
            if norm(&after) > 1e-3 && length > 1e-3 {
                let expected: Vec<f64> = after[1..].iter().map(|v| v / length).collect();
                let found = turned(angle, &axis, x, &off);
                assert!(kernels::dot(&found, &expected) > 1.0 - 1e-9);
            }
            // A slab of this hypothesis excludes exactly the points with a larger margin.
            for (factor, inside) in [(0.999, false), (1.001, true)] {
                let slab = Slab {
                    axis: axis.clone(),
                    cotangent: theta.cos() / theta.sin(),
                    margin: factor * margin,
                };
                assert_eq!(slab.contains(along, &across), inside);
            }
        }
    }
}
