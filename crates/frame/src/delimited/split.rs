//! Splits the first record of a text into its cells.

use memchr::{memchr, memchr2};

/// The delimiter and the quoting of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dialect {
    pub(crate) delimiter: Delimiter,
    pub(crate) quote: Option<u8>,
    /// Whether a backslash escapes a quote inside a quoted cell. Otherwise, such quotes are doubled.
    pub(crate) backslash: bool,
}

/// The separator between cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delimiter {
    /// A single byte. Two consecutive delimiters enclose an empty cell.
    Byte(u8),
    /// One or more spaces or tabs. Blanks at the start and the end of a line are ignored.
    Blanks,
}

/// How to read a record with a misplaced quote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// If no closing quote is directly followed by a delimiter or a line end, the opening quote is a character of its
    /// cell.
    Strict,
    /// Quotes inside a quoted cell are characters if a later quote on the same line closes the cell.
    Lenient,
    /// Every quote is a character.
    Literal,
}

/// The position of a cell in the text or in the scratch buffer.
#[derive(Debug, Clone, Copy)]
struct Span {
    start: usize,
    end: usize,
    /// Whether the cell was copied to the scratch buffer without its escapes.
    unescaped: bool,
    quoted: bool,
}

/// The cells of a record.
#[derive(Debug, Default)]
pub(crate) struct Cells {
    spans: Vec<Span>,
    scratch: Vec<u8>,
    /// The number of quotes that open a cell but are not properly closed.
    pub(crate) stray: usize,
    /// The number of quoted cells that contain a line end.
    pub(crate) multiline: usize,
    /// The number of quoted cells that contain a line end and a delimiter.
    pub(crate) swallowing: usize,
}

impl Cells {
    pub(crate) fn len(&self) -> usize {
        self.spans.len()
    }

    /// The cell at index `at` of the record whose cells were split from `text`.
    pub(crate) fn get<'a>(&'a self, text: &'a [u8], at: usize) -> &'a [u8] {
        let span = self.spans[at];
        if span.unescaped {
            &self.scratch[span.start..span.end]
        } else {
            &text[span.start..span.end]
        }
    }

    pub(crate) fn is_quoted(&self, at: usize) -> bool {
        self.spans[at].quoted
    }

    fn clear(&mut self) {
        self.spans.clear();
        self.scratch.clear();
        (self.stray, self.multiline, self.swallowing) = (0, 0, 0);
    }
}

/// The position at which a record ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct End {
    /// The start of the next record.
    pub(crate) next: usize,
    /// The number of lines that the record spans.
    pub(crate) lines: u64,
}

enum Quoted {
    /// The cell ends before this position, where there is a delimiter or a line end.
    Closed(usize),
    Stray,
    /// The text ends inside the cell, so more text is needed.
    More,
}

const DELIMITER: u8 = 1;
const LINE_END: u8 = 2;

/// A splitter for records in one dialect.
#[derive(Debug, Clone)]
pub(crate) struct Splitter {
    dialect: Dialect,
    class: [u8; 256],
}

impl Splitter {
    pub(crate) fn new(dialect: Dialect) -> Splitter {
        let mut class = [0; 256];
        class[usize::from(b'\n')] = LINE_END;
        class[usize::from(b'\r')] = LINE_END;
        match dialect.delimiter {
            Delimiter::Byte(byte) => class[usize::from(byte)] = DELIMITER,
            Delimiter::Blanks => {
                class[usize::from(b' ')] = DELIMITER;
                class[usize::from(b'\t')] = DELIMITER;
            }
        }
        Splitter { dialect, class }
    }

    /// Splits the record at the start of `text` into `cells`. `last` is true if no more text follows. Returns `None` if
    /// more text is needed.
    pub(crate) fn split(
        &self,
        text: &[u8],
        last: bool,
        mode: Mode,
        cells: &mut Cells,
    ) -> Option<End> {
        cells.clear();
        let quote = self.dialect.quote.filter(|_| mode != Mode::Literal);
        let blanks = self.dialect.delimiter == Delimiter::Blanks;
        let mut lines = 1;
        let mut at = 0;
        loop {
            if blanks {
                at += leading_blanks(&text[at..]);
                let at_end = at == text.len() || self.class[usize::from(text[at])] == LINE_END;
                if at_end && !cells.spans.is_empty() {
                    return end(text, at, last, lines);
                }
            }
            let start = at;
            if let Some(quote) = quote {
                let open = start + self.spaces(&text[start..]);
                if text.get(open) == Some(&quote) {
                    match self.quoted(text, open, last, mode, cells) {
                        Quoted::Closed(after) => {
                            if cells.multiline > 0 {
                                lines += line_ends(&text[open..after]);
                            }
                            at = after;
                            if at == text.len() || self.class[usize::from(text[at])] == LINE_END {
                                return end(text, at, last, lines);
                            }
                            at += 1;
                            continue;
                        }
                        Quoted::More => return None,
                        Quoted::Stray => cells.stray += 1,
                    }
                }
            }
            while at < text.len() && self.class[usize::from(text[at])] == 0 {
                at += 1;
            }
            cells.spans.push(Span { start, end: at, unescaped: false, quoted: false });
            if at == text.len() || self.class[usize::from(text[at])] == LINE_END {
                return end(text, at, last, lines);
            }
            at += 1;
        }
    }

