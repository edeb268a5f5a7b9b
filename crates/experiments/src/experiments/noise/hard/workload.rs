//! Settings, and what a trial gives.

use crate::experiments::common::*;

/// ε of the learners that are told it.
pub(super) const EXCESS: f64 = 0.05;

/// γ of the distributions that are searched.
pub(super) const MARGIN: f64 = 0.1;

/// γ where the order of Table 1 is looked for.
pub(super) const ORDER_MARGIN: f64 = 0.03;

/// η there.
pub(super) const ORDER_NOISE: f64 = 0.2;

/// ε there.
pub(super) const ORDER_EXCESS: f64 = 0.01;

/// δ of the theorems.
pub(super) const FAILURE: f64 = 0.1;

/// Learners of Table 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Display)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Learner {
    Perspectron,
    #[strum(to_string = "DDK+23")]
    Ddk,
    #[strum(to_string = "DGT19")]
    Dgt,
    #[strum(to_string = "CKMY20")]
    Ckmy,
    #[strum(to_string = "cutting plane")]
    CuttingPlane,
}

impl Learner {
    pub(super) const ALL: [Learner; 5] =
        [Learner::Perspectron, Learner::Ddk, Learner::Dgt, Learner::Ckmy, Learner::CuttingPlane];
}

/// What a learner is told wrongly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Display)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Told {
    #[strum(to_string = "margin γ")]
    Margin,
    #[strum(to_string = "noise rate η")]
    Noise,
    #[strum(to_string = "scale of the link")]
    Scale,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Configuration {
    /// Two pairs of opposite points without a wrong label, and the Perspectron of Theorem 3.
    Pairs { noise: f64, margin: f64 },
    /// A search for a large error - opt of a learner.
    Worst { learner: Learner, noise: f64, moves: usize },
    /// A search for runs of so many steps whose mean error comes near its bound.
    Slack { noise: f64, steps: u64, moves: usize },
    /// A search for what the Perspectron learns from fewer examples than a rival.
    Order { rival: Learner, moves: usize, sizes: usize },
    /// A learner that is told a value which is not so.
    Told { what: Told, value: f64 },
}

impl fmt::Display for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Configuration::Pairs { noise, margin } => write!(f, "η={noise}, γ={margin}"),
            Configuration::Worst { learner, noise, .. } => write!(f, "{learner}, η={noise}"),
            Configuration::Slack { noise, steps, .. } => write!(f, "η={noise}, T={steps}"),
            Configuration::Order { rival, .. } => write!(f, "against {rival}"),
            Configuration::Told { what, value } => write!(f, "{what} told as {value}"),
        }
    }
}

/// A point that stands for itself and its opposite: w*·x, the coordinate across, the probability that the label
/// is flipped, and the mass of both.
pub(super) type Listed = [f64; 4];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Outcome {
    Pairs {
        /// Error of the learner that is told η.
        told: f64,
        /// Error of the same learner told that no label is wrong.
        clean: f64,
    },
    Worst {
        /// error - opt as the search saw it, and of fresh runs on what it found.
        searched: f64,
        judged: f64,
        /// Of a run on a distribution of the same kind that nobody searched.
        random: f64,
        opt: f64,
        atoms: Vec<Listed>,
        tried: u64,
    },
    Slack {
        /// (mean error of the iterates - η) over its bound: as the search saw it, of fresh runs, and of fresh runs on a
        /// distribution that nobody searched.
        searched: f64,
        judged: f64,
        random: f64,
        atoms: Vec<Listed>,
    },
    Order {
        /// Sample sizes, and the mean errors of fresh samples of each.
        sizes: Vec<usize>,
        ours: Vec<f64>,
        theirs: Vec<f64>,
        /// Of each pair of samples that double: the least size from which on the error stays at most η + ε.
        needed: Vec<(Option<usize>, Option<usize>)>,
        atoms: Vec<Listed>,
    },
    /// error - opt.
    Told { excess: f64 },
}
