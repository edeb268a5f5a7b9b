//! Encodes text as n-grams, weighted by TF-IDF.
//!
//! A text has two groups of terms. The first group contains words and pairs of adjacent words. The second contains runs
//! of 2 to 5 characters within the pieces of the text that are separated by whitespace. All terms are in lower case.
//! Words follow the Unicode rules for word boundaries, so no particular language is assumed. For scripts without spaces
//! between words, the runs of characters are sufficient.
//!
//! A term that occurs n times in a text has the weight (1 + ln n) · idf, where idf = 1 + ln((1 + N)/(1 + N_t)) for a
//! term that occurs in N_t of N training rows. The weights of each group are divided by their norm and by √2, so that
//! the weights of a text have norm 1.
//!
//! Terms are either listed or hashed to a fixed number of slots. Terms in the same slot count as one term.

use fnv::FnvHasher;
use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use serde::{Deserialize, Serialize};
use std::f64::consts::FRAC_1_SQRT_2;
use std::hash::Hasher;
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

/// The lengths of the runs of characters.
const CHARACTERS: std::ops::RangeInclusive<usize> = 2..=5;
/// The minimum number of rows in which a run of characters must occur.
const MIN_ROWS: u32 = 2;
/// The maximum number of terms listed for a group. The most common terms are kept.
const MAX_TERMS: usize = 1 << 18;

/// The terms of a column of text, with the number of training rows that contain each term.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ngrams {
    /// The number of training rows.
    rows: u32,
    words: Terms,
    characters: Terms,
}

/// A group of terms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum Terms {
    /// Terms in ascending order, each with the number of training rows that contain it.
    Listed { terms: Vec<String>, rows: Vec<u32> },
    /// For each slot, the number of training rows that contain a term of the slot.
    Hashed { rows: Vec<u32> },
}

/// The two groups of terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Group {
    Words,
    Characters,
}

impl Ngrams {
    /// Collects the terms of texts. Each text comes with the number of rows that contain it. If `hash_bits` is given,
    /// the terms of each group are hashed to 2^`hash_bits` slots. Returns `None` if no term distinguishes rows, that
    /// is, if every term occurs in only one row or in all rows.
    pub(crate) fn fit(texts: &[(&str, u32)], hash_bits: Option<u32>) -> Option<Ngrams> {
        let rows = texts.iter().map(|(_, rows)| rows).sum();
        let fit = |group, least| match hash_bits {
            Some(bits) => Terms::hashed(texts, group, bits),
            None => Terms::listed(texts, group, least),
        };
        // A word that occurs in one row contains no information about other rows, but its weight reduces the weights of
        // the other words of its text.
        let ngrams = Ngrams {
            rows,
            words: fit(Group::Words, 1),
            characters: fit(Group::Characters, MIN_ROWS),
        };
        let is_common = |count: &u32| (MIN_ROWS..rows).contains(count);
        ngrams.words.rows().iter().chain(ngrams.characters.rows()).any(is_common).then_some(ngrams)
    }

    /// The number of terms or slots.
    pub(crate) fn len(&self) -> usize {
        self.words.rows().len() + self.characters.rows().len()
    }

    /// The inverse document frequency (idf) of a term that occurs in `rows` training rows.
    fn idf(&self, rows: u32) -> f64 {
        1.0 + (f64::from(1 + self.rows) / f64::from(1 + rows)).ln()
    }

    /// Whether the training rows contain at least one of the words of a text. Returns `None` if the text has no words.
    pub(crate) fn knows_a_word(&self, text: &str) -> Option<bool> {
        let text = lower(text);
        let mut words = text.unicode_words().peekable();
        words.peek()?;
        Some(words.any(|word| self.words.contains(word)))
    }

    /// The names of the terms. Words are unchanged, runs of characters are in quotes, and slots are named by their
    /// numbers.
    pub(crate) fn names(&self) -> Vec<String> {
        let words = self.words.names("", "word");
        words.chain(self.characters.names("\"", "characters")).collect()
    }

    /// Whether the terms of a loaded model are consistent.
    pub(crate) fn is_sound(&self) -> bool {
        let sound = |group: &Terms| {
            let counts = group.rows().iter().all(|rows| *rows <= self.rows);
            counts
                && match group {
                    Terms::Listed { terms, rows } => {
                        terms.len() == rows.len() && terms.is_sorted_by(|a, b| a < b)
                    }
                    Terms::Hashed { rows } => rows.len().is_power_of_two(),
                }
        };
        self.len() > 0 && sound(&self.words) && sound(&self.characters)
    }
}

