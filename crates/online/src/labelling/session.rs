//! A session in which a person labels a pool.

use super::advice::Advice;
use super::file::{Answer, LabellingFile, Source};
use super::outlook::Outlook;
use super::params::Labelling;
use super::pool_model::PoolModel;
use crate::error::OnlineError;
use halfspaces_linalg::{InputError, PointSet};

/// The next question of a labelling session.
///
/// ```
/// use halfspaces_linalg::{Params, Points};
/// use halfspaces_online::Labelling;
/// let points = Points::from_rows(&[[1.0], [-2.0]])?;
/// let mut session = Labelling::params(2).check()?.session(&points)?;
/// let question = session.next().expect("nothing is labelled");
/// assert!(question.index < 2 && question.class < 2 && question.probability == 0.5);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LabellingQuestion {
    /// The index of the point.
    pub index: usize,
    /// The predicted class.
    pub class: usize,
    /// The probability of the predicted class according to the model.
    pub probability: f64,
}

/// The progress of a labelling session.
///
/// ```
/// use halfspaces_linalg::{Params, Points};
/// use halfspaces_online::Labelling;
/// let points = Points::from_rows(&[[1.0], [-2.0], [3.0]])?;
/// let mut session = Labelling::params(2).check()?.session(&points)?;
/// session.tell(&[(2, 1)])?;
/// session.next();
/// session.confirm()?;
/// let progress = session.progress();
/// assert_eq!((progress.points, progress.answered, progress.known, progress.corrections), (3, 2, 1, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LabellingProgress {
    /// Number of points in the pool.
    pub points: usize,
    /// Number of points with an answer, including those whose labels were known in advance.
    pub answered: usize,
    /// Number of points whose labels were known in advance.
    pub known: usize,
    /// Number of points that were skipped and have no answer yet.
    pub skipped: usize,
    /// Number of answers that differ from the prediction.
    pub corrections: usize,
}

