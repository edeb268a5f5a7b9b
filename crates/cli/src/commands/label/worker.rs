//! The worker thread that updates the model, so that the person does not wait for it.

use crate::error::CliError;
use halfspaces_online::{Doubt, LabellingQuestion, LabellingSession, OnlineError, Outlook};
use std::collections::BTreeSet;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Number of questions in a snapshot. This many answers can arrive before the model has learned from the first of them.
const LOOKAHEAD: usize = 512;
/// Number of questions with weights: the next one, and the one that is asked if the model is an answer behind.
const EXPLAINED: usize = 2;
/// Number of answers to look at again.
const DOUBTS: usize = 10;
/// Time between two checks whether the thread is still running.
const LIVENESS_INTERVAL: Duration = Duration::from_millis(500);

/// How questions are chosen and shown.
#[derive(Debug, Clone, Default)]
pub(super) struct Asking {
    /// Look for examples of scarce classes first.
    pub(super) rare: bool,
    /// Look for examples of this class first.
    pub(super) seek: Option<usize>,
    /// Compute the weights of coordinates.
    pub(super) weights: bool,
    /// Rows to ask about first.
    pub(super) first: BTreeSet<usize>,
}

/// A command to the worker.
#[derive(Debug, Clone, Copy)]
pub(super) enum Command {
    /// Records the answer to a question as it was shown.
    Answer(LabellingQuestion, usize),
    /// Skips a question, or leaves it without an answer because the person is uncertain.
    Skip(LabellingQuestion),
    /// Takes back that a row was skipped or uncertain.
    Unskip(usize),
    /// Withdraws the answer of a row.
    Withdraw(usize),
    /// Changes the class of a row.
    Change(usize, usize),
}

/// The state of the model after a command.
#[derive(Debug, Clone)]
pub(super) struct Snapshot {
    /// Number of commands executed.
    done: u64,
    /// Questions about rows without a label, in the order in which they are asked; last those about skipped rows.
    pub(super) questions: Vec<LabellingQuestion>,
    /// The first questions with the weights of the coordinates of their rows, if the model has weights.
    pub(super) weights: Vec<(LabellingQuestion, Vec<(usize, f64)>)>,
    pub(super) outlook: Outlook,
    /// Whether the predictions are those of a given model.
    pub(super) advised: bool,
    /// The answers that fit the others least.
    pub(super) doubts: Vec<Doubt>,
}

#[derive(Debug)]
struct Shared {
    snapshot: Mutex<Snapshot>,
    changed: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Snapshot> {
        // A snapshot is replaced as a whole, so it is valid even if the lock is poisoned.
        self.snapshot.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug)]
pub(super) struct Worker {
    sender: Sender<Command>,
    sent: u64,
    shared: Arc<Shared>,
    thread: JoinHandle<LabellingSession>,
}

impl Worker {
    /// Starts the thread.
    pub(super) fn start(mut session: LabellingSession, asking: Asking) -> Worker {
        let snapshot = take_snapshot(&mut session, &asking, 0);
        let shared = Arc::new(Shared { snapshot: Mutex::new(snapshot), changed: Condvar::new() });
        let (sender, receiver) = channel();
        let thread_shared = Arc::clone(&shared);
        let thread = std::thread::spawn(move || work(session, &asking, &receiver, &thread_shared));
        Worker { sender, sent: 0, shared, thread }
    }

    pub(super) fn send(&mut self, command: Command) -> Result<(), CliError> {
        self.sender.send(command).map_err(|_| stopped())?;
        self.sent += 1;
        Ok(())
    }

