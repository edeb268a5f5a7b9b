//! The recipe, which converts named and typed columns to coordinates.
//!
//! - A column of numbers gives one coordinate. A missing number is replaced by the median of the training rows. If
//!   numbers were missing in the training rows, a second coordinate is added. It is 1 if the number is missing and 0
//!   otherwise.
//! - A column of categories gives one coordinate for each category (one-hot encoding). If values were missing in the
//!   training rows, a missing value counts as a category of its own; otherwise, it counts as an unseen category.
//! - A column of text gives one coordinate for each n-gram of words or characters. The coordinates are TF-IDF weights,
//!   scaled so that the coordinates of a text have norm 1. If there is a column of text, columns of numbers and
//!   timestamps are standardised, and points are stored as sparse entries.
//! - A column of dates or times gives the number of days since 1970, and a point on a circle for each calendar cycle
//!   that the timestamps span ([`MomentParts`]). A missing timestamp is replaced by the median and marked by an
//!   additional last coordinate, like a missing number.
//! - Columns that only identify rows (identifiers and saved indices) are left out unless they are requested.
//! - The entries of a sparse block are used as coordinates without conversion.
//! - Constant columns are left out.

mod encode;
mod gaps;
mod learn;
mod ngrams;
#[cfg(test)]
mod tests;

use halfspaces_frame::{Block, ColumnRule, DataError, Frame, Hints, MomentParts};
use halfspaces_linalg::{PointSet, RowView};
use ngrams::{Ngrams, Weigher};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;

/// The number of rows with entries from which a sparse table must have an entry in a column of the model.
const MIN_ENTERED_ROWS: usize = 10;

/// Options for the treatment of columns.
///
/// ```
/// use halfspaces_pipeline::RecipeOptions;
/// let options = RecipeOptions { drop: vec!["id".into()], ..RecipeOptions::default() };
/// assert!(options.check_apart("id", "the column of labels").is_err());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecipeOptions {
    /// Columns to leave out.
    pub drop: Vec<String>,
    /// Columns of text, which are encoded by their n-grams. Columns of long, varied text are recognised without this
    /// option.
    pub text: Vec<String>,
    /// The number of bits, from 1 to 28, to which the n-grams of a column of text are hashed. The column then has twice
    /// 2^`hash_bits` coordinates. By default, the n-grams are listed and not hashed.
    pub hash_bits: Option<u32>,
    /// Columns to use even though they seem only to identify rows.
    pub use_columns: Vec<String>,
    /// Whether to keep a column that has the same non-zero number in all rows. Such a column does not help a learner,
    /// but it changes the directions of points.
    pub keep_constant: bool,
    /// Whether missing values are only replaced by the median, without a coordinate that marks them.
    pub median_only: bool,
}

impl RecipeOptions {
    /// Adds hints to read the dropped columns and the columns of text as texts, so that none of their cells causes an
    /// error.
    #[must_use]
    pub fn with_texts(&self, mut hints: Hints) -> Hints {
        hints.texts.extend(self.drop.iter().chain(&self.text).cloned());
        hints
    }

    /// Checks that no option names a column that has another role. `what` describes this role in the error message.
    ///
    /// # Errors
    /// Returns an error if an option names the column.
    pub fn check_apart(&self, column: &str, what: &str) -> Result<(), DataError> {
        for (option, names) in
            [("--drop", &self.drop), ("--text", &self.text), ("--use", &self.use_columns)]
        {
            if names.iter().any(|name| name == column) {
                return Err(DataError::user(format!("{option} {column}: it is {what}")));
            }
        }
        Ok(())
    }
}

/// The treatment of unseen categories and of absent columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unseen {
    /// Return an error that names the category or the column. This is the default.
    #[default]
    Error,
    /// Treat an unseen category as different from all known categories, and all values of an absent column as missing.
    Zero,
}

