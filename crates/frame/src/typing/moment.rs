//! Parses dates and times from text.
//!
//! Before the order of day and month is chosen for a column, the parser tries each possible order on every cell. The
//! parser does not depend on locales. Time zones must be given as offsets, because zone names are not supported.

use super::civil::{DAY, date, days};
use serde::{Deserialize, Serialize};

/// The order of the parts of dates in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DateOrder {
    /// Dates such as `2024-12-31`, and dates whose month is a word.
    #[default]
    YearFirst,
    /// Dates such as `31.12.2024`.
    DayFirst,
    /// Dates such as `12/31/2024`.
    MonthFirst,
    /// Dates such as `20241231`.
    Digits,
    /// Times such as `06:30`, without a date.
    TimeOnly,
}

/// The format of the dates and times in a column.
///
/// ```
/// use halfspaces_frame::{DateOrder, MomentFormat};
/// let format = MomentFormat { order: DateOrder::DayFirst, ..MomentFormat::default() };
/// assert_eq!(format.parse("02.01.1970 00:00:01"), Some(86_401_000_000));
/// assert_eq!(format.parse("1970-01-02T01:00+01:00"), Some(86_400_000_000));
/// assert_eq!(format.parse("31.02.2024"), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MomentFormat {
    /// The order of day, month and year.
    pub order: DateOrder,
    /// The offset from UTC, in minutes, of all timestamps from which the format was detected. This is 0 if their
    /// offsets differ or if they have no offset.
    pub offset: i32,
    /// Whether timestamps from which the format was detected had an offset from UTC or a time zone. If they did, a new
    /// timestamp without an offset is taken to have [`offset`](MomentFormat::offset).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub has_offset: bool,
    /// Whether points separate the parts of the dates from which the format was detected, as in `12.31.2024`. This is
    /// used only if the month is first. If it is false, dates with points are refused in new rows, because points
    /// usually mean that the day comes first.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub points: bool,
}

impl MomentFormat {
    /// Parses a cell and returns the microseconds since 1970-01-01. Returns `None` if the cell does not match the
    /// format. A timestamp with an offset from UTC is converted to the offset of the format.
    #[must_use]
    pub fn parse(&self, cell: &str) -> Option<i64> {
        let parsed = parse(cell, self.order)?;
        Some(self.local(parsed))
    }

    /// Whether and how the offset of a cell differs from that of the format. Returns `None` if it does not, or if the
    /// cell is not a timestamp.
    pub(super) fn moves(&self, cell: &str) -> Option<Moved> {
        let parsed = parse(cell, self.order).or_else(|| parse(cell, DateOrder::YearFirst))?;
        match parsed.offset {
            Some(_) if !self.is_zoned() => Some(Moved::Zoned),
            Some(offset) => (offset != self.offset).then_some(Moved::Converted),
            None => (self.is_zoned() && cell.contains(':')).then_some(Moved::Assumed),
        }
    }

    /// Whether the times have an offset. Older models store only an offset that is not 0.
    pub(super) fn is_zoned(&self) -> bool {
        self.has_offset || self.offset != 0
    }

    fn local(&self, parsed: Parsed) -> i64 {
        let shift = parsed.offset.map_or(0, |offset| i64::from(self.offset - offset));
        parsed.micros + shift * 60_000_000
    }

    /// Describes the format in words.
    pub(crate) fn describe(&self) -> &'static str {
        match self.order {
            DateOrder::YearFirst => "dates",
            DateOrder::DayFirst => "dates with the day first",
            DateOrder::MonthFirst => "dates with the month first",
            DateOrder::Digits => "dates such as 20241231",
            DateOrder::TimeOnly => "times of day",
        }
    }
}

/// How a time is read if its offset from UTC differs from that of the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Moved {
    /// The time is converted to the offset of the format.
    Converted,
    /// The time has no offset, so it is taken to have that of the format.
    Assumed,
    /// The time has an offset, unlike those of the format, so it is converted to UTC.
    Zoned,
}

