//! What the columns of a CSV file are.

use super::csv_options::Missing;
use super::error::{ReadError, excerpt};
use halfspaces_linalg::{Label, MAX_SPARSE_DIM, getters};
use std::fmt;

/// The category that stands for a missing value.
pub(super) const MISSING: &[u8] = b"?";

/// What a column holds.
///
/// ```
/// use halfspaces_data::read::{ColumnKind, CsvOptions, CsvSchema};
/// let schema = CsvSchema::scan(&b"red,5,1\nblue,6,0\n"[..], "t", &CsvOptions::new())?;
/// let colours = ColumnKind::Categorical(vec![(*b"blue").into(), (*b"red").into()]);
/// assert_eq!(schema.kinds(), [colours, ColumnKind::Numeric, ColumnKind::Label]);
/// # Ok::<(), halfspaces_data::read::ReadError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum ColumnKind {
    /// The labels.
    Label,
    /// Numbers: one coordinate.
    Numeric,
    /// One of these values, in byte order: as many coordinates, 1 at the value and 0 elsewhere.
    Categorical(Vec<Box<[u8]>>),
}

/// A class as written, and its label.
pub(super) type Class = (Box<[u8]>, Label);

/// A column that [`Categorical::Auto`](super::Categorical::Auto) made categorical, and why.
///
/// ```
/// use halfspaces_data::read::{CsvOptions, read_csv_from};
/// let data = read_csv_from(&b"3,1\nthree,0\nfour,1\n"[..], "t", &CsvOptions::new())?;
/// let choice = &data.auto_categorical()[0];
/// assert_eq!(
///     choice.to_string(),
///     "column 1 \"x1\": categorical, 3 categories, as \"four\" is not a number"
/// );
/// # Ok::<(), halfspaces_data::read::ReadError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AutoCategorical {
    /// The column, from 1.
    pub column: usize,
    /// Its name.
    pub name: String,
    /// The number of its categories.
    pub categories: usize,
    /// A value that is not a number, the first in byte order (its beginning, if long).
    pub example: String,
}

impl fmt::Display for AutoCategorical {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let AutoCategorical { column, name, categories, example } = self;
        let name = excerpt(name.as_bytes());
        write!(
            f,
            "column {column} {name:?}: categorical, {categories} categories, as {example:?} is not a number"
        )
    }
}

/// What the columns of a CSV file are: enough to turn any of its records into a point and a label,
/// or the records of another file with the same columns (a test set). Printed, it says what each column was
/// taken for, and why.
///
/// ```
/// use halfspaces_data::read::{ColumnKind, CsvOptions, CsvSchema};
/// let text = "age,job,rich\n30,clerk,1\n40,cook,0\n";
/// let schema = CsvSchema::scan(text.as_bytes(), "people", &CsvOptions::new())?;
/// assert!(schema.has_header());
/// assert_eq!((schema.rows(), schema.dim()), (2, 3));
/// assert_eq!(schema.columns(), ["age", "job=clerk", "job=cook"]);
/// assert_eq!(schema.kinds()[2], ColumnKind::Label);
/// assert_eq!(
///     schema.to_string(),
///     "2 rows below a header, 3 coordinates\n\
///      column 1 \"age\": numeric\n\
///      column 2 \"job\": categorical, 2 categories, as \"clerk\" is not a number\n\
///      column 3 \"rich\": label, \"0\" is -1, \"1\" is +1\n"
/// );
/// # Ok::<(), halfspaces_data::read::ReadError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Layout", into = "Layout"))]
pub struct CsvSchema {
    pub(super) layout: Layout,
    /// The names of the coordinates, which follow from the layout.
    columns: Vec<String>,
}

/// What a [`CsvSchema`] is made of.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Layout {
    pub(super) delimiter: u8,
    pub(super) max_line: usize,
    pub(super) missing: Missing,
    /// Of every column of the file.
    pub(super) names: Vec<String>,
    pub(super) has_header: bool,
    /// Of every column of the file.
    pub(super) kinds: Vec<ColumnKind>,
    /// The classes in byte order, with their labels.
    pub(super) classes: Vec<Class>,
    pub(super) auto_categorical: Vec<AutoCategorical>,
    pub(super) rows: u64,
}

impl TryFrom<Layout> for CsvSchema {
    type Error = ReadError;

