//! The append-only file of trials.
//!
//! One trial a line, written by a single write call each, so that whatever ends the program, every
//! line in the file is a finished trial. A write that fails half-way (disk full) is undone.

mod error;
mod lock;
mod trials;

pub use error::StoreError;
pub use lock::FolderLock;
pub use trials::TrialStore;
