//! Self-directed learning: the learner knows the pool and chooses the point it predicts next.
//!
//! A [`SelfDirectedLearner`] proposes a point with a prediction and learns its label, until the whole pool is labelled
//! (a *perfect* learner) or a required fraction of it (1 - ε for a *strong* learner, a fixed fraction for a *weak*
//! one). The learner predicts each point once, and its mistakes are the wrong predictions. A learner that chooses the
//! easiest points first makes O(d lnln n) mistakes on the sphere, where every learner in random order makes Ω(d
//! ln(n/d)) mistakes.
//!
//! The protocol is a [`SelfDirectedSession`]: `next()` returns a question, and a person or a program answers it with
//! `answer(label)`. A learner never sees a label before it predicts: it gets a [`Pool`], which shows the points and the
//! labels revealed so far. [`label_pool`] runs the loop with known labels.
//!
//! If you are unsure which learner to choose, use a [`LabellingSession`](crate::LabellingSession), whose model is
//! [`SurestFirst`](crate::SurestFirst). If a halfspace is known to fit the labels and you need a proved bound, use
//! [`StrongLearner::recommended`]. All other learners assume that a halfspace fits the labels. The README of the
//! crate compares them.
//!
//! The time per answer is bounded, whatever the labels are; each learner documents its bound. [`AnswerStatus`] states
//! whether a halfspace still fits the answers.
//!
//! *Source.* DKTZ23; Goldman and Sloan 1994 for the model.

mod blocks;
mod chains;
mod contradiction;
mod greedy;
mod sampled_greedy;
mod screen;
mod session;
mod status;
mod strong;
mod version_space_greedy;
mod walk;
mod weak;

pub use blocks::{BlocksGreedy, BlocksGreedyRun, SurestRows, SurestScan};
pub use chains::{ChainLength, ChainsRun, TwoChains};
pub use greedy::{Greedy, GreedyRun};
pub use sampled_greedy::SampledGreedy;
pub use session::{Progress, SelfDirectedSession, label_pool};
pub use status::AnswerStatus;
pub use strong::{Cap, Goal, RoundTally, Start, StrongLearner};
pub use version_space_greedy::VersionSpaceGreedy;
pub use weak::WeakRun;

use crate::error::OnlineError;
use crate::protocol::{Prediction, Question, Round};
use halfspaces_linalg::{InputError, Label, PointSet, RowView, norm, normalise, tolerance, zeros};

/// A pool of points and the labels revealed so far: everything that a self-directed learner may see.
///
/// ```
/// use halfspaces_linalg::{Classifier, Label, Points};
/// use halfspaces_online::{Greedy, SelfDirectedSession};
/// let points = Points::from_rows(&[[1.0], [-2.0]])?;
/// let mut session = SelfDirectedSession::new(Greedy::new(1)?, &points)?;
/// session.next()?;
/// session.answer(Label::Positive)?;
/// let pool = session.pool();
/// assert_eq!((pool.label(0), pool.label(1)), (Some(Label::Positive), None));
/// assert_eq!(pool.unrevealed().collect::<Vec<_>>(), [1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Pool<'p, P> {
    points: &'p P,
    /// 1/‖x‖, or 0 for x = 0.
    scales: Vec<f64>,
    labels: Vec<Option<Label>>,
    left: usize,
}

impl<'p, P: PointSet> Pool<'p, P> {
    /// A pool without revealed labels.
    pub(crate) fn new(points: &'p P) -> Result<Self, OnlineError> {
        let mut scales = zeros(points.len(), 1)?;
        for (x, scale) in points.rows().zip(&mut scales) {
            *scale = Unit::of(x)?.scale;
        }
        Ok(Pool { points, scales, labels: vec![None; points.len()], left: points.len() })
    }

