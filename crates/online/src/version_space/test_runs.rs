//! Runs that the tests of several centres share.

use super::learner::{Centre, VersionSpace};
use crate::{OnlineLearner, SmallestMarginMistake, Transcript, run};
use halfspaces_data::{MarginBall, Marginal, Realizable, random_target};
use halfspaces_linalg::{Label, PointSet, Points};

/// A run against the adversary on 400 separable points of norm 1.
pub(super) fn against_the_adversary<C: Centre>(
    centre: C,
    seed: u64,
) -> (Realizable<Points>, VersionSpace<C>, Transcript) {
    let target = random_target(centre.dim(), seed).unwrap();
    let ball = MarginBall::new(&target, 0.02).unwrap().sample(400, seed + 9).unwrap();
    let pool = Realizable::new(ball.normalised().unwrap(), target).unwrap();
    let adversary = SmallestMarginMistake::new(pool.labels().to_vec());
    let learner = VersionSpace::new(centre);
    let (learner, transcript) = run(learner, pool.points(), pool.labels(), adversary).unwrap();
    (pool, learner, transcript)
}

/// Two points of norm 1, both labelled -1, that confine the version space to a needle of width about `margin`.
pub(super) fn needle(margin: f64) -> (Points, [Label; 2]) {
    let rows = Points::from_rows(&[[margin, 1.0], [margin, -1.0]]).unwrap();
    (rows.normalised().unwrap(), [Label::Negative; 2])
}

/// The learner after a number of passes over three points whose labels no halfspace fits.
pub(super) fn contradicted<C: Centre>(centre: C, passes: usize) -> VersionSpace<C> {
    let mut learner = VersionSpace::new(centre);
    let points = Points::from_rows(&[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]).unwrap();
    let labels = [Label::Positive, Label::Positive, Label::Negative];
    for _ in 0..passes {
        for (x, y) in points.rows().zip(&labels) {
            learner.observe(x, *y).unwrap();
        }
    }
    learner
}
