//! Figures and tables.

use super::play::buckets;
use super::workload::{Configuration, FACTOR, Outcome, SIZES, beside, differences, drawn, power};
use crate::experiments::common::*;

/// Means over the trials of one setting, at each of the sizes.
fn means(group: &Group<Configuration, Outcome>, of: impl Fn(&Outcome, usize) -> f64) -> Vec<f64> {
    let at = |i: usize| stats::mean(&group.values(|o| of(o, i)));
    (0..SIZES.len()).filter_map(at).collect()
}

pub(super) fn figure(results: &Results<Configuration, Outcome>, dim: usize) -> Figure {
    let d = dim as f64;
    let mut layers = Vec::new();
    for group in groups_of(results, |c| *c == Configuration::Drawn { dim }) {
        let line = |of: &dyn Fn(&Outcome, usize) -> f64| -> Vec<(f64, f64)> {
            let n = SIZES.iter().map(|e| f64::from(*e));
            n.zip(means(group, of)).collect()
        };
        let random = line(&|o, i| drawn(o)[i].1 / d);
        let chosen = line(&|o, i| drawn(o)[i].0.total() / d);
        layers.extend(curve("its update, random order", Colour::Sky, random));
        layers.extend(curve("Algorithm 1", Colour::Ink, chosen));
    }
    Figure {
        name: format!("s11-huge-pools-d{dim}"),
        caption: format!(
            "Who chooses the order hardly pays for more points. Mistakes per dimension until n uniform points of the sphere in R^{dim} are labelled, n from 10^4 to 10^80, means over runs drawn exactly in law: Algorithm 1 grows with lnln n, its own update on points as they come with ln n."
        ),
        x: Axis::linear("log10 of the points n"),
        y: Axis::linear("mistakes / d"),
        layers,
    }
}

/// One size in one setting.
type Row<'a> = (&'a Group<Configuration, Outcome>, usize, usize);

pub(super) fn by_size(results: &Results<Configuration, Outcome>) -> Table {
    let mut rows: Vec<Row<'_>> = Vec::new();
    for group in &results.groups {
        if let Configuration::Drawn { dim } = group.configuration {
            rows.extend((0..SIZES.len()).map(|at| (group, dim, at)));
        }
    }
    let mean = |(group, _, at): &Row<'_>, digits: usize, of: &dyn Fn(&Outcome, usize) -> f64| {
        mean_text(&group.values(|o| of(o, *at)), digits)
    };
    table(
        "s11-huge-pools",
        "Mistakes on n points, means; the end counts at least as many as are made",
        rows,
        &[
            ("d", &|(_, d, _)| d.to_string()),
            ("n", &|(_, _, at)| format!("10^{}", SIZES[*at])),
            ("trials", &|(g, _, _)| g.count()),
            ("k", &|(_, d, at)| buckets(FACTOR, *d, power(SIZES[*at])).to_string()),
            ("start", &|r| mean(r, 1, &|o, at| drawn(o)[at].0.start as f64)),
            ("chains", &|r| mean(r, 1, &|o, at| drawn(o)[at].0.chains as f64)),
            ("end", &|r| mean(r, 2, &|o, at| drawn(o)[at].0.end)),
            ("Algorithm 1", &|r| mean(r, 1, &|o, at| drawn(o)[at].0.total())),
            ("random order", &|r| mean(r, 1, &|o, at| drawn(o)[at].1)),
            ("Algorithm 1 / (d lnln n)", &|r| {
                let unit = r.1 as f64 * power(SIZES[r.2]).ln().ln();
                mean(r, 2, &|o, at| drawn(o)[at].0.total() / unit)
            }),
            ("random order / (d ln n)", &|r| {
                let unit = r.1 as f64 * power(SIZES[r.2]).ln();
                mean(r, 2, &|o, at| drawn(o)[at].1 / unit)
            }),
        ],
    )
}

pub(super) fn agreement(results: &Results<Configuration, Outcome>) -> Table {
    let mut rows = Vec::new();
    for group in &results.groups {
        if let Configuration::Real { dim, points } = group.configuration {
            rows.push((group, dim, points));
        }
    }
    let drawn_mean = |o: &Outcome, of: fn(&super::play::Run) -> f64| {
        let (_, drawn) = beside(o);
        drawn.iter().map(of).sum::<f64>() / drawn.len() as f64
    };
    table(
        "s11-agreement",
        "Runs drawn in law beside runs on points: means, and 95 % intervals of their differences",
        rows,
        &[
            ("d", &|(_, d, _)| d.to_string()),
            ("n", &|(_, _, n)| n.to_string()),
            ("trials", &|(g, _, _)| g.count()),
            ("in buckets, real", &|(g, _, _)| {
                mean_text(&g.values(|o| beside(o).0.chains as f64), 2)
            }),
            ("in buckets, drawn", &|(g, _, _)| {
                mean_text(&g.values(|o| drawn_mean(o, |r| r.chains as f64)), 2)
            }),
            ("relative difference", &|(g, _, _)| {
                mean_cells(&g.values(|o| differences(o)[0]), 4)[1].clone()
            }),
            ("ln sin θ, real", &|(g, _, _)| mean_text(&g.values(|o| beside(o).0.log_sin), 3)),
            ("ln sin θ, drawn", &|(g, _, _)| {
                mean_text(&g.values(|o| drawn_mean(o, |r| r.log_sin)), 3)
            }),
            ("difference", &|(g, _, _)| mean_cells(&g.values(|o| differences(o)[1]), 4)[1].clone()),
            ("end, real", &|(g, _, _)| mean_text(&g.values(|o| beside(o).0.end), 2)),
            ("end, drawn at most", &|(g, _, _)| {
                mean_text(&g.values(|o| drawn_mean(o, |r| r.end)), 2)
            }),
        ],
    )
}
