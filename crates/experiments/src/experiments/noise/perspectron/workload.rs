//! Settings and outcomes.

use crate::experiments::common::*;
use crate::noisy::{Noise, Terrain};
use halfspaces_online::bounds;

/// ε of the lemma and the theorems. With η = 0.1, the error of random guessing, 1/2, is far above η + ε.
pub(super) const EXCESS: f64 = 0.1;

/// ε of the search for an unknown margin.
pub(super) const SEARCH_EXCESS: f64 = 0.2;

/// γ of the theorems.
pub(super) const MARGIN: f64 = 0.2;

/// γ of the lemma.
pub(super) const LEMMA_MARGIN: f64 = 0.3;

/// η of the lemma and the theorems.
pub(super) const JUDGED_RATE: f64 = 0.1;

pub(super) const FAILURE: f64 = 0.1;

/// η of the learning curves.
pub(super) const RATE: f64 = 0.3;

/// Margins of the learning curves.
pub(super) const MARGINS: [f64; 5] = [0.28, 0.22, 0.17, 0.13, 0.1];

/// The numbers of steps of a learning curve, as exponents of 2: the smallest, the smallest that is used to fit the
/// growth, and the largest. At the second exponent and above, the mean error is far below its maximum.
pub(super) const CURVE: (u32, u32, u32) = (6, 12, 16);

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Task {
    /// Lemma 3: whether one run of the printed length contains a good iterate.
    Lemma,
    /// Theorem 3 as printed, and thinned selection on the same instance.
    Theorem,
    /// Unknown noise rate; `rate` is the true rate.
    Grid { rate: f64 },
    /// Unknown noise rate, on [`clean_pairs`](crate::experiments::noise::pairs::clean_pairs).
    Clean,
    /// Unknown margin, on [`lever`](crate::experiments::noise::pairs::lever).
    Margin,
    /// Learning curves.
    Curves,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Configuration {
    pub(super) task: Task,
    pub(super) terrain: Terrain,
    pub(super) noise: Noise,
}

impl fmt::Display for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Configuration { task, terrain, noise } = self;
        match task {
            Task::Grid { rate } => write!(f, "{terrain}, {noise}, η={rate}"),
            Task::Clean => write!(f, "four points without wrong labels"),
            Task::Margin => write!(f, "two pairs of points"),
            _ => write!(f, "{terrain}, {noise}"),
        }
    }
}

/// The result of one fit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Judged {
    /// Error on the population minus η.
    pub(super) excess: f64,
    pub(super) candidates: usize,
    pub(super) remaining: usize,
    /// Numbers of examples for training and for the comparison.
    pub(super) training: u64,
    pub(super) validation: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Outcome {
    /// The smallest error of the iterates minus η, and the step at which it was first below η + ε/2.
    Lemma { least: f64, steps: u64 },
    Theorem {
        full: Judged,
        thinned: Judged,
        /// Excess of the sum of 20 labelled examples.
        few: f64,
    },
    Grid {
        paper: Judged,
        corrected: Judged,
        rate: f64,
        /// Excess of the sum of 20 labelled examples.
        few: f64,
    },
    /// Errors with the grid as printed and with the corrected one.
    Clean { paper: f64, corrected: f64 },
    Margin {
        /// For the search: its error minus η, its final guess, and whether it reports success.
        excess: f64,
        margin: f64,
        found: bool,
        /// Error minus η of the learner with the first guess.
        first: f64,
    },
    /// For each margin: (steps, mean error of the iterates minus η).
    Curves(Vec<Vec<(u64, f64)>>),
}

impl Outcome {
    /// The results with all iterates as candidates and with thinned selection.
    pub(super) fn theorem(&self) -> (&Judged, &Judged) {
        of_part!(self, Outcome::Theorem { full, thinned, .. } => (full, thinned))
    }

    pub(super) fn curves(&self) -> &[Vec<(u64, f64)>] {
        of_part!(self, Outcome::Curves(curves) => curves)
    }
}

/// (1-η)/(γ√T), the bound on the expected value of (mean error of the iterates - η), with the step size for T.
pub(super) fn mean_bound(margin: f64, steps: f64) -> f64 {
    bounds::massart_excess(steps, RATE, margin) / steps
}
