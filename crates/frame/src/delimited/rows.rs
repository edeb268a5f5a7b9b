//! The rows of a table: its records without preamble, blank lines, comments and footnotes.

use super::kinds::kind;
use super::layout::Layout;
use super::records::Records;
use crate::error::DataError;
use crate::options::Ragged;
use crate::source::Source;
use std::collections::VecDeque;

/// Lines named in a message.
const LISTED: usize = 5;
/// Most footnotes.
const FOOTNOTES: usize = 20;

/// A record that waits for what follows it.
#[derive(Debug)]
struct Held {
    line: u64,
    cells: Vec<Vec<u8>>,
    what: What,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    /// A line without text, in a table of more than one column.
    Blank,
    /// A row whose cells are all empty.
    Empty,
    /// A row of which one cell is filled, after an empty one.
    Single,
    /// A row with another number of cells.
    Ragged,
    Row,
}

/// Lines of one kind: how many, and the first few.
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

    /// "line 7", "lines 7, 9 and 12", or "lines 7, 9, 12, 15, 17 and 30 more".
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

/// What was found on the way through the rows.
#[derive(Debug, Default, Clone)]
pub(crate) struct Tally {
    pub(crate) rows: u64,
    /// Rows with more and with fewer cells, and one of each.
    pub(crate) longer: Lines,
    pub(crate) shorter: Lines,
    pub(crate) example: Option<(u64, usize)>,
    /// Rows of which a quote was read as a character.
    pub(crate) repaired: Lines,
    /// Rows with a quote inside a cell that is not quoted: perhaps a delimiter is missing before it.
    pub(crate) inner_quotes: Lines,
    /// Blank lines that are rows of a table of one column.
    pub(crate) empty_rows: Lines,
    /// Lines left out.
    pub(crate) blank: Lines,
    pub(crate) comments: Lines,
    pub(crate) headers: Lines,
    pub(crate) footer: Option<(u64, u64)>,
    pub(crate) notes: Vec<String>,
}

