//! Infers the kind of a column from its distinct texts and their counts.

use super::context::Context;
use super::identifier::{self, Names};
use super::markers::{self, Markers, counted};
use super::moment::{self, DateOrder, MomentFormat, dates_of_digits};
use super::number::{self, Decimal, Evidence, NumberFormat};
use super::pattern;
use super::points::{self, Points};
use super::present::{Fit, Present, is_category};
use super::raw::{Cells, RawTexts, numbers_of, texts_without};
use super::record::ColumnRecord;
use super::rule::{ColumnRule, Kind, Reading};
use super::spelled::unread_spelling;
use crate::error::DataError;
use crate::names::short;
use crate::text_kind::TextKind;
use crate::values::Values;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Numbers that programs often write for a missing value: repeated nines, the smallest integers of 16 and 32 bits, and
/// the fill values of gridded data.
const SENTINELS: [f64; 16] = [
    -99.0,
    -999.0,
    -9999.0,
    -99999.0,
    99.0,
    999.0,
    9999.0,
    99999.0,
    -32768.0,
    -2_147_483_648.0,
    -1e20,
    1e20,
    -1e30,
    1e30,
    f32::MIN as f64,
    9.969_209_968_386_869e36,
];

/// Whether the decimal points of a column may be thousands separators. This requires that all fractions have at most
/// three digits and that all numbers with a fraction are between 1 and 1000.
pub(crate) fn may_be_thousands(values: &[f64]) -> bool {
    let mut any = false;
    for value in values.iter().filter(|v| !v.is_nan()) {
        let (thousand, has_fraction) = (value * 1000.0, value.fract().abs() > 0.0);
        let may_be =
            (1.0..1000.0).contains(&value.abs()) && (thousand - thousand.round()).abs() <= 1e-6;
        if has_fraction && !may_be {
            return false;
        }
        any |= has_fraction;
    }
    any
}

/// A column whose kind must be inferred, because there is no earlier rule for it.
pub(crate) struct Inference<'a> {
    pub(crate) name: &'a str,
    pub(crate) context: &'a Context<'a>,
    pub(crate) evidence: Evidence,
    /// Whether only indices, identifiers and labels precede the column.
    pub(crate) is_first: bool,
    /// The set of the numbers of digits after the point in numeric cells.
    pub(crate) points: Points,
}

