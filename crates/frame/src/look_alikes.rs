//! Finds names that look alike, because one of them may be misspelt.

use crate::csv_columns::is_code;
use crate::names::short;
use std::collections::BTreeMap;
use unicode_normalization::UnicodeNormalization;

/// The form in which names are compared to find those that look alike. Letters are converted to lower case, accented
/// letters are normalised (NFKC), and all kinds of dash are replaced by one. Blanks, underscores and invisible
/// characters are removed. A name that consists of digits is compared without leading zeros, and a code such as `5E3` is
/// compared as the number 5000. Returns `None` for a name that contains no letter and does not consist of digits.
fn appearance(name: &str) -> Option<String> {
    let number = |digits: &str| Some(digits.trim_start_matches('0').to_owned());
    let trimmed = name.trim();
    if !trimmed.is_empty() && trimmed.bytes().all(|b| b.is_ascii_digit()) {
        return number(trimmed);
    }
    if is_code(trimmed.as_bytes())
        && let Some(value) = trimmed.parse::<f64>().ok().filter(|value| value.is_finite())
    {
        return number(&value.to_string());
    }
    let is_ignored = |c: char| {
        c.is_whitespace()
            || matches!(c, '_' | '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}')
    };
    let letter = |c: char| match c {
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        c => c,
    };
    let letters = name.nfkc().filter(|c| !is_ignored(*c)).map(letter);
    let letters: String = letters.flat_map(char::to_lowercase).collect();
    letters.chars().any(char::is_alphabetic).then_some(letters)
}

/// Returns one note for each set of names that look alike: they differ only in case, blanks, underscores, invisible
/// characters, dashes, forms of accented letters, leading zeros, or an exponent without a sign (`5E3` and `5000`). If there are many sets, only the first ones are
/// named. `names` contains each name with its number of rows; `what` says what is named, such as "classes".
///
/// ```
/// use halfspaces_frame::look_alikes;
/// let notes = look_alikes([("A", 3), ("a ", 1), ("B", 2)], "groups", "t.csv, column `site`");
/// assert_eq!(
///     notes,
///     ["t.csv, column `site`: `A` (3) and `a ` (1) count as different groups; correct them if they mean the same"]
/// );
/// ```
#[must_use]
pub fn look_alikes<'a>(
    names: impl IntoIterator<Item = (&'a str, usize)>,
    what: &str,
    place: &str,
) -> Vec<String> {
    const MOST_SHOWN: usize = 5;
    let mut sets: BTreeMap<String, Vec<(&str, usize)>> = BTreeMap::new();
    for (name, rows) in names {
        if let Some(appearance) = appearance(name) {
            sets.entry(appearance).or_default().push((name, rows));
        }
    }
    // Truth values may be written as words and as numbers.
    for (word, digits) in [("true", "1"), ("false", "")] {
        if let (Some(_), Some(names)) = (sets.get(word), sets.get(digits).cloned()) {
            sets.remove(digits);
            sets.entry(word.to_owned()).or_default().extend(names);
        }
    }
    let shown = |(name, rows): (&str, usize)| format!("`{}` ({rows})", short(name));
    let joined = |set: Vec<(&str, usize)>| set.into_iter().map(shown).collect::<Vec<_>>();
    let alike = sets.into_values().filter(|set| set.len() > 1);
    let alike: Vec<String> = alike.map(|set| joined(set).join(" and ")).collect();
    let advice = "correct them if they mean the same";
    let shown = alike.iter().take(MOST_SHOWN);
    let mut notes: Vec<String> =
        shown.map(|set| format!("{place}: {set} count as different {what}; {advice}")).collect();
    if let Some(more @ 1..) = alike.len().checked_sub(MOST_SHOWN) {
        notes.push(format!("{place}: more sets of {what} that look alike: {more}; {advice}"));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Truth values look like 1 and 0.
    #[test]
    fn truth_values_look_like_numbers() {
        let names = [("True", 9), ("False", 10), ("0", 10), ("1", 11), ("2", 1)];
        assert_eq!(
            look_alikes(names, "classes", "t"),
            [
                "t: `False` (10) and `0` (10) count as different classes; correct them if they mean the same",
                "t: `True` (9) and `1` (11) count as different classes; correct them if they mean the same",
            ]
        );
        assert!(look_alikes([("0", 1), ("1", 1), ("2", 1)], "classes", "t").is_empty());
        assert!(look_alikes([("True", 1), ("False", 1)], "classes", "t").is_empty());
    }
}
