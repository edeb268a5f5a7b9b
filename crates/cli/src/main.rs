//! `halfspaces`: learn a classifier from a table, label, predict, evaluate, explain, audit.
#![cfg_attr(test, allow(clippy::float_cmp, reason = "tests compare exact values on purpose"))]

mod cli;
mod commands;
mod error;
mod frame;
mod html;
mod input;
mod interrupt;
mod learner;
mod names;
mod output;
mod progress;
mod recipe;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let done = match cli::Cli::try_parse() {
        Ok(cli) => interrupt::on_signal().and_then(|()| cli.command.run()),
        // Help and version go to standard output, which may be full.
        Err(asked) if !asked.use_stderr() => output::print_help(&asked),
        Err(wrong) => wrong.exit(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::note(&format!("error: {error}"));
            ExitCode::from(error::exit_code(&error))
        }
    }
}