/// Whether a point follows the first number of a text, as in `31.12.2024`.
pub(super) fn has_point(cell: &str) -> bool {
    let is_digit = |c: char| c.is_ascii_digit();
    let digits = cell.trim_start_matches(|c: char| !is_digit(c));
    digits.trim_start_matches(is_digit).starts_with('.')
}

/// A timestamp as it is written in a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Parsed {
    micros: i64,
    /// The offset from UTC in minutes.
    offset: Option<i32>,
}

/// Eight-digit numbers are read as dates if all numbers of the column are dates and at least this many of them are
/// distinct. Only one in 30 eight-digit numbers is a date, so it is no coincidence if all numbers of the column are
/// dates.
const MIN_DATES: usize = 10;

/// The maximum length in bytes of a cell that is read as a timestamp.
const MAX_LENGTH: usize = 48;

fn parse(cell: &str, order: DateOrder) -> Option<Parsed> {
    let cell = cell.trim();
    if cell.len() > MAX_LENGTH || !cell.is_ascii() || !cell.bytes().any(|b| b.is_ascii_digit()) {
        return None;
    }
    let mut scan = Scan { rest: cell };
    if order == DateOrder::TimeOnly {
        // Four digits without a colon are a time only after a date.
        let parsed = scan.time().filter(|_| cell.contains(':'))?;
        return (scan.rest.is_empty() && parsed.micros < DAY).then_some(parsed);
    }
    let day = scan.date(order)?;
    let start = day.checked_mul(DAY)?;
    if scan.rest.is_empty() {
        return Some(Parsed { micros: start, offset: None });
    }
    let is_marked =
        scan.take("T") || scan.take("t") || scan.take(",") | scan.blanks() || scan.take(":");
    let time = scan.time().filter(|_| is_marked && scan.rest.is_empty())?;
    Some(Parsed { micros: start + time.micros, offset: time.offset })
}

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const DAYS: [&str; 7] =
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// A parser position, stored as the rest of the text.
struct Scan<'t> {
    rest: &'t str,
}

impl<'t> Scan<'t> {
    fn take(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn blanks(&mut self) -> bool {
        let rest = self.rest.trim_start();
        let any = rest.len() < self.rest.len();
        self.rest = rest;
        any
    }

    /// Reads up to `most` digits. Returns their value and how many there are.
    fn number(&mut self, most: usize) -> Option<(i64, usize)> {
        let length = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.rest.split_at(length);
        let value = digits.parse().ok().filter(|_| length <= most)?;
        self.rest = rest;
        Some((value, length))
    }

    /// Reads two digits. Minutes and seconds always have two digits, so `1:2` is not a time.
    fn two(&mut self) -> Option<i64> {
        self.number(2).filter(|(_, length)| *length == 2).map(|(value, _)| value)
    }

    fn word(&mut self) -> &'t str {
        let length = self.rest.bytes().take_while(u8::is_ascii_alphabetic).count();
        let (word, rest) = self.rest.split_at(length);
        self.rest = rest;
        word
    }

    fn month(&mut self) -> Option<u32> {
        let place = named(self.word(), &MONTHS)?;
        self.take(".");
        Some(place as u32 + 1)
    }

