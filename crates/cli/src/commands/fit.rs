//! `fit`: fits a model to a labelled table.

use crate::commands::label::session_table;
use crate::error::CliError;
use crate::input::{InputArgs, LabelFileArgs};
use crate::learner;
use crate::output::{
    check_model_name, check_targets, counted, note, print, print_json, write_file,
};
use crate::progress::Progress;
use crate::recipe::ColumnArgs;
use clap::Args;
use halfspaces_frame::{first_of, visible};
use halfspaces_linalg::Monitor;
use halfspaces_pipeline::{
    CONFIDENCE, ClassCount, Findings, FitOptions, Method, Pipeline, Plan, Rate, SplitBy,
    check_no_guesses,
};
use serde::Serialize;
use std::path::PathBuf;

/// Maximum number of candidates printed.
const LISTED: usize = 3;
/// The maximum number of names of constant columns that are listed.
const MAX_NAMES: usize = 20;
/// Hold-outs with fewer rows than this are reported as small.
const SMALL_HOLDOUT: usize = 30;

/// Fit a model to a table with a column of labels.
///
/// Each category becomes a 0/1 coordinate, and missing numbers are replaced by the median of their column. Some rows
/// are held out; they give an exact confidence interval for the error on new rows. A prediction that differs from a
/// wrong label also counts as an error. The default learner uses at most 40 000 rows of a dense table, chosen at random.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  halfspaces fit train.csv --label class -o model.json
  halfspaces fit train.csv.gz --label income --positive '>50K' --drop id -o model.json
  halfspaces fit mails.parquet --label spam --text body --learner logistic -o model.json
  halfspaces fit X.npy --labels y.npy -o model.json
  halfspaces fit pool.csv --session pool.csv.session.jsonl -o model.json
  halfspaces fit visits.csv --label ill --group patient -o model.json
  zcat train.csv.gz | halfspaces fit - --label class --json -o model.json")]
pub(crate) struct FitArgs {
    /// Column of labels [default with --labels: column `label`, or the only column besides row numbers and ids]
    #[arg(short, long, value_name = "COLUMN", required_unless_present_any = ["labels", "session"])]
    label: Option<String>,
    #[command(flatten)]
    label_file: LabelFileArgs,
    /// Learn from the labels of a session of `halfspaces label` on this table. Rows without a label are left out
    #[arg(long, value_name = "FILE", conflicts_with_all = ["label", "labels", "stream"])]
    session: Option<PathBuf>,
    /// Leave out rows without a label [default: fail with an error]
    #[arg(long, conflicts_with_all = ["labels", "stream"])]
    skip_unlabelled: bool,
    /// File to write the model to
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Overwrite an existing file
    #[arg(long)]
    force: bool,
    /// Label of the positive class; with more than two labels, all others form the negative class
    #[arg(long, value_name = "LABEL", allow_hyphen_values = true)]
    positive: Option<String>,
    /// Learning algorithm
    #[arg(long, value_parser = learner::method(), default_value = "auto", value_name = "LEARNER")]
    learner: Method,
    /// Upper bound on the probability that a label is wrong; must be below 0.5 (massart, perspectron) [default: 0.25
    /// for massart]
    #[arg(long, value_name = "RATE", allow_negative_numbers = true)]
    noise: Option<f64>,
    /// Weight of the loss relative to the penalty (logistic, svm) [default: 1]
    #[arg(long, value_name = "C", allow_negative_numbers = true)]
    c: Option<f64>,
    /// Column of weights: the cost of misclassifying each row (auto, logistic, svm)
    #[arg(long, value_name = "COLUMN")]
    weights: Option<String>,
    /// Give each class the same total weight, so that rare classes are not neglected (auto, logistic, svm)
    #[arg(long, conflicts_with = "stream")]
    balanced: bool,
    /// Fraction of the rows held out to measure the error; 0 holds out none [default: 0.05; for 5000 rows or more, 0.1,
    /// but at least 1500 and at most 20000 rows]
    #[arg(long, value_name = "FRACTION", value_parser = fraction, allow_negative_numbers = true)]
    holdout: Option<f64>,
    /// Hold out whole groups of rows with the same value in this column, such as all rows of a patient. The error is
    /// then an estimate for new groups. The model does not learn from the column. Candidates are also compared by
    /// group. By default, about a fifth of the rows are held out
    #[arg(long, value_name = "COLUMN", conflicts_with_all = ["time", "stream"])]
    group: Option<String>,
    /// Hold out the rows with the latest dates or the largest numbers in this column. The error is then an estimate for
    /// later rows. The model does not learn from the column. Candidates are still compared on random folds. By default,
    /// about a fifth of the rows are held out
    #[arg(long, value_name = "COLUMN", conflicts_with = "stream")]
    time: Option<String>,
    /// Read the file in chunks, for CSV, Parquet and LIBSVM files that are larger than memory. perceptron learns from
    /// every row in one pass. So does auto if the rows are sparse, as with texts, and there are at least 60 000 of
    /// them. massart learns from as many rows as it needs. The other learners use a random sample of 60 000 rows
    #[arg(long, conflicts_with_all = ["weights", "labels"])]
    stream: bool,
    /// Seed of all random choices
    #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
    seed: u64,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    columns: ColumnArgs,
}

