//! The figure and the tables.

use super::workload::{Configuration, DELTA, Outcome, Run};
use crate::experiments::common::*;
use halfspaces_pac::projected_margin;

pub(super) fn figure(results: &Results<Configuration, Outcome>) -> Figure {
    const COLOURS: [Colour; 6] = [
        Colour::Blue,
        Colour::Sky,
        Colour::Purple,
        Colour::Orange,
        Colour::Vermilion,
        Colour::Green,
    ];
    let mut series: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
    let (mut dims, mut level) = (Vec::new(), None);
    for group in &results.groups {
        let Configuration::Margins { kind, dim, margin, .. } = group.configuration else {
            continue;
        };
        let (name, m) = (format!("{kind}, d = {dim}"), group.configuration.projected() as f64);
        if !series.iter().any(|(other, _)| *other == name) {
            series.push((name, Vec::new()));
        }
        let least = stats::quantile(&group.values(Outcome::share), DELTA);
        if let Some((_, data)) = series.last_mut() {
            data.extend(least.map(|share| (m, share)));
        }
        dims.push(m);
        level = Some(projected_margin(margin) / margin);
    }
    let series = series.into_iter().zip(COLOURS);
    let mut layers: Vec<Layer> =
        series.flat_map(|((name, data), colour)| curve(&name, colour, data)).collect();
    if let Some(level) = level {
        layers.extend(bound_line("γ/(2+γ), claimed at the largest m", &dims, |_| level));
    }
    Figure {
        name: "p12-margins".into(),
        title: "The margin survives in far fewer dimensions than the theorem needs".into(),
        caption: "Smallest margin, divided by γ = 0.5, after projection of 20 points to m dimensions: the 10 % quantile over projections, and the margin claimed for the largest m (dashed). This margin is kept in far fewer dimensions than claimed. A negative margin means that some point changed sides.".into(),
        x: Axis::log("dimension m"),
        y: Axis::linear("margin kept / γ"),
        layers,
    }
}

pub(super) fn margins_table(results: &Results<Configuration, Outcome>) -> Table {
    let rows = results.groups.iter().filter_map(|g| match g.configuration {
        Configuration::Margins { kind, dim, points, margin, .. } => {
            Some((kind, dim, points, margin, g))
        }
        Configuration::Learn { .. } => None,
    });
    let caption = "Margins after projection: median and smallest over projections, and the number of projections in which the margin falls below γ/(2+γ) and so is lost. The claim is about the largest m for each d";
    table(
        "p12-margins",
        caption,
        rows,
        &[
            ("points", &|(kind, ..)| kind.to_string()),
            ("d", &|(_, dim, ..)| dim.to_string()),
            ("N", &|(_, _, points, ..)| points.to_string()),
            ("γ", &|(.., margin, _)| margin.to_string()),
            ("m", &|(.., g)| g.configuration.projected().to_string()),
            ("trials", &|(.., g)| g.count()),
            ("margin kept / γ", &|(.., g)| g.median(3, Outcome::share)),
            ("least", &|(.., g)| g.least(3, Outcome::share)),
            ("lost", &|(.., margin, g)| {
                let level = projected_margin(*margin) / margin;
                g.outcomes.iter().filter(|o| o.share() < level).count().to_string()
            }),
        ],
    )
}

pub(super) fn learning_table(results: &Results<Configuration, Outcome>) -> Table {
    let rows = results.groups.iter().filter_map(|g| match g.configuration {
        Configuration::Learn { kind, run, dim, points, margin, noise, excess } => {
            Some((kind, run, dim, points, margin, noise + excess, g))
        }
        Configuration::Margins { .. } => None,
    });
    let caption = "The Perspectron with and without a random projection: median and largest error";
    table(
        "p12-learning",
        caption,
        rows,
        &[
            ("points", &|(kind, ..)| kind.to_string()),
            ("run", &|(_, run, ..)| {
                if *run == Run::Theorem { "theorem" } else { "one pass" }.into()
            }),
            ("d", &|(_, _, dim, ..)| dim.to_string()),
            ("examples", &|(_, _, _, points, ..)| points.to_string()),
            ("γ", &|(.., margin, _, _)| margin.to_string()),
            ("η + ε", &|(.., target, _)| format!("{target:.1}")),
            ("m", &|(.., g)| g.configuration.projected().to_string()),
            ("trials", &|(.., g)| g.count()),
            ("error", &|(.., g)| g.median(3, |o| o.errors().0)),
            ("worst", &|(.., g)| g.most(3, |o| o.errors().0)),
            ("error without projection", &|(.., g)| g.median(3, |o| o.errors().1)),
        ],
    )
}