    /// Reads the separator between two parts of a date.
    fn mark(&mut self) -> Option<&'t str> {
        let before = self.rest;
        let is_mark = self.take("-") || self.take("/") || self.take(".");
        let mark = &before[..usize::from(is_mark)];
        let is_blank = self.blanks();
        let is_comma = self.take(",");
        self.blanks();
        (is_mark || is_blank || is_comma).then_some(mark)
    }

    /// Reads a date. Returns the number of days since 1970-01-01.
    fn date(&mut self, order: DateOrder) -> Option<i64> {
        // The name of a weekday may precede the date.
        if self.rest.starts_with(|c: char| c.is_ascii_alphabetic()) {
            let before = self.rest;
            if named(self.word(), &DAYS).is_some() {
                self.take(".");
                self.take(",");
                self.blanks();
            } else {
                self.rest = before;
            }
        }
        if self.rest.starts_with(|c: char| c.is_ascii_alphabetic()) {
            return self.month_day_year();
        }
        let (first, length) = self.number(8)?;
        if length == 8 && (order == DateOrder::Digits || self.rest.starts_with(['T', 't'])) {
            return days(first / 10_000, (first / 100 % 100) as u32, (first % 100) as u32);
        }
        // SAS writes 31JAN2024 without separators.
        let is_joined = length == 2 && self.rest.starts_with(|c: char| c.is_ascii_alphabetic());
        let mark = if is_joined { "" } else { self.mark()? };
        if self.rest.starts_with(|c: char| c.is_ascii_alphabetic()) {
            let month = self.month()?;
            if !is_joined {
                self.mark()?;
            }
            let (last, last_length) = self.number(4)?;
            return match length {
                4 => days(first, month, day(last, last_length)?),
                _ => days(year(last, last_length)?, month, day(first, length)?),
            };
        }
        let (second, second_length) = self.number(2)?;
        if length == 4 {
            let month = day(second, second_length)?;
            if mark.is_empty() {
                return None;
            }
            if mark == "-" && second_length == 2 && self.rest.is_empty() {
                return days(first, month, 1);
            }
            let last = self.take(mark).then(|| self.number(2)).flatten()?;
            return days(first, month, day(last.0, last.1)?);
        }
        if mark.is_empty() || !self.take(mark) {
            return None;
        }
        self.blanks();
        let (last, last_length) = self.number(4)?;
        let (first, second) = (day(first, length)?, day(second, second_length)?);
        let year = year(last, last_length)?;
        match order {
            DateOrder::DayFirst => days(year, second, first),
            DateOrder::MonthFirst => days(year, first, second),
            DateOrder::YearFirst | DateOrder::Digits | DateOrder::TimeOnly => None,
        }
    }

    /// Reads dates such as `Jan 31, 2024` or `Jan 2024`.
    fn month_day_year(&mut self) -> Option<i64> {
        let month = self.month()?;
        self.mark()?;
        let (first, length) = self.number(4)?;
        if length == 4 {
            return days(first, month, 1);
        }
        let first = day(first, length)?;
        for end in ["st", "nd", "rd", "th"] {
            self.take(end);
        }
        self.mark()?;
        let (last, last_length) = self.number(4)?;
        days(year(last, last_length)?, month, first)
    }

    /// Reads times such as `6:30`, `06:30:15.25` or `6:30 pm`, with or without an offset from UTC. After a date, `0630`
    /// is also read as a time.
    fn time(&mut self) -> Option<Parsed> {
        let (mut hour, length) = self.number(6)?;
        let (minute, mut second, mut micros);
        (second, micros) = (0, 0);
        if length == 4 || length == 6 {
            let seconds = if length == 6 { 100 } else { 1 };
            (second, minute, hour) = (hour % seconds, hour / seconds % 100, hour / seconds / 100);
        } else {
            if length > 2 || !self.take(":") {
                return None;
            }
            minute = self.two()?;
            if self.take(":") {
                second = self.two()?;
                if self.take(".") || self.take(",") {
                    let length = self.rest.bytes().take_while(u8::is_ascii_digit).count();
                    let (digits, rest) = self.rest.split_at(length);
                    micros =
                        format!("{digits:0<6}").get(..6)?.parse().ok().filter(|_| length > 0)?;
                    self.rest = rest;
                }
            }
        }
        self.blanks();
        if self.rest.starts_with(['a', 'A', 'p', 'P']) {
            let is_afternoon = self.rest.starts_with(['p', 'P']);
            let half = self.word();
            if !half.eq_ignore_ascii_case("am") && !half.eq_ignore_ascii_case("pm")
                || !(1..=12).contains(&hour)
            {
                return None;
            }
            hour = hour % 12 + if is_afternoon { 12 } else { 0 };
            self.blanks();
        }
        let is_end_of_day = hour == 24 && minute == 0 && second == 0 && micros == 0;
        if hour > 23 && !is_end_of_day || minute > 59 || second > 60 {
            return None;
        }
        let offset = self.offset()?;
        let micros = ((hour * 60 + minute) * 60 + second) * 1_000_000 + micros;
        Some(Parsed { micros, offset })
    }

    /// Reads an offset from UTC, if there is one, and returns it in minutes. Returns `None` if other text follows.
    fn offset(&mut self) -> Option<Option<i32>> {
        if self.rest.is_empty() {
            return Some(None);
        }
        if ["Z", "z", "UTC", "GMT"].into_iter().any(|name| self.rest == name) {
            self.rest = "";
            return Some(Some(0));
        }
        let sign = if self.take("+") {
            1
        } else if self.take("-") {
            -1
        } else {
            return None;
        };
        let (value, length) = self.number(4)?;
        let (hours, minutes) = match length {
            4 => (value / 100, value % 100),
            1 | 2 if self.take(":") => (value, self.two()?),
            1 | 2 => (value, 0),
            _ => return None,
        };
        (hours <= 14 && minutes < 60).then_some(Some(sign * (hours * 60 + minutes) as i32))
    }
}

