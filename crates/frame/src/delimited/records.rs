//! Reads the records of a text in order, with their line numbers.

use super::foreign::zero_byte;
use super::split::{Cells, Dialect, Mode, Splitter, line_ends};
use std::io::{self, BufRead};

/// The number of bytes that a stream reads at a time.
const CHUNK: usize = 1 << 18;

/// The byte order mark of UTF-8. In concatenated files, this mark may also occur between lines.
pub(crate) const MARK: &[u8] = b"\xef\xbb\xbf";

/// Text that is held in memory or read in pieces.
enum Input<'a> {
    Memory(&'a [u8]),
    Stream { reader: Box<dyn BufRead + 'a>, buffer: Vec<u8>, ended: bool },
}

/// The position of a record, and how its quotes were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Record {
    /// The line on which the record begins, counted from 1.
    pub(crate) line: u64,
    /// Whether a quote in the record does not enclose a cell and was therefore read as a character.
    pub(crate) repaired: bool,
    /// Whether the line is empty or blank.
    pub(crate) blank: bool,
}

/// The records of a text.
pub(crate) struct Records<'a> {
    input: Input<'a>,
    /// The start of the next record.
    at: usize,
    /// The start of the most recent record.
    start: usize,
    line: u64,
    splitter: Splitter,
    /// The expected number of cells in a record. It determines how misplaced quotes are read.
    pub(crate) width: Option<usize>,
    /// Whether the text has quoted cells that contain a delimiter but no line end. If so, other quoted cells may span
    /// several lines.
    pub(crate) trusts_quotes: bool,
    cells: Cells,
    /// The number of bytes, starting at the next record, that must not be read as plain lines.
    refused: usize,
}

