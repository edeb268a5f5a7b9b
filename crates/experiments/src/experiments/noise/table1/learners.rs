//! The learners of Table 1 and common learners that are not in it, run on a sample as in practice.

use super::sample_bounds::{self, CKMY_SHARE, DGT_SHARE, GIVEN_MARGIN, HELD_OUT, Problem};
use super::workload::{Configuration, Strategy};
use crate::experiments::common::*;
use halfspaces_linalg::{Classifier, FitSample, Label, Params, PointSet, Points};
use halfspaces_online::AveragedPerceptron;
use halfspaces_pac::{
    Ckmy, CuttingPlane, Ddk, Dgt, LinearSvm, LogisticRegression, Margin, SamplePerspectron,
};

/// δ of the theorems with which the samples are compared. A median above the number of examples of a theorem would
/// refute that theorem.
const DELTA: f64 = 0.1;
/// Caps on the numbers of steps, far below those of the theorems.
const MAX_STEPS: u64 = 300;
const DGT_MAX_STEPS: u64 = 3000;
const SVM_PASSES: u64 = 100;
/// Number of rounds of the cutting-plane learner, divided by d². Except for the logarithm of the margin, this is close
/// to the number in its theorem. The sample is split among the rounds.
const CUTS: usize = 2;

/// The parameters of a learner.
#[derive(Debug, Clone, Copy)]
pub(super) struct Given {
    pub noise: f64,
    pub margin: f64,
    pub excess: f64,
    pub seed: u64,
}

/// A function from a labelled sample and other points to predicted labels for these other points.
pub(super) type Learner = Box<dyn Fn(&Points, &[Label], &Points) -> Result<Vec<Label>, Failure>>;

/// One row of the table.
pub(super) struct Entry {
    pub name: &'static str,
    pub colour: Colour,
    /// Its sample complexity in Table 1. For the cutting-plane learner, it is that of the ellipsoid method, the variant
    /// that is run here.
    pub rate: Option<&'static str>,
    /// Its sample complexity under random classification noise, if that is a separate row.
    pub rate_rcn: Option<&'static str>,
    /// Whether the learner has the parameter ε.
    pub uses_excess: bool,
    /// The number of examples that is proved to suffice; `None` without a proof.
    bound: fn(Strategy, Problem) -> Option<f64>,
    pub learner: fn(Given) -> Result<Learner, Failure>,
}

/// The entry of a learner without a theorem for this noise.
const UNPROVED: Entry = Entry {
    name: "",
    colour: Colour::Ink,
    rate: None,
    rate_rcn: None,
    uses_excess: false,
    bound: |_, _| None,
    learner: averaged,
};

/// All learners, in the order of the tables.
pub(super) const LEARNERS: [Entry; 8] = [
    Entry {
        name: "Perspectron",
        colour: Colour::Blue,
        rate: Some("γ⁻²ε⁻²"),
        bound: |_, problem| Some(sample_bounds::perspectron(problem)),
        learner: perspectron,
        ..UNPROVED
    },
    Entry {
        name: "DDK+23",
        colour: Colour::Green,
        rate: Some("γ⁻²ε⁻² (RCN)"),
        uses_excess: true,
        bound: |strategy, problem| (strategy == Strategy::Rcn).then(|| sample_bounds::ddk(problem)),
        learner: ddk,
        ..UNPROVED
    },
    Entry {
        name: "DGT19",
        colour: Colour::Orange,
        rate: Some("γ⁻³ε⁻⁵"),
        rate_rcn: Some("γ⁻⁴ε⁻² (RCN)"),
        uses_excess: true,
        bound: |_, problem| Some(sample_bounds::dgt(problem)),
        learner: dgt,
    },
    Entry {
        name: "CKMY20",
        colour: Colour::Purple,
        rate: Some("γ⁻⁴ε⁻³"),
        uses_excess: true,
        bound: |_, problem| Some(sample_bounds::ckmy(problem)),
        learner: ckmy,
        ..UNPROVED
    },
    Entry {
        name: "cutting plane",
        colour: Colour::Vermilion,
        rate: Some("γ⁻⁶ε⁻²"),
        uses_excess: true,
        bound: |_, problem| Some(sample_bounds::cutting_plane(problem)),
        learner: cutting_plane,
        ..UNPROVED
    },
    Entry { name: "averaged perceptron", learner: averaged, ..UNPROVED },
    Entry { name: "logistic regression", colour: Colour::Sky, learner: logistic, ..UNPROVED },
    Entry { name: "linear SVM", colour: Colour::Grey, learner: svm, ..UNPROVED },
];

