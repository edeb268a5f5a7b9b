//! The experiments that measure every claim of the workspace, and its benchmarks.
//!
//! `cargo xtask reproduce`, `report`, `list` and `bench` run this package's program.
#![cfg_attr(test, allow(clippy::float_cmp, reason = "tests compare exact values on purpose"))]

mod bench;
mod catalogue;
mod cli;
mod console;
mod experiments;
mod failure;
mod interrupt;
mod noisy;
mod progress;
mod reproduce;
mod suite;
mod theory;
mod workload;
mod workspace;

use clap::Parser;
use cli::{Cli, Command, ListOptions};
use failure::Failure;
use std::process::ExitCode;

/// Runs the command given by the arguments of this process and returns its exit status.
#[must_use]
pub fn run() -> ExitCode {
    let filter = tracing_subscriber::EnvFilter::try_from_default_env()
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();

    let outcome = match Cli::parse().command {
        Command::Reproduce(options) => reproduce::reproduce(&options),
        Command::Report(options) => reproduce::report(&options),
        Command::List(ListOptions { json: true }) => catalogue::print(),
        Command::List(_) => suite::list(),
        Command::Bench(options) => bench::bench(&options),
    };
    outcome.unwrap_or_else(|failure| {
        console::note(&failure::explained(&failure));
        ExitCode::from(2)
    })
}
