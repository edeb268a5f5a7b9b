//! From a table to points: the part of a model that knows columns by name and type.
//!
//! - A column of numbers is one coordinate. A missing number becomes the median of those learned from; where some were
//!   missing then, a second coordinate is 1 where it is missing, else 0.
//! - A column of categories is one coordinate per category, 1 for the row's own. Where some were missing, that is a category
//!   of its own; where none were, a missing one is unseen.
//! - A column of text (`--text`) is one coordinate per word that occurs in two rows or more, the commonest first: 1/√k in
//!   each of the row's k known words.
//! - Columns that never change are left out.

use crate::error::CliError;
use crate::frame::{Frame, MISSING, Remark, Values};
use crate::input::Hints;
use crate::names::suggestion;
use crate::output::note;
use clap::{Args, ValueEnum};
use halfspaces_linalg::{Points, zeros};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

/// Most words of a text column that become coordinates.
const MAX_WORDS: usize = 1000;
/// Fewest rows that a word is in.
const MIN_WORD_ROWS: usize = 2;
/// Categories are free text if there are more than this many, and
const MIN_FREE: usize = 30;
/// more than this share of the rows has one of its own,
const FREE_SHARE: f64 = 0.5;
/// or if there are more than this many.
const MAX_CATEGORIES: usize = 1000;

/// What a person says of the columns.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Columns")]
pub(crate) struct RecipeOptions {
    /// Leave a column out
    #[arg(long, value_name = "COLUMN")]
    pub(crate) drop: Vec<String>,
    /// Learn from the words of a column of free text
    #[arg(long, value_name = "COLUMN")]
    pub(crate) text: Vec<String>,
    /// Whether a column of one number, not 0, is kept: no help to a learner, but part of a direction.
    #[arg(skip)]
    pub(crate) keep_constant: bool,
}

impl RecipeOptions {
    /// Refuses to leave out, or to read the words of, a column that has another part: it is `what`.
    pub(crate) fn check_apart(&self, column: &str, what: &str) -> Result<(), CliError> {
        for (option, names) in [("--drop", &self.drop), ("--text", &self.text)] {
            if names.iter().any(|name| name == column) {
                return Err(CliError::user(format!("{option} {column}: it is {what}")));
            }
        }
        Ok(())
    }
}

/// What becomes of a category that was not learned from, and of a column that is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Unseen {
    /// An error that names it
    #[default]
    Error,
    /// None of the known categories; of a column that is not there all values are missing
    Zero,
}

/// How the columns of a table become coordinates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Saved")]
pub(crate) struct Recipe {
    columns: Vec<ColumnRecipe>,
    /// Columns that never changed.
    constant: Vec<String>,
    /// Whether columns that are not there hold zeros.
    sparse: bool,
}

/// How one column becomes coordinates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ColumnRecipe {
    pub(crate) name: String,
    #[serde(flatten)]
    pub(crate) kind: Kind,
}

/// What a column holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum Kind {
    /// Numbers.
    Number {
        /// What stands in for a missing one.
        median: f64,
        /// Whether a second coordinate says which are missing.
        missing: bool,
    },
    /// Categories.
    Category {
        /// Their names, sorted.
        levels: Vec<String>,
        /// Whether missing is one more.
        missing: bool,
    },
    /// Free text.
    Words {
        /// The words that count, sorted.
        words: Vec<String>,
    },
}

#[derive(Deserialize)]
struct Saved {
    columns: Vec<ColumnRecipe>,
    constant: Vec<String>,
    sparse: bool,
}

impl TryFrom<Saved> for Recipe {
    type Error = String;

