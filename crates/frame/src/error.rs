//! The error of everything that reads what a user gave.

use crate::names::visible;
use halfspaces_linalg::InputError;
use std::fmt;

/// A fault in what the user gave, or in the system, as one line: where it is, what it is, what to do.
///
/// ```
/// use halfspaces_frame::{DataError, DataErrorKind};
/// let error = DataError::user("t.csv, line 7: the label is missing").at("standard input");
/// assert_eq!(error.kind(), DataErrorKind::Input);
/// assert_eq!(error.to_string(), "standard input: t.csv, line 7: the label is missing");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataError {
    message: String,
    kind: DataErrorKind,
}

/// Whether the user can fix a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataErrorKind {
    /// Options, files or their contents: the user can fix it.
    Input,
    /// Anything else, such as a full disk.
    System,
}

impl DataError {
    /// A fault that the user can fix: in options, files or their contents. The message says where it is and what to do.
    pub fn user(message: impl Into<String>) -> DataError {
        DataError { message: message.into(), kind: DataErrorKind::Input }
    }

    /// Any other fault, such as a full disk.
    pub fn system(message: impl Into<String>) -> DataError {
        DataError { message: message.into(), kind: DataErrorKind::System }
    }

    /// Who can mend it.
    #[must_use]
    pub fn kind(&self) -> DataErrorKind {
        self.kind
    }

    /// The same error with the name of the file before it, unless the message has it already.
    #[must_use]
    pub fn within(self, file: &str) -> DataError {
        if self.message.contains(file) { self } else { self.at(file) }
    }

    /// The same error with `place` and a colon before it.
    #[must_use]
    pub fn at(self, place: &str) -> DataError {
        DataError { message: format!("{place}: {}", self.message), ..self }
    }
}

impl fmt::Display for DataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<&str> =
            self.message.lines().map(str::trim).filter(|part| !part.is_empty()).collect();
        f.write_str(&visible(&parts.join(" ")))
    }
}

impl std::error::Error for DataError {}

/// What libraries say of points and parameters comes from the user's files and arguments.
impl From<InputError> for DataError {
    fn from(error: InputError) -> DataError {
        // Which row of the file it is, a learner of some rows cannot say.
        DataError::user(match error {
            InputError::Overflow { .. } => {
                "numbers are so large that their squares overflow; divide the column that has them by a power of ten"
                    .to_owned()
            }
            other => other.to_string(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_shown_escaped() {
        let error = DataError::user("no column `label\r`;\n  there are `\u{1b}[31mred`, `größe`\n");
        assert_eq!(error.to_string(), r"no column `label\r`; there are `\u{1b}[31mred`, `größe`");
    }
}
