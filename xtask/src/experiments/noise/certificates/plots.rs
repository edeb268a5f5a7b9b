//! The figure and the tables.

use super::certificate::{Certificate, Slack};
use super::workload::{Arena, Configuration, Outcome};
use crate::experiments::noise::planar::{Planar, dot};
use halfspaces_eval::{Axis, Colour, Figure, Layer, Results, Table};
use halfspaces_pac::Denominator;

/// The least slack in the plane of the denominators of the figure.
fn shortfalls(
    results: &Results<Configuration, Outcome>,
    share_of: impl Fn(Certificate) -> Option<f64>,
) -> Vec<(f64, f64)> {
    let plane = results.groups.iter().filter(|g| g.configuration.arena == Arena::Plane);
    plane
        .filter_map(|g| {
            let share = share_of(g.configuration.certificate)?;
            let least = g.outcomes.iter().map(|o| o.least.mean.min(o.worked)).reduce(f64::min)?;
            Some((share, (-least).max(0.0)))
        })
        .collect()
}

pub(super) fn figure(results: &Results<Configuration, Outcome>) -> Figure {
    let floor = |c| if let Certificate::Floor { share } = c { Some(share) } else { None };
    let sum = |c| if let Certificate::Padding { share } = c { Some(share) } else { None };
    let mut layers = Vec::new();
    for (name, colour, data) in [
        ("D = max(a, cγ)", Colour::Blue, shortfalls(results, floor)),
        ("D = a + cγ", Colour::Orange, shortfalls(results, sum)),
    ] {
        let line = data.clone();
        layers.push(Layer::Line { name: name.into(), colour, dashed: false, data: line });
        layers.push(Layer::Points { name: name.into(), colour, data });
    }
    let top = layers
        .iter()
        .flat_map(|l| if let Layer::Points { data, .. } = l { data.clone() } else { Vec::new() })
        .fold(0.01, |top: f64, (_, y)| top.max(y));
    layers.push(Layer::Line {
        name: "c = 1/2".into(),
        colour: Colour::Ink,
        dashed: true,
        data: vec![(0.5, 0.0), (0.5, top)],
    });
    Figure {
        name: "p1-padding".into(),
        caption: "By how much of the sum of its terms the link's certificate without loss falls short, in the worst distribution and w found by search or by hand: zero for max(a, cγ) up to c = 1/2, positive beyond and for every a + cγ.".into(),
        x: Axis::linear("padding c"),
        y: Axis::linear("shortfall / Σ|terms|"),
        layers,
    }
}

pub(super) fn by_certificate(results: &Results<Configuration, Outcome>) -> Table {
    let columns = ["certificate", "said to", "searches", "pairs tried", "mean", "single point"];
    let title = "Least (left - right)/Σ|terms| met, of the expectation and of single points";
    let mut table = Table::new("p1-certificates", title, &columns);
    for certificate in Certificate::all() {
        let mine: Vec<&Outcome> = results
            .outcomes()
            .filter(|(c, _)| c.certificate == certificate)
            .map(|(_, o)| o)
            .collect();
        let least = |f: fn(&Slack) -> f64| {
            let least = mine.iter().map(|o| f(&o.least)).reduce(f64::min);
            // Rounding around 0 is no news.
            least.map(|v| format!("{:.4}", if v.abs() < 1e-9 { 0.0 } else { v }))
        };
        table.push(vec![
            certificate.to_string(),
            if certificate.is_proved() { "hold" } else { "fail" }.into(),
            mine.len().to_string(),
            mine.iter().map(|o| o.tried).sum::<u64>().to_string(),
            least(|s| s.mean).unwrap_or_default(),
            least(|s| s.point).unwrap_or_default(),
        ]);
    }
    table
}

/// The worked example: mean of G against the 2 excess it owes, at w = e2.
pub(super) fn two_points() -> Table {
    let columns = ["D", "r", "E[g]·(w - w*)", "2 (ℓ01(w) - opt_RCN)"];
    let title = "Two points on which the wrong padding turns the certificate round, γ = 1/100, w = e2: a negative number leads away from w*";
    let mut table = Table::new("p1-two-points", title, &columns);
    let gamma = 0.01;
    for (name, denominator, along) in [
        ("max(a, γ)", Denominator::AtLeast(gamma), 0.0),
        ("a + γ", Denominator::Plus(gamma), 0.0),
        ("a + γ/2", Denominator::Plus(gamma / 2.0), 0.01),
        ("max(a, γ/2)", Denominator::AtLeast(gamma / 2.0), 0.0),
        ("max(a, γ/2)", Denominator::AtLeast(gamma / 2.0), 0.01),
    ] {
        let planar = Planar::two_points(gamma, along);
        let w = [0.0, 1.0];
        let mean = planar.mean_direction(denominator, w);
        table.push(vec![
            name.into(),
            along.to_string(),
            format!("{:.4}", dot(mean, [w[0] - 1.0, w[1]])),
            format!("{:.4}", 2.0 * planar.excess(w)),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_two_points_is_that_of_the_text() {
        let table = two_points();
        let rows = table.rows();
        let number = |row: usize, column: usize| rows[row][column].parse::<f64>().unwrap();
        assert!(number(0, 2) < -0.03 && number(1, 2) < -0.03 && number(2, 2) < -0.006);
        assert!(number(3, 2) > 0.06 && number(4, 2) > 0.05);
        assert!((0..5).all(|row| (number(row, 3) - 2.0 / 70.0).abs() < 1e-4));
    }
}
