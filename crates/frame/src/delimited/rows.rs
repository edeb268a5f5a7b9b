//! Reads the rows of a table: its records without the preamble, blank lines, comments and footnotes.

use super::kinds::kind;
use super::layout::Layout;
use super::records::Records;
use crate::error::DataError;
use crate::options::Ragged;
use crate::source::Source;
use std::collections::VecDeque;

/// The maximum number of lines listed in a message.
const LISTED: usize = 5;
/// The maximum number of lines that count as footnotes.
const FOOTNOTES: usize = 20;

/// A record whose role depends on the records that follow.
#[derive(Debug)]
struct PendingRecord {
    line: u64,
    cells: Vec<Vec<u8>>,
    kind: RecordKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RecordKind {
    /// A line without text, in a table with more than one column.
    Blank,
    /// A row whose cells are all empty, or a line without text in a table with one column.
    Empty,
    /// A row with one non-empty cell that follows an empty row.
    Single,
    /// A row whose number of cells differs from that of most rows.
    Ragged,
    Row,
}

/// Lines of one kind: their count, and the line numbers of the first few.
#[derive(Debug, Default, Clone)]
pub(crate) struct Lines {
    pub(crate) count: usize,
    pub(crate) first: Vec<u64>,
}

impl Lines {
    fn add(&mut self, line: u64) {
        self.count += 1;
        if self.first.len() < LISTED {
            self.first.push(line);
        }
    }

    /// Formats the lines: "line 7", "lines 7, 9 and 12", or "lines 7, 9, 12, 15, 17 and 30 more".
    pub(crate) fn shown(&self) -> String {
        let lines: Vec<String> = self.first.iter().map(u64::to_string).collect();
        let more = self.count - lines.len();
        match lines.as_slice() {
            [one] if more == 0 => format!("line {one}"),
            [rest @ .., last] if more == 0 => format!("lines {} and {last}", rest.join(", ")),
            all => format!("lines {} and {more} more", all.join(", ")),
        }
    }
}

/// Facts about the rows that have been read so far.
#[derive(Debug, Default, Clone)]
pub(crate) struct Tally {
    pub(crate) rows: u64,
    /// Rows with more cells than the others.
    pub(crate) longer: Lines,
    /// Rows with fewer cells than the others.
    pub(crate) shorter: Lines,
    pub(crate) example: Option<(u64, usize)>,
    /// Rows in which a quote was read as a literal character.
    pub(crate) repaired: Lines,
    /// Rows with a quote inside an unquoted cell. A delimiter may be missing before the quote.
    pub(crate) inner_quotes: Lines,
    /// Blank lines that are rows, because the table has one column and another row follows.
    pub(crate) empty_rows: Lines,
    /// Blank lines that were left out.
    pub(crate) blank: Lines,
    /// Comments that were left out.
    pub(crate) comments: Lines,
    /// Repeated headers that were left out.
    pub(crate) headers: Lines,
    pub(crate) footer: Option<(u64, u64)>,
    pub(crate) notes: Vec<String>,
}

/// The rows of a text, in order.
pub(crate) struct Rows<'a> {
    source: &'a Source,
    records: Records<'a>,
    layout: &'a Layout,
    ragged: Ragged,
    /// Records that have been read ahead. They are rows if another row follows. Otherwise, they may be footnotes or
    /// another table.
    held: Vec<PendingRecord>,
    /// Rows that have been read ahead and are returned next.
    ready: VecDeque<PendingRecord>,
    current: Option<PendingRecord>,
    ended: bool,
    pub(crate) tally: Tally,
}

