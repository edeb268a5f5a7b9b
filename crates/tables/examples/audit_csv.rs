//! Says which labels of a CSV file are probably wrong, and how many at most:
//! `cargo run --release -p halfspaces-tables --example audit_csv -- data.csv [positive class] [ranking.csv]`
//!
//! The class is the last column; columns without numbers become one 0/1 column per category. The third argument is a
//! file for the whole ranking (row, agreement), the most suspicious first. `halfspaces audit` does the same and more.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program that reports")]

use halfspaces_data::read::{CsvOptions, read_csv};
use halfspaces_linalg::{InputError, Params, Threads};
use halfspaces_pac::LabelAudit;
use halfspaces_tables::TableClassifier;
use std::error::Error;
use std::fmt::Write;
use std::process::ExitCode;

/// The command line or a file is at fault, not the program.
const BAD_INPUT: u8 = 2;
const FOLDS: usize = 5;
/// Rows printed.
const SHOWN: usize = 20;

fn main() -> ExitCode {
    match run(std::env::args().skip(1)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(BAD_INPUT)
        }
    }
}

fn run(mut arguments: impl Iterator<Item = String>) -> Result<(), Box<dyn Error>> {
    let Some(file) = arguments.next() else {
        return Err("usage: audit_csv data.csv [positive class] [ranking.csv]".into());
    };
    let options = match arguments.next() {
        Some(class) => CsvOptions::new().threads(Threads::all()).positive(&class),
        None => CsvOptions::new().threads(Threads::all()),
    };
    // A reader's errors name the file themselves.
    let (points, labels, _) = read_csv(&file, &options)?.into_parts();
    let in_file = |error: InputError| format!("{file}: {error}");
    // Every row is judged by models of the other folds, so that none needs to be kept back for a bound.
    let learner = TableClassifier::params().held_out(0.0).check()?;
    let audit =
        LabelAudit::run(&learner, &points, &labels, FOLDS, 1, Threads::ONE).map_err(in_file)?;
    println!(
        "of {} labels {} are likely wrong, at most {} with probability 95 %; the most suspicious rows, from 0:",
        labels.len(),
        audit.likely_wrong(),
        audit.wrong_at_most(0.05)?
    );
    for suspect in audit.ranking_by_class().iter().take(SHOWN) {
        println!("{:10}  {:8.3}", suspect.row, suspect.agreement);
    }
    if let Some(ranking) = arguments.next() {
        let mut text = String::new();
        for suspect in audit.ranking_by_class() {
            writeln!(text, "{},{}", suspect.row, suspect.agreement)?;
        }
        std::fs::write(&ranking, text).map_err(|error| format!("{ranking}: {error}"))?;
    }
    Ok(())
}