/// A fitted map from the columns of a table to coordinates.
///
/// ```
/// use halfspaces_frame::{Column, Frame, Values};
/// use halfspaces_pipeline::{Recipe, RecipeOptions, Unseen};
/// let column = |name: &str, values| Column { name: name.into(), values };
/// let frame = Frame::new("t", vec![
///     column("x", Values::numbers(vec![4.0, f64::NAN, 6.0])),
///     column("c", Values::texts(vec![0, 1, 0], &["red", "blue"])),
/// ]);
/// let (recipe, notes) = Recipe::fit(&frame, &RecipeOptions::default())?;
/// assert_eq!(recipe.coordinates(), ["x", "x is missing", "c=blue", "c=red"]);
/// let design = recipe.apply(&frame, Unseen::Error)?;
/// assert_eq!((design.len(), design.dim(), notes.len()), (3, 4, 0));
/// # Ok::<(), halfspaces_frame::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Saved")]
pub struct Recipe {
    pub(crate) columns: Vec<ColumnRecipe>,
    /// The numbers in the names of the sparse columns that are used, in ascending order. The coordinates of these
    /// columns follow those of the other columns.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub(crate) entries: Vec<u32>,
    /// The common prefix of the names of the sparse columns.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    prefix: String,
    /// Columns that are constant.
    constant: Vec<String>,
    /// Columns that only identify rows.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    names_only: Vec<String>,
    /// The rules by which columns are read.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub(crate) rules: BTreeMap<String, ColumnRule>,
    /// Whether absent columns count as zeros.
    pub(crate) sparse: bool,
    /// Whether points are stored as sparse entries.
    #[serde(default)]
    by_entries: bool,
}

/// A text that is divided into parts, each of which contributes to a sum. See [`Recipe::text_parts`].
#[derive(Debug, Clone, PartialEq)]
pub struct TextParts {
    /// The name of the column.
    pub column: String,
    /// The text of the cell.
    pub text: String,
    /// The parts of the text in order, each as a range of bytes and its contribution to the sum.
    pub parts: Vec<(Range<usize>, f64)>,
}

/// The map from one column to coordinates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ColumnRecipe {
    pub(crate) name: String,
    #[serde(flatten)]
    pub(crate) kind: Kind,
    /// The root mean square distance from the median, by which the difference of a number from the median is divided.
    /// `None` if the numbers are used unchanged.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) deviation: Option<f64>,
}

/// The kind of a column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum Kind {
    /// Numbers.
    Number {
        /// The replacement for a missing number.
        median: f64,
        /// Whether a second coordinate marks missing numbers.
        missing: bool,
        /// The smallest and the largest number. `None` if the column has few numbers, and in older models, which do not
        /// store the range.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        range: Option<(f64, f64)>,
    },
    /// Categories.
    Category {
        /// The category names, sorted.
        levels: Vec<String>,
        /// Whether a missing value counts as a category of its own.
        missing: bool,
    },
    /// Dates or times.
    Moment {
        /// The parts that become coordinates.
        parts: MomentParts,
        /// The replacement for a missing timestamp, in microseconds since 1970-01-01.
        median: i64,
        /// Whether a last coordinate marks missing timestamps.
        missing: bool,
        /// The first and the last timestamp. `None` if the column has few timestamps, and in older models.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        range: Option<(i64, i64)>,
    },
    /// Text.
    Text {
        /// The n-grams that are coordinates.
        ngrams: Ngrams,
    },
}

#[derive(Deserialize)]
struct Saved {
    columns: Vec<ColumnRecipe>,
    #[serde(default)]
    entries: Vec<u32>,
    #[serde(default)]
    prefix: String,
    constant: Vec<String>,
    #[serde(default)]
    names_only: Vec<String>,
    #[serde(default)]
    rules: BTreeMap<String, ColumnRule>,
    sparse: bool,
    #[serde(default)]
    by_entries: bool,
}

impl TryFrom<Saved> for Recipe {
    type Error = String;

    fn try_from(saved: Saved) -> Result<Recipe, String> {
        let Saved { columns, entries, prefix, constant, names_only, rules, sparse, by_entries } =
            saved;
        if columns.is_empty() && entries.is_empty() {
            return Err("a recipe needs at least one column".to_owned());
        }
        if !entries.is_sorted_by(|a, b| a < b) || !entries.is_empty() && !sparse {
            return Err("the columns of a sparse block must be ascending".to_owned());
        }
        let names: BTreeSet<&str> = columns.iter().map(|c| c.name.as_str()).collect();
        if names.len() < columns.len() {
            return Err("two columns of a recipe have the same name".to_owned());
        }
        for column in &columns {
            let rising = |names: &[String]| names.is_sorted_by(|a, b| a < b);
            let sound = match &column.kind {
                Kind::Number { median, range, .. } => {
                    median.is_finite() && range.is_none_or(|(low, high)| low <= high)
                }
                Kind::Category { levels, .. } => !levels.is_empty() && rising(levels),
                Kind::Moment { parts, missing, range, .. } => {
                    (parts.width() > 0 || *missing) && range.is_none_or(|(low, high)| low <= high)
                }
                Kind::Text { ngrams } => ngrams.is_sound(),
            };
            if !sound || column.deviation.is_some_and(|d| !(d > 0.0 && d.is_finite())) {
                let name = &column.name;
                return Err(format!(
                    "column `{name}`: needs a finite median, or at least one name, in ascending order"
                ));
            }
        }
        Ok(Recipe { columns, entries, prefix, constant, names_only, rules, sparse, by_entries })
    }
}

