//! Parameters shared by all Perspectrons.
//!
//! Claims: P3, P7, P8.

use crate::fit::{Placement, Plan, Retention, Settings};
use crate::selection::Elimination;
use crate::streams;
use halfspaces_linalg::{InputError, Threads, rng_for};

/// Selects the iterates that become candidates.
///
/// [`Selection::Thinned`] keeps about ((4η+2ε)/ε) ln(3/δ) candidates in memory and needs fewer examples to compare
/// them. [`Selection::AllIterates`] has shorter runs but keeps every iterate. If you are unsure, use the default.
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
pub enum Selection {
    /// All iterates of ⌈lg(2/δ)⌉ independent runs (CKST24).
    AllIterates,
    /// A few random iterates of one run (ours).
    #[default]
    Thinned,
}

/// The parameters shared by all Perspectrons.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Common {
    pub project: bool,
    pub radius: f64,
    pub lift: bool,
    pub elimination: Elimination,
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

    /// The margin of the placed points: γ/R, or γ/(2R) if the points are lifted.
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

/// The setters shared by the parameters of all Perspectrons. The fields of ε and δ are in `$target` if it is given, and
/// in the parameters themselves otherwise.
macro_rules! common_setters {
    ($($target:ident)?) => {
        setters! {
            /// The excess ε: the error should exceed the target level by at most ε. Default: 0.1.
            excess: f64 => $($target.)? excess,

            /// The failure probability δ: an upper bound on the probability that the error exceeds the target level by
            /// more than ε. Default: 0.05.
            failure: f64 => $($target.)? failure,

            /// Whether iterates are projected onto the unit ball. Every proof allows projections: w* lies in the ball,
            /// so no projection increases the distance to w*. Default: true, but false with the schedule `Paper`.
            project: bool => common.project,

            /// Selects the candidates that are dropped early. Default:
            /// [`Elimination::Statistical`](crate::Elimination).
            elimination: $crate::selection::Elimination => common.elimination,

            /// Selects the iterates that become candidates. Default: [`Selection::Thinned`].
            selection: Selection,

            /// The number of threads. The guesses of a fit and the comparison of the candidates are divided among the
            /// threads. The outcome does not depend on this number. Default: one.
            threads: halfspaces_linalg::Threads => common.threads,

            /// The seed for the learner's random numbers. Default: 0.
            seed: u64 => common.seed,
        }
    };
}
pub(crate) use common_setters;

/// The setters of the radius and the lifting, for learners without a link function. A link function would have to be
/// rescaled together with the points.
macro_rules! placement_setters {
    () => {
        setters! {
            /// The radius R: the points and the margin are divided by R. A point outside the ball of radius R causes an
            /// error. Default: 1.
            radius: f64 => common.radius,

            /// Whether the halfspace has a bias. Points become (x/R, 1)/√2. In these coordinates, a margin of γ with
            /// |b| <= R and ‖w‖ <= 1 becomes a margin of at least γ/(2R) (CKST24 Remark 2). The constants are those for
            /// a margin of γ/(2R). Default: false.
            lift: bool => common.lift,
        }
    };
}
pub(crate) use placement_setters;

/// Lets a stream learner learn from a sample, which it reads in order.
macro_rules! fit_in_order {
    ($learner:ty: $model:ty $(, $link:ident: $($bounds:tt)+)?) => {
        impl$(<$link: $($bounds)+>)? halfspaces_linalg::FitSample for $learner {
            type Model = $model;
            type Error = halfspaces_linalg::FitError<halfspaces_linalg::InputError>;

            /// Fits a halfspace to a sample, read in order like a stream. The guarantee needs independent examples.
            fn fit<P: halfspaces_linalg::PointSet>(
                &self,
                points: &P,
                labels: &[halfspaces_linalg::Label],
            ) -> Result<$model, Self::Error> {
                let mut stream = halfspaces_data::LabelledPoints::new(points, labels)?;
                halfspaces_linalg::FitStream::fit_stream(self, &mut stream)
            }
        }
    };
}
pub(crate) use fit_in_order;

/// Selects the iterates of a single lane that are retained.
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
            &mut rng_for(streams::RETENTION, seed),
        ),
    }
}

/// The part of δ reserved for the choice among the candidates.
pub(crate) fn choice_share(failure: f64, selection: Selection) -> f64 {
    match selection {
        Selection::AllIterates => failure / 2.0,
        Selection::Thinned => failure / 3.0,
    }
}
