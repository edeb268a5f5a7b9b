//! Lines of bytes, numbered, in one buffer that is used again for each.

use super::error::{Location, ReadError};
use std::io::{self, BufRead};

/// Bytes asked of a file at once.
pub(super) const BUFFER: usize = 1 << 16;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The lines of an input, ended by LF or CRLF (the last may lack it); a byte-order mark is skipped.
#[derive(Debug)]
pub(super) struct Lines<R> {
    reader: R,
    name: String,
    /// The present line with its end; after [`Lines::extend`], several.
    pub(super) bytes: Vec<u8>,
    number: u64,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(reader: R, name: &str) -> Lines<R> {
        Lines { reader, name: name.to_owned(), bytes: Vec::new(), number: 0 }
    }

    /// Moves to the next line; `false` at the end of the input.
    pub(super) fn advance(&mut self) -> Result<bool, ReadError> {
        self.bytes.clear();
        self.extend()
    }

    /// Appends the next line to the present one; `false` at the end of the input.
    pub(super) fn extend(&mut self) -> Result<bool, ReadError> {
        let read =
            self.take_line().map_err(|source| ReadError::Io { name: self.name.clone(), source })?;
        if read == 0 {
            return Ok(false);
        }
        if self.number == 0 && self.bytes.starts_with(BYTE_ORDER_MARK) {
            self.bytes.drain(..BYTE_ORDER_MARK.len());
        }
        self.number += 1;
        Ok(true)
    }

    /// Appends the bytes of the next line, its end among them; how many.
    fn take_line(&mut self) -> io::Result<usize> {
        let mut read = 0;
        loop {
            let buffer = match self.reader.fill_buf() {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                buffer => buffer?,
            };
            let end = line_end(buffer);
            let taken = buffer.get(..end.unwrap_or(buffer.len())).unwrap_or_default();
            let count = taken.len();
            self.bytes.extend_from_slice(taken);
            self.reader.consume(count);
            read += count;
            if end.is_some() || count == 0 {
                return Ok(read);
            }
        }
    }

    /// The present line without its end.
    #[inline]
    pub(super) fn text(&self) -> &[u8] {
        let text = self.bytes.strip_suffix(b"\n").unwrap_or(&self.bytes);
        text.strip_suffix(b"\r").unwrap_or(text)
    }

    /// Number of the present line, from 1; after [`Lines::extend`], of the last.
    #[inline]
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Field `column`, from 1, of the present line.
    pub(super) fn at(&self, column: Option<usize>) -> Location {
        Location::new(&self.name, self.number, column)
    }
}

/// Where the first line ends, behind its LF. Blocks are asked as a whole, which is faster than byte by
/// byte on lines of some length.
#[inline]
fn line_end(bytes: &[u8]) -> Option<usize> {
    const BLOCK: usize = 64;
    let (blocks, _) = bytes.as_chunks::<BLOCK>();
    let has_end = |block: &[u8; BLOCK]| block.iter().fold(false, |any, b| any | (*b == b'\n'));
    let clean = blocks.iter().position(has_end).unwrap_or(blocks.len()) * BLOCK;
    let at = bytes.get(clean..)?.iter().position(|b| *b == b'\n')?;
    Some(clean + at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_and_marks_are_stripped() {
        let mut lines = Lines::new(&b"\xef\xbb\xbfa\r\n\n\r\n\xef\xbb\xbfb"[..], "t");
        let mut seen = Vec::new();
        while lines.advance().unwrap() {
            seen.push((lines.number(), lines.text().to_vec()));
        }
        let expected: [&[u8]; 4] = [b"a", b"", b"", b"\xef\xbb\xbfb"];
        assert_eq!(seen, (1..).zip(expected.map(<[u8]>::to_vec)).collect::<Vec<_>>());
        assert_eq!(lines.at(Some(2)).to_string(), "t, line 4, column 2");
    }
}
