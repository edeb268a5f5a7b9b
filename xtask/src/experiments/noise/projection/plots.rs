//! The figure and the tables.

use super::workload::{Configuration, DELTA, Kind, Outcome, Run, errors, shares};
use crate::experiments::common::{curve, median_text};
use halfspaces_eval::{Axis, Colour, Figure, Results, Table, stats};
use halfspaces_pac::projected_margin;

pub(super) fn figure(results: &Results<Configuration, Outcome>) -> Figure {
    let mut series: Vec<(String, Kind, usize)> = Vec::new();
    for group in &results.groups {
        if let Configuration::Margins { kind, dim, .. } = group.configuration {
            let name = format!("{kind}, d = {dim}");
            if !series.iter().any(|(other, ..)| *other == name) {
                series.push((name, kind, dim));
            }
        }
    }
    let colours = [
        Colour::Blue,
        Colour::Sky,
        Colour::Purple,
        Colour::Orange,
        Colour::Vermilion,
        Colour::Green,
    ];
    let mut layers = Vec::new();
    let mut level = None;
    for ((name, kind, dim), colour) in series.into_iter().zip(colours) {
        let mut data = Vec::new();
        for group in &results.groups {
            let Configuration::Margins { kind: k, dim: d, margin, .. } = group.configuration else {
                continue;
            };
            if (k, d) == (kind, dim) {
                level = Some(projected_margin(margin) / margin);
                let least = stats::quantile(&shares(group), DELTA);
                data.extend(least.map(|share| (group.configuration.projected() as f64, share)));
            }
        }
        layers.extend(curve(&name, colour, data));
    }
    let dims: Vec<f64> = results
        .groups
        .iter()
        .filter(|g| matches!(g.configuration, Configuration::Margins { .. }))
        .map(|g| g.configuration.projected() as f64)
        .collect();
    if let Some(level) = level {
        layers.extend(crate::experiments::common::bound_line(
            "γ/(2+γ), claimed at the largest m",
            &dims,
            |_| level,
        ));
    }
    Figure {
        name: "p12-margins".into(),
        caption: "Least margin over γ = 0.5 after projection of 20 points to m dimensions, 10 % quantile over projections, and the margin claimed for the largest m shown (dashed). It is kept in far fewer dimensions than claimed; a negative one means that some point changed sides.".into(),
        x: Axis::log("dimension m"),
        y: Axis::linear("margin kept / γ"),
        layers,
    }
}

pub(super) fn tables(results: &Results<Configuration, Outcome>) -> (Table, Table) {
    let columns = ["points", "d", "N", "γ", "m", "trials", "margin kept / γ", "least", "lost"];
    let mut margins = Table::new(
        "p12-margins",
        "Margins after projection: median and least over projections; lost where below γ/(2+γ). The claim is about the largest m of each d",
        &columns,
    );
    let columns = [
        "points",
        "run",
        "d",
        "examples",
        "γ",
        "η + ε",
        "m",
        "trials",
        "error",
        "worst",
        "error without projection",
    ];
    let mut learners = Table::new(
        "p12-learning",
        "The Perspectron behind a random projection and without it: median and worst error",
        &columns,
    );
    for group in &results.groups {
        let (m, trials) = (group.configuration.projected(), group.outcomes.len().to_string());
        match &group.configuration {
            Configuration::Margins { kind, dim, points, margin, .. } => {
                let shares = shares(group);
                let level = projected_margin(*margin) / margin;
                let least = shares.iter().copied().reduce(f64::min);
                margins.push(vec![
                    kind.to_string(),
                    dim.to_string(),
                    points.to_string(),
                    margin.to_string(),
                    m.to_string(),
                    trials,
                    median_text(&shares, 3),
                    least.map(|v| format!("{v:.3}")).unwrap_or_default(),
                    shares.iter().filter(|s| **s < level).count().to_string(),
                ]);
            }
            Configuration::Learn { kind, run, dim, points, margin, noise, excess } => {
                let (behind, plain) = errors(group);
                let worst = behind.iter().copied().reduce(f64::max);
                learners.push(vec![
                    kind.to_string(),
                    if *run == Run::Theorem { "theorem" } else { "one pass" }.into(),
                    dim.to_string(),
                    points.to_string(),
                    margin.to_string(),
                    format!("{:.1}", noise + excess),
                    m.to_string(),
                    trials,
                    median_text(&behind, 3),
                    worst.map(|v| format!("{v:.3}")).unwrap_or_default(),
                    median_text(&plain, 3),
                ]);
            }
        }
    }
    (margins, learners)
}
