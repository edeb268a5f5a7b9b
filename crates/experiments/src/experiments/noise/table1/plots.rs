//! Examples needed, figures, findings and tables.

use super::super::or_beyond;
use super::learners::{Entry, LEARNERS, curve_of};
use super::workload::{Configuration, Outcome, Strategy};
use crate::experiments::common::*;

/// The margin in the figures; the next constant is ε. If one of the two varies, the other is fixed at its value here.
pub(super) const SHOWN_MARGIN: f64 = 0.15;
pub(super) const SHOWN_EXCESS: f64 = 0.1;

/// The smallest size such that no error at this size or a larger one exceeds `level`.
pub(super) fn needed(sizes: &[usize], errors: &[f64], level: f64) -> Option<usize> {
    let good = errors.iter().rev().take_while(|e| **e <= level).count();
    sizes.get(errors.len().checked_sub(good)?).copied()
}

/// The upper median over trials of the number of examples needed; `None` if it is beyond the largest sample.
pub(super) fn median_needed(
    group: &Group<Configuration, Outcome>,
    learner: usize,
    excess: f64,
) -> Option<usize> {
    let Configuration { noise, sizes, .. } = &group.configuration;
    let curve = curve_of(&group.configuration, learner, excess)?;
    let of = |o: &Outcome| or_beyond(needed(sizes, &o.errors[curve], noise + excess));
    let mut counts: Vec<usize> = group.outcomes.iter().map(of).collect();
    counts.sort_unstable();
    counts.get(counts.len() / 2).copied().filter(|n| *n < usize::MAX)
}

/// The figure of error against sample size for all learners at one margin.
pub(super) fn figure(
    results: &Results<Configuration, Outcome>,
    name: &str,
    strategy: Strategy,
    [title, what]: [&str; 2],
) -> Option<Figure> {
    let shown = |margin: f64| strategy == Strategy::Trap || (margin - SHOWN_MARGIN).abs() < 1e-9;
    let groups = groups_of(results, |c| c.strategy == strategy && shown(c.margin));
    let group = groups.first()?;
    let Configuration { noise, sizes, .. } = &group.configuration;
    let mut layers = Vec::new();
    for (learner, entry) in LEARNERS.iter().enumerate() {
        let Entry { name, colour, .. } = *entry;
        let curve = curve_of(&group.configuration, learner, SHOWN_EXCESS)?;
        let at = |(i, n): (usize, &usize)| {
            (*n as f64, group.values(|o| o.errors.get(curve)?.get(i).copied()))
        };
        layers.extend(mean_curve(name, colour, sizes.iter().enumerate().map(at)));
    }
    let ends = sizes.first().into_iter().chain(sizes.last());
    let level = ends.map(|n| (*n as f64, noise + SHOWN_EXCESS)).collect();
    layers.push(dashed("η + ε", Colour::Ink, level));
    layers.extend(lower_bounds(*noise, group.configuration.margin, sizes));
    Some(Figure {
        name: format!("p10-{name}"),
        title: title.into(),
        caption: format!(
            "{what}: error against sample size, means over trials with 95 % intervals, and η + ε for ε = {SHOWN_EXCESS} (dashed). Learners that have the parameter ε aim at η + ε for this ε; the cutting plane stops when it has reached its target. The other dashed lines are known worst-case lower bounds, without constants and logarithms: 1/(γ²ε) examples for any learner (Massart and Nédélec 2006), and 1/(ε²√γ) for learners that make statistical queries (DDK+23)."
        ),
        x: Axis::log("samples n"),
        y: Axis::linear("error"),
        layers,
    })
}

/// The index of a learner in [`LEARNERS`].
fn place(name: &str) -> usize {
    let place = LEARNERS.iter().position(|entry| entry.name == name);
    place.unwrap_or_else(|| unreachable!("{name} is a learner of the table"))
}

