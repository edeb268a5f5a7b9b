//! Figures and the table.

use super::workload::{Configuration, Outcome, PADDINGS, RULES, Rule, Task};
use crate::experiments::common::*;

/// The curves of the configurations that `mine` accepts.
fn pairs(
    results: &Results<Configuration, Outcome>,
    mine: impl Fn(&Task) -> bool,
) -> Vec<(f64, f64)> {
    let mine = results.outcomes().filter(|(c, _)| mine(&c.task));
    mine.flat_map(|(_, o)| o.curve.iter().map(|(x, y)| (*x as f64, *y))).collect()
}

pub(super) fn curves(results: &Results<Configuration, Outcome>) -> Figure {
    let layers = RULES.into_iter().flat_map(|(rule, colour)| {
        let data = pairs(results, |task| *task == Task::Curve { rule });
        median_curve(&rule.to_string(), colour, data)
    });
    Figure {
        name: "p7-curves".into(),
        title: "All schedules learn at nearly the same rate".into(),
        caption: "Average error of the iterates so far, minus the target opt_RCN + τ/2, against the number of examples. Each schedule has its own step size and its own length. Medians with 10 % and 90 % quantiles over hard models of three points found by search, γ = 0.1, ε = 0.5 (smoke scale: 0.3 and 0.7). All curves fall at nearly the same rate, but our schedule may stop earlier than the corrected schedule of CKST24. An error at or below the target is drawn at the lower edge.".into(),
        x: Axis::log("examples"),
        y: Axis::log("average error - target"),
        layers: layers.collect(),
    }
}

/// The finding: the padding loss of CKST24 can be avoided.
pub(super) fn finding(results: &Results<Configuration, Outcome>) -> Finding {
    let ours =
        |c: &Configuration| matches!(c.task, Task::Fit { rule: Rule::Ours | Rule::Thinned, .. });
    let fits: Vec<_> = results.outcomes().filter(|(c, _)| ours(c)).collect();
    let reached = fits.iter().filter(|(c, o)| o.excess <= c.excess).count();
    let text = (!fits.is_empty()).then(|| {
        format!(
            "If the probability of a wrong label varies with the distance to the boundary, the method of CKST24 needs about 1/ε² times as many examples as for labels that are wrong at a bounded rate. Whether that is necessary was an open question. It is not: with D = max(|w·x|, γ/2), the factor disappears, as is proved here, and the learner reached its target in {reached} of {} fits.",
            fits.len()
        )
    });
    Finding {
        title: "Noise that varies with the distance to the boundary does not multiply the number of examples needed"
            .into(),
        text,
        figure: "p7-curves".into(),
        claims: vec!["P7".into()],
    }
}

pub(super) fn traps(results: &Results<Configuration, Outcome>) -> Figure {
    let layers = PADDINGS.into_iter().flat_map(|(padding, colour)| {
        let data = pairs(
            results,
            |task| matches!(task, Task::Trap { padding: mine, .. } if *mine == padding),
        );
        median_curve(&format!("D = {padding}"), colour, data)
    });
    Figure {
        name: "p7-padding".into(),
        title: "With too large a denominator, a longer run does not help".into(),
        caption: TRAP_CAPTION.into(),
        x: Axis::log("steps of the run"),
        y: Axis::linear("average error of the iterates - opt_RCN"),
        layers: layers.collect(),
    }
}

const TRAP_CAPTION: &str = "Average error of the iterates minus opt_RCN on the trap, three points of the plane with γ = 0.1, against the length of the run. For each denominator, the step size is chosen from the bound on the norm of its own update. Medians with 10 % and 90 % quantiles. With max(a, 2γ), a longer run does not help. Values below 0 are possible because some labels are less noisy than the link allows.";

pub(super) fn by_configuration(results: &Results<Configuration, Outcome>) -> Table {
    let rows = results.groups.iter().filter_map(|g| match g.configuration {
        Configuration { task: Task::Fit { rule, source }, excess, margin } => {
            Some((rule, source, excess, margin, g))
        }
        _ => None,
    });
    let caption = "The fits of P5 and P7; the target is opt_RCN + τ/2, and a fit fails if its error is more than ε above the target";
    table(
        "p7-fits",
        caption,
        rows,
        &[
            ("learner", &|(rule, ..)| rule.to_string()),
            ("model", &|(_, source, ..)| source.to_string()),
            ("ε", &|(_, _, excess, ..)| excess.to_string()),
            ("γ", &|(.., margin, _)| margin.to_string()),
            ("trials", &|(.., g)| g.count()),
            ("failures", &|(_, _, excess, _, g)| {
                g.outcomes.iter().filter(|o| o.excess > *excess).count().to_string()
            }),
            ("error - target, median", &|(.., g)| g.median(4, |o| o.excess)),
            ("largest", &|(.., g)| g.most(4, |o| o.excess)),
            ("examples", &|(.., g)| g.most(0, |o| o.examples as f64)),
        ],
    )
}