impl Inference<'_> {
    /// Infers the kind only from the cells.
    pub(crate) fn anything(&self, cells: Cells) -> Result<(Values, ColumnRecord), DataError> {
        match cells {
            Cells::Numbers(values) => {
                Ok(self.numbers(values, self.points, self.record(ColumnRule::default())))
            }
            Cells::Booleans(values) => Ok((Values::numbers(values), self.record(boolean()))),
            Cells::Moments { moments, has_zone } => {
                let order = match moment::are_times(&moments) {
                    true => DateOrder::TimeOnly,
                    false => DateOrder::default(),
                };
                let format =
                    MomentFormat { order, has_offset: has_zone, ..MomentFormat::default() };
                Ok(self.moments(moments, format, self.record(ColumnRule::default())))
            }
            Cells::Texts(raw) => self.of_texts(raw),
        }
    }

    /// Uses the type that the schema of the file declares.
    pub(crate) fn declared(
        &self,
        kind: Kind,
        cells: Cells,
    ) -> Result<(Values, ColumnRecord), DataError> {
        match (kind, cells) {
            (Kind::Category, cells) => {
                let is_number = match &cells {
                    Cells::Texts(raw) => raw
                        .levels
                        .iter()
                        .all(|level| number::NumberFormat::default().parse(level).is_some()),
                    _ => true,
                };
                let (values, mut record) = self.texts(cells, true);
                if is_number {
                    record.notes.push(self.note(
                        "the file declares these numbers as a category; they are read as categories",
                    ));
                }
                Ok((values, record))
            }
            (Kind::Text, Cells::Texts(raw)) => {
                let plain = raw.levels.iter().filter(|level| !level.trim().is_empty());
                let are_numbers = plain.clone().next().is_some()
                    && plain.clone().all(|level| number::plain_number(level.as_bytes()).is_some());
                if !are_numbers {
                    return self.of_texts(raw);
                }
                let (values, mut record) = self.texts(Cells::Texts(raw), true);
                record.notes.push(self.note(
                    "the file declares texts, but all of them are numbers; they are read as categories; store the column as numbers if \
                     they are quantities",
                ));
                Ok((values, record))
            }
            (Kind::Index, cells) => {
                let (values, mut record) = self.anything(cells)?;
                self.name_rows(&mut record, Names::Index);
                Ok((values, record))
            }
            (_, cells) => self.anything(cells),
        }
    }

    /// Reads texts without conversion. `known` is true if the user or a schema declared that the column contains texts.
    pub(crate) fn texts(&self, cells: Cells, known: bool) -> (Values, ColumnRecord) {
        let raw = cells.into_texts();
        let options = self.context.options;
        let markers = Markers::new(&options.missing, &options.not_missing);
        let rows = raw.rows();
        let mut record = self.record(ColumnRule {
            not_missing: options.not_missing.clone(),
            missing: options.missing.clone(),
            ..ColumnRule::category()
        });
        for (level, rows) in raw.levels.iter().zip(&rows) {
            let level = level.trim();
            if *rows > 0 && !level.is_empty() && markers.has(level.as_bytes()) {
                *record.markers.entry(level.to_owned()).or_default() += rows;
            }
        }
        let words = counted(record.markers.iter().filter(|(word, _)| markers::is_word(word)));
        if !words.is_empty() {
            let word = record
                .markers
                .keys()
                .find(|word| markers::is_word(word))
                .cloned()
                .unwrap_or_default();
            record.notes.push(self.note(&format!(
                "{words} read as missing; pass --not-missing {word} if that is a value"
            )));
        }
        let present = Present::of(&raw, &rows, &markers);
        let counted = present.texts.iter().copied().zip(present.rows.iter().copied());
        record.declared = options.category.iter().any(|name| name == self.name);
        record.rule.kind = match present.texts.len() {
            0 => Kind::Constant,
            1 if !known && present.total == raw.codes.len() => Kind::Constant,
            _ if !record.declared && TextKind::of(counted) == TextKind::Text => Kind::Text,
            _ => Kind::Category,
        };
        if record.rule.kind == Kind::Category {
            self.note_blanks(&mut record, &raw, &present);
        }
        let is_complete = present.texts.len() == raw.codes.len();
        if !known
            && is_complete
            && record.rule.kind != Kind::Constant
            && let Some(names) = identifier::of_texts(self.name, &present.texts)
        {
            self.name_rows(&mut record, names);
        }
        if !known && record.rule.kind == Kind::Category {
            self.note_categories(&mut record, &present);
        }
        (texts_without(&raw, &markers), record)
    }

    fn record(&self, rule: ColumnRule) -> ColumnRecord {
        let options = self.context.options;
        let rule = match rule.reading {
            Reading::Text => rule,
            _ => ColumnRule { missing: options.missing.clone(), ..rule },
        };
        ColumnRecord::new(self.name, rule)
    }

    /// Finishes a column of numbers. The rule of the record contains the format of the numbers.
    fn numbers(
        &self,
        mut values: Vec<f64>,
        points: Points,
        mut record: ColumnRecord,
    ) -> (Values, ColumnRecord) {
        let markers = record.rule.markers();
        let is_named = |value: &f64| markers.has_number(*value);
        if !record.rule.missing.is_empty() {
            for value in values.iter_mut().filter(|value| is_named(value)) {
                *record.markers.entry(value.to_string()).or_default() += 1;
                *value = f64::NAN;
            }
        }
        let mut present = values.iter().copied().filter(|value| !value.is_nan());
        let first = present.next();
        let is_constant =
            first.is_none_or(|first| present.all(|value| value.to_bits() == first.to_bits()));
        let is_complete = || values.iter().all(|value| !value.is_nan());
        if first.is_none() || is_constant && is_complete() {
            record.rule.kind = Kind::Constant;
            return (Values::numbers(values), record);
        }
        if let Some(moments) = dates_of_digits(self.name, &values) {
            let format = MomentFormat { order: DateOrder::Digits, ..MomentFormat::default() };
            return self.moments(moments, format, record);
        }
        if self.evidence.elsewhere.is_none()
            && self.evidence.requested.is_none()
            && matches!(&record.rule.reading, Reading::Number(format) if format.has_decimal_points())
            && points.are_doubtful(&values, self.context.delimiter)
        {
            record.notes.push(self.note(&format!(
                "the points in {} are read as decimal points; pass --decimal , if they separate thousands",
                points::example(&values)
            )));
        }
        if self.evidence.requested == Some(Decimal::Comma)
            && record.rule.reading == Reading::default()
            && let Some(fraction) = values.iter().find(|value| value.fract().abs() > 0.0)
        {
            record.notes.push(self.note(&format!(
                "--decimal , is not applied, because the cells have decimal points, as in {fraction}"
            )));
        }
        // In a table with decimal commas, a column of integers contains no decimal point, so a point in a new row
        // separates thousands.
        let has_commas = self.evidence.elsewhere == Some(Decimal::Comma)
            || self.evidence.requested == Some(Decimal::Comma);
        let is_whole = || values.iter().all(|value| value.is_nan() || value.fract().abs() <= 0.0);
        if record.rule.reading == Reading::default() && is_whole() {
            match has_commas {
                true => {
                    record.rule.reading = Reading::Number(NumberFormat::integers_among_commas())
                }
                false => record.rule.whole = !points.any(),
            }
        } else if matches!(&record.rule.reading, Reading::Number(format) if format.has_points())
            && is_whole()
        {
            record.rule.whole = !points.any();
        }
        // A missing number is not an integer, so a column with gaps does not identify rows.
        if let Some(names) = identifier::of_numbers(self.name, &values, self.is_first) {
            self.name_rows(&mut record, names);
        } else if let Some((sentinel, count)) = sentinel(&values, is_number_for_missing) {
            record.notes.push(self.note(&number_for_missing(sentinel, count)));
        }
        (Values::numbers(values), record)
    }

    fn moments(
        &self,
        moments: Vec<Option<i64>>,
        format: MomentFormat,
        mut record: ColumnRecord,
    ) -> (Values, ColumnRecord) {
        record.rule.kind = Kind::Date;
        record.rule.reading = Reading::Date(format);
        let name = self.name;
        record.notes.push(self.note(&format!(
            "read as {}; pass --category '{name}' to read it as categories, or --drop '{name}' to leave it out",
            format.describe()
        )));
        let mut present = moments.iter().flatten();
        let first = present.next();
        if first.is_some()
            && present.all(|moment| Some(moment) == first)
            && moments.iter().all(Option::is_some)
        {
            record.rule.kind = Kind::Constant;
            record.notes.clear();
        }
        (Values::moments(moments), record)
    }

    fn of_texts(&self, raw: RawTexts) -> Result<(Values, ColumnRecord), DataError> {
        let options = self.context.options;
        let rows = raw.rows();
        let markers = Markers::new(&options.missing, &[]);
        let present = Present::of(&raw, &rows, &markers);
        let is_value =
            |level: &String| options.not_missing.iter().any(|value| value == level.trim());
        if present.texts.is_empty() && raw.levels.iter().any(is_value) {
            return Ok(self.texts(Cells::Texts(raw), false));
        }
        if present.texts.is_empty() {
            let mut record =
                self.record(ColumnRule { kind: Kind::Constant, ..ColumnRule::default() });
            self.count_markers(&mut record, &raw, &rows, &markers);
            return Ok((Values::numbers(vec![f64::NAN; raw.codes.len()]), record));
        }
        let truths: Vec<Option<f64>> = present.texts.iter().map(|text| truth(text)).collect();
        let fit = Fit::of(&present, |at| truths[at].is_some(), false);
        if fit.is_most() && fit.odd.is_empty() {
            let mut record = self.record(boolean());
            self.accept(&mut record, &present, &fit, "true and false");
            self.count_markers(&mut record, &raw, &rows, &markers);
            let of_level = present.spread(&truths, raw.levels.len());
            return Ok((Values::numbers(numbers_of(&raw, &of_level)), record));
        }
        let odd_truth = fit.odd.first().filter(|_| fit.is_most()).map(|odd| {
            let place = (self.context.place)(raw.first_row(present.places[*odd]));
            format!(
                "{} cells are true or false, but `{}` in {place} is not; the column is read as categories",
                fit.read,
                short(present.texts[*odd])
            )
        });
        let mut are_dates = false;
        if let Some(found) = moment::detect(&present.texts, &present.rows, options.day_first) {
            let fit = Fit::of(&present, |at| found.values[at].is_some(), true);
            if fit.is_most() {
                let what = "a date or a time";
                self.refuse_odd(&raw, &present, &fit, what)?;
                let mut record = self.record(ColumnRule::default());
                self.accept(&mut record, &present, &fit, "dates");
                self.count_markers(&mut record, &raw, &rows, &markers);
                self.note_dates(&mut record, &found, &present);
                let of_level = present.spread(&found.values, raw.levels.len());
                return Ok(self.moments(raw.spread(&of_level, None), found.format, record));
            }
            let of_any_order = moment::rows_in_any_order(&present.texts, &present.rows);
            are_dates = 10 * of_any_order >= 9 * present.total;
        }
        if let Some(found) = number::detect(&present.texts, &present.rows, self.evidence) {
            let fit = Fit::of(&present, |at| found.values[at].is_some(), false);
            if fit.is_most() && !is_category(&present, &fit) {
                let what = match found.format.describe() {
                    format if format.is_empty() => "a number".to_owned(),
                    format => format!("a number with {format}"),
                };
                self.refuse_odd(&raw, &present, &fit, &what)?;
                let mut record = self.record(ColumnRule {
                    reading: Reading::Number(found.format.clone()),
                    ..ColumnRule::default()
                });
                self.accept(&mut record, &present, &fit, "numbers");
                self.count_markers(&mut record, &raw, &rows, &markers);
                self.note_spelling(&mut record, &found, &present);
                self.note_code(&mut record, &present);
                self.note_turned_sign(&mut record, &found, &present);
                let of_level = present.spread(&found.values, raw.levels.len());
                return Ok(self.numbers(numbers_of(&raw, &of_level), found.points, record));
            }
            self.refuse_overflow(&raw, &present)?;
            if 10 * fit.read >= present.total {
                let (read, total) = (fit.read, present.total);
                let spelling = unread_spelling(present.counted());
                let units = Self::several_units(&present);
                let most = Self::most_frequent(&present, &fit);
                let (values, mut record) = self.texts(Cells::Texts(raw), false);
                self.note_unread(&mut record, spelling);
                let kind = if record.rule.kind == Kind::Text { "text" } else { "categories" };
                record.notes.push(self.note(&match units {
                    Some(units) => format!(
                        "its numbers have different signs or units ({units}); the column is read as {kind}; write all \
                         numbers in one unit"
                    ),
                    None => format!("{read} of {total} cells are numbers; the column is read as {kind}{most}"),
                }));
                return Ok((values, record));
            }
        }
        self.refuse_overflow(&raw, &present)?;
        let measure = pattern::of_measures(&present).map(short);
        let spelling = unread_spelling(present.counted());
        let shape = pattern::of_shapes(&present).map(short);
        let date = pattern::of_dates(&present).map(short);
        let (values, mut record) = self.texts(Cells::Texts(raw), false);
        let kind = match record.rule.kind {
            Kind::Category => "categories",
            Kind::Text => "text",
            _ => return Ok((values, record)),
        };
        let is_category = record.rule.kind == Kind::Category;
        if let Some(odd) = odd_truth.filter(|_| is_category) {
            record.notes.push(self.note(&odd));
        } else if are_dates {
            record.notes.push(self.note(
                "its cells are dates, but not all of them fit one order of day and month; the column is read as \
                 categories; write the dates as 2024-12-31",
            ));
        } else if let Some(example) =
            measure.filter(|_| is_category).or(shape.or(date).filter(|_| spelling.is_none()))
        {
            record.notes.push(self.note(&format!(
                "cells such as `{example}` are read as {kind}; if they are dates or quantities, write them as 2024-12-31 or as \
                 plain numbers"
            )));
        } else {
            self.note_unread(&mut record, spelling);
        }
        Ok((values, record))
    }
}

