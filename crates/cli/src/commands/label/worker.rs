//! The model runs on its own thread, so that the person does not have to wait for it.

use crate::error::CliError;
use halfspaces_online::{LabellingError, LabellingQuestion, LabellingSession, Outlook};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Questions known ahead: as many answers may come before the model has learned from the first of them.
const AHEAD: usize = 512;
/// Between two looks at whether the thread still lives.
const LOOK: Duration = Duration::from_millis(500);

/// What the model is told.
#[derive(Debug, Clone, Copy)]
pub(super) enum Command {
    /// The answer to a question as it was shown.
    Answer(LabellingQuestion, usize),
    /// One row more is skipped: one question more is needed ahead.
    Skip,
    /// The answer of a row is taken back.
    Withdraw(usize),
    Change(usize, usize),
}

/// What the model said last.
#[derive(Debug, Clone)]
pub(super) struct Snapshot {
    /// Number of commands that it knows.
    done: u64,
    /// Questions about rows without a label, the surest first. There are enough of them for rows that were skipped.
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
        // A snapshot is replaced whole, so it is good whoever panicked.
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
    /// Starts the thread; this many rows were skipped before.
    pub(super) fn start(mut session: LabellingSession, skipped: usize) -> Worker {
        let snapshot = look(&mut session, skipped, 0);
        let shared = Arc::new(Shared { snapshot: Mutex::new(snapshot), changed: Condvar::new() });
        let (sender, receiver) = channel();
        let theirs = Arc::clone(&shared);
        let thread = std::thread::spawn(move || work(session, skipped, &receiver, &theirs));
        Worker { sender, sent: 0, shared, thread }
    }

    pub(super) fn tell(&mut self, command: Command) -> Result<(), CliError> {
        self.sender.send(command).map_err(|_| stopped())?;
        self.sent += 1;
        Ok(())
    }

    /// What the model says, once it knows all that it was told or `patience` is over. A model that is behind by more
    /// than one answer is not waited for: it would not know the last one in time.
    pub(super) fn snapshot(&self, patience: Duration) -> Snapshot {
        let start = now();
        let mut snapshot = self.shared.lock();
        while snapshot.done + 1 == self.sent {
            let left = patience.saturating_sub(start.elapsed());
            if left.is_zero() {
                break;
            }
            let waited = self.shared.changed.wait_timeout(snapshot, left);
            snapshot = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        snapshot.clone()
    }

    /// What the model says once it knows all that it was told, or `enough` of it.
    pub(super) fn wait(&self, enough: impl Fn(&Snapshot) -> bool) -> Result<Snapshot, CliError> {
        let mut snapshot = self.shared.lock();
        while snapshot.done < self.sent && !enough(&snapshot) {
            if self.thread.is_finished() {
                return Err(stopped());
            }
            let waited = self.shared.changed.wait_timeout(snapshot, LOOK);
            snapshot = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        Ok(snapshot.clone())
    }

    /// Whether the snapshot knows all that was told.
    pub(super) fn knows_all(&self, snapshot: &Snapshot) -> bool {
        snapshot.done == self.sent
    }

    /// The session, once it knows all that it was told.
    pub(super) fn finish(self) -> Result<LabellingSession, CliError> {
        drop(self.sender);
        self.thread.join().map_err(|_| stopped())
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a person waits; no result depends on it but which question is next"
)]
fn now() -> Instant {
    Instant::now()
}

fn stopped() -> CliError {
    CliError::system(
        "the model has stopped by a fault of this program; the answers are in the session file",
    )
}

fn work(
    mut session: LabellingSession,
    mut skipped: usize,
    receiver: &Receiver<Command>,
    shared: &Shared,
) -> LabellingSession {
    let mut done = 0;
    while let Ok(command) = receiver.recv() {
        let obeyed = obey(&mut session, &mut skipped, command);
        assert!(obeyed.is_ok(), "the record accepted {command:?}, the model says {obeyed:?}");
        done += 1;
        let snapshot = look(&mut session, skipped, done);
        *shared.lock() = snapshot;
        shared.changed.notify_all();
    }
    session
}

fn obey(
    session: &mut LabellingSession,
    skipped: &mut usize,
    command: Command,
) -> Result<(), LabellingError> {
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

fn look(session: &mut LabellingSession, skipped: usize, done: u64) -> Snapshot {
    let predict = |session: &LabellingSession, row: usize| match session.predict(row) {
        Ok(question) => question,
        Err(error) => unreachable!("a row of the pool: {error}"),
    };
    let open = (0..session.progress().points).filter(|row| session.class(*row).is_none());
    let mut questions: Vec<LabellingQuestion> = open.map(|row| predict(session, row)).collect();
    let surer = |a: &LabellingQuestion, b: &LabellingQuestion| {
        b.probability.total_cmp(&a.probability).then(a.index.cmp(&b.index))
    };
    let ahead = AHEAD + skipped;
    if questions.len() > ahead {
        questions.select_nth_unstable_by(ahead, surer);
        questions.truncate(ahead);
    }
    questions.sort_unstable_by(surer);
    // Of points that are equally sure to all digits shown the session knows the surest.
    if let Some(surest) = session.next() {
        questions.retain(|question| question.index != surest.index);
        questions.insert(0, surest);
    }
    Snapshot { done, questions, outlook: session.outlook() }
}
