//! Errors of sessions and their files.

use halfspaces_frame::DataError;
use std::path::PathBuf;
use thiserror::Error;

/// The reason why a session file cannot be read or written. Each message names the file, the problem and the remedy.
///
/// ```
/// use halfspaces_labelling::{SessionAccess, SessionFile};
/// let error = SessionFile::open("no/such/folder/s.jsonl".as_ref(), SessionAccess::Read).unwrap_err();
/// assert!(error.is_input());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The operating system reported an error.
    #[error("{}: {why}", path.display())]
    Io {
        /// The session file.
        path: PathBuf,
        /// The message of the operating system.
        why: String,
        /// Whether the path is at fault rather than the machine.
        input: bool,
    },
    /// The path is not a regular file.
    #[error("{} is {found}; --session needs a regular file", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
        /// The kind of file found.
        found: &'static str,
    },
    /// Another process has locked the session.
    #[error("{}: another process is using this session; stop it first, or pass another file to --session", path.display())]
    Locked {
        /// The session file.
        path: PathBuf,
    },
    /// A line is not a valid line of a session file.
    #[error("{}: line {line}: {why}", path.display())]
    Line {
        /// The session file.
        path: PathBuf,
        /// The line number, counted from 1.
        line: usize,
        /// The problem and the remedy.
        why: String,
    },
    /// A line could not be written.
    #[error("{}: {why}; the last answer, or the start of the session, was not saved{rest}", path.display())]
    NotKept {
        /// The session file.
        path: PathBuf,
        /// The message of the operating system.
        why: String,
        /// An additional consequence, or an empty text.
        rest: &'static str,
    },
    /// Another program deleted, replaced or changed the file while the session was open.
    #[error("{} was {how} by another program; {}", path.display(), rescue_message(saved, path))]
    Lost {
        /// The session file.
        path: PathBuf,
        /// The change that another program made to the file.
        how: &'static str,
        /// The file to which the whole session, including the last event, was saved. If saving failed, the reason why
        /// it was not saved.
        saved: Result<PathBuf, String>,
    },
}

fn rescue_message(saved: &Result<PathBuf, String>, path: &PathBuf) -> String {
    match saved {
        Ok(saved) if saved == path => {
            "the whole session, including the last answer, was written to this file again; run the same command again".to_owned()
        }
        Ok(saved) => format!(
            "the last answer is not in that file; the whole session, including that answer, is in {}: continue with --session {}",
            saved.display(),
            saved.display()
        ),
        Err(why) => format!(
            "the last answer was not saved, and the session could not be written to a new file ({why}); restore the file from a copy"
        ),
    }
}

impl SessionError {
    /// Whether the user's arguments or files are at fault, rather than the machine.
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

impl From<SessionError> for DataError {
    fn from(error: SessionError) -> DataError {
        let message = error.to_string();
        if error.is_input() { DataError::user(message) } else { DataError::system(message) }
    }
}

/// The reason why an event could not be applied.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ApplyError {
    /// The event contradicts the session; the text gives the reason.
    #[error("{0}")]
    Unfit(String),
    /// The event could not be written to the file.
    #[error(transparent)]
    File(#[from] SessionError),
}
