//! Recognises texts that may be dates or quantities in an unsupported form, such as `01/2010`, `Q1 2010` or `1h 20m`.

use super::present::Present;
use std::collections::HashSet;

/// A column with at most this number of distinct texts is not examined.
const FEW_TEXTS: usize = 20;
/// The maximum number of distinct words in the column, such as the names of the months.
const MOST_WORDS: usize = 16;
/// Words and abbreviations of periods and units of time.
const WORDS_OF_TIME: [&str; 37] = [
    "d", "day", "days", "h", "hr", "hrs", "hour", "hours", "m", "min", "mins", "minute", "minutes",
    "s", "sec", "secs", "second", "seconds", "w", "week", "weeks", "y", "year", "years", "jan",
    "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec", "sept",
];

/// Returns the first text if at least nine tenths of the rows may be dates or quantities. Such a row contains a digit.
/// It also contains a year from 1900 to 2099, or no words other than words of time. The number of distinct words in the
/// column must be small.
pub(super) fn of_measures<'t>(present: &Present<'t>) -> Option<&'t str> {
    if present.texts.len() <= FEW_TEXTS {
        return None;
    }
    let (mut words, mut rows) = (HashSet::new(), 0);
    for (text, count) in present.texts.iter().zip(&present.rows) {
        words.extend(words_of(text));
        if words.len() > MOST_WORDS {
            return None;
        }
        rows += if is_measure(text) { *count } else { 0 };
    }
    (10 * rows >= 9 * present.total).then(|| present.texts[0])
}

fn is_measure(text: &str) -> bool {
    let numbers = || text.split(|c: char| !c.is_ascii_digit()).filter(|run| !run.is_empty());
    let is_year = |run: &str| run.len() == 4 && (run.starts_with("19") || run.starts_with("20"));
    numbers().next().is_some()
        && (numbers().any(is_year)
            || words_of(text).all(|word| WORDS_OF_TIME.contains(&word.as_str())))
}

fn words_of(text: &str) -> impl Iterator<Item = String> + '_ {
    let words = text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase)
}
