//! The append-only file of trials.
//!
//! Each trial is one line, which is written by a single write call, so that every line in the file is a finished trial
//! even if the program is killed. A write that fails halfway, for example because the disk is full, is undone.

mod error;
mod lock;
mod trials;

pub use error::StoreError;
pub use lock::FolderLock;
pub use trials::TrialStore;