/// The finding on the trap: the final error is above one half for learners with a convex loss, and below η for the
/// Perspectron.
pub(super) fn led_astray(results: &Results<Configuration, Outcome>) -> Finding {
    let group = groups_of(results, |c| c.strategy == Strategy::Trap).into_iter().next();
    let text = group.and_then(|group| {
        let Configuration { noise, sizes, .. } = &group.configuration;
        let at_the_end = |name: &str| {
            let curve = curve_of(&group.configuration, place(name), SHOWN_EXCESS)?;
            let errors = group.values(|o| o.errors.get(curve)?.last().copied());
            stats::mean_interval(&errors, 0.95).map(|i| (stats::mean(&errors), i))
        };
        let (logistic, of_logistic) = at_the_end("logistic regression")?;
        let (svm, of_svm) = at_the_end("linear SVM")?;
        let (perspectron, of_perspectron) = at_the_end("Perspectron")?;
        let astray = of_logistic.low > 0.5 && of_svm.low > 0.5 && of_perspectron.high < *noise;
        let per_cent = |share: f64| format!("{:.0} %", 100.0 * share);
        astray.then_some(format!(
            "On data constructed to mislead, in which a label is wrong with probability up to {}, logistic regression gets {} and the support vector machine {} of all labels wrong after {} examples, which is worse than flipping a coin. The Perspectron, which divides the weight of every example by the confidence of its own prediction, gets {} wrong, and the best halfspace {}.",
            per_cent(*noise),
            per_cent(logistic?),
            per_cent(svm?),
            sizes.last()?,
            per_cent(perspectron?),
            per_cent(stats::mean(&group.values(|o| o.opt))?),
        ))
    });
    Finding {
        title:
            "Wrong labels can mislead the usual methods where they do not mislead the Perspectron"
                .into(),
        text,
        figure: "p10-trap".into(),
        claims: Vec::new(),
    }
}

/// The finding on the order of Table 1: the number of settings in which the Perspectron, which has the better rate,
/// needs fewer examples than DGT19.
pub(super) fn order_unseen(
    results: &Results<Configuration, Outcome>,
    slack: Option<f64>,
) -> Finding {
    let [perspectron, dgt] = [place("Perspectron"), place("DGT19")];
    let (mut fewer, mut same, mut more) = (0, 0, 0);
    for group in &results.groups {
        for excess in &group.configuration.excesses {
            let needed = |learner| or_beyond(median_needed(group, learner, *excess));
            match needed(perspectron).cmp(&needed(dgt)) {
                _ if group.outcomes.is_empty() => (),
                std::cmp::Ordering::Less => fewer += 1,
                std::cmp::Ordering::Equal => same += 1,
                std::cmp::Ordering::Greater => more += 1,
            }
        }
    }
    let all = fewer + same + more;
    let unseen = all > 0 && 2 * fewer < all;
    let text = slack.filter(|_| unseen).map(|slack| {
        format!(
            "In theory, the Perspectron needs far fewer examples than its predecessor DGT19. Of {all} settings, it needed fewer in {fewer}, as many in {same} and more in {more}. Every learner that reaches the target needs at most 1/{slack:.0} of the examples that its theorem requires, so at feasible sizes the theorems say little about which learner is ahead."
        )
    });
    Finding {
        title: "The theoretical order of the learners does not appear in practice".into(),
        text,
        figure: "p10-massart".into(),
        claims: vec!["P10".into()],
    }
}

/// A row of a table: a learner's index, its rate, and the noise that the rate applies to.
struct Line {
    learner: usize,
    name: &'static str,
    rate: &'static str,
    applies_to: fn(Strategy) -> bool,
}

/// One line per learner, or two for a learner with a separate rate under random classification noise.
fn lines() -> Vec<Line> {
    let of = |(learner, entry): (usize, &Entry)| {
        let line =
            |rate: &'static str, applies_to| Line { learner, name: entry.name, rate, applies_to };
        let rate = entry.rate.unwrap_or("none");
        match entry.rate_rcn {
            None => vec![line(rate, |_| true)],
            Some(rcn) => vec![
                line(rcn, |strategy| strategy == Strategy::Rcn),
                line(rate, |strategy| strategy != Strategy::Rcn),
            ],
        }
    };
    LEARNERS.iter().enumerate().flat_map(of).collect()
}