impl Entry {
    /// The number of examples that is proved to suffice for a setting and ε; `None` without a proof.
    pub(super) fn examples(&self, setting: &Configuration, excess: f64) -> Option<f64> {
        let problem = Problem {
            dim: setting.strategy.dim(),
            noise: setting.noise,
            margin: setting.margin,
            excess,
            failure: DELTA,
        };
        (self.bound)(setting.strategy, problem)
    }
}

/// The curves of a setting, each given by the index of a learner in [`LEARNERS`] and ε. A learner with the parameter ε
/// has one curve per value of ε.
pub(super) fn curves(setting: &Configuration) -> Vec<(usize, f64)> {
    let mut curves = Vec::new();
    for (at, entry) in LEARNERS.iter().enumerate() {
        let count = if entry.uses_excess { setting.excesses.len() } else { 1 };
        curves.extend(setting.excesses.iter().take(count).map(|excess| (at, *excess)));
    }
    curves
}

/// The curve by which a learner is judged at this ε; `None` if the setting does not have this ε.
pub(super) fn curve_of(setting: &Configuration, learner: usize, excess: f64) -> Option<usize> {
    let same = |e: f64| !LEARNERS[learner].uses_excess || (e - excess).abs() < 1e-9;
    curves(setting).iter().position(|(at, e)| *at == learner && same(*e))
}

/// A learner that is fitted to the whole sample.
fn on_sample<L>(learner: L) -> Result<Learner, Failure>
where
    L: FitSample + 'static,
    Failure: From<L::Error>,
{
    Ok(Box::new(move |points, labels, others| {
        Ok(learner.fit(points, labels)?.label_all(others)?)
    }))
}

fn perspectron(given: Given) -> Result<Learner, Failure> {
    let learner = SamplePerspectron::params()
        .noise(given.noise)
        .margin(Margin::Known(given.margin))
        .held_out(HELD_OUT)
        .lift(false)
        .seed(given.seed)
        .check()?;
    on_sample(learner)
}

fn ddk(given: Given) -> Result<Learner, Failure> {
    let learner = Ddk::params(given.noise, given.margin)
        .excess(given.excess)
        .max_steps(MAX_STEPS)
        .validation_share(HELD_OUT)
        .seed(given.seed)
        .check()?;
    on_sample(learner)
}

fn dgt(given: Given) -> Result<Learner, Failure> {
    let learner = Dgt::params(given.noise, GIVEN_MARGIN * given.margin)
        .excess(DGT_SHARE * given.excess)
        .max_steps(DGT_MAX_STEPS)
        .seed(given.seed)
        .check()?;
    on_sample(learner)
}

fn ckmy(given: Given) -> Result<Learner, Failure> {
    let learner = Ckmy::params(given.noise, GIVEN_MARGIN * given.margin)
        .excess(CKMY_SHARE * given.excess)
        .max_steps(MAX_STEPS)
        .validation_share(HELD_OUT)
        .seed(given.seed)
        .check()?;
    on_sample(learner)
}

fn cutting_plane(given: Given) -> Result<Learner, Failure> {
    let params = CuttingPlane::params(given.noise, given.margin).excess(given.excess);
    Ok(Box::new(move |points, labels, others| {
        let learner = params.batch(batch(points.len(), points.dim(), given.excess)).check()?;
        Ok(learner.fit(points, labels)?.label_all(others)?)
    }))
}

/// The number of examples per round of the cutting plane: at least 4/ε², and more if the sample allows. With 4/ε²
/// examples, the standard deviation of the estimated error is at most ε/4, the distance between η + ε and the stopping
/// point.
fn batch(n: usize, dim: usize, excess: f64) -> usize {
    let least = (4.0 / excess.powi(2)).ceil() as usize;
    least.max(n / (CUTS * dim * dim)).min(n)
}

fn averaged(_: Given) -> Result<Learner, Failure> {
    Ok(Box::new(|points, labels, others| {
        let mut learner = AveragedPerceptron::new(points.dim())?;
        mistakes(&mut learner, points, labels)?;
        Ok(learner.average()?.label_all(others)?)
    }))
}

fn logistic(_: Given) -> Result<Learner, Failure> {
    let learner = LogisticRegression::params().intercept(false).check()?;
    on_sample(learner)
}

fn svm(given: Given) -> Result<Learner, Failure> {
    let learner =
        LinearSvm::params().intercept(false).max_passes(SVM_PASSES).seed(given.seed).check()?;
    on_sample(learner)
}
