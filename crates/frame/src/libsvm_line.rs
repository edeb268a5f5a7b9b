//! Parses one line of LIBSVM text, which has the form `label index:value index:value .. # comment`.

use crate::decimal::{bytes_equal, integer_of_word, parse};
use memchr::memchr;

/// The largest index that an entry may have. The limit is needed because a model stores about 100 bytes for each
/// column.
pub(crate) const MAX_INDEX: u64 = 1 << 27;

/// The maximum number of bytes of a cell shown in a message.
const SHOWN: usize = 60;

/// The entries of consecutive rows. The columns are the indices in the file.
#[derive(Debug, Default)]
pub(crate) struct Entries {
    pub(crate) columns: Vec<u32>,
    pub(crate) values: Vec<f64>,
}

/// The contents of a line apart from its entries.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line<'t> {
    pub(crate) label: &'t str,
    /// The largest index in the line, even if its value is zero, or `None` if the row is empty.
    pub(crate) largest: Option<u32>,
    pub(crate) has_zero: bool,
    pub(crate) has_query: bool,
    /// Whether the entries had to be sorted because their indices were not ascending.
    pub(crate) was_sorted: bool,
}

impl Entries {
    /// The maximum number of entries that a line of this many bytes can contain.
    pub(crate) fn most(bytes: usize) -> usize {
        bytes / 4 + 1
    }

    /// Appends the entries of a line. The caller must have reserved the capacity for them. Zeros are not stored.
    /// Returns `None` if the line contains no row.
    ///
    /// # Errors
    /// Returns a description of the error in the line, without the line number.
    pub(crate) fn append<'t>(&mut self, text: &'t [u8]) -> Result<Option<Line<'t>>, String> {
        let end = memchr(b'#', text).unwrap_or(text.len());
        let mut rest = &text[..end];
        let Some(label) = next_token(&mut rest) else { return Ok(None) };
        let mut line = Line {
            label: check_label(label)?,
            largest: None,
            has_zero: false,
            has_query: false,
            was_sorted: false,
        };
        let start = self.columns.len();
        // The smallest index that the next entry may have if the indices are ascending.
        let mut next = 0;
        while let Some(token) = next_token(&mut rest) {
            let Some((index, value)) = split_pair(token) else {
                if token.starts_with(b"qid:") {
                    line.has_query = true;
                    continue;
                }
                return Err(malformed(token));
            };
            if index > MAX_INDEX {
                return Err(format!(
                    "index {index} is larger than {MAX_INDEX}, the largest index supported; renumber the columns, because a model keeps about \
                     100 bytes for each column"
                ));
            }
            let column = index as u32;
            line.has_zero |= column == 0;
            line.was_sorted |= column < next;
            next = column + 1;
            line.largest = line.largest.max(Some(column));
            let value = parse(value).filter(|v| v.is_finite()).ok_or_else(|| malformed(token))?;
            if value != 0.0 {
                self.columns.push(column);
                self.values.push(value);
            }
        }
        if line.was_sorted {
            self.sort(start)?;
        }
        Ok(Some(line))
    }

    /// Sorts the entries by column, beginning with the entry at `start`. Returns an error if a column occurs twice.
    #[cold]
    fn sort(&mut self, start: usize) -> Result<(), String> {
        let columns = self.columns[start..].iter().copied();
        let mut entries: Vec<(u32, f64)> =
            columns.zip(self.values[start..].iter().copied()).collect();
        entries.sort_by_key(|(column, _)| *column);
        if let Some(pair) = entries.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(format!(
                "index {} occurs twice, with values {} and {}; keep one of them",
                pair[0].0, pair[0].1, pair[1].1
            ));
        }
        for (at, (column, value)) in entries.into_iter().enumerate() {
            self.columns[start + at] = column;
            self.values[start + at] = value;
        }
        Ok(())
    }
}

#[inline]
fn check_label(token: &[u8]) -> Result<&str, String> {
    match std::str::from_utf8(token) {
        Ok(label) if parse(token).is_some_and(f64::is_finite) => Ok(label),
        _ => Err(no_label(token)),
    }
}

