//! What ends a command early: one line, and an exit code.

use crate::names::visible;
use halfspaces_linalg::InputError;
use std::fmt;

/// A failure as one line for the terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CliError {
    message: String,
    fault: Fault,
}

/// Whose fault it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// Arguments or files: the user can fix it.
    User,
    /// Anything else, a full disk say.
    System,
}

impl CliError {
    /// Something the user can fix: arguments, files and what is in them. The message says where it is and what to do.
    pub(crate) fn user(message: impl Into<String>) -> CliError {
        CliError { message: message.into(), fault: Fault::User }
    }

    /// Anything else, such as a full disk.
    pub(crate) fn system(message: impl Into<String>) -> CliError {
        CliError { message: message.into(), fault: Fault::System }
    }

    /// 2 for what the user can fix, 1 for the rest.
    pub(crate) fn exit_code(&self) -> u8 {
        match self.fault {
            Fault::User => 2,
            Fault::System => 1,
        }
    }

    /// What the terminal shows: `error: ` and the message, without line ends.
    pub(crate) fn line(&self) -> String {
        format!("error: {self}")
    }

    /// The same, with the name of the file before it unless it says it already.
    pub(crate) fn within(self, file: &str) -> CliError {
        if self.message.contains(file) { self } else { self.at(file) }
    }

    /// The same, with `place` and a colon before it.
    pub(crate) fn at(self, place: &str) -> CliError {
        CliError { message: format!("{place}: {}", self.message), ..self }
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<&str> =
            self.message.lines().map(str::trim).filter(|part| !part.is_empty()).collect();
        f.write_str(&visible(&parts.join(" ")))
    }
}

impl std::error::Error for CliError {}

/// What libraries say of points and parameters comes from the user's files and arguments.
impl From<InputError> for CliError {
    fn from(error: InputError) -> CliError {
        // Which row of the file it is, a learner of some rows cannot say.
        CliError::user(match error {
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
        let error = CliError::user("no column `label\r`;\n  there are `\u{1b}[31mred`, `größe`\n");
        assert_eq!(error.line(), r"error: no column `label\r`; there are `\u{1b}[31mred`, `größe`");
    }
}