impl Terms {
    /// Lists the most common terms of a group among the terms that occur in at least `least` rows.
    fn listed(texts: &[(&str, u32)], group: Group, least: u32) -> Terms {
        // For each term, the number of rows that contain it and the index of the last text that contained it.
        let mut found: HashMap<String, (u32, usize), FxBuildHasher> = HashMap::default();
        for (at, (text, rows)) in texts.iter().enumerate() {
            group.visit(&lower(text), &mut |term, _| {
                let entry = found.entry_ref(term).or_insert((0, usize::MAX));
                if entry.1 != at {
                    *entry = (entry.0 + rows, at);
                }
            });
        }
        let counts = found.values().map(|(rows, _)| *rows).collect();
        let least = least_common(counts, MAX_TERMS).max(least);
        let kept = found.into_iter().filter(|(_, (rows, _))| *rows >= least);
        let mut kept: Vec<(String, u32)> = kept.map(|(term, (rows, _))| (term, rows)).collect();
        kept.sort_unstable();
        let (terms, rows) = kept.into_iter().unzip();
        Terms::Listed { terms, rows }
    }

    fn hashed(texts: &[(&str, u32)], group: Group, bits: u32) -> Terms {
        let mut found = vec![(0, usize::MAX); 1 << bits];
        for (at, (text, rows)) in texts.iter().enumerate() {
            group.visit(&lower(text), &mut |term, _| {
                let entry = &mut found[slot(term, 1 << bits)];
                if entry.1 != at {
                    *entry = (entry.0 + rows, at);
                }
            });
        }
        Terms::Hashed { rows: found.into_iter().map(|(rows, _)| rows).collect() }
    }

    /// Whether a training row contains the term. A hashed term is also found if a training row contains another term of
    /// its slot.
    fn contains(&self, term: &str) -> bool {
        match self {
            Terms::Listed { terms, .. } => {
                terms.binary_search_by(|known| known.as_str().cmp(term)).is_ok()
            }
            Terms::Hashed { rows } => rows[slot(term, rows.len())] > 0,
        }
    }

    fn rows(&self) -> &[u32] {
        match self {
            Terms::Listed { rows, .. } | Terms::Hashed { rows } => rows,
        }
    }

    fn names(
        &self,
        quote: &'static str,
        what: &'static str,
    ) -> Box<dyn Iterator<Item = String> + '_> {
        match self {
            Terms::Listed { terms, .. } => {
                Box::new(terms.iter().map(move |term| format!("{quote}{term}{quote}")))
            }
            Terms::Hashed { rows } => {
                Box::new((0..rows.len()).map(move |slot| format!("{what}#{slot}")))
            }
        }
    }
}

/// The smallest threshold that at most `most` of the counts reach.
fn least_common(mut counts: Vec<u32>, most: usize) -> u32 {
    if counts.len() <= most {
        return 0;
    }
    let (_, next, _) = counts.select_nth_unstable_by(most, |a, b| b.cmp(a));
    *next + 1
}

/// The slot of a term, which is its FNV-1a hash with the two halves combined. Saved models depend on this function, so
/// it must never change.
fn slot(term: &str, slots: usize) -> usize {
    let mut hash = FnvHasher::default();
    hash.write(term.as_bytes());
    let hash = hash.finish();
    (hash ^ (hash >> 32)) as usize & (slots - 1)
}

/// Converts a text to lower case letter by letter, so that positions can be mapped back to the original text.
fn lower(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).collect()
}