    fn try_from(saved: Saved) -> Result<Recipe, String> {
        let Saved { columns, constant, sparse } = saved;
        if columns.is_empty() {
            return Err("a recipe has at least one column".to_owned());
        }
        let names: BTreeSet<&str> = columns.iter().map(|c| c.name.as_str()).collect();
        if names.len() < columns.len() {
            return Err("two columns of a recipe have the same name".to_owned());
        }
        for column in &columns {
            let rising = |names: &[String]| names.is_sorted_by(|a, b| a < b);
            let sound = match &column.kind {
                Kind::Number { median, .. } => median.is_finite(),
                Kind::Category { levels, .. } => !levels.is_empty() && rising(levels),
                Kind::Words { words } => !words.is_empty() && rising(words),
            };
            if !sound {
                let name = &column.name;
                return Err(format!(
                    "column `{name}`: a finite median, or names in order, at least one"
                ));
            }
        }
        Ok(Recipe { columns, constant, sparse })
    }
}

impl Kind {
    fn width(&self) -> usize {
        match self {
            Kind::Number { missing, .. } => 1 + usize::from(*missing),
            Kind::Category { levels, missing } => levels.len() + usize::from(*missing),
            Kind::Words { words } => words.len(),
        }
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
            Kind::Words { words } => words.iter().map(|word| format!("{name}~{word}")).collect(),
        }
    }
}

impl Recipe {
    /// Learns what the columns of a table hold. The label column must have been taken out.
    pub(crate) fn fit(frame: &Frame, options: &RecipeOptions) -> Result<Recipe, CliError> {
        let is_dropped = |name: &String| options.drop.contains(name);
        let dropped_unread = |name: &&String| is_dropped(name) && frame.remark(name).is_some();
        for name in options.drop.iter().chain(&options.text) {
            if frame.column(name).is_none() && !dropped_unread(&name) {
                return Err(frame.no_column(name));
            }
        }
        for (name, remark) in &frame.remarks {
            match remark {
                _ if is_dropped(name) => {}
                Remark::Unread { .. } => return Err(frame.no_column(name)),
                Remark::Rounded { row, cell } => note(&format!(
                    "note: {}, column `{name}`: {cell} is rounded, as integers above 2^53 are; different ones may become \
                     equal: say --category '{name}' if they are names, --drop '{name}' to leave them out",
                    frame.place(*row)
                )),
            }
        }
        let (mut columns, mut constant, mut wordless) = (Vec::new(), Vec::new(), Vec::new());
        for column in &frame.columns {
            let name = &column.name;
            if options.drop.contains(name) {
                continue;
            }
            let kind = if options.text.contains(name) {
                words(&column.values)
            } else {
                match &column.values {
                    Values::Numbers(values) => numbers(values, options.keep_constant),
                    Values::Texts { codes, levels } => categories(codes, levels, frame, name)?,
                }
            };
            match kind {
                Some(kind) => columns.push(ColumnRecipe { name: name.clone(), kind }),
                None if options.text.contains(name) => wordless.push(name.clone()),
                None => constant.push(name.clone()),
            }
        }
        let without_words = |names: &[String]| {
            format!("no word is in two rows or more, but not in all, in {}", names.join(", "))
        };
        if columns.is_empty() {
            let mut why = Vec::new();
            if !options.drop.is_empty() {
                why.push(format!("left out: {}", options.drop.join(", ")));
            }
            if !constant.is_empty() {
                why.push(format!("the same in all rows: {}", constant.join(", ")));
            }
            if !wordless.is_empty() {
                why.push(without_words(&wordless));
            }
            let why = if why.is_empty() { "there is no other".to_owned() } else { why.join("; ") };
            return Err(CliError::user(format!(
                "{}: no column to learn from: {why}",
                frame.source
            )));
        }
        if !wordless.is_empty() {
            let source = &frame.source;
            note(&format!("note: {source}: {}: not learned from", without_words(&wordless)));
        }
        Ok(Recipe { columns, constant, sparse: frame.sparse })
    }

    /// Number of coordinates.
    pub(crate) fn dim(&self) -> usize {
        self.columns.iter().map(|column| column.kind.width()).sum()
    }

    /// The names of the coordinates: a column's name, `column=category`, `column~word`, `column is missing`.
    pub(crate) fn coordinates(&self) -> Vec<String> {
        self.columns.iter().flat_map(|c| c.kind.coordinate_names(&c.name)).collect()
    }

