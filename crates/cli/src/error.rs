//! Errors of the command and their exit codes.

pub(crate) use halfspaces_frame::DataError as CliError;
use halfspaces_frame::DataErrorKind;

/// 2 for errors that the user can fix, 1 for all others.
pub(crate) fn exit_code(error: &CliError) -> u8 {
    match error.kind() {
        DataErrorKind::Input => 2,
        DataErrorKind::System => 1,
    }
}
