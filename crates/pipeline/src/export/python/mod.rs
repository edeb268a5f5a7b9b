//! Writes a model as a Python module without dependencies. The module consists of a fixed program and the data of the
//! model.
//!
//! The data are written as JSON, which Python reads as literals. Each column and each part of the model is on its own
//! line.

mod word_classes;

use crate::export::sums::sums_of;
use crate::model::Part;
use crate::pipeline::Pipeline;
use crate::recipe::{ColumnRecipe, Kind, Recipe};
use halfspaces_frame::{ColumnRule, DataError, NumberFormat, Reading};
use halfspaces_linalg::PointSet;
use halfspaces_pac::Calibration;
use halfspaces_tables::TableScale;
use serde_json::{Value, json};
use std::fmt::Write;

/// The parts of the program. The parts for dates and for texts are written only if the model has such columns.
const MODEL: &str = include_str!("model.py");
const CELLS: &str = include_str!("cells.py");
const MOMENTS: &str = include_str!("moments.py");
const TEXTS: &str = include_str!("texts.py");
const MAIN: &str = include_str!("main.py");

/// Converts a model to a Python module.
///
/// # Errors
/// Returns an error if a column or the learner cannot be expressed in the module.
pub(super) fn export(pipeline: &Pipeline) -> Result<Vec<u8>, DataError> {
    let sums = sums_of(pipeline, "a Python module")?;
    let mut scales: Vec<TableScale<'_>> = Vec::new();
    let mut parts = Vec::new();
    for part in &sums.parts {
        let place = part.scale.map(|scale| {
            scales.iter().position(|other| *other == scale).unwrap_or_else(|| {
                scales.push(scale);
                scales.len() - 1
            })
        });
        parts.push(part_data(part, place));
    }
    let columns = columns(&pipeline.recipe);
    let scales = scales.into_iter().map(scale_data);
    let calibration = sums.calibration.map(|calibration| {
        json!({
            "unit": calibration.unit(),
            "slope": calibration.slope(),
            "exponent": calibration.exponent(),
            "slip": calibration.slip(),
            "tail": calibration.tail(),
            "most": Calibration::MAX_POWER,
        })
    });
    let has = |is: fn(&Kind) -> bool| pipeline.recipe.columns.iter().any(|c| is(&c.kind));
    let has_text = has(|kind| matches!(kind, Kind::Text { .. }));
    let mut program = vec![MODEL, CELLS];
    program.extend(has(|kind| matches!(kind, Kind::Moment { .. })).then_some(MOMENTS));
    program.extend(has_text.then_some(TEXTS));
    program.push(MAIN);
    let mut text = program.join("\n\n");
    text.push_str("\n\n# The model\n\n");
    let mut line = |name: &str, value: &Value| {
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "{name} = {value}");
    };
    line("LABEL_COLUMN", &Value::from(pipeline.label_column()));
    line("CLASSES", &Value::from(pipeline.classes()));
    line("CALIBRATION", &Value::from(calibration));
    if has_text {
        let ranges = word_classes::ranges();
        let classes = json!({
            "first": ranges.iter().map(|range| range.0).collect::<Vec<_>>(),
            "last": ranges.iter().map(|range| range.1).collect::<Vec<_>>(),
            "class": ranges.iter().map(|range| range.2).collect::<String>(),
        });
        line("WORD_CLASSES", &classes);
    }
    for (name, values) in [("COLUMNS", columns), ("SCALES", scales.collect()), ("PARTS", parts)] {
        let _ = writeln!(text, "{name} = [");
        values.iter().for_each(|value| {
            let _ = writeln!(text, "    {value},");
        });
        text.push_str("]\n");
    }
    text.push_str("\nif __name__ == \"__main__\":\n    _main()\n");
    Ok(text.into_bytes())
}

/// The data of the columns of the recipe, with the rules by which their cells are read.
fn columns(recipe: &Recipe) -> Vec<Value> {
    let mut columns = Vec::with_capacity(recipe.columns.len() + recipe.entries.len());
    for column in &recipe.columns {
        let rule = recipe.rules.get(&column.name).cloned();
        let mut data = column_data(column);
        let centre = column.kind.centre();
        let is_text = matches!(column.kind, Kind::Category { .. } | Kind::Text { .. });
        let rule = rule.unwrap_or_else(|| {
            if is_text { ColumnRule::category() } else { ColumnRule::default() }
        });
        add(&mut data, &rule, recipe.sparse);
        data["deviation"] = json!(column.deviation);
        data["centre"] = json!(centre);
        data["width"] = json!(column.kind.width());
        columns.push(data);
    }
    columns.extend(recipe.entries.iter().map(|number| {
        let mut data = json!({
            "kind": "entry", "name": recipe.entry_name(*number), "deviation": null, "width": 1,
        });
        add(&mut data, &ColumnRule::default(), recipe.sparse);
        data
    }));
    columns
}

/// Adds the rule of a column, and whether the column may be absent, to the data of the column.
fn add(data: &mut Value, rule: &ColumnRule, may_be_absent: bool) {
    data["reading"] = match &rule.reading {
        Reading::Number(format) => json!({ "number": spelling(format) }),
        reading => json!(reading),
    };
    data["missing_cells"] = json!(rule.missing_cells());
    data["missing_numbers"] = json!(rule.missing_numbers());
    data["absent"] = json!(may_be_absent);
}

/// The data of a number format. The possible positions of a currency sign or a unit are found by parsing examples.
fn spelling(format: &NumberFormat) -> Value {
    let reads = |cell: String| format.parse(&cell).is_some();
    let affix = format.affix.as_ref().map(|affix| {
        json!({
            "text": affix,
            "before": reads(format!("{affix}1")),
            "after": reads(format!("1{affix}")),
            "spaced": reads(format!("1 {affix}")),
            "bare": reads("1".to_owned()),
        })
    });
    json!({ "decimal": format.decimal, "group": format.group, "affix": affix })
}

fn column_data(column: &ColumnRecipe) -> Value {
    let ColumnRecipe { name, kind, .. } = column;
    match kind {
        Kind::Number { median, missing, .. } => {
            json!({ "kind": "number", "name": name, "median": median, "missing": missing })
        }
        Kind::Category { levels, missing } => {
            json!({ "kind": "category", "name": name, "levels": levels, "missing": missing })
        }
        Kind::Moment { parts, median, missing, .. } => json!({
            "kind": "moment", "name": name, "parts": parts, "median": median, "missing": missing,
        }),
        Kind::Text { ngrams } => json!({ "kind": "text", "name": name, "ngrams": ngrams }),
    }
}

fn scale_data(scale: TableScale<'_>) -> Value {
    match scale {
        TableScale::Standard(scale) => json!({
            "kind": "standard", "means": scale.means(), "deviations": scale.deviations(),
        }),
        TableScale::Ranks(ranks) => {
            json!({ "kind": "ranks", "knots": ranks.knots().collect::<Vec<_>>() })
        }
    }
}

fn part_data(part: &Part<'_>, scale: Option<usize>) -> Value {
    let kernel = part.kernel.map(|kernel| {
        let centres: Vec<&[f64]> = kernel.centres().rows().map(|row| row.as_slice()).collect();
        json!({
            "distance": kernel.kernel().distance(),
            "scale": kernel.kernel().scale(),
            "centres": centres,
        })
    });
    let halfspaces = part.affine.iter();
    let halfspaces = halfspaces.map(|of| json!({ "weights": of.weights, "bias": of.bias }));
    json!({ "scale": scale, "kernel": kernel, "halfspaces": halfspaces.collect::<Vec<_>>() })
}
