//! `explain`: what a model goes by.

use super::judged::{Judged, read};
use crate::error::CliError;
use crate::input::{InputArgs, ReadingArgs};
use crate::names::visible;
use crate::output::{aligned, say, say_json};
use crate::progress::Progress;
use crate::recipe;
use clap::Args;
use halfspaces_linalg::rand::seq::SliceRandom;
use halfspaces_linalg::{PointSet, Points, RngStream, Threads, rng_for, rng_for_round};
use halfspaces_pipeline::{Decisions, Design, Pipeline, Rate, Unseen};
use serde::Serialize;
use std::path::PathBuf;

/// Most rows that columns are shuffled on.
const MAX_ROWS: usize = 2000;
/// Times every column is shuffled.
const SHUFFLES: u32 = 3;
/// Bars of the histogram on either side of 0, and their longest.
const BARS: usize = 8;
const LONGEST: usize = 40;
/// The last bar of either side begins at this many times the mean size of a value.
const REACH: f64 = 2.0;

/// Show what a model goes by: weights, or what every column is worth, and how sure it is.
///
/// Of a model of one halfspace per class the largest weights are shown, each for a change by one standard deviation. With DATA,
/// for any model, how much more often it errs (or, without labels, changes its answer) when one column is shuffled: its
/// permutation importance. And a histogram of margins: of the decision value, positive where the label agrees.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  halfspaces explain model.json
  halfspaces explain model.json test.csv --top 20")]
pub(crate) struct ExplainArgs {
    /// The model, written by `halfspaces fit`
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// A table to explain the model on, with or without labels
    #[arg(value_name = "DATA")]
    data: Option<PathBuf>,
    /// The column of labels [default: of the name that the model learned from]
    #[arg(short, long, value_name = "COLUMN", requires = "data")]
    label: Option<String>,
    /// Most weights and columns shown
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,
    /// What becomes of a category that the model has not seen, and of a column that is not there
    #[arg(long, value_parser = recipe::unseen(), default_value = "error")]
    unseen: Unseen,
    #[command(flatten)]
    reading: ReadingArgs,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
}

/// What is printed.
#[derive(Debug, Serialize)]
struct Explanation {
    learner: String,
    classes: Vec<String>,
    learned_from: u64,
    held_out: Option<Rate>,
    /// What the model is the sum of.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    averaged: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    weights: Vec<ClassWeights>,
    #[serde(skip_serializing_if = "Option::is_none")]
    on_data: Option<OnData>,
}

#[derive(Debug, Serialize)]
struct ClassWeights {
    /// The class that positive weights speak for.
    class: String,
    /// Largest first.
    weights: Vec<Weight>,
}

#[derive(Debug, Serialize)]
struct Weight {
    coordinate: String,
    weight: f64,
}

#[derive(Debug, Serialize)]
struct OnData {
    data: String,
    rows: usize,
    /// Whether importance is in errors; else in answers changed.
    labelled: bool,
    rows_shuffled: usize,
    importance: Vec<Importance>,
    /// Lower end, upper end and number of rows; the first and the last reach to infinity.
    margins: Vec<Bar>,
}

#[derive(Debug, Serialize)]
struct Importance {
    column: String,
    /// Share of the rows.
    share: f64,
}

#[derive(Debug, Serialize)]
struct Bar {
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<f64>,
    rows: usize,
}

/// Explains a model.
pub(crate) fn run(args: &ExplainArgs) -> Result<(), CliError> {
    let model = Pipeline::load(&args.model)?;
    let progress = Progress::start("explaining");
    let on_data = match &args.data {
        None => None,
        Some(data) => {
            let input = InputArgs { data: data.clone(), reading: args.reading.clone() };
            let judged = read(&model, &input, args.label.as_deref(), false, args.unseen)?;
            Some(on_data(&model, &judged, args.top, args.reading.threads())?)
        }
    };
    drop(progress);
    let findings = &model.report().findings;
    let explanation = Explanation {
        learner: model.model().method().name().to_owned(),
        classes: model.classes().to_vec(),
        learned_from: model.report().learned_from,
        held_out: model.report().held_out()?,
        averaged: findings.compared.iter().take(findings.chosen).map(|(_, n)| n.clone()).collect(),
        weights: weights(&model, args.top),
        on_data,
    };
    if args.json { say_json(&explanation) } else { say(&text(&explanation)) }
}

fn weights(model: &Pipeline, top: usize) -> Vec<ClassWeights> {
    let names = model.recipe().coordinates();
    let classes = model.classes();
    // Of two classes one halfspace, for the second.
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
    judged: &Judged,
    top: usize,
    threads: Threads,
) -> Result<OnData, CliError> {
    let found = model.model().decide(&judged.design, threads)?;
    let importance = importance(model, judged, &found, threads)?;
    let rows_shuffled = judged.design.len().min(MAX_ROWS);
    Ok(OnData {
        data: judged.source.clone(),
        rows: judged.design.len(),
        labelled: judged.truth.is_some(),
        rows_shuffled,
        importance: importance.into_iter().take(top).collect(),
        margins: histogram(&margins(&found, judged.truth.as_deref())),
    })
}

