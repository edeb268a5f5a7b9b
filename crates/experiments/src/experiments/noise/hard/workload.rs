//! Settings and outcomes.

use crate::experiments::common::*;

/// ε of the learners that have this parameter.
pub(super) const EXCESS: f64 = 0.05;

/// γ of the distributions in a search.
pub(super) const MARGIN: f64 = 0.1;

/// γ in the search for the order of Table 1.
pub(super) const ORDER_MARGIN: f64 = 0.03;

/// η in the search for the order of Table 1.
pub(super) const ORDER_NOISE: f64 = 0.2;

/// ε in the search for the order of Table 1.
pub(super) const ORDER_EXCESS: f64 = 0.01;

/// δ of the theorems.
pub(super) const FAILURE: f64 = 0.1;

/// The learners of Table 1.
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

/// The parameter with a wrong value.
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
    /// Two pairs of opposite points without wrong labels, and the Perspectron of Theorem 3.
    Pairs { noise: f64, margin: f64 },
    /// A search for a large excess error (error - opt) of a learner.
    Worst { learner: Learner, noise: f64, moves: usize },
    /// A search for runs of `steps` steps whose mean error is close to its bound.
    Slack { noise: f64, steps: u64, moves: usize },
    /// A search for points on which the Perspectron needs fewer examples than a rival.
    Order { rival: Learner, moves: usize, sizes: usize },
    /// A learner that is given `value` for a parameter.
    Told { what: Told, value: f64 },
}

impl fmt::Display for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Configuration::Pairs { noise, margin } => write!(f, "η={noise}, γ={margin}"),
            Configuration::Worst { learner, noise, .. } => write!(f, "{learner}, η={noise}"),
            Configuration::Slack { noise, steps, .. } => write!(f, "η={noise}, T={steps}"),
            Configuration::Order { rival, .. } => write!(f, "against {rival}"),
            Configuration::Told { what, value } => write!(f, "{what} given as {value}"),
        }
    }
}

/// A point and its opposite: w*·x, the coordinate orthogonal to w*, the probability that the label is flipped, and the
/// mass of both.
pub(super) type Listed = [f64; 4];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Outcome {
    Pairs {
        /// Error of the learner that is given the noise rate η.
        told: f64,
        /// Error of the learner that is given the noise rate 0.
        clean: f64,
    },
    Worst {
        /// Error - opt that the search found, and that of fresh runs on its result.
        searched: f64,
        judged: f64,
        /// Error - opt on a distribution of the same kind drawn without a search.
        random: f64,
        opt: f64,
        atoms: Vec<Listed>,
        tried: u64,
    },
    Slack {
        /// (mean error of the iterates - η) divided by its bound, in three cases: as found by the search, in fresh runs
        /// on its result, and in fresh runs on a distribution drawn without a search.
        searched: f64,
        judged: f64,
        random: f64,
        atoms: Vec<Listed>,
    },
    Order {
        /// Sample sizes, and the mean errors on fresh samples of each size.
        sizes: Vec<usize>,
        ours: Vec<f64>,
        theirs: Vec<f64>,
        /// For each fresh sample and each of the two learners, the smallest size such that its errors at this size and
        /// at larger sizes are at most η + ε.
        needed: Vec<(Option<usize>, Option<usize>)>,
        atoms: Vec<Listed>,
    },
    /// Error - opt.
    Told { excess: f64 },
}
