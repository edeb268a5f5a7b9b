//! Plays a labelling session on a CSV file whose labels are known, and counts the corrections that a person would have made:
//! `cargo run --release -p halfspaces-online --example simulate_labelling -- data.csv [positive class] [seed]`
//!
//! The class is the last column; columns without numbers become one 0/1 column per category. The last line, all there is
//! to read for `benches/peers/labelling.py`, is: points, corrections, those in the first half.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program that reports")]

use halfspaces_data::read::{CsvOptions, read_csv};
use halfspaces_linalg::{InputError, Label, Params};
use halfspaces_online::LabellingParams;
use std::error::Error;
use std::process::ExitCode;

/// The command line or a file is at fault, not the program.
const BAD_INPUT: u8 = 2;
/// Times at which the corrections so far are printed.
const REPORTS: usize = 10;

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
        return Err("usage: simulate_labelling data.csv [positive class] [seed]".into());
    };
    let options = match arguments.next() {
        Some(class) => CsvOptions::new().positive(&class),
        None => CsvOptions::new(),
    };
    let seed = match arguments.next() {
        Some(text) => text.parse().map_err(|error| format!("seed {text}: {error}"))?,
        None => 0,
    };
    // A reader's errors name the file themselves.
    let (points, labels, _) = read_csv(&file, &options)?.into_parts();
    let in_file = |error: InputError| format!("{file}: {error}");
    let mut session =
        LabellingParams::new(2).seed(seed).check()?.session(&points).map_err(in_file)?;
    let n = labels.len();
    let (mut answered, mut first_half) = (0, 0);
    while let Some(question) = session.next() {
        session.answer(usize::from(labels[question.index] == Label::Positive))?;
        answered += 1;
        let corrections = session.progress().corrections;
        if answered == n / 2 {
            first_half = corrections;
        }
        if answered % n.div_ceil(REPORTS) == 0 {
            println!("{answered} of {n} labelled, {corrections} corrections");
        }
    }
    println!("{n},{},{first_half}", session.progress().corrections);
    Ok(())
}
