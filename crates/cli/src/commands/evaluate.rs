//! `evaluate`: measures the errors of a model on a labelled table.

use super::evaluation_data::read;
use crate::error::CliError;
use crate::input::InputArgs;
use crate::output::{aligned, print, print_json};
use crate::progress::Progress;
use crate::recipe;
use clap::Args;
use halfspaces_frame::visible;
use halfspaces_pipeline::{CONFIDENCE, Decisions, Pipeline, Rate, Unseen};
use serde::Serialize;
use std::path::PathBuf;

/// Coverages for which the error is reported, in percent of the rows. Ties in `value` can make the coverage larger.
const COVERAGES: [usize; 6] = [100, 95, 90, 80, 70, 50];

/// Evaluate a model on a labelled table that it was not fitted to.
///
/// Prints the error with an exact confidence interval, the confusion matrix, recall and precision of every class, and
/// the error at several coverages: if the model decides only the rows with the largest |value| and leaves the others to
/// a person.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  halfspaces evaluate model.json test.csv
  halfspaces evaluate model.json test.csv --label truth --json")]
pub(crate) struct EvaluateArgs {
    /// Model file written by `halfspaces fit`
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    #[command(flatten)]
    input: InputArgs,
    /// Column of labels [default: the label column of the model]
    #[arg(short, long, value_name = "COLUMN")]
    label: Option<String>,
    /// How to treat a category that the model has not seen and a column that is missing from the table
    #[arg(long, value_parser = recipe::unseen(), default_value = "error")]
    unseen: Unseen,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
}

/// The result of an evaluation; `--json` prints it as it is.
#[derive(Debug, Serialize)]
struct Evaluation {
    data: String,
    classes: Vec<String>,
    confidence: f64,
    error: Rate,
    /// The confusion matrix: one row per true class, one column per predicted class.
    confusion: Vec<Vec<usize>>,
    /// Number of rows whose label is unknown to the model.
    unknown: usize,
    of_class: Vec<ClassRates>,
    coverage: Vec<Coverage>,
}

#[derive(Debug, Serialize)]
struct ClassRates {
    class: String,
    /// Recall: the fraction of the rows of this class that are predicted to be in it.
    #[serde(skip_serializing_if = "Option::is_none", rename = "found")]
    recall: Option<Rate>,
    /// Precision: the fraction of the rows predicted to be in this class that are actually in it.
    #[serde(skip_serializing_if = "Option::is_none", rename = "right")]
    precision: Option<Rate>,
}

#[derive(Debug, Serialize)]
struct Coverage {
    /// Fraction of the rows that are decided.
    share: f64,
    /// The smallest |value| among these rows.
    threshold: f64,
    /// The error on these rows.
    error: Rate,
}

/// Runs `evaluate`.
pub(crate) fn run(args: &EvaluateArgs) -> Result<(), CliError> {
    let model = Pipeline::load(&args.model)?;
    let progress = Progress::start("evaluating");
    let data = read(&model, &args.input, args.label.as_deref(), true, args.unseen)?;
    let decisions = model.model().decide(&data.design, args.input.reading.threads())?;
    drop(progress);
    let Some(truth) = data.truth else { unreachable!("labels are required") };
    let evaluation = evaluate(data.source, model.classes(), &decisions, &truth)?;
    if args.json { print_json(&evaluation) } else { print(&text(&evaluation)) }
}

