//! The protocol of self-directed labelling: the learner proposes a point with a prediction, a person or a program
//! answers with its label, and the learner learns from the answer, until no point is left to propose.
//!
//! A session can be interrupted at any time and resumed. The answers so far are the whole state of the session, because
//! the learner is a function of its parameters, the pool and the answers. Record each answer, and pass the list to
//! [`SelfDirectedSession::resume`].

use super::{AnswerStatus, Pool, SelfDirectedLearner};
use crate::error::OnlineError;
use crate::protocol::{Question, Round, Transcript};
use halfspaces_linalg::{InputError, Label, PointSet, getters};

/// The progress of a session.
///
/// ```
/// use halfspaces_linalg::{Label, Points};
/// use halfspaces_online::{Greedy, Progress, SelfDirectedSession};
/// let points = Points::from_rows(&[[1.0], [-2.0]])?;
/// let mut session = SelfDirectedSession::new(Greedy::new(1)?, &points)?;
/// session.next()?;
/// session.answer(Label::Negative)?;
/// assert_eq!(session.progress(), Progress { points: 2, labelled: 1, mistakes: 1 });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Number of points in the pool.
    pub points: usize,
    /// Number of points with a revealed label.
    pub labelled: usize,
    /// Number of wrong predictions so far.
    pub mistakes: usize,
}

/// A session in which a learner labels a pool in an order of its choice.
///
/// ```
/// use halfspaces_linalg::{Label, Points};
/// use halfspaces_online::{Greedy, SelfDirectedSession};
/// let points = Points::from_rows(&[[1.0, 0.2], [0.9, -0.3], [-1.0, 0.1]])?;
/// let mut session = SelfDirectedSession::new(Greedy::new(2)?, &points)?;
/// let mut answers = vec![];
/// while let Some(question) = session.next()? {
///     // A person would see point `question.index` and the prediction `question.prediction.label`.
///     let label = Label::from_sign(points.as_slice()[2 * question.index]);
///     session.answer(label)?;
///     answers.push((question.index, label));
///     if answers.len() == 2 {
///         break; // interrupted
///     }
/// }
/// let mut later = SelfDirectedSession::resume(Greedy::new(2)?, &points, &answers)?;
/// assert_eq!(later.progress().labelled, 2);
/// assert_eq!(later.next()?.map(|q| q.index), Some(1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct SelfDirectedSession<'p, L, P> {
    learner: L,
    pool: Pool<'p, P>,
    open: Option<Question>,
    transcript: Transcript,
    mistakes: usize,
}

impl<'p, L: SelfDirectedLearner, P: PointSet> SelfDirectedSession<'p, L, P> {
    /// A session in which no label is revealed.
    ///
    /// # Errors
    /// [`InputError::Empty`] for a pool without points; [`InputError::Overflow`] or [`InputError::Underflow`] if the
    /// square of a norm is outside the range of `f64`.
    pub fn new(learner: L, points: &'p P) -> Result<Self, OnlineError> {
        if points.is_empty() {
            return Err(InputError::Empty.into());
        }
        let (pool, transcript) = (Pool::new(points)?, Transcript::default());
        Ok(SelfDirectedSession { learner, pool, open: None, transcript, mistakes: 0 })
    }

