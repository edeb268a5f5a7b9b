//! The command `halfspaces`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(halfspaces_cli::run(std::env::args_os()))
}
