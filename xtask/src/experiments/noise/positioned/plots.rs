//! The figure, error against condition, and the tables.

use super::learners::LEARNERS;
use super::workload::{Configuration, Ground, Noise, Outcome};
use crate::experiments::common::*;

/// Error against the condition of Student-t points with far noise; `None` where one condition was planned.
pub(super) fn by_condition(results: &Results<Configuration, Outcome>) -> Option<Figure> {
    let mut points: Vec<(f64, &Vec<f64>, f64)> = Vec::new();
    for (configuration, outcome) in results.outcomes() {
        if let Configuration::Compare { ground: Ground::StudentT { condition, .. }, noise, .. } =
            configuration
            && let Outcome::Compare { errors, least, .. } = outcome
            && *noise == Noise::Far
        {
            points.push((*condition, errors, *least));
        }
    }
    let lowest = points.iter().map(|p| p.0).fold(f64::INFINITY, f64::min);
    if points.iter().all(|p| p.0 <= lowest) {
        return None;
    }
    let mut layers = Vec::new();
    for (i, entry) in LEARNERS.iter().enumerate() {
        if let Some(colour) = entry.colour {
            let pairs = points.iter().map(|(condition, errors, _)| (*condition, errors[i]));
            layers.extend(curve(entry.name, colour, medians(pairs.collect())));
        }
    }
    let least = medians(points.iter().map(|(condition, _, least)| (*condition, *least)).collect());
    layers.push(dashed("least possible", Colour::Ink, least));
    Some(Figure {
        name: "pm-condition".into(),
        caption: "Error, noise included, against the condition of the points: Student-t of one degree of freedom in ten dimensions, turned at random, labels flipped with probability 0.3 in the half farther from the boundary. Medians over samples.".into(),
        x: Axis::log("condition"),
        y: Axis::linear("error"),
        layers,
    })
}

pub(super) fn by_setting(results: &Results<Configuration, Outcome>) -> Table {
    let mut columns = vec!["points", "noise", "samples", "least possible"];
    columns.extend(LEARNERS.iter().map(|entry| entry.name));
    columns.extend(["rules", "converged", "bound"]);
    let title = "Error, noise included, η = 0.3, ε = 0.05: medians over samples. Rows are scaled to norm 1 but where columns are standardised. The bound is that of the positioned list, from the examples it held out, at δ = 0.05";
    let mut table = Table::new("pm-errors", title, &columns);
    for group in &results.groups {
        let Configuration::Compare { ground, noise, .. } = &group.configuration else { continue };
        let of = |f: &dyn Fn(&Outcome) -> Option<f64>| -> Vec<f64> {
            group.outcomes.iter().filter_map(f).collect()
        };
        let mut row = vec![ground.to_string(), noise.to_string(), group.outcomes.len().to_string()];
        row.push(median_text(&of(&|o| compared(o).map(|c| c.1)), 3));
        for i in 0..LEARNERS.len() {
            row.push(median_text(&of(&|o| compared(o).map(|c| c.0[i])), 3));
        }
        row.push(median_text(&of(&|o| compared(o).map(|c| c.2 as f64)), 0));
        let converged = of(&|o| compared(o).map(|c| f64::from(u8::from(c.3))));
        row.push(format!("{:.0}", converged.iter().sum::<f64>()));
        row.push(median_text(&of(&|o| compared(o).map(|c| c.4)), 3));
        table.push(row);
    }
    table
}

/// Errors, least error, rules, convergence and bound of a comparison.
fn compared(outcome: &Outcome) -> Option<(&[f64], f64, usize, bool, f64)> {
    match outcome {
        Outcome::Compare { errors, least, rules, converged, bound } => {
            Some((errors, *least, *rules, *converged, *bound))
        }
        Outcome::Theorem { .. } => None,
    }
}

pub(super) fn theorem_table(results: &Results<Configuration, Outcome>) -> Table {
    let columns = ["d", "condition", "η", "ε", "runs", "error", "worst rule / λ", "examples"];
    let title = "The theorem's own numbers, δ = 0.05: medians over runs";
    let mut table = Table::new("pm-theorem", title, &columns);
    for group in &results.groups {
        let Configuration::Theorem { dim, condition, rate, excess } = &group.configuration else {
            continue;
        };
        let of = |f: fn(f64, f64, u64) -> f64| -> Vec<f64> {
            let value = |outcome: &Outcome| match outcome {
                Outcome::Theorem { error, worst_rule, taken, .. } => f(*error, *worst_rule, *taken),
                Outcome::Compare { .. } => unreachable!("a run has the other outcome"),
            };
            group.outcomes.iter().map(value).collect()
        };
        table.push(vec![
            dim.to_string(),
            format!("{condition:e}"),
            rate.to_string(),
            excess.to_string(),
            group.outcomes.len().to_string(),
            median_text(&of(|error, _, _| error), 3),
            median_text(&of(|_, worst, _| worst), 3),
            median_text(&of(|_, _, taken| taken as f64), 0),
        ]);
    }
    table
}
