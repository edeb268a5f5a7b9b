//! The character classes by which texts are divided into words, as data for Python. The standard library of Python does
//! not have them. The class of a character is found by testing how `unicode-segmentation` divides short texts, so the
//! two always agree.

use unicode_segmentation::UnicodeSegmentation;

/// The code points that can have a class other than `o`. These are in planes 0 to 3 and among the selectors in plane
/// 14, because the other planes are unassigned or for private use.
const RANGES: [std::ops::Range<u32>; 2] = [0..0x4_0000, 0xe_0000..0xe_1000];

/// The ranges of characters that have the same class, each given by its first character, its last character and the
/// class. Classes in upper case contain letters and digits, and a word contains at least one of these. Characters of
/// class `o`, which are all other characters, are not listed.
pub(super) fn ranges() -> Vec<(u32, u32, char)> {
    let mut ranges: Vec<(u32, u32, char)> = Vec::new();
    for letter in RANGES.into_iter().flatten().filter_map(char::from_u32) {
        let class = class(letter);
        let class = if letter.is_alphanumeric() { class.to_ascii_uppercase() } else { class };
        let code = u32::from(letter);
        match ranges.last_mut() {
            _ if class == 'o' => {}
            Some((_, last, same)) if *last + 1 == code && *same == class => *last = code,
            _ => ranges.push((code, code, class)),
        }
    }
    ranges
}

/// The value of the Unicode property Word_Break of a character, as one letter.
fn class(letter: char) -> char {
    let is_one = |before: &str, after: &str| {
        let text = format!("{before}{letter}{after}");
        text.split_word_bounds().nth(1).is_none()
    };
    match letter {
        '\r' | '\n' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => 'r',
        '\'' => 'q',
        '"' => 'd',
        // A character of the class Extend, Format or ZWJ joins a letter before it but not a letter after it.
        _ if is_one("a", "") && !is_one("", "a") => 'x',
        // ExtendNumLet is the only class that joins both Latin letters and Katakana.
        _ if is_one("a", "") && is_one("", "ア") => 'e',
        _ if is_one("a", "") && is_one("", ".1") => 'n',
        // A Hebrew letter joins a single quote after it.
        _ if is_one("a", "") && is_one("", "'") => 'h',
        _ if is_one("a", "") => 'a',
        _ if is_one("", "ア") => 'k',
        _ if is_one("a", "a") && is_one("1", "1") => 'm',
        _ if is_one("a", "a") => 'l',
        _ if is_one("1", "1") => 'u',
        _ if is_one(" ", "") => 's',
        _ => 'o',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_have_the_classes_of_unicode() {
        let ranges = ranges();
        let of = |letter: char| {
            let code = u32::from(letter);
            ranges.iter().find(|(first, last, _)| (*first..=*last).contains(&code)).map(|r| r.2)
        };
        for (letter, class) in [
            ('a', Some('A')),
            ('é', Some('A')),
            ('א', Some('H')),
            ('7', Some('N')),
            ('\u{661}', Some('N')),
            ('カ', Some('K')),
            ('_', Some('e')),
            ('\'', Some('q')),
            ('"', Some('d')),
            ('.', Some('m')),
            (':', Some('l')),
            (',', Some('u')),
            (' ', Some('s')),
            ('\n', Some('r')),
            ('\u{301}', Some('x')),
            ('\u{200d}', Some('x')),
            ('\u{93e}', Some('X')),
            ('機', Some('O')),
            ('-', None),
            ('\u{1f600}', None),
        ] {
            assert_eq!(of(letter), class, "{letter:?}");
        }
        assert!(ranges.is_sorted_by(|a, b| a.1 < b.0));
    }
}
