//! Parses numbers in the formats that people use, and detects the format of a column.
//!
//! All numbers of a column have the same format. It consists of a decimal mark, an optional separator of digit groups,
//! and an optional currency sign, percent sign or unit next to the numbers. [`detect`] chooses the format in which the
//! most rows can be read.

use super::points::Points;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The mark between the integer part and the fraction of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decimal {
    /// A decimal point, as in `3.5`.
    #[default]
    Point,
    /// A decimal comma, as in `3,5`.
    Comma,
}

/// The separator of digit groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Group {
    /// A comma, as in `1,234`.
    Comma,
    /// A point, as in `1.234`.
    Point,
    /// Any kind of space, as in `1 234`.
    Space,
    /// An apostrophe, as in `1'234`.
    Apostrophe,
    /// An underscore, as in `1_234`.
    Underscore,
}

/// The format of the numbers in a column. Every format allows a minus sign before or after the number, Unicode minus
/// signs, parentheses around a negative number, and exponents (`1e5`, `1.5D+03`).
///
/// ```
/// use halfspaces_frame::{Decimal, Group, NumberFormat};
/// let german = NumberFormat { decimal: Decimal::Comma, group: Some(Group::Point), affix: Some("€".into()) };
/// assert_eq!(german.parse("1.234,50 €"), Some(1234.5));
/// assert_eq!(german.parse("1,234.50 €"), None);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct NumberFormat {
    /// The decimal mark.
    pub decimal: Decimal,
    /// The separator of digit groups.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<Group>,
    /// A currency sign, a percent sign or a unit next to the numbers. It does not change the values of the numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub affix: Option<String>,
}

/// The maximum length in bytes of a cell that is read as a number.
const MAX_LENGTH: usize = 64;

const CURRENCY_SIGNS: [char; 12] = ['$', '€', '£', '¥', '₹', '₽', '₩', '₺', '₪', '₫', '₴', '฿'];
const CURRENCY_CODES: [&str; 24] = [
    "USD", "EUR", "GBP", "JPY", "CHF", "CNY", "RMB", "INR", "AUD", "CAD", "NZD", "SEK", "NOK",
    "DKK", "PLN", "CZK", "HUF", "BRL", "MXN", "ZAR", "KRW", "RUB", "TRY", "SGD",
];
const OTHER_CURRENCIES: [&str; 8] = ["US$", "R$", "A$", "C$", "kr", "zł", "Rs", "Fr."];
const PERCENT: [&str; 3] = ["%", "‰", "％"];
const UNITS: [&str; 20] = [
    "°C", "°F", "°", "kg", "mg", "g", "km", "cm", "mm", "m", "ms", "h", "min", "lb", "lbs", "kWh",
    "kW", "MB", "GB", "kB",
];
/// Words after a number that multiply it or give it a sign, in lower case. `M` for millions is not `m` for metres.
const FACTORS: [&str; 13] =
    ["k", "tsd", "thsd", "mn", "mio", "mill", "mrd", "bn", "bio", "tn", "trn", "cr", "dr"];
/// This share decides whether commas separate thousands or are decimal marks, unless other columns or the delimiter
/// suggest decimal commas. Commas separate thousands if the number of rows that can be read in this way is at least
/// this share of the number of rows that can be read with a decimal comma. The other cells then do not fit the format.
const MOSTLY: f64 = 0.95;
/// The maximum length, in letters, of a unit that is not listed. A space must precede such a unit.
const MAX_UNIT: usize = 4;

/// The parts of a cell. They do not depend on the meaning of the marks between its digits.
struct Parts<'t> {
    negative: bool,
    /// The digits and the marks between them.
    digits: &'t str,
    /// The exponent with its `e`, or an empty string if there is no exponent.
    exponent: &'t str,
    affix: Option<&'t str>,
}

impl NumberFormat {
    /// The format of a column of integers in a table with decimal commas: a point in a new row separates thousands.
    pub(super) fn integers_among_commas() -> NumberFormat {
        NumberFormat { decimal: Decimal::Comma, group: Some(Group::Point), affix: None }
    }

    /// Parses the number in a cell. Returns `None` if the cell is not a number in this format or if the number is
    /// infinite.
    #[must_use]
    pub fn parse(&self, cell: &str) -> Option<f64> {
        let cell = plain(cell);
        let parts = Parts::of(&cell)?;
        if !self.allows(parts.affix) {
            return None;
        }
        self.value(&parts)
    }

