//! What can go wrong when a learner is used.

use halfspaces_forster::ForsterError;
use halfspaces_linalg::InputError;
use thiserror::Error;

/// Bad input to a learner or a session. Unless a function says otherwise, the learner and the
/// transcript are as before the call.
///
/// ```
/// use halfspaces_linalg::{Label, Points};
/// use halfspaces_online::{OnlineError, Perceptron, Session};
/// let points = Points::from_rows(&[[1.0], [2.0]])?;
/// let mut session = Session::new(Perceptron::new(1)?, &points)?;
/// assert_eq!(session.reveal(Label::Positive), Err(OnlineError::NoQuestion));
/// session.ask(1)?;
/// assert_eq!(session.ask(0), Err(OnlineError::QuestionOpen { index: 1 }));
/// session.reveal(Label::Positive)?;
/// assert_eq!(session.ask(1), Err(OnlineError::AlreadyRevealed { index: 1 }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum OnlineError {
    /// Points, labels or parameters are unusable.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The Forster transform of what is left of a pool failed.
    #[error(transparent)]
    Transform(ForsterError),
    /// A question is open; it must be answered first.
    #[error("point {index} was asked and not yet revealed; reveal it first")]
    QuestionOpen {
        /// The point of the open question.
        index: usize,
    },
    /// There is no question to answer.
    #[error("no question is open; ask one first")]
    NoQuestion,
    /// A revealed point is never predicted again.
    #[error("point {index} has been revealed already")]
    AlreadyRevealed {
        /// The point.
        index: usize,
    },
}
