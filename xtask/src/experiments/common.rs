//! What several experiments share: cells of tables, layers of figures.

use crate::Failure;
use halfspaces_eval::{ClaimStatement, Colour, Evidence, Layer, Section, stats};
use halfspaces_linalg::{Classifier, Halfspace, Label, PointSet, Points};
use halfspaces_online::OnlineLearner;

/// A claim: its id, one sentence, document and number, and the public items that it checks.
pub(crate) fn claim(
    id: &str,
    statement: &str,
    source: &str,
    checks: &'static [&'static str],
) -> ClaimStatement {
    ClaimStatement { id: id.into(), statement: statement.into(), source: source.into(), checks }
}

/// Adds the verdicts on the claims of an experiment, in their order.
pub(crate) fn judge_all<const N: usize>(
    section: &mut Section,
    claims: Vec<ClaimStatement>,
    evidence: [Evidence; N],
) {
    assert_eq!(claims.len(), N, "every claim has its evidence");
    for (claim, evidence) in claims.into_iter().zip(evidence) {
        section.judge(claim, evidence);
    }
}

/// The first `n` points of a pool with the labels of `target`.
pub(crate) fn first_labelled(
    all: &Points,
    target: &Halfspace,
    n: usize,
) -> Result<(Points, Vec<Label>), Failure> {
    let points = all.select(&(0..n).collect::<Vec<_>>())?;
    let labels = target.label_all(&points)?;
    Ok((points, labels))
}

/// The largest of the sizes of nested pools.
pub(crate) fn largest(sizes: &[usize]) -> Result<usize, Failure> {
    Ok(*sizes.iter().max().ok_or("a configuration without sizes")?)
}

/// Mistakes of one pass over a pool.
pub(crate) fn mistakes<L: OnlineLearner, P: PointSet>(
    learner: &mut L,
    points: &P,
    labels: &[Label],
) -> Result<usize, Failure> {
    let mut mistakes = 0;
    for (x, y) in points.rows().zip(labels) {
        mistakes += usize::from(learner.observe(x, *y)?.is_wrong(*y));
    }
    Ok(mistakes)
}

/// Largest of some numbers, 0 if there are none.
pub(crate) fn most(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}

/// Median as text, empty if there is none.
pub(crate) fn median_text(values: &[f64], decimals: usize) -> String {
    stats::median(values).map(|m| format!("{m:.decimals$}")).unwrap_or_default()
}

/// A dashed line of a bound over the span of `x`, unless there is none; around a single positive `x`.
pub(crate) fn bound_line(name: &str, x: &[f64], bound: impl Fn(f64) -> f64) -> Vec<Layer> {
    let ends = x.iter().copied().reduce(f64::min).zip(x.iter().copied().reduce(f64::max));
    let wide = |(least, most): (f64, f64)| match least < most {
        true => (least, most),
        false => (0.8 * least, 1.25 * most),
    };
    let line = ends.map(wide).map(|(least, most)| Layer::Line {
        name: name.into(),
        colour: Colour::Ink,
        dashed: true,
        data: vec![(least, bound(least)), (most, bound(most))],
    });
    line.into_iter().collect()
}

/// The (bound, measured) pair of the trial that came closest to its bound.
pub(crate) fn worst_pair<O>(
    outcomes: &[O],
    pair: impl Fn(&O) -> Option<(f64, f64)>,
) -> Option<(f64, f64)> {
    outcomes.iter().filter_map(pair).max_by(|a, b| (a.1 / a.0).total_cmp(&(b.1 / b.0)))
}

/// The mean and its 95 % interval, for a table.
pub(crate) fn mean_cells(values: &[f64], digits: usize) -> [String; 2] {
    let interval = stats::mean_interval(values, 0.95);
    [
        stats::mean(values).map(|m| format!("{m:.digits$}")).unwrap_or_default(),
        interval.map(|i| format!("{:.digits$} to {:.digits$}", i.low, i.high)).unwrap_or_default(),
    ]
}

/// The median of y for each distinct x, by increasing x.
pub(crate) fn medians(pairs: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    spread_by_x(pairs).into_iter().map(|(x, _, median, _)| (x, median)).collect()
}

/// A line with its points marked.
pub(crate) fn curve(name: &str, colour: Colour, data: Vec<(f64, f64)>) -> [Layer; 2] {
    let name = name.to_owned();
    [
        Layer::Line { name: name.clone(), colour, dashed: false, data: data.clone() },
        Layer::Points { name, colour, data },
    ]
}

/// From (x, y) pairs: x, 10 % quantile, median and 90 % quantile of y for each distinct x, by
/// increasing x.
pub(crate) fn spread_by_x(mut pairs: Vec<(f64, f64)>) -> Vec<(f64, f64, f64, f64)> {
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    pairs
        .chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq())
        .map(|group| {
            let ys: Vec<f64> = group.iter().map(|(_, y)| *y).collect();
            let quantile = |q| match stats::quantile(&ys, q) {
                Some(value) => value,
                None => unreachable!("a chunk holds a pair"),
            };
            (group[0].0, quantile(0.1), quantile(0.5), quantile(0.9))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreads_are_grouped_and_ordered() {
        let mut pairs: Vec<(f64, f64)> = (0..=10).rev().map(|y| (2.0, f64::from(y))).collect();
        pairs.push((1.0, 5.0));
        assert_eq!(spread_by_x(pairs), [(1.0, 5.0, 5.0, 5.0), (2.0, 1.0, 5.0, 9.0)]);
        assert_eq!(median_text(&[], 1), "");
        assert_eq!(most(&[]), 0.0);
    }
}