fn boolean() -> ColumnRule {
    ColumnRule { kind: Kind::Boolean, reading: Reading::Boolean, ..ColumnRule::default() }
}

pub(super) fn truth(text: &str) -> Option<f64> {
    match text {
        _ if text.eq_ignore_ascii_case("true") => Some(1.0),
        _ if text.eq_ignore_ascii_case("false") => Some(0.0),
        _ => None,
    }
}

fn number_for_missing(number: f64, rows: usize) -> String {
    format!(
        "{number} is in {rows} rows and far from all other numbers; pass --missing {number} if it marks a missing value"
    )
}

/// A search for a number that may mark missing values, such as -999, in a column that is read in chunks. The result is
/// the same as for a column that is read at once.
///
/// ```
/// use halfspaces_frame::MissingSearch;
/// let mut search = MissingSearch::default();
/// search.add([0.5, 1.5, 2.0]);
/// assert_eq!(search.note(), None);
/// search.add([-999.0, 1.0, -999.0]);
/// assert!(search.note().unwrap().starts_with("-999 is in 2 rows"));
/// ```
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct MissingSearch {
    /// The ends of the range of numbers that never mark a missing value.
    range: Option<(f64, f64)>,
    /// The numbers outside the range that may mark missing values, each with its number of rows. The range only grows, so
    /// a number inside it is of no interest.
    rows_of: BTreeMap<u64, usize>,
}