    /// Resumes a session. Replays `answers`, which are the points and labels of the earlier session in order, with a
    /// fresh learner that has the same parameters.
    ///
    /// # Errors
    /// [`OnlineError::ResumeDiffers`] if the learner proposes a point other than the recorded one; the errors of
    /// [`SelfDirectedSession::new`] and of the learner.
    ///
    /// ```
    /// use halfspaces_linalg::{Label, Points};
    /// use halfspaces_online::{Greedy, OnlineError, SelfDirectedSession};
    /// let points = Points::from_rows(&[[1.0], [-2.0]])?;
    /// // The greedy learner begins with point 0, so this list answers the questions of another learner.
    /// let resumed = SelfDirectedSession::resume(Greedy::new(1)?, &points, &[(1, Label::Positive)]);
    /// let fault = OnlineError::ResumeDiffers { answer: 0, recorded: 1, proposed: Some(0) };
    /// assert_eq!(resumed.err(), Some(fault));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn resume(
        learner: L,
        points: &'p P,
        answers: &[(usize, Label)],
    ) -> Result<Self, OnlineError> {
        let mut session = Self::new(learner, points)?;
        for (answer, &(recorded, label)) in answers.iter().enumerate() {
            let proposed = session.next()?.map(|question| question.index);
            if proposed != Some(recorded) {
                return Err(OnlineError::ResumeDiffers { answer, recorded, proposed });
            }
            session.answer(label)?;
        }
        Ok(session)
    }

    /// The next question, which stays open until it is answered; `None` if the learner has nothing left to ask. The
    /// value of its prediction is the margin of the scaled point.
    ///
    /// # Errors
    /// The errors of the learner; [`OnlineError::AlreadyAnswered`] or [`InputError::IndexOutOfRange`] if a custom
    /// learner asks about a point that already has an answer or does not exist.
    #[allow(clippy::should_implement_trait, reason = "fallible, with an answer between calls")]
    pub fn next(&mut self) -> Result<Option<Question>, OnlineError> {
        if self.open.is_none() {
            let question = self.learner.propose(&self.pool)?;
            if let Some(Question { index, .. }) = question {
                self.pool.check_question(index)?;
            }
            self.open = question;
        }
        Ok(self.open)
    }

    /// Answers the open question with the true label.
    ///
    /// # Errors
    /// [`OnlineError::NoQuestion`]; the errors of the learner. After an error of the learner, the transcript still
    /// contains the answer, so that the session can be resumed from the transcript.
    pub fn answer(&mut self, truth: Label) -> Result<Round, OnlineError> {
        let Question { index, prediction } = self.open.take().ok_or(OnlineError::NoQuestion)?;
        let round = Round { index, prediction, truth };
        self.pool.reveal(index, truth);
        self.transcript.push(round);
        self.mistakes += usize::from(round.is_mistake());
        self.learner.learn(&self.pool, round)?;
        Ok(round)
    }

    /// The progress of the session.
    #[must_use]
    pub fn progress(&self) -> Progress {
        let points = self.pool.points().len();
        Progress { points, labelled: points - self.pool.left(), mistakes: self.mistakes }
    }

    /// Whether some halfspace fits the current answers, as far as the learner knows. Costs one scan of the revealed
    /// points. See [`AnswerStatus`].
    pub fn status(&self) -> AnswerStatus {
        self.learner.status(&self.pool)
    }

    /// A small set of revealed points whose labels contradict each other. No halfspace has every point of the set
    /// strictly on the side that its label requires, but if any one of these points is left out, some halfspace does.
    /// Returns `None` if some halfspace has every revealed point strictly on the right side. Points x = 0 are ignored.
    /// Learners continue in either case, because each point is predicted only once.
    ///
    /// Costs a few cone programs and an equal number of scans of the revealed points.
    ///
    /// # Errors
    /// [`OnlineError::Input`].
    ///
    /// ```
    /// use halfspaces_linalg::{Label, Points};
    /// use halfspaces_online::{Greedy, SelfDirectedSession};
    /// let points = Points::from_rows(&[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])?;
    /// let mut session = SelfDirectedSession::new(Greedy::new(2)?, &points)?;
    /// while let Some(question) = session.next()? {
    ///     // Positive on both axes, negative between them.
    ///     let label = if question.index == 2 { Label::Negative } else { Label::Positive };
    ///     session.answer(label)?;
    /// }
    /// assert_eq!(session.contradiction()?, Some(vec![0, 1, 2]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn contradiction(&self) -> Result<Option<Vec<usize>>, OnlineError> {
        super::contradiction::find(&self.pool)
    }

    /// The points and their revealed labels.
    #[must_use]
    pub fn pool(&self) -> &Pool<'p, P> {
        &self.pool
    }

    getters! {
        /// The learner in its current state.
        learner: &L,

        /// The rounds so far.
        transcript: &Transcript,
    }

    /// Ends the session; returns the learner and the transcript.
    #[must_use]
    pub fn into_parts(self) -> (L, Transcript) {
        (self.learner, self.transcript)
    }
}

