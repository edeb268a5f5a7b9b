//! Figures and the table.

use super::learners::{Configuration, LEARNERS};
use super::workload::{Family, Outcome, Play};
use crate::experiments::common::*;

pub(super) fn figure(results: &Results<Configuration, Outcome>, family: &Family) -> Figure {
    let mut layers = Vec::new();
    for (learner, colour) in LEARNERS {
        let plays: Vec<&Play> = results
            .outcomes()
            .filter(|(c, _)| c.family == *family && c.learner == learner)
            .flat_map(|(_, o)| o)
            .collect();
        let nominal = |p: &Play| 2f64.powi(p.exponent as i32);
        let mistakes = plays.iter().map(|p| (nominal(p), p.mistakes as f64)).collect();
        let bound = medians(plays.iter().filter_map(|p| Some((nominal(p), p.bound?))).collect());
        let name = learner.to_string();
        layers.extend(median_curve(&name, colour, mistakes));
        if !bound.is_empty() {
            layers.push(dashed(&format!("bound, {name}"), colour, bound));
        }
    }
    let (name, title, caption, label) = match family {
        Family::Hard => (
            "k8-hard-family",
            "With a small margin, the perceptron makes many mistakes, and version-space learners make few",
            "Mistakes on the hard family in the plane as the margin shrinks: medians over trials with 10 % and 90 % quantiles (solid) and each learner's bound (dashed). The perceptron's mistakes grow like its bound. Of the version-space learners, the ellipsoid method makes a constant number of mistakes for each halving of γ. The others make no additional mistakes down to γ = 2^-30.",
            "1/γ",
        ),
        Family::Split => (
            "k8-even-split",
            "If every answer halves the set of possible targets, every learner makes more mistakes at a smaller margin",
            "Mistakes on the even split in the plane, where every learner makes at least lg(1/γ) mistakes: medians over trials with 10 % and 90 % quantiles (solid) and each learner's bound (dashed). The ellipsoid method makes about 1.3 lg(1/γ) mistakes, and the other version-space learners make at most lg(1/γ) + 1.",
            "1/γ",
        ),
        Family::Lists | Family::Real(_) => (
            "k8-decision-lists",
            "On long decision lists, the perceptron makes many mistakes, and version-space learners make few",
            "Mistakes on decision lists of r rules, with margin about 2^-r in dimension r + 1: medians over trials with 10 % and 90 % quantiles (solid) and each learner's bound (dashed).",
            "2^r",
        ),
    };
    Figure {
        name: name.into(),
        title: title.into(),
        caption: caption.into(),
        x: Axis::log(label),
        y: Axis::log("mistakes"),
        layers,
    }
}

pub(super) fn by_exponent(results: &Results<Configuration, Outcome>) -> Table {
    let rows = results.groups.iter().flat_map(|group| {
        group.configuration.exponents.iter().enumerate().map(move |(at, exponent)| {
            let plays: Vec<&Play> = group.outcomes.iter().filter_map(|o| o.get(at)).collect();
            (&group.configuration, exponent, plays)
        })
    });
    table(
        "k8-version-space",
        "Medians and extremes over trials",
        rows,
        &[
            ("family", &|(c, ..)| c.family.to_string()),
            ("learner", &|(c, ..)| c.learner.to_string()),
            ("r", &|(_, exponent, _)| exponent.to_string()),
            ("d", &|(.., plays)| plays.first().map_or_else(String::new, |p| p.dim.to_string())),
            ("trials", &|(.., plays)| plays.count()),
            ("γ", &|(.., plays)| {
                let margin = stats::median(&plays.values(|p| p.margin));
                margin.map_or_else(String::new, |m| format!("{m:.3e}"))
            }),
            ("mistakes", &|(.., plays)| plays.median(1, |p| p.mistakes as f64)),
            ("most", &|(.., plays)| plays.most(0, |p| p.mistakes as f64)),
            ("bound", &|(.., plays)| plays.median(1, |p| p.bound)),
            ("worst ratio", &|(.., plays)| plays.most(4, |p| p.ratio())),
        ],
    )
}