/// The index of the element of `names` that equals `word` or starts with it. In the second case, `word` must have three
/// or four letters, as in `Sept`.
fn named(word: &str, names: &[&str]) -> Option<usize> {
    let word = word.to_ascii_lowercase();
    let is_short = matches!(word.len(), 3 | 4);
    names.iter().position(|name| *name == word || is_short && name.starts_with(&word))
}

/// Converts a day or a month, which must have one or two digits.
fn day(value: i64, length: usize) -> Option<u32> {
    u32::try_from(value).ok().filter(|_| length <= 2)
}

/// Converts a year, which must have four or two digits. Two-digit years up to 68 mean 2000 to 2068, and the others mean
/// 1969 to 1999.
fn year(value: i64, length: usize) -> Option<i64> {
    match length {
        4 => Some(value),
        2 => Some(value + if value <= 68 { 2000 } else { 1900 }),
        _ => None,
    }
}

/// The dates that were detected in a column.
#[derive(Debug)]
pub(crate) struct Detected {
    pub(crate) format: MomentFormat,
    /// The timestamp of each text, or `None` if the text is not a timestamp.
    pub(crate) values: Vec<Option<i64>>,
    /// Whether the same number of rows can be read in the other order of day and month.
    pub(crate) is_ambiguous: bool,
    /// Whether the cells have different offsets from UTC, or only some of them have an offset.
    pub(crate) has_offsets: bool,
    /// Whether a cell has a two-digit year.
    pub(crate) has_short_years: bool,
}