    /// Parses a number with groups of thousands if the format has no group separator. Returns `None` if the separator
    /// of the groups could be a decimal mark, as in `1,120`, unless `is_told` says that the user gave the decimal mark.
    pub(super) fn parse_grouped(&self, cell: &str, is_told: bool) -> Option<f64> {
        if self.group.is_some() {
            return None;
        }
        let (decimal, other, mark) = match self.decimal {
            Decimal::Point => ('.', Group::Comma, ','),
            Decimal::Comma => (',', Group::Point, '.'),
        };
        let is_clear = is_told || cell.contains(decimal) || cell.matches(mark).count() > 1;
        let groups = [Group::Space, Group::Apostrophe].into_iter().chain(is_clear.then_some(other));
        let grouped = |group: Group| NumberFormat { group: Some(group), ..self.clone() };
        groups.map(grouped).find_map(|format| format.parse(cell))
    }

    /// Whether a number may have the affix `found`. A number without an affix is accepted, unless the affix of the
    /// format changes the values of numbers.
    fn allows(&self, found: Option<&str>) -> bool {
        found.map_or_else(|| !self.has_factor(), |found| self.affix.as_deref() == Some(found))
    }

    /// Whether the affix changes the value of a number, as `%`, `mio` and `CR` do. If it does, a number without the
    /// affix may be on another scale: 0.5 may be a share of 50 %.
    pub(crate) fn has_factor(&self) -> bool {
        self.affix.as_deref().is_some_and(|affix| {
            let lower = affix.to_lowercase();
            PERCENT.contains(&affix)
                || matches!(affix, "M" | "B")
                || FACTORS.contains(&lower.as_str())
        })
    }

    /// Whether points are decimal points, and no other mark separates groups.
    pub(super) fn has_decimal_points(&self) -> bool {
        self.has_points() && self.group.is_none()
    }

    /// Whether a point in a number is a decimal point.
    pub(super) fn has_points(&self) -> bool {
        self.decimal == Decimal::Point
    }

    fn value(&self, parts: &Parts<'_>) -> Option<f64> {
        let decimal = match self.decimal {
            Decimal::Point => '.',
            Decimal::Comma => ',',
        };
        let (whole, fraction) = match parts.digits.split_once(decimal) {
            Some((whole, fraction)) => (whole, fraction),
            None => (parts.digits, ""),
        };
        let whole = self.ungrouped(whole)?;
        let is_digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
        if whole.is_empty() && fraction.is_empty() || !is_digits(fraction) {
            return None;
        }
        let sign = if parts.negative { "-" } else { "" };
        let power = parts.exponent.get(1..).unwrap_or_default();
        let power = if power.is_empty() { "0" } else { power };
        let plain = format!("{sign}{whole}.{fraction}e{power}");
        fast_float2::parse::<f64, _>(plain.as_bytes()).ok().filter(|value| value.is_finite())
    }

    /// The digits of the integer part without group separators, or `None` if a separator is misplaced.
    fn ungrouped<'t>(&self, whole: &'t str) -> Option<Cow<'t, str>> {
        if whole.bytes().all(|b| b.is_ascii_digit()) {
            return Some(Cow::Borrowed(whole));
        }
        let group = self.group?;
        let groups: Vec<&str> = whole.split(|letter| group.is(letter)).collect();
        let (first, rest) = groups.split_first()?;
        let all_digits =
            groups.iter().all(|g| !g.is_empty() && g.bytes().all(|b| b.is_ascii_digit()));
        // All groups have three digits. In Indian notation, the last group has three digits and the other groups have
        // two.
        let (last, middle) = rest.split_last()?;
        let western = first.len() <= 3 && middle.iter().all(|g| g.len() == 3);
        let indian =
            group == Group::Comma && first.len() <= 2 && middle.iter().all(|g| g.len() == 2);
        let in_groups = last.len() == 3 && (western || indian) && !first.starts_with('0');
        (all_digits && in_groups).then(|| Cow::Owned(groups.concat()))
    }

    /// Describes the format in words, such as "a decimal comma and the sign `€`". The result is empty for the plain
    /// format.
    pub(crate) fn describe(&self) -> String {
        let mut parts = Vec::new();
        if self.decimal == Decimal::Comma {
            parts.push("a decimal comma".to_owned());
        }
        match self.group {
            Some(Group::Comma) => parts.push("commas between thousands".to_owned()),
            Some(Group::Point) => parts.push("points between thousands".to_owned()),
            Some(Group::Space) => parts.push("spaces between thousands".to_owned()),
            Some(Group::Apostrophe) => parts.push("apostrophes between thousands".to_owned()),
            Some(Group::Underscore) => parts.push("underscores between thousands".to_owned()),
            None => {}
        }
        if let Some(affix) = &self.affix {
            parts.push(format!("the sign `{affix}`"));
        }
        parts.join(" and ")
    }
}

