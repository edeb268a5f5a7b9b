//! The worker thread that updates the model, so that the person does not wait for it.

use crate::error::CliError;
use halfspaces_labelling::{Asker, Asking, Command, Snapshot};
use halfspaces_online::LabellingSession;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Maximum time that an action waits for the updated model. After that, the next question comes from an earlier
/// snapshot.
const MODEL_WAIT: Duration = Duration::from_millis(40);
/// Time between two checks of whether the thread is still running.
const LIVENESS_INTERVAL: Duration = Duration::from_millis(500);

/// The controller of a session, which the terminal and the page share.
pub(super) type Controller = halfspaces_labelling::Controller<Worker>;

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
        let snapshot = Snapshot::take(&mut session, &asking, 0);
        let shared = Arc::new(Shared { snapshot: Mutex::new(snapshot), changed: Condvar::new() });
        let (sender, receiver) = channel();
        let thread_shared = Arc::clone(&shared);
        let thread = std::thread::spawn(move || work(session, &asking, &receiver, &thread_shared));
        Worker { sender, sent: 0, shared, thread }
    }

    /// The latest snapshot. Waits up to `timeout` if exactly one command is pending. With more pending commands, the
    /// worker would not finish in time, so the call does not wait.
    fn snapshot(&self, timeout: Duration) -> Snapshot {
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
}

impl Asker for Worker {
    fn send(&mut self, command: Command) -> Result<(), CliError> {
        self.sender.send(command).map_err(|_| stopped())?;
        self.sent += 1;
        Ok(())
    }

    fn latest(&self) -> Snapshot {
        self.snapshot(Duration::ZERO)
    }

    fn soon(&self) -> Snapshot {
        self.snapshot(MODEL_WAIT)
    }

    fn wait(&self, enough: impl Fn(&Snapshot) -> bool) -> Result<Snapshot, CliError> {
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

    fn is_up_to_date(&self, snapshot: &Snapshot) -> bool {
        snapshot.done == self.sent
    }

    fn finish(self) -> Result<LabellingSession, CliError> {
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
        let executed = command.clone().execute(&mut session);
        assert!(
            executed.is_ok(),
            "the record accepted {command:?}, but the model returned {executed:?}"
        );
        done += 1;
        let snapshot = Snapshot::take(&mut session, asking, done);
        *shared.lock() = snapshot;
        shared.changed.notify_all();
    }
    session
}