    /// The points.
    #[must_use]
    pub fn points(&self) -> &'p P {
        self.points
    }

    /// The label of a point, or `None` if it is not revealed yet.
    #[must_use]
    pub fn label(&self, index: usize) -> Option<Label> {
        self.labels.get(index).copied().flatten()
    }

    /// Number of points without a revealed label.
    #[must_use]
    pub fn left(&self) -> usize {
        self.left
    }

    /// The unrevealed points, in ascending order.
    pub fn unrevealed(&self) -> impl Iterator<Item = usize> {
        self.labels.iter().enumerate().filter(|(_, label)| label.is_none()).map(|(i, _)| i)
    }

    /// The revealed points with their labels, in ascending order.
    pub fn revealed(&self) -> impl Iterator<Item = (usize, Label)> {
        self.labels.iter().enumerate().filter_map(|(i, label)| Some((i, (*label)?)))
    }

    /// A point of the pool scaled to norm 1.
    pub(crate) fn unit(&self, index: usize) -> Unit<P::Row<'p>> {
        let Some(row) = self.points.row(index) else {
            unreachable!("the index is that of a point of the pool")
        };
        Unit { row, scale: self.scales[index] }
    }

    /// 1/‖x‖ of a point, or 0 for x = 0.
    pub(crate) fn scale(&self, index: usize) -> f64 {
        self.scales[index]
    }

    /// w · x/‖x‖ of a point, or 0 for x = 0.
    pub(crate) fn margin(&self, index: usize, w: &[f64]) -> f64 {
        self.unit(index).margin(w)
    }

    /// Whether a point is the origin, to which all halfspaces give the same label.
    pub(crate) fn is_zero(&self, index: usize) -> bool {
        self.scales[index] == 0.0
    }

    /// w += a x/‖x‖.
    pub(crate) fn add_unit(&self, index: usize, a: f64, w: &mut [f64]) {
        self.unit(index).add_to(a, w);
    }

    /// The status of a learner with these `hypotheses`; `gave_up` states whether the learner has searched for other
    /// hypotheses without success.
    pub(crate) fn status<'w>(
        &self,
        hypotheses: impl IntoIterator<Item = &'w [f64]>,
        gave_up: bool,
    ) -> AnswerStatus {
        let fits = |w: &[f64]| {
            self.revealed().all(|(i, y)| self.is_zero(i) || y.as_f64() * self.margin(i, w) > 0.0)
        };
        if hypotheses.into_iter().any(fits) {
            AnswerStatus::Consistent
        } else if gave_up {
            AnswerStatus::NoHalfspaceFound
        } else {
            AnswerStatus::Undecided
        }
    }

    /// The question about point `index`, with the prediction that the weights `w` make.
    pub(crate) fn question(&self, index: usize, w: &[f64]) -> Result<Question, OnlineError> {
        let prediction = predict(self.margin(index, w))?;
        Ok(Question { index, prediction })
    }

    /// Rejects a question about a point that does not exist or is already revealed.
    fn check_question(&self, index: usize) -> Result<(), OnlineError> {
        match self.labels.get(index) {
            Some(None) => Ok(()),
            Some(Some(_)) => Err(OnlineError::AlreadyAnswered { index }),
            None => Err(InputError::IndexOutOfRange { index, len: self.labels.len() }.into()),
        }
    }

    /// Stores the label of an unrevealed point.
    fn reveal(&mut self, index: usize, label: Label) {
        let before = self.labels[index].replace(label);
        assert!(before.is_none(), "a revealed point was asked about again");
        self.left -= 1;
    }
}

