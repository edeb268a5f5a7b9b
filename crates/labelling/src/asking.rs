//! The questions of a session: the model, the order of the questions, and the information shown to the person.

use crate::keys::stir;
use halfspaces_frame::DataError;
use halfspaces_online::{Doubt, LabellingQuestion, LabellingSession, OnlineError, Outlook};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// The number of questions in a snapshot. This many answers can arrive before the model has learned from the first of
/// them.
const LOOKAHEAD: usize = 512;
/// The number of questions for which weights are computed: the next question and the one after it, which is asked if
/// the model is one answer behind.
const EXPLAINED: usize = 2;
/// The number of answers that are suggested for a second look.
const DOUBTS: usize = 10;

/// How questions are chosen and shown.
///
/// ```
/// use halfspaces_labelling::Asking;
/// let asking = Asking { first: [(3, 0), (1, 1)].into(), ..Asking::default() };
/// assert!(!asking.rare && asking.seek.is_none());
/// ```
#[derive(Debug, Clone, Default)]
pub struct Asking {
    /// Look for examples of scarce classes first.
    pub rare: bool,
    /// Look for examples of this class first.
    pub seek: Option<usize>,
    /// Ask about rows in a random order with this seed, so that the labelled rows are a random sample of the pool.
    pub shuffled: Option<u64>,
    /// Compute the weights of the coordinates for the first questions.
    pub weights: bool,
    /// The rows to ask about first, each with its place in the order. Rows with the same place are asked about in the
    /// order of their probabilities.
    pub first: BTreeMap<usize, usize>,
}

/// A command to the model of a session.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Records the answer to a question as it was shown.
    Answer(LabellingQuestion, usize),
    /// Skips a question, or leaves it without an answer because the person is uncertain.
    Skip(LabellingQuestion),
    /// Withdraws a skip or an uncertain answer.
    Unskip(usize),
    /// Withdraws the answer about a row.
    Withdraw(usize),
    /// Changes the class of a row.
    Change(usize, usize),
    /// Learns labels that are not answers to questions, given as pairs of a row and its class.
    Known(Vec<(usize, usize)>),
}

impl Command {
    /// Executes the command.
    ///
    /// # Errors
    /// Returns an error if the command contradicts the answers of the session.
    pub fn execute(self, session: &mut LabellingSession) -> Result<(), OnlineError> {
        match self {
            Command::Answer(question, class) => {
                session.ask(question)?;
                session.answer(class)?;
            }
            Command::Skip(question) => {
                session.ask(question)?;
                session.skip()?;
            }
            Command::Unskip(row) => session.unskip(row)?,
            Command::Withdraw(row) => {
                session.withdraw(row)?;
            }
            Command::Change(row, class) => session.change(row, class)?,
            Command::Known(labels) => session.tell(&labels)?,
        }
        Ok(())
    }
}

/// The state of a model after some commands.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// Number of commands executed.
    pub done: u64,
    /// Questions about rows without a label, in the order in which they are asked. Questions about rows that
    /// were skipped or uncertain come last.
    pub questions: Vec<LabellingQuestion>,
    /// The first questions, each with the weights of the coordinates of its row, if the model has weights.
    pub weights: Vec<(LabellingQuestion, Vec<(usize, f64)>)>,
    /// The expected number of further corrections.
    pub outlook: Outlook,
    /// Whether the predictions come from a given model instead of the session's own model.
    pub advised: bool,
    /// Whether the probabilities of the questions and the outlook are meaningful.
    pub has_probabilities: bool,
    /// The answers that are least consistent with the other answers.
    pub doubts: Vec<Doubt>,
}

impl Snapshot {
    /// The state of a session after `done` commands.
    #[must_use]
    pub fn take(session: &mut LabellingSession, asking: &Asking, done: u64) -> Snapshot {
        let scarce = session.scarce_class().filter(|_| asking.rare);
        let mut questions =
            match asking.seek.or(scarce).map(|class| session.likeliest(class, LOOKAHEAD)) {
                Some(Ok(questions)) => questions,
                Some(Err(error)) => unreachable!("the class is one of the session: {error}"),
                None => open(session, asking),
            };
        let explain =
            |question: &LabellingQuestion| match session.weights(question.index, question.class) {
                Ok(weights) => Some((*question, weights?)),
                Err(error) => {
                    unreachable!("the row and the class are those of a question: {error}")
                }
            };
        // The weights are those of the session's own model.
        let advised = session.follows_advice();
        let explained =
            questions.iter().take(if asking.weights && !advised { EXPLAINED } else { 0 });
        let weights = explained.filter_map(explain).collect();
        let skipped = session.skipped().iter().map(|row| predict(session, *row));
        questions.extend(skipped);
        let (outlook, doubts) = (session.outlook(), session.doubts(DOUBTS));
        let has_probabilities = session.has_probabilities();
        Snapshot { done, questions, weights, outlook, advised, has_probabilities, doubts }
    }
}

impl Snapshot {
    /// The expected number of further corrections, for the record of an answer.
    pub(crate) fn to_come(&self) -> Option<f64> {
        self.has_probabilities.then_some(self.outlook.expected)
    }
}