fn fraction(text: &str) -> Result<f64, String> {
    let fraction: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    let is_valid = (0.0..1.0).contains(&fraction);
    if is_valid { Ok(fraction) } else { Err("must be at least 0 and below 1".to_owned()) }
}

/// The summary of a fit; `--json` prints it as it is.
#[derive(Debug, Serialize)]
struct Summary<'p> {
    data: String,
    rows: u64,
    /// With `--stream`, the number of rows from which columns and classes were determined.
    #[serde(skip_serializing_if = "Option::is_none")]
    sampled: Option<u64>,
    /// The number of columns from which the model learned.
    columns: usize,
    coordinates: usize,
    constant_columns: &'p [String],
    classes: &'p [ClassCount],
    learner: Method,
    learned_from: u64,
    /// Number of rows on which candidates were compared.
    compared_on: usize,
    /// The error of always predicting the most frequent class.
    commonest_class_error: f64,
    /// The cross-validated error, if it was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    cross_validated_error: Option<f64>,
    findings: &'p Findings,
    held_out: Option<Rate>,
    /// The rule by which rows were held out.
    split: &'p SplitBy,
    confidence: f64,
    /// Whether the labelled rows are a part of the table that a labelling session chose.
    chosen_rows: bool,
    /// Whether the errors of candidates and of cross-validation are weighted.
    weighted: bool,
    /// Whether `predict` outputs probabilities.
    probabilities: bool,
    model: String,
}

impl FitArgs {
    /// Checks that no option uses the column of ids, which is not in the joined table.
    fn check_id(&self) -> Result<(), CliError> {
        let named =
            [("--group", &self.group), ("--time", &self.time), ("--weights", &self.weights)];
        let is_id =
            |(_, name): &&(&str, &Option<String>)| name.is_some() && **name == self.label_file.id;
        match named.iter().find(is_id) {
            Some((option, Some(name))) => Err(CliError::user(format!(
                "{option} {name}: it is the column of unique ids by which the labels are joined (--id), and `fit` leaves it out; \
                 pass another column, or a copy of this column with another name"
            ))),
            _ => Ok(()),
        }
    }

    fn options(&self, label: &str) -> FitOptions {
        let split = match (&self.group, &self.time) {
            (Some(column), _) => SplitBy::Group(column.clone()),
            (None, Some(column)) => SplitBy::Time(column.clone()),
            (None, None) => SplitBy::Random,
        };
        FitOptions {
            label: label.to_owned(),
            positive: self.positive.clone(),
            plan: Plan {
                method: self.learner,
                noise: self.noise,
                c: self.c,
                seed: self.seed,
                threads: self.input.reading.threads(),
            },
            weights: self.weights.clone(),
            balanced: self.balanced,
            holdout: self.holdout,
            split,
            skip_unlabelled: self.skip_unlabelled,
            recipe: self.columns.options(),
            ragged: self.input.reading.ragged,
        }
    }
}

