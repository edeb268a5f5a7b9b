//! The figure and the table.

use super::workload::{Configuration, Kind, Outcome};
use crate::experiments::common::*;

pub(super) fn by_kind(results: &Results<Configuration, Outcome>) -> Table {
    let mut families: Vec<((String, f64), Vec<&Outcome>)> = Vec::new();
    for group in &results.groups {
        let family = group.configuration.family();
        match families.iter_mut().find(|(known, _)| *known == family) {
            Some((_, outcomes)) => outcomes.extend(&group.outcomes),
            None => families.push((family, group.outcomes.iter().collect())),
        }
    }
    let of = |outcomes: &[&Outcome], kind: Kind| {
        outcomes.iter().filter(|o| o.kind == kind).count().to_string()
    };
    let caption = "Outcomes by kind of data, and the number of steps on the hardest level: median and maximum";
    table(
        "f1-forster",
        caption,
        families,
        &[
            ("data", &|((name, _), _)| name.clone()),
            ("δ", &|((_, delta), _)| format!("{delta:e}")),
            ("cases", &|(_, all)| all.count()),
            ("in position", &|(_, all)| of(all, Kind::Isotropic)),
            ("heavy", &|(_, all)| of(all, Kind::Heavy)),
            ("unresolved", &|(_, all)| of(all, Kind::Unresolved)),
            ("steps", &|(_, all)| all.median(1, |o| o.iterations as f64)),
            ("most steps", &|(_, all)| all.most(0, |o| o.iterations as f64)),
            ("worst residual / δ", &|(_, all)| all.most(3, |o| o.residual_share)),
            ("least soft margin · 4k", &|(_, all)| all.least(2, |o| o.soft_margin)),
        ],
    )
}

pub(super) fn soft_margins(results: &Results<Configuration, Outcome>) -> Figure {
    let pair = |(c, o): (&Configuration, &Outcome)| match c {
        Configuration::Planted { dim, .. } | Configuration::Soft { dim } => {
            o.soft_margin.map(|margin| (*dim as f64, margin))
        }
        _ => None,
    };
    let pairs: Vec<(f64, f64)> = results.outcomes().filter_map(pair).collect();
    let dims: Vec<f64> = pairs.iter().map(|p| p.0).collect();
    let mut layers = bound_line("bound 1", &dims, |_| 1.0);
    layers.push(points("least", Colour::Vermilion, quantiles_by_x(pairs.clone(), 0.0)));
    layers.push(points("median", Colour::Blue, medians(pairs)));
    Figure {
        name: "s7-soft-margin".into(),
        title: "In radially isotropic position, every direction has enough points far from the boundary".into(),
        caption: "Fraction of points with |u·x| >= 1/(2√k) for the worst u found, as a multiple of 1/(4k), over all planted cases of a dimension and the points constructed for S7. A marker below the dashed line would refute the claim.".into(),
        x: Axis::log("dimension d"),
        y: Axis::log("fraction · 4k"),
        layers,
    }
}
