//! `fit`: learn a model from a labelled table.

use crate::error::CliError;
use crate::input::{Hints, InputArgs};
use crate::learner;
use crate::names::visible;
use crate::output::{check_targets, note, say, say_json, write_file};
use crate::progress::Progress;
use crate::recipe::ColumnArgs;
use clap::Args;
use halfspaces_pipeline::{
    CONFIDENCE, ClassCount, Findings, FitOptions, Method, Pipeline, Plan, Rate,
};
use serde::Serialize;
use std::path::PathBuf;

/// Most candidates listed of what was compared.
const LISTED: usize = 3;

/// Learn a model from a table with a column of labels.
///
/// Categories become coordinates, missing numbers their median, and rows held out give an exact interval for the error on
/// fresh rows, wrong labels included.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  halfspaces fit train.csv --label class -o model.json
  halfspaces fit train.csv.gz --label income --positive '>50K' --drop id -o model.json
  halfspaces fit mails.parquet --label spam --text body --learner logistic -o model.json
  zcat train.csv.gz | halfspaces fit - --label class --json -o model.json")]
pub(crate) struct FitArgs {
    #[command(flatten)]
    input: InputArgs,
    /// The column of labels
    #[arg(short, long, value_name = "COLUMN")]
    label: String,
    /// File to write the model to
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Overwrite the file if it is there
    #[arg(long)]
    force: bool,
    /// The label that counts as positive; of more than two, it against all others
    #[arg(long, value_name = "LABEL", allow_hyphen_values = true)]
    positive: Option<String>,
    /// How to learn
    #[arg(long, value_parser = learner::method(), default_value = "auto", value_name = "LEARNER")]
    learner: Method,
    /// Most wrong labels to expect, as a probability below 0.5 (massart, perspectron) [default: 0.25 for massart]
    #[arg(long, value_name = "RATE", allow_negative_numbers = true)]
    noise: Option<f64>,
    /// Weight of the loss against the penalty (logistic, svm) [default: 1]
    #[arg(long, value_name = "C", allow_negative_numbers = true)]
    c: Option<f64>,
    /// Column of weights: what a wrong answer on each row costs (auto)
    #[arg(long, value_name = "COLUMN")]
    weights: Option<String>,
    /// Share of the rows held out to measure the error; 0 for none [default: a twentieth, a tenth from 5000 rows on]
    #[arg(long, value_name = "SHARE", value_parser = share, allow_negative_numbers = true)]
    holdout: Option<f64>,
    /// Read the file in parts: for CSV, Parquet and LIBSVM files larger than memory. perceptron learns from every row in one
    /// pass, massart from as many rows as it needs, the others from a random sample of 60 000
    #[arg(long, conflicts_with = "weights")]
    stream: bool,
    /// Seed of every random choice
    #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
    seed: u64,
    #[command(flatten)]
    columns: ColumnArgs,
    /// Print what was found as JSON
    #[arg(long)]
    json: bool,
}

fn share(text: &str) -> Result<f64, String> {
    let share: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if (0.0..1.0).contains(&share) { Ok(share) } else { Err("at least 0 and below 1".to_owned()) }
}

/// What is printed.
#[derive(Debug, Serialize)]
struct Summary<'p> {
    data: String,
    rows: u64,
    /// Rows of a stream on which columns, classes and error were measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    sampled: Option<u64>,
    columns: usize,
    coordinates: usize,
    constant_columns: &'p [String],
    classes: &'p [ClassCount],
    learner: Method,
    learned_from: u64,
    /// Rows on which candidates were compared.
    compared_on: usize,
    /// The error of always predicting the commonest class.
    commonest_class_error: f64,
    /// The cross-validated error, where one was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    cross_validated_error: Option<f64>,
    findings: &'p Findings,
    held_out: Option<Rate>,
    confidence: f64,
    /// Whether `predict` gives probabilities.
    probabilities: bool,
    model: String,
}

impl FitArgs {
    fn options(&self) -> FitOptions {
        FitOptions {
            label: self.label.clone(),
            positive: self.positive.clone(),
            plan: Plan {
                method: self.learner,
                noise: self.noise,
                c: self.c,
                seed: self.seed,
                threads: self.input.reading.threads(),
            },
            weights: self.weights.clone(),
            holdout: self.holdout,
            recipe: self.columns.options(),
            ragged: self.input.reading.ragged,
        }
    }
}