#[cold]
fn no_label(token: &[u8]) -> String {
    let shown = excerpt(token);
    if split_pair(token).is_some() {
        return format!(
            "the line begins with `{shown}`; write a label before it, or any number if there is none"
        );
    }
    let is_list = token.contains(&b',')
        && token.split(|b| *b == b',').all(|part| parse(part).is_some_and(f64::is_finite));
    if is_list {
        return format!(
            "the row has several labels, `{shown}`, but only one label per row is supported; keep one of them, or write a file for \
             each label, with 1 for the rows that have it and 0 for the other rows"
        );
    }
    format!("the label `{shown}` is not a number; write a number for each class")
}

#[cold]
fn malformed(token: &[u8]) -> String {
    let shown = excerpt(token);
    let Some((_, value)) = split_pair(token) else {
        return match token.first() {
            Some(b'-') => {
                format!("`{shown}` has a negative index; indices start at 1 or at 0")
            }
            _ => format!("`{shown}` does not have the form index:value, such as 7:0.5"),
        };
    };
    match parse(value) {
        Some(value) if value.is_nan() => format!(
            "the value of `{shown}` is missing, but LIBSVM files have no missing values; leave the entry out if it is zero, \
             or write the table as CSV"
        ),
        Some(_) => format!("the value of `{shown}` is infinite; write a finite number"),
        None => format!("the value of `{shown}` is not a number"),
    }
}

/// The beginning of a token, as shown in messages.
fn excerpt(token: &[u8]) -> String {
    match token.get(..SHOWN) {
        Some(start) => format!("{}..", String::from_utf8_lossy(start)),
        None => String::from_utf8_lossy(token).into_owned(),
    }
}

/// Splits the next token off `text`, if there is one.
#[inline]
fn next_token<'a>(text: &mut &'a [u8]) -> Option<&'a [u8]> {
    let start = match is_blank(*text.first()?) {
        true => text.iter().position(|&b| !is_blank(b))?,
        false => 0,
    };
    let rest = &text[start..];
    let (token, rest) = rest.split_at(token_length(rest));
    // Skip the blank that follows the token, unless the line ends.
    *text = rest.split_first().map_or(rest, |(_, rest)| rest);
    Some(token)
}

#[inline]
fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t' || byte == b'\r'
}

/// The number of bytes before the first blank. Eight bytes are examined at a time.
#[inline]
fn token_length(text: &[u8]) -> usize {
    let (words, tail) = text.as_chunks::<8>();
    for (i, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let blanks = bytes_equal(word, b' ') | bytes_equal(word, b'\t') | bytes_equal(word, b'\r');
        if blanks != 0 {
            return 8 * i + blanks.trailing_zeros() as usize / 8;
        }
    }
    8 * words.len() + tail.iter().position(|&b| is_blank(b)).unwrap_or(tail.len())
}

/// Splits a token `index:value` into its index and its value. An index that exceeds 64 bits saturates.
#[inline]
fn split_pair(token: &[u8]) -> Option<(u64, &[u8])> {
    // This branch handles tokens whose colon is among the first eight bytes, after at least one digit and before at
    // least one character.
    if let Some(word) = token.first_chunk::<8>() {
        let word = u64::from_le_bytes(*word);
        let colons = bytes_equal(word, b':');
        let at = colons.trailing_zeros() as usize / 8;
        if colons != 0 && at > 0 && at + 1 < token.len() {
            return Some((integer_of_word(word, at)?, token.get(at + 1..)?));
        }
    }
    split_pair_one_by_one(token)
}

/// Like [`split_pair`], but examines one byte at a time and works for any length.
fn split_pair_one_by_one(token: &[u8]) -> Option<(u64, &[u8])> {
    let mut index = 0u64;
    for (i, &byte) in token.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit <= 9 {
            index = index.saturating_mul(10).saturating_add(u64::from(digit));
        } else if byte == b':' && i > 0 && i + 1 < token.len() {
            return Some((index, &token[i + 1..]));
        } else {
            return None;
        }
    }
    None
}