impl Group {
    fn is(self, letter: char) -> bool {
        match self {
            Group::Comma => letter == ',',
            Group::Point => letter == '.',
            Group::Space => letter.is_whitespace(),
            Group::Apostrophe => matches!(letter, '\'' | '’'),
            Group::Underscore => letter == '_',
        }
    }
}

fn is_minus(letter: char) -> bool {
    matches!(letter, '-' | '\u{2212}' | '\u{2012}' | '\u{2013}' | '\u{fe63}' | '\u{ff0d}')
}

/// Whether a character has no width, such as a zero-width space or a byte order mark.
fn is_invisible(letter: char) -> bool {
    matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}')
}

/// The ASCII character for a full-width or Arabic digit or mark.
fn ascii(letter: char) -> char {
    let digit = |zero: u32| char::from_digit(u32::from(letter) - zero, 10).unwrap_or(letter);
    match letter {
        '\u{ff10}'..='\u{ff19}' => digit(0xff10),
        '\u{660}'..='\u{669}' => digit(0x660),
        '\u{6f0}'..='\u{6f9}' => digit(0x6f0),
        '\u{ff0e}' | '\u{66b}' => '.',
        '\u{ff0c}' | '\u{66c}' => ',',
        other => other,
    }
}

/// Removes what programs add to a number without changing it: invisible characters, and the signs by which spreadsheets
/// mark texts, as in `="12"` and `'12`. Digits of other scripts become ASCII digits.
pub(super) fn plain(cell: &str) -> Cow<'_, str> {
    let cell = match cell.is_ascii() {
        true => Cow::Borrowed(cell.trim()),
        false => {
            let letters = cell.chars().filter(|letter| !is_invisible(*letter));
            Cow::Owned(letters.map(ascii).collect::<String>().trim().to_owned())
        }
    };
    let bare = |text: &str| {
        let quoted = text.strip_prefix("=\"").and_then(|rest| rest.strip_suffix('"'));
        quoted.or_else(|| text.strip_prefix('\'')).map(str::to_owned)
    };
    match cell {
        Cow::Borrowed(text) if !text.starts_with(['=', '\'']) => cell,
        _ => bare(&cell).map_or(cell, Cow::Owned),
    }
}

/// Removes a leading sign. The second part of the result says whether the sign is a minus, and is `None` if there is no
/// sign.
fn without_sign(text: &str) -> (&str, Option<bool>) {
    let mut letters = text.chars();
    match letters.next() {
        Some('+') => (letters.as_str().trim_start(), Some(false)),
        Some(letter) if is_minus(letter) => (letters.as_str().trim_start(), Some(true)),
        _ => (text, None),
    }
}

impl<'t> Parts<'t> {
    fn points(&self) -> Points {
        Points::of([self.digits, self.exponent].concat().as_bytes())
    }

