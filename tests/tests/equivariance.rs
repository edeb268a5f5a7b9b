//! Rotating or rescaling the data does not change the run of a rotation-invariant learner.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use halfspaces_data::{
    Gaussian, LabelledPoints, MarginBall, Marginal, Realizable, Rotation, random_target,
};
use halfspaces_linalg::{Classifier, FitSample, Label, Params, PointSet, Points};
use halfspaces_online::{
    AsGiven, BatchPerceptron, ChainLength, Ellipsoid, Greedy, HardMargin, MarginPerceptron,
    OnlineLearner, Perceptron, SelfDirectedLearner, StrongLearner, TwoChains, VersionSpaceGreedy,
    bounds, label_pool, run,
};
use halfspaces_pac::{LinearSvm, LogisticRegression};
use proptest::prelude::*;

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

fn mistakes_at(points: &Points, pool: &Realizable<Points>) -> (Vec<usize>, Perceptron, f64) {
    let learner = Perceptron::new(points.dim()).unwrap();
    let (learner, transcript) = run(learner, points, pool.labels(), AsGiven::new()).unwrap();
    let mistakes = transcript.rounds().iter().filter(|r| r.is_mistake()).map(|r| r.index).collect();
    // Skips the first round, in which w = 0.
    let values = transcript.rounds().iter().skip(1).map(|r| r.prediction.value.abs());
    (mistakes, learner, values.fold(f64::INFINITY, f64::min))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn rotations_and_powers_of_two(seed in 0u64..1000, dim in 1usize..12, power in -60i32..60) {
        let target = random_target(dim, seed).unwrap();
        let points = MarginBall::new(&target, 0.05).unwrap().sample(150, seed + 1).unwrap();
        let pool = Realizable::new(points, target).unwrap();
        let (played, learner, surest) = mistakes_at(pool.points(), &pool);

        // Scaling by a power of two causes no rounding, so the mistakes are identical.
        let scale = 2f64.powi(power);
        let scaled = pool.points().as_slice().iter().map(|v| v * scale).collect();
        prop_assert_eq!(&played, &mistakes_at(&Points::new(scaled, dim).unwrap(), &pool).0);

        // A rotation causes rounding errors of about 1e-13: the mistakes are the same if no value is that close to 0.
        let rotation = Rotation::random(dim, seed).unwrap();
        let rotated = rotation.apply(pool.points()).unwrap();
        let (turned, turned_learner, _) = mistakes_at(&rotated, &pool);
        prop_assume!(surest > 1e-9 || played.is_empty());
        prop_assert_eq!(&played, &turned);
        if let Ok(halfspace) = learner.halfspace() {
            let expected = rotation.apply_to_halfspace(&halfspace).unwrap();
            let apart = distance(expected.normal(), turned_learner.weights());
            prop_assert!(apart <= 1e-9, "{}", apart);
        }
        let bound = bounds::perceptron_mistakes(pool.points().max_norm(), 1.0, pool.margin());
        prop_assert!(turned.len() as f64 <= bound && played.len() as f64 <= bound);

        // The rotated halfspace labels the rotated points in the same way, except within the rounding error.
        let margin = MarginPerceptron::params().check().unwrap();
        let fit = margin.fit(pool.points(), pool.labels()).unwrap();
        let turned_fit = rotation.apply_to_halfspace(fit.halfspace()).unwrap();
        prop_assert_eq!(turned_fit.label_all(&rotated).unwrap(), pool.labels());
    }
}