/// The model of a session. It runs in the thread of the caller or in a thread of its own.
pub trait Asker {
    /// Sends a command, which is executed immediately or later.
    ///
    /// # Errors
    /// Returns an error if the model has stopped.
    fn send(&mut self, command: Command) -> Result<(), DataError>;

    /// The latest snapshot.
    fn latest(&self) -> Snapshot;

    /// A snapshot for a person who is waiting. It is taken after all commands have been executed if that takes only
    /// milliseconds. Otherwise, it is the latest snapshot.
    fn soon(&self) -> Snapshot;

    /// Waits for a snapshot that was taken after the last command sent so far was executed, or for an earlier one
    /// that satisfies `enough`.
    ///
    /// # Errors
    /// Returns an error if the model has stopped.
    fn wait(&self, enough: impl Fn(&Snapshot) -> bool) -> Result<Snapshot, DataError>;

    /// Whether the snapshot was taken after all commands sent so far were executed.
    fn is_up_to_date(&self, snapshot: &Snapshot) -> bool;

    /// Executes the pending commands and returns the model.
    ///
    /// # Errors
    /// Returns an error if the model has stopped.
    fn finish(self) -> Result<LabellingSession, DataError>;
}

/// A model that executes each command immediately, in the thread of the caller. The answers of a session therefore
/// determine its questions.
#[derive(Debug, Clone)]
pub struct Direct {
    session: LabellingSession,
    asking: Asking,
    snapshot: Snapshot,
}

impl Direct {
    /// Creates a model that asks questions as `asking` specifies.
    #[must_use]
    pub fn new(mut session: LabellingSession, asking: Asking) -> Direct {
        let snapshot = Snapshot::take(&mut session, &asking, 0);
        Direct { session, asking, snapshot }
    }

    /// The model.
    #[must_use]
    pub fn session(&self) -> &LabellingSession {
        &self.session
    }
}

impl Asker for Direct {
    fn send(&mut self, command: Command) -> Result<(), DataError> {
        if let Err(error) = command.execute(&mut self.session) {
            unreachable!("the record accepted the command: {error}");
        }
        self.snapshot = Snapshot::take(&mut self.session, &self.asking, self.snapshot.done + 1);
        Ok(())
    }

    fn latest(&self) -> Snapshot {
        self.snapshot.clone()
    }

    fn soon(&self) -> Snapshot {
        self.latest()
    }

    fn wait(&self, _: impl Fn(&Snapshot) -> bool) -> Result<Snapshot, DataError> {
        Ok(self.latest())
    }

    fn is_up_to_date(&self, snapshot: &Snapshot) -> bool {
        snapshot.done == self.snapshot.done
    }

    fn finish(self) -> Result<LabellingSession, DataError> {
        Ok(self.session)
    }
}

fn predict(session: &LabellingSession, row: usize) -> LabellingQuestion {
    match session.predict(row) {
        Ok(question) => question,
        Err(error) => unreachable!("the row is in the pool: {error}"),
    }
}

/// Predictions for rows that were not skipped. The most confident predictions come first, unless the rows are shuffled.
/// Predictions for the rows in `asking.first` come before all others, in the order of their places.
fn open(session: &mut LabellingSession, asking: &Asking) -> Vec<LabellingQuestion> {
    let mut closed: Vec<bool> =
        (0..session.progress().points).map(|row| !session.is_open(row)).collect();
    session.skipped().iter().for_each(|row| closed[*row] = true);
    let rows = (0..closed.len()).filter(|row| !closed[*row]);
    let mut questions: Vec<LabellingQuestion> = rows.map(|row| predict(session, row)).collect();
    let is_later = |question: &LabellingQuestion| !asking.first.contains_key(&question.index);
    let first = |question: &LabellingQuestion| asking.first.get(&question.index).copied();
    let place = |question: &LabellingQuestion, seed: u64| stir(seed, question.index as u64);
    let earlier = |a: &LabellingQuestion, b: &LabellingQuestion| {
        let by_order = match asking.shuffled {
            Some(seed) => place(a, seed).cmp(&place(b, seed)),
            None => b.probability.total_cmp(&a.probability),
        };
        let placed = match asking.shuffled {
            Some(_) => Ordering::Equal,
            None => first(a).cmp(&first(b)),
        };
        let before = is_later(a).cmp(&is_later(b)).then(placed);
        before.then(by_order).then(a.index.cmp(&b.index))
    };
    if questions.len() > LOOKAHEAD {
        questions.select_nth_unstable_by(LOOKAHEAD, earlier);
        questions.truncate(LOOKAHEAD);
    }
    questions.sort_unstable_by(earlier);
    // The session's own next question comes first, because several predictions can have the same rounded probability,
    // and because a session may begin with other rows.
    let is_own = asking.shuffled.is_none() && questions.first().is_none_or(is_later);
    if let Some(next) = session.next().filter(|next| is_own && !closed[next.index]) {
        questions.retain(|question| question.index != next.index);
        questions.insert(0, next);
    }
    questions
}