fn evaluate(
    data: String,
    classes: &[String],
    decisions: &Decisions,
    truth: &[Option<usize>],
) -> Result<Evaluation, CliError> {
    let count = classes.len();
    let mut confusion = vec![vec![0; count]; count];
    for (predicted, truth) in decisions.classes.iter().zip(truth) {
        if let Some(truth) = truth {
            confusion[*truth][*predicted] += 1;
        }
    }
    let pairs = decisions.classes.iter().zip(truth);
    let wrong: Vec<bool> = pairs.map(|(predicted, truth)| Some(*predicted) != *truth).collect();
    let rate = |count: usize, of: usize| (of > 0).then(|| Rate::new(count, of)).transpose();
    let mut of_class = Vec::with_capacity(count);
    for (class, name) in classes.iter().enumerate() {
        let hits = confusion[class][class];
        let rows = confusion[class].iter().sum();
        let predicted = decisions.classes.iter().filter(|c| **c == class).count();
        let (recall, precision) = (rate(hits, rows)?, rate(hits, predicted)?);
        of_class.push(ClassRates { class: name.clone(), recall, precision });
    }
    // Rows by decreasing |value|.
    let mut ranked: Vec<usize> = (0..wrong.len()).collect();
    let size = |row: usize| decisions.values[row].abs();
    ranked.sort_by(|a, b| size(*b).total_cmp(&size(*a)).then(a.cmp(b)));
    let mut coverage = Vec::new();
    let mut previous = ranked.len() + 1;
    for percent in COVERAGES {
        let threshold = size(ranked[(ranked.len() * percent).div_ceil(100) - 1]);
        // Rows with equal values are either all decided or all left undecided.
        let decided = ranked.partition_point(|row| size(*row) >= threshold);
        if decided == previous {
            continue;
        }
        previous = decided;
        let errors = ranked[..decided].iter().filter(|row| wrong[**row]).count();
        let share = decided as f64 / ranked.len() as f64;
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
        format!("error     {}, {} misclassified", error.text(), rows(error.count)),
        format!(
            "          all intervals are exact {:.0} % confidence intervals, if rows are independent",
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
        lines.push(format!("labels unknown to the model: {}", rows(*unknown)));
    }
    lines.push(String::new());
    let shown = |rate: &Option<Rate>| rate.map_or("no rows".to_owned(), |rate| rate.text());
    let mut table = vec![vec!["class".to_owned(), "recall".to_owned(), "precision".to_owned()]];
    let row = |c: &ClassRates| vec![visible(&c.class), shown(&c.recall), shown(&c.precision)];
    table.extend(of_class.iter().map(row));
    lines.extend(aligned(&table));
    lines.push(String::new());
    let mut table =
        vec![vec!["coverage".to_owned(), "|value| at least".to_owned(), "error".to_owned()]];
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
        let decisions = Decisions {
            classes: vec![0, 1, 1, 0, 1],
            values: vec![-3.0, 0.1, 2.0, -1.0, 4.0],
            probabilities: None,
        };
        let truth = [Some(0), Some(0), Some(1), Some(1), None];
        let names = ["n".to_owned(), "p".to_owned()];
        let of = evaluate("t".into(), &names, &decisions, &truth).unwrap();
        assert_eq!((of.error.count, of.error.of, of.unknown), (3, 5, 1));
        assert_eq!(of.confusion, [[1, 1], [1, 1]]);
        let counts = |rate: &Option<Rate>| rate.map(|r| (r.count, r.of));
        assert_eq!(counts(&of.of_class[1].recall), Some((1, 2)));
        assert_eq!(counts(&of.of_class[1].precision), Some((1, 3)));
        // At 80 percent the row with the value 0.1 is left out. The row with the largest value has an unknown label. 95
        // and 90 percent are rounded up to all rows, and 70 percent to as many rows as 80 percent.
        let decided = |of: &Evaluation| {
            let row = |c: &Coverage| (c.error.count, c.error.of, c.threshold, c.share);
            of.coverage.iter().map(row).collect::<Vec<_>>()
        };
        assert_eq!(decided(&of), [(3, 5, 0.1, 1.0), (2, 4, 1.0, 0.8), (1, 3, 2.0, 0.6)]);
        // Rows with equal values are decided together.
        let decisions = Decisions { values: vec![-1.0, 1.0, 1.0, -2.0, 1.0], ..decisions };
        let of = evaluate("t".into(), &names, &decisions, &truth).unwrap();
        assert_eq!(decided(&of), [(3, 5, 1.0, 1.0)]);
    }
}
