//! `cargo xtask`: reproduces every claim of the workspace and keeps the workspace tidy.
#![cfg_attr(test, allow(clippy::float_cmp, reason = "tests compare exact values on purpose"))]

mod bench;
mod cli;
mod console;
mod experiments;
mod failure;
mod index;
mod instructions;
mod interrupt;
mod modules;
mod noisy;
mod outputs;
mod progress;
mod reproduce;
mod suite;
mod theorems;
mod theory;
mod tidy;
mod workload;
mod workspace;

use clap::Parser;
use cli::{Cli, Command};
use failure::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    let filter = tracing_subscriber::EnvFilter::try_from_default_env()
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();

    let outcome = match Cli::parse().command {
        Command::Reproduce(options) => reproduce::reproduce(&options),
        Command::Report(options) => reproduce::report(&options),
        Command::List => suite::list(),
        Command::Index => index::index(),
        Command::Tidy(options) => tidy::tidy(&options),
        Command::Bench(options) => bench::bench(&options),
        Command::Instructions(options) => instructions::instructions(&options),
    };
    outcome.unwrap_or_else(|failure| {
        console::note(&failure::explained(&failure));
        ExitCode::from(2)
    })
}
