//! Settings, learners and outcomes.

use crate::experiments::common::*;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Display)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Learner {
    #[strum(to_string = "greedy")]
    Greedy,
    #[strum(to_string = "greedy, hard margin")]
    HardMargin,
    #[strum(to_string = "greedy, volumetric centre")]
    Volumetric,
    #[strum(to_string = "greedy, sampled version space")]
    Sampled,
    /// Algorithm 1 with c = 2 and c = 4.
    #[strum(to_string = "Algorithm 1, c=2")]
    Chains2,
    #[strum(to_string = "Algorithm 1, c=4")]
    Chains4,
    /// The start and the update of Algorithm 1 in random order.
    #[strum(to_string = "update of Algorithm 1, random order")]
    RandomOrder,
    #[strum(to_string = "perceptron, random order")]
    Perceptron,
    #[strum(to_string = "centre of gravity, random order")]
    Gravity,
}

pub(super) const LEARNERS: [(Learner, Colour); 7] = [
    (Learner::Perceptron, Colour::Blue),
    (Learner::RandomOrder, Colour::Sky),
    (Learner::Chains2, Colour::Ink),
    (Learner::Gravity, Colour::Green),
    (Learner::Greedy, Colour::Orange),
    (Learner::Sampled, Colour::Purple),
    (Learner::Volumetric, Colour::Vermilion),
];

/// The setting of a trial, which has a target and nested pools. Each pool consists of the first n points of the largest
/// pool.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Configuration {
    pub(super) dim: usize,
    pub(super) sizes: Vec<usize>,
    /// Largest pool sizes for the more expensive learners.
    pub(super) most_centres: usize,
    pub(super) most_sampled: usize,
    pub(super) most_gravity: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Count {
    pub(super) learner: Learner,
    pub(super) points: usize,
    pub(super) mistakes: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    pub(super) counts: Vec<Count>,
    /// The largest ratio of tan²θ' + r² tan²θ to tan²θ at a mistake, where θ < π/2 is the angle before the mistake and
    /// θ' the angle after it.
    pub(super) rise: f64,
    /// Mistakes made at θ < π/2.
    pub(super) acute: usize,
    /// Total length of the greedy learner's scans of the largest pool, in passes.
    pub(super) passes: f64,
}

impl Outcome {
    pub(super) fn of(&self, learner: Learner) -> impl Iterator<Item = (usize, usize)> {
        self.counts.iter().filter(move |c| c.learner == learner).map(|c| (c.points, c.mistakes))
    }

    /// Mistakes on the largest pool.
    pub(super) fn last(&self, learner: Learner) -> Option<f64> {
        self.of(learner).last().map(|(_, mistakes)| mistakes as f64)
    }
}

/// The slope of the mistakes against ln n, divided by the dimension.
pub(super) fn slope(outcome: &Outcome, learner: Learner, dim: usize) -> Option<f64> {
    let (x, y): (Vec<f64>, Vec<f64>) = outcome
        .of(learner)
        .map(|(points, mistakes)| ((points as f64).ln(), mistakes as f64))
        .unzip();
    stats::slope(&x, &y).map(|slope| slope / dim as f64)
}
