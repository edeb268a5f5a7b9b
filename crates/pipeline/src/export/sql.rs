//! Writes a linear model as an SQL query.
//!
//! The decision value of a class is a sum with one term for each column, so no coordinate is computed twice.

use super::sums::sums_of;
use crate::model::Sums;
use crate::pipeline::Pipeline;
use crate::recipe::{Kind, Recipe};
use halfspaces_frame::{ColumnRule, DataError};
use halfspaces_pac::Calibration;
use halfspaces_tables::TableScale;
use std::fmt::Write;

/// The name of the table, its alias in the query, and the names of the columns that the query adds.
const TABLE: &str = "data";
const ALIAS: &str = "t";
const VALUE: &str = "predicted_value";
const SECOND: &str = "second_value";
const LABEL: &str = "predicted_label";
const PROBABILITY: &str = "predicted_probability";
/// The prefix of the column that contains the decision value of a class.
const VALUE_OF: &str = "value=";

/// If z is at least this number, e^-z counts as 0, because databases report an error if an exponential underflows.
const MAX_EXPONENT: f64 = 700.0;

/// The term factor · (x - shift) of a sum.
#[derive(Debug, Clone, Copy, Default)]
struct Term {
    factor: f64,
    shift: f64,
}

impl Term {
    fn at(self, x: f64) -> f64 {
        self.factor * (x - self.shift)
    }
}

/// Converts a model to a query that adds predictions to the columns of a table.
///
/// # Errors
/// Returns an error if a column or the learner has no counterpart in standard SQL.
pub(super) fn export(pipeline: &Pipeline) -> Result<Vec<u8>, DataError> {
    let sums = sums_of(pipeline, "SQL")?;
    let (classes, outputs) = (pipeline.classes(), sums.outputs());
    check_names(&pipeline.recipe, classes)?;
    let value_of = |class: usize| match outputs {
        1 => quoted(VALUE),
        _ => quoted(&format!("{VALUE_OF}{}", classes[class])),
    };
    let mut values = Vec::with_capacity(outputs);
    for output in 0..outputs {
        let (terms, bias) = terms_of(&sums, output, pipeline.recipe.dim())?;
        values.push(sum(&pipeline.recipe, &terms, bias)?);
    }
    let mut text = String::from(
        "-- Written by halfspaces. Columns of numbers are numeric, truth values are 0 and 1, NULL is a missing value, and\n\
         -- strings have no spaces around them.\n\
         -- Replace \"data\" with the name of your table, which must not have a column with the name of an added column.\n",
    );
    let mut inner = format!("  SELECT {}.*", quoted(ALIAS));
    for (output, value) in values.iter().enumerate() {
        let _ = write!(inner, ",\n    {value}\n    AS {}", value_of(output));
    }
    let _ = write!(inner, "\n  FROM {} AS {}", quoted(TABLE), quoted(ALIAS));
    let names: Vec<String> = (0..outputs).map(value_of).collect();
    if outputs > 1 {
        let mut added = format!("{}\n    AS {}", largest(&names), quoted(VALUE));
        if sums.calibration.is_some() {
            let _ = write!(added, ",\n    {}\n    AS {}", second_largest(&names), quoted(SECOND));
        }
        inner =
            format!("  SELECT \"scored\".*,\n    {added}\n  FROM (\n{inner}\n  ) AS \"scored\"");
    }
    let _ =
        write!(text, "SELECT \"valued\".*,\n  {}\n  AS {}", label(classes, &names), quoted(LABEL));
    if let Some(calibration) = sums.calibration {
        let probability = probability(calibration, &names);
        let _ = write!(text, ",\n  {probability}\n  AS {}", quoted(PROBABILITY));
    }
    let _ = writeln!(text, "\nFROM (\n{inner}\n) AS \"valued\"");
    Ok(text.into_bytes())
}

/// Checks that no column of the model has the name of a column that the query adds.
fn check_names(recipe: &Recipe, classes: &[String]) -> Result<(), DataError> {
    let is_taken = |name: &str| {
        let class = name.strip_prefix(VALUE_OF).is_some_and(|of| classes.iter().any(|c| c == of));
        class || [VALUE, SECOND, LABEL, PROBABILITY].contains(&name)
    };
    match recipe.places().iter().find(|(name, _)| is_taken(name)) {
        None => Ok(()),
        Some((name, _)) => Err(DataError::user(format!(
            "column `{name}`: the query adds a column with this name; rename the column and fit again, or use --format python"
        ))),
    }
}

