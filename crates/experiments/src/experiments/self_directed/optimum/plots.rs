//! Figures and tables.

use super::workload::{Configuration, Count, Kind, Learner, Outcome};
use crate::experiments::common::*;

/// The optima plotted against n in dimension `dim`, averaged over all kinds of pools except those of small integers.
/// Those are left out, because their points can coincide.
pub(super) fn figure(results: &Results<Configuration, Outcome>, dim: usize) -> Figure {
    let groups = groups_of(results, |c| c.dim == dim && c.kind != Kind::Integers);
    let values = |of: &dyn Fn(&Outcome) -> Option<f64>| {
        let mut sizes: Vec<usize> = groups.iter().map(|g| g.configuration.points).collect();
        sizes.sort_unstable();
        sizes.dedup();
        let at = |n: usize| {
            let here = groups.iter().filter(|g| g.configuration.points == n);
            (n as f64, here.flat_map(|g| g.values(of)).collect::<Vec<f64>>())
        };
        sizes.into_iter().map(at).collect::<Vec<_>>()
    };
    let lg = values(&|o| Some(o.lg())).into_iter();
    let halving = lg.filter_map(|(n, of)| Some((n, stats::mean(&of)?))).collect();
    let worst = values(&|o| Some(o.worst as f64));
    let random = values(&|o| o.averages.as_ref().map(|b| b.random));
    let own = values(&|o| Some(o.own as f64));
    let mut layers = vec![dashed("lg of the number of dichotomies", Colour::Ink, halving)];
    layers.extend(mean_curve("worst order", Colour::Orange, worst));
    layers.extend(mean_curve("random order, adversary", Colour::Sky, random));
    layers.extend(mean_curve("order chosen by the learner", Colour::Blue, own));
    Figure {
        name: format!("s12-optimum-d{dim}"),
        title: format!(
            "The best possible learner: choosing the order saves the logarithm (d = {dim})"
        ),
        caption: format!(
            "The fewest mistakes that any learner can guarantee on n points in R^{dim}, computed over all dichotomies. Means over pools with 95 % intervals. If the learner chooses the next point, the number is hardly more than {dim}. If an adversary chooses the next point, the number is within one or two of lg of the number of dichotomies."
        ),
        x: Axis::log("points n"),
        y: Axis::linear("mistakes of the best learner"),
        layers,
    }
}

/// The finding: the optima on the largest pools of the plane.
pub(super) fn finding(results: &Results<Configuration, Outcome>) -> Finding {
    let plane = || groups_of(results, |c| c.dim == 2 && c.kind != Kind::Integers);
    let largest = plane().iter().map(|g| g.configuration.points).max().unwrap_or(0);
    let groups: Vec<_> =
        plane().into_iter().filter(|g| g.configuration.points == largest).collect();
    let own = groups.iter().flat_map(|g| g.values(|o| o.own as f64)).reduce(f64::max);
    let worst = groups.iter().flat_map(|g| g.values(|o| o.worst as f64)).reduce(f64::min);
    let text = own.zip(worst).filter(|(own, worst)| own < worst).map(|(own, worst)| {
        format!(
            "On {largest} points of the plane, the best possible learner makes at most {own} mistakes if it chooses the order of the points. If an adversary chooses the order, no learner can guarantee fewer than {worst}. Both numbers are exact: they are computed over every labelling of the points by a line."
        )
    });
    Finding {
        title: "No learner can do better: the exact value of choosing the order".into(),
        text,
        figure: "s12-optimum-d2".into(),
        claims: vec!["S12".into(), "S12p".into()],
    }
}

/// The table of the optima by kind, dimension and size.
pub(super) fn values(results: &Results<Configuration, Outcome>) -> Table {
    let range = |g: &&Group<Configuration, Outcome>, of: &dyn Fn(&Outcome) -> f64| {
        let (least, most) = (g.least(0, of), g.most(0, of));
        if least == most { least } else { format!("{least} to {most}") }
    };
    table(
        "s12-optimum",
        "Fewest mistakes that any learner can guarantee, computed exactly",
        &results.groups,
        &[
            ("points", &|g| g.configuration.kind.to_string()),
            ("d", &|g| g.configuration.dim.to_string()),
            ("n", &|g| g.configuration.points.to_string()),
            ("pools", &|g| g.count()),
            ("dichotomies", &|g| range(g, &|o| o.dichotomies as f64)),
            ("order chosen by the learner", &|g| range(g, &|o| o.own as f64)),
            ("worst order", &|g| range(g, &|o| o.worst as f64)),
            ("random order, adversary", &|g| {
                g.median(2, |o| o.averages.as_ref().map(|b| b.random))
            }),
            ("random order, fixed target, at least", &|g| {
                g.median(3, |o| o.averages.as_ref().map(|b| b.random_fixed[0]))
            }),
            ("at most", &|g| g.median(3, |o| o.averages.as_ref().map(|b| b.random_fixed[1]))),
            ("random order, on average", &|g| {
                g.median(3, |o| o.averages.as_ref().map(|b| b.random_average))
            }),
            ("order chosen by the learner, on average", &|g| {
                g.median(2, |o| o.averages.as_ref().map(|b| b.own_average))
            }),
            ("halving, made", &|g| range(g, &|o| o.halving as f64)),
        ],
    )
}

/// The table of the learners compared with the optimum.
pub(super) fn learners(results: &Results<Configuration, Outcome>) -> Table {
    let mut rows = Vec::new();
    for group in groups_of(results, |c| c.learners) {
        let Some(first) = group.outcomes.first().and_then(|o| o.averages.as_ref()) else {
            continue;
        };
        rows.extend(first.counts.iter().map(|count| (group, count.learner)));
    }
    let mean = |(group, learner): &(&Group<Configuration, Outcome>, Learner),
                of: &dyn Fn(&Outcome, &Count) -> f64| {
        mean_text(&group.values(|o| o.count(*learner).map(|count| of(o, count))), 2)
    };
    table(
        "s12-learners",
        "Learners on every dichotomy of small pools, compared with the best possible learner: means over pools",
        rows,
        &[
            ("points", &|(g, _)| g.configuration.kind.to_string()),
            ("d", &|(g, _)| g.configuration.dim.to_string()),
            ("n", &|(g, _)| g.configuration.points.to_string()),
            ("pools", &|(g, _)| g.count()),
            ("learner", &|(_, learner)| learner.to_string()),
            ("worst case", &|r| mean(r, &|_, c| c.worst as f64)),
            ("optimum", &|r| mean(r, &|o, _| o.own as f64)),
            ("on average", &|r| mean(r, &|_, c| c.mean)),
            ("optimum on average", &|(g, _)| {
                mean_text(&g.values(|o| o.averages.as_ref().map(|b| b.own_average)), 2)
            }),
        ],
    )
}
