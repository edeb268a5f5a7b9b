//! `fit`: learn a model from a labelled table.

use crate::error::CliError;
use crate::frame::{Frame, Values};
use crate::input::{Hints, InputArgs, LargeTable};
use crate::labels::Labels;
use crate::learner::{Batch, Findings, Learned, Method, Plan};
use crate::model_file::{Known, LabelPart, ModelFile};
use crate::names::visible;
use crate::output::{check_targets, note, say, say_json};
use crate::progress::Progress;
use crate::recipe::{Recipe, RecipeOptions, Unseen};
use crate::statistics::{CONFIDENCE, Rate};
use crate::threads::ThreadsArg;
use clap::Args;
use halfspaces_linalg::rand::seq::SliceRandom;
use halfspaces_linalg::{PointSet, RngStream, rng_for};
use halfspaces_pac::ErrorCount;
use halfspaces_tables::MIN_TABLE_ROWS;
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// From so many rows on a tenth is held out, at least and at most so many; before, a twentieth.
const LARGE: usize = 5000;
const LARGE_SHARE: f64 = 0.1;
const SMALL_SHARE: f64 = 0.05;
const MIN_LARGE: usize = 1500;
const MAX_HELD_OUT: usize = 20_000;

/// Rows of a file larger than memory on which columns, classes and error are measured.
const SAMPLE: usize = 60_000;
/// Rows of it read at a time.
const CHUNK: usize = 4096;

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
    #[arg(long, value_enum, default_value = "auto", value_name = "LEARNER")]
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
    /// Read the file in parts: for CSV files larger than memory. perceptron learns from every row, massart from as many as it
    /// needs, the others from a random sample of 60 000
    #[arg(long, conflicts_with = "weights")]
    stream: bool,
    /// Seed of every random choice
    #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
    seed: u64,
    #[command(flatten)]
    threads: ThreadsArg,
    #[command(flatten)]
    recipe: RecipeOptions,
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
struct Summary {
    data: String,
    rows: u64,
    /// Rows of a stream on which columns, classes and error were measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    sampled: Option<usize>,
    columns: usize,
    coordinates: usize,
    constant_columns: Vec<String>,
    classes: Vec<ClassCount>,
    learner: Method,
    learned_from: u64,
    findings: Findings,
    held_out: Option<Rate>,
    confidence: f64,
    /// Whether `predict` gives probabilities.
    probabilities: bool,
    model: String,
}

#[derive(Debug, Serialize)]
struct ClassCount {
    name: String,
    rows: usize,
}

