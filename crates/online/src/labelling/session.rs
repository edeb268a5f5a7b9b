//! A session in which a person labels a pool.

use super::file::{Answer, LabellingFile, Source};
use super::model::Model;
use super::outlook::Outlook;
use super::params::Labelling;
use halfspaces_linalg::{InputError, PointSet};
use thiserror::Error;

/// What a labelling session refuses.
///
/// ```
/// use halfspaces_linalg::{Params, Points};
/// use halfspaces_online::{LabellingError, LabellingParams};
/// let points = Points::from_rows(&[[1.0], [-2.0]])?;
/// let mut session = LabellingParams::new(2).check()?.session(&points)?;
/// assert_eq!(session.answer(1), Err(LabellingError::NoQuestion));
/// session.next();
/// assert_eq!(session.answer(2), Err(LabellingError::UnknownClass { class: 2, classes: 2 }));
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum LabellingError {
    /// Points or parameters are unusable.
    #[error(transparent)]
    Input(#[from] InputError),
    /// There is no question to answer.
    #[error("no question is open; call next first")]
    NoQuestion,
    /// A class that the session does not have.
    #[error("class {class} of {classes}; classes are counted from 0")]
    UnknownClass {
        /// The class given.
        class: usize,
        /// Number of classes.
        classes: usize,
    },
    /// The point has an answer already.
    #[error("point {index} has an answer; change it instead")]
    AlreadyAnswered {
        /// The point.
        index: usize,
    },
    /// The point has no answer that could be changed.
    #[error("point {index} has no answer; only an answer can be changed or withdrawn")]
    NotAnswered {
        /// The point.
        index: usize,
    },
    /// A saved session of another format.
    #[error("the session is saved in format {found}, this program reads format {expected}")]
    UnknownVersion {
        /// The version found.
        found: u32,
        /// The version read.
        expected: u32,
    },
}

/// The next question of a labelling session.
///
/// ```
/// use halfspaces_linalg::{Params, Points};
/// use halfspaces_online::LabellingParams;
/// let points = Points::from_rows(&[[1.0], [-2.0]])?;
/// let mut session = LabellingParams::new(2).check()?.session(&points)?;
/// let question = session.next().expect("nothing is labelled");
/// assert!(question.index < 2 && question.class < 2 && question.probability == 0.5);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LabellingQuestion {
    /// The point.
    pub index: usize,
    /// The class predicted.
    pub class: usize,
    /// The probability of that class, as the model sees it.
    pub probability: f64,
}

/// How far a labelling session has come.
///
/// ```
/// use halfspaces_linalg::{Params, Points};
/// use halfspaces_online::LabellingParams;
/// let points = Points::from_rows(&[[1.0], [-2.0], [3.0]])?;
/// let mut session = LabellingParams::new(2).check()?.session(&points)?;
/// session.tell(&[(2, 1)])?;
/// session.next();
/// session.confirm()?;
/// let progress = session.progress();
/// assert_eq!((progress.points, progress.answered, progress.known, progress.corrections), (3, 2, 1, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LabellingProgress {
    /// Points of the pool.
    pub points: usize,
    /// Points with an answer, those known beforehand too.
    pub answered: usize,
    /// Points whose labels were known beforehand.
    pub known: usize,
    /// Points skipped and not yet answered.
    pub skipped: usize,
    /// Answers other than predicted.
    pub corrections: usize,
}

