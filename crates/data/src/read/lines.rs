//! Lines of bytes, numbered, in one buffer that is used again for each.
//!
//! No more than the longest line allowed is ever held, so an input without line ends is refused in
//! bounded memory, and the first bytes are looked at for what is no text at all.

use super::error::{Location, ReadError};
use super::file_kind::FileKind;
use memchr::memchr;
use std::io::{self, BufRead};

/// Bytes of a block at least that one thread reads; few in tests, so that small texts have many.
const BLOCK: usize = if cfg!(test) { 1 << 6 } else { 1 << 18 };

/// Bytes asked of a file at once.
pub(super) const BUFFER: usize = 1 << 16;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The lines of an input, ended by LF or CRLF (the last may lack it); a byte-order mark at the start is
/// skipped.
#[derive(Debug)]
pub(super) struct Lines<R> {
    reader: R,
    name: String,
    /// The present line with its end; after [`Lines::extend`], several.
    pub(super) bytes: Vec<u8>,
    number: u64,
    /// `bytes` never grows longer.
    limit: usize,
    /// Whether NUL bytes may be part of text: where they separate fields.
    allow_nul: bool,
    /// A line was too long: where the next one begins is not known, and nothing more is read.
    lost: bool,
}

impl<R: BufRead> Lines<R> {
    /// Lines, or with [`Lines::extend`] groups of lines, of at most `limit` bytes.
    pub(super) fn new(reader: R, name: &str, limit: usize, allow_nul: bool) -> Lines<R> {
        let name = name.to_owned();
        Lines { reader, name, bytes: Vec::new(), number: 0, limit, allow_nul, lost: false }
    }

    /// Moves to the next line; `false` at the end of the input.
    pub(super) fn advance(&mut self) -> Result<bool, ReadError> {
        self.bytes.clear();
        let found = self.extend()?;
        // Files that were joined, or a mark written twice.
        if self.bytes.starts_with(BYTE_ORDER_MARK) {
            return Err(ReadError::ByteOrderMark { at: self.at(None) });
        }
        Ok(found)
    }

    /// Appends the next line to the present one; `false` at the end of the input.
    pub(super) fn extend(&mut self) -> Result<bool, ReadError> {
        if self.lost {
            return Ok(false);
        }
        let taken =
            self.take_line().map_err(|source| ReadError::Io { name: self.name.clone(), source })?;
        if taken == Some(0) {
            return Ok(false);
        }
        if self.number == 0 {
            self.check_start()?;
        }
        self.number += 1;
        if taken.is_none() {
            self.lost = true;
            self.refuse_nul()?;
            return Err(ReadError::LineTooLong { at: self.at(None), limit: self.limit });
        }
        Ok(true)
    }

    /// Takes whole lines past and puts them into `blocks` in place of what is there: how many were filled, fewer than
    /// there are at the end of the input.
    pub(super) fn take_blocks(&mut self, blocks: &mut [Vec<u8>]) -> Result<usize, ReadError> {
        for (filled, block) in blocks.iter_mut().enumerate() {
            block.clear();
            if !self.take_block(block, BLOCK)? {
                return Ok(filled);
            }
        }
        Ok(blocks.len())
    }

    /// Takes at least `size` bytes of whole lines past, unless the input ends before, and adds them to
    /// `block`; `false` if there is nothing more. A line that is too long is taken up to the limit.
    fn take_block(&mut self, block: &mut Vec<u8>, size: usize) -> Result<bool, ReadError> {
        let failed = |source| ReadError::Io { name: self.name.clone(), source };
        if self.lost {
            return Ok(false);
        }
        let start = block.len();
        let most = size.saturating_add(self.limit);
        loop {
            let buffer = match self.reader.fill_buf() {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                buffer => buffer.map_err(failed)?,
            };
            let taken = block.len() - start;
            if buffer.is_empty() || taken >= most {
                return Ok(taken > 0);
            }
            // The last line begins within the first `size` bytes.
            let from = size.saturating_sub(taken + 1).min(buffer.len());
            let end = memchr(b'\n', &buffer[from..]).map(|at| from + at + 1);
            let count = end.unwrap_or(buffer.len());
            block.extend_from_slice(&buffer[..count]);
            self.reader.consume(count);
            if end.is_some() {
                return Ok(true);
            }
        }
    }

