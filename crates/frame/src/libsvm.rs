//! Reads LIBSVM files, which consist of lines `label index:value index:value ..`. Absent entries are zero.
//!
//! The name of a column is its index in the file. Indices are counted from 1, or from 0 if an index 0 occurs, as in
//! files written by scikit-learn. An index gives the same name in both cases, so a file without the index 0 is
//! consistent with a model that was fitted to a file with this index. An entry takes 12 bytes of memory.

use crate::block::{Block, SparseBlock};
use crate::error::DataError;
use crate::frame::{Column, Frame, Places};
use crate::levels::Levels;
use crate::libsvm_line::{Entries, Line};
use crate::source::Source;
use crate::values::Values;
use halfspaces_linalg::SparsePoints;
use memchr::memchr;
use std::io::BufRead;

/// The name of the label column.
pub(crate) const LABEL: &str = "label";

/// The rows and columns of a file, which are determined in a pass over all rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shape {
    /// The number of rows.
    pub(crate) rows: u64,
    /// The first index, which is 0 if an index 0 occurs and 1 otherwise.
    pub(crate) first: u32,
    /// The number of columns, which is at least 1.
    pub(crate) dim: usize,
    /// Notes on decisions that could be wrong.
    pub(crate) notes: Vec<String>,
}

/// Reads a table. The columns are `label` and `1`, `2`, .. up to the largest index.
pub(crate) fn read(source: &Source) -> Result<Frame, DataError> {
    let mut rows = Rows::open(source)?;
    let mut chunk = Chunk::default();
    while rows.next(&mut chunk)? {}
    let shape = rows.facts.shape(source)?;
    let frame = chunk.frame(source, &shape)?;
    Ok(Frame { notes: shape.notes, ..frame })
}

/// Determines the rows and columns of a file in one pass. Only one line is in memory at a time.
pub(crate) fn scan(source: &Source) -> Result<Shape, DataError> {
    let mut rows = Rows::open(source)?;
    let mut chunk = Chunk::default();
    while rows.next(&mut chunk)? {
        chunk.clear();
    }
    rows.facts.shape(source)
}

/// Reads a file as a sequence of tables with `size` rows each. All tables have the columns of `shape`, which [`scan`]
/// returned.
pub(crate) fn chunks(
    source: &Source,
    shape: Shape,
    size: usize,
) -> Result<impl Iterator<Item = Result<Frame, DataError>>, DataError> {
    let mut rows = Some(Rows::open(source)?);
    Ok(std::iter::from_fn(move || {
        let chunk = next_chunk(source, rows.as_mut()?, &shape, size.max(1));
        if !matches!(chunk, Ok(Some(_))) {
            rows = None;
        }
        chunk.transpose()
    }))
}

/// Reads up to `size` rows. Returns `None` after the last row.
fn next_chunk(
    source: &Source,
    rows: &mut Rows<'_>,
    shape: &Shape,
    size: usize,
) -> Result<Option<Frame>, DataError> {
    let taken = source.budget().taken();
    let mut chunk = Chunk::default();
    while chunk.lines.len() < size && rows.next(&mut chunk)? {}
    if chunk.lines.is_empty() {
        return Ok(None);
    }
    let frame = chunk.frame(source, shape)?;
    // The caller drops a chunk before the next one is read, so the memory of the chunk is released here.
    source.budget().reset(taken);
    Ok(Some(frame))
}

/// Reads the rows with the numbers `rows`, which are counted from 0 and must be ascending. The table has the columns of
/// `shape`.
pub(crate) fn select(source: &Source, shape: &Shape, rows: &[u64]) -> Result<Frame, DataError> {
    let mut reader = Rows::open(source)?;
    let mut chunk = Chunk::default();
    let mut wanted = rows.iter().peekable();
    let mut at = 0;
    while wanted.peek().is_some() && reader.next(&mut chunk)? {
        if wanted.next_if_eq(&&at).is_none() {
            chunk.remove_last();
        }
        at += 1;
    }
    chunk.frame(source, shape)
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
    fn clear(&mut self) {
        self.lines.clear();
        self.codes.clear();
        self.starts.truncate(1);
        self.entries.columns.clear();
        self.entries.values.clear();
    }

    fn remove_last(&mut self) {
        self.lines.pop();
        self.codes.pop();
        self.starts.pop();
        let end = self.starts.last().copied().unwrap_or(0);
        self.entries.columns.truncate(end);
        self.entries.values.truncate(end);
    }

    fn frame(self, source: &Source, shape: &Shape) -> Result<Frame, DataError> {
        let Chunk { lines, codes, levels, mut starts, entries } = self;
        let Entries { mut columns, mut values } = entries;
        let first = shape.first;
        columns.iter_mut().for_each(|column| *column -= first);
        columns.shrink_to_fit();
        values.shrink_to_fit();
        starts.shrink_to_fit();
        let points = SparsePoints::new(starts, columns, values, shape.dim)?;
        let label =
            Column { name: LABEL.to_owned(), values: Values::texts(codes, &levels.into_names()) };
        let block = Some(Block::Sparse(SparseBlock::new(points, "", first)));
        Ok(Frame { block, places: Places::lines(lines), ..Frame::new(source.name(), vec![label]) })
    }
}

