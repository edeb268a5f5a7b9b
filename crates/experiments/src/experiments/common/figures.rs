//! Layers and titles of figures.

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

/// Medians of y for each x, with a band from the 10 % to the 90 % quantile at every x with at least three values.
pub(crate) fn median_curve(name: &str, colour: Colour, pairs: Vec<(f64, f64)>) -> Vec<Layer> {
    let [low, high] = [0.1, 0.9].map(|q| quantiles_by_x(pairs.clone(), q));
    let ends = low.iter().zip(&high).map(|((x, low), (_, high))| (*x, *low, *high));
    let many = |x: f64| pairs.iter().filter(|p| p.0.total_cmp(&x).is_eq()).count() >= 3;
    let data = ends.filter(|(x, ..)| many(*x)).collect();
    let mut layers = vec![Layer::Band { name: name.into(), colour, data }];
    layers.extend(curve(name, colour, medians(pairs)));
    layers
}

/// Means of the values at each x, with their 95 % intervals.
pub(crate) fn mean_curve(
    name: &str,
    colour: Colour,
    values: impl IntoIterator<Item = (f64, Vec<f64>)>,
) -> Vec<Layer> {
    let (mut means, mut band) = (Vec::new(), Vec::new());
    for (x, values) in values {
        means.extend(stats::mean(&values).map(|mean| (x, mean)));
        band.extend(stats::mean_interval(&values, 0.95).map(|i| (x, i.low, i.high)));
    }
    let mut layers = vec![Layer::Band { name: name.into(), colour, data: band }];
    layers.extend(curve(name, colour, means));
    layers
}

/// The title of a figure that shows measured values against their bound. The title states how many values exceed the
/// bound.
pub(crate) fn bound_title<C, O>(
    results: &Results<C, O>,
    what: &str,
    pair: impl Fn(&O) -> Option<(f64, f64)>,
) -> String {
    let pairs: Vec<(f64, f64)> = results.outcomes().filter_map(|(_, o)| pair(o)).collect();
    // This is the same rounding tolerance as in a verdict.
    let above = pairs.iter().filter(|(bound, value)| *value > bound * (1.0 + 1e-9)).count();
    match (above, pairs.len()) {
        (_, 0) => format!("{what} against the bound"),
        (0, all) => format!("{what} stay within the bound in all {all} runs"),
        (above, all) => format!("{what} exceed the bound in {above} of {all} runs"),
    }
}

/// A dashed line that shows a bound over the range of `x`; empty if there are no values. If there is only one value,
/// which must be positive, the line covers a range around it.
pub(crate) fn bound_line(name: &str, x: &[f64], bound: impl Fn(f64) -> f64) -> Vec<Layer> {
    let ends = x.iter().copied().reduce(f64::min).zip(x.iter().copied().reduce(f64::max));
    let wide = |(least, most): (f64, f64)| match least < most {
        true => (least, most),
        false => (0.8 * least, 1.25 * most),
    };
    let ends = ends.map(wide).into_iter();
    ends.map(|(a, b)| dashed(name, Colour::Ink, vec![(a, bound(a)), (b, bound(b))])).collect()
}

/// Measured values against bounds: the line of equality and, for each series, one marker per accepted setting. The
/// marker shows the trial closest to its bound.
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

/// The median of y for each distinct x, in order of increasing x.
pub(crate) fn medians(pairs: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    quantiles_by_x(pairs, 0.5)
}

/// A quantile of y for each distinct x, in order of increasing x.
pub(crate) fn quantiles_by_x(mut pairs: Vec<(f64, f64)>, q: f64) -> Vec<(f64, f64)> {
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let chunks = pairs.chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq());
    let quantile = |chunk: &[(f64, f64)]| {
        let ys: Vec<f64> = chunk.iter().map(|(_, y)| *y).collect();
        match stats::quantile(&ys, q) {
            Some(value) => (chunk[0].0, value),
            None => unreachable!("the values of a figure are finite: {ys:?}"),
        }
    };
    chunks.map(quantile).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_have_bands_where_there_are_trials() {
        let band = |layers: &[Layer]| match &layers[0] {
            Layer::Band { data, .. } => data.clone(),
            other => panic!("{other:?}"),
        };
        let pairs = vec![(1.0, 0.0), (1.0, 10.0), (1.0, 5.0), (2.0, 7.0), (2.0, 8.0)];
        let of = median_curve("l", Colour::Blue, pairs);
        assert_eq!(band(&of), [(1.0, 1.0, 9.0)]);
        assert!(matches!(&of[1], Layer::Line { data, .. } if data[..] == [(1.0, 5.0), (2.0, 7.5)]));
        let of = mean_curve("l", Colour::Blue, [(1.0, vec![1.0, 2.0, 3.0]), (2.0, vec![5.0])]);
        // The 97.5 % quantile of Student's t with two degrees of freedom is 4.3027, and the standard error is 1/√3.
        let [(x, low, high)] = band(&of)[..] else { panic!("one band") };
        assert!(x == 1.0 && (high - 4.4841).abs() < 1e-3 && (low + 0.4841).abs() < 1e-3);
        assert!(matches!(&of[1], Layer::Line { data, .. } if data[..] == [(1.0, 2.0), (2.0, 5.0)]));
    }

    #[test]
    fn titles_count_what_exceeds_its_bound() {
        let title = |values: Vec<f64>| {
            let group = Group { configuration: (), planned: 3, outcomes: values };
            bound_title(&Results { groups: vec![group] }, "Mistakes", |v| Some((2.0, *v)))
        };
        assert_eq!(title(vec![]), "Mistakes against the bound");
        assert_eq!(title(vec![1.0, 2.0]), "Mistakes stay within the bound in all 2 runs");
        assert_eq!(title(vec![1.0, 2.1]), "Mistakes exceed the bound in 1 of 2 runs");
    }

    #[test]
    fn quantiles_are_grouped_and_ordered() {
        let mut pairs: Vec<(f64, f64)> = (0..=10).rev().map(|y| (2.0, f64::from(y))).collect();
        pairs.push((1.0, 5.0));
        assert_eq!(medians(pairs.clone()), [(1.0, 5.0), (2.0, 5.0)]);
        assert_eq!(quantiles_by_x(pairs, 0.9), [(1.0, 5.0), (2.0, 9.0)]);
    }
}
