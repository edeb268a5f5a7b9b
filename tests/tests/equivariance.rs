//! Rotating or rescaling the data does not change what a rotation-invariant learner does.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use halfspaces_data::{MarginBall, Marginal, Realizable, Rotation, random_target};
use halfspaces_linalg::{PointSet, Points};
use halfspaces_online::{
    AsGiven, BatchPerceptron, BatchStatus, MarginPerceptron, OnlineLearner, Perceptron, bounds, run,
};
use proptest::prelude::*;

fn mistakes_at(points: &Points, pool: &Realizable<Points>) -> Vec<usize> {
    let learner = Perceptron::new(points.dim()).unwrap();
    let (_, transcript) = run(learner, points, pool.labels(), AsGiven::new()).unwrap();
    transcript.rounds().iter().filter(|r| r.is_mistake()).map(|r| r.index).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn rotations_and_powers_of_two(seed in 0u64..1000, dim in 1usize..12, power in -60i32..60) {
        let target = random_target(dim, seed).unwrap();
        let points = MarginBall::new(&target, 0.05).unwrap().sample(150, seed + 1).unwrap();
        let pool = Realizable::new(points, target).unwrap();
        let played = mistakes_at(pool.points(), &pool);

        // Scaling by a power of two rounds nothing: the very same mistakes.
        let scale = 2f64.powi(power);
        let scaled = pool.points().as_slice().iter().map(|v| v * scale).collect();
        prop_assert_eq!(&played, &mistakes_at(&Points::new(scaled, dim).unwrap(), &pool));

        // A rotation rounds: the first mistake is at w = 0 and the same, and the bound holds.
        let rotation = Rotation::random(dim, seed).unwrap();
        let rotated = rotation.apply(pool.points()).unwrap();
        let turned = mistakes_at(&rotated, &pool);
        prop_assert_eq!(played.first(), turned.first());
        let bound = bounds::perceptron_mistakes(pool.points().max_norm(), 1.0, pool.margin());
        prop_assert!(turned.len() as f64 <= bound && played.len() as f64 <= bound);

        // The rotated halfspace labels the rotated points alike, up to the margin lost to rounding.
        let learner = MarginPerceptron::params().check().unwrap();
        let fit = learner.fit(pool.points(), pool.labels()).unwrap();
        let turned_fit = rotation.apply_to_halfspace(&fit.halfspace).unwrap();
        prop_assert_eq!(turned_fit.label_all(&rotated).unwrap(), pool.labels());
    }
}

#[test]
fn the_batch_perceptron_ends_where_the_online_one_makes_no_more_mistakes() {
    let target = random_target(7, 3).unwrap();
    let points = MarginBall::new(&target, 0.1).unwrap().sample(400, 4).unwrap();
    let labels = target.label_all(&points).unwrap();
    let fit = BatchPerceptron::params().check().unwrap().fit(&points, &labels).unwrap();
    assert_eq!(fit.status, BatchStatus::Converged);
    // Cyclic passes of the online learner are the batch learner.
    let mut learner = Perceptron::new(7).unwrap();
    loop {
        let before = learner.updates();
        for (x, y) in points.rows().zip(&labels) {
            learner.observe(x, *y).unwrap();
        }
        if learner.updates() == before {
            break;
        }
    }
    assert_eq!(learner.updates(), fit.updates);
    assert_eq!(learner.weights(), fit.halfspace.normal());
}
