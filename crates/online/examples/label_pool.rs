//! Labels the rows of a CSV file with as few corrections as possible: the program guesses, the surest
//! row first, and a person confirms or corrects.
//!
//! ```text
//! cargo run --release -p halfspaces-online --example label_pool -- pool.csv answers.csv [no,yes]
//! cargo run --release -p halfspaces-online --example label_pool -- pool.csv answers.csv --column label
//! ```
//!
//! `pool.csv` holds one row per point, with or without a first line of names; a column that is not of numbers counts as
//! one column for each of its values. The third argument names the classes; default: `-1,1`. Every answer is
//! written to `answers.csv` (row, class, class predicted) at once: stop at any time, run the same command
//! again and go on; edit a class there if it was wrong. With `--column` the classes are those of a column, which is not
//! learned from otherwise, and nobody is asked.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "it talks to a person")]

use halfspaces_linalg::{Params, PointSet, Points};
use halfspaces_online::{
    Answer, LabellingFile, LabellingParams, LabellingQuestion, LabellingSession, Outlook, Source,
};
use std::error::Error;
use std::fmt::Display;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, BufRead, Write};
use std::process::ExitCode;

/// Answers between two looks at what is to come.
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

/// What a person wants.
enum Reply {
    Class(usize),
    Skip,
    Undo,
    Stop,
}

fn label(args: &[String]) -> Result<(), Box<dyn Error>> {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let (pool_path, answers_path, names, column) = match args[..] {
        [pool, answers] => (pool, answers, "-1,1", None),
        [pool, answers, "--column", column] => (pool, answers, "", Some(column)),
        [pool, answers, names] => (pool, answers, names, None),
        _ => return Err("usage: label_pool pool.csv answers.csv [no,yes | --column label]".into()),
    };
    let mut table = Table::read(pool_path)?;
    let truth = column.map(|name| table.take(name)).transpose().map_err(about(pool_path))?;
    let (classes, truth) = match truth {
        Some(values) => {
            let classes = distinct(&values);
            (classes.clone(), Some(class_of_each(&values, &classes)?))
        }
        None => (names.split(',').map(|name| name.trim().to_owned()).collect(), None),
    };
    let points = table.points().map_err(about(pool_path))?;
    let labelling = LabellingParams::new(classes.len()).check()?;
    let earlier = read_answers(answers_path, &classes)?;
    let file = LabellingFile {
        version: LabellingFile::VERSION,
        labelling,
        first_points: points.len(),
        points: points.len(),
        answers: earlier,
        skipped: Vec::new(),
    };
    let mut session = LabellingSession::resume(&file, &points).map_err(about(answers_path))?;
    let mut input = io::stdin().lock();
    while let Some(question) = session.next() {
        let reply = match &truth {
            Some(truth) => Reply::Class(truth[question.index]),
            None => ask(&mut input, &table, &classes, question)?,
        };
        match reply {
            Reply::Class(class) => {
                let answer = session.answer(class)?;
                let line = line(&answer, &classes);
                let mut file = fs::OpenOptions::new().create(true).append(true).open(answers_path);
                let file = file.as_mut().map_err(|e| format!("{answers_path}: {e}"))?;
                file.write_all(line.as_bytes()).map_err(about(answers_path))?;
            }
            Reply::Skip => {
                session.skip()?;
            }
            Reply::Undo => {
                session.undo();
                let lines: String = session.answers().iter().map(|a| line(a, &classes)).collect();
                fs::write(answers_path, lines).map_err(about(answers_path))?;
            }
            Reply::Stop => break,
        }
        let progress = session.progress();
        let every = if truth.is_some() { progress.points.div_ceil(10) } else { LOOK_EVERY };
        if progress.answered.is_multiple_of(every) {
            report(&session);
        }
    }
    report(&session);
    println!("answers in {answers_path}");
    Ok(())
}

fn report(session: &LabellingSession) {
    let progress = session.progress();
    let Outlook { expected, low, high, .. } = session.outlook();
    println!(
        "{} of {} labelled, {} corrections; about {expected:.0} to come ({low:.0} to {high:.0})",
        progress.answered, progress.points, progress.corrections
    );
}

/// Shows a row and its guess.
fn ask(
    input: &mut impl BufRead,
    table: &Table,
    classes: &[String],
    question: LabellingQuestion,
) -> io::Result<Reply> {
    let row = &table.rows[question.index];
    let shown: Vec<String> =
        table.names.iter().zip(row).take(12).map(|(name, v)| format!("{name} {v}")).collect();
    println!("\nrow {}: {}", question.index, shown.join(", "));
    let guess = &classes[question.class];
    loop {
        print!(
            "I say {guess} ({:.0} %). Enter: right; or one of {}; s skip, u undo, q stop > ",
            100.0 * question.probability,
            classes.join(", ")
        );
        io::stdout().flush()?;
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            return Ok(Reply::Stop);
        }
        let said = line.trim();
        // A class may have the name of a command.
        if let Some(class) = classes.iter().position(|name| name == said) {
            return Ok(Reply::Class(class));
        }
        match said {
            "" => return Ok(Reply::Class(question.class)),
            "s" => return Ok(Reply::Skip),
            "u" => return Ok(Reply::Undo),
            "q" => return Ok(Reply::Stop),
            _ => println!("there is no class {said:?}"),
        }
    }
}

