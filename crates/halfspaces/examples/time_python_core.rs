//! Measures the time of one fit on the numbers in a file that `benches/peers/python_core.py` writes, and prints the
//! time in seconds: `cargo run --release -p halfspaces --example time_python_core -- FILE LEARNER`
//!
//! The file consists of 64-bit little-endian numbers: first the number of rows, the number of columns, and the number
//! of stored values (0 if the rows are dense); then the labels 0.0 or 1.0; and finally the dense rows, or the row
//! starts, the column indices and the values of sparse rows.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "the program prints its results")]
#![allow(clippy::disallowed_methods, reason = "the program measures times")]

use halfspaces::linalg::{
    FitSample, Label, LiftedRow, Params, PointSet, Points, SparsePoints, Threads,
};
use halfspaces::online::{AveragedPerceptron, OnlineLearner};
use halfspaces::pac::{LinearSvm, LogisticRegression, PositionedMassart, SamplePerspectron};
use halfspaces::pipeline::{Design, Method, Model, Plan};
use std::error::Error;
use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    match run(std::env::args().skip(1)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(mut arguments: impl Iterator<Item = String>) -> Result<(), Box<dyn Error>> {
    let (Some(path), Some(learner)) = (arguments.next(), arguments.next()) else {
        return Err("usage: time_python_core FILE LEARNER".into());
    };
    let bytes = std::fs::read(path)?;
    let (words, []) = bytes.as_chunks::<8>() else { return Err("not a list of numbers".into()) };
    let counts = |range: std::ops::Range<usize>| {
        words[range].iter().map(|w| u64::from_le_bytes(*w) as usize)
    };
    let floats =
        |range: std::ops::Range<usize>| words[range].iter().map(|w| f64::from_le_bytes(*w));
    let [rows, dim, stored] = counts(0..3).collect::<Vec<_>>()[..] else {
        unreachable!("three numbers")
    };
    let end = 3 + rows;
    let labels: Vec<Label> = floats(3..end).map(|y| Label::from_sign(y - 0.5)).collect();
    let (starts, columns) = if stored == 0 {
        (end..end, end..end)
    } else {
        (end..end + rows + 1, end + rows + 1..end + rows + 1 + stored)
    };
    let values =
        if stored == 0 { end..end + rows * dim } else { columns.end..columns.end + stored };
    let starts: Vec<usize> = counts(starts).collect();
    let columns: Vec<u32> = counts(columns).map(|column| column as u32).collect();
    let values: Vec<f64> = floats(values).collect();
    drop(bytes);
    // The time of the fit includes the check of the numbers, as it does in Python.
    let start = Instant::now();
    let design = match stored {
        0 => Design::Dense(Points::new(values, dim)?),
        _ => Design::Sparse(SparsePoints::new(starts, columns, values, dim)?),
    };
    match &design {
        Design::Dense(points) => fit(&learner, points, &labels, &design)?,
        Design::Sparse(points) => fit(&learner, points, &labels, &design)?,
    }
    println!("{}", start.elapsed().as_secs_f64());
    Ok(())
}

fn fit<P: PointSet>(
    learner: &str,
    points: &P,
    labels: &[Label],
    design: &Design,
) -> Result<(), Box<dyn Error>> {
    match learner {
        "averaged" => {
            let mut learner = AveragedPerceptron::new(points.dim() + 1)?;
            for (x, y) in points.rows().zip(labels) {
                learner.observe(LiftedRow::new(x), *y)?;
            }
            learner.average()?;
        }
        "perspectron" => {
            SamplePerspectron::params().passes(1).check()?.fit(points, labels)?;
        }
        "svm" => {
            LinearSvm::params().c(0.001).check()?.fit(points, labels)?;
        }
        "logistic" => {
            LogisticRegression::params().check()?.fit(points, labels)?;
        }
        "massart" => {
            PositionedMassart::params(0.1).check()?.fit(&points.lifted(), labels)?;
        }
        "auto" => {
            let classes: Vec<usize> =
                labels.iter().map(|y| usize::from(*y == Label::Positive)).collect();
            let plan = Plan { threads: Threads::ONE, ..Plan::new(Method::Auto) };
            Model::fit(&plan, design, &classes, None, None)?;
        }
        other => return Err(format!("unknown learner {other}").into()),
    }
    Ok(())
}
