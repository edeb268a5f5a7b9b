//! Reads a text in chunks, several times if necessary, always with the same layout.

use super::checks::{add_notes, check_rows};
use super::columns::{Columns, Outcome};
use super::encoding::{self, Encoded};
use super::foreign;
use super::layout::{self, Layout};
use super::plain::{self, Plan, Request, TakeResult};
use super::records::Records;
use super::rows::Rows;
use super::text::{LONGEST_SAMPLE, SAMPLE, SAMPLE_LINES, find_encoding, sample};
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
    fn check_late(&self, rows: &Rows<'_>) -> Result<(), DataError> {
        let longer = &rows.tally.longer;
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
        self.check_late(&rows)?;
        check_rows(self.source, &self.layout, &rows.tally, self.options.ragged)?;
        Ok(rows.tally.rows)
    }

    /// Reads the rows with the numbers `only`, which must be ascending.
    pub(crate) fn rows(&self, only: &[u64]) -> Result<Frame, DataError> {
        const READINGS: usize = 4;
        let mut texts = BTreeSet::new();
        for _ in 0..READINGS {
            let mut rows = self.start()?;
            let mut columns = Columns::new(&self.layout, self.options, self.hints, &texts);
            columns.take(self.source, &mut rows, usize::MAX, Some(only))?;
            self.check_late(&rows)?;
            let ragged = self.options.ragged;
            check_rows(self.source, &self.layout, &rows.tally, ragged)?;
            match columns.finish(self.source)? {
                Outcome::Frame(mut frame) => {
                    add_notes(self.source, &self.layout, &rows.tally, ragged, &mut frame.notes);
                    return Ok(*frame);
                }
                Outcome::Words(words) => texts.extend(words.into_keys()),
            }
        }
        let name = self.source.name();
        Err(DataError::user(format!(
            "{name}: the columns cannot be read; declare categories with --category"
        )))
    }

    /// Reads all rows in chunks of `size` rows.
    pub(crate) fn chunks(
        &self,
        size: usize,
    ) -> Result<impl Iterator<Item = Result<Frame, DataError>>, DataError> {
        let mut rows = self.start()?;
        let texts = BTreeSet::new();
        Ok(std::iter::from_fn(move || {
            let mut columns = Columns::new(&self.layout, self.options, self.hints, &texts);
            let taken = columns.take(self.source, &mut rows, size, None);
            if let Err(error) = taken.and_then(|()| self.check_late(&rows)) {
                return Some(Err(error));
            }
            match columns.finish(self.source) {
                Err(error) => Some(Err(error)),
                Ok(Outcome::Frame(frame)) if frame.rows == 0 => {
                    let checked =
                        check_rows(self.source, &self.layout, &rows.tally, self.options.ragged);
                    checked.err().map(Err)
                }
                Ok(Outcome::Frame(frame)) => Some(Ok(*frame)),
                Ok(Outcome::Words(columns)) => {
                    let (name, (line, cell)) = columns.into_iter().next()?;
                    let place = format!("{}, line {line}, column `{name}`", self.source.name());
                    Some(Err(DataError::user(format!(
                        "{place}: `{cell}` is not a number, unlike the cells before it; correct it, or pass --category '{name}'"
                    ))))
                }
            }
        }))
    }
}

fn whole_lines(text: &[u8]) -> &[u8] {
    memchr::memrchr2(b'\n', b'\r', text).map_or(text, |end| &text[..=end])
}
