//! Plays a labelling session on a CSV file whose labels are known, and counts the corrections that a person would have made:
//! `cargo run --release -p halfspaces --example simulate_labelling -- data.csv [positive=1] [seed=0] [order=surest] [slips=0]`
//!
//! `order` is `surest` (the session's own), `random` (its learner asked in random order) or `sampled` (`SampledGreedy`, for labels that a
//! halfspace through the origin fits). With `slips=3` the 20th, 40th and 60th answer are wrong and stay so. The class is the last column;
//! columns become coordinates as in `halfspaces fit`. The last line, all there is to read for
//! `benches/peers/labelling.py`, is: points, corrections (predictions that differ from the truth), those in the first half.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program that reports")]

mod common;

use common::table;
use halfspaces::linalg::rand::seq::SliceRandom;
use halfspaces::linalg::{Label, Params, PointSet, Points, RngStream, rng_for};
use halfspaces::online::{LabellingParams, SampledGreedy, label_pool};
use std::error::Error;
use std::process::ExitCode;

/// The command line or a file is at fault, not the program.
const BAD_INPUT: u8 = 2;
/// Times at which the corrections so far are printed.
const REPORTS: usize = 10;
/// Every so many answers one is wrong, until there are as many slips as asked for.
const SLIP_EVERY: usize = 20;

type Failure = Box<dyn Error>;

struct Options {
    positive: Option<String>,
    seed: u64,
    order: String,
    slips: usize,
}

fn main() -> ExitCode {
    match run(std::env::args().skip(1)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(BAD_INPUT)
        }
    }
}

fn run(mut arguments: impl Iterator<Item = String>) -> Result<(), Failure> {
    let Some(file) = arguments.next() else {
        return Err("usage: simulate_labelling data.csv [positive=CLASS] [seed=N] [order=surest|random|sampled] [slips=N]".into());
    };
    let mut options = Options { positive: None, seed: 0, order: "surest".into(), slips: 0 };
    for argument in arguments {
        let wrong = |error: &dyn std::fmt::Display| format!("{argument}: {error}");
        match argument.split_once('=') {
            Some(("positive", class)) => options.positive = Some(class.into()),
            Some(("seed", text)) => options.seed = text.parse().map_err(|e| wrong(&e))?,
            Some(("order", order)) => options.order = order.into(),
            Some(("slips", text)) => options.slips = text.parse().map_err(|e| wrong(&e))?,
            _ => {
                return Err(
                    wrong(&"not an option; known are positive=, seed=, order=, slips=").into()
                );
            }
        }
    }
    // A reader's errors name the file themselves.
    let (points, labels) = table(&file, options.positive.as_deref())?;
    let in_file = |error: Failure| format!("{file}: {error}");
    // Whether each prediction, in the order asked, was wrong.
    let wrong = match options.order.as_str() {
        "surest" | "random" => play(&points, &labels, &options),
        "sampled" => sampled(&points, &labels, &options),
        other => return Err(format!("order={other}: known are surest, random and sampled").into()),
    };
    let wrong = wrong.map_err(in_file)?;
    let n = labels.len();
    let until = |end: usize| wrong[..end].iter().filter(|wrong| **wrong).count();
    for end in (1..=n).filter(|end| end % n.div_ceil(REPORTS) == 0) {
        println!("{end} of {n} labelled, {} corrections", until(end));
    }
    println!("{n},{},{}", until(n), until(n / 2));
    Ok(())
}

/// A session, surest point first or in random order.
fn play(points: &Points, labels: &[Label], options: &Options) -> Result<Vec<bool>, Failure> {
    let mut session = LabellingParams::new(2).seed(options.seed).check()?.session(points)?;
    let mut order: Vec<usize> = (0..labels.len()).collect();
    order.shuffle(&mut rng_for(RngStream::Caller, options.seed));
    let mut wrong = Vec::with_capacity(labels.len());
    while wrong.len() < labels.len() {
        let question = match options.order.as_str() {
            "random" => session.predict(order[wrong.len()])?,
            _ => session.next().ok_or("no question while points are open")?,
        };
        let truth = usize::from(labels[question.index] == Label::Positive);
        wrong.push(question.class != truth);
        let slip = wrong.len() % SLIP_EVERY == 0 && wrong.len() / SLIP_EVERY <= options.slips;
        let answer = if slip { 1 - truth } else { truth };
        match options.order.as_str() {
            "random" => session.tell(&[(question.index, answer)])?,
            _ => drop(session.answer(answer)?),
        }
    }
    Ok(wrong)
}

/// The learner of the version space, for labels without slips.
fn sampled(points: &Points, labels: &[Label], options: &Options) -> Result<Vec<bool>, Failure> {
    if options.slips > 0 {
        return Err(
            "order=sampled: SampledGreedy takes every answer for true; it plays without slips"
                .into(),
        );
    }
    let learner = SampledGreedy::new(points.dim(), options.seed)?;
    let (_, transcript) = label_pool(learner, points, labels)?;
    Ok(transcript.rounds().iter().map(|round| round.is_mistake()).collect())
}
