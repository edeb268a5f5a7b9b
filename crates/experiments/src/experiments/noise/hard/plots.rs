//! The figures and the tables.

use super::super::or_beyond;
use super::told::{TRUE_MARGIN, TRUE_NOISE, TRUE_SCALE};
use super::workload::{
    Configuration, Learner, Listed, ORDER_EXCESS, ORDER_MARGIN, ORDER_NOISE, Outcome, Told,
};
use crate::experiments::common::*;

/// Among the outcomes of a setting, the one whose search found the largest value.
fn best(group: &Group<Configuration, Outcome>) -> Option<&Outcome> {
    let searched = |o: &Outcome| match o {
        Outcome::Worst { searched, .. } | Outcome::Slack { searched, .. } => *searched,
        Outcome::Pairs { .. } | Outcome::Order { .. } | Outcome::Told { .. } => {
            unreachable!("only searches are compared")
        }
    };
    group.outcomes.iter().max_by(|a, b| searched(a).total_cmp(&searched(b)))
}

fn points_text(atoms: &[Listed]) -> String {
    let one = |[along, across, flip, mass]: &Listed| {
        format!("({along:.3}, {across:.3}) {mass:.3} flipped {flip:.3}")
    };
    atoms.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// Error - opt on the worst distribution found, against η, with one line per learner.
pub(super) fn worst_figure(results: &Results<Configuration, Outcome>) -> Option<Figure> {
    const COLOURS: [Colour; 5] =
        [Colour::Blue, Colour::Green, Colour::Orange, Colour::Purple, Colour::Vermilion];
    let mut layers = Vec::new();
    let mut rates = Vec::new();
    for (learner, colour) in Learner::ALL.into_iter().zip(COLOURS) {
        let mine = |c: &Configuration| matches!(c, Configuration::Worst { learner: other, .. } if *other == learner);
        let data: Vec<(f64, f64)> = groups_of(results, mine)
            .into_iter()
            .filter_map(|g| {
                let noise = of_part!(g.configuration, Configuration::Worst { noise, .. } => noise);
                Some((noise, of_part!(best(g)?, Outcome::Worst { judged, .. } => *judged)))
            })
            .collect();
        rates.extend(data.iter().map(|(noise, _)| *noise));
        layers.extend(curve(&learner.to_string(), colour, data));
    }
    if rates.is_empty() {
        return None;
    }
    let built = groups_of(
        results,
        |c| matches!(c, Configuration::Pairs { margin, .. } if *margin < 0.06 && *margin > 0.04),
    );
    let built = built.into_iter().flat_map(|g| {
        let noise = of_part!(g.configuration, Configuration::Pairs { noise, .. } => noise);
        g.outcomes.iter().map(move |o| (noise, of_part!(o, Outcome::Pairs { told, .. } => *told)))
    });
    layers.extend(curve("Perspectron, points of P13", Colour::Sky, medians(built.collect())));
    layers.extend(bound_line("η", &rates, |noise| noise));
    Some(Figure {
        name: "p13-worst".into(),
        title: "The largest excess over the error of the best halfspace, found for each learner by search".into(),
        caption: "Error - opt against η on the worst distribution of three pairs of points found for each learner, evaluated in fresh runs with γ = 0.1. Also shown is the Perspectron on the points constructed for P13, with γ = 0.05 and opt = 0. The theorems allow η + ε - opt (dashed: η).".into(),
        x: Axis::linear("noise rate η"),
        y: Axis::linear("error - opt"),
        layers,
    })
}

/// Largest error - opt at which a wrong parameter counts as harmless.
const MISLED: f64 = 0.05;

/// Builds the title from the largest error - opt at each value of the parameter.
fn told_title(what: &str, most: &[(f64, f64)], truth: f64) -> String {
    let misleads = |of: fn(f64, f64) -> bool| {
        most.iter().any(|(value, excess)| of(*value, truth) && *excess > MISLED)
    };
    let text = match (misleads(|v, t| v < t), misleads(|v, t| v > t)) {
        (false, false) => "that is wrong adds no error, at any value tested",
        (false, true) => "that is too large adds error; one that is too small does not",
        (true, false) => "that is too small adds error; one that is too large does not",
        (true, true) => "that is wrong in either direction adds error",
    };
    format!("{what} {text}")
}

/// Error - opt against the parameter given to the learner: the median and the maximum over trials.
pub(super) fn told_figures(results: &Results<Configuration, Outcome>) -> Vec<Figure> {
    let figure = |what: Told, name: &str, told: &str, truth: f64, caption: String| {
        let mine =
            |c: &Configuration| matches!(c, Configuration::Told { what: w, .. } if *w == what);
        let mut pairs: Vec<(f64, f64)> = Vec::new();
        for group in groups_of(results, mine) {
            let value = of_part!(group.configuration, Configuration::Told { value, .. } => value);
            let of = |o: &Outcome| of_part!(o, Outcome::Told { excess } => (value, *excess));
            pairs.extend(group.outcomes.iter().map(of));
        }
        let most = quantiles_by_x(pairs.clone(), 1.0);
        let title = told_title(told, &most, truth);
        let top = most.iter().fold(0.01, |top: f64, (_, y)| top.max(*y));
        let mut layers = Vec::from(curve("median", Colour::Blue, medians(pairs)));
        layers.push(points("largest", Colour::Orange, most));
        layers.push(dashed("true value", Colour::Ink, vec![(truth, 0.0), (truth, top)]));
        let x = what.to_string();
        let x = if what == Told::Noise { Axis::linear(&x) } else { Axis::log(&x) };
        let y = Axis::linear("error - opt");
        Figure { name: name.into(), title, caption, x, y, layers }
    };
    vec![
        figure(
            Told::Margin,
            "p13-told-margin",
            "A margin",
            TRUE_MARGIN,
            format!(
                "Error - opt of the Perspectron on two pairs of points with margin {TRUE_MARGIN} and without a wrong label, against the margin that it is given; the given noise rate is 0.1, ε = 0.2."
            ),
        ),
        figure(
            Told::Noise,
            "p13-told-noise",
            "A noise rate",
            TRUE_NOISE,
            format!(
                "Error - opt of the Perspectron on two pairs of points with margin 0.1, where every label is wrong with probability {TRUE_NOISE}, against the noise rate that it is given; ε = 0.2."
            ),
        ),
        figure(
            Told::Scale,
            "p13-told-link",
            "A link's scale",
            TRUE_SCALE,
            format!(
                "Error - opt of the GLM Perspectron on points with margin 0.2 in R^6, with labels that follow a logistic link of scale {TRUE_SCALE}, against the scale that it is given; ε = 0.2."
            ),
        ),
    ]
}

pub(super) fn found_table(results: &Results<Configuration, Outcome>) -> Table {
    let groups = groups_of(results, |c| matches!(c, Configuration::Worst { .. }));
    let rows = groups.iter().filter_map(|g| {
        let (learner, noise) =
            of_part!(g.configuration, Configuration::Worst { learner, noise, .. } => (learner, noise));
        let tried: u64 =
            g.outcomes.iter().map(|o| of_part!(o, Outcome::Worst { tried, .. } => *tried)).sum();
        Some((learner, noise, tried, best(g)?))
    });
    type Row<'a> = (Learner, f64, u64, &'a Outcome);
    let number = |of: fn(&Outcome) -> f64| move |row: &Row<'_>| format!("{:.3}", of(row.3));
    table(
        "p13-worst",
        "Searches for a large excess error (error - opt), γ = 0.1: the best result for each learner and η, with the value in the search and in fresh runs; a point is given as (w*·x, coordinate orthogonal to w*), followed by its mass and flip probability",
        rows,
        &[
            ("learner", &|row: &Row<'_>| row.0.to_string()),
            ("η", &|row| row.1.to_string()),
            ("distributions tried", &|row| row.2.to_string()),
            ("opt", &number(|o| of_part!(o, Outcome::Worst { opt, .. } => *opt))),
            ("searched", &number(|o| of_part!(o, Outcome::Worst { searched, .. } => *searched))),
            ("fresh runs", &number(|o| of_part!(o, Outcome::Worst { judged, .. } => *judged))),
            ("not searched", &number(|o| of_part!(o, Outcome::Worst { random, .. } => *random))),
            ("points", &|row| of_part!(row.3, Outcome::Worst { atoms, .. } => points_text(atoms))),
        ],
    )
}

pub(super) fn slack_table(results: &Results<Configuration, Outcome>) -> Table {
    let groups = groups_of(results, |c| matches!(c, Configuration::Slack { .. }));
    let rows = groups.iter().filter_map(|g| {
        let told =
            of_part!(g.configuration, Configuration::Slack { noise, steps, .. } => (noise, steps));
        Some((told, best(g)?))
    });
    type Row<'a> = ((f64, u64), &'a Outcome);
    let number = |of: fn(&Outcome) -> f64| move |row: &Row<'_>| format!("{:.3}", of(row.1));
    table(
        "p13-slack",
        "Searches for runs close to their bound: (mean error of the iterates - η) divided by (1-η)/(γ√T), γ = 0.1. The best result for each η and T, with the value in the search and in fresh runs",
        rows,
        &[
            ("η", &|row: &Row<'_>| row.0.0.to_string()),
            ("T", &|row| row.0.1.to_string()),
            ("searched", &number(|o| of_part!(o, Outcome::Slack { searched, .. } => *searched))),
            ("fresh runs", &number(|o| of_part!(o, Outcome::Slack { judged, .. } => *judged))),
            ("not searched", &number(|o| of_part!(o, Outcome::Slack { random, .. } => *random))),
            ("points", &|row| of_part!(row.1, Outcome::Slack { atoms, .. } => points_text(atoms))),
        ],
    )
}

/// The largest sample size.
fn last_size(sizes: &[usize]) -> usize {
    let Some(most) = sizes.last() else { unreachable!("every search has a sample size") };
    *most
}

/// The upper median as text; a size beyond the largest sample is sorted to the end.
fn median_size(sizes: impl Iterator<Item = Option<usize>>, most: usize) -> String {
    let mut sizes: Vec<usize> = sizes.map(or_beyond).collect();
    sizes.sort_unstable();
    match sizes.get(sizes.len() / 2) {
        None => String::new(),
        Some(&usize::MAX) => format!("> {most}"),
        Some(n) => n.to_string(),
    }
}

/// The summary of the searches for the order of Table 1.
pub(super) fn order_summary(results: &Results<Configuration, Outcome>) -> String {
    let groups = groups_of(results, |c| matches!(c, Configuration::Order { .. }));
    let (mut searches, mut found, mut most, mut tried) = (0, Vec::new(), 0, 0);
    for group in groups {
        let (rival, moves) = of_part!(group.configuration, Configuration::Order { rival, moves, .. } => (rival, moves));
        for outcome in &group.outcomes {
            let (sizes, needed) =
                of_part!(outcome, Outcome::Order { sizes, needed, .. } => (sizes, needed));
            let fewer = needed.iter().filter(|n| or_beyond(n.0) < or_beyond(n.1)).count();
            searches += 1;
            tried += moves;
            most = most.max(last_size(sizes));
            if 2 * fewer > needed.len() {
                found.push(rival.to_string());
            }
        }
    }
    let found = if found.is_empty() { "none".to_owned() } else { found.join(", ") };
    format!(
        "The order of Table 1 is searched for at η = {ORDER_NOISE}, ε = {ORDER_EXCESS}, γ = {ORDER_MARGIN}, where theory predicts it: {searches} searches with {tried} moves in total look for three pairs of points on which the Perspectron needs fewer examples than a rival. The result of each search is evaluated on fresh samples of up to {most} examples. Rivals that need more examples than the Perspectron on most of these samples, for at least one search: {found}."
    )
}

pub(super) fn order_table(results: &Results<Configuration, Outcome>) -> Table {
    let groups = groups_of(results, |c| matches!(c, Configuration::Order { .. }));
    let rows = groups.iter().flat_map(|g| {
        let rival = of_part!(g.configuration, Configuration::Order { rival, .. } => rival);
        g.outcomes.iter().map(move |o| (rival, o))
    });
    type Row<'a> = (Learner, &'a Outcome);
    fn runs(o: &Outcome) -> &[(Option<usize>, Option<usize>)] {
        of_part!(o, Outcome::Order { needed, .. } => needed)
    }
    fn most(o: &Outcome) -> usize {
        of_part!(o, Outcome::Order { sizes, .. } => last_size(sizes))
    }
    let caption = format!(
        "Searches for points on which the Perspectron needs fewer examples than a rival, η = {ORDER_NOISE}, γ = {ORDER_MARGIN}, ε = {ORDER_EXCESS}: median number of examples needed for an error of η + ε on fresh samples of doubling size, and the number of paired samples on which the Perspectron needs fewer or more examples"
    );
    table(
        "p13-order",
        &caption,
        rows,
        &[
            ("rival", &|row: &Row<'_>| row.0.to_string()),
            ("Perspectron", &|row| median_size(runs(row.1).iter().map(|n| n.0), most(row.1))),
            ("rival's", &|row| median_size(runs(row.1).iter().map(|n| n.1), most(row.1))),
            ("pairs", &|row| runs(row.1).len().to_string()),
            ("Perspectron needs fewer", &|row| {
                runs(row.1).iter().filter(|n| or_beyond(n.0) < or_beyond(n.1)).count().to_string()
            }),
            ("Perspectron needs more", &|row| {
                runs(row.1).iter().filter(|n| or_beyond(n.0) > or_beyond(n.1)).count().to_string()
            }),
            (
                "error at the largest, Perspectron",
                &|row| of_part!(row.1, Outcome::Order { ours, .. } => ours.last().map_or(String::new(), |e| format!("{e:.3}"))),
            ),
            (
                "error at the largest, rival",
                &|row| of_part!(row.1, Outcome::Order { theirs, .. } => theirs.last().map_or(String::new(), |e| format!("{e:.3}"))),
            ),
            ("points", &|row| of_part!(row.1, Outcome::Order { atoms, .. } => points_text(atoms))),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_say_which_values_add_error() {
        let title = |excesses: [f64; 3]| {
            let most: Vec<(f64, f64)> = [0.1, 0.2, 0.4].into_iter().zip(excesses).collect();
            told_title("A margin", &most, 0.2)
        };
        assert_eq!(title([0.0; 3]), "A margin that is wrong adds no error, at any value tested");
        let large = "A margin that is too large adds error; one that is too small does not";
        assert_eq!(title([0.01, 0.0, 0.3]), large);
        let small = "A margin that is too small adds error; one that is too large does not";
        assert_eq!(title([0.06, 0.0, 0.0]), small);
        let both = "A margin that is wrong in either direction adds error";
        assert_eq!(title([0.3, 0.0, 0.3]), both);
    }
}
