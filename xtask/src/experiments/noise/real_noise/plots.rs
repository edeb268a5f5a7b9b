//! Figures and tables.

use super::learners::{Entry, LEARNERS, LOGISTIC, MAJORITY, SVM};
use super::workload::{Bound, Configuration, GROUPS, Noise, Outcome, REGIONS, accuracies_of};
use halfspaces_eval::{Axis, Figure, Group, Layer, Results, Table, stats};

/// The configurations of a data set and noise by increasing rate, the one without noise first.
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

/// Accuracy against the noise rate; `None` where nothing was planned.
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
    let (mut lines, mut bands, mut points) = (Vec::new(), Vec::new(), Vec::new());
    // The majority is in the table; with it no axis would show the others apart.
    for Entry { name, colour, .. } in LEARNERS.iter().filter(|entry| entry.name != MAJORITY) {
        let (mut band, mut line) = (Vec::new(), Vec::new());
        for g in &groups {
            let values = accuracies_of(&g.outcomes, name, group);
            let rate = g.configuration.rate;
            if let Some(mean) = stats::mean(&values) {
                line.push((rate, mean));
                band.extend(stats::mean_interval(&values, 0.95).map(|i| (rate, i.low, i.high)));
            }
        }
        let (name, colour) = ((*name).to_owned(), *colour);
        lines.push(Layer::Line {
            name: name.clone(),
            colour,
            dashed: name == SVM,
            data: line.clone(),
        });
        bands.push(Layer::Band { name: name.clone(), colour, data: band });
        points.push(Layer::Points { name, colour, data: line });
    }
    // Lines first for the legend, and again above the bands.
    let layers = [lines.clone(), bands, lines, points].concat();
    let kebab = noise.to_string().replace(' ', "-");
    let (suffix, of) = if group { ("-group", "of the target group") } else { ("", "of all") };
    Some(Figure {
        name: format!("pr-{data}-{kebab}{suffix}"),
        caption: format!(
            "{data}, labels flipped {noise}: accuracy on clean labels {of} test examples, mean and 95 % interval over folds and trials. The flatter a line, the less its learner minds the noise."
        ),
        x: Axis::linear("noise rate η"),
        y: Axis::linear("accuracy on clean labels"),
        layers,
    })
}

pub(super) fn accuracies(results: &Results<Configuration, Outcome>) -> Table {
    let columns = ["data", "noise", "η", "judged on", "folds"];
    let learners = LEARNERS.map(|entry| entry.name);
    let columns: Vec<&str> = columns.into_iter().chain(learners).chain(["best"]).collect();
    let caption = "Accuracy on clean labels in per cent, mean ± half of the 95 % interval over folds and trials (folds share training examples, so it is somewhat too short)";
    let mut table = Table::new("pr-accuracy", caption, &columns);
    for g in &results.groups {
        for (group, judged) in [(false, "all"), (true, "target group")] {
            let values = learners.map(|learner| accuracies_of(&g.outcomes, learner, group));
            if values[0].is_empty() {
                continue;
            }
            let Configuration { data, noise, rate, .. } = &g.configuration;
            let noise = if *rate > 0.0 { noise.to_string() } else { "none".into() };
            let folds = values[0].len().to_string();
            let mut row = vec![data.clone(), noise, rate.to_string(), judged.into(), folds];
            row.extend(values.iter().map(|values| {
                let mean = stats::mean(values).unwrap_or_default();
                let half = stats::mean_interval(values, 0.95).map_or(0.0, |i| i.high - mean);
                format!("{:.1} ± {:.1}", 100.0 * mean, 100.0 * half)
            }));
            let means = values.iter().map(|v| stats::mean(v).unwrap_or_default());
            let best = means.zip(&learners).max_by(|a, b| a.0.total_cmp(&b.0));
            row.extend(best.map(|(_, learner)| (*learner).to_owned()));
            table.push(row);
        }
    }
    table
}

/// Where a learner differs from another on the same folds: mean of its accuracy minus the other's,
/// and that mean's 95 % interval.
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

/// How often each learner is better or worse than logistic regression.
pub(super) fn wins(results: &Results<Configuration, Outcome>) -> Table {
    let shown = LEARNERS.map(|entry| entry.name);
    let shown = &shown[1..shown.len() - 1];
    let columns: Vec<&str> = ["labels flipped", "judged on", "settings"]
        .into_iter()
        .chain(shown.iter().copied())
        .collect();
    let caption = "Settings in which a learner is better / worse than logistic regression on clean labels: the 95 % interval of the difference, fold by fold, excludes 0";
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
    let columns = [
        "data",
        "noise",
        "η",
        "folds",
        "error, test fold",
        "bound, δ/5",
        "least slack",
        "exact error",
        "bound, δ",
        "least slack, exact",
    ];
    let caption = "The Perspectron's error on noisy labels and the bound it reports, means over folds and trials; slack is bound minus error";
    let mut table = Table::new("pr-bound", caption, &columns);
    let number = |value: Option<f64>| value.map(|v| format!("{v:.3}")).unwrap_or_default();
    let least = |values: &[f64]| values.iter().copied().reduce(f64::min);
    for g in &results.groups {
        let Configuration { data, noise, rate, .. } = &g.configuration;
        let folds: Vec<&Bound> = g.outcomes.iter().flat_map(|o| &o.bounds).collect();
        let of = |f: fn(&Bound) -> f64| -> Vec<f64> { folds.iter().map(|b| f(b)).collect() };
        let exact = |f: fn(&Outcome) -> f64| -> Vec<f64> { g.outcomes.iter().map(f).collect() };
        table.push(vec![
            data.clone(),
            if *rate > 0.0 { noise.to_string() } else { "none".into() },
            rate.to_string(),
            folds.len().to_string(),
            number(stats::mean(&of(|b| b.rate()))),
            number(stats::mean(&of(|b| b.bound))),
            number(least(&of(|b| b.bound - b.rate()))),
            number(stats::mean(&exact(|o| o.exact_error))),
            number(stats::mean(&exact(|o| o.exact_bound))),
            number(least(&exact(|o| o.exact_bound - o.exact_error))),
        ]);
    }
    table
}