    /// The columns used, each with the places of its coordinates.
    pub(crate) fn places(&self) -> impl Iterator<Item = (&str, Range<usize>)> {
        let mut first = 0;
        self.columns.iter().map(move |column| {
            let places = first..first + column.kind.width();
            first = places.end;
            (column.name.as_str(), places)
        })
    }

    /// Columns that never changed, and are left out.
    pub(crate) fn constant(&self) -> &[String] {
        &self.constant
    }

    /// What is known of a table for this model before it is read; `others` are columns of texts besides.
    pub(crate) fn hints(&self, others: &[String]) -> Hints {
        let texts = self.columns.iter().filter(|c| !matches!(c.kind, Kind::Number { .. }));
        let texts = texts.map(|c| &c.name).chain(others).cloned().collect();
        let expected = self.columns.iter().map(|c| &c.name).chain(others).cloned().collect();
        Hints { texts, expected }
    }

    /// The points of a table, whose columns may stand in any order among others.
    pub(crate) fn apply(&self, frame: &Frame, unseen: Unseen) -> Result<Points, CliError> {
        let dim = self.dim();
        let mut out = zeros(frame.rows, dim)?;
        let mut first = 0;
        for column in &self.columns {
            let width = column.kind.width();
            match frame.column(&column.name) {
                Some(found) => {
                    let cells = out.chunks_exact_mut(dim).map(|row| &mut row[first..first + width]);
                    column.write(&found.values, frame, unseen, cells)?;
                }
                None if self.sparse && frame.sparse => {}
                None if unseen == Unseen::Zero => {
                    let cells = out.chunks_exact_mut(dim).map(|row| &mut row[first..first + width]);
                    cells.for_each(|row| column.write_missing(row));
                }
                None => {
                    let error = frame.no_column(&column.name).to_string();
                    let error = error.trim_end_matches('?').to_owned();
                    return Err(CliError::user(format!(
                        "{error}; the model learned from it: add it, or say --unseen zero to count it as missing"
                    )));
                }
            }
            first += width;
        }
        Ok(Points::new(out, dim)?)
    }
}

impl ColumnRecipe {
    fn write_missing(&self, row: &mut [f64]) {
        match &self.kind {
            Kind::Number { median, missing } => {
                row[0] = *median;
                if *missing {
                    row[1] = 1.0;
                }
            }
            Kind::Category { levels, missing } => {
                if *missing {
                    row[levels.len()] = 1.0;
                }
            }
            Kind::Words { .. } => {}
        }
    }

    fn write<'o>(
        &self,
        values: &Values,
        frame: &Frame,
        unseen: Unseen,
        rows: impl Iterator<Item = &'o mut [f64]>,
    ) -> Result<(), CliError> {
        let name = &self.name;
        match (&self.kind, values) {
            (Kind::Number { .. }, Values::Numbers(values)) => {
                for (row, value) in rows.zip(values) {
                    if value.is_nan() { self.write_missing(row) } else { row[0] = *value }
                }
                Ok(())
            }
            (Kind::Number { .. }, Values::Texts { codes, levels }) => {
                let parsed: Vec<Option<f64>> = levels.iter().map(|l| l.parse().ok()).collect();
                for (at, (row, code)) in rows.zip(codes).enumerate() {
                    if *code == MISSING {
                        self.write_missing(row);
                        continue;
                    }
                    let number = parsed[*code as usize].filter(|v| v.is_finite());
                    row[0] = number.ok_or_else(|| {
                        let (place, text) = (frame.place(at), &levels[*code as usize]);
                        CliError::user(format!(
                            "{place}, column `{name}`: `{text}` is not a number, but the model learned from numbers; \
                             fix it, or say --missing '{text}' if it means that the value is missing"
                        ))
                    })?;
                }
                Ok(())
            }
            (Kind::Category { levels, missing }, values) => {
                let place: HashMap<&str, usize> =
                    levels.iter().enumerate().map(|(i, level)| (level.as_str(), i)).collect();
                for (at, row) in rows.enumerate() {
                    if values.is_missing(at) {
                        if !missing && unseen == Unseen::Error {
                            return Err(CliError::user(format!(
                                "{}, column `{name}`: the value is missing, which the model has not seen; fill it in, \
                                 or say --unseen zero",
                                frame.place(at)
                            )));
                        }
                        self.write_missing(row);
                        continue;
                    }
                    let text = values.text(at);
                    match place.get(text.as_str()) {
                        Some(i) => row[*i] = 1.0,
                        None if unseen == Unseen::Zero => {}
                        None => {
                            let names: Vec<&str> = levels.iter().map(String::as_str).collect();
                            let hint = suggestion(&text, &names);
                            return Err(CliError::user(format!(
                                "{}, column `{name}`: the model has not seen the category `{text}`{}; fix it, or say \
                                 --unseen zero to count it as none of these",
                                frame.place(at),
                                hint.trim_end_matches('?')
                            )));
                        }
                    }
                }
                Ok(())
            }
            (Kind::Words { words }, values) => {
                let place: HashMap<&str, usize> =
                    words.iter().enumerate().map(|(i, word)| (word.as_str(), i)).collect();
                for (at, row) in rows.enumerate() {
                    let text = values.text(at);
                    let found: BTreeSet<usize> = split(&text)
                        .iter()
                        .filter_map(|w| place.get(w.as_str()).copied())
                        .collect();
                    let size = 1.0 / (found.len().max(1) as f64).sqrt();
                    found.into_iter().for_each(|i| row[i] = size);
                }
                Ok(())
            }
        }
    }
}