/// The rows of a file, one at a time.
struct Rows<'s> {
    source: &'s Source,
    lines: Lines<'s>,
    facts: Facts,
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
}

impl<'s> Rows<'s> {
    fn open(source: &'s Source) -> Result<Rows<'s>, DataError> {
        source.check_text()?;
        Ok(Rows { source, lines: Lines::open(source)?, facts: Facts::default() })
    }

    /// Appends the next row to `chunk`. Returns `false` after the last row.
    fn next(&mut self, chunk: &mut Chunk) -> Result<bool, DataError> {
        let budget = self.source.budget();
        while let Some(text) = self.lines.next()? {
            let room = Entries::most(text.len());
            let fault = |line: u64, what: String| {
                DataError::user(format!("{}, line {line}: {what}", self.source.name()))
            };
            let number = self.lines.number;
            budget
                .grow(&mut chunk.entries.columns, room)
                .and_then(|()| budget.grow(&mut chunk.entries.values, room))
                .and_then(|()| budget.grow(&mut chunk.starts, 1))
                .map_err(|e| fault(number, e.to_string()))?;
            let text = self.lines.text()?;
            let line = chunk.entries.append(text).map_err(|what| fault(number, what))?;
            let Some(line) = line else { continue };
            self.facts.note(&line, number);
            chunk.codes.push(chunk.levels.code(line.label));
            chunk.lines.push(number);
            chunk.starts.push(chunk.entries.values.len());
            return Ok(true);
        }
        Ok(false)
    }
}

impl Facts {
    #[inline]
    fn note(&mut self, line: &Line<'_>, number: u64) {
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
        Ok(Shape { rows: self.rows, first, dim, notes })
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
        let start = reader.fill_buf().map_err(|e| source.failed(&e))?;
        let mark = if start.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        reader.consume(mark);
        Ok(Lines { source, reader, number: 0, copied: None, length: 0 })
    }

    /// Advances to the next line and returns it without its end. Returns `None` after the last line.
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
    use crate::budget::Budget;
    use halfspaces_linalg::PointSet;

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

    #[test]
    fn rows_without_entries_stay() {
        let frame = read(&source("1\n-1\n1 3:2\n# end\n\n-1 #\n")).unwrap();
        assert_eq!((frame.rows, frame.place(3)), (4, "t, line 6".to_owned()));
        let empty = read(&source("1\n0\n")).unwrap();
        assert_eq!((empty.rows, block(&empty).points().len()), (2, 2));
    }

    #[test]
    fn chunks_are_the_parts_of_the_table() {
        let long = "7:1 ".to_owned() + &(8..40_000).map(|i| format!("{i}:1 ")).collect::<String>();
        let text = format!("\u{feff}1 2:1 0:3\n-1\r\n0 {long}\n\n1 qid:1 3:4\n1 3:5");
        let source = source(&text);
        let whole = read(&source).unwrap();
        assert_eq!(whole.notes.len(), 3);
        let shape = scan(&source).unwrap();
        assert_eq!((shape.rows, shape.dim, &shape.notes), (5, 40_000, &whole.notes));
        for size in [1, 2, 3, 5, 100] {
            let parts: Vec<Frame> =
                chunks(&source, shape.clone(), size).unwrap().map(Result::unwrap).collect();
            let mut row = 0;
            for part in &parts {
                for i in 0..part.rows {
                    assert_eq!(part.place(i), whole.place(row));
                    let label = |frame: &Frame, row| frame.columns[0].values.text(row);
                    assert_eq!(label(part, i), label(&whole, row));
                    let entries = |frame: &Frame, row| frame.block.as_ref().unwrap().entries(row);
                    assert_eq!(entries(part, i), entries(&whole, row));
                    row += 1;
                }
                assert_eq!(block(part).points().dim(), 40_000);
            }
            assert_eq!((row, parts.len()), (5, 5usize.div_ceil(size)));
        }
        let some = select(&source, &shape, &[1, 2, 4]).unwrap();
        let rows = whole.select_rows(&[1, 2, 4]);
        assert_eq!((some.block, some.places), (rows.block, rows.places));
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
}