/// A session in which a person labels a pool. The session asks about the surest point and predicts its class, and the
/// person confirms or corrects the prediction. Labelling most of the pool takes few corrections. The session works for
/// two or more classes, for labels that no halfspace explains, and even if some answers are wrong.
///
/// *The model.* The model combines nine Gaussian posteriors. Seven of them are over halfspaces in the feature space of
/// a combined kernel: half the linear kernel of the columns plus half a second kernel. The second kernel is Gaussian
/// with one of four widths, Laplacian on ranks with one of two widths (both computed with Nyström features), or the
/// linear kernel of the squares of the columns. The eighth posterior is over halfspaces of the columns. The ninth is
/// used only for two classes: it is over the version space of halfspaces of the columns, assumes that one answer in a
/// hundred is wrong, and is computed by expectation propagation. Each posterior is weighted by the product of the
/// probabilities that it assigns to the answers, each given all the others. Columns are standardised first. With more
/// than two classes there are eight posteriors, which are fitted by least squares.
///
/// *Wide pools.* A pool is wide if it has more than 256 columns, or if it has more than 100 columns and the norms of
/// all rows differ from 1 by at most 0.02. Examples are texts represented by n-grams, and embeddings of texts. The
/// model of a wide pool is one exact Gaussian process for each class against the others, with noise of variance 0.2 on
/// targets of 1 and -1. If at most a tenth of the entries are nonzero, the kernel is the mean of two kernels. The first
/// is the inner product of two rows, scaled so that the mean squared norm is 1. The second is the cosine of the rows in
/// the 256 main directions (latent semantic analysis). Otherwise the kernel is Gaussian in the angle between centred
/// rows. The first 20 questions, but at most one for every 20 points, are about the points that reduce the variance of
/// the pool the most. Afterwards the session asks about the point with the largest score, where the score is the
/// certainty divided by √(1 + number of answers of the predicted class).
///
/// *Answers.* You can undo, change and withdraw answers at any time, skip points, start from known labels, and add
/// points. The ordered answers, the points and the parameters determine a session bit for bit, on any number of
/// threads, unless an earlier answer was changed, withdrawn or undone. Undoing an answer restores the model up to
/// rounding (probabilities change by at most 1e-6) and opens the same question. After an earlier answer is changed or
/// withdrawn, the model agrees with a model trained on the current answers, such as that of a resumed session, only up
/// to the convergence of expectation propagation. Probabilities differ slightly, and so can the predicted class of a
/// row whose classes are almost equally likely. The model takes in a changed answer last, although the answer keeps its
/// position in the list. The model of a wide pool does not depend on the order of the answers, up to rounding
/// (probabilities change by at most 1e-4).
///
/// *Guarantee.* There is no guarantee on the number of corrections; the method is a heuristic. Each answer takes
/// bounded time, whatever the labels are.
///
/// *Cost.* Let n be the number of points and m the total number of features, which is 2d plus 6 times the number of
/// landmarks. There are at most 400 landmarks, and fewer if the pool has more than 12 500 points. The session takes 4nm
/// bytes, O(nm) time per answer, and O(n m²) time at its start. An undo costs the same as an answer. Resuming a session
/// costs the same as giving all its answers. Let s be the number of stored values and a the number of answers. A wide
/// sparse pool takes 8s + 1024n bytes, and O(s + 256n + a²) time per answer. A wide dense pool takes 4n(d + a) bytes
/// and O(n(d + a)) time per answer. In a wide dense pool, only the first 250 000 000 / n answers are learned; see
/// [`capacity`](LabellingSession::capacity).
///
/// *When to use it.* To label a real pool. If a halfspace is known to fit and you need a proved bound on the number of
/// mistakes, use a [`StrongLearner`](crate::StrongLearner) in a [`SelfDirectedSession`](crate::SelfDirectedSession).
///
/// *Source.* Ours, from Rasmussen and Williams 2006, Gaussian Processes for Machine Learning; Minka 2001, Expectation
/// Propagation for Approximate Bayesian Inference; Deerwester et al. 1990, Indexing by Latent Semantic Analysis; and
/// Cohn, Ghahramani and Jordan 1996, Active Learning with Statistical Models. Claims: S10, S10n, S10s, S10c, S10m.
///
/// ```
/// use halfspaces_linalg::{Params, Points};
/// use halfspaces_online::Labelling;
/// let points = Points::from_rows(&[[1.0, 0.2], [0.9, -0.3], [-1.0, 0.1], [-0.8, 0.4]])?;
/// let truth = |index: usize| usize::from(index < 2);
/// let mut session = Labelling::params(2).check()?.session(&points)?;
/// while let Some(question) = session.next() {
///     // A person would see point `question.index` and the prediction `question.class`.
///     session.answer(truth(question.index))?;
/// }
/// assert!(session.progress().corrections <= 2);
/// // The last answer was wrong; undo opens its question again.
/// let again = session.undo().expect("four answers");
/// session.answer(1 - truth(again.index))?;
/// assert_eq!(session.class(again.index), Some(1 - truth(again.index)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct LabellingSession {
    labelling: Labelling,
    first_points: usize,
    pub(super) model: PoolModel,
    pub(super) answers: Vec<Answer>,
    pub(super) skipped: Vec<usize>,
    open: Option<LabellingQuestion>,
    pub(super) advice: Option<Advice>,
}

impl Labelling {
    /// Starts a session on the given points, without answers.
    ///
    /// # Errors
    /// [`InputError::Empty`]; [`InputError::TooLarge`]; [`InputError::Overflow`] if squares of the columns exceed the
    /// range of `f64`.
    pub fn session<P: PointSet>(self, points: &P) -> Result<LabellingSession, InputError> {
        LabellingSession::new(self, points)
    }
}

impl LabellingSession {
    fn new<P: PointSet>(labelling: Labelling, points: &P) -> Result<Self, InputError> {
        let model = PoolModel::new(labelling, points)?;
        Ok(LabellingSession::of_model(labelling, points.len(), model))
    }

