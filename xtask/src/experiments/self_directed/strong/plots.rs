//! Figures and tables.

use super::workload::{Configuration, Count, Kind, Outcome, Run, dim};
use crate::experiments::common::{curve, mean_cells, median_text, spread_by_x};
use halfspaces_eval::{Axis, Colour, Figure, Group, Layer, Results, Table, stats};

/// Slope of a count per doubling of n.
fn slope(outcome: &Outcome, of: fn(&Count) -> usize) -> Option<f64> {
    let Outcome::Growth { counts, .. } = outcome else {
        unreachable!("the outcome of another part")
    };
    let (x, y): (Vec<f64>, Vec<f64>) =
        counts.iter().map(|c| ((c.points as f64).log2(), of(c) as f64)).unzip();
    stats::slope(&x, &y)
}

type Counted = (&'static str, Colour, fn(&Count) -> usize);

const COUNTED: [Counted; 4] = [
    ("perceptron, random order", Colour::Blue, |c| c.perceptron),
    ("greedy, no transform", Colour::Orange, |c| c.greedy),
    ("strong learner, random starts, ε=0.1", Colour::Vermilion, |c| c.strong),
    ("recommended learner, all points", Colour::Green, |c| c.recommended),
];

pub(super) fn figure(group: &Group<Configuration, Outcome>) -> Option<Figure> {
    let Configuration::Growth { kind, .. } = &group.configuration else { return None };
    let dim = dim(group)?;
    let counts: Vec<&Count> = group
        .outcomes
        .iter()
        .flat_map(|o| match o {
            Outcome::Growth { counts, .. } => counts.as_slice(),
            _ => unreachable!("the outcome of another part"),
        })
        .collect();
    let mut layers = Vec::new();
    let mut sizes = Vec::new();
    for (name, colour, of) in COUNTED {
        let pairs = counts.iter().map(|c| (c.points as f64, of(c) as f64)).collect();
        let line: Vec<(f64, f64)> =
            spread_by_x(pairs).iter().map(|(x, _, m, _)| (*x, m.max(0.5))).collect();
        sizes = line.iter().map(|(x, _)| *x).collect();
        let name = name.to_owned();
        layers.extend(curve(&name, colour, line));
    }
    layers.push(Layer::Line {
        name: "d lg n".into(),
        colour: Colour::Ink,
        dashed: true,
        data: sizes.iter().map(|n| (*n, dim as f64 * n.log2())).collect(),
    });
    let slug = match kind {
        Kind::StudentT => "student-t",
        Kind::Sphere => "sphere",
        Kind::Clusters => "clusters",
        Kind::Heavy => "heavy",
        Kind::Integer => "integer",
        Kind::Cube => "cube",
        Kind::Lists => "decision-lists",
        Kind::Real(name) => name,
    };
    Some(Figure {
        name: format!("s9-{slug}"),
        caption: format!(
            "Mistakes against the size of the pool, {kind}, d = {dim}: medians over trials. The strong learner labels 90 % of the points, the others all. A flat line means that the mistakes do not grow with n; where d lg n lies lower, a learner without a transform may still make fewer."
        ),
        x: Axis::log("points n"),
        y: Axis::log("mistakes"),
        layers,
    })
}

pub(super) fn weak_table(results: &Results<Configuration, Outcome>) -> Table {
    let columns = [
        "data",
        "d",
        "k",
        "pairs",
        "aligned runs",
        "runs succeeded",
        "with the printed cap",
        "pairs failed",
    ];
    let title = "Runs of the weak learner from random starts";
    let mut table = Table::new("s8-weak", title, &columns);
    for group in &results.groups {
        let Configuration::Weak { kind, dim, .. } = &group.configuration else { continue };
        let mut ks = Vec::new();
        let mut all: Vec<Run> = Vec::new();
        let (mut aligned, mut failed) = (0, 0);
        for outcome in &group.outcomes {
            let Outcome::Weak { k, runs } = outcome else {
                unreachable!("the outcome of another part")
            };
            ks.push(*k as f64);
            aligned += runs.iter().filter(|r| r.cosine >= 0.5 / (*k as f64).sqrt()).count();
            failed += usize::from(runs.iter().all(|r| !r.succeeded));
            all.extend(runs);
        }
        let share = |of: fn(&Run) -> bool| {
            let count = all.iter().filter(|r| of(r)).count();
            format!("{:.3}", count as f64 / all.len().max(1) as f64)
        };
        table.push(vec![
            kind.to_string(),
            if *dim > 0 { dim.to_string() } else { String::new() },
            median_text(&ks, 0),
            group.outcomes.len().to_string(),
            aligned.to_string(),
            share(|r| r.succeeded),
            share(|r| r.paper_succeeded),
            failed.to_string(),
        ]);
    }
    table
}

pub(super) fn reach_table(results: &Results<Configuration, Outcome>) -> Table {
    let columns =
        ["data", "points", "trials", "least labelled", "failed rounds", "rounds", "mistakes"];
    let title = "The strong learner at ε = 0.1, δ = 0.05; medians";
    let mut table = Table::new("s9-reach", title, &columns);
    for group in &results.groups {
        let Configuration::Reach { kind, points, .. } = &group.configuration else { continue };
        let (mut least, mut failed) = (1.0f64, 0);
        let (mut rounds_of, mut mistakes_of) = (Vec::new(), Vec::new());
        for outcome in &group.outcomes {
            if let Outcome::Reach { labelled, failed_rounds, mistakes, rounds } = outcome {
                least = least.min(*labelled);
                failed += failed_rounds;
                rounds_of.push(*rounds as f64);
                mistakes_of.push(*mistakes as f64);
            }
        }
        table.push(vec![
            kind.to_string(),
            points.to_string(),
            group.outcomes.len().to_string(),
            format!("{least:.3}"),
            failed.to_string(),
            median_text(&rounds_of, 1),
            median_text(&mistakes_of, 1),
        ]);
    }
    table
}

pub(super) fn growth_table(results: &Results<Configuration, Outcome>) -> Table {
    let columns =
        ["data", "d", "learner", "trials", "n", "mistakes", "per doubling / d", "95 % interval"];
    let title = "Mistakes at the largest n (medians), and growth";
    let mut table = Table::new("s9-growth", title, &columns);
    for group in &results.groups {
        let Configuration::Growth { kind, sizes, .. } = &group.configuration else { continue };
        let Some(dim) = dim(group) else { continue };
        for (name, _, of) in COUNTED {
            let last: Vec<f64> = group
                .outcomes
                .iter()
                .filter_map(|o| match o {
                    Outcome::Growth { counts, .. } => counts.last().map(|c| of(c) as f64),
                    _ => unreachable!("the outcome of another part"),
                })
                .collect();
            let slopes: Vec<f64> = group
                .outcomes
                .iter()
                .filter_map(|o| slope(o, of).map(|s| s / dim as f64))
                .collect();
            let [growth, interval] = mean_cells(&slopes, 3);
            table.push(vec![
                kind.to_string(),
                dim.to_string(),
                name.into(),
                group.outcomes.len().to_string(),
                sizes.last().map(ToString::to_string).unwrap_or_default(),
                median_text(&last, 1),
                growth,
                interval,
            ]);
        }
    }
    table
}

pub(super) fn copies_table(results: &Results<Configuration, Outcome>) -> Table {
    let columns =
        ["data", "d", "copies of a corner", "trials", "mistakes / d, mean", "95 % interval"];
    let title = "The strong learner from random starts on repeated corners of the cube";
    let mut table = Table::new("s9-copies", title, &columns);
    for group in &results.groups {
        let Configuration::Copies { kind, dim, copies, .. } = &group.configuration else {
            continue;
        };
        for (place, copies) in copies.iter().enumerate() {
            let of = |outcome: &Outcome| match outcome {
                Outcome::Copies { mistakes } => {
                    mistakes.get(place).map(|m| *m as f64 / *dim as f64)
                }
                _ => unreachable!("the outcome of another part"),
            };
            let shares: Vec<f64> = group.outcomes.iter().filter_map(of).collect();
            let [mean, interval] = mean_cells(&shares, 2);
            table.push(vec![
                kind.to_string(),
                dim.to_string(),
                copies.to_string(),
                shares.len().to_string(),
                mean,
                interval,
            ]);
        }
    }
    table
}
