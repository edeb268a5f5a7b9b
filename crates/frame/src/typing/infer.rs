//! What a column holds, decided from its distinct texts and their counts.

use super::civil::{DAY, days};
use super::identifier::{self, Names};
use super::markers::{self, Markers};
use super::moment::{self, DateOrder, MomentFormat};
use super::number::{self, Decimal, Evidence, NumberFormat};
use super::record::ColumnRecord;
use super::rule::{ColumnRule, Kind, Reading};
use super::{Cells, Context, RawTexts};
use crate::error::DataError;
use crate::names::short;
use crate::values::{MISSING, Values};
use std::collections::{BTreeMap, HashMap};

/// Numbers that programs write for a missing value.
const SENTINELS: [f64; 8] = [-99.0, -999.0, -9999.0, -99999.0, 99.0, 999.0, 9999.0, 99999.0];

/// A column with a few distinct texts, most of them numbers, holds categories if at least this share of its rows is no number.
const CATEGORY_SHARE: f64 = 0.1;
/// Most distinct texts of such a column.
const FEW: usize = 20;

/// Texts are long from this length on the average.
const LONG: usize = 30;

/// Fewest distinct values from which numbers that are all dates are no coincidence: one in 30 numbers of eight digits is a date.
const MIN_DATES: usize = 10;

/// Whether points in a column may stand between thousands: all fractions have three digits.
pub(crate) fn may_be_thousands(values: &[f64]) -> bool {
    let mut any = false;
    for value in values.iter().filter(|v| !v.is_nan()) {
        let thousand = value * 1000.0;
        if value.abs() >= 1000.0 && value.fract().abs() > 0.0
            || (thousand - thousand.round()).abs() > 1e-6
        {
            return false;
        }
        any |= value.fract().abs() > 0.0;
    }
    any
}

/// A column about which nothing is known.
pub(crate) struct Inference<'a> {
    pub(crate) name: &'a str,
    pub(crate) context: &'a Context<'a>,
    pub(crate) evidence: Evidence,
    /// Whether only indices, identifiers and labels stand before it.
    pub(crate) is_first: bool,
}

/// The texts of a column that are not missing.
struct Present<'t> {
    /// Their places among all texts.
    places: Vec<usize>,
    texts: Vec<&'t str>,
    rows: Vec<usize>,
    total: usize,
}

impl<'t> Present<'t> {
    fn of(raw: &'t RawTexts, rows: &[usize], markers: &Markers) -> Present<'t> {
        let is_present =
            |at: &usize| rows[*at] > 0 && !markers.has(raw.levels[*at].trim().as_bytes());
        let places: Vec<usize> = (0..raw.levels.len()).filter(is_present).collect();
        Present {
            texts: places.iter().map(|at| raw.levels[*at].trim()).collect(),
            rows: places.iter().map(|at| rows[*at]).collect(),
            total: places.iter().map(|at| rows[*at]).sum(),
            places,
        }
    }

    /// Values by all texts, from those of the present ones.
    fn spread<T: Copy>(&self, values: &[Option<T>], levels: usize) -> Vec<Option<T>> {
        let mut of_level = vec![None; levels];
        for (place, value) in self.places.iter().zip(values) {
            of_level[*place] = *value;
        }
        of_level
    }
}

/// How many rows of a column a reading understands.
struct Fit {
    /// Rows that it understands.
    read: usize,
    /// Rows of other cells that mean a missing value, and the places of these cells among the present ones.
    likely: Vec<usize>,
    /// The places of all other cells, and their rows.
    odd: Vec<usize>,
    odd_rows: usize,
}

impl Fit {
    fn of(present: &Present<'_>, is_read: impl Fn(usize) -> bool, dates: bool) -> Fit {
        let mut fit = Fit { read: 0, likely: Vec::new(), odd: Vec::new(), odd_rows: 0 };
        for (at, text) in present.texts.iter().enumerate() {
            if is_read(at) {
                fit.read += present.rows[at];
            } else if markers::is_likely(text, dates) {
                fit.likely.push(at);
            } else {
                fit.odd.push(at);
                fit.odd_rows += present.rows[at];
            }
        }
        fit
    }