    pub(super) fn of_model(labelling: Labelling, first_points: usize, model: PoolModel) -> Self {
        LabellingSession {
            labelling,
            first_points,
            model,
            answers: Vec::new(),
            skipped: Vec::new(),
            open: None,
            advice: None,
        }
    }

    /// Resumes a saved session: learns from all answers in the list, in order. Classes may have been edited and answers
    /// may have been removed. `points` must be the points of the session, with the added points last.
    ///
    /// # Errors
    /// [`OnlineError::UnknownVersion`]; [`InputError::LengthMismatch`] for a different number of points;
    /// [`InputError::IndexOutOfRange`], [`OnlineError::AlreadyAnswered`] and [`OnlineError::UnknownClass`] for an
    /// invalid list; the errors of [`Labelling::session`].
    pub fn resume<P: PointSet>(file: &LabellingFile, points: &P) -> Result<Self, OnlineError> {
        LabellingSession::check_file(file, points.len())?;
        let session = if file.first_points == file.points {
            LabellingSession::new(file.labelling, points)?
        } else {
            let range = |from: usize, to: usize| points.select(&(from..to).collect::<Vec<_>>());
            let first = range(0, file.first_points)?;
            let mut session = LabellingSession::new(file.labelling, &first)?;
            session.add_points(&range(file.first_points, file.points)?)?;
            session
        };
        session.restore(file)
    }

    /// Returns an error unless the saved session has this version and this number of points.
    pub(super) fn check_file(file: &LabellingFile, points: usize) -> Result<(), OnlineError> {
        let (found, expected) = (file.version, LabellingFile::VERSION);
        if found != expected {
            return Err(OnlineError::UnknownVersion { found, expected });
        }
        InputError::check_len(points, file.points)?;
        let are_later = file.first_points <= file.points;
        Ok(InputError::check_state(are_later, "more points at the start than in total")?)
    }

    /// Learns from the answers of a saved session, in order.
    pub(super) fn restore(mut self, file: &LabellingFile) -> Result<Self, OnlineError> {
        let mut seen = vec![false; self.model.len()];
        for answer in &file.answers {
            self.check_class(answer.class)?;
            if let Source::Asked { predicted } = answer.source {
                self.check_class(predicted)?;
            }
            self.check_index(answer.index)?;
            if std::mem::replace(&mut seen[answer.index], true) {
                return Err(OnlineError::AlreadyAnswered { index: answer.index });
            }
        }
        for &index in file.skipped.iter().filter(|index| !seen.get(**index).is_some_and(|s| *s)) {
            self.check_index(index)?;
            self.check_prediction(index)?;
        }
        let answers: Vec<(usize, usize)> =
            file.answers.iter().map(|a| (a.index, a.class)).collect();
        self.model.learn_all(&answers);
        self.answers.clone_from(&file.answers);
        self.skipped = file.skipped.iter().copied().filter(|i| !seen[*i]).collect();
        Ok(self)
    }

    /// The session in its saved form.
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

    pub(super) fn check_class(&self, class: usize) -> Result<(), OnlineError> {
        let classes = self.labelling.classes();
        if class < classes { Ok(()) } else { Err(OnlineError::UnknownClass { class, classes }) }
    }

    fn check_index(&self, index: usize) -> Result<(), OnlineError> {
        let len = self.model.len();
        if index < len { Ok(()) } else { Err(InputError::IndexOutOfRange { index, len }.into()) }
    }

    fn check_prediction(&self, index: usize) -> Result<(), OnlineError> {
        let has = self.model.has_prediction(index);
        Ok(InputError::check_state(has, "a point without an answer and without a suggestion")?)
    }