    /// Divides a cell into its parts. Returns `None` if the cell contains no digit, or if it contains words or marks
    /// that do not belong to a number.
    fn of(cell: &'t str) -> Option<Parts<'t>> {
        let cell = cell.trim();
        if cell.len() > MAX_LENGTH || !cell.bytes().any(|b| b.is_ascii_digit()) {
            return None;
        }
        let inside = cell.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
        let (text, sign) = without_sign(inside.unwrap_or(cell).trim());
        let (text, before) = without_currency(text);
        let (text, second) = if sign.is_none() { without_sign(text) } else { (text, None) };
        let end = text.find(|c: char| !is_of_digits(c)).unwrap_or(text.len());
        let (digits, rest) = text.split_at(end);
        if !digits.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '.' | ',')) {
            return None;
        }
        let (exponent, rest) = rest.split_at(exponent_length(rest));
        // A number has no space before its exponent.
        if !exponent.is_empty() && digits.ends_with(char::is_whitespace) {
            return None;
        }
        let is_spaced = digits.ends_with(char::is_whitespace);
        let rest = without_cents(digits, rest).trim_start();
        let (rest, after_minus) = match rest.chars().next() {
            Some(letter) if is_minus(letter) => (rest[letter.len_utf8()..].trim_start(), true),
            _ => (rest, false),
        };
        let (rest, last_minus) = match rest.chars().next_back() {
            Some(letter) if is_minus(letter) => {
                (rest[..rest.len() - letter.len_utf8()].trim_end(), true)
            }
            _ => (rest, false),
        };
        let after = match rest {
            "" => None,
            rest if is_affix(rest, is_spaced) => Some(rest),
            _ => return None,
        };
        let signs = [sign.is_some() || second.is_some(), after_minus, last_minus, inside.is_some()];
        let is_sound =
            signs.iter().filter(|has| **has).count() <= 1 && !(before.is_some() && after.is_some());
        let negative = sign == Some(true)
            || second == Some(true)
            || after_minus
            || last_minus
            || inside.is_some();
        is_sound.then_some(Parts {
            negative,
            digits: digits.trim_end(),
            exponent,
            affix: before.or(after),
        })
    }
}

/// Removes the dashes that stand for the missing fraction of a price, such as `6,-` or `6.--`. Such a dash is not a
/// minus sign.
fn without_cents<'t>(digits: &str, rest: &'t str) -> &'t str {
    let is_dash = |letter: char| is_minus(letter) || letter == '\u{2014}';
    match digits.ends_with(['.', ',']) {
        true => rest.trim_start_matches(is_dash),
        false => rest,
    }
}

/// Whether a number is negative because of a minus sign at its end or of parentheses around it.
pub(crate) fn has_turned_sign(cell: &str) -> bool {
    let cell = cell.trim();
    cell.starts_with('(') || cell.ends_with(is_minus) && !cell.starts_with(is_minus)
}

fn is_of_digits(letter: char) -> bool {
    letter.is_ascii_digit()
        || matches!(letter, '.' | ',' | '_' | '\'' | '’')
        || letter.is_whitespace()
}

/// The length of an exponent, such as `e5` or `D+03`, at the start of a text, or 0 if there is no exponent.
fn exponent_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    if !matches!(bytes.first(), Some(b'e' | b'E' | b'd' | b'D')) {
        return 0;
    }
    let sign = usize::from(matches!(bytes.get(1), Some(b'+' | b'-')));
    let digits = bytes[1 + sign..].iter().take_while(|b| b.is_ascii_digit()).count();
    if digits == 0 { 0 } else { 1 + sign + digits }
}

fn without_currency(text: &str) -> (&str, Option<&str>) {
    let signs = OTHER_CURRENCIES.iter().chain(&CURRENCY_CODES);
    let length = signs.copied().find(|sign| text.starts_with(sign)).map(str::len);
    let sign = text.chars().next().filter(|c| CURRENCY_SIGNS.contains(c)).map(char::len_utf8);
    let percent = PERCENT.iter().find(|sign| text.starts_with(**sign)).map(|sign| sign.len());
    match length.or(sign).or(percent) {
        Some(length) => (text[length..].trim_start(), Some(&text[..length])),
        None => (text, None),
    }
}

fn is_affix(text: &str, is_spaced: bool) -> bool {
    let one = |letter: char| text.chars().eq([letter]);
    let is_known = [&CURRENCY_CODES[..], &OTHER_CURRENCIES, &PERCENT, &UNITS]
        .iter()
        .any(|list| list.contains(&text));
    let is_unit = || {
        let letters = text.chars().count();
        is_spaced
            && letters <= MAX_UNIT
            && text.chars().all(|c| c.is_alphabetic() || matches!(c, '°' | '²' | '³' | '/' | 'µ'))
    };
    is_known || CURRENCY_SIGNS.iter().any(|sign| one(*sign)) || is_unit()
}

/// Evidence from the options and the rest of the file. It decides how a column is read if the meaning of its marks is
/// ambiguous.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Evidence {
    /// The decimal mark set by the user.
    pub(crate) requested: Option<Decimal>,
    /// The decimal mark of other columns, if it is unambiguous.
    pub(crate) elsewhere: Option<Decimal>,
    /// The delimiter, if the file is delimited text.
    pub(crate) delimiter: Option<u8>,
}

