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
mod threads;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let command = cli::Cli::parse().command;
    let done = interrupt::on_signal().and_then(|()| command.run());
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::note(&format!("error: {error}"));
            ExitCode::from(error::exit_code(&error))
        }
    }
}