/// The median, and whether some are missing; none if all are equal, and 0 or not to be kept.
fn numbers(values: &[f64], keep_constant: bool) -> Option<Kind> {
    let mut present: Vec<f64> = values.iter().copied().filter(|v| !v.is_nan()).collect();
    let missing = present.len() < values.len();
    let first = *present.first()?;
    if !missing && !present.iter().any(|v| (*v - first).abs() > 0.0) {
        return (keep_constant && first.abs() > 0.0)
            .then_some(Kind::Number { median: first, missing });
    }
    let (count, middle) = (present.len(), present.len() / 2);
    let (below, median, _) = present.select_nth_unstable_by(middle, f64::total_cmp);
    let mut median = *median;
    if count % 2 == 0 {
        // Of an even number the mean of the two in the middle.
        let lower = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        median = lower / 2.0 + median / 2.0;
    }
    Some(Kind::Number { median, missing })
}

fn categories(
    codes: &[u32],
    levels: &[String],
    frame: &Frame,
    name: &str,
) -> Result<Option<Kind>, CliError> {
    let mut used = vec![0usize; levels.len()];
    codes.iter().filter(|c| **c != MISSING).for_each(|c| used[*c as usize] += 1);
    let present: usize = used.iter().sum();
    let missing = present < codes.len();
    let mut names: Vec<String> =
        levels.iter().zip(&used).filter(|(_, n)| **n > 0).map(|(level, _)| level.clone()).collect();
    let alone = used.iter().filter(|n| **n == 1).count();
    let free = names.len() > MIN_FREE && alone as f64 > FREE_SHARE * present as f64;
    let has_comma = names.iter().any(|name| name.contains(','));
    if free && has_comma && names.iter().all(|name| has_decimal_comma(name)) {
        return Err(CliError::user(format!(
            "{}, column `{name}`: numbers with a decimal comma are read as text; write them with a point \
             (pandas: to_csv(..., decimal='.'))",
            frame.source
        )));
    }
    if free || names.len() > MAX_CATEGORIES {
        return Err(CliError::user(format!(
            "{}, column `{name}`: {} different texts in {present} rows are no categories; say --drop '{name}' to \
             leave the column out, or --text '{name}' to learn from its words",
            frame.source,
            names.len()
        )));
    }
    if names.is_empty() || names.len() == 1 && !missing {
        return Ok(None);
    }
    names.sort_unstable();
    Ok(Some(Kind::Category { levels: names, missing }))
}

