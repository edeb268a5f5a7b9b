//! Recognises numbers and periods in unsupported spellings, such as `0x1F`, `1.5k`, `[0.1, 0.2]` or `2025Q1`, to name
//! them in notes and errors.

use super::number::{Decimal, NumberFormat};

/// Describes the first cell in an unsupported spelling, if at least nine tenths of the rows are such cells or plain
/// numbers. The result says what the cells are and what to do, for example "cells such as `0x1F` are hexadecimal
/// numbers, which are not read; write them in decimal". Each text comes with its number of rows.
///
/// ```
/// use halfspaces_frame::unread_spelling;
/// let found = unread_spelling([("0x1F", 3), ("7", 1)]).unwrap();
/// assert!(found.starts_with("cells such as `0x1F` are hexadecimal numbers"));
/// assert_eq!(unread_spelling([("red", 3), ("0x1F", 1)]), None);
/// ```
#[must_use]
pub fn unread_spelling<'t>(texts: impl IntoIterator<Item = (&'t str, usize)>) -> Option<String> {
    let (mut first, mut known, mut total) = (None, 0, 0);
    for (text, rows) in texts {
        let text = text.trim();
        total += rows;
        match spelling(text) {
            Some(advice) => {
                first.get_or_insert((text, advice));
                known += rows;
            }
            None if is_number(text) => known += rows,
            None => {}
        }
        if 10 * (total - known) > total && total > MANY_ROWS {
            return None;
        }
    }
    let (text, (what, advice)) = first.filter(|_| 10 * known >= 9 * total)?;
    let text = crate::names::short(text);
    Some(format!("cells such as `{text}` are {what}, which are not read as such; {advice}"))
}

/// After this many rows, the search ends as soon as too many cells are neither numbers nor known spellings.
const MANY_ROWS: usize = 1000;

fn is_number(text: &str) -> bool {
    let comma = NumberFormat { decimal: Decimal::Comma, ..NumberFormat::default() };
    NumberFormat::default().parse(text).or_else(|| comma.parse(text)).is_some()
}

/// Whether a text consists of one to three digits, followed by at least two groups of three digits, with points between
/// the groups.
pub(super) fn has_points_between_thousands(text: &str) -> bool {
    let text = text.trim_start_matches(['+', '-']);
    let mut groups = text.split('.');
    let is_digits = |group: &str| !group.is_empty() && group.bytes().all(|b| b.is_ascii_digit());
    let is_first = groups.next().is_some_and(|group| is_digits(group) && group.len() <= 3);
    let rest: Vec<&str> = groups.collect();
    is_first && rest.len() >= 2 && rest.iter().all(|group| is_digits(group) && group.len() == 3)
}

/// What a text is and what to do, if its spelling is not supported.
fn spelling(text: &str) -> Option<(&'static str, &'static str)> {
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let unsigned = text.trim_start_matches(['+', '-']);
    let hexadecimal = unsigned.strip_prefix("0x").or_else(|| unsigned.strip_prefix("0X"));
    if hexadecimal
        .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit()))
    {
        return Some(("hexadecimal numbers", "write them in decimal"));
    }
    if has_points_between_thousands(text) {
        return Some(("numbers with points between thousands", "pass --decimal ,"));
    }
    if let Some(list) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        let mut items =
            list.split([',', ' ', ';', '\n']).filter(|item| !item.is_empty()).peekable();
        return (items.peek().is_some() && items.all(is_number)).then_some((
            "lists of numbers",
            "write each number in a column of its own, or use a column of lists in a Parquet file, or a NumPy array (.npy)",
        ));
    }
    let compared = text.trim_start_matches(['<', '>', '=', '≤', '≥', '~', '≈']);
    if compared.len() < text.len() && is_number(compared) {
        return Some((
            "numbers with a comparison sign",
            "write them as plain numbers if they are quantities",
        ));
    }
    if let Some((above, below)) = unsigned.split_once('/')
        && is_digits(above)
        && is_digits(below)
    {
        return Some((
            "fractions, or dates without a year",
            "write decimal numbers, or dates such as 2024-12-31",
        ));
    }
    if text.strip_suffix('%').is_some_and(|number| is_number(number.trim_end())) {
        return Some((
            "percentages among plain numbers",
            "write the sign in all cells of the column, or in none",
        ));
    }
    let (number, last) = text.split_at(text.char_indices().next_back().map_or(0, |(at, _)| at));
    if unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.') && is_number(number) {
        match last {
            "k" | "K" | "M" | "B" | "G" | "T" => {
                return Some((
                    "numbers with a letter for thousands, millions or more",
                    "write all digits",
                ));
            }
            "f" | "F" | "l" | "L" | "u" | "U" | "d" | "D" => {
                return Some((
                    "numbers with a letter of a programming language",
                    "write them without it",
                ));
            }
            _ => {}
        }
    }
    let dates =
        "write the first day of each as a date such as 2024-10-01 to learn from their order";
    period(text).map(|what| (what, dates))
}

