//! Converts cells to typed columns. The same rules apply to all formats, in memory and in a stream.
//!
//! A reader collects the cells of each column. Plain numbers are collected as numbers, and everything else is collected
//! as distinct texts with codes ([`Cells`]). Then [`understand`] decides the kind of each column from the distinct
//! texts and their counts. The running time is therefore linear in the number of rows and in the length of the distinct
//! texts.

mod apply;
mod calendar;
mod civil;
mod context;
mod identifier;
mod infer;
mod markers;
mod moment;
mod notes;
mod number;
mod pattern;
mod points;
mod present;
mod raw;
mod record;
mod rule;
mod spelled;

pub use calendar::MomentParts;
pub use infer::MissingSearch;
pub use moment::{DateOrder, MomentFormat};
pub use number::{Decimal, Group, NumberFormat};
pub use record::{ColumnRecord, ColumnSummary};
pub use rule::{ColumnRule, Kind, Reading};
pub use spelled::unread_spelling;

pub(crate) use context::Context;
#[cfg(any(feature = "arrow", feature = "parquet"))]
pub(crate) use identifier::is_nameless_index;
pub(crate) use identifier::{are_media_files, identifies_rows};
pub(crate) use markers::is_likely as is_likely_marker;
pub(crate) use markers::{Markers, missing_signs};
pub(crate) use moment::text as moment_text;
#[cfg(any(feature = "arrow", feature = "parquet"))]
pub(crate) use moment::{clock as clock_text, exact_text};
pub(crate) use number::{has_turned_sign, plain_number};
pub(crate) use points::Points;
pub(crate) use raw::{Cells, RawTexts};

use crate::error::DataError;
use crate::frame::Column;
use crate::options::{Hints, ReadOptions};
use number::Evidence;
use std::collections::BTreeSet;

/// The facts that are known about a column before it is interpreted.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Expected {
    /// Nothing is known.
    Anything,
    /// The column contains texts, because the user declared this, or because it is a label column or a column that is
    /// only displayed.
    Texts,
    /// The schema of the file declares a type.
    Declared(Kind),
    /// The column is read by a rule that was found earlier.
    Rule(ColumnRule),
}

impl Expected {
    /// The facts that are known about the column `name`.
    pub(crate) fn of(name: &str, hints: &Hints) -> Expected {
        if hints.verbatim.contains(name) {
            return Expected::Rule(ColumnRule::verbatim());
        }
        if let Some(rule) = hints.rules.get(name) {
            return Expected::Rule(rule.clone());
        }
        // A model does not use other columns, so the cells of these columns are not checked.
        let is_unused = hints.others_are_texts && !hints.expected.contains(name);
        if hints.texts.contains(name) || is_unused { Expected::Texts } else { Expected::Anything }
    }

    /// The cells that mark a missing number.
    pub(crate) fn markers(&self, options: &ReadOptions) -> Markers {
        match self {
            Expected::Rule(rule) => {
                Markers::new(&[&rule.missing[..], &options.missing].concat(), &rule.not_missing)
            }
            _ => Markers::new(&options.missing, &[]),
        }
    }

    /// Whether values of any type are converted to text. The format of numbers is ignored, because all numbers in a
    /// typed file have the same format.
    pub(crate) fn is_text(&self) -> bool {
        match self {
            Expected::Rule(rule) => rule.reading == Reading::Text,
            other => other.needs_texts(),
        }
    }

    /// Whether the column was declared to contain texts, with or without markers of missing values.
    fn is_declared_text(&self) -> bool {
        match self {
            Expected::Texts => true,
            Expected::Rule(rule) => *rule == ColumnRule::verbatim(),
            _ => false,
        }
    }

    /// Whether plain numbers must be collected as texts. This is necessary if the column does not contain numbers, or
    /// if its numbers are not in the plain format.
    pub(crate) fn needs_texts(&self) -> bool {
        match self {
            Expected::Anything => false,
            Expected::Texts => true,
            Expected::Declared(kind) => matches!(kind, Kind::Category | Kind::Text),
            Expected::Rule(rule) => match &rule.reading {
                Reading::Number(format) => *format != NumberFormat::default(),
                Reading::Date(format) => format.order != DateOrder::Digits,
                Reading::Boolean | Reading::Text => true,
            },
        }
    }
}

/// A column before it is interpreted.
#[derive(Debug)]
pub(crate) struct RawColumn {
    pub(crate) name: String,
    pub(crate) cells: Cells,
    pub(crate) expected: Expected,
}

