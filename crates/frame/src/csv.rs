//! Tables of text: cells between delimiters, quoted where need be.

use crate::csv_columns::{Built, ColumnBuilder};
use crate::csv_layout::{self};
use crate::error::DataError;
use crate::frame::{Frame, Places, Remark};
use crate::options::{Format, Hints, ReadOptions};
use crate::source::Source;
use crate::typing::{Context, Expected, RawColumn, Typed, understand};
use ::csv::{ByteRecord, Reader, ReaderBuilder, Trim};
use std::collections::{BTreeMap, BTreeSet};
use std::io::BufRead;

/// Rows looked at to tell a header from data.
const SAMPLE: usize = 100;

/// How a file is laid out.
struct Layout {
    /// Decisions that could be wrong.
    notes: Vec<String>,
    delimiter: u8,
    names: Vec<String>,
    header: bool,
}

/// Reads a table.
pub(crate) fn read(
    source: &Source,
    format: Format,
    reading: &ReadOptions,
    hints: &Hints,
) -> Result<Frame, DataError> {
    source.check_text()?;
    let layout = layout(source, format, reading, hints)?;
    let mut frame = read_rows(source, &layout, reading, hints, None)?;
    frame.notes.extend(layout.notes.iter().cloned());
    if layout.header && frame.columns.len() > 1 && frame.columns[0].name.is_empty() {
        frame
            .notes
            .push(format!("{}: the first column has no name: an index, left out", source.name()));
        frame.columns.remove(0);
        frame.records.remove(0);
    }
    Ok(frame)
}

fn layout(
    source: &Source,
    format: Format,
    reading: &ReadOptions,
    hints: &Hints,
) -> Result<Layout, DataError> {
    let delimiter = match (reading.delimiter, format) {
        (Some(delimiter), _) => delimiter,
        (None, Format::Tsv) => b'\t',
        (None, _) => csv_layout::delimiter(source.head()),
    };
    let mut reader = reader(source, delimiter)?;
    let mut rows: Vec<Vec<Vec<u8>>> = Vec::new();
    let mut record = ByteRecord::new();
    while rows.len() < SAMPLE && next(&mut reader, &mut record, source)? {
        rows.push(record.iter().map(<[u8]>::to_vec).collect());
    }
    let Some(first) = rows.first() else {
        return Err(DataError::user(format!("{}: the file has no rows", source.name())));
    };
    let expected = hints.header(first);
    let header = reading.header.or(expected).unwrap_or_else(|| csv_layout::has_header(&rows));
    let mut notes = Vec::new();
    let names = if header {
        let name = |cell: &Vec<u8>| {
            String::from_utf8(cell.clone()).map_err(|_| {
                let source = source.name();
                DataError::user(format!(
                    "{source}, line 1: a name is not UTF-8 text; save the file as UTF-8"
                ))
            })
        };
        first.iter().map(name).collect::<Result<_, _>>()?
    } else {
        if reading.header.is_none() && expected.is_none() {
            notes.push(format!(
                "{}: the first line is read as data, columns are named c1 to c{}; --header if it holds names",
                source.name(),
                first.len()
            ));
        }
        (1..=first.len()).map(|i| format!("c{i}")).collect()
    };
    Ok(Layout { notes, delimiter, names, header })
}

fn reader(source: &Source, delimiter: u8) -> Result<Reader<Box<dyn BufRead + '_>>, DataError> {
    let mut bytes = source.reader()?;
    let start = bytes.fill_buf().map_err(|e| source.failed(&e))?;
    if start.starts_with(b"\xef\xbb\xbf") {
        bytes.consume(3);
    }
    let mut builder = ReaderBuilder::new();
    builder.delimiter(delimiter).has_headers(false).flexible(true).trim(Trim::All);
    Ok(builder.from_reader(bytes))
}

/// The next row that is not empty.
fn next<R: BufRead>(
    reader: &mut Reader<R>,
    record: &mut ByteRecord,
    source: &Source,
) -> Result<bool, DataError> {
    loop {
        match reader.read_byte_record(record) {
            Ok(true) if record.len() == 1 && record[0].is_empty() => {}
            Ok(more) => return Ok(more),
            Err(error) => {
                return Err(match error.into_kind() {
                    ::csv::ErrorKind::Io(e) => source.failed(&e),
                    other => DataError::user(format!("{}: {other:?}", source.name())),
                });
            }
        }
    }
}

