//! Parameters and steps that all Perspectrons share.
//!
//! Claims: P3, P7, P8.

use crate::fit::{Placement, Plan, Retention, Settings};
use crate::selection::Elimination;
use halfspaces_linalg::{InputError, RngStream, Threads, rng_for};

/// Which iterates become candidates.
///
/// [`Selection::Thinned`] needs memory for some ((4η+2ε)/ε) ln(3/δ) candidates and fewer examples to choose
/// by; [`Selection::AllIterates`] has shorter runs but retains every iterate. If unsure, use the default.
///
/// ```
/// use halfspaces_linalg::Params;
/// use halfspaces_pac::{Perspectron, Selection};
/// let params = Perspectron::params(0.1, 0.3);
/// let few = params.selection(Selection::Thinned).check()?.plan();
/// let all = params.selection(Selection::AllIterates).check()?.plan();
/// assert!(few.candidates < all.candidates);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Selection {
    /// All iterates of ⌈lg(2/δ)⌉ independent runs (CKST24).
    AllIterates,
    /// A few random iterates of one run (ours).
    #[default]
    Thinned,
}

/// Parameters all Perspectrons share.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Common {
    pub project: bool,
    pub radius: f64,
    pub lift: bool,
    pub elimination: Elimination,
    #[cfg_attr(feature = "serde", serde(default))]
    pub threads: Threads,
    pub seed: u64,
}

impl Default for Common {
    fn default() -> Common {
        Common {
            project: true,
            radius: 1.0,
            lift: false,
            elimination: Elimination::default(),
            threads: Threads::ONE,
            seed: 0,
        }
    }
}

impl Common {
    pub(crate) fn check(&self) -> Result<(), InputError> {
        let radius = self.radius;
        let in_range = radius > 0.0 && radius.is_finite();
        InputError::check_parameter("radius", radius, in_range, "positive and finite")
    }

    /// The margin in the space the learner works in: γ/R, and half of that when lifted.
    pub(crate) fn placed_margin(&self, margin: f64) -> f64 {
        margin / self.radius / if self.lift { 2.0 } else { 1.0 }
    }

    pub(crate) fn settings(&self) -> Settings {
        Settings {
            placement: Placement { scale: 1.0 / self.radius, lift: self.lift },
            project: self.project,
            elimination: self.elimination,
            threads: self.threads,
            seed: self.seed,
        }
    }
}

/// The setters that the parameters of all Perspectrons share; ε and δ are fields of `$target`, or of the
/// parameters themselves.
macro_rules! common_setters {
    ($($target:ident)?) => {
        setters! {
            /// ε: the error wanted is at most the target level + ε. Default: 0.1.
            excess: f64 => $($target.)? excess,

            /// δ: the probability with which the result may be worse. Default: 0.05.
            failure: f64 => $($target.)? failure,

            /// Whether iterates are projected onto the unit ball, which every proof allows: w* lies in it, so
            /// every distance to w* shrinks. Default: true, except for the constants as printed.
            project: bool => common.project,

            /// Which candidates are dropped early. Default: [`Elimination::Statistical`](crate::Elimination).
            elimination: $crate::selection::Elimination => common.elimination,

            /// Which iterates become candidates. Default: [`Selection::Thinned`].
            selection: Selection,

            /// Threads: several rates or runs of one fit go over the examples side by side, and the candidates are
            /// compared side by side. The outcome does not depend on them. Default: one.
            threads: halfspaces_linalg::Threads => common.threads,

            /// Seed of the random numbers that the learner draws. Default: 0.
            seed: u64 => common.seed,
        }
    };
}
pub(crate) use common_setters;

/// The setters of parameters that say where points lie, for learners without a link: a link would have
/// to be rescaled with the points.
macro_rules! placement_setters {
    () => {
        setters! {
            /// R: points are divided by it, and the margin with them; a point outside the ball of radius R is
            /// refused. Default: 1.
            radius: f64 => common.radius,

            /// Whether the halfspace sought has a bias: points become (x/R, 1)/√2, where a margin of γ
            /// with |b| <= R, ‖w‖ <= 1 is at least γ/(2R) (CKST24 Remark 2), and the constants are those of that
            /// margin. Default: false.
            lift: bool => common.lift,
        }
    };
}
pub(crate) use placement_setters;

/// Which iterates of the one lane are retained.
pub(crate) fn retention(
    plan: Plan,
    selection: Selection,
    seed: u64,
) -> Result<Retention, InputError> {
    match selection {
        Selection::AllIterates => Ok(Retention::All),
        Selection::Thinned => Retention::drawn(
            plan.candidates,
            plan.run_length,
            &mut rng_for(RngStream::Retention, seed),
        ),
    }
}

/// The share of δ that goes to the choice among the candidates.
pub(crate) fn choice_share(failure: f64, selection: Selection) -> f64 {
    match selection {
        Selection::AllIterates => failure / 2.0,
        Selection::Thinned => failure / 3.0,
    }
}