impl Kind {
    pub(crate) fn width(&self) -> usize {
        match self {
            Kind::Number { missing, .. } => 1 + usize::from(*missing),
            Kind::Category { levels, missing } => levels.len() + usize::from(*missing),
            Kind::Moment { parts, missing, .. } => parts.width() + usize::from(*missing),
            Kind::Text { ngrams } => ngrams.len(),
        }
    }

    /// The median of the first coordinate of a column of numbers or timestamps, or 0 for other columns.
    pub(crate) fn centre(&self) -> f64 {
        match self {
            Kind::Number { median, .. } => *median,
            Kind::Moment { parts, median, .. } if parts.days => parts.coordinates(*median)[0],
            _ => 0.0,
        }
    }

    /// Whether this is a column of numbers or timestamps without missing values when the model was fitted.
    fn had_no_gaps(&self) -> bool {
        matches!(self, Kind::Number { missing: false, .. } | Kind::Moment { missing: false, .. })
    }

    /// Whether a missing value is one of the categories. `true` for the other kinds, whose missing values are replaced.
    pub(crate) fn knows_missing(&self) -> bool {
        if let Kind::Category { missing, .. } = self { *missing } else { true }
    }

    fn coordinate_names(&self, name: &str) -> Vec<String> {
        match self {
            Kind::Number { missing, .. } => {
                let absent = missing.then(|| format!("{name} is missing"));
                std::iter::once(name.to_owned()).chain(absent).collect()
            }
            Kind::Category { levels, missing } => {
                let absent = missing.then(|| format!("{name} is missing"));
                levels.iter().map(|level| format!("{name}={level}")).chain(absent).collect()
            }
            Kind::Moment { parts, missing, .. } => {
                let absent = missing.then(|| format!("{name} is missing"));
                parts.names(name).into_iter().chain(absent).collect()
            }
            Kind::Text { ngrams } => {
                ngrams.names().into_iter().map(|term| format!("{name}~{term}")).collect()
            }
        }
    }
}

impl Recipe {
    /// The number of coordinates.
    #[must_use]
    pub fn dim(&self) -> usize {
        let columns: usize = self.columns.iter().map(|column| column.kind.width()).sum();
        columns + self.entries.len()
    }

    /// The names of the coordinates, such as `column`, `column=category`, `column~n-gram` and `column is missing`. If
    /// two coordinates would have the same name, the kind of the column is added in brackets.
    #[must_use]
    pub fn coordinates(&self) -> Vec<String> {
        let of_columns = self.columns.iter().flat_map(|column| {
            let kind = match column.kind {
                Kind::Number { .. } => "number",
                Kind::Category { .. } => "category",
                Kind::Moment { .. } => "date",
                Kind::Text { .. } => "text",
            };
            column.kind.coordinate_names(&column.name).into_iter().map(move |name| (name, kind))
        });
        let of_entries = self.entries.iter().map(|number| (self.entry_name(*number), "entry"));
        let names: Vec<(String, &str)> = of_columns.chain(of_entries).collect();
        let mut times = std::collections::HashMap::new();
        names.iter().for_each(|(name, _)| *times.entry(name.clone()).or_insert(0usize) += 1);
        let apart = |(name, kind): (String, &str)| match times[&name] {
            1 => name,
            _ => format!("{name} [{kind}]"),
        };
        names.into_iter().map(apart).collect()
    }