/// Learns a model.
pub(crate) fn run(args: &FitArgs) -> Result<(), CliError> {
    check_targets(&[&args.output], &[&args.input.data], args.force)?;
    if args.weights.is_some() && args.learner != Method::Auto {
        let learner = args.learner.name();
        let advice = "use --learner auto";
        return Err(CliError::user(format!(
            "--weights: the learner {learner} takes none; {advice}"
        )));
    }
    let plan = Plan {
        method: args.learner,
        noise: args.noise,
        c: args.c,
        seed: args.seed,
        threads: args.threads.get(),
    };
    plan.check_options()?;
    args.recipe.check_apart(&args.label, "the column of labels")?;
    if let Some(weights) = &args.weights {
        args.recipe.check_apart(weights, "the column of weights")?;
        if *weights == args.label {
            return Err(CliError::user(format!(
                "--weights {weights}: it is the column of labels; name another one"
            )));
        }
    }
    let progress = Progress::start("reading");
    let hints = Hints::texts([&args.label]);
    let large = args.stream.then(|| Large::open(args, &hints)).transpose()?;
    let mut frame = match &large {
        Some(large) => large.sample()?,
        None => args.input.read_as(&hints)?,
    };
    drop(progress);
    let mut labels = Labels::take(&mut frame, &args.label)?;
    let several = labels.classes.len() > 2;
    if let Some(positive) = &args.positive {
        labels = labels.with_positive(positive)?;
    }
    let against_rest = args.positive.clone().filter(|_| several);
    let weights = args.weights.as_deref().map(|name| take_weights(&mut frame, name)).transpose()?;
    let (rows, columns) = (frame.rows, frame.columns.len());
    let all_rows = large.as_ref().map_or(rows as u64, |large| large.rows);
    let (learn_rows, held_rows) = split(rows, args.holdout, args.seed);

    let counts: Vec<ClassCount> = (labels.classes.iter().enumerate())
        .map(|(i, name)| ClassCount {
            name: name.clone(),
            rows: labels.of_row.iter().filter(|c| **c == i).count(),
        })
        .collect();
    let (classes, numbers) = classes_of(&labels, &learn_rows, &frame, &args.label)?;
    let class = |row: &usize| numbers[labels.of_row[*row]];
    let training = frame.select_rows(&learn_rows);
    let held_out = frame.select_rows(&held_rows);
    drop(frame);
    let recipe = Recipe::fit(&training, &args.recipe)?;
    let points = recipe.apply(&training, Unseen::Error)?;
    let source = training.source.clone();
    drop(training);

    if args.learner == Method::Auto && learn_rows.len() < MIN_TABLE_ROWS {
        return Err(CliError::user(format!(
            "{source}: {} rows to learn from are too few, {MIN_TABLE_ROWS} are needed; say --holdout 0 if none are to be held out",
            learn_rows.len()
        )));
    }
    let targets: Vec<usize> = learn_rows.iter().filter_map(class).collect();
    let weights: Option<Vec<f64>> =
        weights.map(|weights| learn_rows.iter().map(|row| weights[*row]).collect());
    let learned = match &large {
        Some(large) if Learned::streams(plan.method) => {
            let held_out: BTreeSet<u64> = held_rows.iter().map(|row| large.sampled[*row]).collect();
            let target = Target { classes: &classes, against_rest: against_rest.as_deref() };
            let batches = |chunks: Chunks<'_>| {
                let mut batches = large.batches(chunks, &recipe, &target, &held_out);
                Learned::fit_stream(&plan, &points, &targets, &mut batches)
            };
            large.table.in_chunks(&recipe.hints(std::slice::from_ref(&args.label)), CHUNK, batches)
        }
        _ => {
            let progress = Progress::start("learning");
            let learned = Learned::fit(&plan, &points, &targets, weights.as_deref());
            drop(progress);
            learned.map(|(learned, findings)| (learned, findings, learn_rows.len() as u64))
        }
    };
    let (mut learned, findings, learned_from) = learned.map_err(|fault| fault.within(&source))?;
    drop(points);

    let held_out = if held_rows.is_empty() {
        None
    } else {
        let points = recipe.apply(&held_out, Unseen::Zero)?;
        let found = learned.decide(&points, plan.threads)?;
        let truth: Vec<Option<usize>> = held_rows.iter().map(class).collect();
        let wrong = found.classes.iter().zip(&truth).filter(|(a, b)| Some(**a) != **b).count();
        let known: Option<Vec<usize>> = truth.into_iter().collect();
        if let Some(known) = known {
            learned.calibrate(&points, &known, plan.threads)?;
        }
        Some(ErrorCount::new(wrong, held_rows.len())?)
    };

    let summary = Summary {
        data: source,
        rows: all_rows,
        sampled: large.as_ref().map(|large| large.sampled.len()),
        columns,
        coordinates: recipe.dim(),
        constant_columns: recipe.constant().to_vec(),
        classes: counts,
        learner: args.learner,
        learned_from,
        findings: findings.clone(),
        held_out: held_out.map(|count| Rate::new(count.errors(), count.points())).transpose()?,
        confidence: CONFIDENCE,
        probabilities: learned.has_probabilities(),
        model: args.output.display().to_string(),
    };
    let label = LabelPart { column: args.label.clone(), classes, against_rest };
    let known = Known { rows: learned_from, held_out, seed: args.seed, findings };
    ModelFile::new(label, recipe, learned, known).save(&args.output, args.force)?;
    if args.json { say_json(&summary) } else { say(&text(&summary)) }
}

