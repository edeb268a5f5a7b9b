//! The command `halfspaces`: fit classifiers to tables, predict, evaluate, explain, label and audit.
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
use std::process::ExitCode;

fn main() -> ExitCode {
    let done = match cli::Cli::try_parse() {
        Ok(cli) => interrupt::on_signal().and_then(|()| cli.command.run()),
        // Help and version go to standard output, where writing can fail.
        Err(help) if !help.use_stderr() => output::print_help(&help),
        Err(usage_error) => usage_error.exit(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::note(&format!("error: {error}"));
            ExitCode::from(error::exit_code(&error))
        }
    }
}
