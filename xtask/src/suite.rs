//! Starts the experiments and the instruction counter. Cargo compiles these programs only when they are needed.

use crate::failure::Failure;
use crate::workspace::workspace_root;
use std::ffi::OsString;
use std::process::{Command, ExitCode};

/// The command that compiles, if necessary, and runs the program for these arguments.
fn command(arguments: &[OsString]) -> Command {
    // A separate package counts instructions. It has no subcommands.
    let (package, arguments) = match arguments {
        [first, rest @ ..] if first == "instructions" => ("halfspaces-instructions", rest),
        [first, second] if first == "help" && second == "instructions" => {
            ("halfspaces-instructions", &["--help".into()][..])
        }
        _ => ("halfspaces-experiments", arguments),
    };
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .args(["run", "--release", "--package", package, "--manifest-path"])
        .arg(workspace_root().join("Cargo.toml"))
        .arg("--")
        .args(arguments);
    command
}

/// Replaces this process with the program, so that signals reach it directly and its exit status is unchanged. Returns
/// only if the program cannot be started.
#[cfg(unix)]
pub(crate) fn hand_over(arguments: &[OsString]) -> Result<ExitCode, Failure> {
    use std::os::unix::process::CommandExt;
    let mut command = command(arguments);
    let error = command.exec();
    Err(format!("cannot start {}: {error}", command.get_program().display()).into())
}

/// Runs the program and returns its exit status.
#[cfg(not(unix))]
pub(crate) fn hand_over(arguments: &[OsString]) -> Result<ExitCode, Failure> {
    let mut command = command(arguments);
    let status = command
        .status()
        .map_err(|e| format!("cannot start {}: {e}", command.get_program().display()))?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

/// The catalogue of the suite as JSON.
pub(crate) fn catalogue() -> Result<String, Failure> {
    let output = command(&["list".into(), "--json".into()])
        .stderr(std::process::Stdio::inherit())
        .output()
        .map_err(|e| format!("cannot start Cargo: {e}"))?;
    if !output.status.success() {
        return Err(format!("cannot list the claims: {}", output.status).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}
