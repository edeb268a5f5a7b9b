//! The online protocol: ask about a point, get a prediction, give the true label.

use super::learner::OnlineLearner;
use super::order::Order;
use super::prediction::Prediction;
use super::transcript::{Round, Transcript};
use crate::error::OnlineError;
use halfspaces_linalg::{InputError, Label, PointSet, getters};

/// A point of the pool and the prediction for it, before the label is known.
///
/// ```
/// use halfspaces_linalg::{Label, Points};
/// use halfspaces_online::{Perceptron, Session};
/// let points = Points::from_rows(&[[1.0], [2.0]])?;
/// let mut session = Session::new(Perceptron::new(1)?, &points)?;
/// let question = session.ask(1)?;
/// assert_eq!((question.index, question.prediction.label), (1, Label::Positive));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Question {
    /// The point, as an index into the pool.
    pub index: usize,
    /// The learner's prediction.
    pub prediction: Prediction,
}

/// An online run over a pool, in which the learner predicts each label before the label is given.
///
/// The session knows the points but no labels. It asks about each point at most once.
///
/// ```
/// use halfspaces_linalg::{Label, Points};
/// use halfspaces_online::{Perceptron, Session};
/// let points = Points::from_rows(&[[1.0, 0.0], [0.0, 1.0]])?;
/// let mut session = Session::new(Perceptron::new(2)?, &points)?;
/// let question = session.ask(1)?;
/// assert_eq!(question.prediction.label, Label::Positive);
/// let round = session.answer(Label::Negative)?; // a person, a file, a simulation
/// assert!(round.is_mistake());
/// assert!(session.ask(1).is_err()); // never predicted again
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Session<'p, L, P> {
    learner: L,
    points: &'p P,
    revealed: Vec<bool>,
    open: Option<Question>,
    transcript: Transcript,
}

