//! Samples needed, figures and tables.

use super::learners::{Entry, LEARNERS, curve_of};
use super::workload::{Configuration, Outcome, Strategy};
use crate::experiments::common::*;

/// Margin and ε of the curves that are drawn, and at which the other is varied.
pub(super) const SHOWN_MARGIN: f64 = 0.15;
pub(super) const SHOWN_EXCESS: f64 = 0.1;

/// The least of the sizes from which on no error is above `level`.
pub(super) fn needed(sizes: &[usize], errors: &[f64], level: f64) -> Option<usize> {
    let good = errors.iter().rev().take_while(|e| **e <= level).count();
    sizes.get(errors.len().checked_sub(good)?).copied()
}

/// The upper median of samples needed over trials; `None` if it is beyond the largest sample.
pub(super) fn median_needed(
    group: &Group<Configuration, Outcome>,
    learner: usize,
    excess: f64,
) -> Option<usize> {
    let Configuration { noise, sizes, .. } = &group.configuration;
    let curve = curve_of(&group.configuration, learner, excess)?;
    let of = |o: &Outcome| {
        // Beyond the largest sample sorts last.
        needed(sizes, &o.errors[curve], noise + excess).unwrap_or(usize::MAX)
    };
    let mut counts: Vec<usize> = group.outcomes.iter().map(of).collect();
    counts.sort_unstable();
    counts.get(counts.len() / 2).copied().filter(|n| *n < usize::MAX)
}

/// Error against samples, all learners, at one margin.
pub(super) fn figure(
    results: &Results<Configuration, Outcome>,
    name: &str,
    strategy: Strategy,
    what: &str,
) -> Option<Figure> {
    let shown = |margin: f64| strategy == Strategy::Trap || (margin - SHOWN_MARGIN).abs() < 1e-9;
    let groups = groups_of(results, |c| c.strategy == strategy && shown(c.margin));
    let group = groups.first()?;
    let Configuration { noise, sizes, .. } = &group.configuration;
    let mut layers = Vec::new();
    for (learner, entry) in LEARNERS.iter().enumerate() {
        let Entry { name, colour, .. } = *entry;
        let curve = curve_of(&group.configuration, learner, SHOWN_EXCESS)?;
        let at = |(i, n): (usize, &usize)| {
            let errors = group.values(|o| o.errors.get(curve)?.get(i).copied());
            Some((*n as f64, stats::mean(&errors)?))
        };
        let data: Vec<(f64, f64)> = sizes.iter().enumerate().filter_map(at).collect();
        let line = if entry.dashed { dashed } else { line };
        layers.extend([line(name, colour, data.clone()), points(name, colour, data)]);
    }
    let ends = sizes.first().into_iter().chain(sizes.last());
    let level = ends.map(|n| (*n as f64, noise + SHOWN_EXCESS)).collect();
    layers.push(dashed("η + ε", Colour::Ink, level));
    Some(Figure {
        name: format!("p10-{name}"),
        caption: format!(
            "{what}: error against samples, means over trials, and η + ε for ε = {SHOWN_EXCESS} (dashed). That is what the learners that are told ε aim at; the cutting plane stops there."
        ),
        x: Axis::log("samples n"),
        y: Axis::linear("error"),
        layers,
    })
}

fn rate(entry: &Entry) -> String {
    entry.rate.unwrap_or("none").into()
}

pub(super) fn samples_needed(results: &Results<Configuration, Outcome>, excess: f64) -> Table {
    let groups = groups_of(results, |c| c.excesses.iter().any(|e| (e - excess).abs() < 1e-9));
    let mut columns = vec!["learner".to_owned(), "Table 1".to_owned()];
    columns.extend(groups.iter().map(|g| g.configuration.name()));
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let mut table = Table::new(
        &format!("p10-needed-{excess}"),
        &format!(
            "Samples needed for η + ε, ε = {excess}: medians over trials; \"> n\" where more than the largest sample. Noise: RCN, or Massart\'s on far points, adaptive, or on the trap"
        ),
        &columns,
    );
    for (learner, entry) in LEARNERS.iter().enumerate() {
        let mut row = vec![entry.name.into(), rate(entry)];
        row.extend(groups.iter().map(|group| match median_needed(group, learner, excess) {
            _ if group.outcomes.is_empty() => String::new(),
            Some(n) => n.to_string(),
            None => format!("> {}", group.configuration.largest()),
        }));
        table.push(row);
    }
    table
}

