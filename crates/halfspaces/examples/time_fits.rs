//! Measures the time of complete fits on a CSV file whose last column is the class; columns are not scaled:
//! `cargo run --release -p halfspaces --example time_fits -- table.csv [positive class]`
//!
//! Prints one line per fit: the learner, C, the time in seconds (the median of three runs), the final objective, and
//! the termination.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "the program prints its results")]
#![allow(clippy::disallowed_methods, reason = "the program measures times")]

mod common;

use common::{exit_code, table};
use halfspaces::linalg::{FitSample, InputError, Params};
use halfspaces::pac::{LinearSvm, LogisticRegression};
use std::error::Error;
use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    exit_code(run(std::env::args().skip(1)))
}

fn run(mut arguments: impl Iterator<Item = String>) -> Result<(), Box<dyn Error>> {
    let Some(path) = arguments.next() else {
        return Err("usage: time_fits table.csv [positive class]".into());
    };
    let (points, labels) = table(&path, arguments.next().as_deref())?;
    for c in [0.1, 1.0, 10.0] {
        let learner = LinearSvm::params().c(c).check()?;
        measure("svm", c, || {
            let fit = learner.fit(&points, &labels)?;
            Ok((fit.primal(), format!("{:?}", fit.termination())))
        })?;
    }
    let learner = LogisticRegression::params().check()?;
    measure("logistic", 1.0, || {
        let fit = learner.fit(&points, &labels)?;
        Ok((fit.objective(), format!("{:?}", fit.termination())))
    })
}

/// Measures a fit and prints its line: the median time of three runs, and the result of the last one.
fn measure(
    what: &str,
    c: f64,
    mut fit: impl FnMut() -> Result<(f64, String), InputError>,
) -> Result<(), Box<dyn Error>> {
    let (mut seconds, mut reached) = ([0.0; 3], (0.0, String::new()));
    for time in &mut seconds {
        let start = Instant::now();
        reached = fit()?;
        *time = start.elapsed().as_secs_f64();
    }
    seconds.sort_by(f64::total_cmp);
    println!("{what} {c} {:.6} {:.6} {}", seconds[1], reached.0, reached.1);
    Ok(())
}
