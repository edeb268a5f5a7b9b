//! Simulates a labelling session on a CSV file with known labels and counts the corrections that a person would have
//! made:
//! `cargo run --release -p halfspaces --example simulate_labelling -- data.csv [positive=1] [seed=0] [order=surest] [slips=0]`
//!
//! `order` is `surest` (the order of the session: most confident prediction first), `random` (the same learner, with
//! the questions in random order) or `sampled` (`SampledGreedy`, for labels that a halfspace through the origin fits).
//! With `slips=3` the 20th, 40th and 60th answers are wrong and are not corrected later. The last column contains the
//! classes; the other columns become coordinates as in `halfspaces fit`. The last line, which
//! `benches/peers/labelling.py` parses, contains the numbers of points, of corrections (predictions that differ from
//! the true label), and of corrections in the first half.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "the program prints its results")]

mod common;

use common::{exit_code, table};
use halfspaces::linalg::rand::seq::SliceRandom;
use halfspaces::linalg::{Label, Params, PointSet, Points, RngStream, rng_for};
use halfspaces::online::{Labelling, SampledGreedy, label_pool};
use std::error::Error;
use std::process::ExitCode;

/// Number of intermediate reports.
const REPORTS: usize = 10;
/// Number of answers from one wrong answer to the next.
const SLIP_EVERY: usize = 20;

type Failure = Box<dyn Error>;

struct Options {
    positive: Option<String>,
    seed: u64,
    order: String,
    slips: usize,
}

fn main() -> ExitCode {
    exit_code(run(std::env::args().skip(1)))
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
                    wrong(&"unknown option; expected positive=, seed=, order= or slips=").into()
                );
            }
        }
    }
    // The error messages of the reader already name the file.
    let (points, labels) = table(&file, options.positive.as_deref())?;
    let in_file = |error: Failure| format!("{file}: {error}");
    // Whether each prediction was wrong, in the order of the questions.
    let wrong = match options.order.as_str() {
        "surest" | "random" => simulate(&points, &labels, &options),
        "sampled" => sampled(&points, &labels, &options),
        other => return Err(format!("order={other}: expected surest, random or sampled").into()),
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

/// Simulates a session in its own order or in random order.
fn simulate(points: &Points, labels: &[Label], options: &Options) -> Result<Vec<bool>, Failure> {
    let mut session = Labelling::params(2).seed(options.seed).check()?.session(points)?;
    let mut order: Vec<usize> = (0..labels.len()).collect();
    order.shuffle(&mut rng_for(RngStream::CALLER, options.seed));
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

/// Runs the version-space learner, which tolerates no wrong answers.
fn sampled(points: &Points, labels: &[Label], options: &Options) -> Result<Vec<bool>, Failure> {
    if options.slips > 0 {
        return Err("order=sampled: SampledGreedy needs correct answers; pass slips=0".into());
    }
    let learner = SampledGreedy::new(points.dim(), options.seed)?;
    let (_, transcript) = label_pool(learner, points, labels)?;
    Ok(transcript.rounds().iter().map(|round| round.is_mistake()).collect())
}