impl Group {
    /// Calls `visit` for each occurrence of a term in a text, with the range of bytes of the occurrence. The text must
    /// be in lower case.
    fn visit(self, text: &str, visit: &mut impl FnMut(&str, Range<usize>)) {
        let mut term = String::new();
        if self == Group::Words {
            let (mut before, mut start) = ("", 0);
            for (at, word) in text.unicode_word_indices() {
                visit(word, at..at + word.len());
                if !before.is_empty() {
                    term.clear();
                    term.extend([before, " ", word]);
                    visit(&term, start..at + word.len());
                }
                (before, start) = (word, at);
            }
            return;
        }
        let mut ends = Vec::new();
        for piece in text.split_whitespace() {
            let start = piece.as_ptr() as usize - text.as_ptr() as usize;
            term.clear();
            term.extend([" ", piece, " "]);
            ends.clear();
            ends.extend(term.char_indices().map(|(at, _)| at));
            ends.push(term.len());
            for length in CHARACTERS {
                for ends in ends.windows(length + 1) {
                    let (from, to) = (ends[0], ends[length]);
                    // The range does not include the spaces that were added around the piece.
                    let within = from.max(1) - 1..to.min(term.len() - 1) - 1;
                    visit(&term[from..to], start + within.start..start + within.end);
                }
            }
        }
    }
}

