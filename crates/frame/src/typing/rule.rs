//! The rule by which a column is read. The rule is found when a model is fitted. It is stored in the model and applied
//! to new rows.

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
    /// A few names, each of which occurs in several rows.
    Category,
    /// Long or varied text.
    Text,
    /// Dates or times.
    Date,
    /// Truth values, which are stored as 1 and 0.
    Boolean,
    /// Names or numbers that identify the rows and are all distinct.
    Identifier,
    /// Row numbers that a program saved with the table.
    Index,
    /// The same value in all rows, or only missing values.
    Constant,
}

impl Kind {
    /// The name of the kind in lower case.
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

    /// Whether a model ignores columns of this kind unless they are requested.
    #[must_use]
    pub fn is_left_out(self) -> bool {
        matches!(self, Kind::Identifier | Kind::Index)
    }
}

/// How the cells of a column are converted to values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reading {
    /// Parse numbers in this format.
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

/// The rule by which a column is read. A model stores the rules of its columns. If these rules are passed in
/// [`Hints::rules`](crate::Hints), new rows are read by the same rules, regardless of the file format.
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
    /// How the cells of the column are converted.
    pub reading: Reading,
    /// Cells that mark a missing value, in addition to the common markers. Some are set by the user and some are
    /// detected.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// Common markers of missing values that are values in this column.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_missing: Vec<String>,
    /// Whether all numbers were integers when the rule was found, in a format with decimal points. If new rows then have
    /// numbers such as `1.965`, the points may separate thousands.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub whole: bool,
}

impl ColumnRule {
    /// Creates a rule that keeps texts unchanged.
    #[must_use]
    pub fn category() -> ColumnRule {
        ColumnRule { kind: Kind::Category, reading: Reading::Text, ..ColumnRule::default() }
    }

    /// Creates a rule that keeps texts unchanged, including the common markers, so that only an empty cell is missing.
    #[must_use]
    pub fn verbatim() -> ColumnRule {
        let markers = MISSING_CELLS.iter().filter(|marker| !marker.is_empty());
        let not_missing = markers.map(|marker| (*marker).to_owned()).collect();
        ColumnRule { not_missing, ..ColumnRule::category() }
    }

    /// All text cells that mark a missing value, which are the common markers and the markers of the column.
    #[must_use]
    pub fn missing_cells(&self) -> Vec<String> {
        let usual = MISSING_CELLS.iter().map(|marker| (*marker).to_owned());
        let usual = usual.filter(|marker| !self.not_missing.contains(marker));
        let mut cells: Vec<String> = usual.collect();
        cells.extend(self.missing.iter().cloned());
        cells
    }

    /// The numbers that mark a missing value, such as -999.
    #[must_use]
    pub fn missing_numbers(&self) -> Vec<f64> {
        self.missing.iter().filter_map(|marker| NumberFormat::default().parse(marker)).collect()
    }

    pub(crate) fn markers(&self) -> Markers {
        Markers::new(&self.missing, &self.not_missing)
    }

    /// Whether a text cell marks a missing value.
    #[must_use]
    pub fn is_missing(&self, cell: &str) -> bool {
        self.markers().has(cell.trim().as_bytes())
    }
}
