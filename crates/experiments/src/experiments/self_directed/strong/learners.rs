//! The weak and the strong learner on the pools of one trial.

use super::runs::pair;
use super::searched::searched;
use super::workload::{Configuration, Count, Outcome, draw};
use crate::experiments::common::*;
use crate::workload::Inputs;
use halfspaces_forster::{Accuracy, ForsterTransform};
use halfspaces_linalg::{Classifier, Halfspace, Label, Params, PointSet, Points, normalise};
use halfspaces_online::{Goal, Greedy, Perceptron, Start, StrongLearner, label_pool};
use rand_distr::{Distribution, StandardNormal};

/// Failure probability given to the strong learner.
pub(super) const DELTA: f64 = 0.05;

pub(super) fn weak(
    points: &Points,
    target: &Halfspace,
    rng: &mut ChaCha8Rng,
) -> Result<Outcome, Failure> {
    let accuracy = Accuracy::OneSided(0.5);
    let fit = ForsterTransform::params().accuracy(accuracy).check()?.fit(points)?;
    if !fit.is_resolved() {
        return Err("the Forster transform reached no position of relative accuracy 1/2".into());
    }
    let transform = fit.transform();
    let members = points.select(fit.position().subspace.members())?;
    let inside = transform.apply(&members)?;
    let target = transform.halfspace_inside(target)?.normalised()?;
    let labels = target.label_all(&inside)?;
    let k = transform.inner_dim();
    let mut start: Vec<f64> = (0..k).map(|_| StandardNormal.sample(rng)).collect();
    assert!(normalise(&mut start), "a normal vector is 0 with probability 0");
    Ok(Outcome::Weak { k, runs: pair(&inside, &labels, &target, &start)? })
}

/// Runs one trial.
pub(super) fn learn(
    inputs: &Inputs,
    setting: &Configuration,
    rng: &mut ChaCha8Rng,
) -> Result<Outcome, Failure> {
    match setting {
        Configuration::Weak { kind, dim, points } => {
            let (points, target) = draw(inputs, kind, *dim, *points, rng)?;
            weak(&points, &target, rng)
        }
        Configuration::Searched { goal, dim, moves } => searched(*goal, *dim, *moves, rng),
        Configuration::Reach { kind, dim, points, epsilon } => {
            let (points, target) = draw(inputs, kind, *dim, *points, rng)?;
            reach(&points, &target, *epsilon, rng)
        }
        Configuration::Flat { kind, dim, sizes, epsilon, random, warm } => {
            let (all, target) = draw(inputs, kind, *dim, sizes[1], rng)?;
            flat_means(&all, &target, *sizes, *epsilon, (*random, *warm), rng)
        }
        Configuration::Growth { kind, dim, sizes, epsilon } => {
            let (all, target) = draw(inputs, kind, *dim, largest(sizes)?, rng)?;
            growth(&all, &target, sizes, *epsilon, rng)
        }
        Configuration::Copies { kind, dim, copies, epsilon } => {
            let sizes: Vec<usize> = copies.iter().map(|copies| copies << (dim - 1)).collect();
            let (all, target) = draw(inputs, kind, *dim, largest(&sizes)?, rng)?;
            let mistakes = nested(&all, &target, &sizes)?.into_iter().map(|(points, labels)| {
                mistakes_of(
                    strong(all.dim(), *epsilon, Start::Random, rng.random())?,
                    &points,
                    &labels,
                )
            });
            Ok(Outcome::Copies { mistakes: mistakes.collect::<Result<_, _>>()? })
        }
    }
}

/// The number of mistakes that a learner makes while it labels a pool.
fn mistakes_of(
    learner: StrongLearner,
    points: &Points,
    labels: &[Label],
) -> Result<usize, Failure> {
    Ok(label_pool(learner, points, labels)?.1.mistakes())
}

pub(in super::super) fn strong(
    dim: usize,
    epsilon: f64,
    start: Start,
    seed: u64,
) -> Result<StrongLearner, Failure> {
    Ok(StrongLearner::new(dim, Goal::Strong { epsilon }, DELTA, seed)?.with_start(start))
}

pub(super) fn reach(
    points: &Points,
    target: &Halfspace,
    epsilon: f64,
    rng: &mut ChaCha8Rng,
) -> Result<Outcome, Failure> {
    let labels = target.label_all(points)?;
    let learner = strong(points.dim(), epsilon, Start::Random, rng.random())?;
    let (learner, transcript) = label_pool(learner, points, &labels)?;
    let tally = learner.tally();
    Ok(Outcome::Reach {
        labelled: transcript.len() as f64 / points.len() as f64,
        failed_rounds: tally.rounds - tally.successes.min(tally.rounds) + tally.uncertified,
        mistakes: transcript.mistakes(),
        rounds: tally.rounds,
    })
}

fn flat_means(
    all: &Points,
    target: &Halfspace,
    sizes: [usize; 2],
    epsilon: f64,
    (random, warm): (u64, u64),
    rng: &mut ChaCha8Rng,
) -> Result<Outcome, Failure> {
    let dim = all.dim();
    let pools = nested(all, target, &sizes)?;
    let first = rng.random::<u64>();
    let means = |start, runs: u64| -> Result<Option<[f64; 2]>, Failure> {
        let mut means = [0.0; 2];
        for (mean, (points, labels)) in means.iter_mut().zip(&pools) {
            for run in 0..runs {
                let learner = strong(dim, epsilon, start, first.wrapping_add(run))?;
                *mean += mistakes_of(learner, points, labels)? as f64 / runs as f64;
            }
        }
        Ok((runs > 0).then_some(means))
    };
    let random = means(Start::Random, random)?;
    let warm = means(Start::Warm, warm)?;
    let mut perceptron = [0; 2];
    for (count, (points, labels)) in perceptron.iter_mut().zip(&pools) {
        *count = mistakes(&mut Perceptron::new(dim)?, points, labels)?;
    }
    Ok(Outcome::Flat { dim, random, warm, perceptron })
}

pub(super) fn growth(
    all: &Points,
    target: &Halfspace,
    sizes: &[usize],
    epsilon: f64,
    rng: &mut ChaCha8Rng,
) -> Result<Outcome, Failure> {
    let dim = all.dim();
    let seed = rng.random();
    let mut counts = Vec::new();
    for (&n, (points, labels)) in sizes.iter().zip(nested(all, target, sizes)?) {
        let strong = strong(dim, epsilon, Start::Random, seed)?;
        let recommended = StrongLearner::recommended(dim, seed)?;
        counts.push(Count {
            points: n,
            strong: mistakes_of(strong, &points, &labels)?,
            recommended: mistakes_of(recommended, &points, &labels)?,
            greedy: Greedy::simulate(&points, &labels)?.mistakes().len(),
            perceptron: mistakes(&mut Perceptron::new(dim)?, &points, &labels)?,
        });
    }
    Ok(Outcome::Growth { dim, counts })
}