/// The number format detected in a column.
#[derive(Debug)]
pub(crate) struct Detected {
    pub(crate) format: NumberFormat,
    /// Each text as a number; `None` if it is not a number.
    pub(crate) values: Vec<Option<f64>>,
    /// The reason for choosing this format, if the same number of rows can be read in another format.
    pub(crate) doubt: Option<&'static str>,
    /// The points in the numbers.
    pub(crate) points: Points,
}

/// Chooses the format in which the most rows can be read. Returns `None` if no text is a number. `rows` contains the
/// number of rows of each text.
pub(crate) fn detect(texts: &[&str], rows: &[usize], evidence: Evidence) -> Option<Detected> {
    let texts: Vec<Cow<'_, str>> = texts.iter().map(|text| plain(text)).collect();
    let parts: Vec<Option<Parts<'_>>> = texts.iter().map(|text| Parts::of(text)).collect();
    let numbers =
        || parts.iter().zip(rows).filter_map(|(parts, rows)| Some((parts.as_ref()?, *rows)));
    let has = |mark: fn(char) -> bool| numbers().any(|(parts, _)| parts.digits.contains(mark));
    let mut groups = vec![None];
    groups.extend(has(|c| c == '_').then_some(Some(Group::Underscore)));
    groups.extend(has(|c| Group::Apostrophe.is(c)).then_some(Some(Group::Apostrophe)));
    groups.extend(has(char::is_whitespace).then_some(Some(Group::Space)));
    let (comma, point) = (has(|c| c == ','), has(|c| c == '.'));
    let affix = common_affix(numbers());
    // For each decimal mark, the best format and the number of rows that can be read in it.
    let mut best: [(usize, NumberFormat); 2] = Default::default();
    let may_group = point && evidence.elsewhere == Some(Decimal::Comma);
    for decimal in [Decimal::Point, Decimal::Comma] {
        let (other, is_used, is_possible) = match decimal {
            Decimal::Point => (Group::Comma, comma, true),
            Decimal::Comma => {
                (Group::Point, point, comma || may_group || evidence.requested == Some(decimal))
            }
        };
        if !is_possible || evidence.requested.is_some_and(|mark| mark != decimal) {
            continue;
        }
        for group in groups.iter().copied().chain(is_used.then_some(Some(other))) {
            let format = NumberFormat { decimal, group, affix: affix.clone() };
            let read = |(parts, rows): (&Parts<'_>, usize)| {
                if format.allows(parts.affix) && format.value(parts).is_some() { rows } else { 0 }
            };
            let count: usize = numbers().map(read).sum();
            let best = &mut best[decimal as usize];
            if count > best.0 {
                *best = (count, format);
            }
        }
    }
    let [by_point, by_comma] = best;
    let is_tie = by_point.0 == by_comma.0;
    let (decimal, why) = decide(evidence);
    let is_mostly_grouped =
        decimal == Decimal::Point && by_point.0 as f64 >= MOSTLY * by_comma.0 as f64;
    let is_comma = match is_tie {
        true => decimal == Decimal::Comma,
        false => by_comma.0 > by_point.0 && !is_mostly_grouped,
    };
    let (count, format) = if is_comma { by_comma } else { by_point };
    if count == 0 {
        return None;
    }
    let doubt = is_tie.then_some(why);
    let value = |parts: &Option<Parts<'_>>| {
        let parts = parts.as_ref()?;
        format.allows(parts.affix).then(|| format.value(parts))?
    };
    let values: Vec<Option<f64>> = parts.iter().map(value).collect();
    let mut points = Points::default();
    for (parts, _) in parts.iter().zip(&values).filter(|(_, value)| value.is_some()) {
        points.add(parts.as_ref().map(Parts::points).unwrap_or_default());
    }
    Some(Detected { values, format, doubt, points })
}

/// Decides which decimal mark to use if numbers such as `1,234` are ambiguous. Returns the mark and the reason.
fn decide(evidence: Evidence) -> (Decimal, &'static str) {
    match evidence {
        Evidence { elsewhere: Some(Decimal::Comma), .. } => (Decimal::Comma, "as in other columns"),
        Evidence { elsewhere: Some(Decimal::Point), .. } => {
            (Decimal::Point, "because other columns have a decimal point")
        }
        Evidence { delimiter: Some(b';'), .. } => {
            (Decimal::Comma, "because semicolons separate the cells")
        }
        _ => (Decimal::Point, "because all of them have three digits after the comma"),
    }
}

