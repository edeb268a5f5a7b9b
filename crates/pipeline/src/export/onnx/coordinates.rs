//! Writes the recipe, which converts columns to coordinates, as part of an ONNX graph.

use super::graph::{Graph, Name, PREFIX, integer};
use super::names::{LABEL, MATRIX, PROBABILITIES, VALUES};
use super::schema::{AttributeProto, Element};
use crate::recipe::{Kind, Recipe};
use halfspaces_frame::{ColumnRule, DataError};

/// A column of the input matrix of numbers.
struct Number {
    name: String,
    median: f64,
    /// The number that is subtracted and the number by which the difference is divided.
    standard: (f64, f64),
    /// The numbers that mark a missing value.
    markers: Vec<f64>,
}

/// The name of the coordinates in the graph, and the columns of the input matrix. The coordinates are in the order of
/// the recipe.
pub(super) struct Coordinates {
    pub(super) name: Name,
    pub(super) columns: Vec<String>,
}

/// Adds the inputs and the nodes of the recipe to the graph.
///
/// # Errors
/// Returns an error if the kind of a column has no counterpart in ONNX or if a column has the name of another input or
/// output.
pub(super) fn write(recipe: &Recipe, graph: &mut Graph) -> Result<Coordinates, DataError> {
    let numbers = numbers(recipe);
    let (mut blocks, mut order): (Vec<Name>, Vec<usize>) = (Vec::new(), Vec::new());
    let mut width = 0;
    let is_missing = |kind: &Kind| matches!(kind, Kind::Number { missing: true, .. });
    let has_missing = recipe.columns.iter().any(|column| is_missing(&column.kind));
    if !numbers.is_empty() {
        let (filled, absent) = write_numbers(&numbers, graph);
        blocks.push(filled);
        width = numbers.len();
        if has_missing {
            blocks.push(graph.op_with("Cast", &[&absent], vec![to(Element::Double)]));
            width *= 2;
        }
    }
    let mut number = 0;
    for column in &recipe.columns {
        match &column.kind {
            Kind::Number { missing, .. } => {
                order.push(number);
                order.extend(missing.then_some(numbers.len() + number));
                number += 1;
            }
            Kind::Category { levels, missing } => {
                check_name(&column.name)?;
                let rule = recipe.rules.get(&column.name);
                let rule = rule.cloned().unwrap_or_else(ColumnRule::category);
                blocks.push(write_category(&column.name, levels, *missing, &rule, graph));
                let of_column = levels.len() + usize::from(*missing);
                order.extend(width..width + of_column);
                width += of_column;
            }
            Kind::Moment { .. } => return Err(refused(&column.name, "dates or times")),
            Kind::Text { .. } => return Err(refused(&column.name, "text")),
        }
    }
    order.extend(number..numbers.len());
    let mut name = match &blocks[..] {
        [block] => block.clone(),
        blocks => {
            let blocks: Vec<&Name> = blocks.iter().collect();
            graph.op_with("Concat", &blocks, vec![integer("axis", 1)])
        }
    };
    if order.len() < width || !order.is_sorted() {
        let order = graph.integers(order.into_iter().map(|at| at as i64).collect());
        name = graph.op_with("Gather", &[&name, &order], vec![integer("axis", 1)]);
    }
    Ok(Coordinates { name, columns: numbers.into_iter().map(|number| number.name).collect() })
}

/// The columns of numbers in the order of the recipe, followed by those of the sparse block.
fn numbers(recipe: &Recipe) -> Vec<Number> {
    let of_columns = recipe.columns.iter().filter_map(|column| {
        let Kind::Number { median, .. } = column.kind else { return None };
        let rule = recipe.rules.get(&column.name);
        Some(Number {
            name: column.name.clone(),
            median,
            standard: column.deviation.map_or((0.0, 1.0), |d| (column.kind.centre(), d)),
            markers: rule.map(ColumnRule::missing_numbers).unwrap_or_default(),
        })
    });
    let of_entries = recipe.entries.iter().map(|number| Number {
        name: recipe.entry_name(*number),
        median: 0.0,
        standard: (0.0, 1.0),
        markers: Vec::new(),
    });
    of_columns.chain(of_entries).collect()
}