impl<'a> Records<'a> {
    pub(crate) fn of_text(text: &'a [u8], dialect: Dialect) -> Records<'a> {
        Records::new(Input::Memory(text), dialect)
    }

    pub(crate) fn of_stream(reader: Box<dyn BufRead + 'a>, dialect: Dialect) -> Records<'a> {
        let buffer = Vec::new();
        Records::new(Input::Stream { reader, buffer, ended: false }, dialect)
    }

    fn new(input: Input<'a>, dialect: Dialect) -> Records<'a> {
        Records {
            input,
            at: 0,
            start: 0,
            line: 1,
            splitter: Splitter::new(dialect),
            width: None,
            trusts_quotes: true,
            cells: Cells::default(),
            refused: 0,
        }
    }

    /// The line on which the next record begins.
    pub(crate) fn line(&self) -> u64 {
        self.line
    }

    /// Returns the next complete lines, about `size` bytes in total. Returns `None` at the end of the text, or if the
    /// next lines are known not to be plain.
    pub(crate) fn plain_text(&mut self, size: usize) -> io::Result<Option<&[u8]>> {
        if self.refused > 0 {
            return Ok(None);
        }
        while self.text().len() - self.at < size && !self.is_last() {
            self.fill()?;
        }
        let lines = whole_lines(&self.text()[self.at..], size);
        Ok(Some(lines).filter(|lines| !lines.is_empty()))
    }

    /// The number of bytes that have been read and the number of bytes that are left, or `None` if the text is not in
    /// memory.
    pub(crate) fn progress(&self) -> Option<(usize, usize)> {
        match &self.input {
            Input::Memory(text) => Some((self.at, text.len() - self.at)),
            Input::Stream { .. } => None,
        }
    }

    /// Skips plain lines that have been read elsewhere. The `refused` bytes after these lines must not be read as plain
    /// lines.
    pub(crate) fn pass(&mut self, lines: u64, bytes: usize, refused: usize) {
        (self.start, self.at) = (self.at, self.at + bytes);
        self.line += lines;
        self.refused = refused;
    }

    /// The number of cells in the most recent record.
    pub(crate) fn len(&self) -> usize {
        self.cells.len()
    }

    /// The cell at index `at` of the most recent record.
    pub(crate) fn cell(&self, at: usize) -> &[u8] {
        self.cells.get(&self.text()[self.start..], at)
    }

    /// The cells of the most recent record, with counts of unusual quotes.
    pub(crate) fn cells(&self) -> &Cells {
        &self.cells
    }

    /// The cells of the most recent record, in order.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        let text = &self.text()[self.start..];
        (0..self.cells.len()).map(move |at| self.cells.get(text, at))
    }

    /// The whole text if it is in memory, and the buffered part of it otherwise.
    fn text(&self) -> &[u8] {
        match &self.input {
            Input::Memory(text) => text,
            Input::Stream { buffer, .. } => buffer,
        }
    }

    /// Skips a line. Returns `false` at the end of the text.
    pub(crate) fn skip_line(&mut self) -> io::Result<bool> {
        loop {
            let last = self.is_last();
            let text = &self.text()[self.at..];
            let end = memchr::memchr2(b'\n', b'\r', text);
            match end {
                Some(end) if end + 1 < text.len() || last => {
                    let pair = text[end] == b'\r' && text.get(end + 1) == Some(&b'\n');
                    self.at += end + 1 + usize::from(pair);
                    self.line += 1;
                    return Ok(true);
                }
                None if last => {
                    let more = !text.is_empty();
                    self.at = self.text().len();
                    return Ok(more);
                }
                _ => self.fill()?,
            }
        }
    }

    fn is_last(&self) -> bool {
        matches!(self.input, Input::Memory(_) | Input::Stream { ended: true, .. })
    }

    /// Reads the next record. Returns `None` at the end of the text.
    pub(crate) fn next(&mut self) -> io::Result<Option<Record>> {
        loop {
            if self.text()[self.at..].starts_with(MARK) {
                self.at += MARK.len();
                self.refused = self.refused.saturating_sub(MARK.len());
            }
            let last = self.is_last();
            let text = match &self.input {
                Input::Memory(text) => &text[self.at..],
                Input::Stream { buffer, .. } => &buffer[self.at..],
            };
            if text.is_empty() {
                if last {
                    return Ok(None);
                }
                self.fill()?;
                continue;
            }
            let Some(mut end) = self.splitter.split(text, last, Mode::Strict, &mut self.cells)
            else {
                self.fill()?;
                continue;
            };
            let mut repaired = self.cells.stray > 0;
            let fits = self.width.is_none_or(|width| self.cells.len() == width);
            let doubtful = !fits || self.cells.swallowing > 0 && !self.trusts_quotes;
            if repaired && !fits || self.cells.multiline > 0 && doubtful {
                for mode in [Mode::Lenient, Mode::Literal] {
                    let tried = self.splitter.split(text, last, mode, &mut self.cells);
                    let fits = self.width == Some(self.cells.len()) && self.cells.multiline == 0;
                    if let (Some(tried), true) = (tried, fits) {
                        (end, repaired) = (tried, true);
                        break;
                    }
                }
                if !(self.width == Some(self.cells.len()) && self.cells.multiline == 0) {
                    // No mode gives the expected width, so use the strict mode.
                    let again = self.splitter.split(text, last, Mode::Strict, &mut self.cells);
                    end = again.unwrap_or(end);
                    repaired = self.cells.stray > 0;
                }
            }
            let blank = self.cells.len() == 1
                && !self.cells.is_quoted(0)
                && self.cells.get(text, 0).trim_ascii().is_empty();
            let line = self.line;
            self.start = self.at;
            self.at += end.next;
            self.refused = self.refused.saturating_sub(end.next);
            self.line += end.lines;
            return Ok(Some(Record { line, repaired, blank }));
        }
    }

    fn fill(&mut self) -> io::Result<()> {
        let Input::Stream { reader, buffer, ended } = &mut self.input else { return Ok(()) };
        buffer.drain(..self.at);
        (self.at, self.start) = (0, 0);
        // If a record exceeds the buffer, the buffer is doubled. Otherwise, the start of the record would be split
        // again after every chunk.
        let wanted = CHUNK.max(buffer.len());
        let before = buffer.len();
        let mut taken = 0;
        while taken < wanted {
            let piece = reader.fill_buf()?;
            if piece.is_empty() {
                *ended = true;
                break;
            }
            let count = piece.len().min(wanted - taken);
            buffer.extend_from_slice(&piece[..count]);
            reader.consume(count);
            taken += count;
        }
        match memchr::memchr(0, &buffer[before..]) {
            None => Ok(()),
            Some(at) => {
                let message = zero_byte(self.line + line_ends(&buffer[..before + at]));
                Err(io::Error::new(io::ErrorKind::Unsupported, message))
            }
        }
    }
}

/// The complete lines at the start of `text`, at most `size` bytes in total. If the first line is longer than that,
/// only this line is returned.
pub(crate) fn whole_lines(text: &[u8], size: usize) -> &[u8] {
    let within = memchr::memrchr(b'\n', &text[..size.min(text.len())]);
    let end = within.or_else(|| memchr::memchr(b'\n', text));
    end.map_or(&[], |end| &text[..=end])
}
