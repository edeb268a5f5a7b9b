//! Errors of the command and their exit codes.

pub(crate) use halfspaces_frame::DataError as CliError;
use halfspaces_frame::DataErrorKind;

/// The exit code of an error: 2 if the user can fix it, otherwise 1.
pub(crate) fn exit_code(error: &CliError) -> u8 {
    match error.kind() {
        DataErrorKind::Input => 2,
        DataErrorKind::System => 1,
    }
}