/// The most common affix, if the number of rows that have it is more than half of the number of rows without an affix.
fn common_affix<'p>(numbers: impl Iterator<Item = (&'p Parts<'p>, usize)>) -> Option<String> {
    // At most this many distinct affixes are counted.
    const MAX_AFFIXES: usize = 64;
    let mut counts: Vec<(Option<&str>, usize)> = Vec::new();
    for (parts, rows) in numbers {
        if let Some((_, count)) = counts.iter_mut().find(|(affix, _)| *affix == parts.affix) {
            *count += rows;
        } else if counts.len() < MAX_AFFIXES {
            counts.push((parts.affix, rows));
        }
    }
    let without = counts.iter().find(|(affix, _)| affix.is_none()).map_or(0, |(_, count)| *count);
    let most =
        counts.iter().filter(|(affix, _)| affix.is_some()).max_by_key(|(_, count)| *count)?;
    (2 * most.1 > without).then(|| most.0.map(str::to_owned))?
}

/// The sign or unit next to the number in a cell, which is empty if there is none. Returns `None` if the cell is not a
/// number.
pub(super) fn affix(cell: &str) -> Option<String> {
    Some(Parts::of(&plain(cell))?.affix.unwrap_or_default().to_owned())
}

/// Parses a number in the plain format. Returns `None` for words, NaN and infinite numbers.
pub(crate) fn plain_number(cell: &[u8]) -> Option<f64> {
    fast_float2::parse::<f64, _>(cell).ok().filter(|value| value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(cells: &[&str], evidence: Evidence) -> (Vec<Option<f64>>, NumberFormat, bool) {
        let found = detect(cells, &vec![1; cells.len()], evidence).unwrap();
        (found.values, found.format, found.doubt.is_some())
    }

    fn values(cells: &[&str]) -> Vec<Option<f64>> {
        column(cells, Evidence::default()).0
    }

    #[test]
    fn one_column_has_one_spelling() {
        for (cells, expected) in [
            (&["3,5", "-2,25", "7"][..], &[3.5, -2.25, 7.0][..]),
            (&["2,037", "950", "1,234,567.5"], &[2037.0, 950.0, 1_234_567.5]),
            (&["1.234,56", "0,5", "12"], &[1234.56, 0.5, 12.0]),
            (&["1 234", "1\u{a0}234,5", "12\u{202f}345"], &[1234.0, 1234.5, 12345.0]),
            (&["1'234.5", "1’000"], &[1234.5, 1000.0]),
            (&["12,34,567", "1,23,456"], &[1_234_567.0, 123_456.0]),
            (&["801_931", "1_0", "1_324_358"], &[801_931.0, f64::NAN, 1_324_358.0]),
            (&["1.5D+03", "1d2", "2e-1", "1E5"], &[1500.0, 100.0, 0.2, 1e5]),
            (&["5,90", "6,-", "-7,-", "8,\u{2013}"], &[5.9, 6.0, -7.0, 8.0]),
            (&["3,50 €", "6,- €"], &[3.5, 6.0]),
            (&["5.90", "6.-", "7.\u{2014}", "-8.--", "9-"], &[5.9, 6.0, 7.0, -8.0, -9.0]),
            (&["+5", "5-", "\u{2212}5", "(5)", "(1,234)"], &[5.0, -5.0, -5.0, -5.0, -1234.0]),
            (&["-80.2%", "42 %", "7.5%"], &[-80.2, 42.0, 7.5]),
            (&["$1,234.50", "-$5", "$-5.00", "$7"], &[1234.5, -5.0, -5.0, 7.0]),
            (&["3,50 €", "1.200,00 €", "4"], &[3.5, 1200.0, 4.0]),
            (&["EUR 12", "EUR 7"], &[12.0, 7.0]),
            (&["12 kg", "1.5 kg"], &[12.0, 1.5]),
            (&["-12.50-", "12.50-"], &[f64::NAN, -12.5]),
            (&["=\"00012\"", "=\"-3.5\"", "7"], &[12.0, -3.5, 7.0]),
            (&["'12", "'-3.5", "7"], &[12.0, -3.5, 7.0]),
            (&["\u{200b}12", "3.5\u{feff}", "\u{200e}7"], &[12.0, 3.5, 7.0]),
            (&["１２", "－３．５", "7"], &[12.0, -3.5, 7.0]),
            (&["١٢", "٣٫٥", "۷"], &[12.0, 3.5, 7.0]),
        ] {
            let found = values(cells);
            for ((found, expected), cell) in found.iter().zip(expected).zip(cells) {
                assert_eq!(*found, Some(*expected).filter(|v| !v.is_nan()), "{cell} of {cells:?}");
            }
        }
    }

    #[test]
    fn other_cells_are_not_numbers() {
        for cell in [
            "1O",
            "doc17",
            "12:30",
            "2024-01-31",
            "1.2.3.4",
            "--5",
            "1e",
            "e5",
            "",
            "1 e5",
            "1/2",
            "5%%",
            "inf",
            "nan",
            "1e999",
            "0x10",
            "3rd",
            "+-5",
            "$",
            "a1",
            "12 Main Street",
        ] {
            let plain = NumberFormat::default();
            assert_eq!(plain.parse(cell), None, "{cell}");
        }
        // Percentages and plain numbers are not on the same scale.
        assert_eq!(values(&["45%", "50%", "0.3"]), [Some(45.0), Some(50.0), None]);
        // Amounts in another currency are a different quantity.
        assert_eq!(values(&["$5", "$6", "€7"]), [Some(5.0), Some(6.0), None]);
    }

    #[test]
    fn thousands_or_decimals_is_decided_by_the_whole_table() {
        let cells = &["1,234", "2,500"];
        let of = |evidence| {
            let (values, _, doubt) = column(cells, evidence);
            assert!(doubt || evidence.requested.is_some());
            values[0].unwrap()
        };
        let none = Evidence::default();
        assert_eq!(of(none), 1234.0);
        assert_eq!(of(Evidence { delimiter: Some(b','), ..none }), 1234.0);
        assert_eq!(of(Evidence { delimiter: Some(b';'), ..none }), 1.234);
        assert_eq!(
            of(Evidence { delimiter: Some(b';'), elsewhere: Some(Decimal::Point), ..none }),
            1234.0
        );
        assert_eq!(of(Evidence { elsewhere: Some(Decimal::Comma), ..none }), 1.234);
        assert_eq!(of(Evidence { requested: Some(Decimal::Comma), ..none }), 1.234);
        // A single unambiguous cell decides how the whole column is read.
        assert!(!column(&["1,234", "2,5"], none).2 && !column(&["1,234", "0,125"], none).2);
        assert_eq!(values(&["1,234", "0,125"])[0], Some(1.234));
        // Odd cells do not decide this if they are few, that is, at most one in 20.
        let mostly = |odd: usize| [vec!["1,234"; 100 - odd], vec!["12,34"; odd]].concat();
        let point = Evidence { elsewhere: Some(Decimal::Point), ..none };
        for (odd, evidence, first) in [
            (5, none, 1234.0),
            (5, point, 1234.0),
            (6, point, 1.234),
            (1, Evidence { elsewhere: Some(Decimal::Comma), ..none }, 1.234),
            (1, Evidence { delimiter: Some(b';'), ..none }, 1.234),
        ] {
            let (values, _, doubt) = column(&mostly(odd), evidence);
            assert!(!doubt && values[0] == Some(first), "{odd} {evidence:?}");
            assert_eq!(values[99].is_none(), first > 2.0);
        }
    }

    #[test]
    fn numbers_without_a_factor_are_not_on_its_scale() {
        for factor in ["K", "k", "mio", "Mrd", "M", "bn", "CR", "dr"] {
            let cells = [format!("379 {factor}"), format!("2 {factor}"), "846".to_owned()];
            let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
            assert_eq!(values(&cells), [Some(379.0), Some(2.0), None], "{factor}");
        }
        assert_eq!(values(&["379 m", "2 m", "846"])[2], Some(846.0));
    }

    /// A currency is the affix of the column if the number of cells that have it is more than half of the number of
    /// cells without a currency.
    #[test]
    fn numbers_without_the_sign_of_the_column_are_read() {
        let read = |cells: &[&str]| values(cells).iter().flatten().copied().collect::<Vec<f64>>();
        assert_eq!(read(&["$1", "$2", "3", "4", "5"]), [1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(read(&["$1", "3", "4"]), [3.0, 4.0]);
    }
}
