//! Prepares names for display, and suggests corrections for misspelt names.

/// The maximum number of names listed in a message.
const MAX_LISTED: usize = 12;

/// The maximum length, in letters, of names that are compared.
const MAX_COMPARED: usize = 100;

/// Escapes control characters, direction marks, line separators and characters without width in a name, so that it
/// cannot affect a terminal and does not look like another name.
///
/// ```
/// use halfspaces_frame::visible;
/// assert_eq!(visible("a\u{1b}[31m\u{202e}b"), r"a\u{1b}[31m\u{202e}b");
/// ```
#[must_use]
pub fn visible(name: &str) -> String {
    let mut shown = String::with_capacity(name.len());
    for letter in name.chars() {
        if letter.is_control() || turns_or_breaks(letter) || is_without_width(letter) {
            shown.extend(letter.escape_default());
        } else {
            shown.push(letter);
        }
    }
    shown
}

/// Whether a character changes the writing direction or ends a line, although it is not a control character.
fn turns_or_breaks(letter: char) -> bool {
    matches!(
        letter,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
}

/// Whether a character has no width and no meaning. Joiners, which also have no width, belong to words and emoji.
fn is_without_width(letter: char) -> bool {
    matches!(letter, '\u{ad}' | '\u{200b}' | '\u{2060}' | '\u{feff}')
}

/// Shortens a text to its first 60 characters, for use in a message. If the text is longer, `...` is appended.
#[must_use]
pub fn short(name: &str) -> String {
    const MOST: usize = 60;
    match name.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}...", &name[..at]),
        None => name.to_owned(),
    }
}

/// Joins the first `most` texts with commas and adds the number of the others, as in "a, b and 3 more".
#[must_use]
pub fn first_of<T, I>(texts: I, most: usize) -> String
where
    T: Into<String>,
    I: IntoIterator<Item = T, IntoIter: ExactSizeIterator>,
{
    let texts = texts.into_iter();
    let more = texts.len().saturating_sub(most);
    let shown = texts.take(most).map(Into::into).collect::<Vec<String>>().join(", ");
    if more == 0 { shown } else { format!("{shown} and {more} more") }
}

/// Returns the suggestion "; did you mean `x`?", or a list of the names if none of them is similar.
#[must_use]
pub fn suggestion(wanted: &str, names: &[&str]) -> String {
    if names.is_empty() {
        return "; there are none".to_owned();
    }
    if let Some(nearest) = nearest(wanted, names) {
        return format!("; did you mean `{nearest}`?");
    }
    let quoted = names.iter().map(|name| format!("`{}`", short(name)));
    format!("; there are {}", first_of(quoted, MAX_LISTED))
}

/// The name that is most similar to `wanted`. Returns `None` if the number of letters to change is more than a third of
/// the length of `wanted` (rounded up), or at least half of this length. The time is proportional to the number of
/// names, regardless of their lengths.
fn nearest<'a>(wanted: &str, names: &[&'a str]) -> Option<&'a str> {
    // A letter takes at most four bytes, so names with more bytes than this are too long to be compared.
    let fold = |s: &str| (s.len() <= 4 * MAX_COMPARED).then(|| s.trim().to_lowercase());
    let wanted = fold(wanted)?;
    let length = wanted.chars().count();
    if length > MAX_COMPARED {
        return None;
    }
    let close = length.div_ceil(3).min(length.div_ceil(2).saturating_sub(1));
    let distance = |name: &&'a str| {
        let folded = fold(name)?;
        let is_near = folded.chars().count().abs_diff(length) <= close;
        is_near.then(|| (edits(&wanted, &folded), *name))
    };
    let distances = names.iter().filter_map(distance);
    distances.filter(|(d, _)| *d <= close).min_by_key(|(d, _)| *d).map(|(_, name)| name)
}

/// The smallest number of letters to insert, delete or replace to get from `a` to `b` (the Levenshtein distance).
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_counted() {
        for (a, b, d) in
            [("", "abc", 3), ("kitten", "sitting", 3), ("flaw", "lawn", 2), ("a", "a", 0)]
        {
            assert_eq!(edits(a, b), d, "{a} {b}");
            assert_eq!(edits(b, a), d, "{b} {a}");
        }
    }

    #[test]
    fn the_nearest_name_or_a_list_is_suggested() {
        assert_eq!(suggestion("lable", &["age", "label"]), "; did you mean `label`?");
        assert_eq!(suggestion("Class ", &["class"]), "; did you mean `class`?");
        assert_eq!(suggestion("x", &["y", "X"]), "; did you mean `X`?");
        assert_eq!(suggestion("x", &["y", "z"]), "; there are `y`, `z`");
        assert_eq!(suggestion("y", &["age", "label"]), "; there are `age`, `label`");
        let many: Vec<String> = (0..14).map(|i| format!("column{i:03}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert!(suggestion("y", &many).ends_with("`column011` and 2 more"));
    }

    #[test]
    fn long_names_match_nothing_and_cost_nothing() {
        let long = "x".repeat(10_000_000);
        let nearly = "x".repeat(10_000_001);
        let names: Vec<&str> = std::iter::repeat_n(nearly.as_str(), 1000).collect();
        assert!(suggestion(&long, &names).len() < 2000);
        let names: Vec<String> = (0..1000).map(|i| format!("{i:0>100}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert!(suggestion(&"0".repeat(100), &names).contains("did you mean"));
    }

    #[test]
    fn direction_marks_are_escaped() {
        for letter in [
            '\u{202a}', '\u{202e}', '\u{2066}', '\u{2069}', '\u{200f}', '\u{61c}', '\u{2028}',
            '\u{85}', '\u{9b}',
        ] {
            let shown = visible(&format!("a{letter}b"));
            assert!(shown.is_ascii() && shown.contains("\\u{"), "{shown}");
        }
        assert_eq!(visible("größe ∑ 日本 ‌"), "größe ∑ 日本 ‌");
    }

    #[test]
    fn texts_of_more_than_sixty_characters_are_shortened() {
        let text = "é".repeat(60);
        assert_eq!(short(&text), text);
        assert_eq!(short(&(text.clone() + "é")), text + "...");
    }
}
