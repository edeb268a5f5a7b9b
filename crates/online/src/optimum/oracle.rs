//! Compares every learner that chooses the order with the exact optimum. No learner makes fewer mistakes than the
//! optimum, either in the worst case or on average over the dichotomies of a pool.

use super::{Dichotomies, LabellingGame};
use crate::{
    AnswerStatus, CentreOfGravity, ChainLength, Goal, Greedy, HardMargin, Labelling, OnlineError,
    Pool, Prediction, Question, Round, SampledGreedy, SelfDirectedLearner, Start, StrongLearner,
    TwoChains, VersionSpaceGreedy, VolumetricCentre, label_pool,
};
use halfspaces_data::{Clusters, Gaussian, Marginal, StudentT, UnitSphere};
use halfspaces_linalg::{Label, Params, PointSet, Points};

/// Pools from several distributions: a Gaussian, the sphere, tight clusters, heavy tails, the cube.
fn pools(n: usize, d: usize, seed: u64) -> Vec<(&'static str, Points)> {
    let gaussian = Gaussian::new(d, 1.0).unwrap();
    let centres = gaussian.sample(3, seed + 100).unwrap();
    let mut corners: Vec<_> = (0..1usize << d)
        .map(|bits| (0..d).map(|i| if bits >> i & 1 == 1 { 1.0 } else { -1.0 }).collect::<Vec<_>>())
        .collect();
    corners.truncate(n);
    vec![
        ("gaussian", gaussian.sample(n, seed).unwrap()),
        ("sphere", UnitSphere::new(d).unwrap().sample(n, seed).unwrap()),
        ("clusters", Clusters::new(centres, 0.05).unwrap().sample(n, seed).unwrap()),
        ("heavy", StudentT::new(d, 1.0, 1.0).unwrap().sample(n, seed).unwrap()),
        ("cube", Points::from_rows(&corners).unwrap()),
    ]
}

/// The largest and the mean number of mistakes over all dichotomies.
fn mistakes<L: SelfDirectedLearner>(
    pool: &Points,
    dichotomies: &Dichotomies,
    make: impl Fn() -> L,
) -> (usize, f64) {
    let counts = dichotomies.labels().map(|labels| {
        let (_, transcript) = label_pool(make(), pool, &labels).unwrap();
        assert_eq!(
            transcript.len(),
            pool.len(),
            "only learners that label every point are compared"
        );
        transcript.mistakes()
    });
    let counts: Vec<usize> = counts.collect();
    let mean = counts.iter().sum::<usize>() as f64 / counts.len() as f64;
    (counts.into_iter().max().unwrap(), mean)
}

#[test]
fn no_self_directed_learner_beats_the_optimum() {
    for (n, d) in [(10, 2), (7, 3)] {
        for (kind, pool) in pools(n, d, 1) {
            let dichotomies = Dichotomies::new(&pool).unwrap();
            let game = LabellingGame::new(&dichotomies);
            let optimum = (game.self_directed(), game.self_directed_on_average());
            let check = |name: &str, (worst, mean): (usize, f64)| {
                let beaten = worst < optimum.0 || mean < optimum.1 - 1e-9;
                assert!(!beaten, "{name} on {kind}: {worst}, {mean} against {optimum:?}");
            };

            check("greedy", mistakes(&pool, &dichotomies, || Greedy::new(d).unwrap()));
            let hard = || VersionSpaceGreedy::new(HardMargin::new(d).unwrap());
            check("hard margin", mistakes(&pool, &dichotomies, hard));
            let volumetric = || VersionSpaceGreedy::new(VolumetricCentre::new(d).unwrap());
            check("volumetric", mistakes(&pool, &dichotomies, volumetric));
            let gravity = || VersionSpaceGreedy::new(CentreOfGravity::new(d, 3).unwrap());
            check("gravity", mistakes(&pool, &dichotomies, gravity));
            let sampled = || SampledGreedy::new(d, 3).unwrap();
            check("sampled", mistakes(&pool, &dichotomies, sampled));
            let chains = || TwoChains::new(d, ChainLength::Practical { factor: 1.0 }, 3).unwrap();
            check("two chains", mistakes(&pool, &dichotomies, chains));
            let strong = || StrongLearner::new(d, Goal::Perfect, 0.1, 3).unwrap();
            check("strong", mistakes(&pool, &dichotomies, strong));
            let random = || strong().with_start(Start::Random);
            check("strong, random starts", mistakes(&pool, &dichotomies, random));
            let surest = || Labelling::params(2).check().unwrap().learner().unwrap();
            check("surest first", mistakes(&pool, &dichotomies, surest));
        }
    }
}

/// A learner that knows the labels in advance is detected.
#[test]
fn a_learner_that_peeks_beats_the_optimum() {
    struct Peeking {
        labels: Vec<Label>,
    }
    impl SelfDirectedLearner for Peeking {
        fn propose<P: PointSet>(
            &mut self,
            pool: &Pool<'_, P>,
        ) -> Result<Option<Question>, OnlineError> {
            let next = pool.unrevealed().next();
            Ok(next.map(|index| {
                let prediction = Prediction::from_value(self.labels[index].as_f64());
                Question { index, prediction }
            }))
        }

        fn learn<P: PointSet>(&mut self, _: &Pool<'_, P>, _: Round) -> Result<(), OnlineError> {
            Ok(())
        }

        fn status<P: PointSet>(&self, _: &Pool<'_, P>) -> AnswerStatus {
            AnswerStatus::Undecided
        }
    }
    for (_, pool) in pools(8, 2, 2) {
        let dichotomies = Dichotomies::new(&pool).unwrap();
        let game = LabellingGame::new(&dichotomies);
        for labels in dichotomies.labels() {
            let (_, run) = label_pool(Peeking { labels: labels.clone() }, &pool, &labels).unwrap();
            assert!(run.mistakes() < game.self_directed());
        }
    }
}
