//! Reads LIBSVM files, which consist of lines `label index:value index:value ..`. Absent entries are zero.
//!
//! The name of a column is its index in the file. Indices are counted from 1, or from 0 if an index 0 occurs, as in
//! files written by scikit-learn. An index gives the same name in both cases, so a file without the index 0 is
//! consistent with a model that was fitted to a file with this index. An entry takes 12 bytes of memory.

use crate::block::{Block, SparseBlock};
use crate::budget::Budget;
use crate::error::DataError;
use crate::frame::{Column, Frame, Places};
use crate::levels::Levels;
use crate::libsvm_line::{Entries, Indices, common_lines, has_old_line_ends, plain_label};
use crate::positions::positions;
use crate::source::{OldLineEnds, Source};
use crate::values::Values;
use halfspaces_linalg::SparsePoints;
use memchr::{memchr, memchr_iter, memrchr};
use std::io::BufRead;

/// The maximum size in bytes of a block of lines that are read at once. Blocks are small in tests, so that short texts
/// have many blocks.
const BLOCK: usize = if cfg!(test) { 1 << 5 } else { 1 << 16 };

/// The name of the label column.
pub(crate) const LABEL: &str = "label";

/// The columns of the rows that have been read so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shape {
    /// The first index, which is 0 if an index 0 occurs and 1 otherwise.
    first: u32,
    /// The number of columns, which is at least 1.
    dim: usize,
}

/// Reads a table. The columns are `label` and `1`, `2`, .. up to the largest index.
pub(crate) fn read(source: &Source) -> Result<Frame, DataError> {
    let mut rows = Rows::open(source)?;
    let mut chunk = Chunk::default();
    chunk.fill(&mut rows, usize::MAX)?;
    let frame = chunk.frame(source, rows.facts.shape(source)?)?;
    Ok(Frame { notes: rows.facts.notes(source), ..frame })
}

/// Counts the rows. Labels and values in lines of the common form are not parsed, so an error in one of them is found only
/// when the rows are read.
pub(crate) fn count(source: &Source) -> Result<u64, DataError> {
    let mut rows = Rows::open(source)?;
    let mut chunk = Chunk::default();
    let indices = |text: &[u8], _| {
        let mut lines = Vec::new();
        let line = |_, indices| {
            lines.push(indices);
            Some(())
        };
        common_lines(text, &positions(text, b':'), |_, _| Some(()), line).map(|()| lines)
    };
    while rows.block(usize::MAX, |text, number| Ok(indices(text, number)))?
        || rows.next(&mut chunk)?
    {
        chunk.truncate(0);
    }
    Ok(rows.facts.rows)
}

/// A file that is read once as a sequence of tables with the same number of rows each. The columns of a table are those
/// of all rows up to its end, because the largest index of the file is not known before.
pub(crate) struct Chunks<'s> {
    rows: Rows<'s>,
    size: usize,
    is_at_end: bool,
}

impl<'s> Chunks<'s> {
    /// Opens a file in chunks of `size` rows. All chunks have the columns up to the index `largest`, or more.
    pub(crate) fn open(
        source: &'s Source,
        size: usize,
        largest: u32,
    ) -> Result<Chunks<'s>, DataError> {
        let mut rows = Rows::open(source)?;
        rows.facts.largest = (largest > 0).then_some((largest, 1));
        Ok(Chunks { rows, size: size.max(1), is_at_end: false })
    }

    /// The largest index in the rows that have been read so far.
    pub(crate) fn largest(&self) -> u32 {
        self.rows.facts.largest.map_or(0, |(largest, _)| largest)
    }

    /// Notes on the rows that have been read so far.
    pub(crate) fn notes(&self) -> Vec<String> {
        self.rows.facts.notes(self.rows.source)
    }

    /// Reads the next rows. Returns `None` after the last row.
    fn read(&mut self) -> Result<Option<Frame>, DataError> {
        let source = self.rows.source;
        let taken = source.budget().taken();
        let mut chunk = Chunk::default();
        chunk.fill(&mut self.rows, self.size)?;
        if chunk.lines.is_empty() {
            return Ok(None);
        }
        let frame = chunk.frame(source, self.rows.facts.shape(source)?)?;
        // The caller drops a chunk before the next one is read, so the memory of the chunk is released here.
        source.budget().reset(taken);
        Ok(Some(frame))
    }
}

