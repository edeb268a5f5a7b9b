//! What can be wrong with a file of trials.

use crate::trial::TrialKey;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// What can be wrong with a trials file.
///
/// ```
/// use halfspaces_eval::{StoreError, TrialStore};
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("trials.jsonl");
/// std::fs::write(&path, "{\"experiment\": \"K3\", \"conf")?; // killed by something other than us
/// assert!(matches!(TrialStore::open(&path), Err(StoreError::Truncated { line: 1, .. })));
/// TrialStore::repair(&path)?;
/// assert!(TrialStore::open(&path)?.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Error)]
pub enum StoreError {
    /// The file system refuses.
    #[error("{}: cannot {action}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// Why it failed.
        source: io::Error,
    },
    /// A trial could not be written; the file is as it was before.
    #[error("{}: cannot write a trial: {source}; {kept} trials are kept", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Trials safely in the file.
        kept: usize,
        /// Why it failed.
        source: io::Error,
    },
    /// Another process is writing the file.
    #[error("{}: another run is using this folder", path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// The last line is cut off.
    #[error("{}, line {line}: the last line is cut off after {bytes} bytes", path.display())]
    Truncated {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// Bytes present of it.
        bytes: usize,
    },
    /// A line is not a trial.
    #[error("{}, line {line}: not a trial ({reason})", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What the parser says.
        reason: String,
    },
    /// Two lines disagree about one trial.
    #[error("{}, line {line}: a second, different outcome of {key}; the trials come from different programs", path.display())]
    Conflict {
        /// The file.
        path: PathBuf,
        /// The later line, from 1.
        line: usize,
        /// The trial.
        key: Box<TrialKey>,
    },
}
