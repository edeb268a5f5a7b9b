//! `explain`: shows the weights, permutation importance and margins of a model, explains single predictions, and writes
//! a model card.

mod card;
mod explanation;
mod rows;
mod text;

use super::evaluation_data::{EvaluationData, read};
use crate::error::CliError;
use crate::input::{InputArgs, LabelFileArgs, ReadingArgs};
use crate::output::{check_targets, note, print, print_json, write_file};
use crate::progress::Progress;
use crate::recipe;
use clap::Args;
use explanation::{Bar, ClassWeights, Explanation, OnData, Weight};
use halfspaces_linalg::Threads;
use halfspaces_pipeline::{Decisions, Importance, Pipeline, Unseen};
use std::path::{Path, PathBuf};

/// Number of bins of the histogram on either side of 0.
const BARS: usize = 8;
/// The outermost bins start at this many times the mean |value|.
const REACH: f64 = 2.0;

/// Show the weights of a model, the importance of each column, and a histogram of margins.
///
/// For a model with one halfspace per class, shows the largest weights. A weight is the change in the decision value if
/// the column increases by one standard deviation, or by 1 if the model learned from texts or other sparse columns.
/// With DATA, shows the permutation importance of each column: the increase of the log loss when the column is shuffled
/// (or of the error rate, if the model has no probabilities). If DATA has no labels, the importance is the fraction of
/// predictions that change. With DATA, also shows a histogram of the margins. A margin is the absolute decision value,
/// with a negative sign if the prediction differs from the label.
///
/// --row explains the predictions for single rows. --html writes a model card: a page with everything that is known
/// about the model, from its file and, with DATA, from its predictions for these rows.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  halfspaces explain model.json
  halfspaces explain model.json test.csv --top 20
  halfspaces explain model.json test.csv --row 17
  halfspaces explain model.json test.csv --html card.html")]
pub(crate) struct ExplainArgs {
    /// Model file written by `halfspaces fit`
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// Table on which importance and margins are measured, with or without labels
    #[arg(value_name = "DATA")]
    data: Option<PathBuf>,
    /// Column of labels [default: the label column of the model]
    #[arg(short, long, value_name = "COLUMN", requires = "data")]
    label: Option<String>,
    #[command(flatten)]
    label_file: LabelFileArgs,
    /// Maximum number of weights and columns shown
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,
    /// Explain the predictions for these rows of DATA, counted from 0: what each column contributes, compared with
    /// other rows of DATA
    #[arg(long, value_name = "ROW,..", value_delimiter = ',', requires = "data")]
    row: Vec<usize>,
    /// Write a model card to this file
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    html: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long, requires = "html")]
    force: bool,
    /// How to treat a category that the model has not seen and a column that is missing from the table
    #[arg(long, value_parser = recipe::unseen(), default_value = "error")]
    unseen: Unseen,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: ReadingArgs,
}

/// Runs `explain`.
pub(crate) fn run(args: &ExplainArgs) -> Result<(), CliError> {
    if args.data.is_none() && args.label_file.labels.is_some() {
        return Err(CliError::user("--labels: also pass the table of these labels (DATA)"));
    }
    if let Some(target) = &args.html {
        let mut inputs: Vec<&Path> = vec![&args.model];
        let labels = &args.label_file.labels;
        inputs.extend([&args.data, labels].into_iter().flatten().map(PathBuf::as_path));
        check_targets(&[target], &inputs, args.force)?;
    }
    let model = Pipeline::load(&args.model)?;
    let progress = Progress::start("explaining");
    let data = match &args.data {
        None => None,
        Some(data) => {
            let input = InputArgs { data: data.clone(), reading: args.reading.clone() };
            let label = args.label.as_deref();
            Some(read(&model, &input, &args.label_file, label, false, args.unseen)?)
        }
    };
    let threads = args.reading.threads();
    let rows = match &data {
        Some(data) if !args.row.is_empty() => {
            rows::explain(&model, data, &args.row, args.top, threads)?
        }
        _ => Vec::new(),
    };
    // With --row but without --html, only the rows are explained.
    let measured = data.as_ref().filter(|_| args.row.is_empty() || args.html.is_some());
    let measured = match measured {
        None => None,
        Some(data) => {
            let decisions = model.model().decide(&data.design, threads)?;
            Some((data, on_data(&model, data, &decisions, args.top, threads)?, decisions))
        }
    };
    let findings = &model.report().findings;
    let mut explanation = Explanation {
        learner: model.model().method().name().to_owned(),
        classes: model.classes().to_vec(),
        learned_from: model.report().learned_from,
        held_out: model.report().held_out()?,
        averaged: findings.compared.iter().take(findings.chosen).map(|(_, n)| n.clone()).collect(),
        sparse: model.recipe().is_sparse(),
        weights: weights(&model, args.top),
        on_data: None,
        rows,
    };
    if let Some(target) = &args.html {
        let page = card::page_of(&args.model, &model, &explanation, measured.as_ref())?;
        drop(progress);
        write_file(target, args.force, |out| out.write_all(page.as_bytes()))?;
        note(&format!("model card written to {}", target.display()));
        return Ok(());
    }
    drop(progress);
    explanation.on_data = measured.map(|(_, on_data, _)| on_data);
    if args.json { print_json(&explanation) } else { print(&text::text(&explanation)) }
}

