//! Settings, and what a trial gives.

use crate::experiments::common::*;
use crate::noisy::{Noise, Terrain};
use halfspaces_online::bounds;

/// ε of the lemma and the theorems: with η = 0.1 a coin is far from η + ε.
pub(super) const EXCESS: f64 = 0.1;

/// ε where the margin is not told.
pub(super) const SEARCH_EXCESS: f64 = 0.2;

pub(super) const MARGIN: f64 = 0.2;

/// γ of the lemma.
pub(super) const LEMMA_MARGIN: f64 = 0.3;

/// η there.
pub(super) const JUDGED_RATE: f64 = 0.1;

pub(super) const FAILURE: f64 = 0.1;

/// η of the learning curves.
pub(super) const RATE: f64 = 0.3;

/// Margins learning curves are drawn for.
pub(super) const MARGINS: [f64; 5] = [0.28, 0.22, 0.17, 0.13, 0.1];

/// Their lengths are powers of 2 with these exponents; growth is fitted from the second number on, where
/// the mean error is far below what it cannot exceed.
pub(super) const CURVE: (u32, u32, u32) = (6, 12, 16);

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Task {
    /// Lemma 3: does one run of the printed length contain a good iterate?
    Lemma,
    /// Theorem 3 as printed, and the thinned selection on the same kind of instance.
    Theorem,
    /// Unknown noise rate: the rate there is, and the grid's excess.
    Grid { rate: f64 },
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
            Task::Margin => write!(f, "two pairs of points"),
            _ => write!(f, "{terrain}, {noise}"),
        }
    }
}

/// One fit, judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Judged {
    /// Error on the population minus η.
    pub(super) excess: f64,
    pub(super) candidates: usize,
    pub(super) remaining: usize,
    /// Examples learned from and compared on.
    pub(super) training: u64,
    pub(super) validation: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Outcome {
    /// The least error of the iterates minus η, and the step it was first below η + ε/2.
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
        /// As above.
        few: f64,
    },
    Margin {
        /// Error minus η of the search, the margin guessed last, and whether it says that it is done.
        excess: f64,
        margin: f64,
        found: bool,
        /// Error minus η of the learner that is told the first guess.
        first: f64,
    },
    /// For each margin: (steps, mean error of the iterates minus η).
    Curves(Vec<Vec<(u64, f64)>>),
}

impl Outcome {
    /// With all iterates as candidates, and with few.
    pub(super) fn theorem(&self) -> (&Judged, &Judged) {
        of_part!(self, Outcome::Theorem { full, thinned, .. } => (full, thinned))
    }

    pub(super) fn curves(&self) -> &[Vec<(u64, f64)>] {
        of_part!(self, Outcome::Curves(curves) => curves)
    }
}

/// (1-η)/(γ√T), what the mean error of the iterates exceeds η by in expectation, at most, with the step
/// for T.
pub(super) fn mean_bound(margin: f64, steps: f64) -> f64 {
    bounds::massart_excess(steps, RATE, margin) / steps
}
