//! Figures and tables.

use super::exponents::needs;
use super::workload::{CURVE, Configuration, Judged, MARGINS, Outcome, RATE, Task, mean_bound};
use crate::experiments::common::{bound_line, median_text, medians};
use crate::noisy::Noise;
use halfspaces_eval::{Axis, Colour, Figure, Group, Layer, Table};

/// Excess against steps, one figure for RCN and one for Massart noise.
pub(super) fn curve_figures(groups: &[&Group<Configuration, Outcome>]) -> Vec<Figure> {
    const COLOURS: [Colour; 5] =
        [Colour::Sky, Colour::Blue, Colour::Green, Colour::Orange, Colour::Vermilion];
    let figure = |group: &&Group<Configuration, Outcome>| {
        let mut layers = Vec::new();
        let mut steps = Vec::new();
        for (index, (margin, colour)) in MARGINS.iter().zip(COLOURS).enumerate() {
            let pairs: Vec<(f64, f64)> = group
                .outcomes
                .iter()
                .filter_map(|o| if let Outcome::Curves(c) = o { c.get(index) } else { None })
                .flatten()
                .map(|&(t, e)| (t as f64, e))
                .collect();
            steps.extend(pairs.iter().map(|(t, _)| *t));
            let line = medians(pairs);
            let name = format!("γ = {margin}");

            let data = line.clone();
            layers.push(Layer::Line { name: name.clone(), colour, dashed: false, data });
            layers.push(Layer::Points { name, colour, data: line });
        }
        let least = MARGINS.into_iter().fold(f64::INFINITY, f64::min);
        let theorem = |t: f64| mean_bound(least, t);
        layers.extend(bound_line("bound for γ = 0.1", &steps, theorem));
        let noise = if group.configuration.noise == Noise::Rcn { "rcn" } else { "massart" };
        Figure {
            name: format!("p4-{noise}-{}", group.configuration.terrain),
            caption: format!(
                "Mean error of the iterates of one run beyond η = {RATE} against its steps, {} ({}): medians over trials, each run with the step size for its length. The dashed line is (1-η)/(γ√T), the bound on the expectation for the least margin. An error at or below η is drawn at the lower edge.",
                group.configuration.noise, group.configuration.terrain
            ),
            x: Axis::log("steps T"),
            y: Axis::log("mean error - η"),
            layers,
        }
    };
    groups.iter().map(figure).collect()
}

pub(super) fn fit_table(groups: &[&Group<Configuration, Outcome>]) -> Table {
    let columns = [
        "points",
        "noise",
        "trials",
        "excess, all iterates",
        "excess, thinned",
        "difference",
        "candidates, all",
        "thinned",
        "inner products, all",
        "thinned",
    ];
    let caption = "Theorem 3 as printed against thinned selection, ε = γ = 0.2, δ = 0.1, η = 0.3: medians over trials of error - η; the difference is thinned minus all, trial by trial";
    let mut table = Table::new("p8-selection", caption, &columns);
    for group in groups {
        let pairs: Vec<(&Judged, &Judged)> =
            group.outcomes.iter().filter_map(Outcome::theorem).collect();
        let of = |f: fn(&Judged) -> f64, second: bool| -> Vec<f64> {
            pairs.iter().map(|(full, thin)| f(if second { thin } else { full })).collect()
        };
        let products = |j: &Judged| j.training as f64 + j.candidates as f64 * j.validation as f64;
        let difference: Vec<f64> = pairs.iter().map(|(a, b)| b.excess - a.excess).collect();
        table.push(vec![
            group.configuration.terrain.to_string(),
            group.configuration.noise.to_string(),
            pairs.len().to_string(),
            median_text(&of(|j| j.excess, false), 4),
            median_text(&of(|j| j.excess, true), 4),
            median_text(&difference, 4),
            median_text(&of(|j| j.candidates as f64, false), 0),
            median_text(&of(|j| j.candidates as f64, true), 0),
            median_text(&of(products, false), 0),
            median_text(&of(products, true), 0),
        ]);
    }
    table
}

pub(super) fn grid_table(
    grids: &[&Group<Configuration, Outcome>],
    searches: &[&Group<Configuration, Outcome>],
) -> Table {
    let columns = ["unknown", "η", "trials", "error - η", "guess chosen", "grid as printed"];
    let caption = "Unknown noise rate (ε = 0.25, γ = 0.3) and unknown margin (ε = γ = 0.2): medians over trials; the guess is of η or of γ";
    let mut table = Table::new("p6-unknown", caption, &columns);
    for group in grids {
        let Task::Grid { rate } = group.configuration.task else { continue };
        let of = |f: fn(&Outcome) -> Option<f64>| -> Vec<f64> {
            group.outcomes.iter().filter_map(f).collect()
        };
        let excess =
            of(
                |o| {
                    if let Outcome::Grid { corrected, .. } = o {
                        Some(corrected.excess)
                    } else {
                        None
                    }
                },
            );
        let guess = of(|o| if let Outcome::Grid { rate, .. } = o { Some(*rate) } else { None });
        let paper =
            of(|o| if let Outcome::Grid { paper, .. } = o { Some(paper.excess) } else { None });
        table.push(vec![
            "η".into(),
            rate.to_string(),
            excess.len().to_string(),
            median_text(&excess, 4),
            median_text(&guess, 3),
            median_text(&paper, 4),
        ]);
    }
    for group in searches {
        let of = |f: fn(&Outcome) -> Option<f64>| -> Vec<f64> {
            group.outcomes.iter().filter_map(f).collect()
        };
        let excess =
            of(|o| if let Outcome::Search { fit, .. } = o { Some(fit.excess) } else { None });
        let guess =
            of(|o| if let Outcome::Search { margin, .. } = o { Some(*margin) } else { None });
        table.push(vec![
            "γ".into(),
            RATE.to_string(),
            excess.len().to_string(),
            median_text(&excess, 4),
            median_text(&guess, 3),
            String::new(),
        ]);
    }
    table
}

pub(super) fn needs_table(groups: &[&Group<Configuration, Outcome>]) -> Table {
    let columns = [
        "points",
        "noise",
        "trials",
        "exponent in 1/ε",
        "exponent in 1/γ",
        "mean error - η",
        "bound",
    ];
    let caption = format!(
        "Exponents of the steps until the mean error of the iterates is η + ε, and that error at γ = 0.1 after 2^{} steps against its bound: medians over trials. No exponents where the error falls below η.",
        CURVE.2
    );
    let mut table = Table::new("p4-exponents", &caption, &columns);
    for group in groups {
        let curves: Vec<&Vec<Vec<(u64, f64)>>> = group
            .outcomes
            .iter()
            .filter_map(|o| if let Outcome::Curves(c) = o { Some(c) } else { None })
            .collect();
        let both: Vec<(f64, f64)> = curves.iter().filter_map(|c| needs(c)).collect();
        let last: Vec<f64> = curves.iter().filter_map(|c| Some(c.last()?.last()?.1)).collect();
        table.push(vec![
            group.configuration.terrain.to_string(),
            group.configuration.noise.to_string(),
            curves.len().to_string(),
            median_text(&both.iter().map(|b| b.0).collect::<Vec<_>>(), 2),
            median_text(&both.iter().map(|b| b.1).collect::<Vec<_>>(), 2),
            median_text(&last, 4),
            format!("{:.4}", mean_bound(0.1, 2f64.powi(CURVE.2 as i32))),
        ]);
    }
    table
}
