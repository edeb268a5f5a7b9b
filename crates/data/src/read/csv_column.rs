//! What a scan has seen of one column.

use super::csv_options::Missing;
use super::csv_schema::{ColumnKind, MISSING};
use super::number::{is_na, parse};
use super::number_fault::NumberFault;
use rustc_hash::FxBuildHasher;
use std::collections::HashMap;

/// What the options say of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Label,
    Numeric,
    Categorical,
    /// Nothing: its values decide.
    Open,
}

/// Different values, and the line where each appeared first. The hash does not resist an adversary;
/// the limit on the number of values bounds what one can do.
pub(super) type Values = HashMap<Box<[u8]>, u64, FxBuildHasher>;

/// What has been seen of a column.
pub(super) struct Observed {
    pub(super) role: Role,
    /// Has a number; has something else that is not missing.
    numbers: bool,
    words: bool,
    pub(super) missing: bool,
    /// Has shown too many different numbers to be categorical.
    settled: bool,
    /// The first row of data has a word here, and no other row had one so far.
    first_word_only: bool,
    /// Has a number below a first row with a word.
    numbers_below: bool,
    pub(super) values: Values,
}

/// A value that is at fault, and its line.
pub(super) type Culprit<'v> = (&'v [u8], u64);

impl Observed {
    pub(super) fn new(role: Role) -> Observed {
        Observed {
            role,
            numbers: false,
            words: false,
            missing: false,
            settled: false,
            first_word_only: false,
            numbers_below: false,
            values: Values::default(),
        }
    }

    /// Notes the first row of data, if nothing says that it is no header.
    pub(super) fn note_first(&mut self, field: &[u8]) {
        let declared = matches!(self.role, Role::Categorical | Role::Numeric);
        self.first_word_only = !declared && is_word(field);
    }

    /// Notes a value of a later row.
    #[inline]
    pub(super) fn note_below(&mut self, field: &[u8]) {
        if self.first_word_only {
            match parse(field) {
                Some(_) => self.numbers_below = true,
                None => self.first_word_only = is_na(field),
            }
        }
    }

    /// Notes whether `field` is a number or a word, if anything depends on it.
    pub(super) fn classify(&mut self, field: &[u8], header_undecided: bool) {
        let needed = header_undecided || self.role == Role::Open;
        if needed && !self.settled && !self.words {
            if parse(field).is_some() {
                self.numbers = true;
            } else if !is_na(field) {
                self.words = true;
            }
        }
    }

    /// Whether no further value changes what the column is.
    pub(super) fn is_inert(&self, header_undecided: bool) -> bool {
        self.settled || (self.role == Role::Numeric && !header_undecided)
    }

    pub(super) fn keeps_values(&self) -> bool {
        !self.settled && self.role != Role::Numeric
    }

    /// Notes a new value; `true` if there are now too many.
    pub(super) fn keep(&mut self, field: &[u8], line: u64, limit: usize) -> bool {
        if self.values.len() < limit {
            self.values.insert(field.into(), line);
            return false;
        }
        if self.role == Role::Open && !self.words {
            self.settled = true;
            self.values = Values::default();
            return false;
        }
        true
    }

    /// A value that is no number, the first in byte order.
    pub(super) fn a_word(&self) -> Option<&[u8]> {
        self.values.keys().map(|text| &text[..]).filter(|text| parse(text).is_none()).min()
    }

    /// The word of the first row, if all values below it are numbers: it is a column's name, or a fault.
    pub(super) fn header(&self) -> Option<Culprit<'_>> {
        let above = self.first_word_only && self.numbers_below;
        let words = self.values.iter().filter(|(text, _)| is_word(text));
        above
            .then(|| words.min_by_key(|(_, line)| **line))
            .flatten()
            .map(|(text, at)| (&text[..], *at))
    }

    /// The first number in a form that is not read, if the column holds numbers and no other words: it is
    /// meant as a number, and not as a category.
    pub(super) fn misspelt(&self) -> Option<(Culprit<'_>, NumberFault)> {
        if self.role != Role::Open || !self.values.keys().any(|text| parse(text).is_some()) {
            return None;
        }
        let words = || self.values.iter().filter(|(text, _)| is_word(text));
        if !words().all(|(text, _)| NumberFault::of(text).is_misspelt_number()) {
            return None;
        }
        let (text, line) = words().min_by_key(|(_, line)| **line)?;
        Some(((&text[..], *line), NumberFault::of(text)))
    }

    pub(super) fn only_numbers(&self) -> bool {
        self.numbers && !self.words
    }

    /// What the column holds.
    pub(super) fn kind(self, missing: Missing) -> ColumnKind {
        let with_missing = self.missing && missing == Missing::Category;
        let categorical = match self.role {
            Role::Label => return ColumnKind::Label,
            Role::Numeric => false,
            Role::Categorical => true,
            Role::Open => !self.settled && (self.words || (!self.numbers && with_missing)),
        };
        if !categorical {
            return ColumnKind::Numeric;
        }
        let mut values: Vec<Box<[u8]>> = self.values.into_keys().collect();
        if with_missing {
            values.push(MISSING.into());
        }
        values.sort_unstable();
        ColumnKind::Categorical(values)
    }
}

/// Whether a field that is not missing is no number.
fn is_word(field: &[u8]) -> bool {
    parse(field).is_none() && !is_na(field)
}
