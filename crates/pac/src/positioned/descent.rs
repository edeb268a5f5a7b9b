//! Computes directions for points in radially isotropic position, by the descent that the theorem analyses or by the
//! descents of the practical schedule.
//!
//! *Source.* docs/theory/massart-without-margin.md, "Descent" and "The practical schedule". Claims: PM, PMn, PMt.

use super::region::Placed;
use super::schedule::positioned_step;
use crate::baselines::LeakyRelu;
use crate::fit::{Denominator, Direction, SignLink};
use crate::schedule;
use crate::streams;
use halfspaces_linalg::{
    InputError, Label, PointSet, Threads, checkpoint_at, kernels, norm, normalise, rng_for_round,
};
use rand::seq::SliceRandom;

/// The margin parameters of the Perspectrons that run on points in radially isotropic position. The points need not
/// have these margins; most points have a margin of 1/(2√d).
const MARGINS: [f64; 3] = [0.2, 0.05, 0.01];
/// The number of passes of a practical descent over its examples. `MAX_REPEATED_STEPS` is the maximum number of steps
/// of a descent that makes more than one pass.
const PASSES: usize = 20;
const MAX_REPEATED_STEPS: usize = 100_000;

/// Projected stochastic subgradient descent on LeakyReLU_λ. It starts at 0 and returns the mean of all iterates.
#[derive(Debug)]
pub(super) struct Descent {
    loss: LeakyRelu,
    step: f64,
    w: Vec<f64>,
    sum: Vec<f64>,
}

impl Descent {
    pub(super) fn new(
        dim: usize,
        noise: f64,
        excess: f64,
        steps: u64,
    ) -> Result<Descent, InputError> {
        let loss = LeakyRelu::new(super::schedule::positioned_leak(noise, excess))?;
        let step = positioned_step(noise, excess, steps);
        Ok(Descent { loss, step, w: vec![0.0; dim], sum: vec![0.0; dim] })
    }

    /// Takes one step on an example that no rule covers. If the example is outside the subspace (`None`), its loss is
    /// 0.
    pub(super) fn take(&mut self, placed: Option<&[f64]>, label: Label) {
        kernels::axpy(1.0, &self.w, &mut self.sum);
        let Some(f) = placed else { return };
        let factor = self.loss.subgradient_factor(kernels::dot(f, &self.w), label);
        kernels::axpy(-self.step * factor, f, &mut self.w);
        project(&mut self.w);
    }

    /// The mean iterate, scaled to norm 1. If the loss is negative, this scaling can only lower it. A zero vector is
    /// returned unchanged.
    pub(super) fn direction(mut self) -> Vec<f64> {
        let _ = normalise(&mut self.sum);
        self.sum
    }
}

/// Projects onto the unit ball.
fn project(w: &mut [f64]) {
    let length = norm(w);
    if length > 1.0 {
        w.iter_mut().for_each(|v| *v /= length);
    }
}

/// The update of a practical descent.
#[derive(Debug, Clone, Copy)]
enum Rule {
    Leaky(LeakyRelu),
    Perspectron(Direction<SignLink>),
}

impl Rule {
    /// The factor by which an update multiplies the point f.
    fn factor(&self, value: f64, label: Label) -> f64 {
        match self {
            Rule::Leaky(loss) => loss.subgradient_factor(value, label),
            Rule::Perspectron(direction) => direction.coefficient(value, label),
        }
    }
}

