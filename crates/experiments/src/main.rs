//! The program that `cargo xtask reproduce`, `report`, `list` and `bench` start.

use std::process::ExitCode;

fn main() -> ExitCode {
    halfspaces_experiments::run()
}
