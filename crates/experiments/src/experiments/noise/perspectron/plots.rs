//! Figures and tables.

use super::exponents::needs;
use super::workload::{
    CURVE, Configuration, JUDGED_RATE, Judged, MARGINS, Outcome, RATE, Task, mean_bound,
};
use crate::experiments::common::*;
use crate::noisy::Noise;

/// The excess against the number of steps, one figure for each setting.
pub(super) fn curve_figures(groups: &[&Group<Configuration, Outcome>]) -> Vec<Figure> {
    const COLOURS: [Colour; 5] =
        [Colour::Sky, Colour::Blue, Colour::Green, Colour::Orange, Colour::Vermilion];
    let figure = |group: &&Group<Configuration, Outcome>| {
        let mut layers = Vec::new();
        let mut steps = Vec::new();
        for (index, (margin, colour)) in MARGINS.iter().zip(COLOURS).enumerate() {
            let curves = group.outcomes.iter().filter_map(|o| o.curves().get(index));
            let pairs: Vec<(f64, f64)> = curves.flatten().map(|&(t, e)| (t as f64, e)).collect();
            steps.extend(pairs.iter().map(|(t, _)| *t));
            layers.extend(median_curve(&format!("γ = {margin}"), colour, pairs));
        }
        let least = MARGINS.into_iter().fold(f64::INFINITY, f64::min);
        let theorem = |t: f64| mean_bound(least, t);
        layers.extend(bound_line("bound for γ = 0.1", &steps, theorem));
        let noise = if group.configuration.noise == Noise::Rcn { "rcn" } else { "massart" };
        Figure {
            name: format!("p4-{noise}-{}", group.configuration.terrain),
            title: format!(
                "{} ({}, {})",
                curve_title(group),
                group.configuration.noise,
                group.configuration.terrain
            ),
            caption: format!(
                "Mean error of the iterates of one run, minus η = {RATE}, against the number of steps; noise: {}, points: {}. Medians over trials with 10 % and 90 % quantiles; each run has the step size for its length. The dashed line is (1-η)/(γ√T), the bound on the expectation for the smallest margin. An error at or below η is drawn at the lower edge.",
                group.configuration.noise, group.configuration.terrain
            ),
            x: Axis::log("steps T"),
            y: Axis::log("mean error - η"),
            layers,
        }
    };
    groups.iter().map(figure).collect()
}

/// The title of a figure. The title depends on whether the error is ever above η, and on whether it is above η at the
/// end.
fn curve_title(group: &Group<Configuration, Outcome>) -> String {
    let curves = group.outcomes.iter().flat_map(Outcome::curves);
    let (mut ever, mut at_the_end) = (false, false);
    for curve in curves {
        ever |= curve.iter().any(|(_, excess)| *excess > 0.0);
        at_the_end |= curve.last().is_some_and(|(_, excess)| *excess > 0.0);
    }
    match (ever, at_the_end) {
        (_, true) => "The error falls with the number of steps and stays below the theorem's bound",
        (true, false) => "The error falls below η long before the theorem guarantees it",
        (false, false) => "Here the error is below η at every length",
    }
    .into()
}

pub(super) fn fit_table(groups: &[&Group<Configuration, Outcome>]) -> Table {
    let products = |j: &Judged| j.training as f64 + j.candidates as f64 * j.validation as f64;
    let caption = "Theorem 3 as printed and thinned selection, η = ε = 0.1, γ = 0.2, δ = 0.1: medians over trials of the excess, error - η. The null is the sum of 20 labelled examples. The difference in a trial is the excess of thinned selection minus that of all iterates";
    table(
        "p8-selection",
        caption,
        groups,
        &[
            ("points", &|g| g.configuration.terrain.to_string()),
            ("noise", &|g| g.configuration.noise.to_string()),
            ("trials", &|g| g.count()),
            ("excess, all iterates", &|g| g.median(4, |o| o.theorem().0.excess)),
            ("excess, thinned", &|g| g.median(4, |o| o.theorem().1.excess)),
            ("excess, the null", &|g| {
                g.median(4, |o| of_part!(o, Outcome::Theorem { few, .. } => *few))
            }),
            ("difference", &|g| g.median(4, |o| o.theorem().1.excess - o.theorem().0.excess)),
            ("candidates, all", &|g| g.median(0, |o| o.theorem().0.candidates as f64)),
            ("candidates, thinned", &|g| g.median(0, |o| o.theorem().1.candidates as f64)),
            ("inner products, all", &|g| g.median(0, |o| products(o.theorem().0))),
            ("inner products, thinned", &|g| g.median(0, |o| products(o.theorem().1))),
        ],
    )
}

/// The unknown parameter and the true η; and for each trial, the excess, the chosen guess, and the excess with the
/// guesses as printed.
type Unknown = (&'static str, f64, Vec<(f64, f64, Option<f64>)>);

pub(super) fn grid_table(
    grids: &[&Group<Configuration, Outcome>],
    searches: &[&Group<Configuration, Outcome>],
) -> Table {
    let of_grid = |g: &&Group<Configuration, Outcome>| -> Unknown {
        let noise = of_part!(g.configuration.task, Task::Grid { rate } => rate);
        let trial = |o: &Outcome| {
            of_part!(o, Outcome::Grid { paper, corrected, rate, .. } => {
                (corrected.excess, *rate, Some(paper.excess))
            })
        };
        ("η", noise, g.outcomes.iter().map(trial).collect())
    };
    let of_search = |g: &&Group<Configuration, Outcome>| -> Unknown {
        let trial = |o: &Outcome| of_part!(o, Outcome::Margin { excess, margin, .. } => (*excess, *margin, None));
        ("γ", JUDGED_RATE, g.outcomes.iter().map(trial).collect())
    };
    let rows = grids.iter().map(of_grid).chain(searches.iter().map(of_search));
    let caption = "Unknown noise rate (ε = 0.1, γ = 0.2) and unknown margin (ε = 0.2, γ = 0.04, on two pairs of points): medians over trials. The guess is that of the unknown parameter";
    table(
        "p6-unknown",
        caption,
        rows,
        &[
            ("unknown", &|(unknown, ..)| (*unknown).into()),
            ("η", &|(_, noise, _)| noise.to_string()),
            ("trials", &|(.., trials)| trials.count()),
            ("error - η", &|(.., trials)| trials.median(4, |t| t.0)),
            ("guess chosen", &|(.., trials)| trials.median(3, |t| t.1)),
            ("guesses as printed, thinned", &|(.., trials)| trials.median(4, |t| t.2)),
        ],
    )
}

pub(super) fn needs_table(groups: &[&Group<Configuration, Outcome>]) -> Table {
    let caption = format!(
        "Exponents of the number of steps until the mean error of the iterates is η + ε, and the mean error minus η at γ = 0.1 after 2^{} steps with its bound: medians over trials. There are no exponents if the error falls below η.",
        CURVE.2
    );
    table(
        "p4-exponents",
        &caption,
        groups,
        &[
            ("points", &|g| g.configuration.terrain.to_string()),
            ("noise", &|g| g.configuration.noise.to_string()),
            ("trials", &|g| g.count()),
            ("exponent in 1/ε", &|g| g.median(2, |o| needs(o.curves()).map(|e| e.0))),
            ("exponent in 1/γ", &|g| g.median(2, |o| needs(o.curves()).map(|e| e.1))),
            ("mean error - η", &|g| g.median(4, |o| Some(o.curves().last()?.last()?.1))),
            ("bound", &|_| format!("{:.4}", mean_bound(0.1, 2f64.powi(CURVE.2 as i32)))),
        ],
    )
}
