//! Figures and tables.

use super::workload::{Configuration, LEARNERS, Learner, Outcome, slope};
use crate::experiments::common::{curve, mean_cells, median_text, spread_by_x};
use halfspaces_eval::{Axis, Figure, Results, Table, stats};

pub(super) fn figure(results: &Results<Configuration, Outcome>, dim: usize) -> Figure {
    let mut layers = Vec::new();
    for (learner, colour) in LEARNERS {
        let pairs = results
            .outcomes()
            .filter(|(c, _)| c.dim == dim)
            .flat_map(|(_, o)| o.of(learner).map(|(n, m)| (n as f64, m as f64)));
        let spread = spread_by_x(pairs.collect());
        if spread.is_empty() {
            continue;
        }
        let line: Vec<(f64, f64)> = spread.iter().map(|(x, _, m, _)| (*x, *m)).collect();
        let name = learner.to_string();
        layers.extend(curve(&name, colour, line));
    }
    Figure {
        name: format!("s1-sphere-d{dim}"),
        caption: format!(
            "Mistakes until every one of n uniform points of the sphere in R^{dim} is labelled, medians over trials. In random order they grow with ln n or faster; for a learner that takes the point of largest |w · x| first they hardly grow."
        ),
        x: Axis::log("points n"),
        y: Axis::log("mistakes"),
        layers,
    }
}

pub(super) fn table(results: &Results<Configuration, Outcome>) -> Table {
    let columns = [
        "d",
        "learner",
        "trials",
        "n",
        "mistakes",
        "mistakes / d",
        "slope per ln n / d",
        "95 % interval",
        "passes",
    ];
    let title = "Medians at the largest n; slopes over all n; passes of greedy's scans";
    let mut table = Table::new("s1-sphere", title, &columns);
    for group in &results.groups {
        let dim = group.configuration.dim;
        for learner in LEARNERS
            .map(|(learner, _)| learner)
            .into_iter()
            .chain([Learner::HardMargin, Learner::Chains4])
        {
            let last: Vec<f64> = group.outcomes.iter().filter_map(|o| o.last(learner)).collect();
            let Some(points) = group.outcomes.iter().find_map(|o| o.of(learner).last()) else {
                continue;
            };
            let slopes: Vec<f64> =
                group.outcomes.iter().filter_map(|o| slope(o, learner, dim)).collect();
            let [growth, interval] = mean_cells(&slopes, 3);
            let passes: Vec<f64> = group.outcomes.iter().map(|o| o.passes).collect();
            table.push(vec![
                dim.to_string(),
                learner.to_string(),
                group.outcomes.len().to_string(),
                points.0.to_string(),
                median_text(&last, 1),
                stats::median(&last).map(|m| format!("{:.2}", m / dim as f64)).unwrap_or_default(),
                growth,
                interval,
                if learner == Learner::Greedy { median_text(&passes, 1) } else { String::new() },
            ]);
        }
    }
    table
}
