//! Keys that identify items.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The fractional part of the golden ratio, as an odd 64-bit integer.
pub(crate) const STIR: u64 = 0x9e37_79b9_7f4a_7c15;
/// Terminates each text, so that `ab`, `c` and `a`, `bc` differ.
pub(crate) const TEXT_END: u64 = 0xff00_ff00_ff00_ff01;
const MISSING_TEXT: u64 = 0x0f0f_5555_aaaa_0001;
pub(crate) const NUMBER: u64 = 0x3c3c_0000_c3c3_0003;

/// Mixes a word into a hash.
pub(crate) fn stir(hash: u64, word: u64) -> u64 {
    let mixed = (hash ^ word).wrapping_mul(STIR);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9).rotate_left(31)
}

/// Mixes bytes and their number into a hash.
pub(crate) fn stir_bytes(hash: u64, bytes: &[u8]) -> u64 {
    let mut hash = stir(hash, bytes.len() as u64);
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        hash = stir(hash, u64::from_le_bytes(word));
    }
    hash
}

/// The key of an item: a hash of its id or of its whole contents.
///
/// Items with the same key are considered copies of each other.
///
/// ```
/// use halfspaces_labelling::ItemKey;
/// let key = ItemKey::of_text("mail 17");
/// assert_eq!(key, ItemKey::of_text("mail 17"));
/// assert_ne!(key, ItemKey::of_text("mail 18"));
/// assert_eq!(ItemKey::from_hex(&key.to_string()), Some(key));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ItemKey(u64);

impl ItemKey {
    /// The number of hexadecimal digits of a key.
    const DIGITS: usize = 16;

    /// The key of the item with this id.
    #[must_use]
    pub fn of_text(text: &str) -> ItemKey {
        ItemKey(stir_bytes(0, text.as_bytes()))
    }

    /// The key of the item with these contents.
    #[must_use]
    pub fn of_bytes(bytes: &[u8]) -> ItemKey {
        ItemKey(stir_bytes(0, bytes))
    }

    /// Parses sixteen lower-case hexadecimal digits. Returns `None` for any other text.
    #[must_use]
    pub fn from_hex(text: &str) -> Option<ItemKey> {
        let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if text.len() != Self::DIGITS || !text.bytes().all(is_hex) {
            return None;
        }
        u64::from_str_radix(text, 16).ok().map(ItemKey)
    }

    pub(crate) fn of_word(word: u64) -> ItemKey {
        ItemKey(word)
    }

    pub(crate) fn word(self) -> u64 {
        self.0
    }
}

impl std::fmt::Display for ItemKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// Serialises keys as one string of hexadecimal digits.
pub(crate) fn serialize<S: Serializer>(keys: &[ItemKey], to: S) -> Result<S::Ok, S::Error> {
    let mut text = String::with_capacity(ItemKey::DIGITS * keys.len());
    keys.iter().for_each(|key| text.push_str(&key.to_string()));
    text.serialize(to)
}

/// Deserialises keys from one string of hexadecimal digits.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<ItemKey>, D::Error> {
    let text = <std::borrow::Cow<'de, str>>::deserialize(from)?;
    let wrong =
        || D::Error::custom("keys must be a string of sixteen hexadecimal digits for each row");
    if !text.is_ascii() || !text.len().is_multiple_of(ItemKey::DIGITS) {
        return Err(wrong());
    }
    let key = |at: usize| ItemKey::from_hex(&text[at..at + ItemKey::DIGITS]).ok_or_else(wrong);
    (0..text.len()).step_by(ItemKey::DIGITS).map(key).collect()
}

/// Computes the keys of all rows of a table, column by column.
///
/// A number contributes to a key in the same way whether its column was read as numbers or as text.
///
/// ```
/// use halfspaces_labelling::KeyBuilder;
/// let mut keys = KeyBuilder::new(3);
/// keys.numbers(&[1.0, 2.5, 1.0]);
/// keys.texts(&["a", "b"], &[Some(0), Some(1), None]);
/// let keys = keys.finish();
/// assert!(keys[0] != keys[1] && keys[0] != keys[2]);
/// let mut same = KeyBuilder::new(1);
/// same.texts(&["2.50"], &[Some(0)]);
/// same.texts(&["b"], &[Some(0)]);
/// assert_eq!(same.finish()[0], keys[1]);
/// ```
#[derive(Debug, Clone)]
pub struct KeyBuilder {
    state: Vec<u64>,
}

impl KeyBuilder {
    /// Starts to compute the keys of `rows` rows.
    #[must_use]
    pub fn new(rows: usize) -> KeyBuilder {
        KeyBuilder { state: vec![STIR; rows] }
    }

    /// Adds a column of numbers. NaN marks a missing number.
    ///
    /// # Panics
    /// Panics if the column does not have one value for each row.
    pub fn numbers(&mut self, values: &[f64]) {
        assert_eq!(values.len(), self.state.len(), "one value for each row");
        for (state, value) in self.state.iter_mut().zip(values) {
            *state = stir(*state, number(*value));
        }
    }

    /// Adds a text column. `of_row` gives each row's index in `levels`, or `None` if the text is missing.
    ///
    /// # Panics
    /// Panics if the column does not have one value for each row or an index is out of range.
    pub fn texts<S: AsRef<str>>(&mut self, levels: &[S], of_row: &[Option<usize>]) {
        assert_eq!(of_row.len(), self.state.len(), "one value for each row");
        let levels: Vec<u64> = levels.iter().map(|level| text(level.as_ref())).collect();
        for (state, level) in self.state.iter_mut().zip(of_row) {
            *state = stir(*state, level.map_or(MISSING_TEXT, |level| levels[level]));
        }
    }

    /// Adds the nonzero entries of a row of a matrix, in ascending order of their columns. NaN marks a missing entry.
    ///
    /// # Panics
    /// Panics if there is no such row.
    pub fn entries(&mut self, row: usize, entries: impl Iterator<Item = (u64, f64)>) {
        let state = &mut self.state[row];
        let mut count = 0;
        for (column, value) in entries {
            *state = stir(stir(*state, column), number(value));
            count += 1;
        }
        *state = stir(*state, count);
    }

    /// Returns the keys of all rows.
    #[must_use]
    pub fn finish(self) -> Vec<ItemKey> {
        self.state.into_iter().map(ItemKey).collect()
    }

    /// A hash of the keys in order, as sixteen hexadecimal digits.
    #[must_use]
    pub fn fingerprint(keys: &[ItemKey]) -> String {
        let all = keys.iter().fold(STIR, |all, key| stir(all, key.word()));
        ItemKey(stir(all, keys.len() as u64)).to_string()
    }
}

fn number(value: f64) -> u64 {
    if value.is_nan() {
        return MISSING_TEXT;
    }
    // Adding zero turns -0 into 0.
    stir(NUMBER, (value + 0.0).to_bits())
}

fn text(text: &str) -> u64 {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => number(value),
        // Boolean columns are read as numbers.
        _ if text.eq_ignore_ascii_case("true") => number(1.0),
        _ if text.eq_ignore_ascii_case("false") => number(0.0),
        _ => stir(stir_bytes(0, text.as_bytes()), TEXT_END),
    }
}