/// Returns the terms of a decision value, one for each coordinate, and its bias.
fn terms_of(sums: &Sums<'_>, output: usize, dim: usize) -> Result<(Vec<Term>, f64), DataError> {
    let (mut terms, mut bias) = (vec![Term::default(); dim], 0.0);
    for part in &sums.parts {
        let affine = &part.affine[output];
        bias += affine.bias;
        match (part.kernel, part.scale) {
            (None, None) => {
                for (term, weight) in terms.iter_mut().zip(&affine.weights) {
                    *term = Term { factor: *weight, shift: 0.0 };
                }
            }
            (None, Some(TableScale::Standard(scale))) => {
                let scales = scale.means().iter().zip(scale.deviations());
                for ((term, weight), (mean, deviation)) in
                    terms.iter_mut().zip(&affine.weights).zip(scales)
                {
                    // All scales of a model have the same means, so the shifts agree.
                    if *deviation > 0.0 {
                        term.factor += weight / deviation;
                        term.shift = *mean;
                    }
                }
            }
            (Some(_), _) | (None, Some(TableScale::Ranks(_))) => {
                return Err(DataError::user(
                    "the model is not one halfspace of the columns for each class, but has kernels or ranks, and SQL has no \
                     practical expression for them; use --format python or onnx, or fit with --learner logistic or svm",
                ));
            }
        }
    }
    Ok((terms, bias))
}

/// Writes the sum of the terms of all columns.
fn sum(recipe: &Recipe, terms: &[Term], bias: f64) -> Result<String, DataError> {
    let mut text = number(bias);
    let mut add = |term: String| text.push_str(&format!("\n    + {term}"));
    let mut first = 0;
    for column in &recipe.columns {
        let name = qualified(&column.name);
        let rule = recipe.rules.get(&column.name);
        let terms = &terms[first..first + column.kind.width()];
        match &column.kind {
            Kind::Number { median, missing, .. } => {
                let numbers = rule.map(ColumnRule::missing_numbers).unwrap_or_default();
                let value = numbers
                    .iter()
                    .fold(name, |value, marker| format!("NULLIF({value}, {})", number(*marker)));
                let mut term = terms[0];
                if let Some(deviation) = column.deviation {
                    term = Term {
                        factor: term.factor / deviation,
                        shift: column.kind.centre() + term.shift * deviation,
                    };
                }
                if term.factor != 0.0 {
                    let filled = format!("COALESCE({value}, {})", number(*median));
                    add(format!("{} * ({filled} - {})", number(term.factor), number(term.shift)));
                }
                if *missing {
                    let (yes, no) = (number(terms[1].at(1.0)), number(terms[1].at(0.0)));
                    add(format!("CASE WHEN {value} IS NULL THEN {yes} ELSE {no} END"));
                }
            }
            Kind::Category { levels, missing } => {
                // This is the value if no category of the column matches, so that all its coordinates are 0.
                let none: f64 = terms.iter().map(|term| term.at(0.0)).sum();
                let with = |at: usize| number(none + terms[at].factor);
                let mut cases = String::new();
                if *missing {
                    let rule = rule.cloned().unwrap_or_else(ColumnRule::category);
                    let markers = rule.missing_cells();
                    let markers: Vec<String> = markers.iter().map(|cell| literal(cell)).collect();
                    let _ = write!(
                        cases,
                        " WHEN {name} IS NULL OR {name} IN ({}) THEN {}",
                        markers.join(", "),
                        with(levels.len())
                    );
                }
                for (at, level) in levels.iter().enumerate() {
                    let _ = write!(cases, " WHEN {name} = {} THEN {}", literal(level), with(at));
                }
                add(format!("CASE{cases} ELSE {} END", number(none)));
            }
            Kind::Moment { .. } => return Err(refused(&column.name, "dates or times")),
            Kind::Text { .. } => return Err(refused(&column.name, "text")),
        }
        first += column.kind.width();
    }
    for (entry, term) in recipe.entries.iter().zip(&terms[first..]) {
        if term.factor != 0.0 {
            let name = qualified(&recipe.entry_name(*entry));
            let (factor, shift) = (number(term.factor), number(term.shift));
            add(format!("{factor} * (COALESCE({name}, {}) - {shift})", number(0.0)));
        }
    }
    Ok(text)
}

