//! `evaluate`: a model's errors on a labelled table.

use super::judged::read;
use crate::error::CliError;
use crate::input::InputArgs;
use crate::names::visible;
use crate::output::{aligned, say, say_json};
use crate::progress::Progress;
use crate::recipe;
use clap::Args;
use halfspaces_pipeline::{CONFIDENCE, Decisions, Pipeline, Rate, Unseen};
use serde::Serialize;
use std::path::PathBuf;

/// Shares of the rows decided, the surest first, in percent; more where values are equal.
const COVERAGES: [usize; 6] = [100, 95, 90, 80, 70, 50];

/// Measure a model on a table with labels that it was not learned from.
///
/// Prints the error with an exact interval, what was taken for what, the rates of every class, and the error if only the
/// surest rows are decided and the others left to a person.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  halfspaces evaluate model.json test.csv
  halfspaces evaluate model.json test.csv --label truth --json")]
pub(crate) struct EvaluateArgs {
    /// The model, written by `halfspaces fit`
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    #[command(flatten)]
    input: InputArgs,
    /// The column of labels [default: of the name that the model learned from]
    #[arg(short, long, value_name = "COLUMN")]
    label: Option<String>,
    /// What becomes of a category that the model has not seen, and of a column that is not there
    #[arg(long, value_parser = recipe::unseen(), default_value = "error")]
    unseen: Unseen,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
}

/// What is printed.
#[derive(Debug, Serialize)]
struct Evaluation {
    data: String,
    classes: Vec<String>,
    confidence: f64,
    error: Rate,
    /// Per true class, the number of rows predicted as each.
    confusion: Vec<Vec<usize>>,
    /// Rows whose label the model does not know.
    unknown: usize,
    of_class: Vec<ClassRates>,
    coverage: Vec<Coverage>,
}

#[derive(Debug, Serialize)]
struct ClassRates {
    class: String,
    /// Of its rows, those predicted as such.
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<Rate>,
    /// Of the rows predicted as such, those that are.
    #[serde(skip_serializing_if = "Option::is_none")]
    right: Option<Rate>,
}

#[derive(Debug, Serialize)]
struct Coverage {
    /// Share of the rows decided.
    share: f64,
    /// Least |value| among them.
    threshold: f64,
    error: Rate,
}

/// Measures a model.
pub(crate) fn run(args: &EvaluateArgs) -> Result<(), CliError> {
    let model = Pipeline::load(&args.model)?;
    let progress = Progress::start("evaluating");
    let judged = read(&model, &args.input, args.label.as_deref(), true, args.unseen)?;
    let found = model.model().decide(&judged.design, args.input.reading.threads())?;
    drop(progress);
    let Some(truth) = judged.truth else { unreachable!("labels were asked for") };
    let evaluation = evaluate(judged.source, model.classes(), &found, &truth)?;
    if args.json { say_json(&evaluation) } else { say(&text(&evaluation)) }
}

fn evaluate(
    data: String,
    classes: &[String],
    found: &Decisions,
    truth: &[Option<usize>],
) -> Result<Evaluation, CliError> {
    let count = classes.len();
    let mut confusion = vec![vec![0; count]; count];
    for (predicted, truth) in found.classes.iter().zip(truth) {
        if let Some(truth) = truth {
            confusion[*truth][*predicted] += 1;
        }
    }
    let wrong: Vec<bool> =
        found.classes.iter().zip(truth).map(|(found, truth)| Some(*found) != *truth).collect();
    let rate = |count: usize, of: usize| (of > 0).then(|| Rate::new(count, of)).transpose();
    let mut of_class = Vec::with_capacity(count);
    for (class, name) in classes.iter().enumerate() {
        let hits = confusion[class][class];
        let rows = confusion[class].iter().sum();
        let predicted = found.classes.iter().filter(|c| **c == class).count();
        let (found, right) = (rate(hits, rows)?, rate(hits, predicted)?);
        of_class.push(ClassRates { class: name.clone(), found, right });
    }
    let mut surest: Vec<usize> = (0..wrong.len()).collect();
    let size = |row: usize| found.values[row].abs();
    surest.sort_by(|a, b| size(*b).total_cmp(&size(*a)).then(a.cmp(b)));
    let mut coverage = Vec::new();
    let mut least = surest.len() + 1;
    for percent in COVERAGES {
        let threshold = size(surest[(surest.len() * percent).div_ceil(100) - 1]);
        // Rows of equal values are decided together or not at all.
        let decided = surest.partition_point(|row| size(*row) >= threshold);
        if decided == least {
            continue;
        }
        least = decided;
        let errors = surest[..decided].iter().filter(|row| wrong[**row]).count();
        let share = decided as f64 / surest.len() as f64;
        coverage.push(Coverage { share, threshold, error: Rate::new(errors, decided)? });
    }
    Ok(Evaluation {
        data,
        classes: classes.to_vec(),
        confidence: CONFIDENCE,
        error: coverage[0].error,
        confusion,
        unknown: truth.iter().filter(|class| class.is_none()).count(),
        of_class,
        coverage,
    })
}

