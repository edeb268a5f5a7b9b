//! Records of delimited text: lines cut into fields, in buffers that are used again for each.
//!
//! Blank lines are skipped, blanks around fields trimmed. A field that opens with a quote ends at
//! the next quote that is not doubled and may hold delimiters and line ends; a quote elsewhere in a
//! field is an ordinary byte. All records must have the same number of fields.
//!
//! Why not the `csv` crate: it says the wrong line after a blank one, takes a quote that is never
//! closed for the rest of the file, and does not know a quote behind a blank. The tests hold the two
//! against each other. Speed is no reason: 100 MB of numbers, cut and parsed, take 0.30 s here, 0.23 s
//! by `csv` and 0.20 s by `csv-core` with 20 columns of 17 digits, 0.42, 0.36 and 0.33 s with 20 columns
//! of 4 digits, 1.49, 1.59 and 1.17 s with 100 columns of one digit (medians of nine runs, in turns, on
//! two busy cores; the other two by fast-float2, without the checks of blanks, numbers and labels).

use super::error::{Location, ReadError};
use super::input::Returnable;
use super::lines::{BUFFER, Lines};
use std::io::{BufRead, BufReader, Read};

const QUOTE: u8 = b'"';

/// No table has more columns: it bounds the memory that a line of nothing but delimiters costs.
const MAX_COLUMNS: usize = 1 << 22;

/// The records of an input.
#[derive(Debug)]
pub(super) struct Records<R> {
    lines: Lines<BufReader<Returnable<R>>>,
    delimiter: u8,
    /// First line of the present record.
    line: u64,
    /// Where the fields of the present record stand in the bytes of `lines`.
    spans: Vec<(usize, usize)>,
    /// Fields of every record; known after the first.
    width: Option<usize>,
    /// Fields of the present record.
    found: usize,
}

impl<R: Read> Records<R> {
    pub(super) fn new(
        reader: R,
        name: &str,
        delimiter: u8,
        width: Option<usize>,
        max_line: usize,
    ) -> Records<R> {
        let reader = BufReader::with_capacity(BUFFER, Returnable::new(reader));
        let lines = Lines::new(reader, name, max_line, delimiter == 0);
        Records { lines, delimiter, line: 0, spans: Vec::new(), width, found: 0 }
    }

    /// Moves to the next record; `false` at the end of the input.
    pub(super) fn advance(&mut self) -> Result<bool, ReadError> {
        self.move_on(None)
    }

    /// [`Records::advance`] for field `index` alone, from 0: [`Records::fields`] then gives only
    /// that one, and in plain lines the others are counted, not cut.
    pub(super) fn advance_to_field(&mut self, index: usize) -> Result<bool, ReadError> {
        self.move_on(Some(index))
    }

    fn move_on(&mut self, only: Option<usize>) -> Result<bool, ReadError> {
        let delimiter = self.delimiter;
        loop {
            self.spans.clear();
            if !self.lines.advance()? {
                return Ok(false);
            }
            if !self.lines.text().iter().all(|&b| is_blank(b, delimiter)) {
                break;
            }
        }
        self.line = self.lines.number();
        let (delimiters, plain) = survey(self.lines.text(), delimiter);
        self.found = delimiters + 1;
        if !plain {
            self.lines.refuse_nul()?;
        }
        match only {
            Some(index) if plain => self.cut_out(index),
            None if plain => self.split_plain(),
            _ if self.lines.text().contains(&QUOTE) => {
                self.split_quoted()?;
                self.found = self.spans.len();
                if let Some(index) = only {
                    let span = self.spans.get(index).copied();
                    self.spans.clear();
                    self.spans.extend(span);
                }
            }
            // NUL separates the fields: allowed, and the line is plain.
            Some(index) if delimiter == 0 && !self.lines.text().contains(&b'\r') => {
                self.cut_out(index)
            }
            None if delimiter == 0 && !self.lines.text().contains(&b'\r') => self.split_plain(),
            // Lines that end in CR alone would be read as one record of many fields.
            _ => return Err(ReadError::BareCarriageReturn { at: self.at(None) }),
        }
        if self.width.is_none() && self.found > MAX_COLUMNS {
            let at = self.at(None);
            return Err(ReadError::TooManyColumns { at, found: self.found, limit: MAX_COLUMNS });
        }
        let expected = *self.width.get_or_insert(self.found);
        if self.found == expected {
            Ok(true)
        } else {
            Err(ReadError::Ragged { at: self.at(None), expected, found: self.found })
        }
    }

