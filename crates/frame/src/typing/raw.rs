//! The cells of columns before they are interpreted.

use super::markers::Markers;
use super::moment;
use crate::levels::Levels;
use crate::values::{MISSING, Values};
use std::collections::HashMap;

/// The cells of a column before they are interpreted.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cells {
    /// Plain numbers, with NaN for missing numbers.
    Numbers(Vec<f64>),
    /// Truth values as 1 and 0, with NaN for missing values.
    Booleans(Vec<f64>),
    /// Dates and times in microseconds since 1970-01-01.
    Moments {
        moments: Vec<Option<i64>>,
        /// Whether the column has a time zone.
        has_zone: bool,
    },
    /// Unchanged texts, including markers of missing values.
    Texts(RawTexts),
}

impl Cells {
    /// The number of rows.
    pub(crate) fn len(&self) -> usize {
        match self {
            Cells::Numbers(values) | Cells::Booleans(values) => values.len(),
            Cells::Moments { moments, .. } => moments.len(),
            Cells::Texts(texts) => texts.codes.len(),
        }
    }

    /// Converts the cells to texts. The result is the same as if the file contained every value as plain text.
    pub(crate) fn into_texts(self) -> RawTexts {
        match self {
            Cells::Texts(raw) => raw,
            Cells::Numbers(values) => {
                spelled(values.iter().map(|v| (!v.is_nan()).then_some(*v)), |v| v.to_string())
            }
            Cells::Booleans(values) => {
                spelled(values.iter().map(|v| (!v.is_nan()).then_some(*v > 0.5)), |v| v.to_string())
            }
            Cells::Moments { moments, .. } => spelled(moments.into_iter(), moment::text),
        }
    }
}

/// The distinct texts of a column, with the code of each row.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct RawTexts {
    /// One code for each row, which is [`MISSING`] for a null.
    pub(crate) codes: Vec<u32>,
    /// The distinct texts.
    pub(crate) levels: Vec<String>,
}

impl RawTexts {
    /// The number of rows that contain each text.
    pub(super) fn rows(&self) -> Vec<usize> {
        let mut rows = vec![0; self.levels.len()];
        for code in self.codes.iter().filter(|code| **code != MISSING) {
            rows[*code as usize] += 1;
        }
        rows
    }

    /// The first row that contains a text.
    pub(super) fn first_row(&self, level: usize) -> usize {
        self.codes.iter().position(|code| *code as usize == level).unwrap_or(0)
    }

    /// Assigns to each row the value of its text.
    pub(super) fn spread<T: Copy>(&self, of_level: &[T], missing: T) -> Vec<T> {
        self.codes
            .iter()
            .map(|code| of_level.get(*code as usize).copied().unwrap_or(missing))
            .collect()
    }
}

pub(super) fn numbers_of(raw: &RawTexts, of_level: &[Option<f64>]) -> Vec<f64> {
    let of_level: Vec<f64> = of_level.iter().map(|value| value.unwrap_or(f64::NAN)).collect();
    raw.spread(&of_level, f64::NAN)
}

/// Converts values to texts. Equal values get the same code.
pub(super) fn spelled<T: Copy>(
    values: impl Iterator<Item = Option<T>>,
    text: impl Fn(T) -> String,
) -> RawTexts {
    let mut levels = Levels::default();
    let code = |value: Option<T>| value.map_or(MISSING, |value| levels.code(&text(value)));
    let codes = values.map(code).collect();
    RawTexts { codes, levels: levels.into_names() }
}

/// The trimmed texts in order of appearance. Texts that are `markers` become missing values.
pub(super) fn texts_without(raw: &RawTexts, markers: &Markers) -> Values {
    let is_plain = raw.levels.iter().all(|level| level.trim().len() == level.len());
    let mut names: Vec<&str> = Vec::with_capacity(raw.levels.len());
    let mut places: HashMap<&str, u32> = HashMap::new();
    let mut codes: Vec<u32> = Vec::with_capacity(raw.levels.len());
    for level in &raw.levels {
        let (level, new) = (level.trim(), names.len() as u32);
        let code = match markers.has(level.as_bytes()) {
            true => MISSING,
            // Texts may become equal when they are trimmed.
            false if is_plain => new,
            false => *places.entry(level).or_insert(new),
        };
        if code == new {
            names.push(level);
        }
        codes.push(code);
    }
    Values::texts(raw.spread(&codes, MISSING), &names)
}