    /// The number of spaces before a quote that opens a cell.
    fn spaces(&self, text: &[u8]) -> usize {
        if self.class[usize::from(b' ')] == DELIMITER {
            return 0;
        }
        text.iter().take_while(|b| **b == b' ').count()
    }

    /// Reads the quoted cell whose opening quote is at `open`.
    fn quoted(
        &self,
        text: &[u8],
        open: usize,
        last: bool,
        mode: Mode,
        cells: &mut Cells,
    ) -> Quoted {
        let quote = text[open];
        let start = open + 1;
        let from = cells.scratch.len();
        let (mut copied, mut at) = (start, start);
        loop {
            let found = if self.dialect.backslash {
                memchr2(quote, b'\\', &text[at..])
            } else {
                memchr(quote, &text[at..])
            };
            let Some(found) = found.map(|found| at + found) else {
                cells.scratch.truncate(from);
                return if last { Quoted::Stray } else { Quoted::More };
            };
            let following = text.get(found + 1).copied();
            if following.is_none() && !last {
                cells.scratch.truncate(from);
                return Quoted::More;
            }
            let doubled = text[found] == quote && following == Some(quote);
            if doubled && mode == Mode::Lenient && found > start && self.ends_at(text, found + 2) {
                // The first of the two quotes is a character of the cell, and the second one closes the cell.
                self.close(text, (start, found + 1), (from, copied), cells);
                return Quoted::Closed(found + 2);
            }
            let escaped = text[found] == b'\\'
                && following.is_some_and(|b| matches!(b, b'"' | b'\'' | b'\\'));
            if escaped || doubled {
                cells.scratch.extend_from_slice(&text[copied..found]);
                copied = found + 1;
                at = found + 2;
                continue;
            }
            if text[found] != quote {
                at = found + 1;
                continue;
            }
            let after = found + 1 + self.spaces(&text[found + 1..]);
            if after == text.len() && !last {
                cells.scratch.truncate(from);
                return Quoted::More;
            }
            if self.ends_at(text, after) {
                self.close(text, (start, found), (from, copied), cells);
                return Quoted::Closed(after);
            }
            if mode == Mode::Lenient && self.closes_later(&text[found + 1..], quote) {
                at = found + 1;
                continue;
            }
            cells.scratch.truncate(from);
            return Quoted::Stray;
        }
    }

    /// Whether a later quote on the same line is directly followed by a delimiter or the line end.
    fn closes_later(&self, text: &[u8], quote: u8) -> bool {
        let line = memchr2(b'\n', b'\r', text).map_or(text, |end| &text[..end]);
        let mut at = 0;
        while let Some(found) = memchr(quote, &line[at..]) {
            let after = at + found + 1;
            match line.get(after) {
                None => return true,
                Some(byte) if self.class[usize::from(*byte)] != 0 => return true,
                Some(_) => at = after,
            }
        }
        false
    }

    /// Whether the text, a cell or a line ends at position `at`.
    fn ends_at(&self, text: &[u8], at: usize) -> bool {
        text.get(at).is_none_or(|byte| self.class[usize::from(*byte)] != 0)
    }

    fn close(
        &self,
        text: &[u8],
        (start, end): (usize, usize),
        (from, copied): (usize, usize),
        cells: &mut Cells,
    ) {
        let content = &text[start..end];
        if memchr2(b'\n', b'\r', content).is_some() {
            cells.multiline += 1;
            let delimited = content.iter().any(|b| self.class[usize::from(*b)] == DELIMITER);
            cells.swallowing += usize::from(delimited);
        }
        let span = if copied > start {
            cells.scratch.extend_from_slice(&text[copied..end]);
            Span { start: from, end: cells.scratch.len(), unescaped: true, quoted: true }
        } else {
            Span { start, end, unescaped: false, quoted: true }
        };
        cells.spans.push(span);
    }
}

/// The end of a record whose last cell ends at `at`, or `None` if more text is needed.
fn end(text: &[u8], at: usize, last: bool, lines: u64) -> Option<End> {
    match text.get(at..) {
        None | Some([]) => last.then_some(End { next: text.len(), lines }),
        Some([b'\r', b'\n', ..]) => Some(End { next: at + 2, lines }),
        Some([b'\r']) if !last => None,
        Some(_) => Some(End { next: at + 1, lines }),
    }
}

fn leading_blanks(text: &[u8]) -> usize {
    text.iter().take_while(|b| matches!(b, b' ' | b'\t')).count()
}

/// The number of line ends: LF, CRLF, or CR without LF.
pub(crate) fn line_ends(text: &[u8]) -> u64 {
    let mut count = 0;
    let mut at = 0;
    while let Some(found) = memchr2(b'\n', b'\r', &text[at..]) {
        at += found + 1;
        if text[at - 1] == b'\r' && text.get(at) == Some(&b'\n') {
            at += 1;
        }
        count += 1;
    }
    count
}