    /// [`Lines::take_blocks`]. Each line must be counted by [`Records::skip`] or given back.
    pub(super) fn take_blocks(&mut self, blocks: &mut [Vec<u8>]) -> Result<usize, ReadError> {
        self.lines.take_blocks(blocks)
    }

    /// Counts lines taken by [`Records::take_blocks`].
    pub(super) fn skip(&mut self, lines: u64) {
        self.lines.skip(lines);
    }

    /// Gives whole lines taken by [`Records::take_blocks`] back, the last ones.
    pub(super) fn give_back(&mut self, bytes: Vec<u8>) {
        let reader = self.lines.reader_mut();
        let unread = [&bytes[..], reader.buffer()].concat();
        let buffered = reader.buffer().len();
        reader.consume(buffered);
        reader.get_mut().give_back(unread);
    }

    /// Number of the last line read.
    pub(super) fn last_line(&self) -> u64 {
        self.lines.number()
    }

    /// The fields of the present record.
    #[inline]
    pub(super) fn fields(&self) -> impl Iterator<Item = &[u8]> {
        self.spans.iter().map(|&(start, end)| &self.lines.bytes[start..end])
    }

    /// First line of the present record.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    pub(super) fn name(&self) -> &str {
        self.lines.name()
    }

    /// Field `index`, from 0, of the present record; `None` for the record as a whole.
    pub(super) fn at(&self, index: Option<usize>) -> Location {
        Location::new(self.lines.name(), self.line, index.map(|i| i + 1))
    }

    /// Finds one field of a line without quotes.
    fn cut_out(&mut self, index: usize) {
        let (text, delimiter) = (self.lines.text(), self.delimiter);
        let is_end = |b: &u8| *b == delimiter;
        let (start, end) = if index + 1 == self.found {
            (text.iter().rposition(is_end).map_or(0, |at| at + 1), text.len())
        } else {
            let mut start = 0;
            let mut ends = text.iter().enumerate().filter(|(_, b)| is_end(b)).map(|(at, _)| at);
            for at in ends.by_ref().take(index) {
                start = at + 1;
            }
            (start, ends.next().unwrap_or(text.len()))
        };
        if index < self.found {
            self.spans.push(trim(text, start, end, delimiter));
        }
    }

    /// Cuts a line without quotes, 64 bytes at a time.
    fn split_plain(&mut self) {
        let (text, delimiter) = (self.lines.text(), self.delimiter);
        let mut start = 0;
        let (blocks, tail) = text.as_chunks::<64>();
        let mut last = [0; 64];
        last.iter_mut().zip(tail).for_each(|(to, byte)| *to = *byte);
        let within = (1u64 << tail.len()) - 1;
        let masks = blocks.iter().map(|block| mask_equal(block, delimiter));
        let masks = masks.chain([mask_equal(&last, delimiter) & within]);
        for (i, mut hits) in masks.enumerate() {
            while hits != 0 {
                let end = 64 * i + hits.trailing_zeros() as usize;
                self.spans.push(trim(text, start, end, delimiter));
                start = end + 1;
                hits &= hits - 1;
            }
        }
        self.spans.push(trim(text, start, text.len(), delimiter));
    }

    /// Cuts a record with quotes, reading on if a quoted field goes beyond the line. What is left
    /// of a field without its quotes is shorter, so it is written over the bytes already read.
    fn split_quoted(&mut self) -> Result<(), ReadError> {
        let delimiter = self.delimiter;
        let mut end = self.lines.text().len();
        let (mut from, mut to) = (0, 0);
        loop {
            let start = to;
            while from < end && is_blank(self.lines.bytes[from], delimiter) {
                from += 1;
            }
            if from < end && self.lines.bytes[from] == QUOTE {
                (from, to) = self.unquote(from + 1, to)?;
                end = self.lines.text().len();
                while from < end && is_blank(self.lines.bytes[from], delimiter) {
                    from += 1;
                }
                if from < end && self.lines.bytes[from] != delimiter {
                    let at = self.lines.at(Some(self.spans.len() + 1));
                    return Err(ReadError::TextAfterQuote { at });
                }
                self.spans.push((start, to));
            } else {
                let bytes = &mut self.lines.bytes;
                let rest = &bytes[from..end];
                let length = rest.iter().position(|&b| b == delimiter).unwrap_or(rest.len());
                bytes.copy_within(from..from + length, to);
                from += length;
                to += length;
                self.spans.push(trim(bytes, start, to, delimiter));
            }
            if from >= end {
                return Ok(());
            }
            from += 1;
        }
    }

    /// Moves the quoted text that begins at `from` to `to`; returns where reading and writing
    /// stopped.
    fn unquote(&mut self, mut from: usize, mut to: usize) -> Result<(usize, usize), ReadError> {
        let opened = self.lines.at(Some(self.spans.len() + 1));
        loop {
            let rest = &self.lines.bytes[from..];
            let Some(length) = rest.iter().position(|&b| b == QUOTE) else {
                let length = rest.len();
                self.lines.bytes.copy_within(from.., to);
                from += length;
                to += length;
                match self.lines.extend() {
                    Ok(true) => self.lines.refuse_nul()?,
                    Ok(false) => return Err(ReadError::UnclosedQuote { at: opened }),
                    Err(ReadError::LineTooLong { limit, .. }) => {
                        return Err(ReadError::QuotedFieldTooLong { at: opened, limit });
                    }
                    Err(fault) => return Err(fault),
                }
                continue;
            };
            let doubled = rest.get(length + 1) == Some(&QUOTE);
            let kept = length + usize::from(doubled);
            self.lines.bytes.copy_within(from..from + kept, to);
            from += kept + 1;
            to += kept;
            if !doubled {
                return Ok((from, to));
            }
        }
    }
}

