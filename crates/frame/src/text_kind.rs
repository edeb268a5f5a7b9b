//! Distinguishes free text from categories.

use unicode_segmentation::UnicodeSegmentation;

/// Texts are varied if more than this share of the rows have a text that occurs in no other row.
const VARIED_SHARE: f64 = 0.5;
/// The number of distinct texts above which texts are always varied.
const MAX_CATEGORIES: usize = 1000;
/// Varied texts are free text if more than half of the rows have at least this many words. Shorter texts may be names
/// or codes.
const MIN_WORDS: usize = 3;

/// What a text column contains, judging by its cells.
///
/// ```
/// use halfspaces_frame::TextKind;
/// let sentences = ["the printer is broken", "please reset my password", "no access to the VPN"];
/// assert_eq!(TextKind::of(sentences.into_iter().map(|text| (text, 1))), TextKind::Text);
/// assert_eq!(TextKind::of([("red", 4), ("green", 3)].into_iter()), TextKind::Category);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextKind {
    /// Categories: at least half of the rows have a text that occurs in other rows, and there are at most 1000 distinct
    /// texts.
    Category,
    /// Free text: the texts are varied, and more than half of the rows have at least three words.
    Text,
    /// Varied but short texts, such as names. They are too different from each other to be categories.
    Short,
}

impl TextKind {
    /// Determines the kind of a column from its distinct texts and the number of rows that contain each text.
    #[must_use]
    pub fn of<'t>(texts: impl Iterator<Item = (&'t str, usize)> + Clone) -> TextKind {
        let rows: usize = texts.clone().map(|(_, rows)| rows).sum();
        let alone = texts.clone().filter(|(_, rows)| *rows == 1).count();
        if alone as f64 <= VARIED_SHARE * rows as f64 && texts.clone().count() <= MAX_CATEGORIES {
            return TextKind::Category;
        }
        let is_long = |text: &str| text.unicode_words().nth(MIN_WORDS - 1).is_some();
        let long: usize = texts.filter(|(text, _)| is_long(text)).map(|(_, rows)| rows).sum();
        if 2 * long > rows { TextKind::Text } else { TextKind::Short }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(texts: &[String]) -> TextKind {
        let mut counted: Vec<(&str, usize)> = Vec::new();
        for text in texts {
            match counted.iter_mut().find(|(known, _)| known == text) {
                Some((_, rows)) => *rows += 1,
                None => counted.push((text, 1)),
            }
        }
        TextKind::of(counted.into_iter())
    }

    #[test]
    fn varied_texts_are_not_categories() {
        let shared = |alone: usize, pairs: usize| {
            let twice = (0..pairs).flat_map(|i| [format!("p{i}"), format!("p{i}")]);
            (0..alone).map(|i| i.to_string()).chain(twice).collect::<Vec<_>>()
        };
        // Half of the rows, or slightly more than half, have a text that occurs in no other row.
        assert_eq!(kind(&shared(4, 2)), TextKind::Category);
        assert_eq!(kind(&shared(5, 2)), TextKind::Short);
        assert_eq!(kind(&shared(0, MAX_CATEGORIES)), TextKind::Category);
        assert_eq!(kind(&shared(0, MAX_CATEGORIES + 1)), TextKind::Short);
    }

    #[test]
    fn free_text_has_three_words_in_most_rows() {
        let texts = |long: usize, short: usize| {
            let long = (0..long).map(|i| format!("ticket {i} closed"));
            long.chain((0..short).map(|i| format!("ticket {i}"))).collect::<Vec<_>>()
        };
        assert_eq!(kind(&texts(6, 5)), TextKind::Text);
        assert_eq!(kind(&texts(5, 5)), TextKind::Short);
        // Languages without spaces have words too.
        let japanese = ["今日は雨が降る", "明日は晴れるでしょう", "電車が遅れている"];
        assert_eq!(kind(&japanese.map(str::to_owned)), TextKind::Text);
    }
}