/// Chooses the order of day and month in which the most rows can be read. Returns `None` if no text is a timestamp. If
/// the same number of rows can be read in both orders, but as different days, `day_first` decides. If `day_first` is
/// `None`, the day is first if points separate the parts.
pub(crate) fn detect(texts: &[&str], rows: &[usize], day_first: Option<bool>) -> Option<Detected> {
    let read = |order| {
        let parsed: Vec<Option<Parsed>> = texts.iter().map(|text| parse(text, order)).collect();
        let count: usize =
            parsed.iter().zip(rows).filter(|(p, _)| p.is_some()).map(|(_, rows)| rows).sum();
        (count, parsed)
    };
    let year_first = read(DateOrder::YearFirst);
    let (mut order, mut is_ambiguous, mut best) = (DateOrder::YearFirst, false, year_first);
    let of_rows: usize = rows.iter().sum();
    if best.0 < of_rows {
        let (by_day, by_month) = (read(DateOrder::DayFirst), read(DateOrder::MonthFirst));
        if by_day.0.max(by_month.0) > best.0 {
            is_ambiguous = by_day.0 == by_month.0 && by_day.1 != by_month.1;
            let has_points = || {
                texts
                    .iter()
                    .zip(&by_day.1)
                    .any(|(t, p)| p.is_some() && t.contains('.') && !t.contains('/'))
            };
            let first = match day_first {
                Some(first) => first,
                None if is_ambiguous => has_points(),
                None => by_day.0 >= by_month.0,
            };
            (order, best) = if first {
                (DateOrder::DayFirst, by_day)
            } else {
                (DateOrder::MonthFirst, by_month)
            };
        }
        let times = read(DateOrder::TimeOnly);
        if times.0 > best.0 {
            (order, is_ambiguous, best) = (DateOrder::TimeOnly, false, times);
        }
    }
    if best.0 == 0 {
        return None;
    }
    let mut offsets = best.1.iter().flatten().map(|parsed| parsed.offset);
    let has_offset = offsets.clone().any(|offset| offset.is_some());
    let first = offsets.next().flatten();
    let is_same = offsets.all(|offset| offset == first);
    // A date such as `5. May 2024` also contains a point, but has only one reading.
    let is_pointed = |(text, parsed): (&&str, &Option<Parsed>)| {
        parsed.is_some() && has_point(text) && parse(text, DateOrder::YearFirst).is_none()
    };
    let points = order == DateOrder::MonthFirst && texts.iter().zip(&best.1).any(is_pointed);
    let offset = first.filter(|_| is_same).unwrap_or(0);
    let format = MomentFormat { order, offset, has_offset, points };
    let values = best.1.iter().map(|parsed| parsed.map(|parsed| format.local(parsed))).collect();
    let has_short_year = |(text, parsed): (&&str, &Option<Parsed>)| {
        let long = |digits: &str| digits.len() >= 4;
        parsed.is_some() && !text.split(|c: char| !c.is_ascii_digit()).any(long)
    };
    let has_short_years =
        order != DateOrder::TimeOnly && texts.iter().zip(&best.1).any(has_short_year);
    Some(Detected {
        format,
        values,
        is_ambiguous: is_ambiguous && day_first.is_none(),
        has_offsets: !is_same,
        has_short_years,
    })
}

/// The number of rows that contain a date in any order of day, month and year.
pub(super) fn rows_in_any_order(texts: &[&str], rows: &[usize]) -> usize {
    const ORDERS: [DateOrder; 3] =
        [DateOrder::YearFirst, DateOrder::DayFirst, DateOrder::MonthFirst];
    let is_date = |text: &str| ORDERS.iter().any(|order| parse(text, *order).is_some());
    texts.iter().zip(rows).filter(|(text, _)| is_date(text)).map(|(_, rows)| rows).sum()
}