    /// The columns that are used, each with the range of its coordinates. Columns of a sparse block are listed one by
    /// one.
    #[must_use]
    pub fn places(&self) -> Vec<(String, Range<usize>)> {
        let mut first = 0;
        let mut places = Vec::with_capacity(self.columns.len() + self.entries.len());
        for column in &self.columns {
            let end = first + column.kind.width();
            places.push((column.name.clone(), first..end));
            first = end;
        }
        for (at, entry) in self.entries.iter().enumerate() {
            places.push((self.entry_name(*entry), first + at..first + at + 1));
        }
        places
    }

    /// Checks that a table with a sparse block of another kind has at least one of the sparse columns of the model.
    ///
    /// # Errors
    /// Returns an error that names the columns of both if they have none in common.
    fn check_entries(&self, frame: &Frame) -> Result<(), DataError> {
        let Some(Block::Sparse(block)) = &frame.block else { return Ok(()) };
        let (Some(first), Some(last)) = (self.entries.first(), self.entries.last()) else {
            return Ok(());
        };
        if self.entries.iter().any(|number| frame.has(&self.entry_name(*number))) {
            return Ok(());
        }
        let (prefix, start) = (block.prefix(), block.first());
        let end = (start as usize + block.points().dim()).saturating_sub(1);
        Err(DataError::user(format!(
            "{}: its columns are `{prefix}{start}` to `{prefix}{end}`, but the model learned from the columns `{}` to `{}` and \
             needs at least one of them; write the table in the format of the training file (LIBSVM or a sparse NPZ matrix)",
            frame.source,
            self.entry_name(*first),
            self.entry_name(*last)
        )))
    }

    /// Checks that a sparse table has an entry in at least one column of the model. Rows without any entry are rows of
    /// zeros, and a table may consist of them.
    ///
    /// # Errors
    /// Returns an error if at least [`MIN_ENTERED_ROWS`] rows have entries, but no entry is in a column of the model. A few
    /// rows, such as a new text of unknown words, often have none.
    pub(crate) fn check_known(&self, frame: &Frame) -> Result<(), DataError> {
        let Some(Block::Sparse(block)) = &frame.block else { return Ok(()) };
        let number = |column: &ColumnRecipe| block.number(&column.name);
        if self.columns.iter().any(|column| number(column).is_none()) {
            // The model also learned from a column that is not in the block.
            return Ok(());
        }
        let of_entries = self.entries.iter().filter(|_| self.prefix == block.prefix()).copied();
        let known: HashSet<u32> =
            self.columns.iter().filter_map(number).chain(of_entries).collect();
        let found = |column: usize| column as u32 + block.first();
        let mut entries = block.points().rows().flat_map(RowView::entries);
        let Some((first, _)) = block.points().rows().flat_map(RowView::entries).next() else {
            return Ok(());
        };
        let entered = block.points().rows().filter(|row| row.entries().next().is_some()).count();
        if entered < MIN_ENTERED_ROWS || entries.any(|(column, _)| known.contains(&found(column))) {
            return Ok(());
        }
        let ends =
            [known.iter().min(), known.iter().max()].map(|number| number.copied().unwrap_or(0));
        let prefix = block.prefix();
        Err(DataError::user(format!(
            "{}: no entry is in a column of the model, which are among `{prefix}{}` to `{prefix}{}`; the first entry is in column \
             `{prefix}{}`; check that this is the right table, or use --unseen zero if all columns of the model are 0",
            frame.source,
            ends[0],
            ends[1],
            found(first)
        )))
    }

    /// The columns of [`places`](Recipe::places), each with a description of its conversion to coordinates, such as
    /// "number" or "category, 3 values". All columns of a sparse block share one entry.
    #[must_use]
    pub fn kinds(&self) -> Vec<(String, String)> {
        let kind = |column: &ColumnRecipe| {
            let (text, missing) = match &column.kind {
                Kind::Number { missing, .. } => ("number".to_owned(), *missing),
                Kind::Category { levels, missing } => {
                    (format!("category, {} values", levels.len()), *missing)
                }
                Kind::Moment { missing, .. } => ("date or time".to_owned(), *missing),
                Kind::Text { ngrams } => (format!("text, {} n-grams", ngrams.len()), false),
            };
            let marked = if missing { "; missing values are marked" } else { "" };
            (column.name.clone(), text + marked)
        };
        let mut kinds: Vec<(String, String)> = self.columns.iter().map(kind).collect();
        if let (Some(first), Some(last)) = (self.entries.first(), self.entries.last()) {
            let name = format!("{} to {}", self.entry_name(*first), self.entry_name(*last));
            kinds.push((name, format!("sparse numbers, {} columns", self.entries.len())));
        }
        kinds
    }

