//! Parses one line of LIBSVM text, which has the form `label index:value index:value .. # comment`.

use crate::csv_columns::{EXACT, is_exact};
use crate::decimal::{bytes_equal, integer_of_word, last_integer, parse, short_decimal_within};
use crate::positions::positions;
use memchr::memchr;
use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Range;

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
    pub(crate) indices: Indices,
}

/// Facts about the indices of a line.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Indices {
    /// The largest index in the line, even if its value is zero, or `None` if the row is empty.
    pub(crate) largest: Option<u32>,
    pub(crate) has_zero: bool,
    pub(crate) has_query: bool,
    /// Whether the entries had to be sorted because their indices were not ascending.
    pub(crate) was_sorted: bool,
    /// Whether an integer in the line has more digits than an `f64` can represent.
    pub(crate) was_rounded: bool,
    /// The smallest index that the next entry may have if the indices are ascending.
    next: u32,
}

impl Indices {
    #[inline]
    fn add(&mut self, index: u32) {
        self.has_zero |= index == 0;
        self.was_sorted |= index < self.next;
        self.next = index + 1;
        self.largest = self.largest.max(Some(index));
    }
}

/// The form of most lines, `label index:value index:value ..`, with one blank before each index and no comment.
///
/// `places` are the [`positions`] of colons and line ends in whole lines. Calls `entry` for each entry with its index
/// and the place of its value, and then `line` for each line with the place of its label and its indices. Returns
/// `None` if a line does not have the common form, or if `entry` or `line` returns `None`. Reading only the indices
/// takes a third of the time of [`Entries::append`], and reading the values, too, takes two thirds.
#[inline(always)]
pub(crate) fn common_lines(
    lines: &[u8],
    places: &[u32],
    mut entry: impl FnMut(u32, Range<usize>) -> Option<()>,
    mut line: impl FnMut(Range<usize>, Indices) -> Option<()>,
) -> Option<()> {
    if memchr(b'#', lines).is_some() {
        return None;
    }
    let (mut start, mut label, mut value) = (0, None, 0);
    let (mut indices, mut index) = (Indices::default(), 0);
    for at in places {
        let at = *at as usize;
        let is_colon = lines[at] == b':';
        // A number ends before the blank that precedes the next index, or at the line end.
        let (next, end) = if is_colon {
            index_before(lines, at)?
        } else {
            (0, at - usize::from(at > start && lines[at - 1] == b'\r'))
        };
        match &label {
            // A line without a row, or with a blank before its label, does not have the common form.
            None if !matches!(lines[start], b'0'..=b'9' | b'+' | b'-' | b'.') => return None,
            None => label = Some(start..end),
            Some(_) => {
                indices.add(index);
                entry(index, value..end)?;
            }
        }
        (index, value) = (next, at + 1);
        if !is_colon {
            line(label.take()?, std::mem::take(&mut indices))?;
            start = at + 1;
        }
    }
    Some(())
}

/// The index of at most seven digits before the colon at `at`, and the place of the blank before the index.
#[inline(always)]
fn index_before(text: &[u8], at: usize) -> Option<(u32, usize)> {
    let word = match text[..at].last_chunk::<8>() {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => text[..at].iter().fold(0, |word, byte| word >> 8 | u64::from(*byte) << 56),
    };
    let (index, digits) = last_integer(word)?;
    let before = (word >> (8 * (7 - digits))) as u8;
    (before == b' ' || before == b'\t').then(|| (index as u32, at - digits - 1))
}

impl Entries {
    /// The maximum number of entries that a line of this many bytes can contain.
    pub(crate) fn most(bytes: usize) -> usize {
        bytes / 4 + 1
    }

