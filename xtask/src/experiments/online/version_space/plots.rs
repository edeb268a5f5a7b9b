//! Figures and the table.

use super::learners::{Configuration, LEARNERS};
use super::workload::{Family, Outcome, Play};
use crate::experiments::common::{median_text, most, spread_by_x};
use halfspaces_eval::{Axis, Figure, Layer, Results, Table, stats};

pub(super) fn figure(results: &Results<Configuration, Outcome>, family: &Family) -> Figure {
    let mut layers = Vec::new();
    for (learner, colour) in LEARNERS {
        let plays: Vec<&Play> = results
            .outcomes()
            .filter(|(c, _)| c.family == *family && c.learner == learner)
            .flat_map(|(_, o)| o)
            .collect();
        let nominal = |p: &Play| 2f64.powi(p.exponent as i32);
        let spread = spread_by_x(plays.iter().map(|p| (nominal(p), p.mistakes as f64)).collect());
        let bounds = plays.iter().filter_map(|p| Some((nominal(p), p.bound?)));
        let bound = spread_by_x(bounds.collect());
        let line: Vec<(f64, f64)> = spread.iter().map(|(x, _, m, _)| (*x, *m)).collect();
        let name = learner.to_string();
        layers.push(Layer::Line { name: name.clone(), colour, dashed: false, data: line.clone() });
        layers.push(Layer::Points { name: name.clone(), colour, data: line });
        if !bound.is_empty() {
            layers.push(Layer::Line {
                name: format!("its bound, {name}"),
                colour,
                dashed: true,
                data: bound.iter().map(|(x, _, m, _)| (*x, *m)).collect(),
            });
        }
    }
    let (name, caption, label) = match family {
        Family::Hard => (
            "k8-hard-family",
            "Mistakes on the hard family in the plane as the margin shrinks: medians over trials (solid) and each learner's bound (dashed). The perceptron follows its bound; the version-space learners pay a constant for each halving of γ, down to 2^-30.",
            "1/γ",
        ),
        Family::Split => (
            "k8-even-split",
            "Mistakes on the even split in the plane, where every learner must make lg(1/γ): medians over trials (solid) and each learner's bound (dashed).",
            "1/γ",
        ),
        Family::Lists | Family::Real(_) => (
            "k8-decision-lists",
            "Mistakes on decision lists of r rules, margin about 2^-r, dimension r + 1: medians over trials (solid) and each learner's bound (dashed).",
            "2^r",
        ),
    };
    Figure {
        name: name.into(),
        caption: caption.into(),
        x: Axis::log(label),
        y: Axis::log("mistakes"),
        layers,
    }
}

pub(super) fn by_exponent(results: &Results<Configuration, Outcome>) -> Table {
    let columns =
        ["family", "learner", "r", "d", "trials", "γ", "mistakes", "most", "bound", "worst ratio"];
    let mut table =
        Table::new("k8-version-space", "Medians over trials; extremes over all", &columns);
    for group in &results.groups {
        for (at, exponent) in group.configuration.exponents.iter().enumerate() {
            let plays: Vec<&Play> = group.outcomes.iter().filter_map(|o| o.get(at)).collect();
            let of = |f: fn(&Play) -> f64| -> Vec<f64> { plays.iter().map(|p| f(p)).collect() };
            let mistakes = of(|p| p.mistakes as f64);
            let bounds: Vec<f64> = plays.iter().filter_map(|p| p.bound).collect();
            let ratios: Vec<f64> = plays.iter().filter_map(|p| p.ratio()).collect();
            table.push(vec![
                group.configuration.family.to_string(),
                group.configuration.learner.to_string(),
                exponent.to_string(),
                plays.first().map(|p| p.dim.to_string()).unwrap_or_default(),
                plays.len().to_string(),
                stats::median(&of(|p| p.margin)).map(|m| format!("{m:.3e}")).unwrap_or_default(),
                median_text(&mistakes, 1),
                format!("{:.0}", most(&mistakes)),
                median_text(&bounds, 1),
                stats::median(&ratios).map(|_| format!("{:.4}", most(&ratios))).unwrap_or_default(),
            ]);
        }
    }
    table
}
