//! Guesses the kinds of cells. The kinds help to find the delimiter, the header and the footnotes.

use crate::decimal::short_decimal;
use crate::missing::is_missing_marker;
use crate::typing::is_likely_marker;

/// The apparent kind of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Empty,
    /// A common marker of a missing value.
    Missing,
    /// A number, possibly with a currency sign, a percent sign or thousands separators.
    Number,
    /// A date, a time of day, or both.
    Moment,
    /// A word that consists of letters, digits and a few signs.
    Word,
    /// Anything else.
    Text,
}

impl Kind {
    pub(crate) fn is_typed(self) -> bool {
        matches!(self, Kind::Number | Kind::Moment)
    }

    pub(crate) fn is_wordy(self) -> bool {
        matches!(self, Kind::Word | Kind::Text)
    }
}

/// The maximum length in bytes of a cell that is analysed. Longer cells are texts.
const LONGEST: usize = 64;

/// Determines the kind of a cell.
pub(crate) fn kind(cell: &[u8]) -> Kind {
    let cell = cell.trim_ascii();
    if cell.is_empty() {
        return Kind::Empty;
    }
    if cell.len() > LONGEST {
        return Kind::Text;
    }
    // Most cells are plain numbers, which are recognised faster than others.
    if short_decimal(cell).is_some() {
        return Kind::Number;
    }
    if is_missing(cell) {
        return Kind::Missing;
    }
    if is_number(cell) {
        return Kind::Number;
    }
    if is_moment(cell) {
        return Kind::Moment;
    }
    let plain = |b: &u8| b.is_ascii_alphanumeric() || !b.is_ascii() || b"_-./@+()%".contains(b);
    if cell.iter().all(|b| plain(b) || *b == b' ') { Kind::Word } else { Kind::Text }
}

/// Whether a cell marks a missing value. Some markers, such as `x` and `missing`, are also common column names. They
/// count as words rather than as markers, because a marker is never taken for a name.
fn is_missing(cell: &[u8]) -> bool {
    const LONGEST_MARKER: usize = 14;
    const NO_NAMES: [&[u8]; 5] = [b"na", b"nan", b"null", b"none", b"unknown"];
    if cell.len() > LONGEST_MARKER {
        return false;
    }
    let Ok(text) = std::str::from_utf8(cell) else { return false };
    if text.chars().all(|c| c.is_alphabetic() || c == ' ') {
        return NO_NAMES.iter().any(|marker| cell.eq_ignore_ascii_case(marker));
    }
    is_missing_marker(text) || is_likely_marker(text, false)
}

/// Whether a cell is a number in one of the common notations.
fn is_number(cell: &[u8]) -> bool {
    let Some(cell) = without_signs(cell) else { return false };
    if fast_float2::parse::<f64, _>(cell).is_ok() {
        return !cell[0].is_ascii_alphabetic() && !cell[cell.len() - 1].is_ascii_alphabetic();
    }
    // This accepts numbers such as 1,234.5 and 1.234,5 and 1 234 and 3,5.
    let digits = cell.iter().filter(|b| b.is_ascii_digit()).count();
    let separators = cell.iter().filter(|b| b",. '_".contains(b)).count();
    let exponent = cell.iter().filter(|b| b"eEdD+-".contains(b)).count();
    let edges = cell[0].is_ascii_digit() || cell.len() > 1 && b"+-.,".contains(&cell[0]);
    let doubled = cell.windows(2).any(|w| b",. '_".contains(&w[0]) && b",. '_".contains(&w[1]));
    let is_clock = cell.contains(&b':');
    edges
        && !doubled
        && !is_clock
        && digits > 0
        && exponent <= 3
        && digits + separators + exponent == cell.len()
        && is_grouped(cell)
}

/// Whether the separators in a number can be thousands separators and a decimal mark.
fn is_grouped(cell: &[u8]) -> bool {
    let mantissa = cell.split(|b| b"eEdD".contains(b)).next().unwrap_or(cell);
    let parts: Vec<&[u8]> = mantissa.split(|b| b",. '_".contains(b)).collect();
    match parts.as_slice() {
        [] | [_] | [_, _] => {
            !mantissa.contains(&b' ') || parts.iter().skip(1).all(|p| p.len() == 3)
        }
        [_, middle @ .., _] => middle.iter().all(|part| part.len() == 3),
    }
}