/// Labels a pool of points with a person: it asks about the surest point, with a guess that the person confirms or
/// corrects; few corrections are needed until most of the pool is labelled. For labels that no halfspace
/// explains, of two or more classes, and for people who slip.
///
/// *The model.* Nine Gaussian posteriors side by side: halfspaces in the space of ½ columns + ½ a kernel, Gaussian of
/// four widths or Laplacian on ranks of two, by Nyström features, or their squares; halfspaces of the columns; and,
/// between two classes, the version space of
/// halfspaces of the columns with one slip in a hundred, by expectation propagation. Each is weighted by the
/// product of the probabilities that it gives every answer from all others. Columns are standardised first. With
/// more than two classes there are eight posteriors, by least squares.
///
/// *Answers.* They can be undone, changed and withdrawn at any time, skipped, known beforehand; points can be
/// added. The answers in their order, the points and the parameters determine the session to the bit, on any number of
/// threads. An answer undone leaves the model as it was before, to rounding (1e-6 of a probability), with the
/// same question open. An answer changed or withdrawn before the last one leaves it where the other answers put it, up to where
/// expectation propagation settles; the changed one counts as given last.
///
/// *Guarantee.* None on the number of corrections: a heuristic. Answers take bounded time whatever the
/// labels.
///
/// *Cost.* With n points, m features in all (2d + 6 times the number of landmarks, at most 400 and fewer from
/// 12 500 points on) 4nm bytes, O(nm) time per answer and O(n m²) once. An undo costs as much as an answer; so does
/// each answer when a session is resumed.
///
/// *When to use it.* To label a real pool. Where a halfspace is known to fit and a proved number of
/// mistakes matters, use a [`StrongLearner`](crate::StrongLearner) in a
/// [`SelfDirectedSession`](crate::SelfDirectedSession).
///
/// *Source.* Ours, from Rasmussen and Williams 2006, Gaussian Processes for Machine Learning, and Minka 2001, Expectation
/// Propagation for Approximate Bayesian Inference. Claims: S10, S10n, S10s, S10c, S10m.
///
/// ```
/// use halfspaces_linalg::{Params, Points};
/// use halfspaces_online::LabellingParams;
/// let points = Points::from_rows(&[[1.0, 0.2], [0.9, -0.3], [-1.0, 0.1], [-0.8, 0.4]])?;
/// let truth = |index: usize| usize::from(index < 2);
/// let mut session = LabellingParams::new(2).check()?.session(&points)?;
/// while let Some(question) = session.next() {
///     // A person would be shown point `question.index` and the guess `question.class`.
///     session.answer(truth(question.index))?;
/// }
/// assert!(session.progress().corrections <= 2);
/// // The last answer was wrong: its question opens again.
/// let again = session.undo().expect("four answers");
/// session.answer(1 - truth(again.index))?;
/// assert_eq!(session.class(again.index), Some(1 - truth(again.index)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct LabellingSession {
    labelling: Labelling,
    first_points: usize,
    model: Model,
    answers: Vec<Answer>,
    skipped: Vec<usize>,
    open: Option<LabellingQuestion>,
}

impl Labelling {
    /// A session about these points, of which nothing is known.
    ///
    /// # Errors
    /// [`InputError::Empty`]; [`InputError::TooLarge`]; [`InputError::Overflow`] if squares of the columns leave
    /// `f64`.
    pub fn session<P: PointSet>(self, points: &P) -> Result<LabellingSession, InputError> {
        LabellingSession::new(self, points)
    }
}

impl LabellingSession {
    fn new<P: PointSet>(labelling: Labelling, points: &P) -> Result<Self, InputError> {
        Ok(LabellingSession {
            labelling,
            first_points: points.len(),
            model: Model::new(labelling, points)?,
            answers: Vec::new(),
            skipped: Vec::new(),
            open: None,
        })
    }

    /// The session that was saved: learns from every answer of the list in its order. Classes may have been
    /// edited, answers taken out. `points` are those of the session, added ones last.
    ///
    /// # Errors
    /// [`LabellingError::UnknownVersion`]; [`InputError::LengthMismatch`] for another number of points;
    /// [`InputError::IndexOutOfRange`], [`LabellingError::AlreadyAnswered`] and [`LabellingError::UnknownClass`] about the
    /// list; those of [`Labelling::session`].
    pub fn resume<P: PointSet>(file: &LabellingFile, points: &P) -> Result<Self, LabellingError> {
        let (found, expected) = (file.version, LabellingFile::VERSION);
        if found != expected {
            return Err(LabellingError::UnknownVersion { found, expected });
        }
        InputError::check_len(points.len(), file.points)?;
        InputError::check_state(
            file.first_points <= file.points,
            "a session begins with no more points than it has",
        )?;
        let mut session = if file.first_points == file.points {
            LabellingSession::new(file.labelling, points)?
        } else {
            let range = |from: usize, to: usize| points.select(&(from..to).collect::<Vec<_>>());
            let first = range(0, file.first_points)?;
            let mut session = LabellingSession::new(file.labelling, &first)?;
            session.add_points(&range(file.first_points, file.points)?)?;
            session
        };
        let mut seen = vec![false; points.len()];
        for answer in &file.answers {
            session.check_class(answer.class)?;
            if let Source::Asked { predicted } = answer.source {
                session.check_class(predicted)?;
            }
            session.check_index(answer.index)?;
            if std::mem::replace(&mut seen[answer.index], true) {
                return Err(LabellingError::AlreadyAnswered { index: answer.index });
            }
        }
        for &index in &file.skipped {
            session.check_index(index)?;
        }
        let answers: Vec<(usize, usize)> =
            file.answers.iter().map(|a| (a.index, a.class)).collect();
        session.model.learn_all(&answers);
        session.answers.clone_from(&file.answers);
        session.skipped = file.skipped.iter().copied().filter(|i| !seen[*i]).collect();
        Ok(session)
    }