/// All rows, or those numbered `only`, in order.
fn read_rows(
    source: &Source,
    layout: &Layout,
    reading: &ReadOptions,
    hints: &Hints,
    only: Option<&[u64]>,
) -> Result<Frame, DataError> {
    // Twice if there are words below numbers, and once more if points turn out to stand between thousands.
    const READINGS: usize = 3;
    let mut words = BTreeSet::new();
    let mut last = String::new();
    for _ in 0..READINGS {
        match Rows::open(source, layout)?.take(reading, hints, &words, usize::MAX, only)? {
            Outcome::Frame(frame) => return Ok(*frame),
            Outcome::Words(columns) => {
                last = columns.keys().next().cloned().unwrap_or_default();
                words.extend(columns.into_keys());
            }
        }
    }
    let name = source.name();
    Err(DataError::user(format!(
        "{name}: the file changed while it was read (column `{last}`); try again"
    )))
}

/// A file that is read more than once, in parts.
pub(crate) struct Stream<'s> {
    source: &'s Source,
    layout: Layout,
    reading: &'s ReadOptions,
    hints: &'s Hints,
}

impl<'s> Stream<'s> {
    /// Looks at the first rows.
    pub(crate) fn open(
        source: &'s Source,
        format: Format,
        reading: &'s ReadOptions,
        hints: &'s Hints,
    ) -> Result<Stream<'s>, DataError> {
        source.check_text()?;
        Ok(Stream { source, layout: layout(source, format, reading, hints)?, reading, hints })
    }

    /// The number of columns, an index included.
    pub(crate) fn column_count(&self) -> usize {
        self.layout.names.len()
    }

    /// The number of rows.
    pub(crate) fn count(&self) -> Result<u64, DataError> {
        let mut rows = Rows::open(self.source, &self.layout)?;
        while next(&mut rows.reader, &mut rows.record, self.source)? {
            rows.taken += 1;
        }
        Ok(rows.taken)
    }

    /// The rows numbered `rows`, which rise.
    pub(crate) fn rows(&self, rows: &[u64]) -> Result<Frame, DataError> {
        read_rows(self.source, &self.layout, self.reading, self.hints, Some(rows))
    }

    /// All rows, `size` at a time.
    pub(crate) fn chunks(
        &self,
        size: usize,
    ) -> Result<impl Iterator<Item = Result<Frame, DataError>>, DataError> {
        let mut rows = Rows::open(self.source, &self.layout)?;
        let none = BTreeSet::new();
        Ok(std::iter::from_fn(move || {
            let chunk = rows.take(self.reading, self.hints, &none, size, None);
            match chunk {
                Err(error) => Some(Err(error)),
                Ok(Outcome::Frame(frame)) if frame.rows == 0 => None,
                Ok(Outcome::Frame(frame)) => Some(Ok(*frame)),
                Ok(Outcome::Words(columns)) => {
                    let (name, (line, cell)) = columns.into_iter().next()?;
                    let place = format!("{}, line {line}, column `{name}`", self.source.name());
                    let message =
                        format!("{place}: `{cell}` is not a number, as the cells before it are");
                    let advice = format!("fix it, or say --category '{name}'");
                    Some(Err(DataError::user(format!("{message}; {advice}"))))
                }
            }
        }))
    }
}

enum Outcome {
    Frame(Box<Frame>),
    /// There are words in these columns, in this line the first, which must be read as texts from the start.
    Words(BTreeMap<String, (u64, String)>),
}

/// The rows of a file, one after the other.
struct Rows<'s> {
    source: &'s Source,
    layout: &'s Layout,
    reader: Reader<Box<dyn BufRead + 's>>,
    record: ByteRecord,
    /// Rows read.
    taken: u64,
}

