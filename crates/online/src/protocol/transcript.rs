//! The record of a run: what was predicted, what was true.

use super::learner::OnlineLearner;
use super::prediction::Prediction;
use halfspaces_linalg::{InputError, Label, PointSet};
use thiserror::Error;

/// One round: a point, the prediction made for it, and the truth revealed afterwards.
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
    /// What the learner said before the label was revealed.
    pub prediction: Prediction,
    /// The label.
    pub truth: Label,
}

impl Round {
    /// Whether the learner committed itself to the wrong label.
    #[must_use]
    pub fn is_mistake(&self) -> bool {
        self.prediction.is_wrong(self.truth)
    }
}

/// The rounds of a run in order. It can be replayed against a fresh learner, which must then make
/// the same predictions to the bit.
///
/// ```
/// use halfspaces_linalg::{Label, Points};
/// use halfspaces_online::{AsGiven, Perceptron, run};
/// let points = Points::from_rows(&[[1.0], [-1.0]])?;
/// let labels = [Label::Negative, Label::Positive];
/// let (learner, transcript) = run(Perceptron::new(1)?, &points, &labels, AsGiven::new())?;
/// assert_eq!(transcript.mistakes(), 1);
/// assert_eq!(transcript.replay(Perceptron::new(1)?, &points)?, learner);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Transcript {
    rounds: Vec<Round>,
}

/// Why a replay stopped.
///
/// ```
/// use halfspaces_linalg::{Label, Points};
/// use halfspaces_online::{AsGiven, Perceptron, ReplayError, Winnow, run};
/// let points = Points::from_rows(&[[1.0, 0.0], [1.0, 0.0]])?;
/// let (_, transcript) = run(Perceptron::new(2)?, &points, &[Label::Negative; 2], AsGiven::new())?;
/// assert!(transcript.replay(Perceptron::new(2)?, &points).is_ok());
/// // Another learner says something else, in round 0.
/// let fault = transcript.replay(Winnow::new(2)?, &points);
/// assert!(matches!(fault, Err(ReplayError::Differs { round: 0, .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ReplayError {
    /// The learner predicted something else than was recorded.
    #[error("round {round}: recorded {recorded:?}, replayed {replayed:?}")]
    Differs {
        /// The round, from 0.
        round: usize,
        /// The prediction in the transcript.
        recorded: Prediction,
        /// The prediction of the replaying learner.
        replayed: Prediction,
    },
    /// The learner refused the point.
    #[error("round {round}: {source}")]
    Refused {
        /// The round, from 0.
        round: usize,
        /// Why.
        source: InputError,
    },
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

    /// Number of wrong predictions, abstentions apart.
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

    /// Plays the recorded rounds with a fresh `learner`, compares every prediction, and returns the
    /// learner as it stands at the end.
    ///
    /// # Errors
    /// [`ReplayError`] at the first round that differs.
    pub fn replay<L: OnlineLearner, P: PointSet>(
        &self,
        mut learner: L,
        points: &P,
    ) -> Result<L, ReplayError> {
        for (round, recorded) in self.rounds.iter().enumerate() {
            let index = recorded.index;
            let refused =
                |source: InputError| ReplayError::Refused { round, source: source.at_row(index) };
            let out_of_range = InputError::IndexOutOfRange { index, len: points.len() };
            let x = points.row(index).ok_or(refused(out_of_range))?;
            let replayed = learner.observe(x, recorded.truth).map_err(refused)?;
            if replayed != recorded.prediction {
                let recorded = recorded.prediction;
                return Err(ReplayError::Differs { round, recorded, replayed });
            }
        }
        Ok(learner)
    }
}
