//! Figures and the table.

use super::workload::{Configuration, Outcome, PADDINGS, RULES, Task};
use crate::experiments::common::{median_text, most, spread_by_x};
use halfspaces_eval::{Axis, Figure, Layer, Results, Table};

/// The medians of the curves of the configurations that `mine` accepts.
fn median_curve(
    results: &Results<Configuration, Outcome>,
    mine: impl Fn(&Task) -> bool,
) -> Vec<(f64, f64)> {
    let pairs = results
        .outcomes()
        .filter(|(c, _)| mine(&c.task))
        .flat_map(|(_, o)| o.curve.iter().map(|(x, y)| (*x as f64, *y)))
        .collect();
    spread_by_x(pairs).iter().map(|(x, _, median, _)| (*x, *median)).collect()
}

pub(super) fn curves(results: &Results<Configuration, Outcome>) -> Figure {
    let mut layers = Vec::new();
    for (rule, colour) in RULES {
        let data = median_curve(results, |task| *task == Task::Curve { rule });
        let name = rule.to_string();
        let line = data.clone();
        layers.push(Layer::Line { name: name.clone(), colour, dashed: false, data: line });
        layers.push(Layer::Points { name, colour, data });
    }
    Figure {
        name: "p7-curves".into(),
        caption: "Average error of the iterates so far above opt_RCN + τ/2, against examples, each schedule with its own step and to the end of its own run: medians over models of three points searched to be hard, γ = 0.1, ε = 0.5 (smoke: 0.3 and 0.7). All fall at much the same pace; ours may stop sooner than CKST24 corrected. An error at or below the target is drawn at the lower edge.".into(),
        x: Axis::log("examples"),
        y: Axis::log("average error - target"),
        layers,
    }
}

pub(super) fn traps(results: &Results<Configuration, Outcome>) -> Figure {
    let mut layers = Vec::new();
    for (padding, colour) in PADDINGS {
        let data = median_curve(
            results,
            |task| matches!(task, Task::Trap { padding: mine, .. } if *mine == padding),
        );
        let name = format!("D = {padding}");
        let line = data.clone();
        layers.push(Layer::Line { name: name.clone(), colour, dashed: false, data: line });
        layers.push(Layer::Points { name, colour, data });
    }
    Figure {
        name: "p7-padding".into(),
        caption: TRAP_CAPTION.into(),
        x: Axis::log("steps of the run"),
        y: Axis::linear("average error of the iterates - opt_RCN"),
        layers,
    }
}

const TRAP_CAPTION: &str = "Average error of the iterates above opt_RCN on the trap, three points of the plane with γ = 0.1, against the length of the run, each denominator with the step of its own norm bound: medians. With max(a, 2γ) a longer run does not help; below 0 the noise is less than its limit.";

pub(super) fn by_configuration(results: &Results<Configuration, Outcome>) -> Table {
    let columns = [
        "learner",
        "model",
        "ε",
        "γ",
        "trials",
        "failures",
        "error - target, median",
        "largest",
        "examples",
    ];
    let title = "Fits judged: the target is opt_RCN + τ/2, a failure is more than ε above it";
    let mut table = Table::new("p7-fits", title, &columns);
    for group in &results.groups {
        let Configuration { task: Task::Fit { rule, source }, excess, margin } =
            &group.configuration
        else {
            continue;
        };
        let measured: Vec<f64> = group.outcomes.iter().map(|o| o.excess).collect();
        let largest = measured.iter().copied().reduce(f64::max);
        let examples: Vec<f64> = group.outcomes.iter().map(|o| o.examples as f64).collect();
        table.push(vec![
            rule.to_string(),
            source.to_string(),
            excess.to_string(),
            margin.to_string(),
            measured.len().to_string(),
            measured.iter().filter(|m| *m > excess).count().to_string(),
            median_text(&measured, 4),
            largest.map(|v| format!("{v:.4}")).unwrap_or_default(),
            format!("{:.0}", most(&examples)),
        ]);
    }
    table
}