/// Interprets numbers of the form 20241231 as dates, if all numbers are dates and if either the column name or the
/// number of distinct dates suggests this reading.
pub(super) fn dates_of_digits(name: &str, values: &[f64]) -> Option<Vec<Option<i64>>> {
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

/// The timestamp of a number such as 20241231, or `None` if the number is not a date from 1900 to 2100.
pub(super) fn digits_date(value: f64) -> Option<i64> {
    let is_in_range =
        (19_000_101.0..=21_001_231.0).contains(&value) && value.fract().to_bits() << 1 == 0;
    let digits = is_in_range.then_some(value as i64)?;
    days(digits / 10_000, (digits / 100 % 100) as u32, (digits % 100) as u32).map(|day| day * DAY)
}

/// Whether timestamps are times of day: all are on 1970-01-01, and not all are midnight.
pub(super) fn are_times(moments: &[Option<i64>]) -> bool {
    let present = || moments.iter().flatten();
    present().all(|at| (0..DAY).contains(at)) && present().any(|at| *at > 0)
}

/// Formats a timestamp in ISO 8601 as a date, as a date with a time, or only as a time if the date is 1970-01-01.
pub(crate) fn text(micros: i64) -> String {
    match micros.div_euclid(DAY) {
        0 if micros > 0 => clock(micros, 0),
        _ => exact_text(micros, 0, false),
    }
}

/// Formats a timestamp with `nanos` additional nanoseconds, always with its date. A timestamp with a time zone is
/// written in UTC, with its time and a Z.
pub(crate) fn exact_text(micros: i64, nanos: u16, has_zone: bool) -> String {
    let (day, time) = (micros.div_euclid(DAY), micros.rem_euclid(DAY));
    let (year, month, of_month) = date(day);
    let day = format!("{year:04}-{month:02}-{of_month:02}");
    match (time, nanos) {
        _ if has_zone => format!("{day}T{}Z", clock(time, nanos)),
        (0, 0) => day,
        _ => format!("{day}T{}", clock(time, nanos)),
    }
}

/// Formats a time of day.
pub(crate) fn clock(micros: i64, nanos: u16) -> String {
    let (seconds, fraction) = (micros / 1_000_000, micros % 1_000_000);
    let mut clock = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    if fraction > 0 || nanos > 0 {
        clock.push('.');
        clock.push_str(format!("{fraction:06}{nanos:03}").trim_end_matches('0'));
    }
    clock
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(cell: &str, order: DateOrder) -> Option<String> {
        parse(cell, order).map(|parsed| {
            let offset = parsed.offset.map_or(String::new(), |o| format!(" {o}"));
            text(parsed.micros) + &offset
        })
    }

    #[test]
    fn dates_in_many_forms() {
        for (cell, expected) in [
            ("2024-12-31", "2024-12-31"),
            ("2024/1/5", "2024-01-05"),
            ("2024.01.05", "2024-01-05"),
            ("2025-03-05 18:30:00", "2025-03-05T18:30:00"),
            ("2025-03-05T18:30", "2025-03-05T18:30:00"),
            ("2025-03-05T18:30:15.250Z", "2025-03-05T18:30:15.25 0"),
            ("2025-03-05 18:30:00+02:00", "2025-03-05T18:30:00 120"),
            ("2025-03-05T18:30:00-0530", "2025-03-05T18:30:00 -330"),
            ("20240131T0630", "2024-01-31T06:30:00"),
            ("31 Jan 2024", "2024-01-31"),
            ("31-Jan-24", "2024-01-31"),
            ("31JAN2024", "2024-01-31"),
            ("03may99", "1999-05-03"),
            ("31JAN2024:06:30:15.5", "2024-01-31T06:30:15.5"),
            ("Jan 31, 2024", "2024-01-31"),
            ("January 31st 2024", "2024-01-31"),
            ("Sept 3 1999", "1999-09-03"),
            ("Wed, 31 Jan 2024 06:30:00 GMT", "2024-01-31T06:30:00 0"),
            ("2024-01", "2024-01-01"),
            ("2024-01-31 24:00", "2024-02-01"),
        ] {
            assert_eq!(read(cell, DateOrder::YearFirst).as_deref(), Some(expected), "{cell}");
        }
        for (cell, day, month) in [
            ("31.12.2024", Some("2024-12-31"), None),
            ("12/31/2024", None, Some("2024-12-31")),
            ("1/2/2024 6:30 pm", Some("2024-02-01T18:30:00"), Some("2024-01-02T18:30:00")),
            ("3.4.68", Some("2068-04-03"), Some("2068-03-04")),
            ("12/31/99 12:05 AM", None, Some("1999-12-31T00:05:00")),
        ] {
            assert_eq!(read(cell, DateOrder::DayFirst).as_deref(), day, "{cell}");
            assert_eq!(read(cell, DateOrder::MonthFirst).as_deref(), month, "{cell}");
        }
        assert_eq!(read("06:30", DateOrder::TimeOnly).as_deref(), Some("06:30:00"));
        assert_eq!(read("6:30:05 pm", DateOrder::TimeOnly).as_deref(), Some("18:30:05"));
    }

    /// A time with a zone keeps its instant, and nanoseconds are kept.
    #[test]
    fn exact_texts_keep_zones_and_nanoseconds() {
        assert_eq!((text(0), text(1_000_000)), ("1970-01-01".to_owned(), "00:00:01".to_owned()));
        let micros = parse("2024-01-31 06:30:00.25", DateOrder::YearFirst).unwrap().micros;
        let midnight = parse("2024-01-31", DateOrder::YearFirst).unwrap().micros;
        for (at, nanos, has_zone, expected) in [
            (micros, 0, false, "2024-01-31T06:30:00.25"),
            (micros, 7, false, "2024-01-31T06:30:00.250000007"),
            (micros, 120, true, "2024-01-31T06:30:00.25000012Z"),
            (midnight, 0, false, "2024-01-31"),
            (midnight, 0, true, "2024-01-31T00:00:00Z"),
            (midnight, 1, false, "2024-01-31T00:00:00.000000001"),
            (0, 1, false, "1970-01-01T00:00:00.000000001"),
            (3_600_000_000, 0, false, "1970-01-01T01:00:00"),
            (0, 0, true, "1970-01-01T00:00:00Z"),
        ] {
            assert_eq!(exact_text(at, nanos, has_zone), expected);
            let again = parse(expected, DateOrder::YearFirst);
            if at > 0 {
                let offset = if has_zone { Some(0) } else { None };
                assert_eq!(
                    again.map(|of| (of.micros, of.offset)),
                    Some((at, offset)),
                    "{expected}"
                );
            }
        }
    }

    #[test]
    fn other_cells_are_not_dates() {
        for cell in [
            "1:2",
            "12:30:5",
            "2024-02-30",
            "31.02.2024",
            "1.2.3",
            "192.168.0.1",
            "2024",
            "12",
            "3,5",
            "",
            "may",
            "May be",
            "2024-13-01",
            "1-800-555",
            "12:75",
            "25:00",
            "2024-01-01x",
            "2024-01-01 6",
            "0000-00-00",
            "5-",
            "2024-1-1 25:00",
            "a 2024-01-01",
            "10-20",
            "½",
            "March Madness 64",
            "31JAN",
            "31JAN202",
            "310JAN2024",
            "31XYZ2024",
            "31JAN 2024 x",
        ] {
            for order in [
                DateOrder::YearFirst,
                DateOrder::DayFirst,
                DateOrder::MonthFirst,
                DateOrder::TimeOnly,
            ] {
                assert_eq!(read(cell, order), None, "{cell} {order:?}");
            }
        }
    }

    #[test]
    fn the_column_decides_the_order() {
        let of = |cells: &[&str], day_first| {
            let found = detect(cells, &vec![1; cells.len()], day_first).unwrap();
            let texts: Vec<String> =
                found.values.iter().map(|v| v.map_or(String::new(), text)).collect();
            (found.format.order, texts.join(" "), found.is_ambiguous)
        };
        let (day, month) = (DateOrder::DayFirst, DateOrder::MonthFirst);
        assert_eq!(
            of(&["01/02/2024", "13/02/2024"], None),
            (day, "2024-02-01 2024-02-13".into(), false)
        );
        assert_eq!(
            of(&["01/02/2024", "02/13/2024"], None),
            (month, "2024-01-02 2024-02-13".into(), false)
        );
        assert_eq!(of(&["01/02/2024"], None), (month, "2024-01-02".into(), true));
        assert_eq!(of(&["01.02.2024"], None), (day, "2024-02-01".into(), true));
        assert_eq!(of(&["01/02/2024"], Some(true)), (day, "2024-02-01".into(), false));
        assert!(!of(&["01/01/2024", "02/02/2024"], None).2);
    }

    #[test]
    fn one_offset_keeps_the_hour_and_several_become_utc() {
        let of = |cells: &[&str]| {
            let found = detect(cells, &vec![1; cells.len()], None).unwrap();
            (text(found.values[0].unwrap()), found.format.offset, found.has_offsets)
        };
        assert_eq!(
            of(&["2024-01-01T06:30+02:00", "2024-01-02T06:30+02:00"]),
            ("2024-01-01T06:30:00".into(), 120, false)
        );
        assert_eq!(
            of(&["2024-01-01T06:30+02:00", "2024-07-02T06:30+03:00"]),
            ("2024-01-01T04:30:00".into(), 0, true)
        );
        let format = MomentFormat { offset: 120, ..MomentFormat::default() };
        assert_eq!(format.parse("2024-01-01T04:30Z").map(text), Some("2024-01-01T06:30:00".into()));
    }
}