type Chunks<'c> = &'c mut dyn Iterator<Item = Result<Frame, CliError>>;

/// What labels mean.
struct Target<'t> {
    classes: &'t [String],
    against_rest: Option<&'t str>,
}

impl Target<'_> {
    fn class(&self, label: &str) -> Option<usize> {
        match self.against_rest {
            Some(positive) => Some(usize::from(label == positive)),
            None => self.classes.iter().position(|class| class == label),
        }
    }
}

/// A file larger than memory, and a random sample of its rows.
struct Large {
    table: LargeTable,
    label: String,
    /// Rows of the file.
    rows: u64,
    /// The numbers of those in the sample, rising.
    sampled: Vec<u64>,
}

impl Large {
    fn open(args: &FitArgs, hints: &Hints) -> Result<Large, CliError> {
        let table = args.input.open_large(hints.clone())?;
        let rows = table.count()?;
        let mut rng = rng_for(RngStream::Caller, args.seed);
        let size = rows.min(SAMPLE as u64) as usize;
        let drawn = halfspaces_linalg::rand::seq::index::sample(&mut rng, rows as usize, size);
        let mut sampled: Vec<u64> = drawn.into_iter().map(|row| row as u64).collect();
        sampled.sort_unstable();
        Ok(Large { table, label: args.label.clone(), rows, sampled })
    }

    fn sample(&self) -> Result<Frame, CliError> {
        self.table.rows(&self.sampled)
    }

    /// The rows that are not held out, as points and classes. A label that the sample does not have is left out.
    fn batches<'b>(
        &'b self,
        chunks: Chunks<'b>,
        recipe: &'b Recipe,
        target: &'b Target<'b>,
        held_out: &'b BTreeSet<u64>,
    ) -> impl Iterator<Item = Result<Batch, CliError>> + 'b {
        let progress = Progress::rows("learning", self.rows);
        let mut first = 0;
        chunks.map(move |chunk| {
            let mut chunk = chunk?;
            let number = first;
            first += chunk.rows as u64;
            progress.advance(chunk.rows as u64);
            let labels = Labels::take_part(&mut chunk, &self.label)?;
            let class: Vec<Option<usize>> =
                labels.classes.iter().map(|label| target.class(label)).collect();
            let (mut rows, mut classes) = (Vec::new(), Vec::new());
            for (row, label) in labels.of_row.iter().enumerate() {
                if let Some(class) = class[*label]
                    && !held_out.contains(&(number + row as u64))
                {
                    rows.push(row);
                    classes.push(class);
                }
            }
            let points = recipe.apply(&chunk, Unseen::Zero)?;
            Ok((points.select(&rows)?, classes))
        })
    }
}

/// The classes of the rows learned from, and per class of the file its number among them: one that has no such row
/// has none.
fn classes_of(
    labels: &Labels,
    rows: &[usize],
    frame: &Frame,
    column: &str,
) -> Result<(Vec<String>, Vec<Option<usize>>), CliError> {
    let mut present = vec![false; labels.classes.len()];
    rows.iter().for_each(|row| present[labels.of_row[*row]] = true);
    let mut names = Vec::new();
    let mut numbers = Vec::new();
    for (name, present) in labels.classes.iter().zip(present) {
        numbers.push(present.then_some(names.len()));
        if present {
            names.push(name.clone());
        } else {
            note(&format!(
                "note: all rows labelled `{name}` are held out: the model does not know the class; try --holdout 0"
            ));
        }
    }
    if names.len() < 2 {
        let only = names.first().map_or("", String::as_str);
        return Err(CliError::user(format!(
            "{}, column `{column}`: every row has the same label, `{only}`; two different ones are needed",
            frame.source
        )));
    }
    Ok((names, numbers))
}

