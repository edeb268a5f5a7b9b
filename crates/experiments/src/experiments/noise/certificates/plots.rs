//! The figure and the tables.

use super::certificate::{Certificate, Slack};
use super::workload::{Arena, Configuration, Outcome};
use crate::experiments::common::*;
use crate::experiments::noise::planar::{Planar, dot};
use halfspaces_pac::Denominator;

/// The largest shortfall in the plane for each denominator of the figure.
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
    let (floors, sums) = (shortfalls(results, floor), shortfalls(results, sum));
    let top = floors.iter().chain(&sums).fold(0.01, |top: f64, (_, y)| top.max(*y));
    let mut layers = Vec::new();
    layers.extend(curve("D = max(a, cγ)", Colour::Blue, floors));
    layers.extend(curve("D = a + cγ", Colour::Orange, sums));
    layers.push(dashed("c = 1/2", Colour::Ink, vec![(0.5, 0.0), (0.5, top)]));
    Figure {
        name: "p1-padding".into(),
        title: "With max(a, cγ), the certificate holds up to c = 1/2; with a + cγ, it always fails".into(),
        caption: "Shortfall of the certificate for links without a loss, divided by Σ|terms|, for the worst distribution and w found by search or by hand. The shortfall is zero for max(a, cγ) with c <= 1/2, and positive for larger c and for every a + cγ.".into(),
        x: Axis::linear("padding c"),
        y: Axis::linear("shortfall / Σ|terms|"),
        layers,
    }
}

pub(super) fn by_certificate(results: &Results<Configuration, Outcome>) -> Table {
    let rows = Certificate::all().into_iter().map(|certificate| {
        let mine = groups_of(results, |c| c.certificate == certificate);
        (certificate, mine.iter().flat_map(|g| &g.outcomes).collect::<Vec<_>>())
    });
    // Values that differ from 0 only by rounding are shown as 0.
    let rounded = |v: f64| if v.abs() < 1e-9 { 0.0 } else { v };
    let least = |outcomes: &[&Outcome], of: fn(&Slack) -> f64| {
        let least = outcomes.iter().map(|o| of(&o.least)).reduce(f64::min);
        least.map_or_else(String::new, |v| format!("{:.4}", rounded(v)))
    };
    let caption = "Smallest (left - right)/Σ|terms| found, in expectation and at a single point";
    table(
        "p1-certificates",
        caption,
        rows,
        &[
            ("certificate", &|(certificate, _)| certificate.to_string()),
            ("said to", &|(c, _)| if c.is_proved() { "hold" } else { "fail" }.into()),
            ("searches", &|(_, mine)| mine.count()),
            ("pairs tried", &|(_, mine)| mine.iter().map(|o| o.tried).sum::<u64>().to_string()),
            ("mean", &|(_, mine)| least(mine, |s| s.mean)),
            ("single point", &|(_, mine)| least(mine, |s| s.point)),
        ],
    )
}

/// The worked example: E[g]·(w - w*) at w = e2, compared with the value that the inequality requires: twice the excess.
pub(super) fn two_points() -> Table {
    let (gamma, w) = (0.01, [0.0, 1.0]);
    let rows = [
        ("max(a, γ)", Denominator::AtLeast(gamma), 0.0),
        ("a + γ", Denominator::Plus(gamma), 0.0),
        ("a + γ/2", Denominator::Plus(gamma / 2.0), 0.01),
        ("max(a, γ/2)", Denominator::AtLeast(gamma / 2.0), 0.0),
        ("max(a, γ/2)", Denominator::AtLeast(gamma / 2.0), 0.01),
    ];
    let rows = rows.map(|(name, denominator, along)| {
        let planar = Planar::two_points(gamma, along);
        (name, along, planar.mean_direction(denominator, w), planar.excess(w))
    });
    let caption = "Two points on which the wrong padding reverses the certificate, for γ = 1/100 and w = e2; if E[g]·(w - w*) is negative, the mean step leads away from w*";
    table(
        "p1-two-points",
        caption,
        rows,
        &[
            ("D", &|(name, ..)| (*name).into()),
            ("r", &|(_, along, ..)| along.to_string()),
            ("E[g]·(w - w*)", &|(.., mean, _)| format!("{:.4}", dot(*mean, [w[0] - 1.0, w[1]]))),
            ("2 (ℓ01(w) - opt_RCN)", &|(.., excess)| format!("{:.4}", 2.0 * excess)),
        ],
    )
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
