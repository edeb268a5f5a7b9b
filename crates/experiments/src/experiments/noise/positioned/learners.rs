//! The learners of the comparison, which all run on the same noisy sample. Also a stream of examples that are drawn in
//! blocks.

use crate::Failure;
use halfspaces_eval::Colour;
use halfspaces_features::{FeatureMap, ZScore};
use halfspaces_linalg::{
    Classifier, DenseRow, ExampleStream, FitSample, Label, Params, PointSet, Points,
};
use halfspaces_pac::{Dgt, LinearSvm, LogisticRegression, SamplePerspectron};
use rand::rngs::ChaCha8Rng;

/// Number of passes of the Perspectrons.
const PASSES: u64 = 5;
/// γ, ε and the maximum number of steps of DGT19, fixed in advance to bound its time.
const DGT: (f64, f64, u64) = (0.05, 0.1, 2000);
/// Maximum number of examples that DGT19 sees.
const SEEN_BY_DGT: usize = 4000;

/// A training sample.
pub(super) struct Training {
    pub(super) points: Points,
    pub(super) labels: Vec<Label>,
    /// η, for the learners that have this parameter.
    pub(super) noise: f64,
    pub(super) seed: u64,
}

/// A learner of the comparison. `labels` trains it and labels points.
pub(super) struct Entry {
    pub(super) name: &'static str,
    /// Its colour in the figure; `None` for a learner that appears only in the table.
    pub(super) colour: Option<Colour>,
    pub(super) labels: fn(&Training, &Points) -> Result<Vec<Label>, Failure>,
}

pub(super) const POSITIONED: &str = "positioned";
pub(super) const PERSPECTRON: &str = "Perspectron";

/// All learners, in the order of the tables. The trial runs the first learner itself, since the trial also needs its
/// fit.
pub(super) const LEARNERS: [Entry; 8] = [
    Entry {
        name: POSITIONED,
        colour: Some(Colour::Blue),
        labels: |_, _| unreachable!("the trial fits the positioned list itself"),
    },
    Entry {
        name: PERSPECTRON,
        colour: Some(Colour::Vermilion),
        labels: |training, points| {
            perspectron(training, &sphere(&training.points)?, &sphere(points)?)
        },
    },
    Entry {
        name: "Perspectron, standardised",
        colour: None,
        labels: |training, points| {
            let (a, b) = standardised(&training.points, points)?;
            perspectron(training, &sphere(&a)?, &sphere(&b)?)
        },
    },
    Entry {
        name: "DGT19",
        colour: Some(Colour::Orange),
        labels: |training, points| {
            let (margin, excess, steps) = DGT;
            let seen: Vec<usize> = (0..training.labels.len().min(SEEN_BY_DGT)).collect();
            let learner = Dgt::params(training.noise, margin).excess(excess).max_steps(steps);
            let learner = learner.seed(training.seed).check()?;
            let unit = sphere(&training.points)?.select(&seen)?;
            Ok(learner.fit(&unit, &training.labels[..seen.len()])?.label_all(&sphere(points)?)?)
        },
    },
    Entry {
        name: "logistic",
        colour: Some(Colour::Sky),
        labels: |training, points| logistic(training, &sphere(&training.points)?, &sphere(points)?),
    },
    Entry {
        name: "logistic, standardised",
        colour: Some(Colour::Purple),
        labels: |training, points| {
            let (a, b) = standardised(&training.points, points)?;
            logistic(training, &a, &b)
        },
    },
    Entry {
        name: "SVM",
        colour: Some(Colour::Green),
        labels: |training, points| {
            let learner = LinearSvm::params().seed(training.seed).check()?;
            let fit = learner.fit(&sphere(&training.points)?, &training.labels)?;
            Ok(fit.label_all(&sphere(points)?)?)
        },
    },
    Entry {
        name: "majority",
        colour: None,
        labels: |training, points| {
            let sum: f64 = training.labels.iter().map(|y| y.as_f64()).sum();
            Ok(vec![Label::from_sign(sum); points.len()])
        },
    },
];

/// Scales the rows to norm 1, which changes no label of a halfspace through the origin.
fn sphere(points: &Points) -> Result<Points, Failure> {
    Ok(points.clone().normalised()?)
}

/// Scales the columns to mean 0 and standard deviation 1 on the training points, and adds a coordinate for the bias.
fn standardised(training: &Points, points: &Points) -> Result<(Points, Points), Failure> {
    let scale = ZScore::fit(training)?;
    Ok((scale.apply(training)?.lifted(), scale.apply(points)?.lifted()))
}

/// Runs the Perspectron, which is given η, over a grid of margins.
fn perspectron(training: &Training, unit: &Points, points: &Points) -> Result<Vec<Label>, Failure> {
    let learner = SamplePerspectron::params().lift(false).passes(PASSES).noise(training.noise);
    let learner = learner.seed(training.seed).check()?;
    Ok(learner.fit(unit, &training.labels)?.label_all(points)?)
}

fn logistic(training: &Training, rows: &Points, points: &Points) -> Result<Vec<Label>, Failure> {
    let learner = LogisticRegression::params().tolerance(1e-6).check()?;
    Ok(learner.fit(rows, &training.labels)?.label_all(points)?)
}

/// An endless stream of examples, drawn in blocks.
pub(super) struct BlockStream<'r, F> {
    draw: F,
    dim: usize,
    rng: &'r mut ChaCha8Rng,
    block: Option<(Points, Vec<Label>)>,
    next: usize,
}

impl<'r, F> BlockStream<'r, F> {
    pub(super) fn new(draw: F, dim: usize, rng: &'r mut ChaCha8Rng) -> Self {
        BlockStream { draw, dim, rng, block: None, next: 0 }
    }
}

impl<F> ExampleStream for BlockStream<'_, F>
where
    F: FnMut(&mut ChaCha8Rng) -> Result<(Points, Vec<Label>), Failure>,
{
    type Row<'a>
        = DenseRow<'a>
    where
        Self: 'a;
    type Error = Failure;

    fn dim(&self) -> usize {
        self.dim
    }

    fn next_row(&mut self) -> Result<Option<(DenseRow<'_>, Label)>, Failure> {
        if self.block.as_ref().is_none_or(|(points, _)| self.next >= points.len()) {
            self.block = Some((self.draw)(self.rng)?);
            self.next = 0;
        }
        let Some((points, labels)) = &self.block else { unreachable!("a block was drawn") };
        let index = self.next;
        self.next += 1;
        Ok(points.row(index).map(|x| (x, labels[index])))
    }
}
