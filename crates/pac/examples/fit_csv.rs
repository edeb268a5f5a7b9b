//! Fits a halfspace to a CSV file whose labels may be wrong, and says how often it will err:
//! `cargo run --release -p halfspaces-pac --example fit_csv -- train.csv [positive class] [test.csv]`
//!
//! The class is the last column; columns without numbers become one 0/1 column a category.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program that reports")]

use halfspaces_data::ZScore;
use halfspaces_data::read::{CsvOptions, read_csv};
use halfspaces_linalg::{FitSample, Params, PointSet};
use halfspaces_pac::{ErrorCount, SamplePerspectron};
use std::error::Error;
use std::process::ExitCode;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let Some(train) = arguments.next() else {
        return Err("usage: fit_csv train.csv [positive class] [test.csv]".into());
    };
    let options = match arguments.next() {
        Some(class) => CsvOptions::new().positive(&class),
        None => CsvOptions::new(),
    };
    let (points, labels, columns) = read_csv(&train, &options)?.into_parts();
    let scale = ZScore::fit(&points)?;
    let points = scale.apply(&points)?;
    let fit = SamplePerspectron::params().passes(10).check()?.fit(&points, &labels)?;
    println!(
        "{} points in {} dimensions; {} of {} held out are wrong",
        points.len(),
        points.dim(),
        fit.held_out_errors(),
        fit.held_out()
    );
    println!("error on fresh examples: {}, with probability 95 %", fit.error_bound(0.05));
    let mut weights: Vec<(f64, &String)> =
        fit.halfspace().weights().iter().copied().zip(&columns).collect();
    weights.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()));
    println!("largest weights on standardised columns, bias {:.4}:", fit.halfspace().bias());
    for (weight, column) in weights.iter().take(10) {
        println!("{weight:10.4}  {column}");
    }
    if let Some(test) = arguments.next() {
        let (points, labels, found) = read_csv(&test, &options)?.into_parts();
        if found != columns {
            return Err(format!("{test} and {train} do not have the same columns").into());
        }
        let errors = ErrorCount::count(&fit, &scale.apply(&points)?, &labels)?;
        println!("{test}: {} of {} wrong", errors.errors(), errors.points());
    }
    Ok(())
}