impl<'p, L: OnlineLearner, P: PointSet> Session<'p, L, P> {
    /// A session in which no question has been asked.
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`] if the learner and the points have different dimensions.
    pub fn new(learner: L, points: &'p P) -> Result<Self, InputError> {
        InputError::check_dim(learner.dim(), points.dim())?;
        Ok(Session {
            learner,
            points,
            revealed: vec![false; points.len()],
            open: None,
            transcript: Transcript::default(),
        })
    }

    /// Asks the learner about point `index`. The question stays open until it is answered.
    ///
    /// # Errors
    /// [`OnlineError::QuestionOpen`], [`OnlineError::AlreadyAnswered`], [`InputError::IndexOutOfRange`], and the errors
    /// of the learner.
    pub fn ask(&mut self, index: usize) -> Result<Question, OnlineError> {
        if let Some(Question { index, .. }) = self.open {
            return Err(OnlineError::QuestionOpen { index });
        }
        let len = self.points.len();
        let x = self.points.row(index).ok_or(InputError::IndexOutOfRange { index, len })?;
        if self.revealed[index] {
            return Err(OnlineError::AlreadyAnswered { index });
        }
        let prediction = self.learner.guess(x).map_err(|error| error.at_row(index))?;
        let question = Question { index, prediction };
        self.open = Some(question);
        Ok(question)
    }

    /// Answers the open question with the true label, from which the learner learns.
    ///
    /// # Errors
    /// [`OnlineError::NoQuestion`], and the errors of the learner.
    pub fn answer(&mut self, truth: Label) -> Result<Round, OnlineError> {
        let Question { index, prediction } = self.open.ok_or(OnlineError::NoQuestion)?;
        let Some(x) = self.points.row(index) else { unreachable!("the point was asked") };
        self.learner.update(x, prediction, truth).map_err(|error| error.at_row(index))?;
        let round = Round { index, prediction, truth };
        self.transcript.push(round);
        self.open = None;
        self.revealed[index] = true;
        Ok(round)
    }

    getters! {
        /// The learner in its current state.
        learner: &L,

        /// The rounds so far.
        transcript: &Transcript,
    }

    /// Ends the session; returns the learner and the transcript.
    pub fn into_parts(self) -> (L, Transcript) {
        (self.learner, self.transcript)
    }
}

/// Runs `learner` over `points` in the given order. The learner predicts each label before it is given. Returns the
/// learner and the transcript.
///
/// # Errors
/// [`InputError::LengthMismatch`], and the errors of [`Session`].
///
/// ```
/// use halfspaces_linalg::{Label, Points};
/// use halfspaces_online::{Perceptron, SmallestMarginMistake, run};
/// let points = Points::from_rows(&[[1.0, 0.1], [1.0, -0.1]])?;
/// let labels = [Label::Positive, Label::Negative];
/// let adversary = SmallestMarginMistake::new(labels.to_vec());
/// let (_, transcript) = run(Perceptron::new(2)?, &points, &labels, adversary)?;
/// assert_eq!(transcript.mistakes(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn run<L: OnlineLearner, P: PointSet>(
    learner: L,
    points: &P,
    labels: &[Label],
    mut order: impl Order,
) -> Result<(L, Transcript), OnlineError> {
    InputError::check_len(points.len(), labels.len())?;
    let mut session = Session::new(learner, points)?;
    while let Some(index) = order.next(session.learner(), points)? {
        session.ask(index)?;
        session.answer(labels[index])?;
    }
    Ok(session.into_parts())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AsGiven, Perceptron};
    use halfspaces_linalg::Points;

    fn pool() -> Points {
        Points::from_rows(&[[1.0], [-2.0], [3.0]]).unwrap()
    }

    #[test]
    fn questions_and_answers_alternate() {
        let points = pool();
        let mut session = Session::new(Perceptron::new(1).unwrap(), &points).unwrap();
        assert_eq!(session.answer(Label::Positive), Err(OnlineError::NoQuestion));
        session.ask(2).unwrap();
        assert_eq!(session.ask(0), Err(OnlineError::QuestionOpen { index: 2 }));
        session.answer(Label::Negative).unwrap();
        assert_eq!(session.ask(2), Err(OnlineError::AlreadyAnswered { index: 2 }));
        let out_of_range = InputError::IndexOutOfRange { index: 3, len: 3 };
        assert_eq!(session.ask(3), Err(out_of_range.into()));
        assert_eq!(session.open, None);
        assert_eq!(session.transcript().len(), 1);
    }

    #[test]
    fn ask_and_tell_gives_the_transcript_of_run() {
        let points = pool();
        let labels = [Label::Negative, Label::Positive, Label::Negative];
        let mut session = Session::new(Perceptron::new(1).unwrap(), &points).unwrap();
        for (index, truth) in labels.into_iter().enumerate() {
            session.ask(index).unwrap();
            session.answer(truth).unwrap();
        }
        let bulk = run(Perceptron::new(1).unwrap(), &points, &labels, AsGiven::new()).unwrap();
        assert_eq!(session.into_parts(), bulk);
    }

    #[test]
    fn a_replay_that_differs_is_caught() {
        let points = pool();
        let labels = [Label::Negative, Label::Positive, Label::Negative];
        let learner = || Perceptron::new(1).unwrap();
        let (end, transcript) = run(learner(), &points, &labels, AsGiven::new()).unwrap();
        assert_eq!(transcript.replay(learner(), &points).unwrap(), end);
        let other = Points::from_rows(&[[1.0], [-2.5], [3.0]]).unwrap();
        let differs = transcript.replay(learner(), &other);
        assert!(matches!(differs, Err(OnlineError::ReplayDiffers { round: 1, .. })));
        let short = Points::from_rows(&[[1.0]]).unwrap();
        let refused = transcript.replay(learner(), &short);
        assert!(matches!(refused, Err(OnlineError::ReplayRefused { round: 1, .. })));
    }

    /// An order that returns an index beyond the end of the pool.
    struct Beyond;

    impl Order for Beyond {
        fn next<L: OnlineLearner, Q: PointSet>(
            &mut self,
            _: &L,
            points: &Q,
        ) -> Result<Option<usize>, InputError> {
            Ok(Some(points.len()))
        }
    }

    #[test]
    fn lengths_and_dimensions_are_compared_first() {
        let points = pool();
        let learner = Perceptron::new(1).unwrap();
        let short = run(learner.clone(), &points, &[Label::Positive], AsGiven::new());
        assert!(matches!(short, Err(OnlineError::Input(InputError::LengthMismatch { .. }))));
        assert!(Session::new(Perceptron::new(2).unwrap(), &points).is_err());
        let beyond = run(learner, &points, &[Label::Positive; 3], Beyond);
        let out_of_range = InputError::IndexOutOfRange { index: 3, len: 3 };
        assert_eq!(beyond, Err(out_of_range.into()));
    }
}