/// The lower bounds as dashed lines, for all n at which they are at most 1/2.
fn lower_bounds(noise: f64, margin: f64, sizes: &[usize]) -> [Layer; 2] {
    let line = |name: &str, colour, excess: &dyn Fn(f64) -> f64| {
        let at = |n: &usize| (*n as f64, noise + excess(*n as f64));
        dashed(name, colour, sizes.iter().map(at).filter(|(_, error)| *error <= 0.5).collect())
    };
    [
        line("lower bound 1/(γ²ε)", Colour::Sky, &|n| 1.0 / (margin * margin * n)),
        line("for SQ, 1/(ε²√γ)", Colour::Purple, &|n| (margin.sqrt() * n).sqrt().recip()),
    ]
}

/// log₂ of a ratio for each trial: the number of examples that the Perspectron needs, divided by the number that
/// another learner needs on the same samples. All margins of one kind of noise are pooled. If a learner does not reach
/// η + ε, twice the largest sample size is used.
pub(super) fn leads(
    results: &Results<Configuration, Outcome>,
    strategy: Strategy,
    excess: f64,
    other: usize,
) -> Vec<f64> {
    let groups = groups_of(results, |c| c.strategy == strategy);
    let of = |group: &&Group<Configuration, Outcome>, o: &Outcome| -> Option<f64> {
        let setting = &group.configuration;
        let samples = |learner| {
            let errors = &o.errors[curve_of(setting, learner, excess)?];
            let beyond = 2 * setting.largest();
            Some(needed(&setting.sizes, errors, setting.noise + excess).unwrap_or(beyond) as f64)
        };
        Some((samples(0)? / samples(other)?).log2())
    };
    groups.iter().flat_map(|g| g.outcomes.iter().filter_map(move |o| of(g, o))).collect()
}