    /// Appends the entries of complete lines in the common form, and calls `line` for each line with its label, the
    /// number of entries so far and its indices. The caller must have reserved the capacity for the entries. Returns
    /// `None` if a line does not have the common form. In this case, some lines may have been appended.
    pub(crate) fn append_common(
        &mut self,
        lines: &[u8],
        mut line: impl FnMut(&str, usize, Indices),
    ) -> Option<()> {
        let places = positions(lines, b':');
        let before = self.values.len();
        // The vectors get their final length afterwards, because appending takes more time than writing.
        self.columns.resize(before + places.len(), 0);
        self.values.resize(before + places.len(), 0.0);
        let mut room = self.columns[before..].iter_mut().zip(&mut self.values[before..]);
        let (count, was_rounded) = (Cell::new(before), Cell::new(false));
        let entry = |index, place: Range<usize>| {
            let short = short_decimal_within(lines, place.start, place.end);
            let value = match short {
                Some((value, _)) => value,
                None => {
                    let cell = without_blank(&lines[place])?;
                    let value = parse(cell).filter(|v| v.is_finite())?;
                    was_rounded.set(was_rounded.get() || is_rounded(value, cell));
                    value
                }
            };
            if value != 0.0 {
                let entry = room.next()?;
                (*entry.0, *entry.1) = (index, value);
                count.set(count.get() + 1);
            }
            Some(())
        };
        let all = common_lines(lines, &places, entry, |label, mut indices| {
            indices.was_rounded = was_rounded.take();
            line(check_label(without_blank(&lines[label])?).ok()?, count.get(), indices);
            (!indices.was_sorted).then_some(())
        });
        self.columns.truncate(count.get());
        self.values.truncate(count.get());
        all
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
        let label = check_label(label)?;
        let mut indices = Indices::default();
        let start = self.columns.len();
        while let Some(token) = next_token(&mut rest) {
            let Some((index, value)) = split_pair(token) else {
                if token.starts_with(b"qid:") {
                    indices.has_query = true;
                    continue;
                }
                return Err(malformed(token));
            };
            if index > MAX_INDEX {
                let index = excerpt(token.split(|b| *b == b':').next().unwrap_or(token));
                return Err(format!(
                    "index {index} is larger than {MAX_INDEX}, the largest index supported; renumber the columns, because a model keeps about \
                     100 bytes for each column"
                ));
            }
            let column = index as u32;
            indices.add(column);
            let number = parse(value).filter(|v| v.is_finite()).ok_or_else(|| malformed(token))?;
            indices.was_rounded |= is_rounded(number, value);
            if number != 0.0 {
                self.columns.push(column);
                self.values.push(number);
            }
        }
        if indices.was_sorted {
            self.sort(start)?;
        }
        Ok(Some(Line { label, indices }))
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

/// Returns `None` if `token` contains a blank.
#[inline]
fn without_blank(token: &[u8]) -> Option<&[u8]> {
    (!token.iter().any(|b| is_blank(*b))).then_some(token)
}

#[inline]
/// Whether a value is an integer that has more digits than an `f64` can represent.
fn is_rounded(value: f64, cell: &[u8]) -> bool {
    value.abs() >= EXACT && !is_exact(value, cell)
}

/// The label of a line, as other programs write the number. Codes such as `01` or `1e0` are numbers here.
pub(crate) fn plain_label(label: &str) -> Cow<'_, str> {
    let digits = label.trim_start_matches(['+', '-']);
    let is_code = digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0.");
    match label.parse::<f64>() {
        Ok(number) if is_code || digits.contains(['e', 'E']) => number.to_string().into(),
        _ => label.into(),
    }
}

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

/// Whether the lines of a text end with carriage returns only.
pub(crate) fn has_old_line_ends(head: &[u8]) -> bool {
    memchr(b'\n', head).is_none() && head.trim_ascii_end().contains(&b'\r')
}

/// Whether a text looks like LIBSVM text. This is the case if the first line that contains more than a label consists
/// of a label and `index:value` pairs.
pub(crate) fn looks_like(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let end = if has_old_line_ends(head) { b'\r' } else { b'\n' };
    for line in head.split(|b| *b == end) {
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
            "1\r1 1:2 5:1\r-1 1:3\r",
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
    fn the_common_form() {
        let largest = |lines: &str| {
            let mut found = Vec::new();
            let line = |_, indices: Indices| {
                found.push(indices.largest);
                Some(())
            };
            common_lines(
                lines.as_bytes(),
                &positions(lines.as_bytes(), b':'),
                |_, _| Some(()),
                line,
            )
            .map(|()| found)
        };
        let common = "-1 3:x 17:2\n.5\n1 1234567:1\t2:3\r\n";
        assert_eq!(largest(common), Some(vec![Some(17), None, Some(1_234_567)]));
        for text in ["1 2:3 # 4:5", "1 qid:2 3:4", "1 12345678:1", "1 2:3:4", "2:3"] {
            assert_eq!(largest(&format!("{common}{text}\n")), None, "{text}");
        }
        let read = |lines: &str| {
            let mut labels = Vec::new();
            let line = |label: &str, count, _| labels.push((label.to_owned(), count));
            Entries::default().append_common(lines.as_bytes(), line).map(|()| labels)
        };
        let labels = vec![("-1".to_owned(), 1), (".5".to_owned(), 1), ("1".to_owned(), 2)];
        assert_eq!(read("-1 3:7 17:0\n.5\n1 1234567:-0.123456789\r\n"), Some(labels));
        for text in ["1 2:x", "1 2:nan", "1  2:1", "1 2:1  3:1", " 1 2:1", "", "x 2:1", "1 3:1 2:1"]
        {
            assert_eq!(read(&format!("{text}\n")), None, "{text}");
        }
    }

    #[test]
    fn entries_are_appended_in_order() {
        let mut entries = Entries::default();
        let line = entries.append(b" +1 qid:4 7:2 0:1 3:0 # 9:9\r").unwrap().unwrap();
        let Line { label, indices } = line;
        assert_eq!((label, indices.largest), ("+1", Some(7)));
        assert!(indices.has_zero && indices.has_query && indices.was_sorted);
        let line = entries.append(b"0\r").unwrap().unwrap();
        assert_eq!((line.label, line.indices), ("0", Indices::default()));
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
        fn lines_of_the_common_form_are_read_alike_at_once_and_one_by_one(
            lines in prop::collection::vec(
                prop_oneof![
                    4 => "[-+]?[0-9]{1,2}( [0-9]{1,7}:[-.0-9]{1,10}){0,3} ?\r?",
                    1 => "[0-9: #\tq\r]{0,12}",
                ],
                0..5,
            ),
        ) {
            let text: String = lines.iter().map(|line| line.clone() + "\n").collect();
            let (mut at_once, mut found) = (Entries::default(), Vec::new());
            let all = at_once.append_common(text.as_bytes(), |label, count, indices| {
                found.push((label.to_owned(), count, indices));
            });
            if all.is_some() {
                let (mut one_by_one, mut expected) = (Entries::default(), Vec::new());
                for line in &lines {
                    let Line { label, indices } = one_by_one.append(line.as_bytes()).unwrap().unwrap();
                    expected.push((label.to_owned(), one_by_one.values.len(), indices));
                }
                prop_assert_eq!(found, expected);
                prop_assert_eq!((at_once.columns, at_once.values), (one_by_one.columns, one_by_one.values));
            }
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