    /// What to save.
    #[must_use]
    pub fn file(&self) -> LabellingFile {
        LabellingFile {
            version: LabellingFile::VERSION,
            labelling: self.labelling,
            first_points: self.first_points,
            points: self.model.len(),
            answers: self.answers.clone(),
            skipped: self.skipped.clone(),
        }
    }

    fn check_class(&self, class: usize) -> Result<(), LabellingError> {
        let classes = self.labelling.classes();
        if class < classes { Ok(()) } else { Err(LabellingError::UnknownClass { class, classes }) }
    }

    fn check_index(&self, index: usize) -> Result<(), LabellingError> {
        let len = self.model.len();
        if index < len { Ok(()) } else { Err(InputError::IndexOutOfRange { index, len }.into()) }
    }

    /// The next question, open until it is answered or skipped: the surest point, or once no other is left the first
    /// that was skipped; `None` when every point has an answer.
    #[allow(clippy::should_implement_trait, reason = "answered in between")]
    pub fn next(&mut self) -> Option<LabellingQuestion> {
        if self.open.is_none() {
            let mut skipped = vec![false; self.model.len()];
            self.skipped.iter().for_each(|i| skipped[*i] = true);
            let index = self.model.surest(|i| !skipped[i]);
            self.open = index.or_else(|| self.skipped.first().copied()).map(|i| self.question(i));
        }
        self.open
    }

    fn question(&self, index: usize) -> LabellingQuestion {
        let verdict = self.model.verdict(index);
        LabellingQuestion { index, class: verdict.class, probability: verdict.probability() }
    }

    /// Opens this question instead of the one that [`next`](LabellingSession::next) would choose, for an order of one's own or
    /// for what a person was shown a moment ago; whether the answer is a correction is judged by its class.
    ///
    /// ```
    /// use halfspaces_linalg::{Params, Points};
    /// use halfspaces_online::LabellingParams;
    /// let points = Points::from_rows(&[[1.0], [-2.0], [3.0]])?;
    /// let mut session = LabellingParams::new(2).check()?.session(&points)?;
    /// for index in 0..3 {
    ///     session.ask(session.predict(index)?)?;
    ///     session.answer(usize::from(index != 1))?;
    /// }
    /// assert_eq!(session.next(), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`InputError::IndexOutOfRange`], [`LabellingError::UnknownClass`], [`LabellingError::AlreadyAnswered`]; then the open
    /// question stays open.
    pub fn ask(&mut self, question: LabellingQuestion) -> Result<(), LabellingError> {
        let LabellingQuestion { index, class, .. } = question;
        self.check_index(index)?;
        self.check_class(class)?;
        if self.model.class(index).is_some() {
            return Err(LabellingError::AlreadyAnswered { index });
        }
        self.open = Some(question);
        Ok(())
    }

    /// What the model says of a point: the predicted class with its probability, or the answer.
    ///
    /// # Errors
    /// [`InputError::IndexOutOfRange`].
    pub fn predict(&self, index: usize) -> Result<LabellingQuestion, LabellingError> {
        self.check_index(index)?;
        Ok(self.question(index))
    }

    /// Answers the open question by the class predicted.
    ///
    /// # Errors
    /// [`LabellingError::NoQuestion`].
    pub fn confirm(&mut self) -> Result<Answer, LabellingError> {
        let question = self.open.ok_or(LabellingError::NoQuestion)?;
        self.answer(question.class)
    }

