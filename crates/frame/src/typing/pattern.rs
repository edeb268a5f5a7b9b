//! Recognises texts that may be dates or quantities in an unsupported form, such as `01/2010`, `Q1 2010` or `1h 20m`.

use super::present::Present;
use std::collections::HashSet;

/// A column with at most this number of distinct texts is not examined.
const FEW_TEXTS: usize = 20;
/// The maximum number of distinct words in the column, such as the names of the months.
const MOST_WORDS: usize = 16;
/// Words and abbreviations of periods and units of time. They do not count as distinct words.
const WORDS_OF_TIME: [&str; 47] = [
    "d", "day", "days", "h", "hr", "hrs", "hour", "hours", "m", "min", "mins", "minute", "minutes",
    "s", "sec", "secs", "second", "seconds", "w", "week", "weeks", "y", "year", "years", "jan",
    "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec", "sept", "mon",
    "tue", "tues", "wed", "thu", "thur", "thurs", "fri", "sat", "sun",
];

/// A column of numbers mixed with other characters has at least this number of distinct texts, ...
const MIN_TEXTS: usize = 5;
/// ... at most this number of shapes, such as `# of #`, and at least twice as many texts as shapes.
const MOST_SHAPES: usize = 4;

/// Returns the first text if at least nine tenths of the rows begin with a number and have one of a few shapes with
/// letters or colons, as in `12th`, `8:1`, `3 of 5` or `28 thousand`.
pub(super) fn of_shapes<'t>(present: &Present<'t>) -> Option<&'t str> {
    let (mut shapes, mut first, mut texts, mut rows) = (HashSet::new(), None, 0, 0);
    for (text, count) in present.counted() {
        let Some(shape) = shape(text) else { continue };
        shapes.insert(shape);
        if shapes.len() > MOST_SHAPES {
            return None;
        }
        first.get_or_insert(text);
        (texts, rows) = (texts + 1, rows + count);
    }
    let is_quantity = texts >= MIN_TEXTS.max(2 * shapes.len()) && 10 * rows >= 9 * present.total;
    first.filter(|_| is_quantity)
}

/// The text with `#` for each number, or `None` if it does not begin with a number or has neither letters nor colons.
fn shape(text: &str) -> Option<String> {
    let text = text.trim_start_matches(['+', '-', '\u{2212}']).trim_start();
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let mut shape = String::new();
    for letter in text.chars() {
        let is_of_number =
            letter.is_ascii_digit() || matches!(letter, '.' | ',') && shape.ends_with('#');
        if !is_of_number {
            shape.push(letter);
        } else if !shape.ends_with('#') {
            shape.push('#');
        }
    }
    shape.contains(|c: char| c.is_alphabetic() || c == ':').then_some(shape)
}

/// Returns the first text if at least nine tenths of the rows may be dates or quantities. Such a row contains a digit.
/// It also contains a year from 1900 to 2099, or no words other than words of time. The number of distinct words in the
/// column must be small.
pub(super) fn of_measures<'t>(present: &Present<'t>) -> Option<&'t str> {
    first_of_most(present, is_measure)
}

/// Returns the first text if at least nine tenths of the rows contain a year, a word and a blank, and the number of
/// distinct words in the column is small, as in dates in other languages.
pub(super) fn of_dates<'t>(present: &Present<'t>) -> Option<&'t str> {
    let is_date = |text: &str| {
        has_year(text) && text.contains(char::is_whitespace) && words_of(text).next().is_some()
    };
    first_of_most(present, is_date)
}

fn first_of_most<'t>(present: &Present<'t>, is_found: impl Fn(&str) -> bool) -> Option<&'t str> {
    if present.texts.len() <= FEW_TEXTS {
        return None;
    }
    let (mut words, mut rows) = (HashSet::new(), 0);
    for (text, count) in present.texts.iter().zip(&present.rows) {
        words.extend(words_of(text).filter(|word| !WORDS_OF_TIME.contains(&word.as_str())));
        if words.len() > MOST_WORDS {
            return None;
        }
        rows += if is_found(text) { *count } else { 0 };
    }
    (10 * rows >= 9 * present.total).then(|| present.texts[0])
}

fn is_measure(text: &str) -> bool {
    text.contains(|c: char| c.is_ascii_digit())
        && (has_year(text) || words_of(text).all(|word| WORDS_OF_TIME.contains(&word.as_str())))
}

fn has_year(text: &str) -> bool {
    let is_year = |run: &str| run.len() == 4 && (run.starts_with("19") || run.starts_with("20"));
    text.split(|c: char| !c.is_ascii_digit()).any(is_year)
}

fn words_of(text: &str) -> impl Iterator<Item = String> + '_ {
    let words = text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase)
}