/// Writes a column of the table, qualified by the alias of the table. Without the alias, some databases read the name
/// of an absent column as a string.
fn qualified(column: &str) -> String {
    format!("{}.{}", quoted(ALIAS), quoted(column))
}

/// Writes the expression for the largest of several columns.
fn largest(names: &[String]) -> String {
    let mut text = String::from("CASE");
    for (at, name) in names.iter().enumerate() {
        let later: Vec<String> =
            names[at + 1..].iter().map(|other| format!("{name} >= {other}")).collect();
        if later.is_empty() {
            let _ = write!(text, " ELSE {name} END");
        } else {
            let _ = write!(text, " WHEN {} THEN {name}", later.join(" AND "));
        }
    }
    text
}

/// Writes the expression for the second largest of several columns. It is the column for which exactly one other column
/// is larger, or is equal and comes first.
fn second_largest(names: &[String]) -> String {
    let cases = names.iter().enumerate().map(|(at, name)| {
        let others = names.iter().enumerate().filter(|(place, _)| *place != at);
        let ahead = others.map(|(place, other)| {
            let is = if place < at { ">=" } else { ">" };
            format!("CASE WHEN {other} {is} {name} THEN 1 ELSE 0 END")
        });
        format!(" WHEN {} = 1 THEN {name}", ahead.collect::<Vec<_>>().join(" + "))
    });
    format!("CASE{} END", cases.collect::<String>())
}

/// Writes the expression for the predicted class.
fn label(classes: &[String], names: &[String]) -> String {
    if let [value] = names {
        let (first, second) = (literal(&classes[0]), literal(&classes[1]));
        return format!("CASE WHEN {value} >= 0 THEN {second} ELSE {first} END");
    }
    let is_largest = names.iter().zip(classes);
    let is_largest = is_largest
        .map(|(name, class)| format!(" WHEN {name} = {} THEN {}", quoted(VALUE), literal(class)));
    format!("CASE{} END", is_largest.collect::<String>())
}

/// Writes the expression for the probability of the predicted class, as [`Calibration::probabilities`] computes it. The
/// predicted class has the unnormalised share 1.
fn probability(calibration: Calibration, names: &[String]) -> String {
    let power = |distance: &str| {
        let ratio = format!("{distance} / {}", number(calibration.unit()));
        format!("POWER({ratio}, {})", number(calibration.exponent()))
    };
    let share = |power: String| {
        // The power may overflow to infinity, and 0 times infinity is NaN.
        if calibration.slope() == 0.0 {
            return number(1.0);
        }
        let exponent = format!("{} * {power}", number(calibration.slope()));
        format!("CASE WHEN {exponent} < {MAX_EXPONENT:e} THEN EXP(-({exponent})) ELSE 0e0 END")
    };
    let (value, second) = (quoted(VALUE), quoted(SECOND));
    let total = match names {
        [name] => format!("1e0 + {}", share(power(&format!("ABS({name})")))),
        names => {
            let shares = names.iter().map(|name| {
                let power_of = power(&format!("({value} - {name})"));
                let power_of_second = power(&format!("({value} - {second})"));
                let tail = number(calibration.tail());
                share(format!(
                    "CASE WHEN {name} >= {second} THEN {power_of} ELSE {power_of_second} + {tail} * ({power_of} - \
                     {power_of_second}) END"
                ))
            });
            shares.collect::<Vec<_>>().join("\n    + ")
        }
    };
    let slip = calibration.slip();
    let floor = number(slip / names.len().max(2) as f64);
    format!("{floor} + {} / ({total})", number(1.0 - slip))
}

fn refused(name: &str, what: &str) -> DataError {
    DataError::user(format!(
        "column `{name}`: the model learned from {what}, for which databases have no common functions; use --format python, \
         or fit without the column (--drop)"
    ))
}

/// Writes a number as a floating-point literal, so that no database computes with integers or decimals.
fn number(value: f64) -> String {
    if value < 0.0 { format!("({value:e})") } else { format!("{value:e}") }
}

/// Writes the name of a column in quotes.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Writes a text as a string literal.
fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