/// The rows of a text, one after the other.
pub(crate) struct Rows<'a> {
    source: &'a Source,
    records: Records<'a>,
    layout: &'a Layout,
    ragged: Ragged,
    /// Records read ahead: they are rows if a row follows, and otherwise may be footnotes or another table.
    held: Vec<Held>,
    /// Rows read ahead, which come next.
    ready: VecDeque<Held>,
    current: Option<Held>,
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
        while names < layout.header {
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

    /// Goes to the next row and returns its line; `None` after the last one.
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
            let what = self.what(record.blank);
            if record.repaired && matches!(what, What::Row | What::Ragged) {
                self.tally.repaired.add(record.line);
            } else if self.layout.dialect.quote.is_some_and(|quote| self.has_inner_quote(quote)) {
                self.tally.inner_quotes.add(record.line);
            }
            if what == What::Row && self.held.is_empty() {
                if self.repeats_header() {
                    self.tally.headers.add(record.line);
                    continue;
                }
                self.tally.rows += 1;
                return Ok(Some(record.line));
            }
            let cells = self.records.iter().map(<[u8]>::to_vec).collect();
            self.held.push(Held { line: record.line, cells, what });
            if what == What::Row {
                self.release();
            }
        }
    }

    /// The line after the last record.
    pub(crate) fn line(&self) -> u64 {
        self.records.line()
    }

    /// Whole lines that come next, about `size` bytes, to be read as plain rows; `None` if the next record needs the rules
    /// for other lines.
    pub(crate) fn plain_text(&mut self, size: usize) -> Result<Option<&[u8]>, DataError> {
        if !self.ready.is_empty() || self.ended {
            return Ok(None);
        }
        assert!(self.held.is_empty(), "records are held only until the next row");
        self.current = None;
        self.records.plain_text(size).map_err(|e| self.source.failed(&e))
    }

    /// The number of rows that are still to come, about; `None` if the text is read in pieces.
    pub(crate) fn expected(&self) -> Option<usize> {
        let (read, left) = self.records.progress()?;
        Some((left as f64 * self.tally.rows as f64 / read.max(1) as f64) as usize)
    }

    /// Goes past plain rows of [`Rows::plain_text`], `(rows, bytes)` of them. The next `refused` bytes are not plain.
    pub(crate) fn pass(&mut self, (rows, bytes): (usize, usize), refused: usize) {
        self.tally.rows += rows as u64;
        self.records.pass(rows as u64, bytes, refused);
    }

    /// Hands the cells of the row to `each`, with their places.
    pub(crate) fn cells(&self, mut each: impl FnMut(usize, &[u8])) {
        match &self.current {
            Some(held) => {
                held.cells.iter().enumerate().for_each(|(at, cell)| each(at, cell));
            }
            None => self.records.iter().enumerate().for_each(|(at, cell)| each(at, cell)),
        }
    }

    fn what(&self, blank: bool) -> What {
        let (count, width) = (self.records.len(), self.layout.width);
        if blank {
            return if width > 1 { What::Blank } else { What::Empty };
        }
        let complete = count == width || self.layout.trailing && count + 1 == width;
        if !complete {
            return What::Ragged;
        }
        if self.layout.trailing && count == width && !self.records.cell(width - 1).is_empty() {
            return What::Ragged;
        }
        if width > 1 && self.records.cell(0).is_empty() || !self.held.is_empty() {
            let filled = self.records.iter().filter(|cell| !cell.trim_ascii().is_empty()).count();
            if filled == 0 {
                return What::Empty;
            }
            let after_gap = self.held.iter().any(|h| matches!(h.what, What::Blank | What::Empty));
            if filled == 1 && after_gap && width > 2 {
                return What::Single;
            }
        }
        What::Row
    }

    /// Whether a cell that is not quoted has a quote after other text: `Shoes"Great` may be two cells.
    fn has_inner_quote(&self, quote: u8) -> bool {
        let cells = self.records.cells();
        let is_inner = |(at, cell): (usize, &[u8])| {
            !cells.is_quoted(at) && memchr::memchr(quote, cell).is_some_and(|place| place > 0)
        };
        self.records.iter().enumerate().any(is_inner)
    }

    /// Whether the record has the names of the header once more, as in files that were joined.
    fn repeats_header(&self) -> bool {
        let names = &self.layout.raw_names;
        self.layout.header == 1
            && names.len() == self.records.len()
            && names.len() > 1
            && self.records.cell(0).trim_ascii() == names[0]
            && self.records.iter().zip(names).all(|(cell, name)| cell.trim_ascii() == name)
    }

    /// The held records stand between rows.
    fn release(&mut self) {
        for held in std::mem::take(&mut self.held) {
            self.admit(held);
        }
    }

    fn admit(&mut self, held: Held) {
        match held.what {
            What::Blank => self.tally.blank.add(held.line),
            What::Ragged if self.is_comment(&held) => self.tally.comments.add(held.line),
            What::Ragged => {
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
            What::Empty if self.layout.width < 2 => {
                self.tally.empty_rows.add(held.line);
                self.ready.push_back(held);
            }
            What::Empty | What::Single | What::Row => self.ready.push_back(held),
        }
    }

    fn is_comment(&self, held: &Held) -> bool {
        self.layout.comments && matches!(held.cells[0].first(), Some(b'#' | b'%'))
    }

    /// The held records stand after the last row: blank lines, footnotes, another table, or rows.
    fn finish(&mut self) {
        let mut held = std::mem::take(&mut self.held);
        if self.layout.keeps_rows {
            return held.into_iter().for_each(|held| self.admit(held));
        }
        let is_gap = |h: &Held| matches!(h.what, What::Blank | What::Empty);
        let (mut empty, mut first_empty) = (0, 0);
        while let Some(last) = held.pop_if(|h| is_gap(h)) {
            if last.what == What::Empty {
                (empty, first_empty) = (empty + 1, last.line);
            }
        }
        if empty > 0 {
            let rows = if empty == 1 { "row" } else { "rows" };
            self.tally
                .notes
                .push(format!("{empty} empty {rows} at the end left out, from line {first_empty}"));
        }
        if let Some(at) = another_table(&held, self.layout.width) {
            let (first, rows) = (&held[at], held.len() - at - 1);
            self.tally.notes.push(format!(
                "another table begins at line {} ({rows} rows of {} cells): it is not read; to read it, save it as a separate file",
                first.line,
                first.cells.len()
            ));
            held.truncate(at);
        } else if let Some(at) = footnotes(&held) {
            let lines = (held[at].line, held[held.len() - 1].line);
            self.tally.footer = Some(lines);
            let shown = match lines {
                (first, last) if first == last => format!("line {first} after the table is"),
                (first, last) => format!("lines {first} to {last} after the table are"),
            };
            self.tally.notes.push(format!("{shown} left out as footnotes"));
            held.truncate(at);
        }
        while held.last().is_some_and(is_gap) {
            held.pop();
        }
        for held in held {
            self.admit(held);
        }
    }
}

/// The first row of a second table: all rows from there to the end have another width.
fn another_table(held: &[Held], width: usize) -> Option<usize> {
    let at = held.iter().position(|h| h.what == What::Ragged)?;
    let count = held[at].cells.len();
    let mut rows = held[at..].iter().filter(|h| h.what != What::Blank);
    let same = rows.clone().all(|h| h.cells.len() == count);
    let names = &held[at].cells;
    let worded = names.iter().filter(|cell| kind(cell).is_wordy()).count();
    let mut sorted: Vec<&Vec<u8>> = names.iter().collect();
    sorted.sort_unstable();
    let distinct = sorted.windows(2).all(|w| w[0] != w[1]);
    let typed = rows.nth(1).is_some_and(|h| h.cells.iter().any(|cell| kind(cell).is_typed()));
    (same && count > 1 && count != width && worded == count && distinct && typed).then_some(at)
}

/// Where footnotes begin: a few lines at the end, each with text in one cell, or of other widths after a gap.
fn footnotes(held: &[Held]) -> Option<usize> {
    let at = held.iter().position(|h| matches!(h.what, What::Ragged | What::Single))?;
    let notes = &held[at..];
    let after_gap = held[..at].iter().any(|h| matches!(h.what, What::Blank | What::Empty));
    let filled = |h: &Held| h.cells.iter().filter(|cell| !cell.trim_ascii().is_empty()).count();
    let is_text = |h: &Held| {
        let first = h.cells.iter().find(|cell| !cell.trim_ascii().is_empty());
        first.is_none_or(|cell| kind(cell).is_wordy() && (after_gap || cell.contains(&b' ')))
    };
    let few = notes.len() <= FOOTNOTES && notes.iter().all(|h| h.what != What::Row && is_text(h));
    (few && (after_gap || notes.iter().all(|h| filled(h) < 2))).then_some(at)
}