/// Slopes of ln(samples needed) in ln(1/ε) and ln(1/γ).
pub(super) fn exponents(results: &Results<Configuration, Outcome>) -> Table {
    let samples = |learner: usize, strategy: Strategy| {
        let groups = groups_of(results, |c| c.strategy == strategy);
        groups.into_iter().flat_map(move |group| {
            let Configuration { margin, excesses, .. } = &group.configuration;
            let needed = move |excess| median_needed(group, learner, excess).map(|n| n as f64);
            excesses.iter().map(move |excess| (*excess, *margin, needed(*excess)))
        })
    };
    let in_excess = |learner: &usize, strategy| {
        let shown = samples(*learner, strategy)
            .filter(|(_, margin, _)| (margin - SHOWN_MARGIN).abs() < 1e-9);
        exponent(&shown.map(|(excess, _, samples)| (excess, samples)).collect::<Vec<_>>())
    };
    let in_margin = |learner: &usize, strategy| {
        let shown =
            samples(*learner, strategy).filter(|(excess, ..)| (excess - SHOWN_EXCESS).abs() < 1e-9);
        exponent(&shown.map(|(_, margin, samples)| (margin, samples)).collect::<Vec<_>>())
    };
    let caption = "Fitted exponents of samples needed (medians, sample sizes that double, so ± 0.5): in 1/ε at γ = 0.15, in 1/γ at ε = 0.1";
    table(
        "p10-exponents",
        caption,
        LEARNERS.iter().enumerate(),
        &[
            ("learner", &|(_, entry)| entry.name.into()),
            ("Table 1", &|(_, entry)| rate(entry)),
            ("1/ε, RCN", &|(learner, _)| in_excess(learner, Strategy::Rcn)),
            ("1/γ, RCN", &|(learner, _)| in_margin(learner, Strategy::Rcn)),
            ("1/ε, adaptive", &|(learner, _)| in_excess(learner, Strategy::LeastSquares)),
            ("1/γ, adaptive", &|(learner, _)| in_margin(learner, Strategy::LeastSquares)),
        ],
    )
}

/// Minus the slope of ln y in ln x, if every y is known.
pub(super) fn exponent(pairs: &[(f64, Option<f64>)]) -> String {
    let x: Vec<f64> = pairs.iter().map(|(x, _)| -x.ln()).collect();
    let y: Option<Vec<f64>> = pairs.iter().map(|(_, y)| y.map(f64::ln)).collect();
    let slope = y.and_then(|y| stats::slope(&x, &y));
    slope.map_or_else(String::new, |s| format!("{s:.1}"))
}

pub(super) fn bounds(results: &Results<Configuration, Outcome>) -> Table {
    let mut columns = vec!["d", "η", "γ", "ε"];
    let proved = || LEARNERS.iter().filter(|entry| entry.rate.is_some());
    columns.extend(proved().map(|entry| entry.name));
    let caption = "Samples the theorems ask for at δ = 0.1; DDK+23's holds under RCN only";
    let mut table = Table::new("p10-bounds", caption, &columns);
    for group in &results.groups {
        let setting = &group.configuration;
        for excess in &setting.excesses {
            let mut row = vec![
                setting.strategy.dim().to_string(),
                setting.noise.to_string(),
                setting.margin.to_string(),
                excess.to_string(),
            ];
            if table.rows().iter().any(|other| other.starts_with(&row)) {
                continue;
            }
            row.extend(proved().map(|entry| {
                let bound = entry.examples(setting, *excess);
                bound.map_or("none".to_owned(), |n| format!("{n:.1e}"))
            }));
            table.push(row);
        }
    }
    table
}