/// Converts texts to the weights of their terms.
pub(crate) struct Weigher<'n> {
    ngrams: &'n Ngrams,
    groups: [(Group, Places<'n>); 2],
}

/// A lookup of the terms of a group. It gives the coordinate of a term and the number of training rows that contain the
/// term.
enum Places<'n> {
    Listed(HashMap<&'n str, (u32, u32), FxBuildHasher>),
    Sorted { first: u32, terms: &'n [String], rows: &'n [u32] },
    Hashed { first: u32, rows: &'n [u32] },
}

impl<'n> Weigher<'n> {
    pub(crate) fn new(ngrams: &'n Ngrams) -> Weigher<'n> {
        Weigher::of(ngrams, &|terms, rows, first| {
            let places = rows.iter().zip(first..).map(|(rows, at)| (at, *rows));
            Places::Listed(terms.iter().map(String::as_str).zip(places).collect())
        })
    }

    /// Creates a weigher for a few texts, which does not build an index of the terms.
    pub(crate) fn for_few(ngrams: &'n Ngrams) -> Weigher<'n> {
        Weigher::of(ngrams, &|terms, rows, first| Places::Sorted { first, terms, rows })
    }

    fn of(
        ngrams: &'n Ngrams,
        listed: &dyn Fn(&'n [String], &'n [u32], u32) -> Places<'n>,
    ) -> Weigher<'n> {
        let places = |group: &'n Terms, first: usize| match group {
            Terms::Listed { terms, rows } => listed(terms, rows, first as u32),
            Terms::Hashed { rows } => Places::Hashed { first: first as u32, rows },
        };
        let Ngrams { words, characters, .. } = ngrams;
        let first = words.rows().len();
        Weigher {
            ngrams,
            groups: [
                (Group::Words, places(words, 0)),
                (Group::Characters, places(characters, first)),
            ],
        }
    }

    /// The coordinates of a text's terms, in ascending order, with their weights. The weights have norm 1 if the text
    /// has known terms of both groups.
    pub(crate) fn weights(&self, text: &str) -> Vec<(u32, f64)> {
        let mut weights = Vec::new();
        let (text, mut found) = (lower(text), Vec::new());
        for (group, places) in &self.groups {
            found.clear();
            group.visit(&text, &mut |term, _| found.extend(places.get(term)));
            found.sort_unstable_by_key(|(place, _)| *place);
            let first = weights.len();
            for same in found.chunk_by(|a, b| a.0 == b.0) {
                let (place, rows) = same[0];
                let idf = self.ngrams.idf(rows);
                weights.push((place, (1.0 + (same.len() as f64).ln()) * idf));
            }
            let norm = weights[first..].iter().map(|(_, w)| w * w).sum::<f64>().sqrt();
            weights[first..].iter_mut().for_each(|(_, weight)| *weight *= FRAC_1_SQRT_2 / norm);
        }
        weights
    }

    /// Divides a text into words and the parts between words. Each part comes with its contribution to the sum Σ
    /// `factor`(i) x_i, where x are the weights of the text. The contribution of a term is divided equally among its
    /// occurrences, and then equally among the bytes of an occurrence, so the contributions of all parts add up to the
    /// sum.
    pub(crate) fn parts(
        &self,
        text: &str,
        factor: &dyn Fn(usize) -> f64,
    ) -> Vec<(Range<usize>, f64)> {
        let lowered = lower(text);
        // For each byte of the lowercase text, the start of the corresponding letter in the original text.
        let mut origin = Vec::with_capacity(lowered.len());
        for (at, letter) in text.char_indices() {
            let len: usize = letter.to_lowercase().map(char::len_utf8).sum();
            origin.resize(origin.len() + len, at);
        }
        let weights: HashMap<u32, f64, FxBuildHasher> = self.weights(text).into_iter().collect();
        let mut of_letter = vec![0.0; text.len()];
        for (group, places) in &self.groups {
            let mut occurrences: HashMap<u32, f64, FxBuildHasher> = HashMap::default();
            let mut found = Vec::new();
            group.visit(&lowered, &mut |term, range| {
                let Some((place, _)) = places.get(term) else { return };
                *occurrences.entry(place).or_insert(0.0) += 1.0;
                found.push((place, range));
            });
            for (place, range) in found {
                let part = factor(place as usize) * weights[&place] / occurrences[&place];
                let bytes = range.len() as f64;
                range.for_each(|byte| of_letter[origin[byte]] += part / bytes);
            }
        }
        let words = text.split_word_bound_indices();
        let part = |(at, word): (usize, &str)| {
            let range = at..at + word.len();
            (range.clone(), of_letter[range].iter().sum())
        };
        words.map(part).collect()
    }
}

impl Places<'_> {
    fn get(&self, term: &str) -> Option<(u32, u32)> {
        match self {
            Places::Listed(places) => places.get(term).copied(),
            Places::Sorted { first, terms, rows } => {
                let at = terms.binary_search_by(|other| other.as_str().cmp(term)).ok()?;
                Some((first + at as u32, rows[at]))
            }
            Places::Hashed { first, rows } => {
                let slot = slot(term, rows.len());
                Some((first + slot as u32, rows[slot]))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(group: Group, text: &str) -> Vec<String> {
        let mut terms = Vec::new();
        let text = lower(text);
        group.visit(&text, &mut |term, range| {
            let within: String = term.trim().to_owned();
            assert!(text[range.clone()] == within || text[range].split_whitespace().count() != 1);
            terms.push(term.to_owned());
        });
        terms
    }

    fn listed(group: &Terms) -> (Vec<&str>, &[u32]) {
        let Terms::Listed { terms, rows } = group else { panic!("listed terms") };
        (terms.iter().map(String::as_str).collect(), rows)
    }

    #[test]
    fn terms_are_words_pairs_and_characters() {
        assert_eq!(
            terms(Group::Words, "The Cat, sat!"),
            ["the", "cat", "the cat", "sat", "cat sat"]
        );
        assert_eq!(terms(Group::Words, " - "), [""; 0]);
        assert_eq!(terms(Group::Characters, "Ab"), [" a", "ab", "b ", " ab", "ab ", " ab "]);
        let long = terms(Group::Characters, "abcdef");
        assert!(long.contains(&"abcde".to_owned()) && !long.contains(&"abcdef".to_owned()));
        // In scripts without spaces, runs of characters span several words.
        assert!(terms(Group::Characters, "機械学習").contains(&"械学".to_owned()));
    }

    #[test]
    fn rows_are_counted_once_for_each_text() {
        let ngrams = Ngrams::fit(&[("a a b", 2), ("b c", 1), ("", 5)], None).unwrap();
        assert_eq!(ngrams.rows, 8);
        let expected = (vec!["a", "a a", "a b", "b", "b c", "c"], &[2, 2, 2, 3, 1, 1][..]);
        assert_eq!(listed(&ngrams.words), expected);
        // The run " c" occurs in only one row.
        assert_eq!(listed(&ngrams.characters).0, [" a", " a ", " b", " b ", "a ", "b "]);
        assert!(ngrams.is_sound() && ngrams.names().ends_with(&["\"a \"".into(), "\"b \"".into()]));
        assert_eq!(ngrams.names().len(), ngrams.len());
    }

    #[test]
    fn terms_that_distinguish_no_rows_are_no_use() {
        for texts in [&[("", 3), ("...", 1)][..], &[("same", 9)], &[("ab", 1), ("cd", 1)]] {
            assert!(Ngrams::fit(texts, None).is_none(), "{texts:?}");
        }
        assert!(Ngrams::fit(&[("ab", 2), ("cd", 1)], None).is_some());
    }

    /// The weights are computed by hand. In "a b b", the word b occurs twice.
    #[test]
    fn weights_are_tf_idf_of_unit_norm() {
        let ngrams = Ngrams::fit(&[("a b b", 1), ("a", 1), ("c", 1)], None).unwrap();
        let weigher = Weigher::new(&ngrams);
        let found = weigher.weights("a b b");
        let squares = |found: &[(u32, f64)]| found.iter().map(|(_, w)| w * w).sum::<f64>();
        assert!((squares(&found) - 1.0).abs() < 1e-12 && found.is_sorted_by(|a, b| a.0 < b.0));
        let names = ngrams.names();
        let weight =
            |term: &str| found.iter().find(|(at, _)| names[*at as usize] == term).unwrap().1;
        let (in_one, in_two) = (1.0 + 2f64.ln(), 1.0 + (4f64 / 3.0).ln());
        let ratio = (1.0 + 2f64.ln()) * in_one / in_two;
        assert!((weight("b") / weight("a") - ratio).abs() < 1e-12);
        assert!((weight("a b") / weight("b b") - 1.0).abs() < 1e-12);
        // A group without known terms adds nothing to the norm.
        assert!(weigher.weights("zzz").is_empty());
        assert!((squares(&weigher.weights("c")) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn parts_add_up() {
        let texts = [("Red apple, İ red", 2), ("Green\u{a0}apple", 1), ("red 機械", 1), ("x", 1)];
        let ngrams = Ngrams::fit(&texts, None).unwrap();
        let weigher = Weigher::new(&ngrams);
        let factor = |place: usize| 1.0 + (place % 7) as f64;
        for (text, _) in texts {
            let parts = weigher.parts(text, &factor);
            let sum: f64 =
                weigher.weights(text).iter().map(|(at, w)| factor(*at as usize) * w).sum();
            let all: f64 = parts.iter().map(|(_, part)| part).sum();
            assert!((all - sum).abs() < 1e-12, "{text}: {all} {sum}");
            assert_eq!(Weigher::for_few(&ngrams).weights(text), weigher.weights(text));
            let joined: String = parts.iter().map(|(range, _)| &text[range.clone()]).collect();
            assert_eq!(joined, text);
        }
        // The factor is 0 for all terms except "apple".
        let names = ngrams.names();
        let apple = |place: usize| f64::from(u8::from(names[place] == "apple"));
        let parts = weigher.parts("Green apple", &apple);
        assert!(
            parts.iter().all(|(range, part)| (*part > 0.0) == (*range == (6..11))),
            "{parts:?}"
        );
    }

    #[test]
    fn the_most_common_terms_are_kept() {
        for (counts, most, least) in [
            (vec![3, 1, 2], 3, 0),
            (vec![3, 1, 2], 2, 2),
            (vec![3, 2, 2, 1], 2, 3),
            (vec![1, 1], 1, 2),
        ] {
            assert_eq!(least_common(counts.clone(), most), least, "{counts:?}");
            assert!(counts.iter().filter(|count| **count >= least).count() <= most);
        }
    }

    #[test]
    fn hashed_terms_have_a_fixed_number_of_slots() {
        let texts = [("red apple", 1), ("green apple", 1), ("", 1)];
        let ngrams = Ngrams::fit(&texts, Some(10)).unwrap();
        assert!(ngrams.is_sound() && ngrams.len() == 2 << 10);
        let found = Weigher::new(&ngrams).weights("red pear");
        assert!(found.is_sorted_by(|a, b| a.0 < b.0));
        assert!((found.iter().map(|(_, w)| w * w).sum::<f64>() - 1.0).abs() < 1e-12);
        // With many slots, no two of these terms share a slot, and the weights equal those of the listed terms.
        let (hashed, listed) =
            (Ngrams::fit(&texts, Some(20)).unwrap(), Ngrams::fit(&texts, None).unwrap());
        let sorted = |ngrams: &Ngrams| {
            let mut weights: Vec<f64> =
                Weigher::new(ngrams).weights("apple").iter().map(|(_, weight)| *weight).collect();
            weights.sort_unstable_by(f64::total_cmp);
            weights
        };
        let apart = |(a, b): (f64, f64)| (a - b).abs() < 1e-12;
        assert_eq!(sorted(&hashed).len(), sorted(&listed).len());
        assert!(sorted(&hashed).into_iter().zip(sorted(&listed)).all(apart));
        // Saved models depend on these slots.
        assert_eq!([slot("", 1 << 10), slot("a", 1 << 10)], [961, 192]);
    }
}
