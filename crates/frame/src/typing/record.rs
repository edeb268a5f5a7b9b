//! What is known of a column after it was read.

use super::moment::text as moment_text;
use super::rule::{ColumnRule, Kind};
use crate::values::Values;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};

/// How a column was read.
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
    /// How its cells are read: the rule for new rows.
    pub rule: ColumnRule,
    /// Cells that were read as missing although they hold something, and the number of each.
    #[serde(default)]
    pub markers: BTreeMap<String, usize>,
    /// Decisions that could be wrong, one sentence each with the name of the column and what to do. A command prints those of
    /// the columns that it uses.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// What `inspect` shows of a column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnSummary {
    /// The name.
    pub name: String,
    /// What it holds.
    pub kind: Kind,
    /// Rows without a value.
    pub missing: usize,
    /// Number of distinct values.
    pub distinct: usize,
    /// The first distinct values.
    pub examples: Vec<String>,
    /// Cells that were read as missing although they hold something, and the number of each.
    pub markers: BTreeMap<String, usize>,
    /// Decisions that could be wrong.
    pub warnings: Vec<String>,
}

/// Distinct values that a summary shows.
const EXAMPLES: usize = 5;

impl ColumnRecord {
    /// A column of this name and rule, without notes.
    #[must_use]
    pub fn new(name: impl Into<String>, rule: ColumnRule) -> ColumnRecord {
        ColumnRecord { name: name.into(), rule, ..ColumnRecord::default() }
    }

    /// Counts the values of the column, in time linear in its rows.
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
            Values::Moments(moments) => count(moments.iter().flatten(), &mut examples, moment_text),
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
