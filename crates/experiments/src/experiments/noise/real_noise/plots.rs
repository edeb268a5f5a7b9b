//! Figures and tables.

use super::learners::{Entry, LEARNERS, LOGISTIC, MAJORITY, SVM};
use super::workload::{Bound, Configuration, GROUPS, Noise, Outcome, REGIONS, accuracies_of};
use crate::experiments::common::*;

/// The settings of one data set and one kind of noise, in order of increasing rate. The first setting is the one
/// without noise.
fn by_rate<'a>(
    results: &'a Results<Configuration, Outcome>,
    data: &str,
    noise: Noise,
) -> Vec<&'a Group<Configuration, Outcome>> {
    let mine = |c: &Configuration| c.data == data && (c.noise == noise || c.rate <= 0.0);
    let mut groups: Vec<_> = results.groups.iter().filter(|g| mine(&g.configuration)).collect();
    groups.sort_by(|a, b| a.configuration.rate.total_cmp(&b.configuration.rate));
    groups
}

/// The plot of accuracy against the noise rate; `None` if fewer than two rates were planned.
pub(super) fn figure(
    results: &Results<Configuration, Outcome>,
    data: &str,
    noise: Noise,
    group: bool,
) -> Option<Figure> {
    let groups = by_rate(results, data, noise);
    if groups.len() < 2 {
        return None;
    }
    let (mut layers, mut bands, mut drops) = (Vec::new(), Vec::new(), Vec::new());
    // The majority label is in the table only. In the figure, it would compress the other lines.
    for Entry { name, colour, .. } in LEARNERS.iter().filter(|entry| entry.name != MAJORITY) {
        let (mut data, mut means) = (Vec::new(), Vec::new());
        for g in &groups {
            let values = accuracies_of(&g.outcomes, name, group);
            let rate = g.configuration.rate;
            if let Some(mean) = stats::mean(&values) {
                means.push((rate, mean));
                data.extend(stats::mean_interval(&values, 0.95).map(|i| (rate, i.low, i.high)));
            }
        }
        if let (Some((_, clean)), Some((_, noisy))) = (means.first(), means.last()) {
            drops.push((*name, clean - noisy));
        }
        let line = if *name == SVM { dashed } else { line };
        layers.extend([line(name, *colour, means.clone()), points(name, *colour, means)]);
        bands.push(Layer::Band { name: (*name).into(), colour: *colour, data });
    }
    layers.extend(bands);
    let kebab = noise.to_string().replace(' ', "-");
    let (suffix, of) = if group {
        ("-group", "the test examples in the target group")
    } else {
        ("", "all test examples")
    };
    Some(Figure {
        name: format!("pr-{data}-{kebab}{suffix}"),
        title: title(data, noise, group, &drops),
        caption: format!(
            "{data}, labels flipped ({noise}): accuracy on the clean labels of {of}, mean and 95 % interval over folds and trials. The flatter the line, the less the noise affects the learner."
        ),
        x: Axis::linear("noise rate η"),
        y: Axis::linear("accuracy on clean labels"),
        layers,
    })
}

/// The title. It names the learners that lose the most and the least accuracy when the noise rate rises from 0 to its
/// maximum.
fn title(data: &str, noise: Noise, group: bool, drops: &[(&str, f64)]) -> String {
    let whose = if group { " in the target group" } else { "" };
    let by_drop = |a: &&(&str, f64), b: &&(&str, f64)| a.1.total_cmp(&b.1);
    match (drops.iter().max_by(by_drop), drops.iter().min_by(by_drop)) {
        (Some((most, _)), Some((least, _))) if most != least => format!(
            "{data}, wrong labels ({noise}): {most} loses the most accuracy{whose}, {least} the least"
        ),
        _ => format!("{data}, wrong labels ({noise}): accuracy{whose}"),
    }
}

pub(super) fn accuracies(results: &Results<Configuration, Outcome>) -> Table {
    let columns = ["data", "noise", "η", "judged on", "folds"];
    let learners = LEARNERS.map(|entry| entry.name);
    let columns: Vec<&str> = columns.into_iter().chain(learners).chain(["best"]).collect();
    let caption = "Accuracy on clean labels in per cent, mean ± half of the width of the 95 % interval over folds and trials (folds share training examples, so the interval is slightly too short)";
    let mut table = Table::new("pr-accuracy", caption, &columns);
    for g in &results.groups {
        for (group, judged) in [(false, "all"), (true, "target group")] {
            let values = learners.map(|learner| accuracies_of(&g.outcomes, learner, group));
            if values[0].is_empty() {
                continue;
            }
            let Configuration { data, noise, rate, .. } = &g.configuration;
            let folds = values[0].len().to_string();
            let mut row = vec![data.clone(), flipped(noise, *rate), rate.to_string()];
            row.extend([judged.into(), folds]);
            row.extend(values.iter().map(|values| per_cent(values)));
            let means = values.iter().map(|values| mean(values)).zip(&learners);
            let best = means.max_by(|a, b| a.0.total_cmp(&b.0));
            row.extend(best.map(|(_, learner)| (*learner).to_owned()));
            table.push(row);
        }
    }
    table
}

