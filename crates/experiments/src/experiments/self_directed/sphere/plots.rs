//! Figures and tables.

use super::workload::{Configuration, LEARNERS, Learner, Outcome, slope};
use crate::experiments::common::*;

pub(super) fn figure(results: &Results<Configuration, Outcome>, dim: usize) -> Figure {
    let mut layers = Vec::new();
    for (learner, colour) in LEARNERS {
        let pairs = results
            .outcomes()
            .filter(|(c, _)| c.dim == dim)
            .flat_map(|(_, o)| o.of(learner).map(|(n, m)| (n as f64, m as f64)));
        layers.extend(median_curve(&learner.to_string(), colour, pairs.collect()));
    }
    Figure {
        name: format!("s1-sphere-d{dim}"),
        title: format!(
            "With the surest point first, a larger pool adds hardly any mistakes (d = {dim})"
        ),
        caption: format!(
            "Mistakes until all of n uniform points on the sphere in R^{dim} are labelled: medians over trials with 10 % and 90 % quantiles. In random order, the mistakes grow like ln n or faster. For a learner that takes the point with the largest |w · x| first, they hardly grow."
        ),
        x: Axis::log("points n"),
        y: Axis::log("mistakes"),
        layers,
    }
}

/// A learner on the pools of one setting.
struct Row<'a> {
    group: &'a Group<Configuration, Outcome>,
    learner: Learner,
    /// The size of the largest pool that the learner labelled.
    points: usize,
    /// Mean and interval of the learner's slopes.
    growth: [String; 2],
}

pub(super) fn by_learner(results: &Results<Configuration, Outcome>) -> Table {
    let learners = LEARNERS.map(|(learner, _)| learner);
    let learners = learners.into_iter().chain([Learner::HardMargin, Learner::Chains4]);
    let rows = results.groups.iter().flat_map(|group| {
        learners.clone().filter_map(move |learner| {
            let (points, _) = group.outcomes.iter().find_map(|o| o.of(learner).last())?;
            let slopes = group.values(|o| slope(o, learner, group.configuration.dim));
            Some(Row { group, learner, points, growth: mean_cells(&slopes, 3) })
        })
    });
    let caption = "Medians at the largest n; slopes over all n; length of the greedy learner's scans in passes";
    table(
        "s1-sphere",
        caption,
        rows,
        &[
            ("d", &|r| r.group.configuration.dim.to_string()),
            ("learner", &|r| r.learner.to_string()),
            ("trials", &|r| r.group.count()),
            ("n", &|r| r.points.to_string()),
            ("mistakes", &|r| r.group.median(1, |o| o.last(r.learner))),
            ("mistakes / d", &|r| {
                let last = stats::median(&r.group.values(|o| o.last(r.learner)));
                let dim = r.group.configuration.dim as f64;
                last.map_or_else(String::new, |m| format!("{:.2}", m / dim))
            }),
            ("slope per ln n / d", &|r| r.growth[0].clone()),
            ("95 % interval", &|r| r.growth[1].clone()),
            ("passes", &|r| match r.learner {
                Learner::Greedy => r.group.median(1, |o| o.passes),
                _ => String::new(),
            }),
        ],
    )
}