fn weights(model: &Pipeline, top: usize) -> Vec<ClassWeights> {
    let names = model.recipe().coordinates();
    let classes = model.classes();
    // A model for two classes has one halfspace; its positive side is the second class.
    let of = |count: usize, class: usize| if count == 1 { &classes[1] } else { &classes[class] };
    let all = model.model().weights().unwrap_or_default();
    (all.iter().enumerate())
        .map(|(class, weights)| {
            let mut pairs: Vec<(&String, f64)> =
                names.iter().zip(weights.iter().copied()).collect();
            pairs.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
            let weight =
                |(name, weight): (&String, f64)| Weight { coordinate: name.clone(), weight };
            let weights = pairs.into_iter().take(top).map(weight).collect();
            ClassWeights { class: of(all.len(), class).clone(), weights }
        })
        .collect()
}

fn on_data(
    model: &Pipeline,
    data: &EvaluationData,
    decisions: &Decisions,
    top: usize,
    threads: Threads,
) -> Result<OnData, CliError> {
    let truth = data.truth.as_deref();
    let mut importance = Importance::measure(model, &data.design, truth, threads)?;
    let columns_measured = importance.of_columns.len();
    importance.of_columns.truncate(top);
    Ok(OnData {
        data: data.frame.source.clone(),
        rows: data.design.len(),
        labelled: data.truth.is_some(),
        columns_measured,
        importance,
        margins: histogram(&margins(decisions, truth)),
    })
}

/// The margin of each row in units of the mean |value|. If there are labels, it is the absolute decision value, with a
/// negative sign if the row is misclassified. Otherwise it is the decision value itself.
fn margins(decisions: &Decisions, truth: Option<&[Option<usize>]>) -> Vec<f64> {
    let sizes = decisions.values.iter().map(|v| v.abs());
    let mean = sizes.sum::<f64>() / decisions.values.len() as f64;
    let unit = if mean > 0.0 && mean.is_finite() { mean } else { 1.0 };
    let margin = |row: usize| {
        let value = decisions.values[row] / unit;
        match truth {
            Some(truth) if truth[row] == Some(decisions.classes[row]) => value.abs(),
            Some(_) => -value.abs(),
            None => value,
        }
    };
    (0..decisions.values.len()).map(margin).collect()
}

fn histogram(margins: &[f64]) -> Vec<Bar> {
    let width = REACH / (BARS - 1) as f64;
    let last = 2 * BARS - 1;
    let place = |margin: f64| {
        let steps = (margin / width).floor() + BARS as f64;
        steps.clamp(0.0, last as f64) as usize
    };
    let mut rows = vec![0; 2 * BARS];
    margins.iter().for_each(|margin| rows[place(*margin)] += 1);
    let end = |at: usize| (at as f64 - BARS as f64) * width;
    let bar = |(at, rows)| Bar {
        from: (at > 0).then(|| end(at)),
        to: (at < last).then(|| end(at + 1)),
        rows,
    };
    rows.into_iter().enumerate().map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn margins_fall_into_their_bars() {
        let decisions = Decisions {
            classes: vec![1, 1, 0, 0],
            values: vec![3.0, 1.0, -1.0, -3.0],
            probabilities: None,
        };
        // The mean |value| is 2.
        assert_eq!(margins(&decisions, None), [1.5, 0.5, -0.5, -1.5]);
        let truth = [Some(1), Some(0), Some(0), None];
        assert_eq!(margins(&decisions, Some(&truth)), [1.5, -0.5, 0.5, -1.5]);
        let bars = histogram(&[-9.0, -2.0, -0.01, 0.0, 1.999, 2.0, 70.0]);
        let rows: Vec<usize> = bars.iter().map(|bar| bar.rows).collect();
        assert_eq!(rows, [1, 1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 1, 2]);
        assert_eq!((bars[0].from, bars[0].to, bars[15].from), (None, Some(-2.0), Some(2.0)));
    }
}