/// By how much the share of errors rises, or without labels how many answers change, when the cells of one column are
/// shuffled among the rows; the largest first.
fn importance(
    model: &Pipeline,
    judged: &Judged,
    found: &Decisions,
    threads: Threads,
) -> Result<Vec<Importance>, CliError> {
    let mut rows: Vec<usize> = (0..judged.design.len()).collect();
    rows.shuffle(&mut rng_for(RngStream::TableRows, 0));
    rows.truncate(MAX_ROWS);
    let points = judged.design.select(&rows)?.into_dense()?;
    let reference: Vec<Option<usize>> = match &judged.truth {
        Some(truth) => rows.iter().map(|row| truth[*row]).collect(),
        None => rows.iter().map(|row| Some(found.classes[*row])).collect(),
    };
    let differ = |classes: &[usize]| {
        classes.iter().zip(&reference).filter(|(found, truth)| Some(**found) != **truth).count()
    };
    let now: Vec<usize> = rows.iter().map(|row| found.classes[*row]).collect();
    let before = differ(&now) as f64;
    let dim = points.dim();
    let mut order: Vec<usize> = (0..rows.len()).collect();
    let mut all = Vec::new();
    for (column, places) in model.recipe().places() {
        let mut total = 0.0;
        for shuffle in 0..SHUFFLES {
            order.shuffle(&mut rng_for_round(RngStream::TableOrder, 0, shuffle));
            let mut values = points.as_slice().to_vec();
            for (to, from) in order.iter().enumerate() {
                let source = &points.as_slice()[from * dim..][places.clone()];
                values[to * dim..][places.clone()].copy_from_slice(source);
            }
            let shuffled = Design::Dense(Points::new(values, dim)?);
            total += differ(&model.model().decide(&shuffled, threads)?.classes) as f64 - before;
        }
        let share = total / (f64::from(SHUFFLES) * rows.len() as f64);
        all.push(Importance { column, share });
    }
    all.sort_by(|a, b| b.share.total_cmp(&a.share));
    Ok(all)
}

/// Per row the decision value in units of its mean size; with labels its size, negative where the label disagrees.
fn margins(found: &Decisions, truth: Option<&[Option<usize>]>) -> Vec<f64> {
    let sizes = found.values.iter().map(|v| v.abs());
    let mean = sizes.sum::<f64>() / found.values.len() as f64;
    let unit = if mean > 0.0 && mean.is_finite() { mean } else { 1.0 };
    let margin = |row: usize| {
        let value = found.values[row] / unit;
        match truth {
            Some(truth) if truth[row] == Some(found.classes[row]) => value.abs(),
            Some(_) => -value.abs(),
            None => value,
        }
    };
    (0..found.values.len()).map(margin).collect()
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

fn text(explanation: &Explanation) -> String {
    let Explanation { learner, classes, learned_from, held_out, averaged, weights, on_data } =
        explanation;
    let mut lines = vec![format!(
        "model     {learner}, learned from {learned_from} rows; classes {}",
        visible(&classes.join(", "))
    )];
    if let Some(rate) = held_out {
        lines.push(format!("held out  {} rows: error {}", rate.of, rate.text()));
    }
    if !averaged.is_empty() {
        lines.push(format!("average   of {}", visible(&averaged.join("; "))));
    }
    for of_class in weights {
        lines.push(String::new());
        lines.push(format!("weights for `{}`, per standard deviation", visible(&of_class.class)));
        let row = |w: &Weight| vec![visible(&w.coordinate), format!("{:+.4}", w.weight)];
        lines.extend(aligned(&of_class.weights.iter().map(row).collect::<Vec<_>>()));
    }
    match on_data {
        Some(on_data) => lines.extend(data_lines(on_data)),
        None if weights.is_empty() => lines.push(
            "No single halfspace: name DATA to see what every column is worth on it.".to_owned(),
        ),
        None => {}
    }
    lines.join("\n") + "\n"
}

fn data_lines(on_data: &OnData) -> Vec<String> {
    let OnData { data, rows, labelled, rows_shuffled, importance, margins } = on_data;
    let what = if *labelled { "more errors" } else { "answers changed" };
    let mut lines = vec![
        String::new(),
        format!("{}: {rows} rows", visible(data)),
        format!("{what} when a column is shuffled, of {rows_shuffled} rows ({SHUFFLES} times)"),
    ];
    let row = |i: &Importance| vec![visible(&i.column), format!("{:.1} %", 100.0 * i.share)];
    lines.extend(aligned(&importance.iter().map(row).collect::<Vec<_>>()));
    lines.push(String::new());
    lines.push(if *labelled {
        "margins in units of their mean size; negative: the label disagrees".to_owned()
    } else {
        "decision values in units of their mean size".to_owned()
    });
    let most = margins.iter().map(|bar| bar.rows).max().unwrap_or(0).max(1);
    for bar in margins {
        let range = match (bar.from, bar.to) {
            (None, Some(to)) => format!("below {to:.2}"),
            (Some(from), None) => format!("from {from:.2}"),
            (Some(from), Some(to)) => format!("{from:.2} to {to:.2}"),
            (None, None) => unreachable!("a histogram has several bars"),
        };
        let length = (bar.rows * LONGEST).div_ceil(most);
        let line = format!("{range:>16}  {:>7}  {}", bar.rows, "#".repeat(length));
        lines.push(line.trim_end().to_owned());
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn margins_fall_into_their_bars() {
        let found = Decisions {
            classes: vec![1, 1, 0, 0],
            values: vec![3.0, 1.0, -1.0, -3.0],
            probabilities: None,
        };
        // Mean size 2.
        assert_eq!(margins(&found, None), [1.5, 0.5, -0.5, -1.5]);
        let truth = [Some(1), Some(0), Some(0), None];
        assert_eq!(margins(&found, Some(&truth)), [1.5, -0.5, 0.5, -1.5]);
        let bars = histogram(&[-9.0, -2.0, -0.01, 0.0, 1.999, 2.0, 70.0]);
        let rows: Vec<usize> = bars.iter().map(|bar| bar.rows).collect();
        assert_eq!(rows, [1, 1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 1, 2]);
        assert_eq!((bars[0].from, bars[0].to, bars[15].from), (None, Some(-2.0), Some(2.0)));
    }
}