    /// The next question, which stays open until it is answered or skipped: the surest point, or the first skipped
    /// point if no other point is left. Returns `None` if every point has an answer.
    #[allow(clippy::should_implement_trait, reason = "an answer comes between calls")]
    pub fn next(&mut self) -> Option<LabellingQuestion> {
        if self.open.is_none() {
            let mut skipped = vec![false; self.model.len()];
            self.skipped.iter().for_each(|i| skipped[*i] = true);
            let advised = self.surest_advised(|i| !skipped[i]);
            let index = advised.or_else(|| self.model.next(|i| !skipped[i]));
            self.open = index.or_else(|| self.skipped.first().copied()).map(|i| self.question(i));
        }
        self.open
    }

    pub(super) fn question(&self, index: usize) -> LabellingQuestion {
        if let Some(question) = self.advised(index).filter(|_| self.model.class(index).is_none()) {
            return question;
        }
        let verdict = self.model.verdict(index);
        LabellingQuestion { index, class: verdict.class, probability: verdict.probability() }
    }

    /// Opens this question instead of the one that [`next`](LabellingSession::next) would choose. Use it to ask in
    /// another order, or to return to a question that was shown earlier. The answer counts as a correction if its class
    /// differs from that of the question.
    ///
    /// ```
    /// use halfspaces_linalg::{Params, Points};
    /// use halfspaces_online::Labelling;
    /// let points = Points::from_rows(&[[1.0], [-2.0], [3.0]])?;
    /// let mut session = Labelling::params(2).check()?.session(&points)?;
    /// for index in 0..3 {
    ///     session.ask(session.predict(index)?)?;
    ///     session.answer(usize::from(index != 1))?;
    /// }
    /// assert_eq!(session.next(), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`InputError::IndexOutOfRange`], [`OnlineError::UnknownClass`], [`OnlineError::AlreadyAnswered`]; in each of
    /// these cases, the open question stays open.
    pub fn ask(&mut self, question: LabellingQuestion) -> Result<(), OnlineError> {
        let LabellingQuestion { index, class, .. } = question;
        self.check_index(index)?;
        self.check_class(class)?;
        if self.model.class(index).is_some() {
            return Err(OnlineError::AlreadyAnswered { index });
        }
        self.check_prediction(index)?;
        self.open = Some(question);
        Ok(())
    }

    /// The prediction for a point: the class with its probability, or the answer if there is one.
    ///
    /// # Errors
    /// [`InputError::IndexOutOfRange`].
    pub fn predict(&self, index: usize) -> Result<LabellingQuestion, OnlineError> {
        self.check_index(index)?;
        self.check_prediction(index)?;
        Ok(self.question(index))
    }

    /// The weights of a point's stored coordinates in the decision between a class and the most probable other class,
    /// as pairs (coordinate, weight) in ascending order. The sum of the weights times the coordinates, plus a number
    /// that does not depend on these coordinates, is the posterior mean of the class minus the posterior mean of the
    /// other class. Returns `None` unless the pool is wide and sparse; other models are not linear in the coordinates
    /// of a point.
    ///
    /// The factor that scales the point's main directions to norm 1 is treated as a constant.
    ///
    /// ```
    /// use halfspaces_linalg::{Params, SparsePoints};
    /// use halfspaces_online::Labelling;
    /// // Word 0 occurs in texts of class 0, word 1 in those of class 1. Word 2 + i occurs in text i only.
    /// let mut texts = SparsePoints::empty(300)?;
    /// for i in 0..40 {
    ///     texts.push(&[i as u32 % 2, 2 + i as u32], &[1.0, 1.0])?;
    /// }
    /// let mut session = Labelling::params(2).check()?.session(&texts)?;
    /// session.tell(&[(0, 0), (1, 1), (2, 0), (3, 1)])?;
    /// let weights = session.weights(10, 0)?.expect("a sparse pool with many columns");
    /// assert_eq!(weights.len(), 2);
    /// assert!(weights[0].0 == 0 && weights[0].1 > 0.1, "the word of the class");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`InputError::IndexOutOfRange`], [`OnlineError::UnknownClass`].
    pub fn weights(
        &self,
        index: usize,
        class: usize,
    ) -> Result<Option<Vec<(usize, f64)>>, OnlineError> {
        self.check_index(index)?;
        self.check_class(class)?;
        Ok(self.model.weights(index, class))
    }