/// Learns a model.
pub(crate) fn run(args: &FitArgs) -> Result<(), CliError> {
    check_targets(&[&args.output], &[&args.input.data], args.force)?;
    let options = args.options();
    options.check()?;
    let hints = Hints::texts([&args.label]);
    let progress = Progress::start("reading");
    let (data, columns, fitted) = if args.stream {
        let table = args.input.open_large(hints)?;
        drop(progress);
        let progress = Progress::rows("learning");
        let fitted = Pipeline::fit_large(&table, &options, &mut |rows| progress.advance(rows))?;
        (table.name().to_owned(), table.column_count()?, fitted)
    } else {
        let frame = args.input.read_as(&hints)?;
        drop(progress);
        let progress = Progress::start("learning");
        let (data, columns) = (frame.source.clone(), frame.column_count());
        let fitted = Pipeline::fit(frame, &options);
        drop(progress);
        (data, columns, fitted?)
    };
    let (pipeline, notes) = fitted;
    notes.iter().for_each(|text| note(&format!("note: {text}")));
    let report = pipeline.report();
    let columns = columns - 1 - usize::from(args.weights.is_some());
    let summary = Summary {
        data,
        rows: report.rows,
        sampled: report.sampled,
        columns,
        coordinates: pipeline.recipe().dim(),
        constant_columns: pipeline.recipe().constant(),
        classes: &report.classes,
        learner: args.learner,
        learned_from: report.learned_from,
        compared_on: report.findings.compared_on,
        commonest_class_error: report.commonest_error,
        cross_validated_error: report.findings.cross_validated,
        findings: &report.findings,
        held_out: report.held_out()?,
        confidence: CONFIDENCE,
        probabilities: pipeline.model().has_probabilities(),
        model: args.output.display().to_string(),
    };
    write_file(&args.output, args.force, |out| pipeline.write(out))?;
    if args.json { say_json(&summary) } else { say(&text(&summary)) }
}

/// Names separated by commas, the first ones of many.
fn list(names: &[String]) -> String {
    const SHOWN: usize = 20;
    let shown = names.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

fn text(summary: &Summary<'_>) -> String {
    let Summary { data, rows, columns, coordinates, classes, findings, model, .. } = summary;
    let classes: Vec<String> =
        classes.iter().map(|c| format!("{} ({})", visible(&c.name), c.rows)).collect();
    let sample = summary
        .sampled
        .map_or(String::new(), |n| format!(" (columns and classes found in {n} rows)"));
    let mut lines = vec![format!(
        "data        {data}: {rows} rows, {columns} columns, {coordinates} coordinates; classes {}{sample}",
        classes.join(", ")
    )];
    if !summary.constant_columns.is_empty() {
        let names = visible(&list(summary.constant_columns));
        lines.push(format!("left out    columns that never change: {names}"));
    }
    let learner = summary.learner.name();
    let from = summary.learned_from;
    if findings.compared.is_empty() {
        lines.push(format!("learner     {learner}, from {from} rows"));
    } else {
        let (compared, chosen) = (findings.compared.len() + findings.dropped, findings.chosen);
        lines.push(format!(
            "learner     {learner}, from {from} rows: {compared} candidates compared on {} rows, the best {}",
            findings.compared_on,
            if chosen == 1 { "one chosen".to_owned() } else { format!("{chosen} averaged") }
        ));
        for (error, name) in findings.compared.iter().take(LISTED) {
            lines.push(format!("            {:.1} % wrong: {name}", 100.0 * error));
        }
    }
    if let (Some(noise), Some(margin)) = (findings.noise, findings.margin) {
        lines.push(format!(
            "selected    noise rate {:.0} %, margin {:.4} x the largest norm",
            100.0 * noise,
            margin
        ));
    }
    if let Some(ended) = &findings.ended {
        lines.push(format!("ended       {ended}"));
    }
    lines.push(format!(
        "baseline    always the commonest class: {:.1} % wrong",
        100.0 * summary.commonest_class_error
    ));
    if let Some(error) = summary.cross_validated_error {
        let caveat =
            if findings.compared.is_empty() { "" } else { ", by which candidates were chosen" };
        lines.push(format!("validated   {:.1} % wrong in cross-validation{caveat}", 100.0 * error));
    }
    match &summary.held_out {
        Some(rate) => {
            let Rate { count, of, .. } = rate;
            lines.push(format!("held out    {of} rows, {count} wrong: error {}", rate.text()));
            lines.push(format!(
                "guarantee   the error on fresh rows lies in that interval with probability {:.0} %, if rows are independent",
                100.0 * CONFIDENCE
            ));
        }
        None => lines.push("guarantee   none: no rows were held out (--holdout)".to_owned()),
    }
    if !summary.probabilities {
        let why = "they are fitted to rows held out, 10 or more (--holdout)";
        lines.push(format!("note        no probabilities: {why}"));
    }
    lines.push(format!("model       {model}"));
    lines.join("\n") + "\n"
}