/// Computes the directions of the practical schedule: one by subgradient descent on LeakyReLU_λ, and one by a
/// Perspectron for each margin in [`MARGINS`]. Each direction is the mean of the second half of the iterates. All
/// descents make the same number of passes.
pub(super) fn directions(
    placed: &Placed,
    leak: f64,
    seed: u64,
    round: u32,
    threads: Threads,
) -> Result<Vec<Vec<f64>>, InputError> {
    let n = placed.labels.len();
    let steps = (PASSES * n).min(MAX_REPEATED_STEPS).max(n);
    let loss = LeakyRelu::new(leak)?;
    let mut rules = vec![(Rule::Leaky(loss), 1.0 / (loss.steepness() * (steps as f64).sqrt()))];
    for margin in MARGINS {
        let link = SignLink { level: 1.0 - 2.0 * leak };
        let direction = Direction { link, denominator: Denominator::AtLeast(margin) };
        rules.push((Rule::Perspectron(direction), schedule::step(leak, margin, steps as u64)));
    }
    let count = rules.len() as u32;
    let tasks = (0..count).zip(rules).collect::<Vec<_>>();
    let run = |order: &mut Vec<usize>, (index, (rule, step)): (u32, (Rule, f64))| {
        order.clear();
        order.extend(0..n);
        let mut rng = rng_for_round(streams::POSITIONED_DESCENT, seed, round * count + index);
        let (mut w, mut sum) = (vec![0.0; placed.points.dim()], vec![0.0; placed.points.dim()]);
        let values = placed.points.as_slice();
        let dim = placed.points.dim();
        for t in 0..steps {
            checkpoint_at(t);
            if t % n == 0 {
                order.shuffle(&mut rng);
            }
            let i = order[t % n];
            let f = &values[i * dim..(i + 1) * dim];
            let factor = rule.factor(kernels::dot(f, &w), placed.labels[i]);
            kernels::axpy(-step * factor, f, &mut w);
            project(&mut w);
            if 2 * t >= steps {
                kernels::axpy(1.0, &w, &mut sum);
            }
        }
        let _ = normalise(&mut sum);
        sum
    };
    Ok(threads.map_with(tasks.into_iter(), Vec::new, run))
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_linalg::Points;

    #[test]
    fn two_steps_by_hand() {
        // For λ = 1/4 and T = 4, the step size is 1/(0.75·2) = 2/3.
        let mut descent = Descent::new(2, 0.125, 0.25, 4).unwrap();
        // At w = 0 the value is 0, so the predicted sign is +1. The label -1 makes this an error, with slope 3/4.
        descent.take(Some(&[1.0, 0.0]), Label::Negative);
        assert_eq!(descent.w, [-0.5, 0.0]);
        descent.take(None, Label::Positive);
        // The value -0.5 is an error for the label +1. The slope is -3/4, and w is 0 again.
        descent.take(Some(&[1.0, 0.0]), Label::Positive);
        assert!(descent.w[0].abs() < 1e-15);
        // The iterates before the three steps are 0, -1/2 and -1/2.
        assert_eq!(descent.sum, [-1.0, 0.0]);
        assert_eq!(descent.direction(), [-1.0, 0.0]);
        let unmoved = Descent::new(2, 0.125, 0.25, 4).unwrap();
        assert_eq!(unmoved.direction(), [0.0, 0.0]);
    }

    #[test]
    fn iterates_stay_in_the_ball() {
        let mut descent = Descent::new(1, 0.0, 0.5, 1).unwrap();
        for _ in 0..5 {
            descent.take(Some(&[1.0]), Label::Positive);
            assert!(descent.w[0].abs() <= 1.0);
        }
        let mut w = [3.0, 4.0];
        project(&mut w);
        assert_eq!(w, [0.6, 0.8]);
    }

    #[test]
    fn every_descent_finds_a_clean_direction_whatever_the_threads() {
        let angle = |i: usize| i as f64 * 0.7;
        let rows: Vec<[f64; 2]> = (0..200).map(|i| [angle(i).cos(), angle(i).sin()]).collect();
        let points = Points::from_rows(&rows).unwrap();
        let labels: Vec<Label> = rows.iter().map(|x| Label::from_sign(x[1])).collect();
        let placed = Placed { points, labels, left: 200 };
        let all = directions(&placed, 0.1, 1, 0, Threads::ONE).unwrap();
        assert_eq!(all.len(), 1 + MARGINS.len());
        assert!(all.iter().all(|v| v[1] > 0.97), "{all:?}");
        assert_eq!(directions(&placed, 0.1, 1, 0, Threads::all()).unwrap(), all);
        assert_ne!(directions(&placed, 0.1, 1, 1, Threads::ONE).unwrap(), all);
    }

    /// Repeats the four practical descents, directly from the formulas. For a point with label y, the factor of
    /// LeakyReLU_λ is -(1 - λ)y if the prediction is wrong, and -λy if it is right. The factor of a Perspectron is g =
    /// (β sign(w·f) - y)/max(|w·f|, γ) with β = 1 - 2λ, and its step size is γ/(2√T (1-λ)).
    #[test]
    fn practical_directions_are_those_of_the_formulas() {
        let (leak, seed, round) = (0.2, 7, 3u32);
        let rows = [[1.0, 0.0], [0.6, 0.8], [-0.8, 0.6]];
        let labels = [Label::Positive, Label::Negative, Label::Negative];
        let points = Points::from_rows(&rows).unwrap();
        let placed = Placed { points, labels: labels.to_vec(), left: 3 };
        let found = directions(&placed, leak, seed, round, Threads::ONE).unwrap();
        let steps = 60;
        let root = (steps as f64).sqrt();
        for (index, direction) in (0u32..).zip(&found) {
            let mut rng = rng_for_round(streams::POSITIONED_DESCENT, seed, round * 4 + index);
            let mut order = [0, 1, 2];
            let (mut w, mut sum) = ([0.0f64; 2], [0.0; 2]);
            for t in 0..steps {
                if t % 3 == 0 {
                    order.shuffle(&mut rng);
                }
                let (f, y) = (rows[order[t % 3]], labels[order[t % 3]].as_f64());
                let value = f[0] * w[0] + f[1] * w[1];
                let sign = if value >= 0.0 { 1.0 } else { -1.0 };
                let (step, factor) = match index {
                    0 if sign == y => (1.0 / ((1.0 - leak) * root), -leak * y),
                    0 => (1.0 / ((1.0 - leak) * root), -(1.0 - leak) * y),
                    _ => {
                        let margin: f64 = [0.2, 0.05, 0.01][index as usize - 1];
                        let g = ((1.0 - 2.0 * leak) * sign - y) / value.abs().max(margin);
                        (margin / (2.0 * root * (1.0 - leak)), g)
                    }
                };
                for k in 0..2 {
                    w[k] -= step * factor * f[k];
                }
                let length = w[0].hypot(w[1]).max(1.0);
                for k in 0..2 {
                    w[k] /= length;
                    sum[k] += if t >= 30 { w[k] } else { 0.0 };
                }
            }
            let length = sum[0].hypot(sum[1]);
            for k in 0..2 {
                assert!(
                    (direction[k] - sum[k] / length).abs() < 1e-9,
                    "{index}: {direction:?} {sum:?}"
                );
            }
        }
    }
}
