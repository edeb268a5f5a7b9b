//! The worker thread that updates the model, so that the person does not wait for it.

use crate::error::CliError;
use halfspaces_online::{LabellingQuestion, LabellingSession, OnlineError, Outlook};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Number of questions in a snapshot. This many answers can arrive before the model has learned from the first of them.
const LOOKAHEAD: usize = 512;
/// Time between two checks whether the thread is still running.
const LIVENESS_INTERVAL: Duration = Duration::from_millis(500);

/// A command to the worker.
#[derive(Debug, Clone, Copy)]
pub(super) enum Command {
    /// Records the answer to a question as it was shown.
    Answer(LabellingQuestion, usize),
    /// Records that one more row was skipped, so that snapshots contain one more question.
    Skip,
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
    /// Questions about rows without a label, the most confident predictions first. There are enough of them to make up
    /// for skipped rows.
    pub(super) questions: Vec<LabellingQuestion>,
    pub(super) outlook: Outlook,
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
    /// Starts the thread. `skipped` is the number of rows skipped before.
    pub(super) fn start(mut session: LabellingSession, skipped: usize) -> Worker {
        let snapshot = take_snapshot(&mut session, skipped, 0);
        let shared = Arc::new(Shared { snapshot: Mutex::new(snapshot), changed: Condvar::new() });
        let (sender, receiver) = channel();
        let thread_shared = Arc::clone(&shared);
        let thread = std::thread::spawn(move || work(session, skipped, &receiver, &thread_shared));
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
    mut skipped: usize,
    receiver: &Receiver<Command>,
    shared: &Shared,
) -> LabellingSession {
    let mut done = 0;
    while let Ok(command) = receiver.recv() {
        let result = execute(&mut session, &mut skipped, command);
        assert!(
            result.is_ok(),
            "the record accepted {command:?}, but the model returned {result:?}"
        );
        done += 1;
        let snapshot = take_snapshot(&mut session, skipped, done);
        *shared.lock() = snapshot;
        shared.changed.notify_all();
    }
    session
}

fn execute(
    session: &mut LabellingSession,
    skipped: &mut usize,
    command: Command,
) -> Result<(), OnlineError> {
    match command {
        Command::Answer(question, class) => {
            session.ask(question)?;
            session.answer(class)?;
        }
        Command::Skip => *skipped += 1,
        Command::Withdraw(row) => {
            session.withdraw(row)?;
        }
        Command::Change(row, class) => session.change(row, class)?,
    }
    Ok(())
}

fn take_snapshot(session: &mut LabellingSession, skipped: usize, done: u64) -> Snapshot {
    let predict = |session: &LabellingSession, row: usize| match session.predict(row) {
        Ok(question) => question,
        Err(error) => unreachable!("the row is in the pool: {error}"),
    };
    let open = (0..session.progress().points).filter(|row| session.class(*row).is_none());
    let mut questions: Vec<LabellingQuestion> = open.map(|row| predict(session, row)).collect();
    let more_confident = |a: &LabellingQuestion, b: &LabellingQuestion| {
        b.probability.total_cmp(&a.probability).then(a.index.cmp(&b.index))
    };
    let ahead = LOOKAHEAD + skipped;
    if questions.len() > ahead {
        questions.select_nth_unstable_by(ahead, more_confident);
        questions.truncate(ahead);
    }
    questions.sort_unstable_by(more_confident);
    // Several predictions can have the same rounded probability; the session knows the most confident one.
    if let Some(first) = session.next() {
        questions.retain(|question| question.index != first.index);
        questions.insert(0, first);
    }
    Snapshot { done, questions, outlook: session.outlook() }
}