/// Whether a text is a number but for a comma in place of the point.
fn has_decimal_comma(text: &str) -> bool {
    text.matches(',').count() <= 1 && text.replacen(',', ".", 1).trim().parse::<f64>().is_ok()
}

/// The commonest words that are in two rows or more; none if there are none.
fn words(values: &Values) -> Option<Kind> {
    let mut rows_with: BTreeMap<String, usize> = BTreeMap::new();
    for row in 0..values.len() {
        let different: BTreeSet<String> = split(&values.text(row)).into_iter().collect();
        different.into_iter().for_each(|word| *rows_with.entry(word).or_default() += 1);
    }
    let common = rows_with.into_iter().filter(|(_, n)| *n >= MIN_WORD_ROWS && *n < values.len());
    let mut common: Vec<(String, usize)> = common.collect();
    // Stable: of equal numbers by letters.
    common.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    common.truncate(MAX_WORDS);
    let mut words: Vec<String> = common.into_iter().map(|(word, _)| word).collect();
    words.sort_unstable();
    (!words.is_empty()).then_some(Kind::Words { words })
}

/// The words of a text: letters and digits, in lower case.
fn split(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{Column, Places};
    use halfspaces_linalg::PointSet;

    fn frame(columns: Vec<(&str, Values)>) -> Frame {
        let rows = columns[0].1.len();
        let column = |(name, values): (&str, Values)| Column { name: name.to_owned(), values };
        let columns = columns.into_iter().map(column).collect();
        Frame {
            columns,
            rows,
            source: "t".into(),
            places: Places::rows(),
            sparse: false,
            remarks: Vec::new(),
        }
    }

    fn texts(cells: &[&str]) -> Values {
        let mut levels: Vec<String> = Vec::new();
        let code = |cell: &&str| {
            if cell.is_empty() {
                return MISSING;
            }
            let at = levels.iter().position(|level| level == cell).unwrap_or_else(|| {
                levels.push((*cell).to_owned());
                levels.len() - 1
            });
            at as u32
        };
        let codes = cells.iter().map(code).collect();
        Values::Texts { codes, levels }
    }

    fn fit(frame: &Frame) -> Recipe {
        Recipe::fit(frame, &RecipeOptions::default()).unwrap()
    }

    #[test]
    fn medians_stand_in_for_missing_numbers() {
        let nan = f64::NAN;
        for (values, median) in [
            (vec![5.0, 1.0, 9.0], 5.0),
            (vec![5.0, 1.0, 9.0, 7.0], 6.0),
            (vec![nan, 5.0, 1.0, 9.0], 5.0),
            (vec![nan, 5.0, 1.0], 3.0),
            (vec![1e308, -1e308, 1e308, 1e308], 1e308),
        ] {
            let missing = values.iter().any(|v| v.is_nan());
            let expected = Kind::Number { median, missing };
            assert_eq!(numbers(&values, false), Some(expected), "{values:?}");
        }
        assert_eq!(numbers(&[2.0, 2.0], false), None);
        let kept = Kind::Number { median: 2.0, missing: false };
        assert_eq!(numbers(&[2.0, 2.0], true), Some(kept));
        assert_eq!(numbers(&[0.0, -0.0], true), None);
        assert_eq!(numbers(&[nan, nan], true), None);
        assert!(numbers(&[2.0, nan], false).is_some());
        let table = frame(vec![("x", Values::Numbers(vec![4.0, nan, 6.0]))]);
        let points = fit(&table).apply(&table, Unseen::Error).unwrap();
        assert_eq!(points.as_slice(), [4.0, 0.0, 5.0, 1.0, 6.0, 0.0]);
    }

    #[test]
    fn categories_have_a_coordinate_each() {
        let table = frame(vec![
            ("c", texts(&["b", "a", "", "b"])),
            ("same", texts(&["z", "z", "z", "z"])),
            ("x", Values::Numbers(vec![1.0, 2.0, 3.0, 4.0])),
        ]);
        let recipe = fit(&table);
        assert_eq!(recipe.coordinates(), ["c=a", "c=b", "c is missing", "x"]);
        assert_eq!(recipe.constant(), ["same"]);
        assert!(recipe.places().eq([("c", 0..3), ("x", 3..4)]));
        let points = recipe.apply(&table, Unseen::Error).unwrap();
        let expected = [0., 1., 0., 1., 1., 0., 0., 2., 0., 0., 1., 3., 0., 1., 0., 4.];
        assert_eq!(points.as_slice(), expected);
        // Numbers where categories were: by their text.
        let numbers = frame(vec![("c", texts(&["1", "2.5"]))]);
        let turned = frame(vec![("c", Values::Numbers(vec![2.5, 1.0]))]);
        let points = fit(&numbers).apply(&turned, Unseen::Error).unwrap();
        assert_eq!(points.as_slice(), [0.0, 1.0, 1.0, 0.0]);
    }

    #[test]
    fn free_text_is_told_from_categories() {
        let categorical = |cells: Vec<String>| {
            let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
            Recipe::fit(&frame(vec![("c", texts(&cells))]), &RecipeOptions::default()).is_ok()
        };
        let each = |n: usize| (0..n).map(|i| i.to_string()).collect::<Vec<_>>();
        assert!(categorical(each(MIN_FREE)) && !categorical(each(MIN_FREE + 1)));
        // 31 and more, half of the rows and one more with a text of their own.
        let shared = |alone: usize, pairs: usize| {
            let twice = (0..pairs).flat_map(|i| [format!("p{i}"), format!("p{i}")]);
            each(alone).into_iter().chain(twice).collect::<Vec<_>>()
        };
        assert!(categorical(shared(30, 15)) && !categorical(shared(31, 15)));
        assert!(
            categorical(shared(0, MAX_CATEGORIES)) && !categorical(shared(0, MAX_CATEGORIES + 1))
        );
    }

    #[test]
    fn decimal_commas_are_named_as_such() {
        let cells: Vec<String> = (0..=MIN_FREE).map(|i| format!("-1,{i}e0")).collect();
        let mut cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        let says = |cells: &[&str]| {
            let refused = Recipe::fit(&frame(vec![("c", texts(cells))]), &RecipeOptions::default());
            refused.unwrap_err().to_string()
        };
        assert!(says(&cells).contains("decimal comma"), "{}", says(&cells));
        cells.push("1,2,3");
        assert!(says(&cells).contains("are no categories"), "{}", says(&cells));
    }

    #[test]
    fn words_of_two_rows_count() {
        let options = RecipeOptions { text: vec!["t".into()], ..RecipeOptions::default() };
        let table =
            frame(vec![("t", texts(&["Red, red apple!", "a RED pear", "pear", "apple a"]))]);
        let recipe = Recipe::fit(&table, &options).unwrap();
        assert_eq!(recipe.coordinates(), ["t~a", "t~apple", "t~pear", "t~red"]);
        let points = recipe.apply(&table, Unseen::Error).unwrap();
        let (half, third) = (1.0 / 2f64.sqrt(), 1.0 / 3f64.sqrt());
        let rows: Vec<&[f64]> = points.as_slice().chunks(points.dim()).collect();
        assert_eq!(rows[0], [0.0, half, 0.0, half]);
        assert_eq!(rows[1], [third, 0.0, third, third]);
        assert_eq!(rows[2], [0.0, 0.0, 1.0, 0.0]);
        // The commonest are kept; a word of every row says nothing.
        let many: Vec<String> = (0..MAX_WORDS + 9)
            .flat_map(|i| vec![format!("all w{i:04}"); if i % 2 == 0 { 2 } else { 3 }])
            .collect();
        let cells: Vec<&str> = many.iter().map(String::as_str).collect();
        let Some(Kind::Words { words }) = words(&texts(&cells)) else { panic!("words") };
        assert_eq!(words.len(), MAX_WORDS);
        assert!(!words.contains(&"all".to_owned()));
        assert!(
            (0..MAX_WORDS + 9).filter(|i| i % 2 == 1).all(|i| words.contains(&format!("w{i:04}")))
        );
    }
}