/// Adds the matrix of numbers. Returns the name of the coordinates of the numbers and the name of the mask of missing
/// numbers.
fn write_numbers(numbers: &[Number], graph: &mut Graph) -> (Name, Name) {
    let names: Vec<&str> = numbers.iter().map(|number| number.name.as_str()).collect();
    let doc =
        format!("Columns, in this order (NaN stands for a missing number): {}", names.join(", "));
    graph.input(MATRIX, Element::Double, Some(numbers.len()), &doc);
    let mut matrix = MATRIX.to_owned();
    let nan = f64::NAN;
    let most = numbers.iter().map(|number| number.markers.len()).max().unwrap_or(0);
    for at in 0..most {
        // If a column has fewer markers, its markers are padded with NaN, which equals no number.
        let marker = |number: &Number| number.markers.get(at).copied().unwrap_or(nan);
        let markers = graph.row(numbers.iter().map(marker).collect());
        let is_marker = graph.op("Equal", &[&matrix, &markers]);
        let nan = graph.number(nan);
        matrix = graph.op("Where", &[&is_marker, &nan, &matrix]);
    }
    let absent = graph.op("IsNaN", &[&matrix]);
    let medians = graph.row(numbers.iter().map(|number| number.median).collect());
    let mut filled = graph.op("Where", &[&absent, &medians, &matrix]);
    if numbers.iter().any(|number| number.standard != (0.0, 1.0)) {
        let centres = graph.row(numbers.iter().map(|number| number.standard.0).collect());
        let deviations = graph.row(numbers.iter().map(|number| number.standard.1).collect());
        filled = graph.op("Sub", &[&filled, &centres]);
        filled = graph.op("Div", &[&filled, &deviations]);
    }
    (filled, absent)
}

/// Adds a column of categories. Returns the name of its coordinates.
fn write_category(
    name: &str,
    levels: &[String],
    missing: bool,
    rule: &ColumnRule,
    graph: &mut Graph,
) -> Name {
    let markers = rule.missing_cells();
    let doc = "A category as in the training table; an empty string is a missing value, and other strings are unseen";
    graph.input(name, Element::String, Some(1), doc);
    let name = name.to_owned();
    let known = graph.texts(&[1, levels.len()], levels);
    let known = graph.op("Equal", &[&name, &known]);
    let known = graph.op_with("Cast", &[&known], vec![to(Element::Double)]);
    if !missing {
        return known;
    }
    let absent = graph.texts(&[1, markers.len()], &markers);
    let absent = graph.op("Equal", &[&name, &absent]);
    let absent = graph.op_with("Cast", &[&absent], vec![to(Element::Double)]);
    let columns = graph.integers(vec![1]);
    let absent = graph.op("ReduceMax", &[&absent, &columns]);
    graph.op_with("Concat", &[&known, &absent], vec![integer("axis", 1)])
}

/// The attribute for the type to which `Cast` converts.
pub(super) fn to(element: Element) -> AttributeProto {
    integer("to", element as i64)
}

fn refused(name: &str, what: &str) -> DataError {
    DataError::user(format!(
        "column `{name}`: the model learned from {what}, for which ONNX has no operators that give the same coordinates; use \
         --format python, or fit without the column (--drop)"
    ))
}

/// Checks that the name of a column can be used as the name of an input.
fn check_name(name: &str) -> Result<(), DataError> {
    let is_taken = [MATRIX, LABEL, PROBABILITIES, VALUES].contains(&name);
    if is_taken || name.is_empty() || name.starts_with(PREFIX) {
        return Err(DataError::user(format!(
            "column `{name}`: each column of categories becomes an input of the same name, but another input or output \
             already has this name; rename the column and fit again, or use --format python"
        )));
    }
    Ok(())
}
