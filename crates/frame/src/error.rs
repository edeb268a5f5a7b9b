//! The error type for options, files and other input that a user provides.

use crate::names::visible;
use halfspaces_linalg::InputError;
use std::fmt;

/// An error in the user's input or in the system. The message is one line that says where the error is, what the
/// problem is, and what to do.
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

/// The kind of an error, which says whether the user can fix it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataErrorKind {
    /// An error in options, files or the contents of files, which the user can fix.
    Input,
    /// Any other error, for example because the disk is full.
    System,
}

impl DataError {
    /// Creates an error that reports a problem with options, files or the contents of files. The message should say where the error is and what
    /// to do.
    pub fn user(message: impl Into<String>) -> DataError {
        DataError { message: message.into(), kind: DataErrorKind::Input }
    }

    /// Creates an error of any other kind, for example because the disk is full.
    pub fn system(message: impl Into<String>) -> DataError {
        DataError { message: message.into(), kind: DataErrorKind::System }
    }

    /// The kind of the error.
    #[must_use]
    pub fn kind(&self) -> DataErrorKind {
        self.kind
    }

    /// Puts the name of the file before the message, unless the message already contains the name.
    #[must_use]
    pub fn within(self, file: &str) -> DataError {
        if self.message.contains(file) { self } else { self.at(file) }
    }

    /// Puts `place` and a colon before the message.
    #[must_use]
    pub fn at(self, place: &str) -> DataError {
        DataError { message: format!("{place}: {}", self.message), ..self }
    }
}

impl fmt::Display for DataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A line end in a quoted name or cell belongs to it. All others only divide the message.
        let mut line = String::with_capacity(self.message.len());
        for (at, part) in self.message.trim().split('`').enumerate() {
            if at > 0 {
                line.push('`');
            }
            if at % 2 == 1 {
                line.push_str(part);
                continue;
            }
            let mut pieces = part.split('\n');
            line.push_str(pieces.next().unwrap_or_default());
            for piece in pieces.map(str::trim_start) {
                line.truncate(line.trim_end().len());
                line.push(' ');
                line.push_str(piece);
            }
        }
        f.write_str(&visible(&line))
    }
}

impl std::error::Error for DataError {}

/// Errors about points and parameters are caused by the user's files and arguments.
impl From<InputError> for DataError {
    fn from(error: InputError) -> DataError {
        // The row number is omitted, because a learner that is given selected rows does not know the numbers of these
        // rows in the file.
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
    fn invisible_characters_are_escaped() {
        let error = DataError::user("no column `label\r`;\n  there are `\u{1b}[31mred`, `größe`\n");
        assert_eq!(error.to_string(), r"no column `label\r`; there are `\u{1b}[31mred`, `größe`");
        let error = DataError::user(
            "no column `a\r\n(b)`; did\r\n  you mean\n`a\n(b)`?\n\n  Rename\n it.\n",
        );
        let shown = r"no column `a\r\n(b)`; did you mean `a\n(b)`? Rename it.";
        assert_eq!(error.to_string(), shown);
        let error = DataError::user("no column `x`; there are `\u{200b}x`, `\u{feff}x`");
        assert_eq!(error.to_string(), r"no column `x`; there are `\u{200b}x`, `\u{feff}x`");
    }
}