/// The interpreted columns, with their records.
#[derive(Debug, Default)]
pub(crate) struct Typed {
    pub(crate) columns: Vec<Column>,
    pub(crate) records: Vec<ColumnRecord>,
    /// The indices of columns of plain numbers that must be collected as texts and interpreted again, because points in
    /// them may separate thousands. If there are any, `columns` and `records` are incomplete.
    pub(crate) again: BTreeSet<usize>,
}

/// Decides the kind of each column of a table.
///
/// # Errors
/// Returns an error if a cell does not match the other cells of its column or the rule of its column. The message says
/// where the cell is, what was expected, and what to do.
pub(crate) fn understand(
    columns: Vec<RawColumn>,
    context: &Context<'_>,
) -> Result<Typed, DataError> {
    let unspelled = vec![Points::default(); columns.len()];
    understand_spelled(columns, &unspelled, context)
}

/// Like [`understand`], for a text file. `points` contains, for each column, the set of the numbers of digits after the
/// point.
pub(crate) fn understand_spelled(
    columns: Vec<RawColumn>,
    points: &[Points],
    context: &Context<'_>,
) -> Result<Typed, DataError> {
    let evidence = evidence(&columns, context);
    let mut typed = Typed::default();
    if evidence.elsewhere == Some(Decimal::Comma) || context.options.decimal == Some(Decimal::Comma)
    {
        let is_doubtful = |(column, points): (&RawColumn, &Points)| {
            matches!(&column.cells, Cells::Numbers(values) if points.may_separate_thousands(values))
                && column.expected == Expected::Anything
        };
        let doubtful = columns.iter().zip(points).map(is_doubtful).enumerate();
        typed.again = doubtful.filter(|(_, is_doubtful)| *is_doubtful).map(|(at, _)| at).collect();
        if !typed.again.is_empty() {
            return Ok(typed);
        }
    }
    // The values of a column make it an index only if other features remain.
    let features = columns.iter().filter(|c| !c.expected.is_declared_text()).count();
    let mut only_names = features > 1;
    for (RawColumn { name, cells, expected, .. }, points) in columns.into_iter().zip(points) {
        let (points, is_first) = (*points, only_names);
        let column = infer::Inference { name: &name, context, evidence, is_first, points };
        let (values, mut record) = match &expected {
            Expected::Rule(rule) => apply::apply(&name, rule, cells, points, context)?,
            Expected::Texts => column.texts(cells, true),
            Expected::Declared(kind) => column.declared(*kind, cells)?,
            Expected::Anything => column.anything(cells)?,
        };
        let is_known = matches!(expected, Expected::Rule(_) | Expected::Texts);
        let is_learned = record.rule.kind != Kind::Constant && !record.rule.kind.is_left_out();
        if features > 1 && !is_known && is_learned && identifier::is_saved_index(&name) {
            column.name_rows(&mut record, identifier::Names::Index);
        }
        only_names &= record.rule.kind.is_left_out() || expected.is_declared_text();
        typed.records.push(record);
        typed.columns.push(Column { name, values });
    }
    Ok(typed)
}

/// Collects the evidence for reading ambiguous numbers. It includes the decimal mark of those columns in which the mark
/// is unambiguous.
fn evidence(columns: &[RawColumn], context: &Context<'_>) -> Evidence {
    let mut evidence = Evidence {
        requested: context.options.decimal,
        elsewhere: None,
        delimiter: context.delimiter,
    };
    let (mut comma, mut point) = (false, false);
    for column in columns {
        match &column.cells {
            Cells::Numbers(values) => {
                point |= values.iter().any(|v| v.fract().abs() > 0.0)
                    && !infer::may_be_thousands(values);
            }
            Cells::Texts(texts) if matches!(column.expected, Expected::Anything) => {
                let names: Vec<&str> = texts.levels.iter().map(String::as_str).collect();
                if let Some(found) = number::detect(&names, &texts.rows(), evidence)
                    .filter(|found| found.doubt.is_none())
                {
                    let values: Vec<f64> = found.values.into_iter().flatten().collect();
                    let has_fractions = values.iter().any(|v| v.fract().abs() > 0.0)
                        && !infer::may_be_thousands(&values);
                    let mostly = 2 * values.len() > names.len();
                    comma |= mostly && found.format.decimal == Decimal::Comma;
                    point |= mostly && found.format.decimal == Decimal::Point && has_fractions;
                }
            }
            _ => {}
        }
    }
    evidence.elsewhere = match (comma, point) {
        (true, false) => Some(Decimal::Comma),
        (false, true) => Some(Decimal::Point),
        _ => None,
    };
    evidence
}

#[cfg(test)]
mod tests;