/// A file of rows, as written.
struct Table {
    names: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    fn read(path: &str) -> Result<Table, Box<dyn Error>> {
        let text = fs::read_to_string(path).map_err(about(path))?;
        let split = |line: &str| line.split(',').map(|v| v.trim().to_owned()).collect::<Vec<_>>();
        let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let (_, first) = lines.next().ok_or_else(|| format!("{path}: is empty"))?;
        let first = split(first);
        let mut rows = Vec::new();
        for (number, line) in lines {
            let row = split(line);
            if row.len() != first.len() {
                let (found, wanted) = (row.len(), first.len());
                let line = number + 1;
                return Err(format!("{path}, line {line}: {found} values, not {wanted}").into());
            }
            rows.push(row);
        }
        // Names, unless a number stands where numbers follow.
        let is_number = |v: &String| v.parse::<f64>().is_ok();
        let headed = !first.iter().any(is_number);
        let names = if headed {
            first
        } else {
            let names = (1..=first.len()).map(|j| format!("x{j}")).collect();
            rows.insert(0, first);
            names
        };
        Ok(Table { names, rows })
    }

    /// The values of a column, which the table has no longer.
    fn take(&mut self, name: &str) -> Result<Vec<String>, String> {
        let place = self.names.iter().position(|other| other == name);
        let place = place.ok_or_else(|| format!("no column {name:?}"))?;
        self.names.remove(place);
        Ok(self.rows.iter_mut().map(|row| row.remove(place)).collect())
    }

    /// Numbers as they are, other columns as one column of 0 and 1 for each value.
    fn points(&self) -> Result<Points, Box<dyn Error>> {
        let mut columns: Vec<Vec<f64>> = Vec::new();
        for j in 0..self.names.len() {
            let texts: Vec<String> = self.rows.iter().map(|row| row[j].clone()).collect();
            let numbers: Result<Vec<f64>, _> = texts.iter().map(|v| v.parse::<f64>()).collect();
            match numbers {
                Ok(numbers) => columns.push(numbers),
                Err(_) => {
                    columns.extend(distinct(&texts).iter().map(|value| {
                        texts.iter().map(|v| f64::from(u8::from(v == value))).collect()
                    }))
                }
            }
        }
        let rows: Vec<Vec<f64>> =
            (0..self.rows.len()).map(|i| columns.iter().map(|c| c[i]).collect()).collect();
        Ok(Points::from_rows(&rows)?)
    }
}

/// The different values, sorted.
fn distinct(values: &[String]) -> Vec<String> {
    let mut all = values.to_vec();
    all.sort_unstable();
    all.dedup();
    all
}

fn class_of_each(values: &[String], classes: &[String]) -> Result<Vec<usize>, String> {
    values.iter().map(|value| class(value, classes)).collect()
}

fn class(name: &str, classes: &[String]) -> Result<usize, String> {
    let place = classes.iter().position(|other| other == name);
    place.ok_or_else(|| format!("no class {name:?}; there are {}", classes.join(", ")))
}

fn line(answer: &Answer, classes: &[String]) -> String {
    let mut line = format!("{},{}", answer.index, classes[answer.class]);
    if let Source::Asked { predicted } = answer.source {
        // Writing to a string cannot fail.
        let _ = write!(line, ",{}", classes[predicted]);
    }
    line + "\n"
}

/// The answers of earlier sittings; none if the file is not there yet.
fn read_answers(path: &str, classes: &[String]) -> Result<Vec<Answer>, Box<dyn Error>> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(format!("{path}: {e}").into()),
    };
    // A line cut off by a crash is not an answer yet.
    let end = text.rfind('\n').map_or(0, |end| end + 1);
    if end < text.len() {
        fs::write(path, &text[..end]).map_err(about(path))?;
    }
    let answer = |line: &str| {
        let parts: Vec<&str> = line.split(',').map(str::trim).collect();
        let (index, given, source) = match parts[..] {
            [index, given] => (index, given, Source::Known),
            [index, given, predicted] => {
                (index, given, Source::Asked { predicted: class(predicted, classes)? })
            }
            _ => return Err("not `row,class,class predicted`".to_owned()),
        };
        let index = index.parse().map_err(|_| format!("{index:?} is no row"))?;
        Ok(Answer { index, class: class(given, classes)?, source })
    };
    let lines = text[..end].lines().enumerate().filter(|(_, line)| !line.is_empty());
    let wrong = |n: usize| move |e: String| format!("{path}, line {}: {e}", n + 1);
    Ok(lines.map(|(n, line)| answer(line).map_err(wrong(n))).collect::<Result<_, _>>()?)
}
