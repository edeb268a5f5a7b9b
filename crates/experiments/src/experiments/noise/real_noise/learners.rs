//! The learners of the comparison, trained on noisy examples only.

use super::workload::{FAILURE, FOLDS, Part};
use crate::experiments::common::*;
use halfspaces_linalg::{Classifier, FitSample, Label, Params, PointSet};
use halfspaces_online::{AveragedPerceptron, OnlineLearner};
use halfspaces_pac::{
    Ckmy, Dgt, ErrorCount, LinearSvm, LogisticRegression, SampleFit, SamplePerspectron,
};
use rand::seq::SliceRandom;

/// Number of passes of the perceptrons over their training examples.
const PASSES: u64 = 5;
/// Noise rates tried by the learners that need η. The fit with the fewest errors on held-out noisy labels is used. For
/// every rate, η + ε is below 1/2.
const TRIED_NOISE: [f64; 3] = [0.1, 0.25, 0.4];
/// γ, ε and the maximum number of steps of CKMY20, fixed in advance to bound its time.
const CKMY: (f64, f64, u64) = (0.05, 0.05, 100);
/// γ, ε and the maximum number of steps of DGT19, fixed in advance to bound its time.
const DGT: (f64, f64, u64) = (0.2, 0.09, 1000);
/// Maximum number of examples that DGT19 sees.
const SEEN_BY_DGT: usize = 5000;

/// The predictions of a learner on a test fold.
pub(super) struct Predicted {
    pub labels: Vec<Label>,
    /// The reported error bound at level δ/5. The bounds of all five folds of a trial then hold with probability 1 - δ.
    pub bound: Option<f64>,
}

/// A function from a training fold and a test fold to predictions on the test fold.
pub(super) type Learner = Box<dyn Fn(&Part, &Part) -> Result<Predicted, Failure>>;

/// A learner and its colour.
pub(super) struct Entry {
    pub name: &'static str,
    pub colour: Colour,
    /// Makes the learner from a seed.
    pub learner: fn(u64) -> Learner,
}

pub(super) const LOGISTIC: &str = "logistic";
pub(super) const SVM: &str = "SVM";
/// The constant prediction of the majority label.
pub(super) const MAJORITY: &str = "majority";

/// All learners, in the order of the tables.
pub(super) const LEARNERS: [Entry; 7] = [
    Entry { name: LOGISTIC, colour: Colour::Sky, learner: |seed| only_labels(logistic, seed) },
    Entry { name: SVM, colour: Colour::Grey, learner: |seed| only_labels(svm, seed) },
    Entry {
        name: "averaged perceptron",
        colour: Colour::Ink,
        learner: |seed| only_labels(averaged, seed),
    },
    Entry { name: "CKMY20", colour: Colour::Purple, learner: |seed| only_labels(ckmy, seed) },
    Entry { name: "DGT19", colour: Colour::Orange, learner: |seed| only_labels(dgt, seed) },
    Entry {
        name: "Perspectron",
        colour: Colour::Blue,
        learner: |seed| {
            Box::new(move |training, test| {
                let fit = perspectron(training, seed)?;
                let labels = fit.label_all(&test.unit)?;
                Ok(Predicted { labels, bound: Some(fit.hoeffding_sum(FAILURE / FOLDS as f64)) })
            })
        },
    },
    Entry { name: MAJORITY, colour: Colour::Green, learner: |seed| only_labels(majority, seed) },
];

/// A function from a training fold, a test fold and a seed to labels for the test fold.
type Predict = fn(&Part, &Part, u64) -> Result<Vec<Label>, Failure>;

/// A learner without an error bound.
fn only_labels(predict: Predict, seed: u64) -> Learner {
    Box::new(move |training, test| {
        Ok(Predicted { labels: predict(training, test, seed)?, bound: None })
    })
}

pub(super) fn perspectron(part: &Part, seed: u64) -> Result<SampleFit, Failure> {
    let learner = SamplePerspectron::params().lift(false).passes(PASSES).seed(seed).check()?;
    Ok(learner.fit(&part.unit, &part.labels)?)
}

fn logistic(training: &Part, test: &Part, _: u64) -> Result<Vec<Label>, Failure> {
    let learner = LogisticRegression::params().tolerance(1e-6).check()?;
    Ok(learner.fit(&training.plain, &training.labels)?.label_all(&test.plain)?)
}

fn svm(training: &Part, test: &Part, seed: u64) -> Result<Vec<Label>, Failure> {
    let learner = LinearSvm::params().tolerance(1e-2).max_passes(50).seed(seed).check()?;
    Ok(learner.fit(&training.plain, &training.labels)?.label_all(&test.plain)?)
}

fn majority(training: &Part, test: &Part, _: u64) -> Result<Vec<Label>, Failure> {
    let sum: f64 = training.labels.iter().map(|y| y.as_f64()).sum();
    Ok(vec![Label::from_sign(sum); test.labels.len()])
}

fn averaged(training: &Part, test: &Part, seed: u64) -> Result<Vec<Label>, Failure> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut learner = AveragedPerceptron::new(training.unit.dim())?;
    let mut order: Vec<usize> = (0..training.labels.len()).collect();
    for _ in 0..PASSES {
        order.shuffle(&mut rng);
        for &i in &order {
            let x = training.unit.row(i).ok_or("a row index beyond the training fold")?;
            learner.observe(x, training.labels[i])?;
        }
    }
    Ok(learner.average()?.label_all(&test.unit)?)
}

/// Returns the fit with the fewest errors on held-out labels among the fits for the tried noise rates. The held-out
/// labels are as noisy as the others.
fn best_rate<M>(fit: impl Fn(f64) -> Result<(usize, M), Failure>) -> Result<M, Failure> {
    let mut fits = TRIED_NOISE.into_iter().map(fit).collect::<Result<Vec<_>, _>>()?;
    let best = (0..fits.len()).min_by_key(|at| fits[*at].0).ok_or("no noise rate to try")?;
    Ok(fits.swap_remove(best).1)
}

fn ckmy(training: &Part, test: &Part, seed: u64) -> Result<Vec<Label>, Failure> {
    let (margin, excess, steps) = CKMY;
    let best = best_rate(|noise| {
        let learner =
            Ckmy::params(noise, margin).excess(excess).max_steps(steps).seed(seed).check()?;
        let fit = learner.fit(&training.unit, &training.labels)?;
        Ok((fit.validation().errors(), fit))
    })?;
    Ok(best.label_all(&test.unit)?)
}

/// Runs DGT19 with a fifth of the examples held out for the choice of the noise rate, as in [`ckmy`]. The examples are
/// in random order.
fn dgt(training: &Part, test: &Part, seed: u64) -> Result<Vec<Label>, Failure> {
    let (margin, excess, steps) = DGT;
    let cut = training.labels.len() / FOLDS;
    let (held_labels, kept_labels) = training.labels.split_at(cut);
    let kept_labels = &kept_labels[..kept_labels.len().min(SEEN_BY_DGT)];
    let held: Vec<usize> = (0..cut).collect();
    let kept: Vec<usize> = (cut..cut + kept_labels.len()).collect();
    let (held, kept) = (training.unit.select(&held)?, training.unit.select(&kept)?);
    let best = best_rate(|noise| {
        let learner =
            Dgt::params(noise, margin).excess(excess).max_steps(steps).seed(seed).check()?;
        let fit = learner.fit(&kept, kept_labels)?;
        Ok((ErrorCount::count(&fit, &held, held_labels)?.errors(), fit))
    })?;
    Ok(best.label_all(&test.unit)?)
}