    fn is_most(&self) -> bool {
        self.read > self.odd_rows
    }
}

impl Inference<'_> {
    /// Decides from the cells alone.
    pub(crate) fn anything(&self, cells: Cells) -> Result<(Values, ColumnRecord), DataError> {
        match cells {
            Cells::Numbers(values) => Ok(self.numbers(values, self.record(ColumnRule::default()))),
            Cells::Booleans(values) => Ok((Values::numbers(values), self.record(boolean()))),
            Cells::Moments(moments) => Ok(self.moments(
                moments,
                MomentFormat::default(),
                self.record(ColumnRule::default()),
            )),
            Cells::Texts(raw) => self.of_texts(raw),
        }
    }

    /// Follows the type that the schema of the file declares.
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
                    record
                        .notes
                        .push(self.note("the file declares these numbers a category; read as one"));
                }
                Ok((values, record))
            }
            (Kind::Text, Cells::Texts(raw)) => {
                let plain = raw.levels.iter().filter(|level| !level.trim().is_empty());
                let are_numbers = plain.clone().next().is_some()
                    && plain
                        .clone()
                        .all(|level| crate::csv_columns::plain_number(level.as_bytes()).is_some());
                if !are_numbers {
                    return self.of_texts(raw);
                }
                let (values, mut record) = self.texts(Cells::Texts(raw), true);
                record.notes.push(self.note(
                    "the file declares texts, and all of them are numbers; read as categories: store the column as numbers if \
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

    /// Texts as they are. `known` if a person or a schema said so.
    pub(crate) fn texts(&self, cells: Cells, known: bool) -> (Values, ColumnRecord) {
        let raw = match cells {
            Cells::Texts(raw) => raw,
            Cells::Numbers(values) | Cells::Booleans(values) => {
                spelled(values.iter().map(|v| (!v.is_nan()).then_some(*v)), |v| v.to_string())
            }
            Cells::Moments(moments) => spelled(moments.into_iter(), moment::text),
        };
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
        let words: Vec<String> =
            record.markers.iter().filter(|(word, _)| markers::is_word(word)).map(counted).collect();
        if !words.is_empty() {
            let word = record
                .markers
                .keys()
                .find(|word| markers::is_word(word))
                .cloned()
                .unwrap_or_default();
            record.notes.push(self.note(&format!(
                "{} read as missing; pass --not-missing {word} if that is a value",
                words.join(", ")
            )));
        }
        let present = Present::of(&raw, &rows, &markers);
        let length: usize = present.texts.iter().map(|text| text.len()).sum();
        let is_varied = 2 * present.texts.len() > present.total;
        let is_long = length > LONG * present.texts.len();
        record.rule.kind = match present.texts.len() {
            0 => Kind::Constant,
            1 if !known && present.total == raw.codes.len() => Kind::Constant,
            _ if is_long && is_varied => Kind::Text,
            _ => Kind::Category,
        };
        let is_complete = present.texts.len() == raw.codes.len();
        if !known && is_complete && record.rule.kind != Kind::Constant {
            if let Some(names) = identifier::of_texts(self.name, &present.texts) {
                self.name_rows(&mut record, names);
            }
        }
        let missing: Vec<bool> =
            raw.levels.iter().map(|level| markers.has(level.trim().as_bytes())).collect();
        (texts_without(raw, &missing), record)
    }

    fn record(&self, rule: ColumnRule) -> ColumnRecord {
        let options = self.context.options;
        let rule = match rule.reading {
            Reading::Text => rule,
            _ => ColumnRule { missing: options.missing.clone(), ..rule },
        };
        ColumnRecord::new(self.name, rule)
    }

    fn note(&self, what: &str) -> String {
        format!("{}, column `{}`: {what}", self.context.source, short(self.name))
    }

    fn name_rows(&self, record: &mut ColumnRecord, names: Names) {
        let (kind, what) = match names {
            Names::Index => (Kind::Index, "row numbers"),
            Names::Identifier => (Kind::Identifier, "an identifier, different in each row"),
        };
        record.rule.kind = kind;
        record.notes.push(self.note(&format!(
            "{what}: left out of learning; pass --use '{}' to learn from it",
            self.name
        )));
    }

    /// A column of numbers, whose spelling is in the rule of the record.
    fn numbers(&self, mut values: Vec<f64>, mut record: ColumnRecord) -> (Values, ColumnRecord) {
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
            let format = MomentFormat { order: DateOrder::Digits, offset: 0 };
            return self.moments(moments, format, record);
        }
        if is_complete()
            && let Some(names) = identifier::of_numbers(self.name, &values, self.is_first)
        {
            self.name_rows(&mut record, names);
        } else if let Some((sentinel, count)) = sentinel(&values) {
            record.notes.push(self.note(&format!(
                "{sentinel} is in {count} rows, far from all other numbers; pass --missing {sentinel} if it means a missing value"
            )));
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
            "read as {}; pass --category '{name}' for categories, or --drop '{name}'",
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
        }
        if let Some(found) = number::detect(&present.texts, &present.rows, self.evidence) {
            let fit = Fit::of(&present, |at| found.values[at].is_some(), false);
            if fit.is_most() && !is_category(&present, &fit) {
                self.refuse_odd(&raw, &present, &fit, "a number")?;
                let mut record = self.record(ColumnRule {
                    reading: Reading::Number(found.format.clone()),
                    ..ColumnRule::default()
                });
                self.accept(&mut record, &present, &fit, "numbers");
                self.count_markers(&mut record, &raw, &rows, &markers);
                self.note_spelling(&mut record, &found, &present);
                let of_level = present.spread(&found.values, raw.levels.len());
                return Ok(self.numbers(numbers_of(&raw, &of_level), record));
            }
            if 10 * fit.read >= present.total {
                let (read, total) = (fit.read, present.total);
                let (values, mut record) = self.texts(Cells::Texts(raw), false);
                record.notes.push(self.note(&format!(
                    "{read} of {total} cells are numbers; read as {}",
                    if record.rule.kind == Kind::Text { "text" } else { "categories" }
                )));
                return Ok((values, record));
            }
        }
        Ok(self.texts(Cells::Texts(raw), false))
    }

    /// Takes the likely markers of missing values into the rule, and says so.
    fn accept(&self, record: &mut ColumnRecord, present: &Present<'_>, fit: &Fit, others: &str) {
        if fit.likely.is_empty() {
            return;
        }
        let found: BTreeMap<String, usize> = fit
            .likely
            .iter()
            .map(|at| (present.texts[*at].to_owned(), present.rows[*at]))
            .collect();
        let shown: Vec<String> = found.iter().map(counted).collect();
        record.notes.push(self.note(&format!(
            "{} read as missing, as the other cells are {others}; pass --category '{}' if the column holds categories",
            shown.join(", "),
            self.name
        )));
        record.rule.missing.extend(
            found.keys().filter(|marker| !self.context.options.missing.contains(marker)).cloned(),
        );
        record.markers.extend(found);
    }

    fn count_markers(
        &self,
        record: &mut ColumnRecord,
        raw: &RawTexts,
        rows: &[usize],
        markers: &Markers,
    ) {
        for (level, rows) in raw.levels.iter().zip(rows) {
            let level = level.trim();
            if *rows > 0 && !level.is_empty() && markers.has(level.as_bytes()) {
                *record.markers.entry(level.to_owned()).or_default() += rows;
            }
        }
    }

    /// The error for cells that are not what most others are, if there are any.
    fn refuse_odd(
        &self,
        raw: &RawTexts,
        present: &Present<'_>,
        fit: &Fit,
        what: &str,
    ) -> Result<(), DataError> {
        let Some(first) =
            fit.odd.iter().copied().min_by_key(|at| raw.first_row(present.places[*at]))
        else {
            return Ok(());
        };
        let (cell, name) = (present.texts[first], self.name);
        let place = (self.context.place)(raw.first_row(present.places[first]));
        let others = match fit.odd_rows - present.rows[first] {
            0 => String::new(),
            _ => {
                let shown: Vec<String> = fit
                    .odd
                    .iter()
                    .filter(|at| **at != first)
                    .take(3)
                    .map(|at| format!("`{}`", short(present.texts[*at])))
                    .collect();
                let more = fit.odd.len() - 1 - shown.len().min(fit.odd.len() - 1);
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                if shown.is_empty() {
                    String::new()
                } else {
                    format!(" (nor are {}{more})", shown.join(", "))
                }
            }
        };
        let numbers = fit.read;
        let infinite = cell.bytes().any(|b| b.is_ascii_digit())
            && fast_float2::parse::<f64, _>(cell.as_bytes()).is_ok_and(f64::is_infinite)
            || is_infinity(cell);
        let fault = if infinite { "is infinite, and not" } else { "is not" };
        let cell = short(cell);
        Err(DataError::user(format!(
            "{place}, column `{name}`: `{cell}` {fault} {what}, as {numbers} other cells are{others}; fix it, or pass --missing \
             '{cell}' if it means that the value is missing, or --category '{name}' if the column holds categories"
        )))
    }

    fn note_spelling(
        &self,
        record: &mut ColumnRecord,
        found: &number::Detected,
        present: &Present<'_>,
    ) {
        let spelling = found.format.describe();
        if spelling.is_empty() {
            return;
        }
        let marks = |text: &str| {
            text.contains([',', '\'', '’', '_']) || text.trim().contains(char::is_whitespace)
        };
        let pairs = || {
            present
                .texts
                .iter()
                .zip(&found.values)
                .filter_map(|(text, value)| Some((*text, (*value)?)))
        };
        let example = pairs().find(|(text, _)| marks(text)).or_else(|| pairs().next());
        let example = example
            .map_or(String::new(), |(text, value)| format!(" (`{}` is {value})", short(text)));
        let doubt = found.doubt.map_or(String::new(), |why| {
            let (mark, other) = match found.format.decimal {
                Decimal::Comma => ("a decimal comma", "."),
                Decimal::Point => ("thousands", ","),
            };
            format!("; read as {mark} {why}: pass --decimal '{other}' if that is wrong")
        });
        record.notes.push(self.note(&format!("numbers with {spelling}{example}{doubt}")));
    }

    fn note_dates(
        &self,
        record: &mut ColumnRecord,
        found: &moment::Detected,
        present: &Present<'_>,
    ) {
        if found.is_ambiguous {
            let example = present.texts.first().map_or("", |text| text);
            let (order, other) = match found.format.order {
                DateOrder::DayFirst => ("day", "month-first"),
                _ => ("month", "day-first"),
            };
            record.notes.push(self.note(&format!(
                "dates such as `{example}` fit both orders of day and month; read with the {order} first: pass --{other} if that is wrong"
            )));
        }
        if found.has_offsets {
            record.notes.push(
                self.note(
                    "times have different offsets from UTC, or none; all are converted to UTC",
                ),
            );
        }
    }
}

/// Whether a column that has some numbers holds categories nevertheless, as `2`, `3`, `4`, `5more`: few distinct texts, and many
/// rows that are no numbers, in more than one row each.
fn is_category(present: &Present<'_>, fit: &Fit) -> bool {
    present.texts.len() <= FEW
        && !fit.odd.is_empty()
        && fit.odd_rows as f64 >= CATEGORY_SHARE * present.total as f64
        && fit.odd.iter().all(|at| present.rows[*at] > 1)
}

fn boolean() -> ColumnRule {
    ColumnRule { kind: Kind::Boolean, reading: Reading::Boolean, ..ColumnRule::default() }
}

/// "3 cells `NA` are" for a sentence.
fn counted((marker, rows): (&String, &usize)) -> String {
    if *rows == 1 {
        format!("1 cell `{}` is", short(marker))
    } else {
        format!("{rows} cells `{}` are", short(marker))
    }
}

fn is_infinity(cell: &str) -> bool {
    let word = cell.trim_start_matches(['+', '-']);
    word.eq_ignore_ascii_case("inf") || word.eq_ignore_ascii_case("infinity")
}

pub(super) fn truth(text: &str) -> Option<f64> {
    match text {
        _ if text.eq_ignore_ascii_case("true") => Some(1.0),
        _ if text.eq_ignore_ascii_case("false") => Some(0.0),
        _ => None,
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
pub(super) fn texts_without(raw: RawTexts, missing: &[bool]) -> Values {
    let mut names: Vec<&str> = Vec::with_capacity(raw.levels.len());
    let mut places: HashMap<&str, u32> = HashMap::new();
    let place = |(level, is_missing): (&'_ String, &bool)| (level.trim().to_owned(), *is_missing);
    let trimmed: Vec<(String, bool)> = raw.levels.iter().zip(missing).map(place).collect();
    let mut codes: Vec<u32> = Vec::with_capacity(trimmed.len());
    for (level, is_missing) in &trimmed {
        codes.push(match is_missing {
            true => MISSING,
            false => *places.entry(level).or_insert_with(|| {
                names.push(level);
                names.len() as u32 - 1
            }),
        });
    }
    Values::texts(raw.spread(&codes, MISSING), &names)
}

/// A sentinel for missing values at the end of the numbers, farther from the others than these are from each other.
fn sentinel(values: &[f64]) -> Option<(f64, usize)> {
    let range = |without: f64| {
        let others =
            values.iter().copied().filter(|v| !v.is_nan() && v.to_bits() != without.to_bits());
        others.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)))
    };
    let (low, high) = range(f64::NAN);
    let candidate = SENTINELS
        .into_iter()
        .find(|s| s.to_bits() == low.to_bits() || s.to_bits() == high.to_bits())?;
    let (rest_low, rest_high) = range(candidate);
    let gap = if candidate > rest_high { candidate - rest_high } else { rest_low - candidate };
    let is_far = rest_low < rest_high && gap > rest_high - rest_low;
    is_far
        .then(|| (candidate, values.iter().filter(|v| v.to_bits() == candidate.to_bits()).count()))
}

/// Numbers of the form 20241231 as dates, if all are and the name of the column or their number says so.
fn dates_of_digits(name: &str, values: &[f64]) -> Option<Vec<Option<i64>>> {
    let first = values.iter().find(|value| !value.is_nan())?;
    digits_date(*first)?;
    let moments: Vec<Option<i64>> = values.iter().map(|value| digits_date(*value)).collect();
    let all = values.iter().zip(&moments).all(|(value, moment)| value.is_nan() || moment.is_some());
    let named = ["date", "day", "datum", "fecha", "dato", "dt"]
        .iter()
        .any(|word| name.to_lowercase().contains(word));
    let distinct = || moments.iter().flatten().collect::<std::collections::BTreeSet<_>>().len();
    (all && (named || distinct() >= MIN_DATES)).then_some(moments)
}

/// The moment of a number such as 20241231; `None` if it is no date from 1900 to 2100.
pub(super) fn digits_date(value: f64) -> Option<i64> {
    let is_in_range =
        (19_000_101.0..=21_001_231.0).contains(&value) && value.fract().to_bits() << 1 == 0;
    let digits = is_in_range.then_some(value as i64)?;
    days(digits / 10_000, (digits / 100 % 100) as u32, (digits % 100) as u32).map(|day| day * DAY)
}

/// The plain spelling of numbers.
pub(super) fn plain() -> NumberFormat {
    NumberFormat::default()
}