impl<'a> Rows<'a> {
    pub(crate) fn new(
        source: &'a Source,
        mut records: Records<'a>,
        layout: &'a Layout,
        ragged: Ragged,
    ) -> Result<Rows<'a>, DataError> {
        for _ in 0..layout.preamble {
            records.skip_line().map_err(|e| source.failed(&e))?;
        }
        records.trusts_quotes = layout.trusts_quotes;
        let mut names = 0;
        while names < layout.header + usize::from(layout.underlined) {
            match records.next().map_err(|e| source.failed(&e))? {
                Some(record) => names += usize::from(!record.blank),
                None => break,
            }
        }
        records.width = Some(layout.width);
        Ok(Rows {
            source,
            records,
            layout,
            ragged,
            held: Vec::new(),
            ready: VecDeque::new(),
            current: None,
            ended: false,
            tally: Tally::default(),
        })
    }

    /// Advances to the next row and returns its line number. Returns `None` after the last row.
    pub(crate) fn next(&mut self) -> Result<Option<u64>, DataError> {
        loop {
            if let Some(held) = self.ready.pop_front() {
                let line = held.line;
                self.current = Some(held);
                self.tally.rows += 1;
                return Ok(Some(line));
            }
            self.current = None;
            if self.ended {
                return Ok(None);
            }
            let Some(record) = self.records.next().map_err(|e| self.source.failed(&e))? else {
                self.ended = true;
                self.finish();
                continue;
            };
            let kind = self.kind(record.blank);
            if record.repaired && matches!(kind, RecordKind::Row | RecordKind::Ragged) {
                self.tally.repaired.add(record.line);
            } else if self.layout.dialect.quote.is_some_and(|quote| self.has_inner_quote(quote)) {
                self.tally.inner_quotes.add(record.line);
            }
            if kind == RecordKind::Row && self.repeats_header() {
                self.tally.headers.add(record.line);
                continue;
            }
            if kind == RecordKind::Row && self.held.is_empty() {
                self.tally.rows += 1;
                return Ok(Some(record.line));
            }
            let cells = self.records.iter().map(<[u8]>::to_vec).collect();
            self.held.push(PendingRecord { line: record.line, cells, kind });
            if kind == RecordKind::Row {
                self.release();
            }
        }
    }

    /// The number of the line after the most recent record.
    pub(crate) fn line(&self) -> u64 {
        self.records.line()
    }

    /// Returns the next complete lines, about `size` bytes in total, to be read as plain rows. Returns `None` if the
    /// next record is not plain.
    pub(crate) fn plain_text(&mut self, size: usize) -> Result<Option<&[u8]>, DataError> {
        if !self.ready.is_empty() || self.ended {
            return Ok(None);
        }
        assert!(self.held.is_empty(), "no record is pending between two rows");
        self.current = None;
        self.records.plain_text(size).map_err(|e| self.source.failed(&e))
    }

    /// An estimate of the number of rows that are left, or `None` if the text is read in pieces.
    pub(crate) fn expected(&self) -> Option<usize> {
        let (read, left) = self.records.progress()?;
        Some((left as f64 * self.tally.rows as f64 / read.max(1) as f64) as usize)
    }

    /// Skips plain rows that [`Rows::plain_text`] returned. The pair holds the number of these rows and their length in
    /// bytes. The `refused` bytes after these rows must not be read as plain rows.
    pub(crate) fn pass(&mut self, (rows, bytes): (usize, usize), refused: usize) {
        self.tally.rows += rows as u64;
        self.records.pass(rows as u64, bytes, refused);
    }

    /// Passes the cells of the current row, with their indices, to `each`.
    pub(crate) fn cells(&self, mut each: impl FnMut(usize, &[u8])) {
        match &self.current {
            Some(held) => {
                held.cells.iter().enumerate().for_each(|(at, cell)| each(at, cell));
            }
            None => self.records.iter().enumerate().for_each(|(at, cell)| each(at, cell)),
        }
    }

    fn kind(&self, blank: bool) -> RecordKind {
        let (count, width) = (self.records.len(), self.layout.width);
        if blank {
            return if width > 1 { RecordKind::Blank } else { RecordKind::Empty };
        }
        let complete = count == width || self.layout.trailing && count + 1 == width;
        if !complete {
            return RecordKind::Ragged;
        }
        if self.layout.trailing && count == width && !self.records.cell(width - 1).is_empty() {
            return RecordKind::Ragged;
        }
        if width > 1 && (self.records.cell(0).is_empty() || !self.held.is_empty()) {
            let filled = self.records.iter().filter(|cell| !cell.trim_ascii().is_empty()).count();
            if filled == 0 {
                return RecordKind::Empty;
            }
            let after_gap =
                self.held.iter().any(|h| matches!(h.kind, RecordKind::Blank | RecordKind::Empty));
            if filled == 1 && after_gap && width > 2 {
                return RecordKind::Single;
            }
        }
        RecordKind::Row
    }

    /// Whether an unquoted cell contains a quote after other text. For example, `Shoes"Great` may be two cells.
    fn has_inner_quote(&self, quote: u8) -> bool {
        let cells = self.records.cells();
        let is_inner = |(at, cell): (usize, &[u8])| {
            !cells.is_quoted(at) && memchr::memchr(quote, cell).is_some_and(|place| place > 0)
        };
        self.records.iter().enumerate().any(is_inner)
    }

    /// Whether the current record repeats the header, as in concatenated files.
    fn repeats_header(&self) -> bool {
        let names = &self.layout.raw_names;
        self.layout.header == 1
            && names.len() == self.records.len()
            && names.len() > 1
            && self.records.cell(0).trim_ascii() == names[0]
            && self.records.iter().zip(names).all(|(cell, name)| cell.trim_ascii() == name)
    }

    /// Accepts the pending records as rows, because another row follows.
    fn release(&mut self) {
        for held in std::mem::take(&mut self.held) {
            self.admit(held);
        }
    }

    fn admit(&mut self, held: PendingRecord) {
        match held.kind {
            RecordKind::Blank => self.tally.blank.add(held.line),
            RecordKind::Ragged if self.is_comment(&held) => self.tally.comments.add(held.line),
            RecordKind::Ragged => {
                let count = held.cells.len();
                self.tally.example.get_or_insert((held.line, count));
                let lines = if count > self.layout.width {
                    &mut self.tally.longer
                } else {
                    &mut self.tally.shorter
                };
                lines.add(held.line);
                if self.ragged == Ragged::Pad {
                    self.ready.push_back(held);
                }
            }
            RecordKind::Empty if self.layout.width < 2 => {
                self.tally.empty_rows.add(held.line);
                self.ready.push_back(held);
            }
            RecordKind::Empty | RecordKind::Single | RecordKind::Row => self.ready.push_back(held),
        }
    }

    fn is_comment(&self, held: &PendingRecord) -> bool {
        self.layout.comments && matches!(held.cells[0].first(), Some(b'#' | b'%'))
    }

    /// Decides whether the pending records at the end of the text are blank lines, footnotes, another table or rows.
    fn finish(&mut self) {
        let mut held = std::mem::take(&mut self.held);
        // Blank lines at the end of a table with one column end the text. An empty cell in quotes is a row.
        if self.layout.width < 2 || !self.layout.keeps_rows {
            self.leave_out_gap(&mut held);
        }
        if self.layout.keeps_rows {
            return held.into_iter().for_each(|held| self.admit(held));
        }
        if let Some(at) = another_table(&held, self.layout.width) {
            let (first, rows) = (&held[at], held.len() - at - 1);
            self.tally.notes.push(format!(
                "another table begins at line {} ({rows} rows of {} cells) and is not read; to read it, save it as a separate file",
                first.line,
                first.cells.len()
            ));
            held.truncate(at);
        } else if let Some(at) = footnotes(&held) {
            let lines = (held[at].line, held[held.len() - 1].line);
            self.tally.footer = Some(lines);
            let shown = match lines {
                (first, last) if first == last => {
                    format!("line {first}, after the table, is left out as a footnote")
                }
                (first, last) => {
                    format!("lines {first} to {last}, after the table, are left out as footnotes")
                }
            };
            self.tally.notes.push(shown);
            held.truncate(at);
        }
        self.leave_out_gap(&mut held);
        for held in held {
            self.admit(held);
        }
    }

    /// Removes blank lines and empty rows at the end of the table, with a note on the empty rows.
    fn leave_out_gap(&mut self, held: &mut Vec<PendingRecord>) {
        let is_gap =
            |h: &mut PendingRecord| matches!(h.kind, RecordKind::Blank | RecordKind::Empty);
        let (mut empty, mut first_empty) = (0, 0);
        while let Some(last) = held.pop_if(is_gap) {
            if last.kind == RecordKind::Empty {
                (empty, first_empty) = (empty + 1, last.line);
            }
        }
        if empty > 0 {
            let rows = match (self.layout.width < 2, empty) {
                (true, 1) => "blank line at the end is",
                (true, _) => "blank lines at the end are",
                (false, 1) => "empty row at the end is",
                (false, _) => "empty rows at the end are",
            };
            self.tally
                .notes
                .push(format!("{empty} {rows} left out, starting at line {first_empty}"));
        }
    }
}

