//! Figures and tables.

use super::play::Run;
use super::workload::{
    Configuration, Outcome, PROVED, SHORT, SIZES, differences, drawn, power, proved_bounds,
    real_and_drawn,
};
use crate::experiments::common::*;

pub(super) fn figure(results: &Results<Configuration, Outcome>, dim: usize) -> Figure {
    let d = dim as f64;
    let mut layers = Vec::new();
    for group in groups_of(results, |c| *c == Configuration::Drawn { dim }) {
        let values = |of: fn(&(Run, f64)) -> f64| {
            let at = |i: usize| group.values(|o| of(&drawn(o)[i]) / d);
            SIZES.iter().enumerate().map(move |(i, e)| (power(*e), at(i))).collect::<Vec<_>>()
        };
        let random = values(|(_, random)| *random);
        let chosen = values(|(run, _)| run.total());
        layers.extend(mean_curve("the same update rule, in random order", Colour::Orange, random));
        layers.extend(mean_curve("Algorithm 1, which chooses the order", Colour::Blue, chosen));
    }
    Figure {
        name: format!("s11-huge-pools-d{dim}"),
        title: format!(
            "With a chosen order, more points cost hardly any additional mistakes (d = {dim})"
        ),
        caption: format!(
            "Mistakes per dimension until n uniform points on the sphere in R^{dim} are labelled, for n from 10^4 to 10^80. Means with 95 % intervals over runs simulated from their exact distribution. The mistakes of Algorithm 1 (an upper bound) grow like lnln n, those of the same update rule in random order like ln n."
        ),
        x: Axis::log("points n"),
        y: Axis::linear("mistakes / d"),
        layers,
    }
}

/// A sentence with the mistakes of both orders on the largest pool, and their growth from the smallest judged pool.
/// Returns `None` if a size is missing, or if the numbers do not support the title of the finding.
fn growth(group: &Group<Configuration, Outcome>, dim: usize) -> Option<String> {
    let first = SIZES.iter().position(|e| *e >= 10)?;
    let last = SIZES.len() - 1;
    let mean =
        |at: usize, of: fn(&(Run, f64)) -> f64| stats::mean(&group.values(|o| of(&drawn(o)[at])));
    let [few, many] = [mean(first, |(run, _)| run.total())?, mean(last, |(run, _)| run.total())?];
    let [less, more] = [mean(first, |r| r.1)?, mean(last, |r| r.1)?];
    (many / few < 2.0 && more / less > 4.0).then(|| {
        format!(
            "To label {} points in {dim} dimensions, a learner that may choose the next point makes at most {many:.0} mistakes on average. With the points in random order, the same rule makes {more:.0}. Compared with {} points, the first bound has grown by a factor of {:.1}, the second count by {:.1}.",
            power_text(SIZES[last]), power_text(SIZES[first]), many / few, more / less
        )
    })
}

/// The finding, for the first of `dims` that was run.
pub(super) fn finding(results: &Results<Configuration, Outcome>, dims: &[usize]) -> Finding {
    let shown = dims.iter().find_map(|dim| {
        let group = groups_of(results, |c| *c == Configuration::Drawn { dim: *dim });
        group.first().map(|group| (*dim, *group))
    });
    let dim = shown.map_or(0, |(dim, _)| dim);
    Finding {
        title: "If the learner chooses the next question, more data cost almost nothing".into(),
        text: shown.and_then(|(dim, group)| growth(group, dim)),
        figure: format!("s11-huge-pools-d{dim}"),
        claims: vec!["S11".into(), "S11r".into()],
    }
}

/// A setting, its dimension, and the position of a size in [`SIZES`].
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
        "Mean mistakes on n points; the column \"end\" is an upper bound",
        rows,
        &[
            ("d", &|(_, d, _)| d.to_string()),
            ("n", &|(_, _, at)| format!("10^{}", SIZES[*at])),
            ("trials", &|(g, _, _)| g.count()),
            ("k", &|(_, d, at)| SHORT.buckets(*d, power(SIZES[*at])).to_string()),
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
        let (_, drawn) = real_and_drawn(o);
        drawn.iter().map(of).sum::<f64>() / drawn.len() as f64
    };
    table(
        "s11-agreement",
        "Simulated runs and runs on points: means, and 95 % intervals of their differences",
        rows,
        &[
            ("d", &|(_, d, _)| d.to_string()),
            ("n", &|(_, _, n)| n.to_string()),
            ("trials", &|(g, _, _)| g.count()),
            ("in buckets, real", &|(g, _, _)| {
                mean_text(&g.values(|o| real_and_drawn(o).0.chains as f64), 2)
            }),
            ("in buckets, simulated", &|(g, _, _)| {
                mean_text(&g.values(|o| drawn_mean(o, |r| r.chains as f64)), 2)
            }),
            ("relative difference", &|(g, _, _)| {
                mean_cells(&g.values(|o| differences(o)[0]), 4)[1].clone()
            }),
            ("ln sin θ, real", &|(g, _, _)| {
                mean_text(&g.values(|o| real_and_drawn(o).0.log_sin), 3)
            }),
            ("ln sin θ, simulated", &|(g, _, _)| {
                mean_text(&g.values(|o| drawn_mean(o, |r| r.log_sin)), 3)
            }),
            ("difference", &|(g, _, _)| mean_cells(&g.values(|o| differences(o)[1]), 4)[1].clone()),
            ("end, real", &|(g, _, _)| mean_text(&g.values(|o| real_and_drawn(o).0.end), 2)),
            ("end, drawn at most", &|(g, _, _)| {
                mean_text(&g.values(|o| drawn_mean(o, |r| r.end)), 2)
            }),
        ],
    )
}

/// Runs with the proved length, and the bound on their mistakes.
pub(super) fn with_proved_length(results: &Results<Configuration, Outcome>) -> Table {
    let rows = results.groups.iter().flat_map(|g| match g.configuration {
        Configuration::Proved { dim, points } => {
            let sizes = proved_bounds(dim, points).into_iter().enumerate();
            sizes.map(|(at, (n, bound))| (g, dim, at, n, bound)).collect()
        }
        _ => Vec::new(),
    });
    type Row<'a> = (&'a Group<Configuration, Outcome>, usize, usize, f64, f64);
    let totals = |(g, _, at, ..): &Row<'_>| {
        g.values(|o| of_part!(o, Outcome::Proved(runs) => runs[*at].total()))
    };
    table(
        "s11-proved-length",
        "Algorithm 1 with its proved length, δ = 0.1: mistakes, and the bound that holds with probability 0.9",
        rows,
        &[
            ("d", &|(_, dim, ..): &Row<'_>| dim.to_string()),
            ("n", &|(.., n, _)| format!("{n:.0e}")),
            ("runs", &|(g, ..)| match g.configuration {
                Configuration::Proved { points: None, .. } => "simulated".into(),
                _ => "on points".into(),
            }),
            ("trials", &|(g, ..)| g.count()),
            ("k", &|(_, dim, _, n, _)| PROVED.buckets(*dim, *n).to_string()),
            ("mistakes, median", &|row| median_text(&totals(row), 0)),
            ("most", &|row| most_text(&totals(row), 0)),
            ("bound", &|(.., bound)| format!("{bound:.0}")),
        ],
    )
}