fn mean(accuracies: &[f64]) -> f64 {
    match stats::mean(accuracies) {
        Some(mean) => mean,
        None => unreachable!("all learners have the same folds: {accuracies:?}"),
    }
}

/// The mean in per cent, with half the width of the 95 % interval. If there is only one fold, which can happen for the
/// target group, there is no interval.
fn per_cent(accuracies: &[f64]) -> String {
    let mean = mean(accuracies);
    match stats::mean_interval(accuracies, 0.95) {
        Some(i) => format!("{:.1} ± {:.1}", 100.0 * mean, 100.0 * (i.high - mean)),
        None => format!("{:.1}", 100.0 * mean),
    }
}

/// The name of the noise of a setting. Every data set has one setting without noise.
fn flipped(noise: &Noise, rate: f64) -> String {
    if rate > 0.0 { noise.to_string() } else { "none".into() }
}

/// The 95 % interval of the mean difference in accuracy between two learners on the same folds.
pub(super) fn gain(
    outcomes: &[Outcome],
    learner: &str,
    other: &str,
    group: bool,
) -> Option<stats::Interval> {
    let of = |learner| accuracies_of(outcomes, learner, group);
    let pairs = of(learner).into_iter().zip(of(other));
    stats::mean_interval(&pairs.map(|(a, b)| a - b).collect::<Vec<f64>>(), 0.95)
}

/// The table of settings in which each learner is better or worse than logistic regression.
pub(super) fn wins(results: &Results<Configuration, Outcome>) -> Table {
    let shown = LEARNERS.map(|entry| entry.name);
    let shown = &shown[1..shown.len() - 1];
    let columns: Vec<&str> = ["labels flipped", "judged on", "settings"]
        .into_iter()
        .chain(shown.iter().copied())
        .collect();
    let caption = "Number of settings in which a learner is better / worse than logistic regression on clean labels; a learner counts as better or worse if the 95 % interval of the mean difference per fold excludes 0";
    let mut table = Table::new("pr-against-logistic", caption, &columns);
    let kinds = REGIONS.into_iter().chain(GROUPS).map(Some);
    let kinds: Vec<Option<Noise>> = std::iter::once(None).chain(kinds).collect();
    for (kind, group) in kinds.into_iter().flat_map(|kind| [(kind, false), (kind, true)]) {
        let judgeable = |g: &&Group<_, Outcome>| {
            g.outcomes.iter().any(|o| !group || o.group.iter().any(|n| *n > 0))
        };
        let mine = |c: &Configuration| match kind {
            None => c.rate <= 0.0,
            Some(noise) => c.rate > 0.0 && c.noise == noise,
        };
        let groups: Vec<_> =
            results.groups.iter().filter(|g| mine(&g.configuration)).filter(judgeable).collect();
        if groups.is_empty() {
            continue;
        }
        let name = kind.map_or("nowhere".into(), |noise| noise.to_string());
        let judged = if group { "target group" } else { "all" };
        let mut row = vec![name, judged.into(), groups.len().to_string()];
        row.extend(shown.iter().map(|learner| {
            let gains = groups.iter().map(|g| gain(&g.outcomes, learner, LOGISTIC, group));
            let gains: Vec<stats::Interval> = gains.flatten().collect();
            let better = gains.iter().filter(|i| i.low > 0.0).count();
            let worse = gains.iter().filter(|i| i.high < 0.0).count();
            format!("{better} / {worse}")
        }));
        table.push(row);
    }
    table
}

pub(super) fn bounds(results: &Results<Configuration, Outcome>) -> Table {
    let rows = results.groups.iter().map(|g| {
        (&g.configuration, g, g.outcomes.iter().flat_map(|o| &o.bounds).collect::<Vec<&Bound>>())
    });
    let caption = "The Perspectron's error on noisy labels and its reported bound, means over folds and trials; the slack is the bound minus the error";
    table(
        "pr-bound",
        caption,
        rows,
        &[
            ("data", &|(c, ..)| c.data.clone()),
            ("noise", &|(c, ..)| flipped(&c.noise, c.rate)),
            ("η", &|(c, ..)| c.rate.to_string()),
            ("folds", &|(.., folds)| folds.count()),
            ("error, test fold", &|(.., folds)| mean_text(&folds.values(|b| b.rate()), 3)),
            ("bound, δ/5", &|(.., folds)| mean_text(&folds.values(|b| b.bound), 3)),
            ("least slack", &|(.., folds)| folds.least(3, |b| b.bound - b.rate())),
            ("exact error", &|(_, g, _)| mean_text(&g.values(|o| o.exact_error), 3)),
            ("bound, δ", &|(_, g, _)| mean_text(&g.values(|o| o.exact_bound), 3)),
            ("least slack, exact", &|(_, g, _)| g.least(3, |o| o.exact_bound - o.exact_error)),
        ],
    )
}