impl Iterator for Chunks<'_> {
    type Item = Result<Frame, DataError>;

    fn next(&mut self) -> Option<Result<Frame, DataError>> {
        if self.is_at_end {
            return None;
        }
        let chunk = self.read();
        self.is_at_end = !matches!(chunk, Ok(Some(_)));
        chunk.transpose()
    }
}

/// Reads the whole file and keeps the rows with the numbers `rows`, which are counted from 0 and must be ascending. The
/// table has the columns of the whole file.
pub(crate) fn select(source: &Source, rows: &[u64]) -> Result<Frame, DataError> {
    let mut reader = Rows::open(source)?;
    let mut chunk = Chunk::default();
    let mut wanted = rows.iter().peekable();
    loop {
        let (kept, first) = (chunk.lines.len(), reader.facts.rows);
        if !reader.take(&mut chunk, usize::MAX)? {
            let frame = chunk.frame(source, reader.facts.shape(source)?)?;
            return Ok(Frame { notes: reader.facts.notes(source), ..frame });
        }
        chunk.retain(kept, |row| wanted.next_if_eq(&&(first + (row - kept) as u64)).is_some());
    }
}

/// Consecutive rows that are in memory.
#[derive(Debug)]
struct Chunk {
    lines: Vec<u64>,
    codes: Vec<u32>,
    levels: Levels,
    starts: Vec<usize>,
    entries: Entries,
}

impl Default for Chunk {
    fn default() -> Chunk {
        Chunk {
            lines: Vec::new(),
            codes: Vec::new(),
            levels: Levels::default(),
            starts: vec![0],
            entries: Entries::default(),
        }
    }
}

impl Chunk {
    /// Reserves capacity for the entries of lines with this many bytes in total.
    fn reserve(&mut self, budget: &Budget, bytes: usize, lines: usize) -> Result<(), DataError> {
        let room = Entries::most(bytes);
        budget.grow(&mut self.entries.columns, room)?;
        budget.grow(&mut self.entries.values, room)?;
        budget.grow(&mut self.lines, lines)?;
        budget.grow(&mut self.codes, lines)?;
        budget.grow(&mut self.starts, lines)
    }

    /// Reads rows until there are `size` rows, or all rows of the file.
    fn fill(&mut self, rows: &mut Rows<'_>, size: usize) -> Result<(), DataError> {
        while self.lines.len() < size {
            let (read, most) = (self.lines.len(), size - self.lines.len());
            if !rows.take(self, most)? {
                break;
            }
            if read == 0 {
                self.reserve_like(rows.source, rows.lines.length, most);
            }
        }
        Ok(())
    }

    /// Reserves capacity for up to `most` rows like those of the chunk, if the budget allows this. The rows of the
    /// chunk were read from this many bytes.
    fn reserve_like(&mut self, source: &Source, bytes: usize, most: usize) {
        let (lines, entries) = (self.lines.len(), self.entries.values.len());
        let of_text = source.length().map_or(f64::INFINITY, |length| length as f64 / bytes as f64);
        let times = of_text.min(most as f64 / lines.max(1) as f64);
        let more = |count: usize| (count as f64 * times * (1.0 + 1.0 / 64.0)) as usize;
        // There is room for one more block, since capacity for a block is reserved before it is read.
        let (rows, cells) = (more(lines), more(entries).saturating_add(Entries::most(BLOCK)));
        let bytes = 20.0 * rows as f64 + 12.0 * cells as f64;
        if source.budget().take(bytes as u64).is_ok() {
            self.lines.reserve(rows);
            self.codes.reserve(rows);
            self.starts.reserve(rows);
            self.entries.columns.reserve(cells);
            self.entries.values.reserve(cells);
        }
    }

    /// Appends whole lines of the common form, the first of which has the number `number`. Returns `None` and appends
    /// nothing if a line does not have this form.
    fn append(&mut self, text: &[u8], number: u64) -> Option<Vec<Indices>> {
        let before = self.lines.len();
        let Chunk { lines, codes, levels, starts, entries } = self;
        let mut found = Vec::new();
        let all = entries.append_common(text, |label, count, indices| {
            lines.push(number + found.len() as u64);
            codes.push(levels.code(&plain_label(label)));
            starts.push(count);
            found.push(indices);
        });
        if all.is_none() {
            self.truncate(before);
        }
        all.map(|()| found)
    }

