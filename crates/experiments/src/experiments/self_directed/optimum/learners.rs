//! The optimum of a pool, and the learners on each of its dichotomies.

use super::workload::{Averages, Configuration, Count, Learner, Outcome};
use crate::Failure;
use crate::experiments::common::mistakes;
use halfspaces_linalg::{Label, Params, PointSet, Points};
use halfspaces_online::{
    CentreOfGravity, ChainLength, Dichotomies, Goal, Greedy, HalfspaceClass, Halving, HardMargin,
    Labelling, LabellingGame, OnlineLearner, Perceptron, SampledGreedy, SelfDirectedLearner, Start,
    StrongLearner, TwoChains, VersionSpaceGreedy, VolumetricCentre, label_pool,
};
use rand::RngExt;
use rand::rngs::ChaCha8Rng;

/// Number of rounds after which the lower and upper bounds on the value of random order with a fixed target differ by
/// about 0.5 %.
const FIXED_TARGET_ROUNDS: usize = 30;

pub(super) fn trial(setting: &Configuration, rng: &mut ChaCha8Rng) -> Result<Outcome, Failure> {
    let pool = setting.kind.draw(setting.dim, setting.points, rng)?;
    let dichotomies = Dichotomies::new(&pool)?;
    let game = LabellingGame::new(&dichotomies);
    let averages = if setting.learners {
        Some(Averages {
            random: game.random_order(),
            random_fixed: game.random_order_fixed_target(FIXED_TARGET_ROUNDS),
            random_average: game.random_order_on_average(),
            own_average: game.self_directed_on_average(),
            counts: counts(&pool, &dichotomies, rng.random())?,
        })
    } else {
        None
    };
    Ok(Outcome {
        dichotomies: dichotomies.len(),
        own: game.self_directed(),
        worst: game.worst_order(),
        halving: halving(&pool, &dichotomies)?,
        averages,
    })
}

/// Runs halving over the dichotomies against an adversary. The adversary presents the point that splits the remaining
/// dichotomies most evenly and gives the label opposite to the prediction.
fn halving(pool: &Points, dichotomies: &Dichotomies) -> Result<usize, Failure> {
    let mut learner = Halving::new(HalfspaceClass::new(dichotomies.halfspaces()?)?)?;
    let mut left: Vec<Vec<Label>> = dichotomies.labels().collect();
    let mut mistakes = 0;
    loop {
        let fewer = |i: usize| {
            let positive = left.iter().filter(|labels| labels[i] == Label::Positive).count();
            positive.min(left.len() - positive)
        };
        // Ties go to the smallest index.
        let Some((even, i)) = (0..pool.len()).rev().map(|i| (fewer(i), i)).max_by_key(|(e, _)| *e)
        else {
            unreachable!("a pool has points")
        };
        if even == 0 {
            return Ok(mistakes);
        }
        let x = match pool.row(i) {
            Some(x) => x,
            None => unreachable!("{i} is a point of the pool"),
        };
        let against = -learner.guess(x)?.label;
        learner.observe(x, against)?;
        left.retain(|labels| labels[i] == against);
        mistakes += 1;
    }
}

/// Runs every learner on every dichotomy.
fn counts(pool: &Points, dichotomies: &Dichotomies, seed: u64) -> Result<Vec<Count>, Failure> {
    let d = pool.dim();
    let strong = || StrongLearner::new(d, Goal::Perfect, 0.05, seed);
    let chains = || TwoChains::new(d, ChainLength::Practical { factor: 1.0 }, seed);
    let over = |learner: Learner, run: &dyn Fn(&[Label]) -> Result<usize, Failure>| {
        let (mut worst, mut sum) = (0, 0);
        for labels in dichotomies.labels() {
            let mistakes = run(&labels)?;
            worst = worst.max(mistakes);
            sum += mistakes;
        }
        let mean = sum as f64 / dichotomies.len() as f64;
        Ok::<Count, Failure>(Count { learner, worst, mean })
    };
    Ok(vec![
        over(Learner::Sampled, &|labels| chosen(SampledGreedy::new(d, seed)?, pool, labels))?,
        over(Learner::Gravity, &|labels| {
            chosen(VersionSpaceGreedy::new(CentreOfGravity::new(d, seed)?), pool, labels)
        })?,
        over(Learner::HardMargin, &|labels| {
            chosen(VersionSpaceGreedy::new(HardMargin::new(d)?), pool, labels)
        })?,
        over(Learner::Volumetric, &|labels| {
            chosen(VersionSpaceGreedy::new(VolumetricCentre::new(d)?), pool, labels)
        })?,
        over(Learner::Greedy, &|labels| chosen(Greedy::new(d)?, pool, labels))?,
        over(Learner::Strong, &|labels| chosen(strong()?, pool, labels))?,
        over(Learner::StrongRandom, &|labels| {
            chosen(strong()?.with_start(Start::Random), pool, labels)
        })?,
        over(Learner::Chains, &|labels| chosen(chains()?, pool, labels))?,
        over(Learner::SurestFirst, &|labels| {
            chosen(Labelling::params(2).check()?.learner()?, pool, labels)
        })?,
        // The points of a pool are independent draws, so their order is already random.
        over(Learner::Perceptron, &|labels| mistakes(&mut Perceptron::new(d)?, pool, labels))?,
    ])
}

fn chosen<L: SelfDirectedLearner>(
    learner: L,
    pool: &Points,
    labels: &[Label],
) -> Result<usize, Failure> {
    Ok(label_pool(learner, pool, labels)?.1.mistakes())
}