/// How many delimiters a line has, and whether it is without quotes, carriage returns and NUL bytes.
#[inline]
fn survey(text: &[u8], delimiter: u8) -> (usize, bool) {
    let of = |bytes: &[u8]| {
        let (mut count, mut special) = (0u8, false);
        for &byte in bytes {
            count += u8::from(byte == delimiter);
            special |= (byte == QUOTE) | (byte == b'\r') | (byte == 0);
        }
        (usize::from(count), special)
    };
    // Counts of so few bytes fit into one.
    let (blocks, rest) = text.as_chunks::<64>();
    let (mut count, mut special) = of(rest);
    for block in blocks {
        let (more, also) = of(block);
        count += more;
        special |= also;
    }
    (count, !special)
}

/// The top bit of every byte of the result says whether that byte of `word` is `byte`.
#[inline]
pub(super) fn bytes_equal(word: u64, byte: u8) -> u64 {
    const LOW: u64 = u64::from_ne_bytes([0x7f; 8]);
    let zero_where_equal = word ^ u64::from_ne_bytes([byte; 8]);
    // Adding 0x7f to the low seven bits carries into the top bit unless they are all zero.
    !(((zero_where_equal & LOW) + LOW) | zero_where_equal | LOW)
}

/// Bit i says whether byte i of the block is `byte`.
#[inline]
fn mask_equal(block: &[u8; 64], byte: u8) -> u64 {
    // A product that moves the lowest bits of eight bytes side by side to the top.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let (words, _) = block.as_chunks::<8>();
    words.iter().rev().fold(0, |mask, word| {
        let hits = bytes_equal(u64::from_le_bytes(*word), byte) >> 7;
        mask << 8 | hits.wrapping_mul(GATHER) >> 56
    })
}

