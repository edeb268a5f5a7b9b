//! Labels the rows of a CSV file with as few corrections as possible: the program guesses, the surest
//! row first, and a person confirms or corrects.
//!
//! ```text
//! cargo run --release -p halfspaces-online --example label_pool -- pool.csv answers.csv [truth.txt]
//! ```
//!
//! `pool.csv` holds numbers, one row per point, with or without a first line of names. Every answer is
//! written to `answers.csv` (row, label) at once: stop at any time, run the same command again and go
//! on. With `truth.txt`, one label (1 or -1) per line, nobody is asked.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "it talks to a person")]

use halfspaces_features::{FeatureMap, ZScore};
use halfspaces_linalg::{Label, PointSet, Points};
use halfspaces_online::{AnswerStatus, SelfDirectedSession, StrongLearner};
use std::error::Error;
use std::fmt::Display;
use std::fs::{self, OpenOptions};
use std::io::{self, BufRead, Write};
use std::process::ExitCode;

/// Answers between two looks for contradictions.
const LOOK_EVERY: usize = 25;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match label(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("label_pool: {error}");
            ExitCode::from(2)
        }
    }
}

/// Puts the name of a file before what is wrong with it.
fn about<E: Display>(path: &str) -> impl Fn(E) -> String {
    move |error| format!("{path}: {error}")
}

fn label(args: &[String]) -> Result<(), Box<dyn Error>> {
    let (pool_path, answers_path, truth_path) = match args {
        [pool, answers] => (pool, answers, None),
        [pool, answers, truth] => (pool, answers, Some(truth)),
        _ => return Err("usage: label_pool pool.csv answers.csv [truth.txt]".into()),
    };
    let (names, raw) = read_pool(pool_path)?;
    let truth = truth_path.map(|path| read_truth(path, raw.len())).transpose()?;
    let scaling = ZScore::fit(&raw).map_err(about(pool_path))?;
    let points = scaling.apply(&raw).map_err(about(pool_path))?.lifted();
    let learner = StrongLearner::recommended(points.dim(), 1)?;
    let earlier = read_answers(answers_path)?;
    let mut session =
        SelfDirectedSession::resume(learner, &points, &earlier).map_err(about(answers_path))?;
    let mut answers = OpenOptions::new()
        .create(true)
        .append(true)
        .open(answers_path)
        .map_err(about(answers_path))?;
    let mut input = io::stdin().lock();
    let mut looked_after = earlier.len();

    while let Some(question) = session.next().map_err(about(pool_path))? {
        let (row, guess) = (question.index, question.prediction.label);
        let label = match &truth {
            Some(truth) => truth[row],
            None => match ask(&mut input, &names, &raw, row, guess, question.prediction.value)? {
                Some(label) => label,
                None => break,
            },
        };
        writeln!(answers, "{row},{}", label.as_f64()).map_err(about(answers_path))?;
        answers.flush().map_err(about(answers_path))?;
        session.reveal(label).map_err(about(pool_path))?;
        let progress = session.progress();
        if truth.is_none() || progress.labelled.is_multiple_of(1000) {
            println!(
                "{} of {} labelled, {} corrections",
                progress.labelled, progress.points, progress.mistakes
            );
        }
        let due = progress.labelled - looked_after >= LOOK_EVERY;
        if truth.is_none() && due && session.status() != AnswerStatus::Consistent {
            looked_after = progress.labelled;
            if let Some(rows) = session.contradiction()? {
                println!("no straight boundary fits your labels of rows {rows:?}; is one a slip?");
            }
        }
    }
    let progress = session.progress();
    println!(
        "{} of {} labelled with {} corrections; {}; answers in {answers_path}",
        progress.labelled,
        progress.points,
        progress.mistakes,
        session.status()
    );
    Ok(())
}

