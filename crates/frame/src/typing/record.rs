//! The record of how a column was read.

use super::civil::DAY;
use super::moment::{clock, exact_text};
use super::rule::{ColumnRule, Kind};
use crate::values::Values;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};

/// The record of how a column was read.
///
/// ```
/// use halfspaces_frame::{ColumnRecord, ColumnRule, Values};
/// let record = ColumnRecord::new("x", ColumnRule::default());
/// let summary = record.summary(&Values::numbers(vec![2.0, f64::NAN, 2.0]));
/// assert_eq!((summary.missing, summary.distinct, summary.examples), (1, 1, vec!["2".to_owned()]));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ColumnRecord {
    /// The name of the column.
    pub name: String,
    /// The rule by which the cells of the column are read, including cells in new rows.
    pub rule: ColumnRule,
    /// Whether the user declared that the column contains categories ([`ReadOptions::category`](crate::ReadOptions)).
    /// Its texts are then categories even if they are varied.
    #[serde(default)]
    pub declared: bool,
    /// Non-empty cells that were read as missing, with their counts.
    #[serde(default)]
    pub markers: BTreeMap<String, usize>,
    /// Notes on decisions that could be wrong. Each note is one sentence that contains the column name and says what to
    /// do. A command prints the notes on the columns that it uses.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// A summary of a column, as shown by `inspect`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnSummary {
    /// The name of the column.
    pub name: String,
    /// The kind of the column's contents.
    pub kind: Kind,
    /// The number of missing values.
    pub missing: usize,
    /// The number of distinct values.
    pub distinct: usize,
    /// The first distinct values.
    pub examples: Vec<String>,
    /// Non-empty cells that were read as missing, with their counts.
    pub markers: BTreeMap<String, usize>,
    /// Notes on decisions that could be wrong.
    pub warnings: Vec<String>,
}

/// The maximum number of distinct values that a summary shows.
const EXAMPLES: usize = 5;

impl ColumnRecord {
    /// Creates the record of a column with the given name and rule, without notes.
    #[must_use]
    pub fn new(name: impl Into<String>, rule: ColumnRule) -> ColumnRecord {
        ColumnRecord { name: name.into(), rule, ..ColumnRecord::default() }
    }

    /// Summarises the values of the column. The time is linear in the number of rows.
    #[must_use]
    pub fn summary(&self, values: &Values) -> ColumnSummary {
        let mut examples = Vec::new();
        let distinct = match values {
            Values::Numbers(numbers) => {
                count(numbers.iter().flatten().map(f64::to_bits), &mut examples, |bits| {
                    f64::from_bits(bits).to_string()
                })
            }
            Values::Texts(texts) => {
                let codes =
                    texts.codes().iter().copied().filter(|code| *code != crate::values::MISSING);
                count(codes, &mut examples, |code| texts.level(code).to_owned())
            }
            Values::Moments(moments) => {
                // A column of times of day contains midnight as well.
                let are_times = moments.iter().flatten().all(|at| (0..DAY).contains(&at));
                let are_times = are_times && moments.iter().flatten().any(|at| at > 0);
                let text = |at| if are_times { clock(at, 0) } else { exact_text(at, 0, false) };
                count(moments.iter().flatten(), &mut examples, text)
            }
        };
        ColumnSummary {
            name: self.name.clone(),
            kind: self.rule.kind,
            missing: values.missing(),
            distinct,
            examples,
            markers: self.markers.clone(),
            warnings: self.notes.clone(),
        }
    }
}

fn count<T: Copy + Eq + std::hash::Hash>(
    values: impl Iterator<Item = T>,
    examples: &mut Vec<String>,
    text: impl Fn(T) -> String,
) -> usize {
    let mut seen = HashSet::new();
    for value in values {
        if seen.insert(value) && examples.len() < EXAMPLES {
            examples.push(text(value));
        }
    }
    seen.len()
}
