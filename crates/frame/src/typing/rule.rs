//! How a column is read: found at `fit`, kept in the model, applied to new rows.

use super::markers::Markers;
use super::moment::MomentFormat;
use super::number::NumberFormat;
use crate::missing::MISSING_CELLS;
use serde::{Deserialize, Serialize};

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Numbers.
    #[default]
    Number,
    /// A few names, each in several rows.
    Category,
    /// Long or varied text.
    Text,
    /// Dates or times.
    Date,
    /// `true` and `false`, as 1 and 0.
    Boolean,
    /// A name or number of its own for each row.
    Identifier,
    /// Row numbers that a program saved with the table.
    Index,
    /// The same value in all rows, or none at all.
    Constant,
}

impl Kind {
    /// The name in lower case.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Kind::Number => "number",
            Kind::Category => "category",
            Kind::Text => "text",
            Kind::Date => "date",
            Kind::Boolean => "boolean",
            Kind::Identifier => "identifier",
            Kind::Index => "index",
            Kind::Constant => "constant",
        }
    }

    /// Whether a model does not learn from such a column unless it is named.
    #[must_use]
    pub fn is_left_out(self) -> bool {
        matches!(self, Kind::Identifier | Kind::Index)
    }
}

/// What the cells of a column become.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reading {
    /// Numbers, in this spelling.
    Number(NumberFormat),
    /// Dates and times, in this form.
    Date(MomentFormat),
    /// `true` and `false`.
    Boolean,
    /// Texts as they are.
    Text,
}

impl Default for Reading {
    fn default() -> Reading {
        Reading::Number(NumberFormat::default())
    }
}

/// How a column is read. A model keeps the rule of each of its columns; with [`Hints::rules`](crate::Hints) new rows are read by
/// it, whatever the format of their file.
///
/// ```
/// use halfspaces_frame::{ColumnRule, Kind, Reading};
/// let rule = ColumnRule { missing: vec!["-999".into()], ..ColumnRule::default() };
/// assert_eq!((rule.kind, rule.is_missing("NA"), rule.is_missing("-999")), (Kind::Number, true, true));
/// assert!(!matches!(rule.reading, Reading::Text));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ColumnRule {
    /// What the column holds.
    pub kind: Kind,
    /// What its cells become.
    pub reading: Reading,
    /// Cells that mean a missing value, in addition to the usual ones: those that were named and those that were found.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// Usual markers of missing values that are values in this column.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_missing: Vec<String>,
}

impl ColumnRule {
    /// A rule that keeps texts as they are.
    #[must_use]
    pub fn category() -> ColumnRule {
        ColumnRule { kind: Kind::Category, reading: Reading::Text, ..ColumnRule::default() }
    }

    /// A rule that keeps texts as they are, with the usual markers of missing values: only an empty cell is missing.
    #[must_use]
    pub fn verbatim() -> ColumnRule {
        let markers = MISSING_CELLS.iter().filter(|marker| !marker.is_empty());
        let not_missing = markers.map(|marker| (*marker).to_owned()).collect();
        ColumnRule { not_missing, ..ColumnRule::category() }
    }

    pub(crate) fn markers(&self) -> Markers {
        Markers::new(&self.missing, &self.not_missing)
    }

    /// Whether a cell of text means that the value is missing.
    #[must_use]
    pub fn is_missing(&self, cell: &str) -> bool {
        self.markers().has(cell.trim().as_bytes())
    }
}