    /// Counts `lines` that [`Lines::take_blocks`] took past.
    pub(super) fn skip(&mut self, lines: u64) {
        self.number += lines;
    }

    /// The reader; what it has buffered has been taken.
    pub(super) fn reader_mut(&mut self) -> &mut R {
        &mut self.reader
    }

    /// Refuses what is no text and skips the byte-order mark, given the first line.
    fn check_start(&mut self) -> Result<(), ReadError> {
        if let Some(kind) = FileKind::detect(&self.bytes, self.allow_nul) {
            self.lost = true;
            return Err(ReadError::NotText { name: self.name.clone(), kind });
        }
        if self.bytes.starts_with(BYTE_ORDER_MARK) {
            self.bytes.drain(..BYTE_ORDER_MARK.len());
        }
        Ok(())
    }

    /// Refuses the present bytes if there is a NUL among them.
    pub(super) fn refuse_nul(&self) -> Result<(), ReadError> {
        if !self.allow_nul && memchr(0, &self.bytes).is_some() {
            return Err(ReadError::NulByte { at: self.at(None) });
        }
        Ok(())
    }

    /// Appends the bytes of the next line, its end among them; how many, or `None` if there are more
    /// than allowed.
    fn take_line(&mut self) -> io::Result<Option<usize>> {
        let mut taken = 0;
        loop {
            let buffer = match self.reader.fill_buf() {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                buffer => buffer?,
            };
            let end = memchr(b'\n', buffer).map(|at| at + 1);
            let count = end.unwrap_or(buffer.len());
            let room = self.limit - self.bytes.len();
            if count > room {
                self.bytes.extend_from_slice(&buffer[..room]);
                return Ok(None);
            }
            self.bytes.extend_from_slice(&buffer[..count]);
            self.reader.consume(count);
            taken += count;
            if end.is_some() || count == 0 {
                return Ok(Some(taken));
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufReader, Read};

    #[test]
    fn ends_and_the_first_mark_are_stripped() {
        let mut lines = Lines::new(&b"\xef\xbb\xbfa\r\n\n\r\n b"[..], "t", 8, false);
        let mut seen = Vec::new();
        while lines.advance().unwrap() {
            seen.push((lines.number(), lines.text().to_vec()));
        }
        let expected: [&[u8]; 4] = [b"a", b"", b"", b" b"];
        assert_eq!(seen, (1..).zip(expected.map(<[u8]>::to_vec)).collect::<Vec<_>>());
        assert_eq!(lines.at(Some(2)).to_string(), "t, line 4, column 2");
    }

    #[test]
    fn the_limit_is_the_longest_line_that_is_read() {
        let mut lines = Lines::new(&b"abc\nabcd\nab\n"[..], "t", 4, false);
        assert!(lines.advance().unwrap());
        assert_eq!(
            lines.advance().unwrap_err().to_string(),
            "t, line 2: longer than 4 bytes; check that it is a text file with line ends, or allow \
             longer lines with max_line in the options"
        );
        // Nothing is known of what follows.
        assert!(!lines.advance().unwrap());
    }

    /// Never ends, and counts what is taken from it.
    struct Endless(&'static [u8], usize);

    impl Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            buffer.iter_mut().zip(self.0.iter().cycle()).for_each(|(to, byte)| *to = *byte);
            self.1 += buffer.len();
            Ok(buffer.len())
        }
    }

    #[test]
    fn a_line_without_end_is_refused_in_bounded_memory() {
        for (pattern, expected) in [
            (&b"1,"[..], "t, line 1: longer than 1000 bytes; "),
            (b"\0", "t, line 1: a NUL byte; "),
            (b"\xef\xbb\xbf1", "t, line 1: longer than 1000 bytes; "),
        ] {
            let mut endless = Endless(pattern, 0);
            let mut lines = Lines::new(BufReader::new(&mut endless), "t", 1000, false);
            let message = lines.advance().unwrap_err().to_string();
            assert!(message.starts_with(expected), "{message}");
            assert!(lines.bytes.capacity() <= 2048);
            assert!(endless.1 <= 1 << 14, "{}", endless.1);
        }
    }
}
