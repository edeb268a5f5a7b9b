//! Layers of figures.

use halfspaces_eval::{Colour, Group, Layer, Results, stats};

/// Markers.
pub(crate) fn points(name: &str, colour: Colour, data: Vec<(f64, f64)>) -> Layer {
    Layer::Points { name: name.into(), colour, data }
}

/// A solid line.
pub(crate) fn line(name: &str, colour: Colour, data: Vec<(f64, f64)>) -> Layer {
    Layer::Line { name: name.into(), colour, dashed: false, data }
}

/// A dashed line, for bounds.
pub(crate) fn dashed(name: &str, colour: Colour, data: Vec<(f64, f64)>) -> Layer {
    Layer::Line { name: name.into(), colour, dashed: true, data }
}

/// A line with its points marked.
pub(crate) fn curve(name: &str, colour: Colour, data: Vec<(f64, f64)>) -> [Layer; 2] {
    [line(name, colour, data.clone()), points(name, colour, data)]
}

/// A dashed line of a bound over the span of `x`, unless there is none; around a single positive `x`.
pub(crate) fn bound_line(name: &str, x: &[f64], bound: impl Fn(f64) -> f64) -> Vec<Layer> {
    let ends = x.iter().copied().reduce(f64::min).zip(x.iter().copied().reduce(f64::max));
    let wide = |(least, most): (f64, f64)| match least < most {
        true => (least, most),
        false => (0.8 * least, 1.25 * most),
    };
    let ends = ends.map(wide).into_iter();
    ends.map(|(a, b)| dashed(name, Colour::Ink, vec![(a, bound(a)), (b, bound(b))])).collect()
}

/// Measured against bound: the line on which they are equal, and for each series a marker for every
/// setting that it accepts, of the trial that came closest to its bound.
pub(crate) fn against_bound<C, O, S: Fn(&C) -> bool>(
    results: &Results<C, O>,
    label: &str,
    series: impl IntoIterator<Item = (String, Colour, S)>,
    pair: impl Fn(&O) -> Option<(f64, f64)>,
) -> Vec<Layer> {
    let bounds: Vec<f64> =
        results.outcomes().filter_map(|(_, o)| pair(o)).map(|(bound, _)| bound).collect();
    let mut layers = bound_line(label, &bounds, |bound| bound);
    let closest = |g: &Group<C, O>| {
        let pairs = g.outcomes.iter().filter_map(&pair);
        pairs.max_by(|a, b| (a.1 / a.0).total_cmp(&(b.1 / b.0)))
    };
    for (name, colour, mine) in series {
        let groups = results.groups.iter().filter(|g| mine(&g.configuration));
        layers.push(points(&name, colour, groups.filter_map(closest).collect()));
    }
    layers
}

/// The median of y for each distinct x, by increasing x.
pub(crate) fn medians(pairs: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    quantiles_by_x(pairs, 0.5)
}

/// A quantile of y for each distinct x, by increasing x.
pub(crate) fn quantiles_by_x(mut pairs: Vec<(f64, f64)>, q: f64) -> Vec<(f64, f64)> {
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let chunks = pairs.chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq());
    let quantile = |chunk: &[(f64, f64)]| {
        let ys: Vec<f64> = chunk.iter().map(|(_, y)| *y).collect();
        match stats::quantile(&ys, q) {
            Some(value) => (chunk[0].0, value),
            None => unreachable!("a chunk holds finite values: {ys:?}"),
        }
    };
    chunks.map(quantile).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_grouped_and_ordered() {
        let mut pairs: Vec<(f64, f64)> = (0..=10).rev().map(|y| (2.0, f64::from(y))).collect();
        pairs.push((1.0, 5.0));
        assert_eq!(medians(pairs.clone()), [(1.0, 5.0), (2.0, 5.0)]);
        assert_eq!(quantiles_by_x(pairs, 0.9), [(1.0, 5.0), (2.0, 9.0)]);
    }
}