    /// Keeps the first `first` rows, and removes each later row for which `keep` returns `false`.
    fn retain(&mut self, first: usize, mut keep: impl FnMut(usize) -> bool) {
        let (mut kept, mut start) = (first, self.starts[first]);
        for row in first..self.lines.len() {
            let entries = start..self.starts[row + 1];
            start = entries.end;
            if keep(row) {
                let to = self.starts[kept];
                self.starts[kept + 1] = to + entries.len();
                self.entries.columns.copy_within(entries.clone(), to);
                self.entries.values.copy_within(entries, to);
                (self.lines[kept], self.codes[kept]) = (self.lines[row], self.codes[row]);
                kept += 1;
            }
        }
        self.truncate(kept);
    }

    /// Removes all rows except the first ones.
    fn truncate(&mut self, rows: usize) {
        self.lines.truncate(rows);
        self.codes.truncate(rows);
        self.starts.truncate(rows + 1);
        let end = self.starts[rows];
        self.entries.columns.truncate(end);
        self.entries.values.truncate(end);
    }

    fn frame(self, source: &Source, shape: Shape) -> Result<Frame, DataError> {
        let Chunk { lines, codes, levels, mut starts, entries } = self;
        let Entries { mut columns, mut values } = entries;
        let first = shape.first;
        columns.iter_mut().for_each(|column| *column -= first);
        shrink(&mut columns);
        shrink(&mut values);
        shrink(&mut starts);
        let points = SparsePoints::new(starts, columns, values, shape.dim)?;
        let label =
            Column { name: LABEL.to_owned(), values: Values::texts(codes, &levels.into_names()) };
        let block = Some(Block::Sparse(SparseBlock::new(points, "", first)));
        Ok(Frame { block, places: Places::lines(lines), ..Frame::new(source.name(), vec![label]) })
    }
}

/// Releases the spare capacity of a vector if it is large. Releasing a small spare capacity would mean moving the
/// memory of every chunk.
fn shrink<T>(items: &mut Vec<T>) {
    if items.capacity() - items.len() > items.len() / 16 {
        items.shrink_to_fit();
    }
}

/// The rows of a file.
struct Rows<'s> {
    source: &'s Source,
    lines: Lines<'s>,
    facts: Facts,
    /// Lines up to this one are read one by one, because one of them does not have the common form.
    unusual: u64,
}

/// Facts about the rows that have been read so far.
#[derive(Debug, Default)]
struct Facts {
    rows: u64,
    /// The largest index, with the first line in which it occurs.
    largest: Option<(u32, u64)>,
    /// The first line with an index 0.
    zero: Option<u64>,
    /// The first line with a query number (`qid`).
    query: Option<u64>,
    /// The first line whose indices are not ascending, and the number of such lines.
    sorted: Option<(u64, u64)>,
    /// The first line with an integer that was rounded.
    rounded: Option<u64>,
}

