//! The figure of the error against the condition number, the finding and the tables.

use super::learners::{LEARNERS, POSITIONED};
use super::workload::{Configuration, Ground, Noise, Outcome};
use crate::experiments::common::*;

/// The figure of the error against the condition number of Student-t points, with noise far from the boundary; `None`
/// if only one condition number was planned.
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
            layers.extend(median_curve(entry.name, colour, pairs.collect()));
        }
    }
    let least = medians(points.iter().map(|(condition, _, least)| (*condition, *least)).collect());
    layers.push(dashed("least possible", Colour::Ink, least));
    Some(Figure {
        name: "pm-condition".into(),
        title: "Badly scaled points do not affect the positioned list".into(),
        caption: "Error, including label noise, against the condition number of the points, which are Student-t with one degree of freedom in ten dimensions and randomly rotated. Labels are flipped with probability 0.3 in the half of the points farther from the boundary. Medians over samples with 10 % and 90 % quantiles.".into(),
        x: Axis::log("condition number"),
        y: Axis::linear("error"),
        layers,
    })
}

/// The finding: the errors of the positioned list and of logistic regression at the smallest and the largest condition
/// number.
pub(super) fn finding(results: &Results<Configuration, Outcome>) -> Finding {
    let mut points: Vec<(f64, [f64; 3])> = Vec::new();
    let of = |name: &str| LEARNERS.iter().position(|entry| entry.name == name);
    let columns = of(POSITIONED).zip(of("logistic"));
    for (configuration, outcome) in results.outcomes() {
        if let Configuration::Compare { ground: Ground::StudentT { condition, .. }, noise, .. } =
            configuration
            && let Some((errors, least, ..)) = compared(outcome)
            && let Some((positioned, logistic)) = columns
            && *noise == Noise::Far
        {
            points.push((*condition, [errors[positioned], errors[logistic], least]));
        }
    }
    let low = points.iter().map(|p| p.0).reduce(f64::min);
    let high = points.iter().map(|p| p.0).reduce(f64::max);
    let at = |condition: f64, which: usize| {
        let mine = points.iter().filter(|p| p.0.total_cmp(&condition).is_eq());
        stats::median(&mine.map(|p| p.1[which]).collect::<Vec<_>>())
    };
    let text = low.zip(high).filter(|(low, high)| *low <= 1.0 && low < high).and_then(|(low, high)| {
        let [ours, ours_high] = [at(low, 0)?, at(high, 0)?];
        let [theirs, theirs_high] = [at(low, 1)?, at(high, 1)?];
        // There is no text unless the numbers support the title.
        (ours_high - ours < 0.02 && theirs_high > ours_high + 0.05).then_some(format!(
            "On isotropic data, logistic regression gets {:.1} % of the labels wrong; on data whose longest axis is {} times as long as the shortest, it gets {:.1} % wrong. The learner that first changes the coordinates gets {:.1} % and {:.1} % wrong; the smallest possible error is {:.1} %.",
            100.0 * theirs,
            power_text(high.log10().round() as i32),
            100.0 * theirs_high,
            100.0 * ours,
            100.0 * ours_high,
            100.0 * at(high, 2)?,
        ))
    });
    Finding {
        title: "After a change of coordinates, badly scaled data do no harm".into(),
        text,
        figure: "pm-condition".into(),
        claims: vec!["PM".into(), "PMn".into()],
    }
}

pub(super) fn by_setting(results: &Results<Configuration, Outcome>) -> Table {
    let mut columns = vec!["points", "noise", "samples", "least possible"];
    columns.extend(LEARNERS.iter().map(|entry| entry.name));
    columns.extend(["rules", "converged", "bound"]);
    let title = "Error, including label noise, η = 0.3, ε = 0.05: medians over samples. The rivals are given rows scaled to norm 1, unless their columns are standardised. The bound is the error bound of the positioned list from its hold-out, at δ = 0.05";
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

/// The errors, the smallest possible error, the number of rules, whether the fit converged, and the bound; `None` if
/// the outcome is not that of a comparison.
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
    let title = "The theorem's schedule, δ = 0.05: medians over runs";
    let mut table = Table::new("pm-theorem", title, &columns);
    for group in &results.groups {
        let Configuration::Theorem { dim, condition, rate, excess } = &group.configuration else {
            continue;
        };
        let of = |f: fn(f64, f64, u64) -> f64| -> Vec<f64> {
            let value = |outcome: &Outcome| match outcome {
                Outcome::Theorem { error, worst_rule, taken, .. } => f(*error, *worst_rule, *taken),
                Outcome::Compare { .. } => {
                    unreachable!("a run of the theorem has the outcome `Theorem`")
                }
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