fn take_weights(frame: &mut Frame, name: &str) -> Result<Vec<f64>, CliError> {
    let column = frame.take(name)?;
    let Values::Numbers(weights) = column.values else {
        let source = &frame.source;
        return Err(CliError::user(format!(
            "{source}: the weights in column `{name}` are not numbers"
        )));
    };
    match weights.iter().position(|w| w.is_nan() || *w < 0.0) {
        Some(row) => Err(CliError::user(format!(
            "{}, column `{name}`: a weight is a number of at least 0",
            frame.place(row)
        ))),
        None => Ok(weights),
    }
}

/// Rows learned from and rows held out, at random, each in their order.
pub(crate) fn split(rows: usize, share: Option<f64>, seed: u64) -> (Vec<usize>, Vec<usize>) {
    let held_out = match share {
        Some(share) => (share * rows as f64).round() as usize,
        None if rows < LARGE => (SMALL_SHARE * rows as f64).round() as usize,
        None => ((LARGE_SHARE * rows as f64).round() as usize).clamp(MIN_LARGE, MAX_HELD_OUT),
    };
    let mut order: Vec<usize> = (0..rows).collect();
    order.shuffle(&mut rng_for(RngStream::TableRows, seed));
    let mut learn = order.split_off(held_out.min(rows - 1));
    learn.sort_unstable();
    order.sort_unstable();
    (learn, order)
}

fn text(summary: &Summary) -> String {
    let Summary { data, rows, columns, coordinates, classes, findings, model, .. } = summary;
    let classes: Vec<String> =
        classes.iter().map(|c| format!("{} ({})", visible(&c.name), c.rows)).collect();
    let sample = summary.sampled.map_or(String::new(), |n| format!(" (in a sample of {n} rows)"));
    let mut lines = vec![format!(
        "data        {data}: {rows} rows, {columns} columns, {coordinates} coordinates; classes {}{sample}",
        classes.join(", ")
    )];
    if !summary.constant_columns.is_empty() {
        let names = visible(&summary.constant_columns.join(", "));
        lines.push(format!("left out    columns that never change: {names}"));
    }
    let learner = summary.learner.name();
    let from = summary.learned_from;
    if findings.compared.is_empty() {
        lines.push(format!("learner     {learner}, from {from} rows"));
    } else {
        let (compared, chosen) = (findings.compared.len() + findings.dropped, findings.chosen);
        lines.push(format!(
            "learner     {learner}, from {from} rows: {compared} candidates compared, the best {chosen} averaged"
        ));
        for (error, name) in findings.compared.iter().take(LISTED) {
            lines.push(format!("            {:.1} % wrong: {name}", 100.0 * error));
        }
    }
    if let (Some(noise), Some(margin)) = (findings.noise, findings.margin) {
        lines.push(format!(
            "found       best by a noise rate of {:.0} % and steps for a margin of {:.4} of the largest norm",
            100.0 * noise,
            margin
        ));
    }
    if let Some(ended) = &findings.ended {
        lines.push(format!("ended       {ended}"));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_split_by_the_stated_shares() {
        for (rows, share, held_out) in [
            (100, None, 5),
            (4999, None, 250),
            (5000, None, 1500),
            (30_000, None, 3000),
            (1_000_000, None, 20_000),
            (10, Some(0.25), 3),
            (10, Some(0.0), 0),
            (2, Some(0.99), 1),
        ] {
            let (learn, held) = split(rows, share, 1);
            assert_eq!(held.len(), held_out, "{rows}");
            let mut all = [learn, held].concat();
            all.sort_unstable();
            assert!(all.into_iter().eq(0..rows));
        }
        assert_ne!(split(100, None, 1), split(100, None, 2));
    }
}