impl MissingSearch {
    /// Adds numbers. NaN is ignored.
    pub fn add(&mut self, values: impl IntoIterator<Item = f64>) {
        for value in values.into_iter().filter(|value| !value.is_nan()) {
            let (low, high) = self.range.unwrap_or((f64::INFINITY, f64::NEG_INFINITY));
            if (low..=high).contains(&value) {
                continue;
            }
            if is_number_for_missing(value) {
                *self.rows_of.entry(value.to_bits()).or_default() += 1;
            } else {
                self.range = Some((low.min(value), high.max(value)));
            }
        }
    }

    /// Adds the numbers of another search, in any order.
    pub fn merge(&mut self, other: MissingSearch) {
        if let Some((low, high)) = other.range {
            let (least, greatest) = self.range.unwrap_or((low, high));
            self.range = Some((low.min(least), high.max(greatest)));
        }
        for (bits, rows) in other.rows_of {
            *self.rows_of.entry(bits).or_default() += rows;
        }
    }

    /// A note on the number that may mark missing values, if there is one.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        let ends = self.range.into_iter().flat_map(|(low, high)| [low, high]);
        let listed = self.rows_of.keys().map(|bits| f64::from_bits(*bits));
        let values: Vec<f64> = ends.chain(listed).collect();
        let (number, _) = sentinel(&values, is_number_for_missing)?;
        Some(number_for_missing(number, *self.rows_of.get(&number.to_bits())?))
    }
}

