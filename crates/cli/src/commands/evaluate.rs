//! `evaluate`: measures the errors of a model on a labelled table.

use super::evaluation_data::LabelledArgs;
use crate::error::CliError;
use crate::input::CostArgs;
use crate::output::{aligned, counted, print, print_json};
use crate::progress::Progress;
use clap::Args;
use halfspaces_frame::visible;
use halfspaces_pipeline::{CONFIDENCE, Evaluation, Pipeline, Rate};
use serde::Serialize;
use std::path::PathBuf;

/// Evaluate a model on a labelled table that it was not fitted to.
///
/// Prints the error with an exact confidence interval, the confusion matrix, recall, precision, AUC and average precision
/// of every class, and the error at several coverages. Coverage is the share of rows that the model decides, those with
/// the largest |value|; a person decides the others. If the model has probabilities, also prints their log loss, Brier score and
/// calibration.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  halfspaces evaluate model.json test.csv
  halfspaces evaluate model.json X.npy --labels y.npy
  halfspaces evaluate model.json test.csv --label truth --json")]
pub(crate) struct EvaluateArgs {
    /// Model file written by `halfspaces fit`
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    #[command(flatten)]
    costs: CostArgs,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    table: LabelledArgs,
}

/// The result of an evaluation; `--json` prints it as it is.
#[derive(Debug, Serialize)]
struct Output {
    data: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    costs: Option<CostOutput>,
    #[serde(flatten)]
    evaluation: Evaluation,
}

/// Mean costs of a row.
#[derive(Debug, Serialize)]
struct CostOutput {
    /// The cost of the decisions.
    mean: f64,
    /// The cost if the most probable class is predicted.
    by_probability: f64,
    /// The least cost of always predicting the same class.
    baseline: f64,
}

/// Runs `evaluate`.
pub(crate) fn run(args: &EvaluateArgs) -> Result<(), CliError> {
    let model = Pipeline::load(&args.model)?;
    let progress = Progress::start("evaluating");
    let (data, mut decisions, truth) = args.table.decide(&model)?;
    drop(progress);
    let costs = match args.costs.costs(model.classes())? {
        None => None,
        Some(costs) => {
            let by_probability = costs.mean(&decisions.classes, &truth);
            decisions = costs.decide(&decisions)?;
            let mean = costs.mean(&decisions.classes, &truth);
            Some(CostOutput { mean, by_probability, baseline: costs.baseline(&truth) })
        }
    };
    let evaluation = Evaluation::new(model.classes(), &decisions, &truth)?;
    let output = Output { data, costs, evaluation };
    if args.json { print_json(&output) } else { print(&text(&output)) }
}

fn rows(count: usize) -> String {
    counted(count as u64, "row")
}

fn text(Output { data, costs, evaluation }: &Output) -> String {
    let Evaluation { classes, error, confusion, of_class, coverage, unknown, .. } = evaluation;
    let mut lines = vec![
        format!("data      {data}: {}", rows(error.of)),
        format!("error     {}, {} misclassified", error.text(), rows(error.count)),
        format!(
            "          all intervals are exact {:.0} % confidence intervals, if rows are independent",
            100.0 * CONFIDENCE
        ),
        format!(
            "baseline  {:.1} % error if the most frequent class is always predicted",
            100.0 * evaluation.baseline
        ),
    ];
    if let Some(CostOutput { mean, by_probability, baseline }) = costs {
        lines.push(format!(
            "cost      {mean:.4} per row; {by_probability:.4} if the most probable class is predicted, {baseline:.4} if the cheapest single class is always predicted"
        ));
    }
    if let Some(scores) = &evaluation.probabilities {
        lines.push(format!(
            "scores    log loss {:.4}, Brier score {:.4}, calibration error {:.4}",
            scores.log_loss, scores.brier, scores.calibration_error
        ));
    }
    lines.push(String::new());
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
    let has_ranking = of_class.iter().any(|class| class.auc.is_some());
    let names = ["class", "recall", "precision", "AUC", "average precision"];
    let columns = if has_ranking { names.len() } else { 3 };
    let mut table = vec![names[..columns].iter().map(|name| (*name).to_owned()).collect()];
    table.extend(of_class.iter().map(|c| {
        let mut row = vec![visible(&c.class), shown(&c.recall), shown(&c.precision)];
        let number = |of: Option<f64>| of.map_or("no rows".to_owned(), |of| format!("{of:.4}"));
        row.extend([number(c.auc), number(c.average_precision)]);
        row.truncate(columns);
        row
    }));
    lines.extend(aligned(&table));
    lines.push(String::new());
    let mut table =
        vec![vec!["coverage".to_owned(), "|value| at least".to_owned(), "error".to_owned()]];
    table.extend(coverage.iter().map(|c| {
        vec![format!("{:.1} %", 100.0 * c.share), format!("{:.4}", c.threshold), c.error.text()]
    }));
    lines.extend(aligned(&table));
    if let Some(scores) = &evaluation.probabilities {
        lines.push(String::new());
        let names = ["probability", "mean", "correct", "rows"];
        let mut table = vec![names.map(str::to_owned).to_vec()];
        table.extend(scores.calibration.iter().map(|bin| {
            vec![
                format!("{:.0} to {:.0} %", 100.0 * bin.from, 100.0 * bin.to),
                format!("{:.1} %", 100.0 * bin.mean),
                bin.correct.text(),
                bin.correct.of.to_string(),
            ]
        }));
        lines.extend(aligned(&table));
    }
    lines.join("\n") + "\n"
}