/// Shows a row and its guess; `None` to stop.
fn ask(
    input: &mut impl BufRead,
    names: &[String],
    raw: &Points,
    row: usize,
    guess: Label,
    confidence: f64,
) -> io::Result<Option<Label>> {
    let Some(values) = raw.row(row).map(|x| x.as_slice()) else {
        unreachable!("questions are about rows of the pool")
    };
    let shown: Vec<String> =
        names.iter().zip(values).take(12).map(|(name, value)| format!("{name} {value}")).collect();
    println!("\nrow {row}: {}", shown.join(", "));
    loop {
        print!(
            "I say {} (confidence {:.2}). Enter: right, n: wrong, q: stop > ",
            sign(guess),
            confidence.abs()
        );
        io::stdout().flush()?;
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        match line.trim() {
            "" | "y" => return Ok(Some(guess)),
            "n" => return Ok(Some(-guess)),
            "q" => return Ok(None),
            _ => println!("please answer with Enter, n or q"),
        }
    }
}

fn sign(label: Label) -> &'static str {
    if label == Label::Positive { "+1" } else { "-1" }
}

/// Column names and rows.
fn read_pool(path: &str) -> Result<(Vec<String>, Points), Box<dyn Error>> {
    let text = fs::read_to_string(path).map_err(|e| format!("{path}: {e}"))?;
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).peekable();
    let split = |line: &str| line.split(',').map(|v| v.trim().to_owned()).collect::<Vec<_>>();
    let (_, first) = lines.peek().ok_or_else(|| format!("{path}: is empty"))?;
    let first = split(first);
    let names = if first.iter().any(|v| v.parse::<f64>().is_err()) {
        lines.next();
        first
    } else {
        (1..=first.len()).map(|j| format!("x{j}")).collect()
    };
    let mut rows = Vec::new();
    for (number, line) in lines {
        let row: Result<Vec<f64>, _> = split(line).iter().map(|v| v.parse::<f64>()).collect();
        let row = row.map_err(|e| format!("{path}, line {}: {e}", number + 1))?;
        if row.len() != names.len() {
            let (found, wanted) = (row.len(), names.len());
            return Err(format!("{path}, line {}: {found} values, not {wanted}", number + 1).into());
        }
        rows.push(row);
    }
    Ok((names, Points::from_rows(&rows).map_err(|e| format!("{path}: {e}"))?))
}

fn parse_label(text: &str) -> Option<Label> {
    match text.trim() {
        "1" | "+1" => Some(Label::Positive),
        "-1" | "0" => Some(Label::Negative),
        _ => None,
    }
}

fn read_truth(path: &str, rows: usize) -> Result<Vec<Label>, Box<dyn Error>> {
    let text = fs::read_to_string(path).map_err(|e| format!("{path}: {e}"))?;
    let labels: Option<Vec<Label>> = text.lines().map(parse_label).collect();
    let labels = labels.ok_or_else(|| format!("{path}: every line must be 1 or -1"))?;
    if labels.len() != rows {
        return Err(format!("{path}: {} labels for {rows} rows", labels.len()).into());
    }
    Ok(labels)
}

/// The answers of earlier sittings; none if the file is not there yet.
fn read_answers(path: &str) -> Result<Vec<(usize, Label)>, Box<dyn Error>> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(format!("{path}: {e}").into()),
    };
    // A line cut off by a crash is not an answer yet.
    let end = text.rfind('\n').map_or(0, |end| end + 1);
    let whole = &text[..end];
    if end < text.len() {
        let file = OpenOptions::new().write(true).open(path).map_err(about(path))?;
        file.set_len(end as u64).map_err(about(path))?;
    }
    let answer = |line: &str| {
        let (row, text) = line.split_once(',')?;
        Some((row.parse().ok()?, parse_label(text)?))
    };
    let wrong = |n: usize| format!("{path}, line {}: not `row,label`", n + 1);
    let lines = whole.lines().enumerate().filter(|(_, line)| !line.is_empty());
    Ok(lines.map(|(n, line)| answer(line).ok_or_else(|| wrong(n))).collect::<Result<_, _>>()?)
}