impl<'s> Rows<'s> {
    fn open(source: &'s Source) -> Result<Rows<'s>, DataError> {
        source.check_text()?;
        Ok(Rows { source, lines: Lines::open(source)?, facts: Facts::default(), unusual: 0 })
    }

    /// Appends at least one row and up to `most` rows to `chunk`. Returns `false` after the last row.
    fn take(&mut self, chunk: &mut Chunk, most: usize) -> Result<bool, DataError> {
        let source = self.source;
        let append = |text: &[u8], number| {
            chunk
                .reserve(source.budget(), text.len(), memchr_iter(b'\n', text).count())
                .map_err(|e| DataError::user(format!("{}, line {number}: {e}", source.name())))?;
            Ok(chunk.append(text, number))
        };
        Ok(self.block(most, append)? || self.next(chunk)?)
    }

    /// Reads complete lines with `read`, up to `most` of them, and notes their indices. `read` gets the lines and the
    /// number of the first one, and returns `None` if a line does not have the common form. Returns `false` if no line
    /// was read.
    fn block(
        &mut self,
        most: usize,
        read: impl FnOnce(&[u8], u64) -> Result<Option<Vec<Indices>>, DataError>,
    ) -> Result<bool, DataError> {
        let number = self.lines.number;
        if number < self.unusual {
            return Ok(false);
        }
        let mut text = self.lines.complete()?;
        if let Some(end) = memchr_iter(b'\n', text).nth(most.saturating_sub(1)) {
            text = &text[..=end];
        }
        let bytes = text.len();
        match read(text, number + 1)? {
            Some(lines) if !lines.is_empty() => {
                (number + 1..).zip(&lines).for_each(|(number, line)| self.facts.note(line, number));
                self.lines.pass(lines.len() as u64, bytes);
                Ok(true)
            }
            _ => {
                let count = memchr_iter(b'\n', self.lines.complete()?).count() as u64;
                self.unusual = number + count.max(1);
                Ok(false)
            }
        }
    }

    /// Appends the next row to `chunk`. Returns `false` after the last row.
    fn next(&mut self, chunk: &mut Chunk) -> Result<bool, DataError> {
        let budget = self.source.budget();
        while let Some(text) = self.lines.next()? {
            let room_of = text.len();
            let fault = |line: u64, what: String| {
                DataError::user(format!("{}, line {line}: {what}", self.source.name()))
            };
            let number = self.lines.number;
            chunk.reserve(budget, room_of, 1).map_err(|e| fault(number, e.to_string()))?;
            let text = self.lines.text()?;
            let line = chunk.entries.append(text).map_err(|what| fault(number, what))?;
            let Some(line) = line else { continue };
            self.facts.note(&line.indices, number);
            chunk.codes.push(chunk.levels.code(&plain_label(line.label)));
            chunk.lines.push(number);
            chunk.starts.push(chunk.entries.values.len());
            return Ok(true);
        }
        Ok(false)
    }
}

impl Facts {
    #[inline]
    fn note(&mut self, line: &Indices, number: u64) {
        self.rows += 1;
        if line.largest > self.largest.map(|(largest, _)| largest) {
            self.largest = line.largest.map(|largest| (largest, number));
        }
        if line.has_zero {
            self.zero.get_or_insert(number);
        }
        if line.has_query {
            self.query.get_or_insert(number);
        }
        if line.was_sorted {
            self.sorted.get_or_insert((number, 0)).1 += 1;
        }
        if line.was_rounded {
            self.rounded.get_or_insert(number);
        }
    }

    fn shape(&self, source: &Source) -> Result<Shape, DataError> {
        let name = source.name();
        let first = u32::from(self.zero.is_none());
        let (largest, line) = self.largest.unwrap_or((first, 1));
        let dim = (largest.max(first) - first) as usize + 1;
        source.budget().take_columns(dim).map_err(|e| {
            DataError::user(format!(
                "{name}, line {line}: index {largest} is too large, because a model keeps about 100 bytes for each column: {e}"
            ))
        })?;
        Ok(Shape { first, dim })
    }

    /// Notes on decisions that could be wrong.
    fn notes(&self, source: &Source) -> Vec<String> {
        let name = source.name();
        let mut notes = Vec::new();
        if let Some(line) = self.zero {
            notes.push(format!(
                "{name}: indices start at 0, because index 0 occurs on line {line}; columns are named 0, 1, .."
            ));
        }
        if let Some(line) = self.query {
            notes.push(format!("{name}: query numbers (`qid:`, first on line {line}) are ignored"));
        }
        if let Some((line, count)) = self.sorted {
            notes.push(format!(
                "{name}: the indices of {count} rows are not ascending, first on line {line}; their entries were sorted"
            ));
        }
        if let Some(line) = self.rounded {
            notes.push(format!(
                "{name}, line {line}: an integer has more digits than a 64-bit float can represent and is rounded, as are other \
                 integers beyond 2^53 in the file"
            ));
        }
        notes
    }
}

/// The lines of a text. Only the current line is in memory.
struct Lines<'s> {
    source: &'s Source,
    reader: Box<dyn BufRead + 's>,
    /// The number of the current line, counted from 1.
    number: u64,
    /// A copy of the current line, if the reader's buffer did not contain the whole line.
    copied: Option<Vec<u8>>,
    /// The length in bytes of the current line in the reader's buffer, including its end.
    length: usize,
}

