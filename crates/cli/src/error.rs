//! What ends a command early: one line, and an exit code.

pub(crate) use halfspaces_frame::DataError as CliError;
use halfspaces_frame::DataErrorKind;

/// 2 for faults that the user can fix, 1 for the rest.
pub(crate) fn exit_code(error: &CliError) -> u8 {
    match error.kind() {
        DataErrorKind::Input => 2,
        DataErrorKind::System => 1,
    }
}
