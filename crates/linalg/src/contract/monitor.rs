//! A request to stop a computation early.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

thread_local! {
    static WATCHED: RefCell<Option<StopFlag>> = const { RefCell::new(None) };
}

/// The payload of the unwinding that ends a stopped computation.
struct Stopped;

/// A flag with which another thread stops a long computation, for example because a user presses Ctrl-C.
///
/// The learners call [`checkpoint`] in their outer loops, at least once per pass over the points. If a thread watches a
/// flag and the flag is set, the next checkpoint on this thread unwinds the stack. The unwinding runs no panic hook,
/// and [`StopFlag::run`] catches it. A computation that spawns its own threads can be stopped on them if they also
/// watch the flag. For example, the start handler of a thread pool can call [`StopFlag::watch`].
///
/// ```
/// use halfspaces_linalg::{StopFlag, checkpoint};
/// let flag = StopFlag::default();
/// assert_eq!(flag.run(|| 2 + 2), Some(4));
/// let endless = || loop {
///     flag.stop();
///     checkpoint();
/// };
/// assert_eq!(flag.run(endless), None::<()>);
/// ```
#[derive(Debug, Clone, Default)]
pub struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    /// Requests the stop. The computation ends at its next checkpoint.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Runs `work` on this thread, which watches the flag until `work` ends. Returns `None` if a checkpoint stopped it.
    pub fn run<T>(&self, work: impl FnOnce() -> T) -> Option<T> {
        let before = WATCHED.replace(Some(self.clone()));
        let outcome = catch_unwind(AssertUnwindSafe(work));
        WATCHED.set(before);
        match outcome {
            Ok(value) => Some(value),
            Err(payload) if payload.is::<Stopped>() => None,
            Err(payload) => resume_unwind(payload),
        }
    }

    /// Lets this thread watch the flag from now on.
    pub fn watch(&self) {
        WATCHED.set(Some(self.clone()));
    }
}

/// Ends the computation if its [`StopFlag`] is set. Does nothing on a thread that watches no flag.
#[inline]
pub fn checkpoint() {
    let is_set = |flag: &StopFlag| flag.0.load(Ordering::Relaxed);
    if WATCHED.with_borrow(|flag| flag.as_ref().is_some_and(is_set)) {
        resume_unwind(Box::new(Stopped));
    }
}

/// Same as [`checkpoint`], but checks the flag only at every 4096th step of a loop over rows.
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
    fn a_flag_stops_the_threads_that_watch_it() {
        let flag = StopFlag::default();
        let (watcher, other) = (flag.clone(), StopFlag::default());
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2);
        let pool = pool.start_handler(move |_| watcher.watch()).build().unwrap();
        let blocks = |threads: Threads| {
            threads.map_blocks(8, 1, |_| {
                checkpoint();
                flag.stop();
            })
        };
        pool.install(|| {
            assert!(other.run(checkpoint).is_some(), "another flag is not set");
            assert!(flag.run(|| blocks(Threads::all())).is_none());
        });
        // This thread watches no flag.
        assert_eq!(blocks(Threads::ONE).len(), 8);
    }

    #[test]
    fn a_panic_is_not_a_stop() {
        let flag = StopFlag::default();
        let caught = catch_unwind(AssertUnwindSafe(|| flag.run(|| resume_unwind(Box::new(7)))));
        assert_eq!(caught.unwrap_err().downcast_ref(), Some(&7));
        flag.stop();
        checkpoint();
    }
}
