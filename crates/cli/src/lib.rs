//! The command `halfspaces`: fit classifiers to tables, predict, evaluate, explain, label and audit.
//!
//! The package is a program. Its library has one function, [`run`], for packages that include the command, such as the
//! Python package.
#![cfg_attr(test, allow(clippy::float_cmp, reason = "tests compare exact values on purpose"))]

mod cli;
mod commands;
mod error;
mod html;
mod input;
mod interrupt;
mod learner;
mod output;
mod progress;
mod recipe;
mod streams;
mod terminal;

use clap::Parser;
use std::ffi::OsString;

/// Runs the command with these arguments. The first argument is the name of the program. Returns the exit code: 0 on
/// success, 2 if an argument or a file is invalid, and 1 for all other errors. Prints results to standard output and
/// errors to standard error.
///
/// ```
/// assert_eq!(halfspaces_cli::run(["halfspaces", "--version"]), 0);
/// assert_eq!(halfspaces_cli::run(["halfspaces", "predict"]), 2);
/// ```
pub fn run<I: IntoIterator<Item = A>, A: Into<OsString> + Clone>(arguments: I) -> u8 {
    let done = match cli::Cli::try_parse_from(arguments) {
        Ok(cli) => interrupt::on_signal().and_then(|()| cli.command.run()),
        // The help and the version are written to standard output, and writing can fail.
        Err(help) if !help.use_stderr() => output::print_help(&help),
        Err(usage_error) => {
            let _ = usage_error.print();
            return u8::try_from(usage_error.exit_code()).unwrap_or(2);
        }
    };
    match done {
        Ok(()) => 0,
        Err(error) => {
            output::note(&format!("error: {error}"));
            error::exit_code(&error)
        }
    }
}