/// Removes from a number its currency sign, its percent sign, and the parentheses that mark a negative amount.
fn without_signs(cell: &[u8]) -> Option<&[u8]> {
    let mut cell = cell;
    if let [b'(', inner @ .., b')'] = cell {
        cell = inner;
    }
    for sign in [&b"$"[..], "€".as_bytes(), "£".as_bytes(), "¥".as_bytes(), b"-$", "-£".as_bytes()]
    {
        cell = cell.strip_prefix(sign).or(cell.strip_suffix(sign)).unwrap_or(cell);
    }
    cell = cell.strip_suffix(b"%").unwrap_or(cell).trim_ascii();
    (!cell.is_empty()).then_some(cell)
}

/// Whether a cell is a date, a time of day, or both.
fn is_moment(cell: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(cell) else { return false };
    let text = text.strip_suffix('Z').unwrap_or(text);
    let both = text.split_once(['T', ' ']);
    both.is_some_and(|(day, clock)| is_day(day) && is_clock(clock))
        || is_day(text)
        || is_clock(text)
}

fn is_clock(text: &str) -> bool {
    let are_digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let text = text.trim();
    let zone = ["Z", "UTC", "GMT", "AM", "PM", "am", "pm"];
    let text = zone.iter().find_map(|end| text.strip_suffix(end)).unwrap_or(text).trim_end();
    let (text, offset) = text.split_once(['+', '-']).unwrap_or((text, ""));
    let (text, fraction) = text.trim_end().split_once('.').unwrap_or((text, ""));
    let is_offset = offset.len() <= 5 && are_digits(&offset.replacen(':', "", 1));
    if !is_offset || !are_digits(fraction) {
        return false;
    }
    let parts: Vec<&str> = text.trim_end().split(':').collect();
    let number = |part: &&str| (1..=2).contains(&part.len()) && are_digits(part);
    (2..=3).contains(&parts.len()) && parts.iter().all(number)
}

fn is_day(text: &str) -> bool {
    let Some(separator) = ['-', '/', '.', ' '].into_iter().find(|s| text.contains(*s)) else {
        return false;
    };
    let parts: Vec<&str> = text.split(separator).collect();
    let number =
        |part: &str| matches!(part.len(), 1 | 2 | 4) && part.bytes().all(|b| b.is_ascii_digit());
    let month = |part: &str| (3..=9).contains(&part.len()) && is_month(part);
    match parts.as_slice() {
        // Three numbers with blanks between them are three cells of a table rather than a date.
        [a, b, c] => number(a) && (number(b) && separator != ' ' || month(b)) && number(c),
        [a, b] => separator != '.' && (month(a) && number(b) || number(a) && month(b)),
        _ => false,
    }
}

fn is_month(part: &str) -> bool {
    const MONTHS: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    part.bytes().all(|b| b.is_ascii_alphabetic())
        && part.get(..3).is_some_and(|start| MONTHS.iter().any(|m| start.eq_ignore_ascii_case(m)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_have_kinds() {
        for (look, cells) in [
            (Kind::Empty, &["", "  "][..]),
            (
                Kind::Missing,
                &[
                    "NA", "n/a", "-", "?", "#N/A", "\\N", "(null)", "n.a.", "n.d.", "#DIV/0!",
                    "---", "Unknown",
                ],
            ),
            (
                Kind::Number,
                &[
                    "1",
                    "-2.5e3",
                    "3,5",
                    "1,234.5",
                    "$74.69",
                    "22.69%",
                    "1.234.567",
                    "+5",
                    "184,902.00",
                    ".5",
                    "(12.5)",
                ],
            ),
            (
                Kind::Moment,
                &[
                    "28/01/2018",
                    "00:15",
                    "2006-01-01 00:15",
                    "09-Mar-11",
                    "2/28/2008",
                    "12:00:01.5",
                    "2024-05-06T07:08:09Z",
                    "2024-05-06T07:08:09.123Z",
                    "2024-05-06T07:08:09+01:00",
                    "2024-05-06 07:08:09.5-0330",
                    "2024-05-06 07:08:09 UTC",
                    "07:08 pm",
                ],
            ),
            (
                Kind::Word,
                &["MG-8769", "red", "New York", "inf", "x1", "x", "missing", "Empty", "no answer"],
            ),
            (
                Kind::Text,
                &["5;2", "a \"b\"", "1:2:3:4", "a,b", "2024-05-06T07:08:09Z;1;p", "07:08:09.5;1"],
            ),
        ] {
            for cell in cells {
                assert_eq!(kind(cell.as_bytes()), look, "{cell}");
            }
        }
    }
}