impl<'s> Rows<'s> {
    fn open(source: &'s Source, layout: &'s Layout) -> Result<Rows<'s>, DataError> {
        let mut reader = reader(source, layout.delimiter)?;
        let mut record = ByteRecord::new();
        if layout.header {
            next(&mut reader, &mut record, source)?;
        }
        Ok(Rows { source, layout, reader, record, taken: 0 })
    }

    /// The next `most` rows, or as far as there are; of these the ones numbered `only`.
    fn take(
        &mut self,
        reading: &ReadOptions,
        hints: &Hints,
        words: &BTreeSet<String>,
        most: usize,
        only: Option<&[u64]>,
    ) -> Result<Outcome, DataError> {
        let Rows { source, layout, reader, record, taken } = self;
        let expected = |name: &String| Expected::of(name, hints);
        let expected: Vec<Expected> = layout.names.iter().map(expected).collect();
        let builder = |(name, expected): (&String, &Expected)| {
            ColumnBuilder::new(
                words.contains(name) || expected.needs_texts(),
                expected.markers(reading),
            )
        };
        let mut builders: Vec<ColumnBuilder> =
            layout.names.iter().zip(&expected).map(builder).collect();
        let mut lines = Vec::new();
        let mut wanted = only.map(|rows| rows.iter().copied().peekable());
        while lines.len() < most && next(reader, record, source)? {
            let number = *taken;
            *taken += 1;
            if let Some(wanted) = &mut wanted
                && wanted.next_if_eq(&number).is_none()
            {
                continue;
            }
            let line = record.position().map_or(0, ::csv::Position::line);
            if record.len() != layout.names.len() {
                return Err(wrong_length(source, layout, line, record, reader));
            }
            lines.push(line);
            for ((cell, builder), name) in record.iter().zip(&mut builders).zip(&layout.names) {
                builder.push(cell).map_err(|_| {
                    let place = format!("{}, line {line}, column `{name}`", source.name());
                    DataError::user(format!("{place}: not UTF-8 text; save the file as UTF-8"))
                })?;
            }
        }
        let (mut of_words, mut remarks, mut columns) = (BTreeMap::new(), Vec::new(), Vec::new());
        for ((builder, name), expected) in builders.into_iter().zip(&layout.names).zip(expected) {
            match builder.finish() {
                Built::Cells { cells, rounded } => {
                    if let Some((row, cell)) = rounded {
                        remarks.push((name.clone(), Remark::Rounded { row, cell }));
                    }
                    columns.push(RawColumn { name: name.clone(), cells, expected });
                }
                Built::Words { row, cell } => {
                    of_words.insert(name.clone(), (lines[row], cell));
                }
            }
        }
        if !of_words.is_empty() {
            return Ok(Outcome::Words(of_words));
        }
        let place = |row: usize| {
            format!("{}, line {}", source.name(), lines.get(row).copied().unwrap_or(0))
        };
        let context = Context {
            source: source.name(),
            place: &place,
            options: reading,
            delimiter: Some(layout.delimiter),
        };
        let Typed { columns, records, again } = understand(columns, &context)?;
        if !again.is_empty() {
            let line = lines.first().copied().unwrap_or(0);
            let words =
                again.into_iter().map(|at| (layout.names[at].clone(), (line, String::new())));
            return Ok(Outcome::Words(words.collect()));
        }
        let frame = Frame::new(source.name(), columns);
        let frame =
            Frame { rows: lines.len(), places: Places::lines(lines), remarks, records, ..frame };
        Ok(Outcome::Frame(Box::new(frame)))
    }
}

fn wrong_length<R: BufRead>(
    source: &Source,
    layout: &Layout,
    line: u64,
    record: &ByteRecord,
    reader: &Reader<R>,
) -> DataError {
    let (found, expected) = (record.len(), layout.names.len());
    let end = reader.position().line();
    let advice = if end > line + 2 {
        format!("a quote that is opened there is closed in line {end} or not at all")
    } else {
        "quote cells that contain the delimiter, or name it with --delimiter".to_owned()
    };
    let what = if layout.header { "the header has" } else { "the first line has" };
    let cells = if found == 1 { "cell" } else { "cells" };
    let name = source.name();
    DataError::user(format!(
        "{name}, line {line}: {found} {cells}, but {what} {expected}; {advice}"
    ))
}
