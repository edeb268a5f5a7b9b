//! The learners of Table 1, and the usual ones that are not in it, as one would run them on a sample.

use super::sample_bounds::{self, CKMY_SHARE, DGT_SHARE, HELD_OUT, Problem, TOLD_MARGIN};
use super::workload::{Configuration, Strategy};
use crate::experiments::common::*;
use halfspaces_linalg::{Classifier, FitSample, Label, Params, PointSet, Points};
use halfspaces_online::AveragedPerceptron;
use halfspaces_pac::{
    Ckmy, CuttingPlane, Ddk, Dgt, LinearSvm, LogisticRegression, Margin, SamplePerspectron,
};

/// δ of the theorems the samples are compared with. A median above such a number would refute it.
const DELTA: f64 = 0.1;
/// Caps, far below what the theorems ask for.
const MAX_STEPS: u64 = 300;
const DGT_MAX_STEPS: u64 = 3000;
const SVM_PASSES: u64 = 100;
/// Rounds per squared dimension among which the cutting plane shares the sample: about as many as its
/// theorem has, but for the logarithm of the margin.
const CUTS: usize = 2;

/// What a learner is told.
#[derive(Debug, Clone, Copy)]
pub(super) struct Told {
    pub noise: f64,
    pub margin: f64,
    pub excess: f64,
    pub seed: u64,
}

/// From a labelled sample and further points to the labels it predicts for them.
pub(super) type Learner = Box<dyn Fn(&Points, &[Label], &Points) -> Result<Vec<Label>, Failure>>;

/// One row of the table.
pub(super) struct Entry {
    pub name: &'static str,
    pub colour: Colour,
    pub dashed: bool,
    /// Its sample complexity in Table 1; of the cutting plane that of the ellipsoid, which is what runs here.
    pub rate: Option<&'static str>,
    /// The same under random classification noise, where that is a row of its own.
    pub rate_rcn: Option<&'static str>,
    /// Whether it is told ε.
    pub uses_excess: bool,
    /// Examples that suffice, where that is proved.
    bound: fn(Strategy, Problem) -> Option<f64>,
    pub learner: fn(Told) -> Result<Learner, Failure>,
}

/// What a learner without a theorem for this noise is.
const UNPROVED: Entry = Entry {
    name: "",
    colour: Colour::Ink,
    dashed: false,
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
        ..UNPROVED
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
    Entry { name: "linear SVM", colour: Colour::Sky, dashed: true, learner: svm, ..UNPROVED },
];

impl Entry {
    /// Examples that suffice for a setting and ε, where that is proved.
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

/// One curve for each learner, or one for each ε if it is told ε: its place in [`LEARNERS`], and ε.
pub(super) fn curves(setting: &Configuration) -> Vec<(usize, f64)> {
    let mut curves = Vec::new();
    for (at, entry) in LEARNERS.iter().enumerate() {
        let told = if entry.uses_excess { setting.excesses.len() } else { 1 };
        curves.extend(setting.excesses.iter().take(told).map(|excess| (at, *excess)));
    }
    curves
}

/// The curve that judges a learner at this ε; `None` at an ε the setting does not have.
pub(super) fn curve_of(setting: &Configuration, learner: usize, excess: f64) -> Option<usize> {
    let same = |e: f64| !LEARNERS[learner].uses_excess || (e - excess).abs() < 1e-9;
    curves(setting).iter().position(|(at, e)| *at == learner && same(*e))
}

/// A learner that fits to a whole sample.
fn on_sample<L>(learner: L) -> Result<Learner, Failure>
where
    L: FitSample + 'static,
    Failure: From<L::Error>,
{
    Ok(Box::new(move |points, labels, others| {
        Ok(learner.fit(points, labels)?.label_all(others)?)
    }))
}

fn perspectron(told: Told) -> Result<Learner, Failure> {
    let learner = SamplePerspectron::params()
        .noise(told.noise)
        .margin(Margin::Known(told.margin))
        .held_out(HELD_OUT)
        .lift(false)
        .seed(told.seed)
        .check()?;
    on_sample(learner)
}

fn ddk(told: Told) -> Result<Learner, Failure> {
    let learner = Ddk::params(told.noise, told.margin)
        .excess(told.excess)
        .max_steps(MAX_STEPS)
        .validation_share(HELD_OUT)
        .seed(told.seed)
        .check()?;
    on_sample(learner)
}

fn dgt(told: Told) -> Result<Learner, Failure> {
    let learner = Dgt::params(told.noise, TOLD_MARGIN * told.margin)
        .excess(DGT_SHARE * told.excess)
        .max_steps(DGT_MAX_STEPS)
        .seed(told.seed)
        .check()?;
    on_sample(learner)
}

fn ckmy(told: Told) -> Result<Learner, Failure> {
    let learner = Ckmy::params(told.noise, TOLD_MARGIN * told.margin)
        .excess(CKMY_SHARE * told.excess)
        .max_steps(MAX_STEPS)
        .validation_share(HELD_OUT)
        .seed(told.seed)
        .check()?;
    on_sample(learner)
}

fn cutting_plane(told: Told) -> Result<Learner, Failure> {
    let params = CuttingPlane::params(told.noise, told.margin).excess(told.excess);
    Ok(Box::new(move |points, labels, others| {
        let learner = params.batch(batch(points.len(), points.dim(), told.excess)).check()?;
        Ok(learner.fit(points, labels)?.label_all(others)?)
    }))
}

/// Examples of the cutting plane per round: 4/ε², for an estimated error with a standard deviation of
/// at most ε/4, the distance of η + ε from where it stops; or more where the sample has more.
fn batch(n: usize, dim: usize, excess: f64) -> usize {
    let tell = (4.0 / excess.powi(2)).ceil() as usize;
    tell.max(n / (CUTS * dim * dim)).min(n)
}

fn averaged(_: Told) -> Result<Learner, Failure> {
    Ok(Box::new(|points, labels, others| {
        let mut learner = AveragedPerceptron::new(points.dim())?;
        mistakes(&mut learner, points, labels)?;
        Ok(learner.average()?.label_all(others)?)
    }))
}

fn logistic(_: Told) -> Result<Learner, Failure> {
    let learner = LogisticRegression::params().intercept(false).check()?;
    on_sample(learner)
}

fn svm(told: Told) -> Result<Learner, Failure> {
    let learner =
        LinearSvm::params().intercept(false).max_passes(SVM_PASSES).seed(told.seed).check()?;
    on_sample(learner)
}
