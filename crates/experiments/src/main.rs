//! The program that `cargo xtask reproduce`, `report`, `list` and `bench` run.

use std::process::ExitCode;

fn main() -> ExitCode {
    halfspaces_experiments::run()
}