    /// Answers the open question with the predicted class.
    ///
    /// # Errors
    /// [`OnlineError::NoQuestion`].
    pub fn confirm(&mut self) -> Result<Answer, OnlineError> {
        let question = self.open.ok_or(OnlineError::NoQuestion)?;
        self.answer(question.class)
    }

    /// Answers the open question.
    ///
    /// # Errors
    /// [`OnlineError::NoQuestion`]; [`OnlineError::UnknownClass`], in which case the question stays open.
    pub fn answer(&mut self, class: usize) -> Result<Answer, OnlineError> {
        let LabellingQuestion { index, class: predicted, .. } =
            self.open.ok_or(OnlineError::NoQuestion)?;
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
        self.compare_advice();
    }

    /// Closes the open question; the next question is then chosen again.
    pub(super) fn close(&mut self) {
        self.open = None;
    }

    /// Skips the open question, which is asked again at the end. Returns the point of the question.
    ///
    /// # Errors
    /// [`OnlineError::NoQuestion`].
    pub fn skip(&mut self) -> Result<usize, OnlineError> {
        let index = self.open.take().ok_or(OnlineError::NoQuestion)?.index;
        self.skipped.retain(|i| *i != index);
        self.skipped.push(index);
        Ok(index)
    }

    /// Marks a skipped point as no longer skipped. Has no effect if the point was not skipped.
    ///
    /// # Errors
    /// [`InputError::IndexOutOfRange`].
    pub fn unskip(&mut self, index: usize) -> Result<(), OnlineError> {
        self.check_index(index)?;
        self.skipped.retain(|i| *i != index);
        self.open = None;
        Ok(())
    }

