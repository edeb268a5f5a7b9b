//! The program that `cargo xtask reproduce`, `report`, `list`, `bench` and `instructions` start.

use std::process::ExitCode;

fn main() -> ExitCode {
    halfspaces_experiments::run()
}
