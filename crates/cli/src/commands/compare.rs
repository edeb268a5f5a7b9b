//! `compare`: compares two models on the same labelled rows.

use super::evaluation_data::LabelledArgs;
use crate::error::CliError;
use crate::input::check_no_pipe;
use crate::output::{aligned, counted, print, print_json};
use crate::progress::Progress;
use clap::Args;
use halfspaces_pipeline::{Comparison, Pipeline};
use serde::Serialize;
use std::path::PathBuf;

/// Compare two models on a labelled table that neither was fitted to.
///
/// Both models classify the same rows, so the comparison is paired. Prints both errors, their difference with a
/// confidence interval, and the probability of a difference at least as large if both models have the same error rate
/// (exact McNemar test). The test uses only the rows on which exactly one model is wrong. The models may need different
/// columns, but must have the same classes.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  halfspaces compare old.json new.json test.csv
  halfspaces compare a.json b.json X.npy --labels y.npy --json")]
pub(crate) struct CompareArgs {
    /// Model file written by `halfspaces fit`
    #[arg(value_name = "MODEL")]
    first: PathBuf,
    /// Another model file
    #[arg(value_name = "OTHER")]
    second: PathBuf,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    table: LabelledArgs,
}

/// The result of a comparison; `--json` prints it as it is.
#[derive(Debug, Serialize)]
struct Output {
    data: String,
    models: [String; 2],
    #[serde(flatten)]
    comparison: Comparison,
}

/// Runs `compare`.
pub(crate) fn run(args: &CompareArgs) -> Result<(), CliError> {
    check_no_pipe(&args.table.input.data, "")?;
    let progress = Progress::start("comparing");
    let models = [Pipeline::load(&args.first)?, Pipeline::load(&args.second)?];
    check_task(args, &models)?;
    let [first, second] = &models;
    let (data, first, truth_of_first) = args.table.decide(first)?;
    let (_, second, truth_of_second) = args.table.decide(second)?;
    drop(progress);
    let comparison = Comparison::new((&first, &truth_of_first), (&second, &truth_of_second))?;
    let models = [&args.first, &args.second].map(|path| path.display().to_string());
    let output = Output { data, models, comparison };
    if args.json { print_json(&output) } else { print(&text(&output)) }
}

/// Checks that both models predict the same labels: their classes must be the same. Their label columns must be the
/// same as well, unless an option says where the labels are.
fn check_task(args: &CompareArgs, [first, second]: &[Pipeline; 2]) -> Result<(), CliError> {
    let (one, other) = (args.first.display(), args.second.display());
    Comparison::check_classes(first, second)
        .map_err(|error| error.at(&format!("{one} and {other}")))?;
    if !args.table.names_labels() && first.label_column() != second.label_column() {
        return Err(CliError::user(format!(
            "{one} was fitted to the labels in column `{}`, but {other} to those in column `{}`; if both predict the same \
             labels, pass the column of these labels with --label",
            first.label_column(),
            second.label_column()
        )));
    }
    Ok(())
}

fn text(Output { data, models: [first, second], comparison }: &Output) -> String {
    let rows = |count: usize| counted(count as u64, "row");
    let of = |name: &String, rate: &halfspaces_pipeline::Rate, alone: usize| {
        vec![name.clone(), rate.text(), format!("only this model wrong on {}", rows(alone))]
    };
    let mut lines = vec![format!("data        {data}: {}", rows(comparison.first.of))];
    let models = [
        of(first, &comparison.first, comparison.only_first_wrong),
        of(second, &comparison.second, comparison.only_second_wrong),
    ];
    lines.extend(aligned(&models).into_iter().map(|line| format!("error       {line}")));
    let percent = |share: f64| format!("{:+.2} %", 100.0 * share);
    lines.push(format!(
        "difference  {} ({} to {}), {first} minus {second}",
        percent(comparison.difference),
        percent(comparison.low),
        percent(comparison.high)
    ));
    lines.push(format!(
        "test        p = {:.4}: the probability of a difference at least this large if both models have the same error rate",
        comparison.p_value
    ));
    if let Some(log_loss) = &comparison.log_loss {
        lines.push(format!(
            "log loss    {:+.4} ± {:.4} (standard error), {first} minus {second}",
            log_loss.mean, log_loss.standard_error
        ));
    }
    lines.push("            the intervals and the test assume independent rows".to_owned());
    lines.join("\n") + "\n"
}