fn is_number_for_missing(value: f64) -> bool {
    SENTINELS.iter().any(|sentinel| sentinel.to_bits() == value.to_bits())
}

/// Finds a number that may mark missing values, and counts its cells. The number must be listed (`is_listed`) and must be the
/// smallest or the largest number. It must also be farther from every other number than any two of the other numbers
/// are from each other.
pub(super) fn sentinel(values: &[f64], is_listed: impl Fn(f64) -> bool) -> Option<(f64, usize)> {
    let range = |without: f64| {
        // The lanes allow vectorisation. NaN is neither less nor greater than a number, so it is ignored.
        const LANES: usize = 8;
        let (mut low, mut high) = ([f64::INFINITY; LANES], [f64::NEG_INFINITY; LANES]);
        let mut take = |at: usize, value: f64| {
            let value = if value.to_bits() == without.to_bits() { f64::NAN } else { value };
            low[at] = if value < low[at] { value } else { low[at] };
            high[at] = if value > high[at] { value } else { high[at] };
        };
        let (blocks, rest) = values.as_chunks::<LANES>();
        blocks.iter().for_each(|block| (0..LANES).for_each(|at| take(at, block[at])));
        rest.iter().for_each(|value| take(0, *value));
        let least = low.into_iter().fold(f64::INFINITY, f64::min);
        (least, high.into_iter().fold(f64::NEG_INFINITY, f64::max))
    };
    let (low, high) = range(f64::NAN);
    let candidate = [low, high].into_iter().find(|value| is_listed(*value))?;
    let (rest_low, rest_high) = range(candidate);
    let gap = if candidate > rest_high { candidate - rest_high } else { rest_low - candidate };
    let is_far = rest_low < rest_high && gap > rest_high - rest_low;
    is_far
        .then(|| (candidate, values.iter().filter(|v| v.to_bits() == candidate.to_bits()).count()))
}
