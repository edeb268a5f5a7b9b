//! What ends a command early: one line, and an exit code.

pub(crate) use halfspaces_frame::DataError as CliError;
use halfspaces_frame::DataErrorKind;
use halfspaces_labelling::SessionError;

/// 2 for faults that the user can fix, 1 for the rest.
pub(crate) fn exit_code(error: &CliError) -> u8 {
    match error.kind() {
        DataErrorKind::Input => 2,
        DataErrorKind::System => 1,
    }
}

/// A session's error as one of this command.
pub(crate) fn session_error(error: &SessionError) -> CliError {
    if error.is_input() {
        CliError::user(error.to_string())
    } else {
        CliError::system(error.to_string())
    }
}