/// The kind of period that a text names, such as `2025Q1`, `Q1 2025`, `2025-W01` or `2025M01`.
fn period(text: &str) -> Option<&'static str> {
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let is_year = |part: &str| part.len() == 4 && is_digits(part);
    let at = text.find(['Q', 'q', 'W', 'w', 'M'])?;
    let (before, rest) = text.split_at(at);
    let (letter, after) = rest.split_at(1);
    let digits = after.bytes().take_while(u8::is_ascii_digit).count();
    let (number, after) = after.split_at(digits);
    let trim = |part: &'_ str| part.trim_matches([' ', '-', '/']).to_owned();
    let (before, after) = (trim(before), trim(after));
    let has_year = is_year(&before) && after.is_empty() || before.is_empty() && is_year(&after);
    let value: u32 = number.parse().ok().filter(|_| has_year)?;
    match letter {
        "Q" | "q" if number.len() == 1 && (1..=4).contains(&value) => Some("quarters"),
        "W" | "w" if number.len() <= 2 && (1..=53).contains(&value) => Some("weeks"),
        "M" if number.len() <= 2 && (1..=12).contains(&value) => Some("months"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_that_are_not_read_are_named() {
        for (cells, what) in [
            (&["0x1F", "0XA0", "-0x2"][..], "hexadecimal numbers"),
            (&["1.5k", "1M", "200"], "letter for thousands"),
            (&["5.958.984", "1.000.000"], "pass --decimal ,"),
            (&["1.5f", "5L"], "programming language"),
            (&["1.5%", "0.25"], "percentages among plain numbers"),
            (&[">=5", "<3", "7"], "comparison sign"),
            (&["1/10", "3/4"], "fractions"),
            (
                &["[0.1, 0.2]", "[1 -2e3]", "[]", "[3]", "[4]", "[5]", "[6]", "[7]", "[8]", "[9]"],
                "lists of numbers",
            ),
            (&["2025Q1", "2025-Q2", "Q3 2025", "q4/2025"], "quarters"),
            (&["2025-W01", "2025W53"], "weeks"),
            (&["2025M01", "2025M12"], "months"),
        ] {
            let found = unread_spelling(cells.iter().map(|cell| (*cell, 1)));
            let found = found.unwrap_or_else(|| panic!("{cells:?}"));
            assert!(found.contains(what), "{found}");
            assert!(found.starts_with(&format!("cells such as `{}` are", cells[0])), "{found}");
        }
    }

    #[test]
    fn other_cells_have_no_name() {
        for cells in [
            &["red", "green"][..],
            &["1", "2", "3"],
            &["1.2.3", "1.2.4"],
            &["AB12M", "2025X1"],
            &["2025Q5", "2025-W54", "2025M13"],
            &["192.168.0.1", "10.0.0.1"],
            &["M1", "Q1", "W1"],
            &["[a]", "[]", "0xZZ", "/", "", "k", "L"],
            // One cell in ten may be different, but two may not.
            &["0x1", "0x2", "0x3", "0x4", "0x5", "0x6", "0x7", "0x8", "red", "blue"],
        ] {
            assert_eq!(unread_spelling(cells.iter().map(|cell| (*cell, 1))), None, "{cells:?}");
        }
    }
}