fn rows(count: usize) -> String {
    format!("{count} row{}", if count == 1 { "" } else { "s" })
}

fn text(evaluation: &Evaluation) -> String {
    let Evaluation { data, classes, error, confusion, of_class, coverage, unknown, .. } =
        evaluation;
    let mut lines = vec![
        format!("data      {data}: {} rows", error.of),
        format!("error     {}, {} wrong", error.text(), rows(error.count)),
        format!(
            "          intervals hold with probability {:.0} % each, for independent rows",
            100.0 * CONFIDENCE
        ),
        String::new(),
    ];
    let mut table = vec![vec!["true \\ predicted".to_owned()]];
    table[0].extend(classes.iter().map(|name| visible(name)));
    for (name, row) in classes.iter().zip(confusion) {
        let mut cells = vec![visible(name)];
        cells.extend(row.iter().map(ToString::to_string));
        table.push(cells);
    }
    lines.extend(aligned(&table));
    if *unknown > 0 {
        lines.push(format!("labels that the model does not know: {}", rows(*unknown)));
    }
    lines.push(String::new());
    let shown = |rate: &Option<Rate>| rate.map_or("no rows".to_owned(), |rate| rate.text());
    let mut table =
        vec![vec!["class".to_owned(), "found".to_owned(), "right when predicted".to_owned()]];
    table
        .extend(of_class.iter().map(|c| vec![visible(&c.class), shown(&c.found), shown(&c.right)]));
    lines.extend(aligned(&table));
    lines.push(String::new());
    let mut table =
        vec![vec!["decided".to_owned(), "if |value| is at least".to_owned(), "error".to_owned()]];
    table.extend(coverage.iter().map(|c| {
        vec![format!("{:.1} %", 100.0 * c.share), format!("{:.4}", c.threshold), c.error.text()]
    }));
    lines.extend(aligned(&table));
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_counted_by_class_and_coverage() {
        let found = Decisions {
            classes: vec![0, 1, 1, 0, 1],
            values: vec![-3.0, 0.1, 2.0, -1.0, 4.0],
            probabilities: None,
        };
        let truth = [Some(0), Some(0), Some(1), Some(1), None];
        let names = ["n".to_owned(), "p".to_owned()];
        let of = evaluate("t".into(), &names, &found, &truth).unwrap();
        assert_eq!((of.error.count, of.error.of, of.unknown), (3, 5, 1));
        assert_eq!(of.confusion, [[1, 1], [1, 1]]);
        let counts = |rate: &Option<Rate>| rate.map(|r| (r.count, r.of));
        assert_eq!(counts(&of.of_class[1].found), Some((1, 2)));
        assert_eq!(counts(&of.of_class[1].right), Some((1, 3)));
        // 4 of 5 rows: without the one of value 0.1. The surest has a label that is not known. 95 and 90 percent are all rows,
        // 70 percent those of 80.
        let decided = |of: &Evaluation| {
            let row = |c: &Coverage| (c.error.count, c.error.of, c.threshold, c.share);
            of.coverage.iter().map(row).collect::<Vec<_>>()
        };
        assert_eq!(decided(&of), [(3, 5, 0.1, 1.0), (2, 4, 1.0, 0.8), (1, 3, 2.0, 0.6)]);
        // Of equal values all are decided.
        let found = Decisions { values: vec![-1.0, 1.0, 1.0, -2.0, 1.0], ..found };
        let of = evaluate("t".into(), &names, &found, &truth).unwrap();
        assert_eq!(decided(&of), [(3, 5, 1.0, 1.0)]);
    }
}
