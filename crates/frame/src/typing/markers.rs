//! Cells that mark a missing value.

use super::number::NumberFormat;
use crate::missing::MISSING_CELLS;
use crate::names::short;

/// Lower-case words that mark a missing value only in columns of numbers, dates or truth values.
const AMONG_NUMBERS: [&str; 55] = [
    "-",
    "--",
    "---",
    ".",
    "..",
    "...",
    "–",
    "—",
    "*",
    "**",
    "/",
    "x",
    "_",
    "unknown",
    "unk",
    "unkn",
    "n.a.",
    "n.a",
    "n. a.",
    "na",
    "n/a",
    "n/d",
    "n.d.",
    "nd",
    "nil",
    "none",
    "nothing",
    "null",
    "(null)",
    "nan",
    "-nan",
    "nat",
    "<na>",
    "missing",
    "#n/a n/a",
    "#nv",
    "#n/d",
    "#n/b",
    "#i/t",
    "#yok",
    "\\n",
    "1.#ind",
    "1.#qnan",
    "-1.#ind",
    "not available",
    "not applicable",
    "no data",
    "no answer",
    "not recorded",
    "not known",
    "k.a.",
    "k. a.",
    "keine angabe",
    "blank",
    "empty",
];

/// The maximum length, in letters, of the name of a spreadsheet error.
const LONGEST_ERROR: usize = 12;

/// Cells that mark a missing value only in columns of dates.
const AMONG_DATES: [&str; 4] = ["0000-00-00", "0000-00-00 00:00:00", "00.00.0000", "00/00/0000"];

/// The cells of a column that mark a missing value. These are the common markers and the markers set by the user,
/// except cells that the user declared to be values.
#[derive(Debug, Clone, Default)]
pub(crate) struct Markers {
    named: Vec<String>,
    /// The user's markers that are numbers. They are compared as numbers, so that `-999` also matches `-999.0`.
    numbers: Vec<f64>,
    /// Common markers that are values in this column.
    values: Vec<String>,
}

impl Markers {
    /// Creates the markers of a column: `named` and all common markers except those in `values`.
    pub(crate) fn new(named: &[String], values: &[String]) -> Markers {
        let number = |text: &String| NumberFormat::default().parse(text);
        Markers {
            named: named.to_vec(),
            numbers: named.iter().filter_map(number).collect(),
            values: values.to_vec(),
        }
    }

    /// Whether a text cell is a marker of a missing value.
    pub(crate) fn has(&self, cell: &[u8]) -> bool {
        let is_among = |list: &[String]| list.iter().any(|marker| marker.as_bytes() == cell);
        is_usual(cell) && !is_among(&self.values) || !self.named.is_empty() && is_among(&self.named)
    }

    /// Whether a number is a marker of a missing value.
    #[inline]
    pub(crate) fn has_number(&self, value: f64) -> bool {
        self.numbers.contains(&value)
    }
}

/// Whether a cell is a common marker, which applies in every column.
pub(crate) fn is_usual(cell: &[u8]) -> bool {
    cell.len() <= 4 && MISSING_CELLS.iter().any(|marker| marker.as_bytes() == cell)
}

/// Whether a class name is one of the markers for columns of numbers and does not look like a word. Examples are `-`,
/// `\N`, `(null)` and `NaT`.
fn is_missing_sign(class: &str) -> bool {
    let lower = class.to_lowercase();
    let is_word = lower.chars().all(|c| c.is_alphabetic() || c == ' ') && lower != "nat";
    !is_word && is_among_numbers(&lower)
}

fn is_among_numbers(lower: &str) -> bool {
    AMONG_NUMBERS.contains(&lower) || is_spreadsheet_error(lower)
}

/// Whether a cell in lower case is a spreadsheet error in any language, such as `#div/0!`, `#wert!` or `#nom?`.
fn is_spreadsheet_error(lower: &str) -> bool {
    let name = lower.strip_prefix('#').and_then(|rest| rest.strip_suffix(['!', '?']));
    let is_of_name = |letter: char| letter.is_alphanumeric() || matches!(letter, '/' | '¡' | '¿');
    name.is_some_and(|name| {
        name.contains(char::is_alphabetic)
            && name.chars().count() <= LONGEST_ERROR
            && name.chars().all(is_of_name)
    })
}

/// The names that are signs for a missing value, such as `-` and `(null)`, each with its number of rows. If `+` is also
/// a name, `-` is a name like any other.
pub(crate) fn missing_signs<'n>(
    names: impl Iterator<Item = (&'n str, usize)> + Clone,
) -> impl Iterator<Item = (&'n str, usize)> {
    let has_plus = names.clone().any(|(name, _)| name == "+");
    names.filter(move |(name, _)| is_missing_sign(name) && !(has_plus && *name == "-"))
}

/// Whether a common marker is a word that could also be the name of a category.
pub(crate) fn is_word(cell: &str) -> bool {
    is_usual(cell.as_bytes()) && cell.bytes().any(|b| b.is_ascii_alphabetic())
}

/// Whether a cell probably marks a missing value in a column of numbers or truth values. If `dates` is true, markers of
/// missing dates count too.
pub(crate) fn is_likely(cell: &str, dates: bool) -> bool {
    let lower = cell.trim().to_lowercase();
    is_among_numbers(&lower) || dates && AMONG_DATES.contains(&lower.as_str())
}

/// The subject and the verb of a sentence about markers, such as "3 cells `NA` and 1 cell `None` are". The result is
/// empty if there are no markers.
pub(super) fn counted<'m>(markers: impl Iterator<Item = (&'m String, &'m usize)>) -> String {
    let mut total = 0;
    let shown: Vec<String> = markers
        .map(|(marker, rows)| {
            total += rows;
            let cells = if *rows == 1 { "cell" } else { "cells" };
            format!("{rows} {cells} `{}`", short(marker))
        })
        .collect();
    match shown.split_last() {
        None => String::new(),
        Some((last, [])) => format!("{last} {}", if total == 1 { "is" } else { "are" }),
        Some((last, others)) => format!("{} and {last} are", others.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_markers_extend_the_common_ones() {
        let markers = Markers::new(&["-999".into(), "absent".into()], &["None".into()]);
        for missing in ["", "NA", "NaN", "-999", "absent"] {
            assert!(markers.has(missing.as_bytes()), "{missing}");
        }
        for present in ["None", "none", "999", "-999.0"] {
            assert!(!markers.has(present.as_bytes()), "{present}");
        }
        assert!(
            markers.has_number(-999.0)
                && !markers.has_number(999.0)
                && !Markers::default().has_number(0.0)
        );
        assert!(is_word("None") && !is_word("") && !is_word("?"));
        assert!(is_likely("Unknown", false) && is_likely(" - ", false) && !is_likely("1O", false));
        for error in ["#WERT!", "#VALEUR!", "#DIV/0!", "#¡VALOR!", "#NOM?", "#ERROR!", "#NV"] {
            assert!(is_likely(error, false), "{error}");
        }
        for other in ["#1!", "#!", "wow!", "#love", "#what a day!", "#abcdefghijklm!"] {
            assert!(!is_likely(other, false), "{other}");
        }
        assert!(is_likely("0000-00-00", true) && !is_likely("0000-00-00", false));
    }
}
