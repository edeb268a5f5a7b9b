//! Writes notes on decisions that could be wrong, and the error for cells that do not match their column.

use super::civil;
use super::identifier::{Names, is_saved_index};
use super::infer::{Inference, sentinel};
use super::markers::{Markers, counted, missing_signs};
use super::moment::{self, DateOrder, MomentFormat};
use super::number::{self, Decimal, Group, NumberFormat};
use super::present::{Fit, Present};
use super::raw::RawTexts;
use super::record::ColumnRecord;
use super::rule::Kind;
use super::spelled::has_points_between_thousands;
use crate::csv_columns::is_code;
use crate::error::DataError;
use crate::frame::{code_as_number, turned_sign};
use crate::look_alikes::look_alikes;
use crate::names::{first_of, short};
use std::collections::{BTreeMap, HashMap};

/// Dates that programs often write in place of a missing date.
const DATES_FOR_MISSING: [(i64, u32, u32); 6] =
    [(1, 1, 1), (1900, 1, 1), (1970, 1, 1), (2999, 12, 31), (9999, 1, 1), (9999, 12, 31)];

impl Inference<'_> {
    pub(super) fn note(&self, what: &str) -> String {
        format!("{}, column `{}`: {what}", self.context.source, short(self.name))
    }

    pub(super) fn name_rows(&self, record: &mut ColumnRecord, names: Names) {
        let (kind, what) = match names {
            Names::Index if is_saved_index(self.name) => {
                (Kind::Index, "it has the name of a saved index")
            }
            Names::Index => (Kind::Index, "it contains row numbers"),
            Names::Identifier => (Kind::Identifier, "it is an identifier, different in each row"),
        };
        record.rule.kind = kind;
        record.notes.push(self.note(&format!(
            "{what}, and is left out of learning; pass --use '{}' to learn from it",
            self.name
        )));
    }

    /// Notes categories that may mark a missing value, such as `-`, and categories that look alike.
    pub(super) fn note_categories(&self, record: &mut ColumnRecord, present: &Present<'_>) {
        // Texts that differ in the blanks around them are the same category.
        let mut rows_of: BTreeMap<&str, usize> = BTreeMap::new();
        for (text, rows) in present.texts.iter().zip(&present.rows) {
            *rows_of.entry(text).or_default() += rows;
        }
        let categories = rows_of.iter().map(|(text, rows)| (*text, *rows));
        if let Some((text, rows)) = missing_signs(categories).next() {
            record.notes.push(self.note(&format!(
                "`{text}`, which is in {rows} {}, is read as a category; pass --missing '{text}' if it marks a missing value",
                if rows == 1 { "row" } else { "rows" }
            )));
        }
        let place = format!("{}, column `{}`", self.context.source, short(self.name));
        record.notes.extend(look_alikes(rows_of, "categories", &place));
    }

    /// Adds a note on cells in an unsupported spelling, such as `0x1F`. `spelling` is the result of
    /// [`unread_spelling`].
    ///
    /// [`unread_spelling`]: super::spelled::unread_spelling
    pub(super) fn note_unread(&self, record: &mut ColumnRecord, spelling: Option<String>) {
        if matches!(record.rule.kind, Kind::Category | Kind::Text)
            && let Some(spelling) = spelling
        {
            record.notes.push(self.note(&spelling));
        }
    }

    /// Notes texts that differ only in the blanks around them, because they become one text.
    pub(super) fn note_blanks(
        &self,
        record: &mut ColumnRecord,
        raw: &RawTexts,
        present: &Present<'_>,
    ) {
        let is_trimmed = |at: &usize| raw.levels[*at].trim().len() == raw.levels[*at].len();
        if present.places.iter().all(is_trimmed) {
            return;
        }
        let mut first: HashMap<&str, &str> = HashMap::new();
        let mut joined: BTreeMap<&str, [&str; 2]> = BTreeMap::new();
        for level in present.places.iter().map(|at| raw.levels[*at].as_str()) {
            let known = *first.entry(level.trim()).or_insert(level);
            if known != level {
                joined.entry(level.trim()).or_insert([known, level]);
            }
        }
        let Some([one, other]) = joined.values().next() else { return };
        let more = match joined.len() - 1 {
            0 => String::new(),
            1 => " (and 1 other text)".to_owned(),
            more => format!(" (and {more} other texts)"),
        };
        record.notes.push(self.note(&format!(
            "`{}` and `{}` differ only in blanks and are read as the same text{more}",
            short(one),
            short(other)
        )));
    }

    /// Adds texts that probably mark missing values to the rule, with a note.
    pub(super) fn accept(
        &self,
        record: &mut ColumnRecord,
        present: &Present<'_>,
        fit: &Fit,
        others: &str,
    ) {
        if fit.likely.is_empty() {
            return;
        }
        let found: BTreeMap<String, usize> = fit
            .likely
            .iter()
            .map(|at| (present.texts[*at].to_owned(), present.rows[*at]))
            .collect();
        record.notes.push(self.note(&format!(
            "{} read as missing, because the other cells are {others}; pass --category '{}' if the column contains categories",
            counted(found.iter()),
            self.name
        )));
        record.rule.missing.extend(
            found.keys().filter(|marker| !self.context.options.missing.contains(marker)).cloned(),
        );
        record.markers.extend(found);
    }

    pub(super) fn count_markers(
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

    /// Returns an error if there are cells that do not match most other cells.
    pub(super) fn refuse_odd(
        &self,
        raw: &RawTexts,
        present: &Present<'_>,
        fit: &Fit,
        what: &str,
    ) -> Result<(), DataError> {
        // Distinct texts are in the order of the rows in which they first occur.
        let Some(first) = fit.odd.first().copied() else { return Ok(()) };
        let (cell, name) = (present.texts[first], self.name);
        let place = (self.context.place)(raw.first_row(present.places[first]));
        let others = match &fit.odd[1..] {
            [] => String::new(),
            others => {
                let quoted = others.iter().map(|at| format!("`{}`", short(present.texts[*at])));
                format!(" (nor are {})", first_of(quoted, 3))
            }
        };
        let numbers = fit.read;
        let infinite = cell.bytes().any(|b| b.is_ascii_digit())
            && fast_float2::parse::<f64, _>(cell.as_bytes()).is_ok_and(f64::is_infinite)
            || is_infinity(cell);
        let fault = if infinite { "is infinite, not" } else { "is not" };
        // Units often stand in the line under the names.
        let is_first = raw.first_row(present.places[first]) == 0 && fit.odd.len() == 1;
        let units = match self.context.delimiter {
            Some(_) if is_first => "; if this line contains units or further names, delete it",
            _ => "",
        };
        let points = points_advice(cell);
        let cell = short(cell);
        Err(DataError::user(format!(
            "{place}, column `{name}`: `{cell}` {fault} {what}{others}, unlike {numbers} other cells; correct it{points}, or pass --missing \
             '{cell}' if it means that the value is missing, or --category '{name}' if the column contains categories{units}"
        )))
    }

    /// Returns an error if all texts are numbers and at least one of them is too large for a 64-bit number.
    pub(super) fn refuse_overflow(
        &self,
        raw: &RawTexts,
        present: &Present<'_>,
    ) -> Result<(), DataError> {
        let mut parsed =
            present.texts.iter().map(|text| fast_float2::parse::<f64, _>(text.as_bytes()));
        let is_overflow = |text: &str| {
            text.bytes().any(|b| b.is_ascii_digit())
                && fast_float2::parse::<f64, _>(text.as_bytes()).is_ok_and(f64::is_infinite)
        };
        let Some(first) = present.texts.iter().position(|text| is_overflow(text)) else {
            return Ok(());
        };
        if !parsed.all(|value| value.is_ok()) {
            return Ok(());
        }
        let place = (self.context.place)(raw.first_row(present.places[first]));
        let (name, cell) = (self.name, short(present.texts[first]));
        Err(DataError::user(format!(
            "{place}, column `{name}`: `{cell}` is too large for a 64-bit floating-point number; divide the column by a constant, \
             pass --missing '{cell}' if it means that the value is missing, or --category '{name}' if the column contains categories"
        )))
    }

    /// Adds a note if a number is written like a code.
    pub(super) fn note_code(&self, record: &mut ColumnRecord, present: &Present<'_>) {
        let is_code = |text: &&&str| is_code(number::plain(text).as_bytes());
        if let Some(code) = present.texts.iter().find(is_code) {
            record.notes.push(self.note(&code_as_number(self.name, &short(code))));
        }
    }

    /// Adds a note if a minus sign follows a number or parentheses mean that it is negative.
    pub(super) fn note_turned_sign(
        &self,
        record: &mut ColumnRecord,
        found: &number::Detected,
        present: &Present<'_>,
    ) {
        let mut cells = present.texts.iter().zip(&found.values);
        let is_turned = |(cell, value): &(&&str, &Option<f64>)| {
            value.is_some_and(|value| value < 0.0) && number::has_turned_sign(cell)
        };
        if let Some((cell, _)) = cells.find(is_turned) {
            record.notes.push(self.note(&turned_sign(&short(cell))));
        }
    }

    /// Describes the most frequent of the cells that are not numbers. The result is empty unless most cells are numbers.
    pub(super) fn most_frequent(present: &Present<'_>, fit: &Fit) -> String {
        let mut odd = fit.odd.iter().copied();
        let Some(first) = odd.next().filter(|_| fit.is_most()) else { return String::new() };
        let is_more = |most: usize, at: usize| present.rows[at] > present.rows[most];
        let most = odd.fold(first, |most, at| if is_more(most, at) { at } else { most });
        let (cell, rows) = (short(present.texts[most]), present.rows[most]);
        let in_rows = if rows == 1 { "in 1 row" } else { &format!("in {rows} rows") };
        format!(
            "; the most frequent of the other cells is `{cell}` ({in_rows}); pass --missing '{cell}' if it marks a missing value"
        )
    }

    /// Describes the signs and units of the numbers of a column, if there are several. Returns `None` if more than a tenth
    /// of the rows are not numbers.
    pub(super) fn several_units(present: &Present<'_>) -> Option<String> {
        const MOST_SHOWN: usize = 5;
        let mut rows_of: BTreeMap<String, usize> = BTreeMap::new();
        for (text, rows) in present.counted() {
            if let Some(affix) = number::affix(text) {
                *rows_of.entry(affix).or_default() += rows;
            }
        }
        let numbers: usize = rows_of.values().sum();
        if rows_of.len() < 2 || 10 * numbers < 9 * present.total {
            return None;
        }
        let shown = rows_of.iter().map(|(affix, rows)| match affix.as_str() {
            "" => format!("none in {rows} rows"),
            affix => format!("`{}` in {rows} rows", short(affix)),
        });
        Some(first_of(shown, MOST_SHOWN))
    }

    pub(super) fn note_spelling(
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
        let is_bare = |text: &&str| number::affix(text).is_some_and(|affix| affix.is_empty());
        let without: usize = present
            .counted()
            .zip(&found.values)
            .filter(|((text, _), value)| value.is_some() && is_bare(text))
            .map(|((_, rows), _)| rows)
            .sum();
        let without = match &found.format.affix {
            Some(affix) if without > 0 => format!(
                "; {without} of {} cells have no `{affix}` and are read as if they had it",
                present.total
            ),
            _ => String::new(),
        };
        let doubt = found.doubt.map_or(String::new(), |why| {
            let (mark, other) = match found.format.decimal {
                Decimal::Comma => ("a decimal comma", "."),
                Decimal::Point => ("thousands", ","),
            };
            format!("; read as {mark} {why}; pass --decimal '{other}' if that is wrong")
        });
        // An underscore may also join the two parts of a code.
        let codes = match found.format.group {
            Some(Group::Underscore) => {
                format!("; pass --category '{}' if they are codes", self.name)
            }
            _ => String::new(),
        };
        let note = format!("numbers with {spelling}{example}{without}{doubt}{codes}");
        record.notes.push(self.note(&note));
    }

    pub(super) fn note_dates(
        &self,
        record: &mut ColumnRecord,
        found: &moment::Detected,
        present: &Present<'_>,
    ) {
        if found.is_ambiguous {
            let reads = |order, text: &str| MomentFormat { order, ..found.format }.parse(text);
            let is_doubtful = |text: &&&str| {
                let by_day = reads(DateOrder::DayFirst, text);
                let by_month = reads(DateOrder::MonthFirst, text);
                by_day.is_some() && by_month.is_some() && by_day != by_month
            };
            let example = present.texts.iter().find(is_doubtful).map_or("", |text| text);
            let (order, advice) = match found.format.order {
                DateOrder::DayFirst => ("day", "write them as 2024-12-31 if that is wrong"),
                _ => ("month", "pass --day-first if that is wrong"),
            };
            record.notes.push(self.note(&format!(
                "dates such as `{example}` fit both orders of day and month; they are read with the {order} first; {advice}"
            )));
        }
        if found.has_short_years {
            let mut read = present.texts.iter().zip(&found.values);
            let is_short =
                |text: &str| !text.split(|c: char| !c.is_ascii_digit()).any(|d| d.len() > 3);
            let example =
                read.find_map(|(text, at)| Some((text, (*at)?)).filter(|_| is_short(text)));
            let example = example.map_or(String::new(), |(text, at)| {
                let date = moment::exact_text(at - at.rem_euclid(civil::DAY), 0, false);
                format!(
                    "; `{}` is read as {date}; write the dates as 2024-12-31 if that is wrong",
                    short(text)
                )
            });
            record.notes.push(self.note(&format!(
                "two-digit years from 00 to 68 mean 2000 to 2068, and those from 69 to 99 mean 1969 to 1999{example}"
            )));
        }
        if found.has_offsets {
            record.notes.push(
                self.note(
                    "times have different offsets from UTC, or none; all are converted to UTC",
                ),
            );
        }
        // Times of day have no date, so all of them belong to the same day.
        let days: Vec<f64> = found
            .values
            .iter()
            .map(|moment| moment.map_or(f64::NAN, |moment| moment.div_euclid(civil::DAY) as f64))
            .collect();
        let is_listed = |day: f64| {
            let number = |(y, m, d): &(i64, u32, u32)| civil::days(*y, *m, *d);
            DATES_FOR_MISSING
                .iter()
                .filter_map(number)
                .any(|listed| (listed as f64).to_bits() == day.to_bits())
        };
        if let Some((day, _)) = sentinel(&days, is_listed) {
            let is_of_day = |at: &usize| days[*at].to_bits() == day.to_bits();
            let of_day: Vec<usize> = (0..days.len()).filter(is_of_day).collect();
            let text = present.texts[of_day[0]];
            let rows: usize = of_day.iter().map(|at| present.rows[*at]).sum();
            record.notes.push(self.note(&format!(
                "the date in `{text}` occurs in {rows} rows and is far from all other dates; pass --missing '{text}' if it marks \
                 a missing value"
            )));
        }
    }
}

/// Advice for a cell such as `1.234.567` or `0,79`.
pub(super) fn points_advice(cell: &str) -> &'static str {
    let comma = NumberFormat { decimal: Decimal::Comma, ..NumberFormat::default() };
    if has_points_between_thousands(cell) {
        ", pass --decimal , if points separate thousands"
    } else if cell.contains(',') && comma.parse(cell).is_some() {
        ", write it with a decimal point if the comma is one"
    } else {
        ""
    }
}

fn is_infinity(cell: &str) -> bool {
    let word = cell.trim_start_matches(['+', '-']);
    word.eq_ignore_ascii_case("inf") || word.eq_ignore_ascii_case("infinity")
}
