//! The record of a run: predictions and true labels.

use super::learner::OnlineLearner;
use super::prediction::Prediction;
use crate::error::OnlineError;
use halfspaces_linalg::{InputError, Label, PointSet};

/// One round: a point, the prediction for it, and the label given afterwards.
///
/// ```
/// use halfspaces_linalg::Label;
/// use halfspaces_online::{Prediction, Round};
/// let round = Round { index: 4, prediction: Prediction::from_value(0.0), truth: Label::Negative };
/// assert!(round.is_mistake()); // sign(0) = +1
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Round {
    /// The point, as an index into the pool.
    pub index: usize,
    /// The prediction made before the label was known.
    pub prediction: Prediction,
    /// The true label.
    pub truth: Label,
}

impl Round {
    /// Whether the prediction was wrong. An abstention does not count as wrong.
    #[must_use]
    pub fn is_mistake(&self) -> bool {
        self.prediction.is_wrong(self.truth)
    }
}

/// The rounds of a run, in order. A transcript can be replayed with a fresh learner, which must make the same
/// predictions, bit for bit.
///
/// ```
/// use halfspaces_linalg::{Label, Points};
/// use halfspaces_online::{AsGiven, OnlineError, Perceptron, run};
/// let points = Points::from_rows(&[[1.0], [-1.0]])?;
/// let labels = [Label::Negative, Label::Positive];
/// let (learner, transcript) = run(Perceptron::new(1)?, &points, &labels, AsGiven::new())?;
/// assert_eq!(transcript.mistakes(), 1);
/// assert_eq!(transcript.replay(Perceptron::new(1)?, &points)?, learner);
/// // A learner that has already learned predicts something else in round 0.
/// let fault = transcript.replay(learner, &points);
/// assert!(matches!(fault, Err(OnlineError::ReplayDiffers { round: 0, .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Transcript {
    rounds: Vec<Round>,
}

impl Transcript {
    /// The rounds in order.
    #[must_use]
    pub fn rounds(&self) -> &[Round] {
        &self.rounds
    }

    /// Number of rounds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rounds.len()
    }

    /// Whether no round has been played.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rounds.is_empty()
    }

    /// Number of wrong predictions, not counting abstentions.
    #[must_use]
    pub fn mistakes(&self) -> usize {
        self.rounds.iter().filter(|round| round.is_mistake()).count()
    }

    /// Number of rounds in which the learner abstained.
    #[must_use]
    pub fn abstentions(&self) -> usize {
        self.rounds.iter().filter(|round| round.prediction.abstains).count()
    }

    pub(crate) fn push(&mut self, round: Round) {
        self.rounds.push(round);
    }

    /// Plays the recorded rounds with a fresh `learner`, compares every prediction, and returns the learner in its
    /// final state.
    ///
    /// # Errors
    /// [`OnlineError::ReplayDiffers`] at the first round whose prediction differs; [`OnlineError::ReplayRefused`] at a
    /// point that the learner rejects.
    pub fn replay<L: OnlineLearner, P: PointSet>(
        &self,
        mut learner: L,
        points: &P,
    ) -> Result<L, OnlineError> {
        for (round, recorded) in self.rounds.iter().enumerate() {
            let index = recorded.index;
            let refused = |source: InputError| OnlineError::ReplayRefused {
                round,
                source: source.at_row(index),
            };
            let out_of_range = InputError::IndexOutOfRange { index, len: points.len() };
            let x = points.row(index).ok_or(refused(out_of_range))?;
            let replayed = learner.observe(x, recorded.truth).map_err(refused)?;
            if replayed != recorded.prediction {
                let recorded = recorded.prediction;
                return Err(OnlineError::ReplayDiffers { round, recorded, replayed });
            }
        }
        Ok(learner)
    }
}