    /// Learns labels that are known in advance or from another source, as pairs (point, class). These labels never
    /// count as corrections, because they were not predicted.
    ///
    /// # Errors
    /// [`InputError::IndexOutOfRange`], [`OnlineError::UnknownClass`], [`OnlineError::AlreadyAnswered`]; in each of
    /// these cases, none of the labels is used.
    pub fn tell(&mut self, known: &[(usize, usize)]) -> Result<(), OnlineError> {
        let mut seen: Vec<usize> = Vec::with_capacity(known.len());
        for &(index, class) in known {
            self.check_index(index)?;
            self.check_class(class)?;
            if self.model.class(index).is_some() {
                return Err(OnlineError::AlreadyAnswered { index });
            }
            seen.push(index);
        }
        seen.sort_unstable();
        if let Some(pair) = seen.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(OnlineError::AlreadyAnswered { index: pair[0] });
        }
        self.model.learn_all(known);
        let answers =
            known.iter().map(|&(index, class)| Answer { index, class, source: Source::Known });
        self.answers.extend(answers);
        self.skipped.retain(|i| seen.binary_search(i).is_err());
        self.compare_advice();
        self.open = None;
        Ok(())
    }

    /// Undoes the most recent answer and opens its question again, with the original prediction. Known labels are
    /// undone too. Returns `None` if there is no answer.
    pub fn undo(&mut self) -> Option<LabellingQuestion> {
        let answer = self.answers.pop()?;
        self.model.forget(answer.index);
        self.compare_advice();
        let mut question = self.question(answer.index);
        if let Source::Asked { predicted } = answer.source {
            question.class = predicted;
        }
        self.open = Some(question);
        self.open
    }

    /// Changes the class of an answer, which keeps its position in the list. Whether the answer is a correction still
    /// depends on the original prediction.
    ///
    /// # Errors
    /// [`OnlineError::NotAnswered`], [`OnlineError::UnknownClass`], [`InputError::IndexOutOfRange`].
    pub fn change(&mut self, index: usize, class: usize) -> Result<(), OnlineError> {
        self.check_class(class)?;
        let place = self.place(index)?;
        if self.answers[place].class != class {
            self.answers[place].class = class;
            self.model.change(index, class);
            self.compare_advice();
            self.open = None;
        }
        Ok(())
    }

    /// Withdraws an answer anywhere in the list. The session may then ask about its point again.
    ///
    /// # Errors
    /// [`OnlineError::NotAnswered`], [`InputError::IndexOutOfRange`].
    pub fn withdraw(&mut self, index: usize) -> Result<Answer, OnlineError> {
        let place = self.place(index)?;
        let answer = self.answers.remove(place);
        self.model.forget(index);
        self.compare_advice();
        self.open = None;
        Ok(answer)
    }

    /// The position of a point's answer in the list of answers.
    fn place(&self, index: usize) -> Result<usize, OnlineError> {
        self.check_index(index)?;
        let place = self.answers.iter().position(|answer| answer.index == index);
        place.ok_or(OnlineError::NotAnswered { index })
    }

    /// Appends points to the pool. The scales, landmarks and main directions remain those of the first points. The
    /// predictions of a given model ([`advise`](LabellingSession::advise)) are dropped.
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`], [`InputError::TooLarge`], [`InputError::Overflow`]; in each of these cases,
    /// no point is added.
    pub fn add_points<P: PointSet>(&mut self, points: &P) -> Result<(), OnlineError> {
        self.model.add_points(points)?;
        self.advice = None;
        self.open = None;
        Ok(())
    }

    /// The class given for a point, or `None` if there is no answer.
    #[must_use]
    pub fn class(&self, index: usize) -> Option<usize> {
        (index < self.model.len()).then(|| self.model.class(index)).flatten()
    }

    /// Whether the probabilities of questions are meaningful; `false` if the session predicts suggested classes
    /// ([`resume_suggested`](LabellingSession::resume_suggested)).
    #[must_use]
    pub fn has_probabilities(&self) -> bool {
        self.follows_advice() || !matches!(self.model, PoolModel::Suggested(_))
    }

    pub(super) fn classes(&self) -> usize {
        self.labelling.classes()
    }

    /// Whether the session asks about a point: the point has no answer yet and, in a review, there is a suggestion for
    /// it.
    #[must_use]
    pub fn is_open(&self, index: usize) -> bool {
        index < self.model.len() && self.model.is_open(index)
    }

    /// The points without an answer that were skipped or whose answer was uncertain, in the order in which the session
    /// asks about them.
    #[must_use]
    pub fn skipped(&self) -> &[usize] {
        &self.skipped
    }

    /// The answers in order.
    #[must_use]
    pub fn answers(&self) -> &[Answer] {
        &self.answers
    }

    /// The progress of the session.
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

    /// The number of answers that determine the predictions. These are the first answers in the list; further answers
    /// are kept but change no prediction. Returns `None` if there is no limit, or if the limit is at least the number
    /// of points.
    #[must_use]
    pub fn capacity(&self) -> Option<usize> {
        self.model.capacity().filter(|count| *count < self.model.len())
    }

    /// An estimate of the number of remaining corrections.
    #[must_use]
    pub fn outlook(&self) -> Outlook {
        Outlook::new(self.model.len(), self.errors())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Labelling;
    use halfspaces_linalg::{Label, Params, Points, RngStream, Threads, rng_for};
    use proptest::prelude::*;
    use rand::RngExt;

    /// Two rings, which no halfspace of the columns separates.
    fn rings(n: usize, seed: u64) -> (Points, Vec<usize>) {
        let mut rng = rng_for(RngStream::CALLER, seed);
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
        Labelling::params(classes).landmarks(40).seed(1).check().unwrap()
    }

    /// For each point, the probability of the predicted class, with a minus sign for class 0.
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
        // A probability of one half means the same for every class.
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
            let params = Labelling::params(2).landmarks(60).threads(Threads::new(threads).unwrap());
            let mut session = params.check().unwrap().session(&points).unwrap();
            answer_some(&mut session, &truth, 200);
            assert_eq!(session.next(), None);
            session.answers().to_vec()
        };
        let answers = play(1);
        assert_eq!(play(2), answers);
        // In random order, a halfspace of the columns would be wrong on almost half of the points.
        let wrong = answers.iter().filter(|answer| answer.is_correction()).count();
        assert!(wrong <= 30, "{wrong} corrections");
    }

    #[test]
    fn three_classes_by_the_largest_gap() {
        let mut rng = rng_for(RngStream::CALLER, 5);
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

        /// An undo restores the model, up to rounding.
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

        /// A resumed session equals the saved one, bit for bit, and continues in the same way.
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
        // The order of the answers has a small influence on their factors.
        assert!(farthest(&session, &resumed) < 0.15, "{}", farthest(&session, &resumed));
        // The other half of the points needs few corrections.
        let (mut rest, before) = (resumed.clone(), resumed.progress().corrections);
        answer_some(&mut rest, &truth, 40);
        let more = rest.progress().corrections - before;
        assert!(more <= 5, "{more}");
        let answer = session.withdraw(first).unwrap();
        assert_eq!((answer.index, session.class(first)), (first, None));
        assert_eq!(session.withdraw(first), Err(OnlineError::NotAnswered { index: first }));
    }

    #[test]
    fn skipped_points_come_last_and_added_points_are_asked() {
        let (points, truth) = rings(30, 2);
        let mut session = labelling(2).session(&points).unwrap();
        let skipped = session.next().unwrap().index;
        assert_eq!(session.skip(), Ok(skipped));
        assert_eq!(session.skip(), Err(OnlineError::NoQuestion));
        answer_some(&mut session, &truth, 29);
        assert_eq!(session.next().unwrap().index, skipped);
        assert_eq!(session.progress().skipped, 1);
        session.answer(truth[skipped]).unwrap();
        assert_eq!((session.next(), session.progress().skipped), (None, 0));

        let (more, classes) = rings(20, 9);
        session.add_points(&more).unwrap();
        let all: Vec<usize> = truth.iter().chain(&classes).copied().collect();
        let right = (30..50).filter(|i| session.predict(*i).unwrap().class == all[*i]).count();
        assert!(right >= 16, "{right} of 20 predicted correctly before they were asked");
        answer_some(&mut session, &all, 20);
        assert_eq!(session.progress().answered, 50);
        let both = [points.as_slice(), more.as_slice()].concat();
        let both = Points::new(both, 2).unwrap();
        let resumed = LabellingSession::resume(&session.file(), &both).unwrap();
        assert_eq!(resumed.answers(), session.answers());
        assert!(session.add_points(&Points::new(vec![1.0], 1).unwrap()).is_err());
        assert_eq!(session.progress().points, 50);
    }

    /// Questions can be asked in a custom order. An answer is a correction of the prediction that was shown, not of the
    /// current prediction.
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
        assert_eq!(session.ask(shown(3, 0)), Err(OnlineError::AlreadyAnswered { index: 3 }));
        let unknown = OnlineError::UnknownClass { class: 2, classes: 2 };
        assert_eq!(session.ask(shown(21, 2)), Err(unknown));
        let out = InputError::IndexOutOfRange { index: 30, len: 30 };
        assert_eq!(session.ask(shown(30, 0)), Err(out.into()));
        assert_eq!(session.confirm().unwrap().index, 20);
        // A question about a skipped point may be asked early. The point is no longer skipped once it is answered.
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
        let out = OnlineError::Input(InputError::IndexOutOfRange { index: 20, len: 20 });
        assert_eq!(session.tell(&[(20, 0)]), Err(out.clone()));
        assert_eq!(session.tell(&[(1, 0), (1, 0)]), Err(OnlineError::AlreadyAnswered { index: 1 }));
        assert_eq!(session.progress().answered, 0);
        assert_eq!(session.predict(20), Err(out));
        assert_eq!(session.undo(), None);
        session.tell(&[(1, truth[1])]).unwrap();
        assert_eq!(session.tell(&[(1, 0)]), Err(OnlineError::AlreadyAnswered { index: 1 }));
        let file = session.file();
        let refused = |edit: &dyn Fn(&mut LabellingFile)| {
            let mut file = file.clone();
            edit(&mut file);
            LabellingSession::resume(&file, &points).unwrap_err()
        };
        let unknown = OnlineError::UnknownVersion { found: 2, expected: 1 };
        assert_eq!(refused(&|f| f.version = 2), unknown);
        assert!(matches!(refused(&|f| f.points = 19), OnlineError::Input(_)));
        assert!(matches!(refused(&|f| f.first_points = 21), OnlineError::Input(_)));
        assert!(matches!(refused(&|f| f.answers[0].index = 20), OnlineError::Input(_)));
        assert!(matches!(refused(&|f| f.skipped = vec![20]), OnlineError::Input(_)));
        assert!(matches!(refused(&|f| f.answers[0].class = 2), OnlineError::UnknownClass { .. }));
        let twice = |f: &mut LabellingFile| f.answers.push(f.answers[0]);
        assert_eq!(refused(&twice), OnlineError::AlreadyAnswered { index: 1 });
    }

    /// With random answers, contradictions between equal points, and constant columns, every answer is accepted, and
    /// all values stay finite.
    #[test]
    fn whatever_the_labels_it_goes_on() {
        let (points, _) = rings(40, 8);
        let rows: Vec<f64> =
            points.as_slice().chunks(2).flat_map(|x| [x[0].round(), x[1].round(), 1.0]).collect();
        let points = Points::new(rows, 3).unwrap();
        let mut rng = rng_for(RngStream::CALLER, 1);
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

    /// The likeliest point of a class is the surest of the points that are predicted to have this class. If there are
    /// no such points, it is the least sure point of all.
    #[test]
    fn examples_of_a_class_are_found() {
        let (points, truth) = rings(60, 8);
        for classes in [2, 3] {
            let mut session = labelling(classes).session(&points).unwrap();
            answer_some(&mut session, &truth, 20);
            for class in 0..2 {
                let found = session.likeliest(class, 1).unwrap()[0];
                let skipped = session.skipped();
                let open = (0..60).filter(|i| session.class(*i).is_none() && !skipped.contains(i));
                let all: Vec<_> = open.map(|i| session.predict(i).unwrap()).collect();
                let of_class = all.iter().filter(|q| q.class == class).map(|q| q.probability);
                assert_eq!(found.class, class);
                assert_eq!(found.probability, of_class.fold(0.0, f64::max));
                session.ask(found).unwrap();
                assert_eq!(session.next(), Some(found));
                assert_eq!(session.skip(), Ok(found.index));
                assert_ne!(session.likeliest(class, 1).unwrap()[0].index, found.index);
            }
            let unknown = OnlineError::UnknownClass { class: classes, classes };
            assert_eq!(session.likeliest(classes, 1), Err(unknown));
            let skipped = session.skipped().to_vec();
            session.unskip(skipped[0]).unwrap();
            assert_eq!(session.skipped(), &skipped[1..]);
            assert!(session.unskip(60).is_err());
        }
        let mut session = labelling(3).session(&points).unwrap();
        session.tell(&[(0, 0), (1, 1)]).unwrap();
        let found = session.likeliest(2, 1).unwrap()[0];
        let all: Vec<_> = (2..60).map(|i| session.predict(i).unwrap()).collect();
        let least = all.iter().map(|q| q.probability).fold(1.0, f64::min);
        assert!(found.class == 2 || all.iter().all(|q| q.class != 2) && found.probability == least);
        let all: Vec<_> = (2..60).map(|i| (i, 0)).collect();
        session.tell(&all).unwrap();
        assert_eq!(session.likeliest(2, 1), Ok(Vec::new()));
        assert_eq!(session.weights(0, 0), Ok(None));
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

    /// A row that is both answered and skipped counts as answered, and an undo shows the original prediction.
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
        assert_eq!(session.answer(0), Err(OnlineError::NoQuestion));
    }
}