/// Runs a session to its end with known labels.
///
/// # Errors
/// [`InputError::LengthMismatch`], and the errors of [`SelfDirectedSession`].
///
/// ```
/// use halfspaces_linalg::Classifier;
/// use halfspaces_data::{Marginal, UnitSphere, random_target};
/// use halfspaces_online::{Greedy, label_pool};
/// let points = UnitSphere::new(5)?.sample(2000, 1)?;
/// let labels = random_target(5, 2)?.label_all(&points)?;
/// let (_, transcript) = label_pool(Greedy::new(5)?, &points, &labels)?;
/// assert_eq!(transcript.len(), 2000);
/// assert!(transcript.mistakes() < 25);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn label_pool<L: SelfDirectedLearner, P: PointSet>(
    learner: L,
    points: &P,
    labels: &[Label],
) -> Result<(L, Transcript), OnlineError> {
    InputError::check_len(points.len(), labels.len())?;
    let mut session = SelfDirectedSession::new(learner, points)?;
    while let Some(question) = session.next()? {
        session.answer(labels[question.index])?;
    }
    Ok(session.into_parts())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        ChainLength, Ellipsoid, Greedy, HardMargin, SampledGreedy, TwoChains, VersionSpaceGreedy,
    };
    use halfspaces_data::{Marginal, StudentT, UnitSphere, random_target};
    use halfspaces_linalg::{Classifier, Points, kernels};

    fn interrupted<L: SelfDirectedLearner + Clone + std::fmt::Debug>(
        learner: L,
        points: &Points,
        labels: &[Label],
    ) {
        let (_, whole) = label_pool(learner.clone(), points, labels).unwrap();
        let answers: Vec<(usize, Label)> =
            whole.rounds().iter().map(|round| (round.index, round.truth)).collect();
        for at in [0, 1, points.len() / 3, points.len() - 1, points.len()] {
            let mut session =
                SelfDirectedSession::resume(learner.clone(), points, &answers[..at]).unwrap();
            assert_eq!(session.progress().labelled, at);
            while let Some(question) = session.next().unwrap() {
                assert_eq!(
                    session.next().unwrap(),
                    Some(question),
                    "asking again returns the same question"
                );
                assert!(session.pool().label(question.index).is_none());
                session.answer(labels[question.index]).unwrap();
            }
            assert_eq!(session.transcript(), &whole);
            let mistakes = session.progress().mistakes;
            assert_eq!(mistakes, whole.mistakes());
        }
        let mut other = answers;
        other.swap(0, 1);
        let error = SelfDirectedSession::resume(learner, points, &other).unwrap_err();
        assert!(matches!(error, OnlineError::ResumeDiffers { answer: 0, .. }));
    }

    #[test]
    fn a_session_left_and_taken_up_ends_the_same() {
        let points = StudentT::new(4, 2.0, 10.0).unwrap().sample(300, 1).unwrap();
        let labels = random_target(4, 2).unwrap().label_all(&points).unwrap();
        interrupted(Greedy::new(4).unwrap(), &points, &labels);
        let length = ChainLength::Practical { factor: 2.0 };
        interrupted(TwoChains::new(4, length, 3).unwrap(), &points, &labels);
        interrupted(VersionSpaceGreedy::new(HardMargin::new(4).unwrap()), &points, &labels);
        interrupted(SampledGreedy::new(4, 3).unwrap(), &points, &labels);
        interrupted(VersionSpaceGreedy::new(Ellipsoid::new(4).unwrap()), &points, &labels);
    }

    #[test]
    fn every_learner_labels_every_point_once() {
        for (n, dim) in [(1, 1), (2, 3), (7, 2), (40, 1), (500, 3)] {
            let points = UnitSphere::new(dim).unwrap().sample(n, 4).unwrap();
            let labels = random_target(dim, 5).unwrap().label_all(&points).unwrap();
            let once = |transcript: Transcript| {
                let mut asked: Vec<usize> = transcript.rounds().iter().map(|r| r.index).collect();
                asked.sort_unstable();
                assert!(asked.into_iter().eq(0..n));
            };
            once(label_pool(Greedy::new(dim).unwrap(), &points, &labels).unwrap().1);
            let centre = HardMargin::new(dim).unwrap();
            once(label_pool(VersionSpaceGreedy::new(centre), &points, &labels).unwrap().1);
            once(label_pool(SampledGreedy::new(dim, 3).unwrap(), &points, &labels).unwrap().1);
            for length in [
                ChainLength::Practical { factor: 2.0 },
                ChainLength::Theory { failure: 0.1 },
                ChainLength::Exact { failure: 0.1 },
                ChainLength::Fixed(3),
            ] {
                let learner = TwoChains::new(dim, length, 6).unwrap();
                let (learner, transcript) = label_pool(learner, &points, &labels).unwrap();
                assert!(learner.chain_mistakes() <= 2 * learner.chain_length());
                once(transcript);
            }
        }
    }

    #[test]
    fn contradictory_labels_end_as_well() {
        let points = Points::from_rows(&[[1.0, 0.0], [1.0, 0.0], [0.0, 0.0], [-1.0, 0.5]]).unwrap();
        let labels = [Label::Positive, Label::Negative, Label::Negative, Label::Positive];
        let (_, transcript) = label_pool(Greedy::new(2).unwrap(), &points, &labels).unwrap();
        assert_eq!(transcript.len(), 4);
        let learner = VersionSpaceGreedy::new(HardMargin::new(2).unwrap());
        assert_eq!(label_pool(learner, &points, &labels).unwrap().1.len(), 4);
        let learner = SampledGreedy::new(2, 1).unwrap();
        let (learner, transcript) = label_pool(learner, &points, &labels).unwrap();
        assert!(transcript.len() == 4 && learner.is_exhausted());
    }

    /// Plays a session with random labels to its end. The status never claims that the halfspace of the learner fits if
    /// it does not. In the end, learners that search for a halfspace have found none, and a small set of contradictory
    /// points proves that none exists.
    fn random_labels_are_told<L: SelfDirectedLearner + Classifier>(
        learner: L,
        points: &Points,
        check: impl Fn(&L),
    ) -> AnswerStatus {
        let labels = crate::self_directed::random_labels(points.len(), 7);
        let mut session = SelfDirectedSession::new(learner, points).unwrap();
        while let Some(question) = session.next().unwrap() {
            if session.status() == AnswerStatus::Consistent && session.progress().labelled > 0 {
                for (i, y) in session.pool().revealed() {
                    assert_eq!(session.learner().label(points.row(i).unwrap()).unwrap(), y);
                }
            }
            session.answer(labels[question.index]).unwrap();
            check(session.learner());
        }
        assert_eq!(session.progress().labelled, points.len());
        assert!(session.contradiction().unwrap().is_some());
        assert_ne!(session.status(), AnswerStatus::Consistent);
        session.status()
    }

    #[test]
    fn random_labels_end_and_the_status_says_so() {
        use crate::version_space::step_budget;
        use crate::{CentreOfGravity, VolumetricCentre};
        for dim in [1, 2, 3, 5, 9, 13] {
            let points = UnitSphere::new(dim).unwrap().sample(40 * dim, 1).unwrap();
            let none = AnswerStatus::NoHalfspaceFound;
            // Most of the steps are made at the one answer that leaves no consistent halfspace.
            let few = step_budget(dim) / 8;
            let status =
                random_labels_are_told(SampledGreedy::new(dim, 3).unwrap(), &points, |l| {
                    assert!(l.steps() <= few as u64, "{} steps in dimension {dim}", l.steps());
                });
            assert_eq!(status, none);
            let hard = VersionSpaceGreedy::new(HardMargin::new(dim).unwrap());
            // There is at most one cut per revealed point and answer.
            let all = (40 * dim * 40 * dim) as u64;
            let status = random_labels_are_told(hard, &points, |l| assert!(l.cuts() <= all));
            assert_eq!(status, none);
            if dim <= 5 {
                let cuts = (2 * dim * (dim + 1) * 30 + 1) as u64;
                let ellipsoid = VersionSpaceGreedy::new(Ellipsoid::new(dim).unwrap());
                let status = random_labels_are_told(ellipsoid, &points, |l| {
                    assert!(l.cuts() <= cuts, "{} cuts in dimension {dim}", l.cuts());
                });
                assert_eq!(status, none);
                let gravity = VersionSpaceGreedy::new(CentreOfGravity::new(dim, 3).unwrap());
                assert_eq!(random_labels_are_told(gravity, &points, |_| ()), none);
                let volumetric = VersionSpaceGreedy::new(VolumetricCentre::new(dim).unwrap());
                assert_eq!(random_labels_are_told(volumetric, &points, |_| ()), none);
            }
            let greedy = Greedy::new(dim).unwrap();
            let status = random_labels_are_told(greedy, &points, |_| ());
            assert_eq!(status, AnswerStatus::Undecided);
        }
        // Algorithm 1 keeps two halfspaces, neither of which fits.
        let points = UnitSphere::new(3).unwrap().sample(200, 1).unwrap();
        let labels = crate::self_directed::random_labels(200, 7);
        let mut session =
            SelfDirectedSession::new(TwoChains::new(3, ChainLength::Fixed(4), 1).unwrap(), &points)
                .unwrap();
        while let Some(question) = session.next().unwrap() {
            session.answer(labels[question.index]).unwrap();
        }
        assert_eq!(session.status(), AnswerStatus::Undecided);
    }

    /// Each answer takes bounded time, even if the centre is never exhausted.
    #[test]
    fn a_centre_that_is_never_exhausted_is_given_up() {
        #[derive(Debug)]
        struct Tireless(Vec<f64>);
        impl crate::Centre for Tireless {
            fn dim(&self) -> usize {
                self.0.len()
            }
            fn centre(&self) -> &[f64] {
                &self.0
            }
            fn cut(&mut self, a: &[f64]) -> Result<(), InputError> {
                self.0 = a.to_vec();
                Ok(())
            }
            fn is_exhausted(&self) -> bool {
                false
            }
            fn mistake_bound(&self, _: f64) -> Option<f64> {
                None
            }
        }
        let points = Points::from_rows(&[[1.0, 0.0], [0.5, 0.0], [-1.0, 0.1]]).unwrap();
        let learner = VersionSpaceGreedy::new(Tireless(vec![0.0; 2]));
        let mut session = SelfDirectedSession::new(learner, &points).unwrap();
        for label in [Label::Positive, Label::Negative, Label::Positive] {
            let before = session.learner().cuts();
            session.next().unwrap().unwrap();
            session.answer(label).unwrap();
            let cuts = session.learner().cuts() - before;
            assert!(cuts <= 60 * 2 * 3 + 3, "{cuts} cuts");
        }
        assert!(session.learner().cuts() > 60 * 2 * 3);
        assert_eq!(session.status(), AnswerStatus::NoHalfspaceFound);
    }

    /// The learners that keep a halfspace for all answers report at all times that the answers are consistent.
    #[test]
    fn labels_of_a_halfspace_are_consistent() {
        let points = UnitSphere::new(4).unwrap().sample(300, 1).unwrap();
        let labels = random_target(4, 2).unwrap().label_all(&points).unwrap();
        let learner = VersionSpaceGreedy::new(HardMargin::new(4).unwrap());
        let mut session = SelfDirectedSession::new(learner, &points).unwrap();
        assert_eq!(session.status(), AnswerStatus::Consistent);
        while let Some(question) = session.next().unwrap() {
            session.answer(labels[question.index]).unwrap();
            assert_eq!(session.status(), AnswerStatus::Consistent);
        }
        let (learner, _) = label_pool(SampledGreedy::new(4, 3).unwrap(), &points, &labels).unwrap();
        assert!(!learner.is_exhausted());
        assert_eq!(learner.label_all(&points).unwrap(), labels);
    }

    /// After a mistake the hypothesis has the largest margin on all revealed points, not only on the mistakes.
    #[test]
    fn what_is_revealed_nearer_than_the_margin_is_cut_too() {
        let points = UnitSphere::new(4).unwrap().sample(300, 1).unwrap();
        let labels = random_target(4, 2).unwrap().label_all(&points).unwrap();
        let learner = VersionSpaceGreedy::new(HardMargin::new(4).unwrap());
        let mut session = SelfDirectedSession::new(learner, &points).unwrap();
        let (mut revealed, mut cuts, mut more) = (Vec::new(), 0, 0);
        while let Some(question) = session.next().unwrap() {
            session.answer(labels[question.index]).unwrap();
            revealed.push(question.index);
            let made = session.learner().cuts() - cuts;
            cuts += made;
            if made > 0 {
                more += made - 1;
                let centre = session.learner().centre();
                for &i in &revealed {
                    let value = labels[i].as_f64()
                        * kernels::dot(
                            crate::Centre::centre(centre),
                            points.row(i).unwrap().as_slice(),
                        );
                    assert!(value >= 0.99 * centre.margin(), "{value} {}", centre.margin());
                }
            }
        }
        assert!(more > 0, "no answer took more than one cut");
    }

    /// A question about a point that does not exist or is already revealed is an error of the learner.
    #[test]
    fn faulty_learners_are_refused() {
        struct Always(usize);
        impl SelfDirectedLearner for Always {
            fn propose<P: PointSet>(
                &mut self,
                _: &Pool<'_, P>,
            ) -> Result<Option<Question>, OnlineError> {
                let prediction = crate::Prediction::from_value(1.0);
                Ok(Some(Question { index: self.0, prediction }))
            }
            fn learn<P: PointSet>(&mut self, _: &Pool<'_, P>, _: Round) -> Result<(), OnlineError> {
                Ok(())
            }
            fn status<P: PointSet>(&self, _: &Pool<'_, P>) -> AnswerStatus {
                AnswerStatus::Undecided
            }
        }
        let points = Points::from_rows(&[[1.0], [2.0]]).unwrap();
        let mut session = SelfDirectedSession::new(Always(1), &points).unwrap();
        session.next().unwrap();
        session.answer(Label::Positive).unwrap();
        assert_eq!(session.next(), Err(OnlineError::AlreadyAnswered { index: 1 }));
        let mut session = SelfDirectedSession::new(Always(2), &points).unwrap();
        let out_of_range = InputError::IndexOutOfRange { index: 2, len: 2 };
        assert_eq!(session.next(), Err(out_of_range.into()));
        assert_eq!(session.answer(Label::Positive), Err(OnlineError::NoQuestion));
    }

    #[test]
    fn witnesses_are_small_and_every_point_of_them_is_needed() {
        for seed in 0..10 {
            let points = UnitSphere::new(4).unwrap().sample(300, seed).unwrap();
            let target = random_target(4, seed + 30).unwrap();
            let mut labels = target.label_all(&points).unwrap();
            let play = |labels: &[Label]| {
                let mut session =
                    SelfDirectedSession::new(Greedy::new(4).unwrap(), &points).unwrap();
                while let Some(question) = session.next().unwrap() {
                    session.answer(labels[question.index]).unwrap();
                }
                session.contradiction().unwrap()
            };
            assert_eq!(play(&labels), None);
            // The point with the largest margin gets the wrong label.
            let margins = halfspaces_linalg::margins(&points, target.normal()).unwrap();
            let far = (0..300).max_by(|i, j| margins[*i].abs().total_cmp(&margins[*j].abs()));
            labels[far.unwrap()] = -labels[far.unwrap()];
            let witness = play(&labels).unwrap();
            assert!(witness.len() <= 5 && witness.contains(&far.unwrap()), "{witness:?}");
            for left_out in &witness {
                let rest: Vec<usize> = witness.iter().copied().filter(|i| i != left_out).collect();
                let mut fit = HardMargin::new(4).unwrap();
                for i in rest {
                    let x = points.row(i).unwrap().as_slice();
                    let a: Vec<f64> = x.iter().map(|v| labels[i].as_f64() * v).collect();
                    crate::Centre::cut(&mut fit, &a).unwrap();
                }
                assert!(fit.margin() > 0.0);
            }
        }
    }

    /// A row is repeated with rounding noise and the opposite label. A cut that depends on the order of a sum must not
    /// be repeated forever.
    #[test]
    fn nearly_equal_rows_with_opposite_labels_come_to_an_end() {
        let (p, n) = (Label::Positive, Label::Negative);
        let cases: [(&[[f64; 2]], &[Label]); 3] = [
            (
                &[[-0.4, 2.0], [0.4, 1.8], [1.0, -0.7], [0.4, 1.799_999_999_999_999_8]],
                &[p, p, n, n],
            ),
            (&[[1.0, -0.5], [1.000_000_000_000_116_8, -0.500_000_000_000_038_9]], &[p, n]),
            (&[[-0.9, -1.5], [-0.899_999_999_999_999_8, -1.5]], &[p, n]),
        ];
        for (rows, labels) in cases {
            let points = Points::from_rows(rows).unwrap();
            let learner = VersionSpaceGreedy::new(HardMargin::new(2).unwrap());
            let mut session = SelfDirectedSession::new(learner, &points).unwrap();
            while let Some(question) = session.next().unwrap() {
                session.answer(labels[question.index]).unwrap();
            }
            let witness = session.contradiction().unwrap().unwrap();
            assert!(witness.len() <= 3, "{witness:?}");
            assert!(witness.windows(2).all(|pair| pair[0] < pair[1]), "{witness:?}");
        }
    }

    #[test]
    fn misuse_is_typed() {
        let points = Points::from_rows(&[[1.0, 0.0]]).unwrap();
        let mut session = SelfDirectedSession::new(Greedy::new(2).unwrap(), &points).unwrap();
        assert_eq!(session.answer(Label::Positive), Err(OnlineError::NoQuestion));
        let none = Points::new(vec![], 2).unwrap();
        let empty = SelfDirectedSession::new(Greedy::new(2).unwrap(), &none);
        assert!(matches!(empty, Err(OnlineError::Input(InputError::Empty))));
        let length = ChainLength::Practical { factor: 0.0 };
        assert!(TwoChains::new(2, length, 1).is_err());
        assert!(TwoChains::new(2, ChainLength::Theory { failure: 1.0 }, 1).is_err());
        assert!(TwoChains::new(2, ChainLength::Fixed(0), 1).is_err());
    }
}
