//! Columns before it is known what they mean.

use crate::values::{MISSING, Values};
use std::collections::HashMap;

/// The cells of a column before it is known what they mean.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cells {
    /// Plain numbers; NaN where a cell is missing.
    Numbers(Vec<f64>),
    /// Truth values as 1 and 0; NaN where one is missing.
    Booleans(Vec<f64>),
    /// Microseconds since 1970-01-01.
    Moments(Vec<Option<i64>>),
    /// Texts as they stand in the file, markers of missing values included.
    Texts(RawTexts),
}

impl Cells {
    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        match self {
            Cells::Numbers(values) | Cells::Booleans(values) => values.len(),
            Cells::Moments(moments) => moments.len(),
            Cells::Texts(texts) => texts.codes.len(),
        }
    }
}

/// Distinct texts of a column and the code of each row.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct RawTexts {
    /// One code for each row; [`MISSING`] for a null.
    pub(crate) codes: Vec<u32>,
    /// The distinct texts.
    pub(crate) levels: Vec<String>,
}

impl RawTexts {
    /// Number of rows of each text.
    pub(super) fn rows(&self) -> Vec<usize> {
        let mut rows = vec![0; self.levels.len()];
        for code in self.codes.iter().filter(|code| **code != MISSING) {
            rows[*code as usize] += 1;
        }
        rows
    }

    /// The first row of a text.
    pub(super) fn first_row(&self, level: usize) -> usize {
        self.codes.iter().position(|code| *code as usize == level).unwrap_or(0)
    }

    /// One value for each row, by the value of each text.
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

/// Values with equal ones numbered, as texts.
pub(super) fn spelled<T: Copy>(
    values: impl Iterator<Item = Option<T>>,
    text: impl Fn(T) -> String,
) -> RawTexts {
    let mut levels: Vec<String> = Vec::new();
    let mut places: HashMap<String, u32> = HashMap::new();
    let codes = values.map(|value| {
        let Some(value) = value else { return MISSING };
        let text = text(value);
        *places.entry(text).or_insert_with_key(|text| {
            levels.push(text.clone());
            levels.len() as u32 - 1
        })
    });
    let codes = codes.collect();
    RawTexts { codes, levels }
}

/// Texts whose `missing` ones are removed, trimmed, in order of appearance.
pub(super) fn texts_without(raw: &RawTexts, missing: &[bool]) -> Values {
    let is_plain = raw.levels.iter().all(|level| level.trim().len() == level.len());
    let mut names: Vec<&str> = Vec::with_capacity(raw.levels.len());
    let mut places: HashMap<&str, u32> = HashMap::new();
    let mut codes: Vec<u32> = Vec::with_capacity(raw.levels.len());
    for (level, is_missing) in raw.levels.iter().zip(missing) {
        let (level, new) = (level.trim(), names.len() as u32);
        let code = match is_missing {
            true => MISSING,
            // Texts that are trimmed may become equal.
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
