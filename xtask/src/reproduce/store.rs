//! The store of a run's trials, shared by threads.

use halfspaces_eval::TrialStore;
use std::sync::{Mutex, MutexGuard};

pub(super) fn locked(store: &Mutex<TrialStore>) -> MutexGuard<'_, TrialStore> {
    store.lock().unwrap_or_else(|_| unreachable!("another thread panicked while it held the store"))
}
