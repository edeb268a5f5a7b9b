//! Figures and tables.

use super::workload::{Configuration, Count, Outcome, Run, dim};
use crate::experiments::common::*;

/// The increase in a count per doubling of n, fitted by least squares.
fn slope(counts: &[Count], of: fn(&Count) -> usize) -> Option<f64> {
    let (x, y): (Vec<f64>, Vec<f64>) =
        counts.iter().map(|c| ((c.points as f64).log2(), of(c) as f64)).unzip();
    stats::slope(&x, &y)
}

fn counts(outcome: &Outcome) -> &[Count] {
    of_part!(outcome, Outcome::Growth { counts, .. } => counts)
}

type Counted = (&'static str, Colour, fn(&Count) -> usize);

const COUNTED: [Counted; 4] = [
    ("perceptron, random order", Colour::Blue, |c| c.perceptron),
    ("greedy, no transform", Colour::Orange, |c| c.greedy),
    ("strong learner, random starts, ε=0.1", Colour::Vermilion, |c| c.strong),
    ("recommended learner, all points", Colour::Green, |c| c.recommended),
];

pub(super) fn figure(group: &Group<Configuration, Outcome>) -> Option<Figure> {
    let Configuration::Growth { kind, .. } = &group.configuration else { return None };
    let dim = dim(group)?;
    let counts: Vec<&Count> = group.outcomes.iter().flat_map(counts).collect();
    let mut layers = Vec::new();
    let (mut sizes, mut curves) = (Vec::new(), Vec::new());
    for (name, colour, of) in COUNTED {
        // A logarithmic axis cannot show 0.
        let pairs: Vec<(f64, f64)> =
            counts.iter().map(|c| (c.points as f64, (of(c) as f64).max(0.5))).collect();
        let of_learner = medians(pairs.clone());
        sizes = of_learner.iter().map(|(x, _)| *x).collect();
        curves.push(of_learner);
        layers.extend(median_curve(name, colour, pairs));
    }
    let halving = sizes.iter().map(|n| (*n, dim as f64 * n.log2())).collect();
    layers.push(dashed("d lg n", Colour::Ink, halving));
    Some(Figure {
        name: format!("s9-{}", kind.slug()),
        title: format!("{} ({kind}, d = {dim})", growth_title(&curves)),
        caption: format!(
            "Mistakes against the size of the pool, {kind}, d = {dim}: medians over trials with 10 % and 90 % quantiles; 0 is drawn at 0.5. The strong learner labels 90 % of the points; the others label all points. A flat line means that mistakes do not grow with n. Where the strong learner's curve lies above the line d lg n, a learner without a transform may still make fewer mistakes."
        ),
        x: Axis::log("points n"),
        y: Axis::log("mistakes"),
        layers,
    })
}

/// The largest exponent of n for which the title of a figure says that a count hardly grows. It allows a factor of 1.6
/// for a hundred times as many points.
const HARDLY: f64 = 0.1;

/// The title of a figure, derived from the curves, which are in the order of [`COUNTED`].
fn growth_title(curves: &[Vec<(f64, f64)>]) -> String {
    let power = |curve: &Vec<(f64, f64)>| match (curve.first(), curve.last()) {
        (Some((few, least)), Some((many, most))) if few < many => {
            Some((most / least).ln() / (many / few).ln())
        }
        _ => None,
    };
    let powers: Vec<Option<f64>> = curves.iter().map(power).collect();
    let [Some(in_order), _, Some(strong), Some(recommended)] = powers[..] else {
        return "Mistakes against the size of the pool".into();
    };
    if recommended > HARDLY {
        let than = if recommended < in_order { "fewer" } else { "no fewer" };
        return format!("A larger pool adds mistakes here, {than} than in random order");
    }
    if strong > HARDLY {
        return "With warm starts, a larger pool adds hardly any mistakes".into();
    }
    "After the transform, a larger pool adds hardly any mistakes".into()
}

fn pair(outcome: &Outcome) -> (usize, &[Run]) {
    of_part!(outcome, Outcome::Weak { k, runs } => (*k, runs))
}

pub(super) fn weak_table(results: &Results<Configuration, Outcome>) -> Table {
    let rows = results.groups.iter().filter_map(|g| {
        let (data, dim) = g.configuration.weak_data()?;
        Some((data, dim, g.outcomes.iter().map(pair).collect::<Vec<_>>()))
    });
    let share = |pairs: &[(usize, &[Run])], of: fn(&Run) -> bool| {
        let all = pairs.iter().flat_map(|(_, runs)| runs.iter());
        let (count, all) = (all.clone().filter(|r| of(r)).count(), all.count());
        format!("{:.3}", count as f64 / all.max(1) as f64)
    };
    let aligned = |(k, runs): &(usize, &[Run])| runs.iter().filter(|r| r.is_aligned(*k)).count();
    let failed = |(_, runs): &&(usize, &[Run])| runs.iter().all(|r| !r.succeeded);
    table(
        "s8-weak",
        "Runs of the weak learner from random starts",
        rows,
        &[
            ("data", &|(data, ..)| data.clone()),
            ("d", &|(_, dim, _)| if *dim > 0 { dim.to_string() } else { String::new() }),
            ("k", &|(.., pairs)| pairs.median(0, |(k, _)| *k as f64)),
            ("pairs", &|(.., pairs)| pairs.count()),
            ("aligned runs", &|(.., pairs)| pairs.iter().map(aligned).sum::<usize>().to_string()),
            ("most updates over ⌊4k ln 4k⌋", &|(.., pairs)| {
                let most = pairs.iter().flat_map(|(_, runs)| runs.iter().map(|r| r.spent));
                format!("{:.3}", most.fold(0.0, f64::max))
            }),
            ("runs succeeded", &|(.., pairs)| share(pairs, |r| r.succeeded)),
            ("with the printed cap", &|(.., pairs)| share(pairs, |r| r.paper_succeeded)),
            ("pairs failed", &|(.., pairs)| pairs.iter().filter(failed).count().to_string()),
        ],
    )
}

pub(super) fn reach_table(results: &Results<Configuration, Outcome>) -> Table {
    let rows = results.groups.iter().filter_map(|g| match &g.configuration {
        Configuration::Reach { kind, points, .. } => Some((kind, points, g)),
        _ => None,
    });
    let labelled = |o: &Outcome| of_part!(o, Outcome::Reach { labelled, .. } => *labelled);
    let failed = |o: &Outcome| of_part!(o, Outcome::Reach { failed_rounds, .. } => *failed_rounds);
    let rounds = |o: &Outcome| of_part!(o, Outcome::Reach { rounds, .. } => *rounds as f64);
    let mistakes = |o: &Outcome| of_part!(o, Outcome::Reach { mistakes, .. } => *mistakes as f64);
    table(
        "s9-reach",
        "The strong learner with ε = 0.1 and δ = 0.05: medians over trials",
        rows,
        &[
            ("data", &|(kind, ..)| kind.to_string()),
            ("points", &|(_, points, _)| points.to_string()),
            ("trials", &|(.., g)| g.count()),
            ("least labelled", &|(.., g)| g.least(3, labelled)),
            ("failed rounds", &|(.., g)| g.outcomes.iter().map(failed).sum::<usize>().to_string()),
            ("rounds", &|(.., g)| g.median(1, rounds)),
            ("mistakes", &|(.., g)| g.median(1, mistakes)),
        ],
    )
}

pub(super) fn growth_table(results: &Results<Configuration, Outcome>) -> Table {
    let rows = results.groups.iter().flat_map(|g| {
        let setting = match &g.configuration {
            Configuration::Growth { kind, sizes, .. } => dim(g).map(|dim| (kind, sizes, dim)),
            _ => None,
        };
        setting.into_iter().flat_map(move |(kind, sizes, dim)| {
            COUNTED.map(|(name, _, of)| {
                let per_doubling = |o: &Outcome| slope(counts(o), of).map(|s| s / dim as f64);
                let last = g.median(1, |o| counts(o).last().map(|c| of(c) as f64));
                let growth = mean_cells(&g.values(per_doubling), 3);
                (kind, sizes, dim, name, g.count(), last, growth)
            })
        })
    });
    table(
        "s9-growth",
        "Mistakes at the largest n (medians), and their growth",
        rows,
        &[
            ("data", &|(kind, ..)| kind.to_string()),
            ("d", &|(_, _, dim, ..)| dim.to_string()),
            ("learner", &|(.., name, _, _, _)| (*name).into()),
            ("trials", &|(.., trials, _, _)| trials.clone()),
            ("n", &|(_, sizes, ..)| sizes.last().map_or_else(String::new, ToString::to_string)),
            ("mistakes", &|(.., last, _)| last.clone()),
            ("per doubling / d", &|(.., [slope, _])| slope.clone()),
            ("95 % interval", &|(.., [_, interval])| interval.clone()),
        ],
    )
}

pub(super) fn copies_table(results: &Results<Configuration, Outcome>) -> Table {
    let rows = results.groups.iter().flat_map(|g| {
        let setting = match &g.configuration {
            Configuration::Copies { kind, dim, copies, .. } => Some((kind, *dim, copies)),
            _ => None,
        };
        setting.into_iter().flat_map(move |(kind, dim, copies)| {
            copies.iter().enumerate().map(move |(place, copies)| {
                let shares = g.values(|o| {
                    let mistakes = of_part!(o, Outcome::Copies { mistakes } => mistakes);
                    mistakes.get(place).map(|m| *m as f64 / dim as f64)
                });
                (kind, dim, copies, shares.count(), mean_cells(&shares, 2))
            })
        })
    });
    let caption = "The strong learner from random starts on repeated corners of the cube";
    table(
        "s9-copies",
        caption,
        rows,
        &[
            ("data", &|(kind, ..)| kind.to_string()),
            ("d", &|(_, dim, ..)| dim.to_string()),
            ("copies of a corner", &|(_, _, copies, ..)| copies.to_string()),
            ("trials", &|(.., trials, _)| trials.clone()),
            ("mistakes / d, mean", &|(.., [mean, _])| mean.clone()),
            ("95 % interval", &|(.., [_, interval])| interval.clone()),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_follow_the_growth() {
        // From 100 to 10 000 points: 100^0.1 = 1.58.
        let title = |lasts: [f64; 4]| {
            let curves = lasts.map(|last| vec![(1e2, 10.0), (1e4, last)]);
            growth_title(&curves)
        };
        let hardly = "After the transform, a larger pool adds hardly any mistakes";
        assert_eq!(title([100.0, 50.0, 15.0, 15.0]), hardly);
        let warm = "With warm starts, a larger pool adds hardly any mistakes";
        assert_eq!(title([100.0, 50.0, 17.0, 15.0]), warm);
        let grows = "A larger pool adds mistakes here, fewer than in random order";
        assert_eq!(title([100.0, 50.0, 40.0, 17.0]), grows);
        let most = "A larger pool adds mistakes here, no fewer than in random order";
        assert_eq!(title([16.0, 50.0, 40.0, 17.0]), most);
        assert_eq!(growth_title(&[vec![(1e2, 10.0)]]), "Mistakes against the size of the pool");
    }
}