/// Runs `fit`.
pub(crate) fn run(args: &FitArgs) -> Result<(), CliError> {
    let mut inputs = args.label_file.with(&args.input.data);
    inputs.extend(args.session.as_deref());
    check_targets(&[&args.output], &inputs, args.force)?;
    check_model_name(&args.output)?;
    let progress = Progress::start("reading");
    let (joined, known) = match &args.session {
        Some(session) => {
            let (joined, known) = session_table(&args.input, &args.columns, session)?;
            (Some(joined), known)
        }
        None => {
            let columns = args.columns.options();
            (args.label_file.read(&args.input, args.label.as_deref(), &columns)?, None)
        }
    };
    let is_chosen = joined.as_ref().is_some_and(|joined| joined.is_chosen);
    let label = joined.as_ref().map(|joined| joined.column.as_str()).or(args.label.as_deref());
    let Some(label) = label else {
        unreachable!("--label is required if no other labels are given")
    };
    let mut options = args.options(label);
    args.check_id()?;
    // The column of known labels has been removed already.
    options.recipe.drop.retain(|name| known.as_ref() != Some(name));
    options.check()?;
    let hints = options.hints();
    let (data, fitted) = if args.stream {
        let table = args.input.open_large(hints)?;
        drop(progress);
        let progress = Progress::rows("learning");
        let fitted = Pipeline::fit_large(&table, &options, &mut |rows| progress.advance(rows))?;
        (table.name().to_owned(), fitted)
    } else {
        let frame = match joined {
            Some(joined) => joined.frame,
            None => {
                let frame = args.input.read_as(&hints)?;
                check_no_guesses(&frame, label)?;
                frame
            }
        };
        drop(progress);
        let monitor = Monitor::default();
        let progress = Progress::monitored("learning", &monitor);
        let data = frame.source.clone();
        let Some(fitted) = monitor.run(|| Pipeline::fit(frame, &options)) else {
            unreachable!("nothing stops the fit")
        };
        drop(progress);
        (data, fitted?)
    };
    let (pipeline, notes) = fitted;
    notes.iter().for_each(|text| note(&format!("note: {text}")));
    let report = pipeline.report();
    let summary = Summary {
        data,
        rows: report.rows,
        sampled: report.sampled,
        columns: pipeline.recipe().places().len(),
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
        split: &report.split,
        confidence: CONFIDENCE,
        chosen_rows: is_chosen,
        weighted: args.balanced || args.weights.is_some(),
        probabilities: pipeline.model().has_probabilities(),
        model: args.output.display().to_string(),
    };
    write_file(&args.output, args.force, |out| pipeline.write(out))?;
    if args.json { print_json(&summary) } else { print(&text(&summary)) }
}

/// The approximate range of a cross-validated error, for fits with few held-out rows: the binomial interval that would
/// apply if all rows had been held out. It is approximate because the models of the folds share rows. Returns `None` if
/// enough rows are held out, if the error is weighted, or if rows are not held out at random.
fn approximate_range(summary: &Summary<'_>, error: f64) -> Option<String> {
    let held_out = summary.held_out.as_ref().map_or(0, |rate| rate.of);
    if held_out >= SMALL_HOLDOUT || summary.weighted || !summary.split.is_random() {
        return None;
    }
    let rows = summary.learned_from as usize;
    let rate = Rate::new((error * rows as f64).round() as usize, rows);
    let Ok(Rate { low, high, .. }) = rate else {
        unreachable!("an error rate of {error} on {rows} rows is at most 1: {rate:?}")
    };
    Some(format!(" (about {:.1} % to {:.1} %)", 100.0 * low, 100.0 * high))
}

/// The maximum number of classes that are listed with their rows.
const MOST_CLASSES: usize = 30;