/// A learner that chooses the point it predicts next.
///
/// ```
/// use halfspaces_linalg::{Label, PointSet, Points};
/// use halfspaces_online::{
///     AnswerStatus, OnlineError, Pool, Prediction, Question, Round, SelfDirectedLearner, label_pool,
/// };
/// /// Asks in the order of the pool and always predicts +1.
/// struct Yes;
/// impl SelfDirectedLearner for Yes {
///     fn propose<P: PointSet>(&mut self, pool: &Pool<'_, P>) -> Result<Option<Question>, OnlineError> {
///         let prediction = Prediction::from_value(1.0);
///         Ok(pool.unrevealed().next().map(|index| Question { index, prediction }))
///     }
///     fn learn<P: PointSet>(&mut self, _: &Pool<'_, P>, _: Round) -> Result<(), OnlineError> {
///         Ok(())
///     }
///     fn status<P: PointSet>(&self, _: &Pool<'_, P>) -> AnswerStatus {
///         AnswerStatus::Undecided
///     }
/// }
/// let points = Points::from_rows(&[[1.0], [-2.0], [3.0]])?;
/// let labels = [Label::Positive, Label::Negative, Label::Positive];
/// assert_eq!(label_pool(Yes, &points, &labels)?.1.mistakes(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait SelfDirectedLearner {
    /// The next point with its prediction, or `None` if the learner has nothing left to predict. If the function is
    /// called again without an answer in between, it proposes the same point.
    ///
    /// # Errors
    /// [`InputError::Overflow`]; [`halfspaces_linalg::InputError::DimensionMismatch`].
    fn propose<P: PointSet>(&mut self, pool: &Pool<'_, P>)
    -> Result<Option<Question>, OnlineError>;

    /// Learns the label of the proposed point, which `pool` already shows. Takes bounded time, whatever the labels are.
    ///
    /// # Errors
    /// The errors of [`SelfDirectedLearner::propose`].
    fn learn<P: PointSet>(&mut self, pool: &Pool<'_, P>, round: Round) -> Result<(), OnlineError>;

    /// Whether some halfspace fits the revealed labels of `pool`, as far as this learner knows. Takes O(d) time per
    /// revealed point.
    fn status<P: PointSet>(&self, pool: &Pool<'_, P>) -> AnswerStatus;
}

/// A view of a point x as x/‖x‖; x = 0 stays 0.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unit<R> {
    row: R,
    /// 1/‖x‖, or 0 for x = 0.
    scale: f64,
}

impl<R: RowView> Unit<R> {
    pub(crate) fn of(row: R) -> Result<Self, InputError> {
        let squares = row.norm_sq();
        if !squares.is_finite() {
            return Err(InputError::Overflow { row: 0 });
        }
        if squares >= f64::MIN_POSITIVE {
            return Ok(Unit { row, scale: 1.0 / squares.sqrt() });
        }
        if row.entries().any(|(_, v)| v != 0.0) {
            return Err(InputError::Underflow { row: 0 });
        }
        Ok(Unit { row, scale: 0.0 })
    }

    /// w · x/‖x‖.
    #[inline]
    pub(crate) fn margin(self, w: &[f64]) -> f64 {
        self.row.dot(w) * self.scale
    }

    /// w += a x/‖x‖.
    #[inline]
    pub(crate) fn add_to(self, a: f64, w: &mut [f64]) {
        self.row.add_scaled_to(a * self.scale, w);
    }
}

/// Returns the prediction with this value, or an error if the value is not finite.
pub(crate) fn predict(value: f64) -> Result<Prediction, OnlineError> {
    if value.is_finite() {
        Ok(Prediction::from_value(value))
    } else {
        Err(InputError::Overflow { row: 0 }.into())
    }
}

/// w · x, as in [`Classifier`](halfspaces_linalg::Classifier).
pub(crate) fn decision_value<R: RowView>(w: &[f64], x: R) -> Result<f64, InputError> {
    InputError::check_dim(w.len(), x.dim())?;
    let value = x.dot(w);
    if value.is_finite() { Ok(value) } else { Err(InputError::Overflow { row: 0 }) }
}

/// Sets w -= (w · x) x for the unit vector x and scales w back to norm 1. If the result vanishes, or if w was 0, w
/// becomes y x. A point x = 0 changes nothing.
pub(crate) fn remove_component<R: RowView>(x: Unit<R>, truth: Label, w: &mut [f64]) {
    x.add_to(-x.margin(w), w);
    // If w was parallel to x, rounding leaves a remainder without a meaningful direction.
    if norm(w) <= tolerance::VANISHED || !normalise(w) {
        w.fill(0.0);
        x.add_to(truth.as_f64(), w);
    }
}

/// Uniformly random labels.
#[cfg(test)]
fn random_labels(count: usize, seed: u64) -> Vec<Label> {
    use halfspaces_linalg::{RngStream, rng_for};
    use rand::RngExt;
    let mut rng = rng_for(RngStream::CALLER, seed);
    (0..count).map(|_| if rng.random() { Label::Positive } else { Label::Negative }).collect()
}
