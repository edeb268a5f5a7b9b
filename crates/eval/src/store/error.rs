//! Errors of trials files.

use crate::trial::TrialKey;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// A trials file could not be read or written.
///
/// ```
/// use halfspaces_eval::{StoreError, TrialStore};
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("trials.jsonl");
/// std::fs::write(&path, "{\"experiment\": \"K3\", \"conf")?; // truncated by another process
/// assert!(matches!(TrialStore::open(&path), Err(StoreError::Truncated { line: 1, .. })));
/// TrialStore::repair(&path)?;
/// assert!(TrialStore::open(&path)?.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Error)]
pub enum StoreError {
    /// The file system reported an error.
    #[error("{}: cannot {action}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The attempted operation.
        action: &'static str,
        /// The cause.
        source: io::Error,
    },
    /// A trial could not be written. The file is unchanged.
    #[error("{}: cannot write a trial: {source}; {kept} trials are kept", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Number of trials in the file.
        kept: usize,
        /// The cause.
        source: io::Error,
    },
    /// Another process is writing the file.
    #[error("{}: another run is using this folder", path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// The last line is truncated.
    #[error("{}, line {line}: the last line is truncated after {bytes} bytes", path.display())]
    Truncated {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// Number of bytes present.
        bytes: usize,
    },
    /// A line is not a trial.
    #[error("{}, line {line}: not a trial ({reason})", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// The message of the parser.
        reason: String,
    },
    /// Two lines contain different outcomes of the same trial.
    #[error("{}, line {line}: a second, different outcome of {key}; the trials come from different programs", path.display())]
    Conflict {
        /// The file.
        path: PathBuf,
        /// The later line, counted from 1.
        line: usize,
        /// The trial.
        key: Box<TrialKey>,
    },
}