/// Spaces and tabs, unless they separate fields.
#[inline]
fn is_blank(byte: u8, delimiter: u8) -> bool {
    (byte == b' ' || byte == b'\t') && byte != delimiter
}

/// `start..end` without the blanks at both ends.
#[inline]
fn trim(text: &[u8], start: usize, end: usize, delimiter: u8) -> (usize, usize) {
    // Most fields begin and end with what no blank can be.
    match text.get(start..end) {
        Some([first, .., last]) if *first > b' ' && *last > b' ' => (start, end),
        _ => trim_blanks(text, start, end, delimiter),
    }
}

fn trim_blanks(text: &[u8], mut start: usize, mut end: usize, delimiter: u8) -> (usize, usize) {
    while start < end && is_blank(text[start], delimiter) {
        start += 1;
    }
    while start < end && is_blank(text[end - 1], delimiter) {
        end -= 1;
    }
    (start, end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Read = Result<Vec<(u64, Vec<Vec<u8>>)>, ReadError>;

    fn all(text: &[u8], delimiter: u8) -> Read {
        let mut records = Records::new(text, "t", delimiter, None, 1 << 20);
        let mut all = Vec::new();
        while records.advance()? {
            all.push((records.line(), records.fields().map(<[u8]>::to_vec).collect()));
        }
        Ok(all)
    }

    fn fields(text: &str) -> Vec<(u64, Vec<String>)> {
        let text_of = |f: Vec<u8>| String::from_utf8(f).unwrap();
        let records = all(text.as_bytes(), b',').unwrap();
        records.into_iter().map(|(n, r)| (n, r.into_iter().map(text_of).collect())).collect()
    }

    #[test]
    fn blank_lines_are_skipped_and_lines_counted() {
        let expected = [(2, vec!["a".into(), "b c".into()]), (5, vec!["".into(), "d".into()])];
        assert_eq!(fields("\n a ,\tb c \r\n \t\r\n\n,d"), expected);
        assert_eq!(fields(""), []);
        assert_eq!(fields(" \n\n"), []);
    }

    #[test]
    fn quotes() {
        assert_eq!(fields(r#""a,b" , "c""d",e"f,"""#)[0].1, ["a,b", "c\"d", "e\"f", ""]);
        assert_eq!(
            fields("\"a\r\nb\n\n\",\" c \"\n\nd,\"e\"\r\n"),
            [(1, vec!["a\r\nb\n\n".into(), " c ".into()]), (6, vec!["d".into(), "e".into()])]
        );
    }

    #[test]
    fn a_blank_can_be_the_delimiter() {
        let expected = vec![(1, vec![b"a".to_vec(), vec![], b"b c".to_vec()])];
        assert_eq!(all(b"a\t\tb c\n", b'\t').unwrap(), expected);
        assert_eq!(all(b"\t\t\n", b'\t').unwrap()[0].1.len(), 3);
    }

    #[test]
    fn faults_say_where() {
        let message = |text: &str| all(text.as_bytes(), b',').unwrap_err().to_string();
        assert_eq!(
            message("a,b\n\nc\n"),
            "t, line 3: expected 2 fields, found 1; \
             check the delimiter, and quote fields that contain it"
        );
        assert_eq!(
            message("a,b\n\"c\nd\",\"e\nf"),
            "t, line 3, column 2: the quote is never closed; \
             add the closing quote, or double a literal one"
        );
        assert_eq!(
            message("a,b\nc, \"d\" e\n"),
            "t, line 2, column 2: text after the closing quote; \
             write a quote inside a quoted field twice"
        );
    }

    #[test]
    fn the_number_of_columns_is_bounded() {
        let read = |columns: usize| {
            let text = vec![b','; columns - 1];
            let mut records = Records::new(&text[..], "t", b',', None, 1 << 24);
            records.advance().map(|_| records.fields().count())
        };
        assert_eq!(read(1 << 22).unwrap(), 1 << 22);
        let Err(ReadError::TooManyColumns { at, found, limit }) = read((1 << 22) + 1) else {
            panic!("one column too many is read")
        };
        assert_eq!((at.to_string(), found, limit), ("t, line 1".into(), (1 << 22) + 1, 1 << 22));
    }

    #[test]
    fn where_the_csv_crate_differs() {
        let read = |text: &'static str| {
            let mut reader =
                csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
            reader.records().map(|record| record.unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(read("a\n\n\nb\n")[1].position().map(csv::Position::line), Some(2));
        assert_eq!(read("\"a,b\n")[0], vec!["a,b\n"]);
        assert_eq!(read("a, \"b,c\"\n")[0].len(), 3);
    }

    proptest! {
        /// The `csv` crate reads what we read, in the same way (it takes a lone CR for a line end
        /// and lets text follow a closing quote, so neither is tried here).
        #[test]
        fn agrees_with_the_csv_crate(text in "([a\"\n]|,|\r\n){0,24}") {
            if let Ok(ours) = all(text.as_bytes(), b',') {
                let theirs: Vec<Vec<Vec<u8>>> = csv::ReaderBuilder::new()
                    .has_headers(false)
                    .from_reader(text.as_bytes())
                    .byte_records()
                    .map(|record| record.unwrap().iter().map(<[u8]>::to_vec).collect())
                    .collect();
                prop_assert_eq!(ours.into_iter().map(|(_, r)| r).collect::<Vec<_>>(), theirs);
            }
        }

        /// Without quotes a record is a line split at the delimiter, whatever else is in it.
        #[test]
        fn plain_lines_are_split(
            line in prop::collection::vec(prop_oneof![any::<u8>(), Just(b'x'), Just(200)], 1..200),
            delimiter in prop_oneof![Just(b'x'), Just(200u8), Just(0)],
        ) {
            let mut line = line;
            line.retain(|byte| !b"\"\r\n \t".contains(byte) && (*byte != 0 || delimiter == 0));
            // Nothing that is no text begins so.
            line.insert(0, b'a');
            let expected = line.split(|&byte| byte == delimiter).map(<[u8]>::to_vec).collect();
            prop_assert_eq!(all(&line, delimiter).unwrap(), vec![(1, expected)]);
        }

        /// Quoting every field keeps any bytes but NUL.
        #[test]
        fn quoted_fields_hold_anything(
            table in prop::collection::vec(prop::collection::vec(any::<Vec<u8>>(), 3), 1..4),
        ) {
            let mut text = Vec::new();
            for row in &table {
                for (i, field) in row.iter().enumerate() {
                    text.extend_from_slice(if i > 0 { b",\"" } else { b"\"" });
                    for &byte in field.iter().filter(|byte| **byte != 0) {
                        text.push(byte);
                        if byte == QUOTE {
                            text.push(QUOTE);
                        }
                    }
                    text.push(QUOTE);
                }
                text.extend_from_slice(b"\r\n");
            }
            let read: Vec<_> = all(&text, b',').unwrap().into_iter().map(|(_, r)| r).collect();
            let without_nul = |mut field: Vec<u8>| {
                field.retain(|byte| *byte != 0);
                field
            };
            let expected: Vec<Vec<_>> =
                table.into_iter().map(|row| row.into_iter().map(without_nul).collect()).collect();
            prop_assert_eq!(read, expected);
        }
    }
}