impl<'s> Lines<'s> {
    fn open(source: &'s Source) -> Result<Lines<'s>, DataError> {
        let mut reader = source.decompressed()?;
        if has_old_line_ends(source.head()) {
            reader = Box::new(OldLineEnds { reader, converted: Vec::new(), used: 0 });
        }
        let start = reader.fill_buf().map_err(|e| source.failed(&e))?;
        let mark = if start.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        reader.consume(mark);
        Ok(Lines { source, reader, number: 0, copied: None, length: 0 })
    }

    /// Advances to the next line and returns it without its line end. Returns `None` after the last line.
    fn next(&mut self) -> Result<Option<&[u8]>, DataError> {
        self.reader.consume(std::mem::take(&mut self.length));
        self.copied = None;
        let buffer = self.reader.fill_buf().map_err(|e| self.source.failed(&e))?;
        if buffer.is_empty() {
            return Ok(None);
        }
        self.number += 1;
        match memchr(b'\n', buffer) {
            Some(end) => self.length = end + 1,
            None => self.copied = Some(self.copy_line()?),
        }
        self.text().map(Some)
    }

    /// Complete lines after the current one, up to [`BLOCK`] bytes. There may be none.
    fn complete(&mut self) -> Result<&[u8], DataError> {
        self.reader.consume(std::mem::take(&mut self.length));
        self.copied = None;
        let buffer = self.reader.fill_buf().map_err(|e| self.source.failed(&e))?;
        let block = &buffer[..buffer.len().min(BLOCK)];
        Ok(memrchr(b'\n', block).map_or(&[], |end| &block[..=end]))
    }

    /// Skips complete lines with this many bytes.
    fn pass(&mut self, lines: u64, bytes: usize) {
        self.number += lines;
        self.length = bytes;
    }

    /// The current line without its end.
    fn text(&mut self) -> Result<&[u8], DataError> {
        let text = match &self.copied {
            Some(line) => line,
            // The buffer still contains the line, so nothing is read here.
            None => &self.reader.fill_buf().map_err(|e| self.source.failed(&e))?[..self.length],
        };
        Ok(text.strip_suffix(b"\n").unwrap_or(text))
    }

    /// Copies a line whose end is not in the buffer.
    fn copy_line(&mut self) -> Result<Vec<u8>, DataError> {
        let mut line = Vec::new();
        loop {
            let buffer = self.reader.fill_buf().map_err(|e| self.source.failed(&e))?;
            let end = memchr(b'\n', buffer);
            let used = end.map_or(buffer.len(), |end| end + 1);
            line.extend_from_slice(&buffer[..used]);
            self.reader.consume(used);
            if end.is_some() || used == 0 {
                return Ok(line);
            }
            if line.len() as u64 > self.source.max_line() {
                return Err(DataError::user(format!(
                    "{}, line {}: the line is longer than {}; the line ends are missing, or the file is not a table",
                    self.source.name(),
                    self.number,
                    crate::budget::shown(self.source.max_line())
                )));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_linalg::PointSet;
    use proptest::prelude::*;

    fn source(text: &str) -> Source {
        Source::of_bytes("t", text.as_bytes().to_vec(), Budget::new(1 << 24)).unwrap()
    }

    fn block(frame: &Frame) -> &SparseBlock {
        match frame.block.as_ref().unwrap() {
            Block::Sparse(block) => block,
            Block::Dense { .. } => panic!("a sparse block"),
        }
    }

    #[test]
    fn indices_from_zero_keep_their_names() {
        let from_zero = read(&source("1 0:5 2:6\n-1 1:7\n")).unwrap();
        assert_eq!((block(&from_zero).first(), from_zero.column_count()), (0, 4));
        assert!(from_zero.notes[0].contains("start at 0") && from_zero.notes[0].contains("line 1"));
        let from_one = read(&source("1 1:5 2:6\n-1 1:7\n")).unwrap();
        assert_eq!((block(&from_one).first(), from_one.column_count()), (1, 3));
        assert!(from_one.notes.is_empty());
        // The same index gives the same column name in both files.
        assert_eq!(from_zero.column("1").unwrap().text(1), "7");
        assert_eq!(from_one.column("1").unwrap().text(1), "7");
        assert!(from_zero.has("0") && !from_one.has("0"));
    }

    /// Rounded integers are noted, and labels are numbers in any spelling.
    #[test]
    fn numbers_are_noted_and_spelled_as_in_other_files() {
        let common = "1 1:9007199254740993\n-1 1:2\n";
        let unusual = "1 1:9007199254740993 # a comment\n-1 1:2\n";
        for text in [common, unusual] {
            let notes = read(&source(text)).unwrap().notes;
            assert!(notes[0].starts_with("t, line 1: an integer has more digits"), "{notes:?}");
        }
        let exact = "1 1:9007199254740992\n-1 1:9007199254740993.5\n";
        assert_eq!(read(&source(exact)).unwrap().notes, [""; 0]);
        let frame = read(&source("1e0 1:1\n-01 1:2\n+1 1:3 #\n0.5 1:1\n00 1:1\n")).unwrap();
        let labels: Vec<String> = (0..5).map(|row| frame.columns[0].values.text(row)).collect();
        assert_eq!(labels, ["1", "-1", "+1", "0.5", "0"]);
        let error = read(&source("1 99999999999999999999:1\n")).unwrap_err().to_string();
        assert!(error.contains("index 99999999999999999999 is larger than"), "{error}");
    }

    #[test]
    fn rows_without_entries_stay() {
        let frame = read(&source("1\n-1\n1 3:2\n# end\n\n-1 #\n")).unwrap();
        assert_eq!((frame.rows, frame.place(3)), (4, "t, line 6".to_owned()));
        let empty = read(&source("1\n0\n")).unwrap();
        assert_eq!((empty.rows, block(&empty).points().len()), (2, 2));
    }

    /// Lines that end with a carriage return only are read as in CSV files, also in blocks.
    #[test]
    fn carriage_returns_end_lines() {
        let text = "1 1:0.5 3:2\n-1 2:1\n\n1 3:4\n".repeat(20);
        let (new, old) = (source(&text), source(&text.replace('\n', "\r")));
        let whole = read(&new).unwrap();
        let found = read(&old).unwrap();
        assert_eq!((&found.columns, &found.block), (&whole.columns, &whole.block));
        assert_eq!((found.rows, found.place(4)), (60, whole.place(4)));
        assert_eq!((count(&old).unwrap(), count(&new).unwrap()), (60, 60));
    }

    #[test]
    fn chunks_are_the_parts_of_the_table() {
        let long = "7:1 ".to_owned() + &(8..40_000).map(|i| format!("{i}:1 ")).collect::<String>();
        let text = format!("\u{feff}1 2:1 0:3\n-1\r\n0 {long}\n\n1 qid:1 3:4\n1 3:5");
        let source = source(&text);
        let whole = read(&source).unwrap();
        assert_eq!(whole.notes.len(), 3);
        assert_eq!((count(&source).unwrap(), block(&whole).points().dim()), (5, 40_000));
        for (size, largest) in [(1, 0), (2, 7), (3, 39_999), (5, 0), (100, 0)] {
            let mut chunks = Chunks::open(&source, size, largest).unwrap();
            let parts: Vec<Frame> = chunks.by_ref().map(Result::unwrap).collect();
            assert_eq!((chunks.notes(), chunks.largest()), (whole.notes.clone(), 39_999));
            let mut dim = largest as usize + 1;
            let mut row = 0;
            for part in &parts {
                for i in 0..part.rows {
                    assert_eq!(part.place(i), whole.place(row));
                    let label = |frame: &Frame, row| frame.columns[0].values.text(row);
                    assert_eq!(label(part, i), label(&whole, row));
                    let entries = |frame: &Frame, row| frame.block.as_ref().unwrap().entries(row);
                    assert_eq!(entries(part, i), entries(&whole, row));
                    let last = entries(part, i).last().map_or(0, |(column, _)| column + 1);
                    dim = dim.max(last);
                    row += 1;
                }
                // The columns are those of all rows so far.
                assert_eq!(block(part).points().dim(), dim);
            }
            assert_eq!((row, parts.len()), (5, 5usize.div_ceil(size)));
        }
        let some = select(&source, &[1, 2, 4]).unwrap();
        let rows = whole.select_rows(&[1, 2, 4]);
        assert_eq!((some.block, some.places, some.notes), (rows.block, rows.places, whole.notes));
    }

    #[test]
    fn a_large_index_is_refused_where_memory_is_short() {
        let error = read(&source("0 1:1\n1 134217728:1\n")).unwrap_err().to_string();
        assert!(error.starts_with("t, line 2: index 134217728 is too large"), "{error}");
        let error = read(&source("1 1:1\n1 2:1 2:2\n")).unwrap_err().to_string();
        assert!(error.starts_with("t, line 2: index 2 occurs twice"), "{error}");
    }

    #[test]
    fn a_line_without_end_is_an_error() {
        let text = "1 ".to_owned() + &"1:1 ".repeat(1 << 20);
        let source = Source::of_bytes("t", text.into_bytes(), Budget::new(1 << 22)).unwrap();
        let error = read(&source).unwrap_err().to_string();
        assert!(error.contains("line 1: the line is longer than 524.3 kB"), "{error}");
    }

    proptest! {
        #[test]
        fn blocks_chunks_and_selected_rows_equal_the_lines_one_by_one(
            lines in prop::collection::vec(
                prop_oneof![
                    9 => "[0-9]( [1-9][0-9]{0,2}:[-]?[1-9][.]?[0-9]{0,9}){0,1}",
                    1 => prop_oneof!["# note", "", " 1 2:3 1:4", "1 qid:1 2:3 # 4:4", "1 0:5\r", "1 2:0  7:1"],
                ],
                1..30,
            ),
            size in 1..7usize,
            every in 1..4usize,
            is_ended: bool,
        ) {
            prop_assume!(lines != [""]);
            let mut text = lines.join("\n");
            if is_ended {
                text.push('\n');
            }
            let (mut entries, mut starts, mut numbers, mut labels) = (Entries::default(), vec![0], vec![], vec![]);
            let mut facts = Facts::default();
            for (line, number) in lines.iter().zip(1..) {
                if let Some(line) = entries.append(line.as_bytes()).unwrap() {
                    facts.note(&line.indices, number);
                    starts.push(entries.values.len());
                    numbers.push(number);
                    labels.push(line.label.to_owned());
                }
            }
            let source = Source::of_bytes("t", text.into_bytes(), Budget::new(1 << 26)).unwrap();
            let shape = facts.shape(&source).unwrap();
            prop_assert_eq!(count(&source).unwrap(), facts.rows);
            let rows = |frame: &Frame| -> Vec<_> {
                (0..frame.rows)
                    .map(|row| {
                        let entries = frame.block.as_ref().unwrap().entries(row);
                        (frame.place(row), frame.columns[0].values.text(row), entries)
                    })
                    .collect()
            };
            let whole = read(&source).unwrap();
            let found = rows(&whole);
            prop_assert_eq!(found.len(), numbers.len());
            for (at, (place, label, row)) in found.iter().enumerate() {
                prop_assert_eq!(place, &format!("t, line {}", numbers[at]));
                prop_assert_eq!(label, &labels[at]);
                let expected: Vec<(usize, f64)> = (starts[at]..starts[at + 1])
                    .map(|entry| ((entries.columns[entry] - shape.first) as usize, entries.values[entry]))
                    .collect();
                prop_assert_eq!(row, &expected);
            }
            // A row names its columns by their indices, because the first index can be 0 only in later chunks.
            let named = |frame: &Frame| -> Vec<_> {
                let first = block(frame).first() as usize;
                let by_index = |entries: Vec<(usize, f64)>| -> Vec<_> {
                    entries.into_iter().map(|(column, value)| (column + first, value)).collect()
                };
                rows(frame).into_iter().map(|(place, label, row)| (place, label, by_index(row))).collect()
            };
            let parts = Chunks::open(&source, size, 0).unwrap();
            let parts: Vec<_> = parts.flat_map(|part| named(&part.unwrap())).collect();
            prop_assert_eq!(&parts, &named(&whole));
            let wanted: Vec<u64> = (0..found.len() as u64).step_by(every).collect();
            let expected: Vec<_> = found.iter().step_by(every).cloned().collect();
            prop_assert_eq!(rows(&select(&source, &wanted).unwrap()), expected);
        }
    }
}
