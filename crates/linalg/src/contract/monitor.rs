//! A monitor, which lets another thread see the progress of a computation and stop it early.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

thread_local! {
    static MONITOR: RefCell<Option<Monitor>> = const { RefCell::new(None) };
}

/// The payload with which a stopped computation unwinds.
struct Stopped;

/// A monitor of a long computation. Through the monitor, another thread can see the progress of the computation and
/// stop it, for example when a user presses Ctrl-C.
///
/// The learners call [`checkpoint`] in their outer loops, at least once per pass over the points. If a monitor is
/// attached to a thread and has been asked to stop the computation, the next checkpoint on this thread unwinds the
/// stack. The unwinding runs no panic hook, and [`Monitor::run`] catches it. A computation that spawns its own threads
/// can be stopped on these threads if the monitor is attached to them as well. For example, the start handler of a
/// thread pool can call [`Monitor::watch`].
///
/// ```
/// use halfspaces_linalg::{Monitor, checkpoint};
/// let monitor = Monitor::default();
/// assert_eq!(monitor.run(|| 2 + 2), Some(4));
/// let endless = || loop {
///     monitor.stop();
///     checkpoint();
/// };
/// assert_eq!(monitor.run(endless), None::<()>);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Monitor(Arc<State>);

#[derive(Debug, Default)]
struct State {
    stop: AtomicBool,
    /// The number of planned steps; 0 while no computation has planned its steps.
    planned: AtomicU64,
    done: AtomicU64,
}

impl Monitor {
    /// Asks the computation to stop. It ends at its next checkpoint.
    pub fn stop(&self) {
        self.0.stop.store(true, Ordering::Relaxed);
    }

    /// The number of finished steps and the total number of steps. Returns `None` if the computation has not planned
    /// its steps.
    #[must_use]
    pub fn progress(&self) -> Option<(u64, u64)> {
        let planned = self.0.planned.load(Ordering::Acquire);
        let done = self.0.done.load(Ordering::Relaxed).min(planned);
        (planned > 0).then_some((done, planned))
    }

    /// Runs `work` on this thread. The monitor is attached to the thread until `work` ends. Returns `None` if a
    /// checkpoint stopped `work`.
    pub fn run<T>(&self, work: impl FnOnce() -> T) -> Option<T> {
        let before = MONITOR.replace(Some(self.clone()));
        let outcome = catch_unwind(AssertUnwindSafe(work));
        MONITOR.set(before);
        match outcome {
            Ok(value) => Some(value),
            Err(payload) if payload.is::<Stopped>() => None,
            Err(payload) => resume_unwind(payload),
        }
    }

    /// Attaches the monitor to this thread.
    pub fn watch(&self) {
        MONITOR.set(Some(self.clone()));
    }
}

/// The steps of a computation, counted by the [`Monitor`] that is attached to the thread.
///
/// Only the steps of the outermost computation are counted; those of nested computations are ignored. Without a
/// monitor, nothing is counted.
///
/// ```
/// use halfspaces_linalg::{Monitor, Steps};
/// let monitor = Monitor::default();
/// monitor.run(|| {
///     let steps = Steps::plan(10);
///     steps.advance(4);
///     Steps::plan(3).advance(1);
///     assert_eq!(monitor.progress(), Some((4, 10)));
/// });
/// assert_eq!(monitor.progress(), None);
/// ```
#[derive(Debug)]
#[must_use = "the steps are counted until this value is dropped"]
pub struct Steps(Option<Monitor>);

impl Steps {
    /// Plans `count` steps. If `count` is 0, no steps are counted.
    pub fn plan(count: u64) -> Steps {
        Steps(MONITOR.with_borrow(Option::clone).filter(|Monitor(state)| {
            let (success, failure) = (Ordering::AcqRel, Ordering::Relaxed);
            count > 0 && state.planned.compare_exchange(0, count, success, failure).is_ok()
        }))
    }

    /// Counts `count` more steps as finished. Every thread may call this.
    pub fn advance(&self, count: u64) {
        if let Some(Monitor(state)) = &self.0 {
            state.done.fetch_add(count, Ordering::Relaxed);
        }
    }
}

impl Drop for Steps {
    fn drop(&mut self) {
        if let Some(Monitor(state)) = &self.0 {
            state.done.store(0, Ordering::Relaxed);
            state.planned.store(0, Ordering::Release);
        }
    }
}

/// Ends the computation if its [`Monitor`] was asked to stop it. Does nothing on a thread without a monitor.
#[inline]
pub fn checkpoint() {
    let is_set = |Monitor(state): &Monitor| state.stop.load(Ordering::Relaxed);
    if MONITOR.with_borrow(|monitor| monitor.as_ref().is_some_and(is_set)) {
        resume_unwind(Box::new(Stopped));
    }
}

/// Same as [`checkpoint`], but checks the monitor only at every 4096th step of a loop over rows.
#[inline]
pub fn checkpoint_at(step: usize) {
    if step.is_multiple_of(4096) {
        checkpoint();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Threads;

    #[test]
    fn a_monitor_stops_the_threads_that_have_it() {
        let monitor = Monitor::default();
        let (watcher, other) = (monitor.clone(), Monitor::default());
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2);
        let pool = pool.start_handler(move |_| watcher.watch()).build().unwrap();
        let blocks = |threads: Threads| {
            threads.map_blocks(8, 1, |_| {
                checkpoint();
                monitor.stop();
            })
        };
        pool.install(|| {
            assert!(other.run(checkpoint).is_some(), "another monitor is not asked to stop");
            assert!(monitor.run(|| blocks(Threads::all())).is_none());
        });
        // No monitor is attached to this thread.
        assert_eq!(blocks(Threads::ONE).len(), 8);
    }

    #[test]
    fn a_panic_is_not_a_stop() {
        let monitor = Monitor::default();
        let caught = catch_unwind(AssertUnwindSafe(|| monitor.run(|| resume_unwind(Box::new(7)))));
        assert_eq!(caught.unwrap_err().downcast_ref(), Some(&7));
        monitor.stop();
        checkpoint();
    }

    #[test]
    fn steps_are_counted_on_any_thread_and_end_with_a_stop() {
        let monitor = Monitor::default();
        // No monitor is attached to this thread.
        Steps::plan(5).advance(1);
        assert_eq!(monitor.progress(), None);
        let stopped = monitor.run(|| {
            let steps = Steps::plan(5);
            assert_eq!(monitor.progress(), Some((0, 5)));
            Threads::all().map_blocks(3, 1, |_| steps.advance(1));
            assert_eq!(monitor.progress(), Some((3, 5)));
            steps.advance(9);
            assert_eq!(monitor.progress(), Some((5, 5)), "no more steps than planned");
            monitor.stop();
            checkpoint();
        });
        assert!(stopped.is_none());
        assert_eq!(monitor.progress(), None);
        monitor.run(|| {
            let steps = Steps::plan(2);
            steps.advance(1);
            assert_eq!(monitor.progress(), Some((1, 2)), "the next computation starts at 0");
        });
    }
}