/// The index of the first row of a second table, if there is one. All rows from there to the end have the same number
/// of cells, which differs from the number of cells in the first table.
fn another_table(held: &[PendingRecord], width: usize) -> Option<usize> {
    let at = held.iter().position(|h| h.kind == RecordKind::Ragged)?;
    let count = held[at].cells.len();
    let mut rows = held[at..].iter().filter(|h| h.kind != RecordKind::Blank);
    let same = rows.clone().all(|h| h.cells.len() == count);
    let names = &held[at].cells;
    let worded = names.iter().filter(|cell| kind(cell).is_wordy()).count();
    let mut sorted: Vec<&Vec<u8>> = names.iter().collect();
    sorted.sort_unstable();
    let distinct = sorted.windows(2).all(|w| w[0] != w[1]);
    let typed = rows.nth(1).is_some_and(|h| h.cells.iter().any(|cell| kind(cell).is_typed()));
    (same && count > 1 && count != width && worded == count && distinct && typed).then_some(at)
}

/// The index of the first footnote, if there are footnotes. Footnotes are a few lines at the end. Each of them has text
/// in only one cell, or has a different number of cells and follows a gap.
fn footnotes(held: &[PendingRecord]) -> Option<usize> {
    let at = held.iter().position(|h| matches!(h.kind, RecordKind::Ragged | RecordKind::Single))?;
    let notes = &held[at..];
    let after_gap =
        held[..at].iter().any(|h| matches!(h.kind, RecordKind::Blank | RecordKind::Empty));
    let filled =
        |h: &PendingRecord| h.cells.iter().filter(|cell| !cell.trim_ascii().is_empty()).count();
    let is_text = |h: &PendingRecord| {
        let first = h.cells.iter().find(|cell| !cell.trim_ascii().is_empty());
        first.is_none_or(|cell| !kind(cell).is_typed() && (after_gap || cell.contains(&b' ')))
    };
    let few =
        notes.len() <= FOOTNOTES && notes.iter().all(|h| h.kind != RecordKind::Row && is_text(h));
    (few && (after_gap || notes.iter().all(|h| filled(h) < 2))).then_some(at)
}
