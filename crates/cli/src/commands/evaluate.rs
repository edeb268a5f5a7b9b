//! `evaluate`: measures the errors of a model on a labelled table.

use super::evaluation_data::LabelledArgs;
use crate::error::CliError;
use crate::input::CostArgs;
use crate::output::{aligned, counted, print, print_json};
use crate::progress::Progress;
use crate::terminal;
use clap::Args;
use halfspaces_frame::visible;
use halfspaces_pipeline::{CONFIDENCE, Evaluation, Pipeline, Rate, percents};
use serde::Serialize;
use std::path::PathBuf;

/// Evaluate a model on a labelled table that it was not fitted to.
///
/// Prints the error with an exact confidence interval, the confusion matrix, recall, precision, AUC and average
/// precision of every class, and the error at several coverages. Coverage is the share of rows that are classified by
/// the model. These are the rows with the largest |value|; a person classifies the others. If the model has
/// probabilities, also prints their log loss, Brier score and calibration.
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

/// The result of an evaluation; `--json` prints it unchanged.
#[derive(Debug, Serialize)]
struct Output {
    data: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    costs: Option<CostOutput>,
    #[serde(flatten)]
    evaluation: Evaluation,
}

/// Mean costs per row.
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

/// The text of a cell for a rate that is undefined because no rows count towards it.
const NO_ROWS: &str = "no rows";
/// Maximum width of the name of a class. With this limit, recall and precision fit into 80 columns.
const MAX_NAME: usize = 24;

fn text(Output { data, costs, evaluation }: &Output) -> String {
    let Evaluation { classes, error, confusion, of_class, coverage, unknown, .. } = evaluation;
    let mut lines = vec![
        format!("data      {data}: {}", counted(error.of as u64, "row")),
        format!("error     {}, {} misclassified", error.text(), counted(error.count as u64, "row")),
        format!(
            "          all intervals are exact {:.0} % intervals, if rows are independent",
            100.0 * CONFIDENCE
        ),
        format!(
            "baseline  {:.1} % error if the most frequent class is always predicted",
            100.0 * evaluation.baseline
        ),
    ];
    if let Some(CostOutput { mean, by_probability, baseline }) = costs {
        lines.push(format!("cost      {mean:.4} per row"));
        lines
            .push(format!("          {by_probability:.4} if the most probable class is predicted"));
        lines.push(format!(
            "          {baseline:.4} if the cheapest single class is always predicted"
        ));
    }
    if let Some(scores) = &evaluation.probabilities {
        lines.push(format!(
            "scores    log loss {:.4}, Brier score {:.4}, calibration error {:.4}",
            scores.log_loss, scores.brier, scores.calibration_error
        ));
    }
    lines.push(String::new());
    let Names { rows, columns } = names(classes, confusion);
    let mut table = vec![vec!["true \\ predicted".to_owned()]];
    table[0].extend(columns);
    for (name, row) in rows.iter().zip(confusion) {
        let mut cells = vec![name.clone()];
        cells.extend(row.iter().map(ToString::to_string));
        table.push(cells);
    }
    lines.extend(aligned(&table));
    if *unknown > 0 {
        lines.push(format!("labels unknown to the model: {}", counted(*unknown as u64, "row")));
    }
    lines.push(String::new());
    let mut columns = vec![Column::new("class", rows)];
    columns.extend(of_rates("recall", of_class.iter().map(|class| class.recall)));
    columns.extend(of_rates("precision", of_class.iter().map(|class| class.precision)));
    if of_class.iter().any(|class| class.auc.is_some()) {
        let number = |of: Option<f64>| of.map_or(NO_ROWS.to_owned(), |of| format!("{of:.4}"));
        let precisions = of_class.iter().map(|class| number(class.average_precision));
        columns.push(Column::new("AUC", of_class.iter().map(|class| number(class.auc))));
        columns.push(Column::new("avg. precision", precisions));
    }
    lines.extend(aligned(&table_of(&columns)));
    lines.push(String::new());
    let shares: Vec<f64> = coverage.iter().map(|c| c.share).collect();
    let thresholds = coverage.iter().map(|c| format!("{:.4}", c.threshold));
    let mut columns = vec![
        Column::new("coverage", percents(&shares)),
        Column::new("|value| at least", thresholds),
    ];
    columns.extend(of_rates("error", coverage.iter().map(|c| Some(c.error))));
    lines.extend(aligned(&table_of(&columns)));
    if let Some(scores) = &evaluation.probabilities {
        lines.push(String::new());
        let bins = &scores.calibration;
        let range = |from: f64, to: f64| format!("{:.0} to {:.0} %", 100.0 * from, 100.0 * to);
        let means: Vec<f64> = bins.iter().map(|bin| bin.mean).collect();
        let mut columns = vec![
            Column::new("probability", bins.iter().map(|bin| range(bin.from, bin.to))),
            Column::new("mean", percents(&means)),
        ];
        columns.extend(of_rates("correct", bins.iter().map(|bin| Some(bin.correct))));
        columns.push(Column::new("rows", bins.iter().map(|bin| bin.correct.of.to_string())));
        lines.extend(aligned(&table_of(&columns)));
    }
    lines.join("\n") + "\n"
}