/// The table of the ratios from [`leads`], with their intervals.
pub(super) fn orders(results: &Results<Configuration, Outcome>) -> Table {
    let mut rows = Vec::new();
    let excesses = results.groups.first().map_or(&[][..], |g| &g.configuration.excesses);
    for strategy in [Strategy::Rcn, Strategy::LeastSquares, Strategy::Far, Strategy::Trap] {
        for excess in excesses {
            for (other, entry) in LEARNERS.iter().enumerate().skip(1) {
                rows.push((
                    strategy,
                    *excess,
                    entry.name,
                    leads(results, strategy, *excess, other),
                ));
            }
        }
    }
    type Row = (Strategy, f64, &'static str, Vec<f64>);
    let caption = "log₂ of the ratio of the number of examples that the Perspectron needs for η + ε to the number that another learner needs on the same samples: mean over trials and margins with its 95 % interval. If the mean is above 0, the other learner needs fewer examples, which reverses the order of Table 1 for its learners except DDK+23. For a learner that does not reach η + ε, twice the largest sample size is used";
    table(
        "p10-orders",
        caption,
        rows,
        &[
            ("noise", &|row: &Row| row.0.to_string()),
            ("ε", &|row| row.1.to_string()),
            ("against", &|row| row.2.into()),
            ("pairs", &|row| row.3.len().to_string()),
            ("log₂ of the ratio", &|row| mean_cells(&row.3, 2)[0].clone()),
            ("95 % interval", &|row| mean_cells(&row.3, 2)[1].clone()),
        ],
    )
}

pub(super) fn samples_needed(results: &Results<Configuration, Outcome>, excess: f64) -> Table {
    let groups = groups_of(results, |c| c.excesses.iter().any(|e| (e - excess).abs() < 1e-9));
    let mut columns = vec!["learner".to_owned(), "Table 1".to_owned()];
    columns.extend(groups.iter().map(|g| g.configuration.name()));
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let mut table = Table::new(
        &format!("p10-needed-{excess}"),
        &format!(
            "Examples needed for an error of η + ε with ε = {excess}: medians over trials; \"> n\" means more than the largest sample, n. The noise is RCN, Massart noise on the far points, adaptive Massart noise, or the noise of the trap"
        ),
        &columns,
    );
    for line in lines() {
        let mut row = vec![line.name.into(), line.rate.into()];
        row.extend(groups.iter().map(|group| match median_needed(group, line.learner, excess) {
            _ if group.outcomes.is_empty() => String::new(),
            _ if !(line.applies_to)(group.configuration.strategy) => String::new(),
            Some(n) => n.to_string(),
            None => format!("> {}", group.configuration.largest()),
        }));
        table.push(row);
    }
    table
}

/// The table of the slopes of ln(examples needed) against ln(1/ε) and ln(1/γ).
pub(super) fn exponents(results: &Results<Configuration, Outcome>) -> Table {
    let samples = |learner: usize, strategy: Strategy| {
        let groups = groups_of(results, |c| c.strategy == strategy);
        groups.into_iter().flat_map(move |group| {
            let Configuration { margin, excesses, .. } = &group.configuration;
            let needed = move |excess| median_needed(group, learner, excess).map(|n| n as f64);
            excesses.iter().map(move |excess| (*excess, *margin, needed(*excess)))
        })
    };
    let in_excess = |line: &Line, strategy| {
        if !(line.applies_to)(strategy) {
            return String::new();
        }
        let shown = samples(line.learner, strategy)
            .filter(|(_, margin, _)| (margin - SHOWN_MARGIN).abs() < 1e-9);
        exponent(&shown.map(|(excess, _, samples)| (excess, samples)).collect::<Vec<_>>())
    };
    let in_margin = |line: &Line, strategy| {
        if !(line.applies_to)(strategy) {
            return String::new();
        }
        let shown = samples(line.learner, strategy)
            .filter(|(excess, ..)| (excess - SHOWN_EXCESS).abs() < 1e-9);
        exponent(&shown.map(|(_, margin, samples)| (margin, samples)).collect::<Vec<_>>())
    };
    let caption = "Fitted exponents of the median number of examples needed: in 1/ε at γ = 0.15, and in 1/γ at ε = 0.1. Because sample sizes double, the exponents are accurate to about ± 0.5";
    table(
        "p10-exponents",
        caption,
        lines(),
        &[
            ("learner", &|line| line.name.into()),
            ("Table 1", &|line| line.rate.into()),
            ("1/ε, RCN", &|line| in_excess(line, Strategy::Rcn)),
            ("1/γ, RCN", &|line| in_margin(line, Strategy::Rcn)),
            ("1/ε, adaptive", &|line| in_excess(line, Strategy::LeastSquares)),
            ("1/γ, adaptive", &|line| in_margin(line, Strategy::LeastSquares)),
        ],
    )
}

/// Minus the slope of ln y against ln x, as text; empty if some y is missing.
pub(super) fn exponent(pairs: &[(f64, Option<f64>)]) -> String {
    let x: Vec<f64> = pairs.iter().map(|(x, _)| -x.ln()).collect();
    let y: Option<Vec<f64>> = pairs.iter().map(|(_, y)| y.map(f64::ln)).collect();
    let slope = y.and_then(|y| stats::slope(&x, &y));
    slope.map_or_else(String::new, |s| format!("{s:.1}"))
}

pub(super) fn bounds(results: &Results<Configuration, Outcome>) -> Table {
    let mut columns = vec!["d", "η", "γ", "ε"];
    let proved = || LEARNERS.iter().filter(|entry| entry.rate.is_some());
    columns.extend(proved().map(|entry| entry.name));
    let caption = "Numbers of examples that the theorems require at δ = 0.1; the theorem of DDK+23 holds only under RCN";
    let mut table = Table::new("p10-bounds", caption, &columns);
    for group in &results.groups {
        let setting = &group.configuration;
        for excess in &setting.excesses {
            let mut row = vec![
                setting.strategy.dim().to_string(),
                setting.noise.to_string(),
                setting.margin.to_string(),
                excess.to_string(),
            ];
            if table.rows().iter().any(|other| other.starts_with(&row)) {
                continue;
            }
            row.extend(proved().map(|entry| {
                let bound = entry.examples(setting, *excess);
                bound.map_or("none".to_owned(), |n| format!("{n:.1e}"))
            }));
            table.push(row);
        }
    }
    table
}
