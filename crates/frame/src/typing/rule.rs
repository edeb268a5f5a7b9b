//! The rule by which a column is read: found at `fit`, stored in the model, applied to new rows.

use super::markers::Markers;
use super::moment::MomentFormat;
use super::number::NumberFormat;
use crate::missing::MISSING_CELLS;
use serde::{Deserialize, Serialize};

/// The kind of a column's contents.
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
    /// A distinct name or number in each row.
    Identifier,
    /// Row numbers that a program saved with the table.
    Index,
    /// The same value in all rows, or only missing values.
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

    /// Whether a model ignores such a column unless it is requested.
    #[must_use]
    pub fn is_left_out(self) -> bool {
        matches!(self, Kind::Identifier | Kind::Index)
    }
}

/// The conversion of the cells of a column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reading {
    /// Parse numbers in this spelling.
    Number(NumberFormat),
    /// Parse dates and times in this format.
    Date(MomentFormat),
    /// Parse `true` and `false`.
    Boolean,
    /// Keep texts unchanged.
    Text,
}

impl Default for Reading {
    fn default() -> Reading {
        Reading::Number(NumberFormat::default())
    }
}

/// The rule by which a column is read. A model stores the rules of its columns. With [`Hints::rules`](crate::Hints) new
/// rows are read by the same rules, regardless of their file format.
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
    /// The kind of the column's contents.
    pub kind: Kind,
    /// The conversion of its cells.
    pub reading: Reading,
    /// Cells that mean a missing value, in addition to the common markers: those set by the user and those detected.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// Common markers of missing values that are values in this column.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_missing: Vec<String>,
}

impl ColumnRule {
    /// A rule that keeps texts unchanged.
    #[must_use]
    pub fn category() -> ColumnRule {
        ColumnRule { kind: Kind::Category, reading: Reading::Text, ..ColumnRule::default() }
    }

    /// A rule that keeps texts unchanged, including the common markers: only an empty cell is missing.
    #[must_use]
    pub fn verbatim() -> ColumnRule {
        let markers = MISSING_CELLS.iter().filter(|marker| !marker.is_empty());
        let not_missing = markers.map(|marker| (*marker).to_owned()).collect();
        ColumnRule { not_missing, ..ColumnRule::category() }
    }

    /// All text cells that mean a missing value: the common markers and those of the column.
    #[must_use]
    pub fn missing_cells(&self) -> Vec<String> {
        let usual = MISSING_CELLS.iter().map(|marker| (*marker).to_owned());
        let usual = usual.filter(|marker| !self.not_missing.contains(marker));
        let mut cells: Vec<String> = usual.collect();
        cells.extend(self.missing.iter().cloned());
        cells
    }

    /// The numbers that mean a missing value, such as -999.
    #[must_use]
    pub fn missing_numbers(&self) -> Vec<f64> {
        self.missing.iter().filter_map(|marker| NumberFormat::default().parse(marker)).collect()
    }

    pub(crate) fn markers(&self) -> Markers {
        Markers::new(&self.missing, &self.not_missing)
    }

    /// Whether a text cell means a missing value.
    #[must_use]
    pub fn is_missing(&self, cell: &str) -> bool {
        self.markers().has(cell.trim().as_bytes())
    }
}
