//! The figure and the table.

use super::workload::{Configuration, Kind, Outcome};
use crate::experiments::common::{median_text, most};
use halfspaces_eval::{Axis, Colour, Figure, Layer, Results, Table, stats};

/// What groups of configurations share: the kind of data and δ.
fn family(configuration: &Configuration) -> (String, f64) {
    let name = match configuration {
        Configuration::Planted { kind, .. } => kind.clone(),
        other => other.to_string().split(" δ").next().unwrap_or_default().to_owned(),
    };
    (name, configuration.delta())
}

pub(super) fn by_kind(results: &Results<Configuration, Outcome>) -> Table {
    let columns = [
        "data",
        "δ",
        "cases",
        "in position",
        "heavy",
        "unresolved",
        "steps",
        "most steps",
        "worst residual / δ",
        "least soft margin · 4k",
    ];
    let title = "Outcomes by kind of data; steps on the hardest level, median and most";
    let mut table = Table::new("f1-forster", title, &columns);
    let mut families: Vec<(String, f64)> = Vec::new();
    for group in &results.groups {
        let family = family(&group.configuration);
        if !families.contains(&family) {
            families.push(family);
        }
    }
    for wanted in families {
        let outcomes: Vec<&Outcome> = results
            .outcomes()
            .filter(|(c, _)| family(c) == wanted)
            .map(|(_, outcome)| outcome)
            .collect();
        let of = |kind: Kind| outcomes.iter().filter(|o| o.kind == kind).count().to_string();
        let steps: Vec<f64> = outcomes.iter().map(|o| o.iterations as f64).collect();
        let shares: Vec<f64> = outcomes.iter().map(|o| o.residual_share).collect();
        let least = outcomes.iter().filter_map(|o| o.soft_margin).reduce(f64::min);
        table.push(vec![
            wanted.0,
            format!("{:e}", wanted.1),
            outcomes.len().to_string(),
            of(Kind::Isotropic),
            of(Kind::Heavy),
            of(Kind::Unresolved),
            median_text(&steps, 1),
            format!("{:.0}", most(&steps)),
            format!("{:.3}", most(&shares)),
            least.map(|least| format!("{least:.2}")).unwrap_or_default(),
        ]);
    }
    table
}

pub(super) fn soft_margins(results: &Results<Configuration, Outcome>) -> Figure {
    let mut pairs: Vec<(f64, f64)> = Vec::new();
    for (configuration, outcome) in results.outcomes() {
        if let (Configuration::Planted { dim, .. }, Some(margin)) =
            (configuration, outcome.soft_margin)
        {
            pairs.push((*dim as f64, margin));
        }
    }
    let dims: Vec<f64> = pairs.iter().map(|p| p.0).collect();
    let quantiles = [(0.0, "least", Colour::Vermilion), (0.5, "median", Colour::Blue)];
    let mut layers = crate::experiments::common::bound_line("bound 1", &dims, |_| 1.0);
    for (q, name, colour) in quantiles {
        let mut distinct = dims.clone();
        distinct.sort_by(f64::total_cmp);
        distinct.dedup();
        let data = distinct.into_iter().filter_map(|d| {
            let at: Vec<f64> =
                pairs.iter().filter(|p| p.0.total_cmp(&d).is_eq()).map(|p| p.1).collect();
            Some((d, stats::quantile(&at, q)?))
        });
        layers.push(Layer::Points { name: name.into(), colour, data: data.collect() });
    }
    Figure {
        name: "s7-soft-margin".into(),
        caption: "Fraction of points with |u·x| >= 1/(2√k) for the worst u found, as a multiple of 1/(4k), over all planted cases of a dimension. A marker below the dashed line would refute the claim.".into(),
        x: Axis::log("dimension d"),
        y: Axis::log("fraction · 4k"),
        layers,
    }
}
