//! Errors of the command and their exit codes.

pub(crate) use halfspaces_frame::DataError as CliError;
use halfspaces_frame::DataErrorKind;
use halfspaces_labelling::SessionError;

/// 2 for errors that the user can fix, 1 for all others.
pub(crate) fn exit_code(error: &CliError) -> u8 {
    match error.kind() {
        DataErrorKind::Input => 2,
        DataErrorKind::System => 1,
    }
}

/// Converts an error of a labelling session.
pub(crate) fn session_error(error: &SessionError) -> CliError {
    if error.is_input() {
        CliError::user(error.to_string())
    } else {
        CliError::system(error.to_string())
    }
}