/// Whether a text looks like LIBSVM text. This is the case if the first line that contains more than a label consists
/// of a label and `index:value` pairs.
pub(crate) fn looks_like(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    for line in head.split(|b| *b == b'\n') {
        let mut rest = &line[..memchr(b'#', line).unwrap_or(line.len())];
        let Some(label) = next_token(&mut rest) else { continue };
        let number = |part: &[u8]| parse(part).is_some_and(f64::is_finite);
        if !label.split(|b| *b == b',').all(number) {
            return false;
        }
        let mut pairs = 0;
        while let Some(token) = next_token(&mut rest) {
            let is_query = token.strip_prefix(b"qid:").is_some_and(number);
            let is_pair = split_pair(token).is_some_and(|(_, value)| parse(value).is_some());
            if !is_query && !is_pair {
                return false;
            }
            pairs += usize::from(is_pair);
        }
        if pairs > 0 {
            return true;
        }
        if label.contains(&b',') {
            return false;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn libsvm_and_csv_are_distinguished() {
        for text in [
            "\n+1 1:0.5 7:-2e-3\n",
            "-1 3:1\n1 2:2",
            "1\n-1\n\n1\n-1 4:2\n",
            "# comment\n1 qid:3 1:0.5\n",
            "1,3 2:1 5:1\n",
            "\u{feff}1 1:2\n",
            "1 0:2 1:nan\r\n",
        ] {
            assert!(looks_like(text.as_bytes()), "{text}");
        }
        for text in [
            "a,b\n1,2\n",
            "1 2 3\n",
            "12:30 1:2\n",
            "1\n2\n3\n",
            "1,2\n1 2:3\n",
            "1 qid:2\n",
            "1 12:30:15\n",
        ] {
            assert!(!looks_like(text.as_bytes()), "{text}");
        }
    }

    fn fault(text: &str) -> String {
        Entries::default().append(text.as_bytes()).unwrap_err()
    }

    #[test]
    fn errors_name_the_remedy() {
        for (text, expected) in [
            ("1:2 3:4", "write a label before it"),
            ("1,3 2:1", "several labels, `1,3`"),
            ("yes 2:1", "`yes` is not a number"),
            ("nan 2:1", "`nan` is not a number"),
            ("1 2:nan", "no missing values"),
            ("1 2:inf", "infinite"),
            ("1 2:x", "not a number"),
            ("1 2", "not have the form index:value"),
            ("1 -2:1", "negative index"),
            ("1 3:1 2:1 3:2", "index 3 occurs twice"),
            ("1 3:1 3:2", "index 3 occurs twice"),
            ("1 134217729:1", "larger than 134217728"),
            ("1 99999999999999999999:1", "larger than 134217728"),
        ] {
            let found = fault(text);
            assert!(found.contains(expected), "{text}: {found}");
        }
        assert!(fault(&format!("1 {}", "x".repeat(1_000_000))).len() < 200);
    }

    #[test]
    fn entries_are_appended_in_order() {
        let mut entries = Entries::default();
        let line = entries.append(b" +1 qid:4 7:2 0:1 3:0 # 9:9\r").unwrap().unwrap();
        assert_eq!((line.label, line.largest), ("+1", Some(7)));
        assert!(line.has_zero && line.has_query && line.was_sorted);
        let line = entries.append(b"0\r").unwrap().unwrap();
        assert_eq!((line.label, line.largest, line.was_sorted), ("0", None, false));
        assert!(entries.append(b" \t# nothing").unwrap().is_none());
        assert_eq!((entries.columns, entries.values), (vec![0, 7], vec![1.0, 2.0]));
    }

    proptest! {
        #[test]
        fn tokens_are_separated_by_blanks(text in "[ \t\ra:]{0,40}") {
            let mut rest = text.as_bytes();
            let mut tokens = Vec::new();
            while let Some(token) = next_token(&mut rest) {
                tokens.push(token);
            }
            let blanks = [' ', '\t', '\r'];
            let expected: Vec<&[u8]> = text.split(blanks).filter(|t| !t.is_empty()).map(str::as_bytes).collect();
            prop_assert_eq!(tokens, expected);
        }

        #[test]
        fn pairs_are_split_alike_in_one_word_and_one_by_one(
            token in prop_oneof!["[0-9]{0,9}:[-.0-9]{0,9}", "[-:.0-9x]{0,12}"],
        ) {
            prop_assert_eq!(split_pair(token.as_bytes()), split_pair_one_by_one(token.as_bytes()));
        }

        #[test]
        fn any_bytes_are_refused_or_read_in_order(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let mut entries = Entries::default();
            let _ = looks_like(&bytes);
            if let Ok(Some(_)) = entries.append(&bytes) {
                prop_assert!(entries.columns.is_sorted_by(|a, b| a < b));
            }
        }
    }
}