    /// The name of the sparse column with this number.
    pub(crate) fn entry_name(&self, number: u32) -> String {
        format!("{}{number}", self.prefix)
    }

    /// The number in a name of a sparse column. Returns `None` if a sparse column cannot have the name.
    pub(crate) fn entry_number(&self, name: &str) -> Option<u32> {
        name.strip_prefix(&self.prefix)?.parse().ok()
    }

    /// Whether this is the name of a sparse column that the model learned from.
    pub(crate) fn has_entry(&self, name: &str) -> bool {
        let number = self.entry_number(name);
        number.is_some_and(|n| self.entries.binary_search(&n).is_ok() && self.entry_name(n) == name)
    }

    /// The names of the columns of numbers.
    pub(crate) fn number_columns(&self) -> impl Iterator<Item = &str> {
        let numbers = self.columns.iter().filter(|c| matches!(c.kind, Kind::Number { .. }));
        numbers.map(|column| column.name.as_str())
    }

    /// The columns of numbers and dates that had no missing values.
    pub(crate) fn complete_columns(&self) -> impl Iterator<Item = &str> {
        let is_complete = |column: &&ColumnRecipe| {
            matches!(
                column.kind,
                Kind::Number { missing: false, .. } | Kind::Moment { missing: false, .. }
            )
        };
        self.columns.iter().filter(is_complete).map(|column| column.name.as_str())
    }

    /// The constant columns, which are left out.
    #[must_use]
    pub fn constant(&self) -> &[String] {
        &self.constant
    }

    /// The columns that only identify rows, which are left out.
    #[must_use]
    pub fn names_only(&self) -> &[String] {
        &self.names_only
    }

    /// Whether points are stored as sparse entries.
    #[must_use]
    pub fn is_sparse(&self) -> bool {
        self.by_entries
    }

    /// For each of `rows`, the texts of the row, divided into words and the parts between words. Every part comes with
    /// its contribution to the sum Σ `factor`(place, i) x_i, where x are the coordinates of the row and place is its
    /// index in `rows`. Columns without text are left out.
    #[must_use]
    pub fn text_parts(
        &self,
        frame: &Frame,
        rows: &[usize],
        factor: &dyn Fn(usize, usize) -> f64,
    ) -> Vec<Vec<TextParts>> {
        let mut first = 0;
        let mut all = vec![Vec::new(); rows.len()];
        for column in &self.columns {
            if let (Kind::Text { ngrams }, Some(values)) =
                (&column.kind, frame.column(&column.name))
            {
                let weigher = Weigher::for_few(ngrams);
                for (place, row) in rows.iter().enumerate() {
                    let is_missing = values.is_missing(*row);
                    let text = if is_missing { String::new() } else { values.text(*row) };
                    let parts = weigher.parts(&text, &|at| factor(place, first + at));
                    all[place].push(TextParts { column: column.name.clone(), text, parts });
                }
            }
            first += column.kind.width();
        }
        all
    }

    /// The columns of text that are encoded by their n-grams.
    #[must_use]
    pub fn text_columns(&self) -> Vec<&str> {
        let texts = self.columns.iter().filter(|c| matches!(c.kind, Kind::Text { .. }));
        texts.map(|column| column.name.as_str()).collect()
    }

    /// The hints with which a table must be read for this model. `others` are additional columns of text.
    #[must_use]
    pub fn hints(&self, others: &[String]) -> Hints {
        let is_text = |kind: &Kind| matches!(kind, Kind::Category { .. } | Kind::Text { .. });
        let texts = self.columns.iter().filter(|c| is_text(&c.kind));
        let texts = texts.map(|c| &c.name).chain(others).cloned().collect();
        let expected = self.columns.iter().map(|c| &c.name).chain(others).cloned().collect();
        // The columns of a sparse block are not among those that are expected.
        let others_are_texts = self.entries.is_empty();
        // The numbers of a block have no rule, because they were not read from texts.
        let numbers = self.number_columns().map(|name| (name.to_owned(), ColumnRule::default()));
        let mut rules: BTreeMap<String, ColumnRule> = numbers.collect();
        rules.extend(self.rules.clone());
        Hints { texts, expected, rules, others_are_texts, ..Hints::default() }
    }
}