    /// The latest snapshot. Waits up to `timeout` if exactly one command is pending; with more pending commands the
    /// worker would not finish in time, so the call does not wait.
    pub(super) fn snapshot(&self, timeout: Duration) -> Snapshot {
        let start = now();
        let mut snapshot = self.shared.lock();
        while snapshot.done + 1 == self.sent {
            let left = timeout.saturating_sub(start.elapsed());
            if left.is_zero() {
                break;
            }
            let waited = self.shared.changed.wait_timeout(snapshot, left);
            snapshot = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        snapshot.clone()
    }

    /// Waits for a snapshot after all commands sent so far, or for an earlier one that satisfies `enough`.
    pub(super) fn wait(&self, enough: impl Fn(&Snapshot) -> bool) -> Result<Snapshot, CliError> {
        let mut snapshot = self.shared.lock();
        while snapshot.done < self.sent && !enough(&snapshot) {
            if self.thread.is_finished() {
                return Err(stopped());
            }
            let waited = self.shared.changed.wait_timeout(snapshot, LIVENESS_INTERVAL);
            snapshot = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        Ok(snapshot.clone())
    }

    /// Whether the snapshot was taken after all commands sent so far.
    pub(super) fn is_up_to_date(&self, snapshot: &Snapshot) -> bool {
        snapshot.done == self.sent
    }

    /// Executes the pending commands, stops the thread and returns the session.
    pub(super) fn finish(self) -> Result<LabellingSession, CliError> {
        drop(self.sender);
        self.thread.join().map_err(|_| stopped())
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "limits how long a person waits; the time only affects which question is next"
)]
fn now() -> Instant {
    Instant::now()
}

fn stopped() -> CliError {
    CliError::system("internal error: the model has stopped; all answers are in the session file")
}

fn work(
    mut session: LabellingSession,
    asking: &Asking,
    receiver: &Receiver<Command>,
    shared: &Shared,
) -> LabellingSession {
    let mut done = 0;
    while let Ok(command) = receiver.recv() {
        let result = execute(&mut session, command);
        assert!(
            result.is_ok(),
            "the record accepted {command:?}, but the model returned {result:?}"
        );
        done += 1;
        let snapshot = take_snapshot(&mut session, asking, done);
        *shared.lock() = snapshot;
        shared.changed.notify_all();
    }
    session
}

fn execute(session: &mut LabellingSession, command: Command) -> Result<(), OnlineError> {
    match command {
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
    }
    Ok(())
}

fn take_snapshot(session: &mut LabellingSession, asking: &Asking, done: u64) -> Snapshot {
    let scarce = session.scarce_class().filter(|_| asking.rare);
    let mut questions =
        match asking.seek.or(scarce).map(|class| session.likeliest(class, LOOKAHEAD)) {
            Some(Ok(questions)) => questions,
            Some(Err(error)) => unreachable!("the class is one of the session: {error}"),
            None => surest(session, &asking.first),
        };
    let explain =
        |question: &LabellingQuestion| match session.weights(question.index, question.class) {
            Ok(weights) => Some((*question, weights?)),
            Err(error) => unreachable!("the row and the class are those of a question: {error}"),
        };
    // The weights are those of the session's own model.
    let advised = session.follows_advice();
    let explained = questions.iter().take(if asking.weights && !advised { EXPLAINED } else { 0 });
    let weights = explained.filter_map(explain).collect();
    let skipped = session.skipped().iter().map(|row| predict(session, *row));
    questions.extend(skipped);
    let (outlook, doubts) = (session.outlook(), session.doubts(DOUBTS));
    Snapshot { done, questions, weights, outlook, advised, doubts }
}

fn predict(session: &LabellingSession, row: usize) -> LabellingQuestion {
    match session.predict(row) {
        Ok(question) => question,
        Err(error) => unreachable!("the row is in the pool: {error}"),
    }
}

/// The most confident predictions for rows that were not skipped, those about the rows `first` before all others.
fn surest(session: &mut LabellingSession, first: &BTreeSet<usize>) -> Vec<LabellingQuestion> {
    let mut closed: Vec<bool> =
        (0..session.progress().points).map(|row| session.class(row).is_some()).collect();
    session.skipped().iter().for_each(|row| closed[*row] = true);
    let open = (0..closed.len()).filter(|row| !closed[*row]);
    let mut questions: Vec<LabellingQuestion> = open.map(|row| predict(session, row)).collect();
    let is_later = |question: &LabellingQuestion| !first.contains(&question.index);
    let earlier = |a: &LabellingQuestion, b: &LabellingQuestion| {
        let more_confident = b.probability.total_cmp(&a.probability);
        is_later(a).cmp(&is_later(b)).then(more_confident).then(a.index.cmp(&b.index))
    };
    if questions.len() > LOOKAHEAD {
        questions.select_nth_unstable_by(LOOKAHEAD, earlier);
        questions.truncate(LOOKAHEAD);
    }
    questions.sort_unstable_by(earlier);
    // Several predictions can have the same rounded probability, and a session may begin with other rows.
    let none_is_first = questions.first().is_none_or(is_later);
    if let Some(next) = session.next().filter(|next| none_is_first && !closed[next.index]) {
        questions.retain(|question| question.index != next.index);
        questions.insert(0, next);
    }
    questions
}