fn text(summary: &Summary<'_>) -> String {
    let Summary { data, rows, columns, coordinates, classes, findings, model, .. } = summary;
    let classes: Vec<String> =
        classes.iter().map(|c| format!("{} ({})", visible(&c.name), c.rows)).collect();
    let sample = summary
        .sampled
        .map_or(String::new(), |n| format!(" (columns and classes determined from {n} rows)"));
    let mut lines = vec![format!(
        "data        {data}: {}, {}, {}; classes {}{sample}",
        counted(*rows, "row"),
        counted(*columns as u64, "column"),
        counted(*coordinates as u64, "coordinate"),
        first_of(classes, MOST_CLASSES)
    )];
    if !summary.constant_columns.is_empty() {
        let names = visible(&first_of(summary.constant_columns, MAX_NAMES));
        lines.push(format!("ignored     constant columns: {names}"));
    }
    let learner = summary.learner.name();
    let weighted = if summary.weighted { "weighted " } else { "" };
    let from = summary.learned_from;
    if findings.compared.is_empty() {
        lines.push(format!("learner     {learner}, fitted to {}", counted(from, "row")));
    } else {
        let (compared, chosen) = (findings.compared.len() + findings.dropped, findings.chosen);
        let candidates = if compared == 1 { "candidate" } else { "candidates" };
        lines.push(format!(
            "learner     {learner}, fitted to {from} rows; {compared} {candidates} compared on {}{} rows{}, the best {}",
            if matches!(summary.split, SplitBy::Time(_)) { "random folds of " } else { "" },
            findings.compared_on,
            match summary.split {
                SplitBy::Group(column) => format!(" by `{}`", visible(column)),
                SplitBy::Random | SplitBy::Time(_) => String::new(),
            },
            if chosen == 1 { "one selected".to_owned() } else { format!("{chosen} averaged") }
        ));
        for (error, name) in findings.compared.iter().take(LISTED) {
            lines.push(format!("            {:.1} % {weighted}error: {name}", 100.0 * error));
        }
        if chosen > LISTED {
            lines.push(format!("            and {} more", chosen - LISTED));
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
        lines.push(format!("status      {ended}"));
    }
    let unweighted = if summary.weighted { "unweighted " } else { "" };
    lines.push(format!(
        "baseline    {:.1} % {unweighted}error if the most frequent class is always predicted",
        100.0 * summary.commonest_class_error
    ));
    if let Some(error) = summary.cross_validated_error {
        let caveat = match (findings.compared.is_empty(), summary.split) {
            (_, SplitBy::Group(column)) => format!(" by `{}`", visible(column)),
            (true, _) => String::new(),
            (false, _) => {
                ", slightly optimistic because it was used to select the candidates".to_owned()
            }
        };
        let range = approximate_range(summary, error).unwrap_or_default();
        lines.push(format!(
            "validation  {:.1} %{range} {weighted}error in cross-validation{caveat}",
            100.0 * error
        ));
    }
    match &summary.held_out {
        Some(rate) => {
            let Rate { count, of, .. } = rate;
            lines.push(format!(
                "hold-out    {}, {count} misclassified: {unweighted}error {}",
                counted(*of as u64, "row"),
                rate.text()
            ));
            let confidence = 100.0 * CONFIDENCE;
            lines.push(match summary.split {
                SplitBy::Random if summary.chosen_rows => {
                    "guarantee   none, unless the session had --order random: otherwise it chose which rows were labelled, so they are \
                     no random sample of the table"
                        .to_owned()
                }
                SplitBy::Random => format!(
                    "guarantee   this interval contains the error on new rows with {confidence:.0} % confidence, if rows are \
                     independent"
                ),
                SplitBy::Group(column) => format!(
                    "guarantee   none: rows with the same `{}` are not independent, but the interval assumes independent rows",
                    visible(column)
                ),
                SplitBy::Time(column) => format!(
                    "guarantee   none: the held-out rows are the last ones in the order of `{}`, and later rows can \
                    differ; the interval assumes independent rows",
                    visible(column)
                ),
            });
            if *of < SMALL_HOLDOUT {
                let more = "--holdout 0.3 holds out 30 % of the rows";
                lines.push(format!(
                    "note        the hold-out is small, so the interval is wide; {more}"
                ));
            }
        }
        None => lines.push("guarantee   none: no rows were held out (--holdout)".to_owned()),
    }
    if summary.weighted {
        lines.push(
            "note        the calibration of the probabilities counts each row with its weight; with --balanced, the \
            probabilities are as if all classes were equally frequent"
                .to_owned(),
        );
    }
    if !summary.probabilities {
        let why = "calibration needs at least 10 held-out rows (--holdout)";
        lines.push(format!("note        no probabilities: {why}"));
    }
    lines.push(format!("model       {model}"));
    lines.join("\n") + "\n"
}
