//! The learners on the pools of one trial.

use super::workload::{Configuration, Count, Learner, Outcome};
use crate::experiments::common::*;
use halfspaces_data::{Marginal, UnitSphere, random_target_with_rng};
use halfspaces_linalg::{Halfspace, Label, PointSet, Points, RowView, kernels, norm, normalise};
use halfspaces_online::{
    CentreOfGravity, ChainLength, Greedy, HardMargin, Perceptron, Round, SampledGreedy,
    SelfDirectedLearner, TwoChains, VersionSpace, VersionSpaceGreedy, VolumetricCentre, label_pool,
};

/// The tangent of the angle between `w` and the unit vector `target`; negative for an angle beyond π/2.
fn tangent(w: &[f64], target: &[f64]) -> f64 {
    let along = kernels::dot(w, target);
    let mut across = w.to_vec();
    kernels::axpy(-along, target, &mut across);
    norm(&across) / along
}

/// Makes the update w -= (w · x) x and normalises `w`.
fn project(x: &[f64], w: &mut [f64]) {
    let value = kernels::dot(w, x);
    kernels::axpy(-value, x, w);
    assert!(normalise(w), "uniform points are parallel to w with probability 0");
}

/// Runs the start of Algorithm 1 (the sum of y x over 4d points) and then its update, with the points in random order.
fn random_order(points: &Points, labels: &[Label]) -> usize {
    let mut w = vec![0.0; points.dim()];
    let mut mistakes = 0;
    for (i, (x, y)) in points.rows().zip(labels).enumerate() {
        let wrong = Label::from_sign(x.dot(&w)) != *y;
        mistakes += usize::from(wrong);
        if i < 4 * points.dim() {
            kernels::axpy(y.as_f64(), x.as_slice(), &mut w);
        } else if wrong {
            project(x.as_slice(), &mut w);
        }
    }
    mistakes
}

/// The largest ratio of tan²θ' + r² tan²θ to tan²θ at a mistake of the greedy learner, and the number of mistakes at θ
/// < π/2. Here θ is the angle before the mistake, θ' the angle after it, and r = |w · x|/sin θ.
fn largest_rise(
    points: &Points,
    labels: &[Label],
    mistakes: &[Round],
    target: &Halfspace,
) -> (f64, usize) {
    let (mut w, mut largest, mut acute) = (vec![0.0; points.dim()], 0.0f64, 0);
    let row = |i: usize| match points.row(i) {
        Some(x) => x.as_slice(),
        None => unreachable!("the rounds of greedy refer to points of the pool"),
    };
    kernels::axpy(labels[0].as_f64(), row(0), &mut w);
    for round in mistakes.iter().filter(|round| round.index != 0) {
        let before = tangent(&w, target.normal());
        let margin = kernels::dot(&w, row(round.index)) / norm(&w);
        project(row(round.index), &mut w);
        if before >= 0.0 {
            acute += 1;
            let after = tangent(&w, target.normal());
            // r² tan²θ = |w · x|² (1 + tan²θ).
            let removed = margin * margin * (1.0 + before * before);
            // An angle beyond π/2 counts as infinite.
            let share = if after >= 0.0 {
                (after * after + removed) / (before * before)
            } else {
                f64::INFINITY
            };
            // The product w · x and the part of w orthogonal to the target are exact up to 1e-16. This error matters at
            // small angles.
            largest = largest.max((share / (1.0 + 1e-15 / before)).min(f64::MAX));
        }
    }
    (largest, acute)
}

fn self_directed<L: SelfDirectedLearner>(
    learner: L,
    points: &Points,
    labels: &[Label],
) -> Result<usize, Failure> {
    Ok(label_pool(learner, points, labels)?.1.mistakes())
}

/// Runs every learner on every pool up to its size limit.
pub(super) fn label_pools(
    setting: &Configuration,
    rng: &mut ChaCha8Rng,
) -> Result<Outcome, Failure> {
    let d = setting.dim;
    let target = random_target_with_rng(d, rng)?;
    let all = UnitSphere::new(d)?.sample_with_rng(largest(&setting.sizes)?, rng)?;
    let seed = rng.random();
    let mut outcome = Outcome { counts: Vec::new(), rise: 0.0, acute: 0, passes: 0.0 };
    for (&n, (points, labels)) in setting.sizes.iter().zip(nested(&all, &target, &setting.sizes)?) {
        let mut count = |learner, mistakes| {
            outcome.counts.push(Count { learner, points: n, mistakes });
        };
        let greedy = Greedy::simulate(&points, &labels)?;
        count(Learner::Greedy, greedy.mistakes().len());
        count(Learner::RandomOrder, random_order(&points, &labels));
        count(Learner::Perceptron, mistakes(&mut Perceptron::new(d)?, &points, &labels)?);
        if n <= setting.most_gravity {
            let mut learner = VersionSpace::new(CentreOfGravity::new(d, seed)?);
            count(Learner::Gravity, mistakes(&mut learner, &points, &labels)?);
        }
        if n <= setting.most_centres {
            let learner = VersionSpaceGreedy::new(HardMargin::new(d)?);
            count(Learner::HardMargin, self_directed(learner, &points, &labels)?);
            let learner = VersionSpaceGreedy::new(VolumetricCentre::new(d)?);
            count(Learner::Volumetric, self_directed(learner, &points, &labels)?);
        }
        if n <= setting.most_sampled {
            let learner = SampledGreedy::new(d, seed)?;
            count(Learner::Sampled, self_directed(learner, &points, &labels)?);
        }
        for (learner, factor) in [(Learner::Chains2, 2.0), (Learner::Chains4, 4.0)] {
            let length = ChainLength::Practical { factor };
            let run = TwoChains::new(d, length, seed)?.simulate(&points, &labels)?;
            count(learner, run.mistakes().len());
        }
        let (rise, acute) = largest_rise(&points, &labels, greedy.mistakes(), &target);
        outcome.rise = outcome.rise.max(rise);
        outcome.acute += acute;
        outcome.passes = greedy.passes();
    }
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rise_beyond_the_right_angle_is_seen() {
        // The second point is classified correctly, so the update on it is harmful.
        let points = Points::from_rows(&[[0.6, 0.8], [1.0, 0.0]]).unwrap();
        let target = Halfspace::new(vec![1.0, -0.1]).unwrap().normalised().unwrap();
        let labels = [Label::Positive; 2];
        let prediction = halfspaces_online::Prediction::from_value(0.6);
        let harm = Round { index: 1, prediction, truth: Label::Negative };
        let (rise, acute) = largest_rise(&points, &labels, &[harm], &target);
        assert_eq!((rise, acute), (f64::MAX, 1));
    }

    #[test]
    fn tangents_are_those_of_the_angle() {
        let target = [1.0, 0.0];
        assert!((tangent(&[1.0, 1.0], &target) - 1.0).abs() < 1e-15);
        assert!((tangent(&[1.0, 1e-9], &target) - 1e-9).abs() < 1e-24);
        assert!(tangent(&[-1.0, 0.5], &target) < 0.0);
    }
}
