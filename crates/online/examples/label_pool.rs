//! Labels the rows of a CSV file with as few corrections as possible: the program guesses, the surest
//! row first, and a person confirms or corrects.
//!
//! ```text
//! cargo run --release -p halfspaces-online --example label_pool -- pool.csv answers.csv [truth.txt]
//! ```
//!
//! `pool.csv` holds numbers, a row a point, with or without a first line of names. Every answer is
//! written to `answers.csv` (row, label) at once: stop at any time, run the same command again and go
//! on. With `truth.txt`, a label (1 or -1) a line, nobody is asked.

#![allow(clippy::print_stdout, reason = "it talks to a person")]

use halfspaces_data::ZScore;
use halfspaces_linalg::{Label, PointSet, Points};
use halfspaces_online::{SelfDirectedSession, StrongLearner};
use std::error::Error;
use std::fs::{self, OpenOptions};
use std::io::{self, BufRead, Write};

/// Answers between two looks for contradictions.
const LOOK_EVERY: usize = 25;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [pool_path, answers_path, rest @ ..] = args.as_slice() else {
        return Err("usage: label_pool pool.csv answers.csv [truth.txt]".into());
    };
    let (names, raw) = read_pool(pool_path)?;
    let truth = rest.first().map(|path| read_truth(path, raw.len())).transpose()?;
    let points = ZScore::fit(&raw)?.apply(&raw)?.lifted();
    let learner = StrongLearner::recommended(points.dim(), 1)?;
    let earlier = read_answers(answers_path)?;
    let mut session = SelfDirectedSession::resume(learner, &points, &earlier)?;
    let mut answers = OpenOptions::new().create(true).append(true).open(answers_path)?;
    let mut input = io::stdin().lock();

    while let Some(question) = session.next()? {
        let (row, guess) = (question.index, question.prediction.label);
        let label = match &truth {
            Some(truth) => truth[row],
            None => match ask(&mut input, &names, &raw, row, guess, question.prediction.value)? {
                Some(label) => label,
                None => break,
            },
        };
        writeln!(answers, "{row},{}", label.as_f64())?;
        answers.flush()?;
        session.reveal(label)?;
        let progress = session.progress();
        if truth.is_none() || progress.labelled.is_multiple_of(1000) {
            println!(
                "{} of {} labelled, {} corrections",
                progress.labelled, progress.points, progress.mistakes
            );
        }
        let asked = progress.labelled - earlier.len();
        let look = truth.is_none() && asked.is_multiple_of(LOOK_EVERY);
        if let Some(rows) = if look { session.contradiction()? } else { None } {
            println!("no straight boundary fits your labels of rows {rows:?}; is one a slip?");
        }
    }
    let progress = session.progress();
    println!(
        "{} of {} labelled with {} corrections; answers in {answers_path}",
        progress.labelled, progress.points, progress.mistakes
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
    let values = raw.row(row).map(|x| x.as_slice()).unwrap_or_default();
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

fn label(text: &str) -> Option<Label> {
    match text.trim() {
        "1" | "+1" => Some(Label::Positive),
        "-1" | "0" => Some(Label::Negative),
        _ => None,
    }
}

fn read_truth(path: &str, rows: usize) -> Result<Vec<Label>, Box<dyn Error>> {
    let text = fs::read_to_string(path).map_err(|e| format!("{path}: {e}"))?;
    let labels: Option<Vec<Label>> = text.lines().map(label).collect();
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
        OpenOptions::new().write(true).open(path)?.set_len(end as u64)?;
    }
    let answer = |line: &str| {
        let (row, text) = line.split_once(',')?;
        Some((row.parse().ok()?, label(text)?))
    };
    let wrong = |n: usize| format!("{path}, line {}: not `row,label`", n + 1);
    let lines = whole.lines().enumerate().filter(|(_, line)| !line.is_empty());
    Ok(lines.map(|(n, line)| answer(line).ok_or_else(|| wrong(n))).collect::<Result<_, _>>()?)
}
