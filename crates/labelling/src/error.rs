//! What can go wrong with a session.

use std::path::PathBuf;
use thiserror::Error;

/// A session file that cannot be read or written. Each message names the file, what was found and what to do.
///
/// ```
/// use halfspaces_labelling::{SessionAccess, SessionFile};
/// let error = SessionFile::open("no/such/folder/s.jsonl".as_ref(), SessionAccess::Read).unwrap_err();
/// assert!(error.is_input());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The operating system refuses the file.
    #[error("{}: {why}", path.display())]
    Io {
        /// The session file.
        path: PathBuf,
        /// The message of the operating system.
        why: String,
        /// Whether the path is at fault, not the machine.
        input: bool,
    },
    /// The path names something that cannot hold a session.
    #[error("{}: is {found}; --session names a regular file", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
        /// What it is.
        found: &'static str,
    },
    /// Another process writes to the session.
    #[error("{}: another process labels with this session; stop it first, or name another file by --session", path.display())]
    Locked {
        /// The session file.
        path: PathBuf,
    },
    /// A line does not belong into a session file.
    #[error("{}: line {line}: {why}", path.display())]
    Line {
        /// The session file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong with it, and what to do.
        why: String,
    },
    /// A line could not be written.
    #[error("{}: {why}; the answer is not kept{rest}", path.display())]
    NotKept {
        /// The session file.
        path: PathBuf,
        /// The message of the operating system.
        why: String,
        /// What else there is to know.
        rest: &'static str,
    },
    /// Another program deleted, replaced or changed the file while the session was open.
    #[error("{}: was {how} by another program; {}", path.display(), rescue(saved, path))]
    Lost {
        /// The session file.
        path: PathBuf,
        /// What happened to it.
        how: &'static str,
        /// The file that has the whole session, with the last answer; or why there is none.
        saved: Result<PathBuf, String>,
    },
}

fn rescue(saved: &Result<PathBuf, String>, path: &PathBuf) -> String {
    match saved {
        Ok(saved) if saved == path => {
            "the whole session, with the last answer, is written to it again; start the same command again".to_owned()
        }
        Ok(saved) => format!(
            "the last answer is not kept there; the whole session, with that answer, is in {}: go on with --session {}",
            saved.display(),
            saved.display()
        ),
        Err(why) => format!(
            "the last answer is not kept, and the session could not be written anew ({why}); restore the file from a copy"
        ),
    }
}

impl SessionError {
    /// Whether the fault is in the arguments or files that the user named, not in the machine.
    #[must_use]
    pub fn is_input(&self) -> bool {
        match self {
            SessionError::Io { input, .. } => *input,
            SessionError::NotAFile { .. }
            | SessionError::Locked { .. }
            | SessionError::Line { .. } => true,
            SessionError::NotKept { .. } | SessionError::Lost { .. } => false,
        }
    }
}

/// Why an event did not happen.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ApplyError {
    /// The event does not fit the session; says why.
    #[error("{0}")]
    Unfit(String),
    /// The event is not on the disk.
    #[error(transparent)]
    File(#[from] SessionError),
}
