//! The append-only file of trials.
//!
//! A single write call writes each trial as one line. Every line in the file is therefore a finished trial, even if the
//! program is killed. A write that fails halfway, for example because the disk is full, is undone.

mod error;
mod lock;
mod trials;

pub use error::StoreError;
pub use lock::FolderLock;
pub use trials::TrialStore;