/// The questions in their order, with the predictions.
fn asked<L: SelfDirectedLearner>(
    learner: L,
    points: &Points,
    labels: &[Label],
) -> Vec<(usize, Label)> {
    let (_, transcript) = label_pool(learner, points, labels).unwrap();
    transcript.rounds().iter().map(|round| (round.index, round.prediction.label)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// A self-directed learner depends only on directions: scaling each point by its own power of two changes neither a
    /// question nor a prediction.
    #[test]
    fn lengths_do_not_matter_to_self_directed_learners(
        seed in 0u64..1000,
        powers in prop::collection::vec(-30i32..30, 60),
    ) {
        let points = Gaussian::new(4, 10.0).unwrap().sample(60, seed).unwrap();
        let labels = random_target(4, seed + 1).unwrap().label_all(&points).unwrap();
        let scaled = points.rows().zip(&powers);
        let scaled = scaled.flat_map(|(x, p)| x.as_slice().iter().map(move |v| v * 2f64.powi(*p)));
        let scaled = Points::new(scaled.collect(), 4).unwrap();
        let same = |name: &str, a: Vec<(usize, Label)>, b: Vec<(usize, Label)>| {
            prop_assert_eq!(a.len(), 60, "{}", name);
            prop_assert_eq!(a, b, "{}", name);
            Ok(())
        };
        let both = [&points, &scaled];
        let [a, b] = both.map(|p| asked(Greedy::new(4).unwrap(), p, &labels));
        same("greedy", a, b)?;
        let chains = TwoChains::new(4, ChainLength::Fixed(6), seed).unwrap();
        let [a, b] = both.map(|p| asked(chains.clone(), p, &labels));
        same("chains", a, b)?;
        let strong = StrongLearner::recommended(4, seed).unwrap();
        let [a, b] = both.map(|p| asked(strong.clone(), p, &labels));
        same("strong", a, b)?;
        let hard = VersionSpaceGreedy::new(HardMargin::new(4).unwrap());
        let [a, b] = both.map(|p| asked(hard.clone(), p, &labels));
        same("hard margin", a, b)?;
        let ellipsoid = VersionSpaceGreedy::new(Ellipsoid::new(4).unwrap());
        let [a, b] = both.map(|p| asked(ellipsoid.clone(), p, &labels));
        same("ellipsoid", a, b)?;
    }

    /// The optimum does not depend on the order of the examples: the fits to a sample and to its permutation differ by
    /// at most the sum of their certified distances to the optimum.
    #[test]
    fn the_order_of_a_sample_does_not_matter_to_a_minimum(
        seed in 0u64..1000,
        order in Just((0..80usize).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let points = Gaussian::new(3, 3.0).unwrap().sample(80, seed).unwrap();
        let mut labels = random_target(3, seed + 1).unwrap().label_all(&points).unwrap();
        labels[..8].iter_mut().for_each(|y| *y = -*y);
        let permuted = points.select(&order).unwrap();
        let permuted_labels: Vec<Label> = order.iter().map(|i| labels[*i]).collect();

        let svm = LinearSvm::params().check().unwrap();
        let (a, b) = (svm.fit(&points, &labels), svm.fit(&permuted, &permuted_labels));
        let (a, b) = (a.unwrap(), b.unwrap());
        let apart = distance(a.halfspace().weights(), b.halfspace().weights());
        prop_assert!(apart <= a.distance_to_optimum() + b.distance_to_optimum() + 1e-12);

        let logistic = LogisticRegression::params().intercept(false).check().unwrap();
        let (a, b) = (logistic.fit(&points, &labels), logistic.fit(&permuted, &permuted_labels));
        let (a, b) = (a.unwrap(), b.unwrap());
        let apart = distance(a.halfspace().weights(), b.halfspace().weights());
        prop_assert!(apart <= a.gradient_norm() + b.gradient_norm() + 1e-12);
    }
}

#[test]
fn the_batch_perceptron_equals_the_online_one_after_its_last_mistake() {
    let target = random_target(7, 3).unwrap();
    let points = MarginBall::new(&target, 0.1).unwrap().sample(400, 4).unwrap();
    let labels = target.label_all(&points).unwrap();
    let fit = BatchPerceptron::params().check().unwrap().fit(&points, &labels).unwrap();
    assert!(fit.termination().is_converged());
    // Cyclic passes of the online learner are equivalent to the batch learner.
    let mut learner = Perceptron::new(7).unwrap();
    loop {
        let before = learner.updates();
        learner.partial_fit(&mut LabelledPoints::new(&points, &labels).unwrap(), u64::MAX).unwrap();
        if learner.updates() == before {
            break;
        }
    }
    assert_eq!(learner.updates(), fit.updates());
    assert_eq!(learner.weights(), fit.halfspace().normal());
}