/// The names of the classes in the rows and in the columns of the confusion matrix.
struct Names {
    rows: Vec<String>,
    columns: Vec<String>,
}

/// The full names if the confusion matrix with these names is not wider than the output. Otherwise the names are
/// shortened, and the columns are headed by the numbers of the rows.
fn names(classes: &[String], confusion: &[Vec<usize>]) -> Names {
    let full: Vec<String> = classes.iter().map(|name| visible(name)).collect();
    let cells = confusion.iter().flatten().map(|count| count.to_string().len());
    let cell = cells.max().unwrap_or(0);
    let widths: Vec<usize> = full.iter().map(|name| name.chars().count()).collect();
    let longest = widths.iter().copied().max().unwrap_or(0).max("true \\ predicted".len());
    let total = longest + widths.iter().map(|width| 2 + cell.max(*width)).sum::<usize>();
    if total <= terminal::width() && longest <= MAX_NAME {
        return Names { columns: full.clone(), rows: full };
    }
    let digits = classes.len().to_string().len();
    let row = |(at, name): (usize, &String)| {
        let number = format!("{:>digits$} ", at + 1);
        let name = terminal::shortened(name, MAX_NAME - number.len());
        number + &name
    };
    Names {
        rows: full.iter().enumerate().map(row).collect(),
        columns: (1..=classes.len()).map(|number| number.to_string()).collect(),
    }
}

/// A column of a printed table.
struct Column {
    name: String,
    cells: Vec<String>,
}

impl Column {
    fn new(name: &str, cells: impl IntoIterator<Item = String>) -> Column {
        Column { name: name.to_owned(), cells: cells.into_iter().collect() }
    }
}

/// The rows of a table, beginning with the header.
fn table_of(columns: &[Column]) -> Vec<Vec<String>> {
    let rows = columns.first().map_or(0, |column| column.cells.len());
    let row = |at: usize| columns.iter().map(|column| column.cells[at].clone()).collect();
    let header = columns.iter().map(|column| column.name.clone()).collect();
    std::iter::once(header).chain((0..rows).map(row)).collect()
}

/// A column of rates and a column of their intervals. All numbers in a column are rounded to the same number of
/// decimals.
fn of_rates(name: &str, rates: impl Iterator<Item = Option<Rate>>) -> [Column; 2] {
    let rates: Vec<Option<Rate>> = rates.collect();
    let of =
        |part: &dyn Fn(&Rate) -> f64| -> Vec<f64> { rates.iter().flatten().map(part).collect() };
    let mut shown = percents(&of(&|rate| rate.rate)).into_iter();
    let mut ends = percents(&[of(&|rate| rate.low), of(&|rate| rate.high)].concat());
    ends.iter_mut().for_each(|end| end.truncate(end.len() - " %".len()));
    let (lows, highs) = ends.split_at(ends.len() / 2);
    let width = highs.iter().map(String::len).max().unwrap_or(0);
    let interval = |(low, high): (&String, &String)| format!("{low} to {high:>width$}");
    let mut intervals = lows.iter().zip(highs).map(interval);
    let cells = |of: &mut dyn Iterator<Item = String>, none: &str| {
        let cell = |rate: &Option<Rate>| rate.and_then(|_| of.next()).unwrap_or(none.to_owned());
        rates.iter().map(cell).collect::<Vec<_>>()
    };
    [
        Column::new(name, cells(&mut shown, NO_ROWS)),
        Column::new(&format!("{:.0} % interval", 100.0 * CONFIDENCE), cells(&mut intervals, "")),
    ]
}
