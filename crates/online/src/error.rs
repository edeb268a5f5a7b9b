//! The error type of learners, runs and sessions.

use crate::limits::{MAX_CLASS, MAX_DICHOTOMIES, MAX_POOL};
use crate::protocol::Prediction;
use halfspaces_forster::ForsterError;
use halfspaces_linalg::InputError;
use thiserror::Error;

/// Invalid input to a learner, a class of hypotheses, a run or a session.
///
/// Unless a function says otherwise, an error leaves the learner and the session unchanged.
///
/// ```
/// use halfspaces_linalg::{Label, Points};
/// use halfspaces_online::{OnlineError, Perceptron, Session};
/// let points = Points::from_rows(&[[1.0], [2.0]])?;
/// let mut session = Session::new(Perceptron::new(1)?, &points)?;
/// assert_eq!(session.answer(Label::Positive), Err(OnlineError::NoQuestion));
/// session.ask(1)?;
/// assert_eq!(session.ask(0), Err(OnlineError::QuestionOpen { index: 1 }));
/// session.answer(Label::Positive)?;
/// assert_eq!(session.ask(1), Err(OnlineError::AlreadyAnswered { index: 1 }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum OnlineError {
    /// Points, labels or parameters are invalid.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The Forster transform of the unlabelled points of a pool failed.
    #[error(transparent)]
    Transform(ForsterError),
    /// A question is still open.
    #[error("the question about point {index} is still open; answer it first")]
    QuestionOpen {
        /// The index of the point that the open question is about.
        index: usize,
    },
    /// There is no question to answer.
    #[error("no question is open; call next or ask first")]
    NoQuestion,
    /// The point already has an answer; a session asks about each point at most once.
    #[error("point {index} already has an answer")]
    AlreadyAnswered {
        /// The index of the point.
        index: usize,
    },
    /// The point has no answer that could be changed or withdrawn.
    #[error("point {index} has no answer; only an existing answer can be changed or withdrawn")]
    NotAnswered {
        /// The index of the point.
        index: usize,
    },
    /// The session does not have this class.
    #[error("unknown class {class}: the session has {classes} classes, numbered from 0")]
    UnknownClass {
        /// The given class.
        class: usize,
        /// Number of classes.
        classes: usize,
    },
    /// This program cannot read the format version of a saved session.
    #[error(
        "the session has format version {found}, but this program reads version {expected} only"
    )]
    UnknownVersion {
        /// The version found.
        found: u32,
        /// The version that this program reads.
        expected: u32,
    },
    /// A saved list of answers does not match the questions that the learner asks: the points or the parameters differ,
    /// or the list is damaged.
    #[error(
        "answer {answer} (counted from 0) is about point {recorded}, but the learner asks about {proposed:?}; \
         resume with the same pool and the same learner parameters"
    )]
    ResumeDiffers {
        /// Position in the list of answers.
        answer: usize,
        /// The index of the point in the list.
        recorded: usize,
        /// The index of the point that the learner proposes, if any.
        proposed: Option<usize>,
    },
    /// A replayed learner made a prediction that differs from the one in the transcript.
    #[error(
        "round {round}: the transcript records {recorded:?}, but the learner predicts {replayed:?}"
    )]
    ReplayDiffers {
        /// The round, counted from 0.
        round: usize,
        /// The prediction in the transcript.
        recorded: Prediction,
        /// The prediction of the replayed learner.
        replayed: Prediction,
    },
    /// A replayed learner rejected a point.
    #[error("round {round}: {source}")]
    ReplayRefused {
        /// The round, counted from 0.
        round: usize,
        /// The reason.
        source: InputError,
    },
    /// A class has more than [`MAX_CLASS`] hypotheses.
    #[error(
        "the class has {size:.3e} hypotheses, but at most {MAX_CLASS} fit in memory; use a version-space learner \
         instead"
    )]
    ClassTooLarge {
        /// The number of hypotheses in the class.
        size: f64,
    },
    /// A pool has more than [`MAX_POOL`] points, so its dichotomies cannot be listed.
    #[error(
        "the pool has {points} points, but dichotomies are listed for at most {MAX_POOL}; take a part of the pool"
    )]
    TooManyPoints {
        /// Number of points.
        points: usize,
    },
    /// A pool may have more than [`MAX_DICHOTOMIES`] dichotomies.
    #[error(
        "the pool may have {dichotomies:.3e} dichotomies, but at most {MAX_DICHOTOMIES} are listed; take fewer points \
         or fewer dimensions"
    )]
    TooManyDichotomies {
        /// The number of dichotomies if the pool is in general position, by Cover's formula.
        dichotomies: f64,
    },
    /// Rounding errors leave it uncertain on which side of a point's hyperplane a cell lies.
    #[error(
        "row {row} is so close to a linear combination of others that the cells cannot be told apart in floating \
         point; drop it or move it"
    )]
    Unresolved {
        /// The row, counted from 0.
        row: usize,
    },
}

impl From<ForsterError> for OnlineError {
    fn from(error: ForsterError) -> OnlineError {
        match error {
            ForsterError::Input(error) => OnlineError::Input(error),
            other => OnlineError::Transform(other),
        }
    }
}