    /// Refuses what no scan finds, in a schema that was saved and changed.
    fn try_from(layout: Layout) -> Result<CsvSchema, ReadError> {
        let sorted = |kind: &ColumnKind| match kind {
            ColumnKind::Categorical(values) => !values.is_empty() && is_rising(values.iter()),
            ColumnKind::Label | ColumnKind::Numeric => true,
        };
        let labels = layout.kinds.iter().filter(|kind| **kind == ColumnKind::Label).count();
        let chosen = |auto: &AutoCategorical| {
            let kind = auto.column.checked_sub(1).and_then(|i| layout.kinds.get(i));
            matches!(kind, Some(ColumnKind::Categorical(values)) if values.len() == auto.categories)
        };
        let faults = [
            (layout.names.len() != layout.kinds.len(), "there must be one name per column"),
            (labels != 1, "there must be one label column"),
            (!layout.kinds.iter().all(sorted), "categories must be in byte order, each once"),
            (layout.classes.is_empty(), "there must be a class"),
            (
                !is_rising(layout.classes.iter().map(|c| &c.0)),
                "classes must be in byte order, each once",
            ),
            (!layout.auto_categorical.iter().all(chosen), "a column is not categorical as it says"),
            (
                matches!(layout.delimiter, b'"' | b'\r' | b'\n'),
                "the delimiter cannot separate fields",
            ),
            (layout.rows == 0, "there must be a row"),
        ];
        if let Some((_, what)) = faults.into_iter().find(|(fault, _)| *fault) {
            return Err(ReadError::BadSchema { what });
        }
        let dim = layout.kinds.iter().map(ColumnKind::width).sum();
        if !(1..=MAX_SPARSE_DIM).contains(&dim) {
            return Err(ReadError::BadDimension { dim });
        }
        let columns = coordinates(&layout.names, &layout.kinds);
        Ok(CsvSchema { layout, columns })
    }
}

impl From<CsvSchema> for Layout {
    fn from(schema: CsvSchema) -> Layout {
        schema.layout
    }
}

impl ColumnKind {
    /// Number of coordinates.
    fn width(&self) -> usize {
        match self {
            ColumnKind::Label => 0,
            ColumnKind::Numeric => 1,
            ColumnKind::Categorical(values) => values.len(),
        }
    }
}

/// Whether each value is above the one before it.
fn is_rising<'v>(values: impl Iterator<Item = &'v Box<[u8]>> + Clone) -> bool {
    values.clone().zip(values.skip(1)).all(|(a, b)| a < b)
}

impl CsvSchema {
    /// Number of coordinates of a point, categories counted one by one.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.columns.len()
    }

    getters! {
        /// Number of examples in the file that was scanned.
        rows: u64 => layout.rows,

        /// Whether the first line names the columns.
        has_header: bool => layout.has_header,

        /// What each column of the file holds.
        kinds: &[ColumnKind] => layout.kinds,

        /// Name of each column of the file, the label's among them.
        names: &[String] => layout.names,

        /// Name of each coordinate of a point: that of its column, and `=category` if it is one.
        columns: &[String],
    }

    /// The classes in byte order, with their labels.
    pub fn classes(&self) -> impl Iterator<Item = (String, Label)> {
        self.layout.classes.iter().map(|(text, label)| (text_of(text), *label))
    }

    /// The columns that [`Categorical::Auto`](super::Categorical::Auto) made categorical.
    #[must_use]
    pub fn auto_categorical(&self) -> &[AutoCategorical] {
        &self.layout.auto_categorical
    }
}

impl fmt::Display for CsvSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Layout { names, kinds, has_header, rows, auto_categorical, .. } = &self.layout;
        let header = if *has_header { "below a header" } else { "without a header" };
        writeln!(f, "{rows} rows {header}, {} coordinates", self.dim())?;
        for (i, (name, kind)) in names.iter().zip(kinds).enumerate() {
            if let Some(auto) = auto_categorical.iter().find(|auto| auto.column == i + 1) {
                writeln!(f, "{auto}")?;
                continue;
            }
            write!(f, "column {} {:?}: ", i + 1, excerpt(name.as_bytes()))?;
            match kind {
                ColumnKind::Numeric => writeln!(f, "numeric")?,
                ColumnKind::Categorical(values) => {
                    writeln!(f, "categorical, {} categories, as declared", values.len())?;
                }
                ColumnKind::Label => {
                    let class = |(text, label): &Class| {
                        let sign = if *label == Label::Positive { "+1" } else { "-1" };
                        format!("{:?} is {sign}", excerpt(text))
                    };
                    const MAX_SHOWN: usize = 8;
                    let mut shown: Vec<String> =
                        self.layout.classes.iter().take(MAX_SHOWN).map(class).collect();
                    if self.layout.classes.len() > MAX_SHOWN {
                        shown.push(format!("and {} more", self.layout.classes.len() - MAX_SHOWN));
                    }
                    writeln!(f, "label, {}", shown.join(", "))?;
                }
            }
        }
        Ok(())
    }
}

/// A value as part of a name: as it is if UTF-8, else escaped.
fn text_of(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.escape_ascii().to_string(),
    }
}

/// The names of the coordinates.
fn coordinates(names: &[String], kinds: &[ColumnKind]) -> Vec<String> {
    let mut columns = Vec::new();
    for (name, kind) in names.iter().zip(kinds) {
        match kind {
            ColumnKind::Label => {}
            ColumnKind::Numeric => columns.push(name.clone()),
            ColumnKind::Categorical(values) => {
                columns.extend(values.iter().map(|value| format!("{name}={}", text_of(value))));
            }
        }
    }
    columns
}