    /// Answers the open question.
    ///
    /// # Errors
    /// [`LabellingError::NoQuestion`]; [`LabellingError::UnknownClass`], after which the question is still open.
    pub fn answer(&mut self, class: usize) -> Result<Answer, LabellingError> {
        let LabellingQuestion { index, class: predicted, .. } =
            self.open.ok_or(LabellingError::NoQuestion)?;
        self.check_class(class)?;
        self.open = None;
        let answer = Answer { index, class, source: Source::Asked { predicted } };
        self.take(answer);
        Ok(answer)
    }

    fn take(&mut self, answer: Answer) {
        self.answers.push(answer);
        self.skipped.retain(|i| *i != answer.index);
        self.model.learn(answer.index, answer.class);
    }

    /// Leaves the open question to the end.
    ///
    /// # Errors
    /// [`LabellingError::NoQuestion`].
    pub fn skip(&mut self) -> Result<usize, LabellingError> {
        let index = self.open.take().ok_or(LabellingError::NoQuestion)?.index;
        self.skipped.retain(|i| *i != index);
        self.skipped.push(index);
        Ok(index)
    }

    /// Labels known beforehand, or found elsewhere, as (point, class): they are learned from and were not predicted.
    ///
    /// # Errors
    /// [`InputError::IndexOutOfRange`], [`LabellingError::UnknownClass`], [`LabellingError::AlreadyAnswered`]; then
    /// none of them is taken.
    pub fn tell(&mut self, known: &[(usize, usize)]) -> Result<(), LabellingError> {
        let mut seen: Vec<usize> = Vec::with_capacity(known.len());
        for &(index, class) in known {
            self.check_index(index)?;
            self.check_class(class)?;
            if self.model.class(index).is_some() {
                return Err(LabellingError::AlreadyAnswered { index });
            }
            seen.push(index);
        }
        seen.sort_unstable();
        if let Some(pair) = seen.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(LabellingError::AlreadyAnswered { index: pair[0] });
        }
        self.model.learn_all(known);
        let answers =
            known.iter().map(|&(index, class)| Answer { index, class, source: Source::Known });
        self.answers.extend(answers);
        self.skipped.retain(|i| seen.binary_search(i).is_err());
        self.open = None;
        Ok(())
    }

    /// Takes back the last answer and opens its question again, with the prediction of then; an answer known
    /// beforehand is taken back too. `None` if there is no answer.
    pub fn undo(&mut self) -> Option<LabellingQuestion> {
        let answer = self.answers.pop()?;
        self.model.forget(answer.index);
        let mut question = self.question(answer.index);
        if let Source::Asked { predicted } = answer.source {
            question.class = predicted;
        }
        self.open = Some(question);
        self.open
    }

    /// Changes the class of an answer; it keeps its place in the list, and whether it was a correction is judged by
    /// what was predicted then.
    ///
    /// # Errors
    /// [`LabellingError::NotAnswered`], [`LabellingError::UnknownClass`], [`InputError::IndexOutOfRange`].
    pub fn change(&mut self, index: usize, class: usize) -> Result<(), LabellingError> {
        self.check_class(class)?;
        let place = self.place(index)?;
        if self.answers[place].class != class {
            self.answers[place].class = class;
            self.model.change(index, class);
            self.open = None;
        }
        Ok(())
    }

    /// Takes back an answer, wherever it stands in the list: the point may be asked again.
    ///
    /// # Errors
    /// [`LabellingError::NotAnswered`], [`InputError::IndexOutOfRange`].
    pub fn withdraw(&mut self, index: usize) -> Result<Answer, LabellingError> {
        let place = self.place(index)?;
        let answer = self.answers.remove(place);
        self.model.forget(index);
        self.open = None;
        Ok(answer)
    }

    /// Where the answer about a point stands in the list.
    fn place(&self, index: usize) -> Result<usize, LabellingError> {
        self.check_index(index)?;
        let place = self.answers.iter().position(|answer| answer.index == index);
        place.ok_or(LabellingError::NotAnswered { index })
    }

    /// Adds points behind those that there are. Scales and landmarks stay those of the first ones.
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`], [`InputError::TooLarge`], [`InputError::Overflow`]; then none is added.
    pub fn add_points<P: PointSet>(&mut self, points: &P) -> Result<(), LabellingError> {
        self.model.add_points(points)?;
        self.open = None;
        Ok(())
    }

    /// The answer about a point.
    #[must_use]
    pub fn class(&self, index: usize) -> Option<usize> {
        (index < self.model.len()).then(|| self.model.class(index)).flatten()
    }

    /// The answers in their order.
    #[must_use]
    pub fn answers(&self) -> &[Answer] {
        &self.answers
    }

    /// How far it has come.
    #[must_use]
    pub fn progress(&self) -> LabellingProgress {
        let known = self.answers.iter().filter(|answer| answer.source == Source::Known).count();
        LabellingProgress {
            points: self.model.len(),
            answered: self.answers.len(),
            known,
            skipped: self.skipped.len(),
            corrections: self.answers.iter().filter(|answer| answer.is_correction()).count(),
        }
    }

    /// How many corrections are to come.
    #[must_use]
    pub fn outlook(&self) -> Outlook {
        Outlook::new(self.model.len(), self.model.errors())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LabellingParams;
    use halfspaces_linalg::{Label, Params, Points, RngStream, Threads, rng_for};
    use proptest::prelude::*;
    use rand::RngExt;

    /// Two rings: no halfspace of the columns explains them.
    fn rings(n: usize, seed: u64) -> (Points, Vec<usize>) {
        let mut rng = rng_for(RngStream::Caller, seed);
        let mut values = Vec::new();
        let mut classes = Vec::new();
        for _ in 0..n {
            let class = usize::from(rng.random::<bool>());
            let (angle, radius) =
                (rng.random::<f64>() * 6.3, 1.0 + class as f64 + 0.4 * rng.random::<f64>());
            values.extend([radius * angle.cos(), radius * angle.sin()]);
            classes.push(class);
        }
        (Points::new(values, 2).unwrap(), classes)
    }

    fn labelling(classes: usize) -> Labelling {
        LabellingParams::new(classes).landmarks(40).seed(1).check().unwrap()
    }

    /// What the model says of every point, as numbers of one size.
    fn verdicts(session: &LabellingSession) -> Vec<f64> {
        (0..session.model.len())
            .map(|i| {
                let question = session.predict(i).unwrap();
                question.probability * if question.class == 0 { -1.0 } else { 1.0 }
            })
            .collect()
    }

    fn farthest(a: &LabellingSession, b: &LabellingSession) -> f64 {
        let (a, b) = (verdicts(a), verdicts(b));
        // A probability of one half is the same for every class.
        a.iter()
            .zip(b)
            .map(|(x, y)| (x - y).abs().min((x.abs() - y.abs()).abs() + (x.abs() - 0.5).abs()))
            .fold(0.0, f64::max)
    }

    fn answer_some(session: &mut LabellingSession, truth: &[usize], count: usize) {
        for _ in 0..count {
            let question = session.next().unwrap();
            session.answer(truth[question.index]).unwrap();
        }
    }

    #[test]
    fn rings_need_few_corrections_and_any_number_of_threads_gives_the_same() {
        let (points, truth) = rings(200, 3);
        let play = |threads| {
            let params =
                LabellingParams::new(2).landmarks(60).threads(Threads::new(threads).unwrap());
            let mut session = params.check().unwrap().session(&points).unwrap();
            answer_some(&mut session, &truth, 200);
            assert_eq!(session.next(), None);
            session.answers().to_vec()
        };
        let answers = play(1);
        assert_eq!(play(2), answers);
        // In random order a halfspace of the columns is wrong on almost half of them.
        let wrong = answers.iter().filter(|answer| answer.is_correction()).count();
        assert!(wrong <= 30, "{wrong} corrections");
    }

    #[test]
    fn three_classes_by_the_largest_gap() {
        let mut rng = rng_for(RngStream::Caller, 5);
        let truth: Vec<usize> = (0..150).map(|i| i % 3).collect();
        let mut values = Vec::new();
        for class in &truth {
            let angle = *class as f64 * 2.1;
            let noise = |rng: &mut rand::rngs::ChaCha8Rng| rng.random::<f64>() - 0.5;
            values
                .extend([2.0 * angle.cos() + noise(&mut rng), 2.0 * angle.sin() + noise(&mut rng)]);
        }
        let points = Points::new(values, 2).unwrap();
        let mut session = labelling(3).session(&points).unwrap();
        answer_some(&mut session, &truth, 150);
        assert!(session.progress().corrections <= 5, "{:?}", session.progress());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]

        /// Answers taken back leave the model as it was, to rounding.
        #[test]
        fn an_undo_is_as_if_nothing_had_been_said(seed in 0u64..1000, before in 2usize..25, more in 1usize..6) {
            let (points, truth) = rings(60, seed);
            let mut session = labelling(2).session(&points).unwrap();
            answer_some(&mut session, &truth, before);
            let at = session.clone();
            for _ in 0..more {
                let question = session.next().unwrap();
                session.answer(truth[question.index]).unwrap();
            }
            for _ in 0..more {
                let last = *session.answers().last().unwrap();
                let question = session.undo().unwrap();
                prop_assert_eq!(question.index, last.index);
            }
            prop_assert_eq!(session.answers(), at.answers());
            prop_assert!(farthest(&session, &at) < 1e-6, "{}", farthest(&session, &at));
            let mut session = labelling(3).session(&points).unwrap();
            answer_some(&mut session, &truth, before);
            let at = session.clone();
            answer_some(&mut session, &truth, more);
            for _ in 0..more {
                session.undo();
            }
            prop_assert!(farthest(&session, &at) < 1e-9, "{}", farthest(&session, &at));
        }

        /// A session saved and resumed is the session, to the bit, and goes on as it does.
        #[test]
        fn a_session_resumed_is_the_session(seed in 0u64..1000, before in 0usize..30) {
            let (points, truth) = rings(50, seed);
            let mut session = labelling(2).session(&points).unwrap();
            session.tell(&[(7, truth[7]), (3, truth[3])]).unwrap();
            session.next();
            session.skip().unwrap();
            answer_some(&mut session, &truth, before);
            let mut resumed = LabellingSession::resume(&session.file(), &points).unwrap();
            prop_assert_eq!(verdicts(&resumed), verdicts(&session));
            prop_assert_eq!(resumed.progress(), session.progress());
            answer_some(&mut session, &truth, 15);
            answer_some(&mut resumed, &truth, 15);
            prop_assert_eq!(resumed.answers(), session.answers());
        }
    }

    #[test]
    fn a_changed_answer_leaves_the_others_usable() {
        let (points, truth) = rings(80, 1);
        let mut session = labelling(2).session(&points).unwrap();
        let first = session.next().unwrap().index;
        session.answer(1 - truth[first]).unwrap();
        answer_some(&mut session, &truth, 39);
        let mut file = session.file();
        file.answers[0].class = truth[first];
        let resumed = LabellingSession::resume(&file, &points).unwrap();
        assert_eq!(resumed.progress().answered, 40);
        session.change(first, truth[first]).unwrap();
        assert_eq!(session.class(first), Some(truth[first]));
        assert_eq!(session.answers(), resumed.answers());
        // The order in which answers came matters a little to the factors that stand for them.
        assert!(farthest(&session, &resumed) < 0.15, "{}", farthest(&session, &resumed));
        // The other half needs few corrections.
        let (mut rest, before) = (resumed.clone(), resumed.progress().corrections);
        answer_some(&mut rest, &truth, 40);
        let more = rest.progress().corrections - before;
        assert!(more <= 5, "{more}");
        let answer = session.withdraw(first).unwrap();
        assert_eq!((answer.index, session.class(first)), (first, None));
        assert_eq!(session.withdraw(first), Err(LabellingError::NotAnswered { index: first }));
    }

    #[test]
    fn skipped_points_come_last_and_added_points_are_asked() {
        let (points, truth) = rings(30, 2);
        let mut session = labelling(2).session(&points).unwrap();
        let skipped = session.next().unwrap().index;
        assert_eq!(session.skip(), Ok(skipped));
        assert_eq!(session.skip(), Err(LabellingError::NoQuestion));
        answer_some(&mut session, &truth, 29);
        assert_eq!(session.next().unwrap().index, skipped);
        assert_eq!(session.progress().skipped, 1);
        session.answer(truth[skipped]).unwrap();
        assert_eq!((session.next(), session.progress().skipped), (None, 0));

        let (more, classes) = rings(20, 9);
        session.add_points(&more).unwrap();
        let all: Vec<usize> = truth.iter().chain(&classes).copied().collect();
        let right = (30..50).filter(|i| session.predict(*i).unwrap().class == all[*i]).count();
        assert!(right >= 16, "{right} of 20 predicted before they are asked");
        answer_some(&mut session, &all, 20);
        assert_eq!(session.progress().answered, 50);
        let both = [points.as_slice(), more.as_slice()].concat();
        let both = Points::new(both, 2).unwrap();
        let resumed = LabellingSession::resume(&session.file(), &both).unwrap();
        assert_eq!(resumed.answers(), session.answers());
        assert!(session.add_points(&Points::new(vec![1.0], 1).unwrap()).is_err());
        assert_eq!(session.progress().points, 50);
    }

    /// An order of the caller's own; a correction is one of what was shown, not of what the model says by now.
    #[test]
    fn any_question_can_be_asked() {
        let (points, truth) = rings(30, 2);
        let mut session = labelling(2).session(&points).unwrap();
        let shown = |index, class| LabellingQuestion { index, class, probability: 0.5 };
        for (index, class) in truth.iter().enumerate().take(10) {
            session.ask(shown(index, 1 - class)).unwrap();
            assert_eq!(session.next().unwrap().index, index);
            assert!(session.answer(*class).unwrap().is_correction());
        }
        assert_eq!(session.progress().corrections, 10);
        session.ask(shown(20, 1)).unwrap();
        assert_eq!(session.ask(shown(3, 0)), Err(LabellingError::AlreadyAnswered { index: 3 }));
        let unknown = LabellingError::UnknownClass { class: 2, classes: 2 };
        assert_eq!(session.ask(shown(21, 2)), Err(unknown));
        let out = InputError::IndexOutOfRange { index: 30, len: 30 };
        assert_eq!(session.ask(shown(30, 0)), Err(out.into()));
        assert_eq!(session.confirm().unwrap().index, 20);
        // A skipped point may be asked before its turn, and is skipped no longer once it is answered.
        let skipped = session.next().unwrap().index;
        session.skip().unwrap();
        session.ask(shown(skipped, 0)).unwrap();
        session.confirm().unwrap();
        assert_eq!(session.progress().skipped, 0);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let (points, truth) = rings(20, 4);
        let mut session = labelling(2).session(&points).unwrap();
        let out = LabellingError::Input(InputError::IndexOutOfRange { index: 20, len: 20 });
        assert_eq!(session.tell(&[(20, 0)]), Err(out.clone()));
        assert_eq!(
            session.tell(&[(1, 0), (1, 0)]),
            Err(LabellingError::AlreadyAnswered { index: 1 })
        );
        assert_eq!(session.progress().answered, 0);
        assert_eq!(session.predict(20), Err(out));
        assert_eq!(session.undo(), None);
        session.tell(&[(1, truth[1])]).unwrap();
        assert_eq!(session.tell(&[(1, 0)]), Err(LabellingError::AlreadyAnswered { index: 1 }));
        let file = session.file();
        let refused = |edit: &dyn Fn(&mut LabellingFile)| {
            let mut file = file.clone();
            edit(&mut file);
            LabellingSession::resume(&file, &points).unwrap_err()
        };
        let unknown = LabellingError::UnknownVersion { found: 2, expected: 1 };
        assert_eq!(refused(&|f| f.version = 2), unknown);
        assert!(matches!(refused(&|f| f.points = 19), LabellingError::Input(_)));
        assert!(matches!(refused(&|f| f.first_points = 21), LabellingError::Input(_)));
        assert!(matches!(refused(&|f| f.answers[0].index = 20), LabellingError::Input(_)));
        assert!(matches!(refused(&|f| f.skipped = vec![20]), LabellingError::Input(_)));
        assert!(matches!(
            refused(&|f| f.answers[0].class = 2),
            LabellingError::UnknownClass { .. }
        ));
        let twice = |f: &mut LabellingFile| f.answers.push(f.answers[0]);
        assert_eq!(refused(&twice), LabellingError::AlreadyAnswered { index: 1 });
    }

    /// Random answers, contradictions between equal points, constant columns: every answer is taken, and all numbers
    /// stay numbers.
    #[test]
    fn whatever_the_labels_it_goes_on() {
        let (points, _) = rings(40, 8);
        let rows: Vec<f64> =
            points.as_slice().chunks(2).flat_map(|x| [x[0].round(), x[1].round(), 1.0]).collect();
        let points = Points::new(rows, 3).unwrap();
        let mut rng = rng_for(RngStream::Caller, 1);
        let mut session = labelling(2).session(&points).unwrap();
        while let Some(question) = session.next() {
            assert!(question.probability >= 0.5 && question.probability <= 1.0, "{question:?}");
            session.answer(usize::from(rng.random::<bool>())).unwrap();
            let outlook = session.outlook();
            assert!(outlook.high.is_finite() && outlook.low <= outlook.expected);
        }
        assert_eq!(session.progress().answered, 40);
        assert_eq!(session.outlook().high, 0.0);
    }

    #[cfg(feature = "serde")]
    #[test]
    fn a_file_survives_being_written() {
        let (points, truth) = rings(20, 4);
        let mut session = labelling(2).session(&points).unwrap();
        answer_some(&mut session, &truth, 5);
        let text = serde_json::to_string(&session.file()).unwrap();
        let file: LabellingFile = serde_json::from_str(&text).unwrap();
        assert_eq!(file, session.file());
        assert!(
            serde_json::from_str::<LabellingFile>(&text.replace("\"classes\":2", "\"classes\":1"))
                .is_err()
        );
    }

    #[test]
    fn the_learner_plays_as_the_session_does() {
        let (points, truth) = rings(50, 6);
        let labels: Vec<Label> = truth.iter().map(|c| Label::from_sign(*c as f64 - 0.5)).collect();
        let learner = labelling(2).learner().unwrap();
        let (_, transcript) = crate::label_pool(learner, &points, &labels).unwrap();
        let mut session = labelling(2).session(&points).unwrap();
        answer_some(&mut session, &truth, 50);
        let asked = |rounds: Vec<usize>| rounds;
        assert_eq!(
            asked(transcript.rounds().iter().map(|round| round.index).collect()),
            asked(session.answers().iter().map(|answer| answer.index).collect())
        );
        assert_eq!(transcript.mistakes(), session.progress().corrections);
        assert!(labelling(3).learner().is_err());
    }

    /// A row both answered and skipped is answered; what is taken back shows again what was predicted.
    #[test]
    fn a_row_is_not_skipped_once_answered_and_undo_shows_what_was_shown() {
        let rows: Vec<[f64; 2]> = (0..20).map(|i| [f64::from(i) - 9.5, f64::from(i % 3)]).collect();
        let points = Points::from_rows(&rows).unwrap();
        let mut session = labelling(2).session(&points).unwrap();
        let question = session.next().unwrap();
        session.answer(1 - question.class).unwrap();
        let mut file = session.file();
        file.skipped = vec![question.index, (question.index + 1) % 20];
        let resumed = LabellingSession::resume(&file, &points).unwrap();
        assert_eq!(resumed.progress().skipped, 1);
        let shown = LabellingQuestion {
            index: 7,
            class: 1 - session.predict(7).map_or(0, |q| q.class),
            probability: 0.5,
        };
        if session.class(7).is_none() {
            session.ask(shown).unwrap();
            session.answer(shown.class).unwrap();
            assert_eq!(session.undo().unwrap().class, shown.class);
        } else {
            panic!("7 answered");
        }
    }

    #[test]
    fn a_row_skipped_and_then_told_is_no_longer_skipped() {
        let (points, truth) = rings(20, 4);
        let mut session = labelling(2).session(&points).unwrap();
        session.next();
        let index = session.skip().unwrap();
        session.tell(&[(index, truth[index])]).unwrap();
        assert_eq!((session.progress().skipped, session.progress().known), (0, 1));
        answer_some(&mut session, &truth, 19);
        assert_eq!(session.next(), None);
    }

    #[test]
    fn a_withdrawal_closes_the_open_question() {
        let (points, truth) = rings(20, 4);
        let mut session = labelling(2).session(&points).unwrap();
        let first = session.next().unwrap().index;
        session.answer(truth[first]).unwrap();
        session.next();
        session.withdraw(first).unwrap();
        assert_eq!(session.answer(0), Err(LabellingError::NoQuestion));
    }
}
