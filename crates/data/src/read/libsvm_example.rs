//! One line of LIBSVM text, taken apart.

use super::error::{Location, ReadError, excerpt};
use super::lines::Lines;
use super::number::{finite, integer_of_word};
use super::records::bytes_equal;
use halfspaces_linalg::MAX_SPARSE_DIM;
use memchr::memchr;
use std::io::BufRead;

/// One line, taken apart.
#[derive(Debug, Default)]
pub(super) struct Example {
    pub(super) columns: Vec<u32>,
    pub(super) values: Vec<f64>,
    /// The last index, stored or not; 0 if there is none.
    pub(super) last: u64,
}

impl Example {
    /// Takes the present line apart; its label as written, or `None` if there is nothing on it.
    ///
    /// # Errors
    /// What is wrong with the line; an index beyond `dim` is.
    pub(super) fn read<R: BufRead>(
        &mut self,
        lines: &Lines<R>,
        dim: usize,
    ) -> Result<Option<f64>, ReadError> {
        self.columns.clear();
        self.values.clear();
        self.last = 0;
        let text = lines.text();
        let end = memchr(b'#', text).unwrap_or(text.len());
        let mut rest = &text[..end];
        let Some(label) = next_token(&mut rest) else {
            return Ok(None);
        };
        let label = number(label, || lines.at(Some(1)))?;
        let mut column = 1;
        while let Some(token) = next_token(&mut rest) {
            column += 1;
            if column == 2 && is_query(token) {
                continue;
            }
            self.take_pair(token, dim, || lines.at(Some(column)))?;
        }
        Ok(Some(label))
    }

    #[inline]
    fn take_pair(
        &mut self,
        token: &[u8],
        dim: usize,
        at: impl Fn() -> Location,
    ) -> Result<(), ReadError> {
        let Some((index, value)) = split_pair(token) else {
            return Err(malformed(token, at()));
        };
        if index == 0 {
            return Err(ReadError::IndexZero { at: at() });
        }
        if index > dim as u64 {
            return Err(beyond(token, index, dim, at()));
        }
        if index <= self.last {
            return Err(ReadError::UnsortedIndex { at: at(), index, previous: self.last });
        }
        self.last = index;
        let value = number(value, at)?;
        if value != 0.0 {
            self.columns.push((index - 1) as u32);
            self.values.push(value);
        }
        Ok(())
    }
}

/// The number that a label or a value spells.
#[inline]
fn number(field: &[u8], at: impl FnOnce() -> Location) -> Result<f64, ReadError> {
    finite(field, at, |cause| cause.in_libsvm(field))
}

#[cold]
fn beyond(token: &[u8], index: u64, dim: usize, at: Location) -> ReadError {
    if index > MAX_SPARSE_DIM as u64 {
        let digits = token.split(|byte| *byte == b':').next().unwrap_or(token);
        return ReadError::IndexTooLarge { at, found: excerpt(digits) };
    }
    ReadError::IndexBeyondDimension { at, index, dim }
}

#[cold]
fn malformed(token: &[u8], at: Location) -> ReadError {
    if token.contains(&0) {
        return ReadError::NulByte { at };
    }
    ReadError::MalformedPair { at, found: excerpt(token) }
}

/// Cuts the next token off `text`, if there is one.
#[inline]
fn next_token<'a>(text: &mut &'a [u8]) -> Option<&'a [u8]> {
    let start = match text.first()? {
        b' ' | b'\t' => text.iter().position(|&b| !is_blank(b))?,
        _ => 0,
    };
    let rest = &text[start..];
    let (token, rest) = rest.split_at(token_length(rest));
    // The blank after the token need not be looked at again; at the end of the line there is none.
    *text = rest.split_first().map_or(rest, |(_, rest)| rest);
    Some(token)
}

fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// Where the first blank stands, eight bytes at a time.
#[inline]
fn token_length(text: &[u8]) -> usize {
    let (words, tail) = text.as_chunks::<8>();
    for (i, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let blanks = bytes_equal(word, b' ') | bytes_equal(word, b'\t');
        if blanks != 0 {
            return 8 * i + blanks.trailing_zeros() as usize / 8;
        }
    }
    8 * words.len() + tail.iter().position(|&b| is_blank(b)).unwrap_or(tail.len())
}

/// Index and value of `index:value`. An index too large for 64 bits becomes the largest of them.
#[inline]
fn split_pair(token: &[u8]) -> Option<(u64, &[u8])> {
    // The colon among the first eight bytes, behind one digit at least and before something.
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

/// [`split_pair`], of any length.
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

/// Whether a token is a query number, `qid:n`.
fn is_query(token: &[u8]) -> bool {
    matches!(token.strip_prefix(b"qid:"), Some(n) if n.iter().all(u8::is_ascii_digit) && !n.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn tokens_are_what_stands_between_blanks(text in "[ \ta:]{0,40}") {
            let mut rest = text.as_bytes();
            let mut tokens = Vec::new();
            while let Some(token) = next_token(&mut rest) {
                tokens.push(token);
            }
            let expected: Vec<&[u8]> =
                text.split([' ', '\t']).filter(|t| !t.is_empty()).map(str::as_bytes).collect();
            prop_assert_eq!(tokens, expected);
        }

        #[test]
        fn pairs_are_split_alike_in_one_word_and_one_by_one(
            token in prop_oneof!["[0-9]{0,9}:[-.0-9]{0,9}", "[-:.0-9x]{0,12}"],
        ) {
            prop_assert_eq!(split_pair(token.as_bytes()), split_pair_one_by_one(token.as_bytes()));
        }
    }
}
