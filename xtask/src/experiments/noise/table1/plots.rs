//! Samples needed, figures and tables.

use super::learners::{Entry, LEARNERS, curve};
use super::workload::{Configuration, Outcome, Strategy};
use halfspaces_eval::{Axis, Colour, Figure, Group, Layer, Results, Table, stats};

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
    let curve = curve(&group.configuration, learner, excess)?;
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
    let group = results
        .groups
        .iter()
        .find(|g| g.configuration.strategy == strategy && shown(g.configuration.margin))?;
    let Configuration { noise, sizes, .. } = &group.configuration;
    let mut layers = Vec::new();
    for (learner, entry) in LEARNERS.iter().enumerate() {
        let Entry { name, colour, dashed, .. } = *entry;
        let curve = curve(&group.configuration, learner, SHOWN_EXCESS)?;
        let at = |i: usize| -> Option<(f64, f64)> {
            let errors: Vec<f64> = group
                .outcomes
                .iter()
                .filter_map(|o| o.errors.get(curve)?.get(i).copied())
                .collect();
            Some((*sizes.get(i)? as f64, stats::mean(&errors)?))
        };
        let data: Vec<(f64, f64)> = (0..sizes.len()).filter_map(at).collect();
        let name = name.to_owned();
        layers.push(Layer::Line { name: name.clone(), colour, dashed, data: data.clone() });
        layers.push(Layer::Points { name, colour, data });
    }
    let level = noise + SHOWN_EXCESS;
    let ends = sizes.first().into_iter().chain(sizes.last());
    layers.push(Layer::Line {
        name: "η + ε".into(),
        colour: Colour::Ink,
        dashed: true,
        data: ends.map(|n| (*n as f64, level)).collect(),
    });
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

fn name_and_rate(entry: &Entry) -> Vec<String> {
    vec![entry.name.to_owned(), entry.rate.unwrap_or("none").to_owned()]
}

pub(super) fn samples_needed(results: &Results<Configuration, Outcome>, excess: f64) -> Table {
    let mine = |g: &&Group<Configuration, Outcome>| {
        g.configuration.excesses.iter().any(|e| (e - excess).abs() < 1e-9)
    };
    let groups: Vec<_> = results.groups.iter().filter(mine).collect();
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
        let mut row = name_and_rate(entry);
        for group in &groups {
            row.push(match median_needed(group, learner, excess) {
                _ if group.outcomes.is_empty() => String::new(),
                Some(n) => n.to_string(),
                None => format!("> {}", group.configuration.largest()),
            });
        }
        table.push(row);
    }
    table
}

/// Slopes of ln(samples needed) in ln(1/ε) and ln(1/γ).
pub(super) fn exponents(results: &Results<Configuration, Outcome>) -> Table {
    let mut table = Table::new(
        "p10-exponents",
        "Fitted exponents of samples needed (medians, sample sizes that double, so ± 0.5): in 1/ε at γ = 0.15, in 1/γ at ε = 0.1",
        &["learner", "Table 1", "1/ε, RCN", "1/γ, RCN", "1/ε, adaptive", "1/γ, adaptive"],
    );
    for (learner, entry) in LEARNERS.iter().enumerate() {
        let mut row = name_and_rate(entry);
        for strategy in [Strategy::Rcn, Strategy::LeastSquares] {
            let (mut in_excess, mut in_margin) = (Vec::new(), Vec::new());
            for group in results.groups.iter().filter(|g| g.configuration.strategy == strategy) {
                let Configuration { margin, excesses, .. } = &group.configuration;
                for excess in excesses {
                    let samples = median_needed(group, learner, *excess).map(|n| n as f64);
                    if (margin - SHOWN_MARGIN).abs() < 1e-9 {
                        in_excess.push((*excess, samples));
                    }
                    if (excess - SHOWN_EXCESS).abs() < 1e-9 {
                        in_margin.push((*margin, samples));
                    }
                }
            }
            row.push(exponent(&in_excess));
            row.push(exponent(&in_margin));
        }
        table.push(row);
    }
    table
}

/// Minus the slope of ln y in ln x, if every y is known.
pub(super) fn exponent(pairs: &[(f64, Option<f64>)]) -> String {
    let x: Vec<f64> = pairs.iter().map(|(x, _)| -x.ln()).collect();
    let y: Option<Vec<f64>> = pairs.iter().map(|(_, y)| y.map(f64::ln)).collect();
    let slope = y.and_then(|y| stats::slope(&x, &y));
    slope.map(|s| format!("{s:.1}")).unwrap_or_default()
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
