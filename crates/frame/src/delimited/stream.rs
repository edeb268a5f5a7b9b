//! Reads a text in chunks, several times if necessary, always with the same layout.

use super::checks::{add_notes, check_rows};
use super::columns::{Columns, Outcome};
use super::encoding::{self, Encoded};
use super::foreign;
use super::layout::{self, Layout};
use super::plain::{self, Plan, Request, TakeResult};
use super::records::Records;
use super::rows::{Rows, Tally};
use super::text::{LONGEST_SAMPLE, SAMPLE, SAMPLE_LINES, find_encoding, sample};
use super::{Wanted, read_columns};
use crate::error::DataError;
use crate::frame::Frame;
use crate::options::{Format, Hints, Ragged, ReadOptions};
use crate::source::Source;
use halfspaces_linalg::Threads;
use std::collections::BTreeSet;
use std::io::Read;

/// A text that is read in chunks.
pub(crate) struct Stream<'s> {
    source: &'s Source,
    encoded: Encoded,
    layout: Layout,
    options: &'s ReadOptions,
    hints: &'s Hints,
}

impl<'s> Stream<'s> {
    /// Opens a text and detects its layout from the first rows.
    pub(crate) fn open(
        source: &'s Source,
        format: Format,
        options: &'s ReadOptions,
        hints: &'s Hints,
    ) -> Result<Stream<'s>, DataError> {
        let mut bytes = Vec::new();
        let mut reader = source.reader()?;
        let mut wanted = SAMPLE;
        let mut complete = false;
        while !complete && bytes.len() < LONGEST_SAMPLE {
            let room = (wanted - bytes.len()) as u64;
            let read = reader.by_ref().take(room).read_to_end(&mut bytes);
            complete = (read.map_err(|e| source.failed(&e))? as u64) < room;
            let lines = bytes.iter().filter(|b| matches!(b, b'\n' | b'\r'));
            if lines.take(SAMPLE_LINES).count() >= SAMPLE_LINES {
                break;
            }
            wanted *= 2;
        }
        let encoded = find_encoding(source, &bytes, complete)?;
        let text = encoding::decode(&bytes, encoded);
        foreign::check(source.name(), &text)?;
        let text = if complete { &text[..] } else { whole_lines(&text) };
        let mut layout = layout::find(sample(text), format, options, hints)?;
        layout.notes.splice(0..0, encoded.note());
        Ok(Stream { source, encoded, layout, options, hints })
    }

    fn start(&self) -> Result<Rows<'_>, DataError> {
        let reader = encoding::decoding(self.source.reader()?, self.encoded);
        let reader = reader.map_err(|e| self.source.failed(&e))?;
        let records = Records::of_stream(reader, self.layout.dialect);
        Rows::new(self.source, records, &self.layout, self.options.ragged)
    }

    /// Rejects rows that have more cells than the stream has columns.
    fn check_late(&self, tally: &Tally) -> Result<(), DataError> {
        let longer = &tally.longer;
        if self.options.ragged != Ragged::Pad || longer.count == 0 {
            return Ok(());
        }
        Err(DataError::user(format!(
            "{}, {}: more than the {} cells of the other rows; read the file without --stream, or pass --ragged skip",
            self.source.name(),
            longer.shown(),
            self.layout.width
        )))
    }

    /// Counts the rows.
    pub(crate) fn count(&self) -> Result<u64, DataError> {
        let mut rows = self.start()?;
        let no_numbers = vec![false; self.layout.width];
        let plan = Plan::new(&self.layout, no_numbers);
        let none = Request { most: usize::MAX, only: Some(&[]), threads: Threads::ONE };
        loop {
            let plain = plan.as_ref().map_or(Ok(TakeResult::Nothing), |plan| {
                plain::take(&mut rows, plan, none, &mut [], &mut Vec::new())
            })?;
            if plain == TakeResult::Nothing && rows.next()?.is_none() {
                break;
            }
        }
        self.check_late(&rows.tally)?;
        check_rows(self.source, &self.layout, &rows.tally, self.options.ragged)?;
        Ok(rows.tally.rows)
    }

    /// Reads the whole text and keeps the rows with the numbers `only`, which must be ascending.
    pub(crate) fn rows(&self, only: &[u64]) -> Result<Frame, DataError> {
        let (mut frame, tally) = self.frame(Wanted::Numbers(only))?;
        self.add_notes(&tally, &mut frame.notes);
        Ok(frame)
    }

    /// Reads the first `most` rows. The notes do not name the lines that were left out or repaired.
    pub(crate) fn head(&self, most: usize) -> Result<Frame, DataError> {
        Ok(self.frame(Wanted::First(most))?.0)
    }

    fn frame(&self, wanted: Wanted<'_>) -> Result<(Frame, Tally), DataError> {
        let Stream { source, layout, options, hints, .. } = self;
        let (frame, tally) = read_columns(source, layout, options, hints, || self.start(), wanted)?;
        self.check_late(&tally)?;
        Ok((frame, tally))
    }

    fn add_notes(&self, tally: &Tally, notes: &mut Vec<String>) {
        add_notes(self.source, &self.layout, tally, self.options.ragged, notes);
    }

    /// Reads all rows in chunks of `size` rows.
    pub(crate) fn chunks(&self, size: usize) -> Result<Chunks<'_>, DataError> {
        Ok(Chunks { stream: self, rows: self.start()?, size })
    }
}

/// The rows of a text in chunks.
pub(crate) struct Chunks<'s> {
    stream: &'s Stream<'s>,
    rows: Rows<'s>,
    size: usize,
}

impl Chunks<'_> {
    /// The notes on the text as far as it was read.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        self.stream.add_notes(&self.rows.tally, &mut notes);
        notes
    }
}

impl Iterator for Chunks<'_> {
    type Item = Result<Frame, DataError>;

    fn next(&mut self) -> Option<Result<Frame, DataError>> {
        let Chunks { stream, rows, size } = self;
        let texts = BTreeSet::new();
        let mut columns = Columns::new(&stream.layout, stream.options, stream.hints, &texts);
        let taken = columns.take(stream.source, rows, *size, None);
        if let Err(error) = taken.and_then(|()| stream.check_late(&rows.tally)) {
            return Some(Err(error));
        }
        match columns.finish(stream.source) {
            Err(error) => Some(Err(error)),
            Ok(Outcome::Frame(frame)) if frame.rows == 0 => {
                let ragged = stream.options.ragged;
                let checked = check_rows(stream.source, &stream.layout, &rows.tally, ragged);
                checked.err().map(Err)
            }
            Ok(Outcome::Frame(frame)) => Some(Ok(*frame)),
            Ok(Outcome::Words(columns)) => {
                let (name, (line, cell)) = columns.into_iter().next()?;
                let place = format!("{}, line {line}, column `{name}`", stream.source.name());
                if cell.is_empty() {
                    return Some(Err(DataError::user(format!(
                        "{place}: the points in numbers may separate thousands, which cannot be decided in a stream; pass --decimal . \
                         or --decimal ,"
                    ))));
                }
                Some(Err(DataError::user(format!(
                    "{place}: `{cell}` is not a number, unlike the cells before it; correct it, or pass --missing '{cell}' if it means \
                     that the value is missing, or --category '{name}' if the column contains categories"
                ))))
            }
        }
    }
}

fn whole_lines(text: &[u8]) -> &[u8] {
    memchr::memrchr2(b'\n', b'\r', text).map_or(text, |end| &text[..=end])
}
