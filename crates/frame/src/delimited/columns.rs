//! Converts the rows of a text to columns.

use super::checks::check_header;
use super::layout::{Layout, column_name};
use super::plain::{self, Plan, Request, TakeResult};
use super::rows::Rows;
use super::split::Delimiter;
use crate::csv_columns::{Built, ColumnBuilder};
use crate::error::DataError;
use crate::frame::{Column, Frame, Places, Remark};
use crate::names::short;
use crate::options::{Hints, ReadOptions};
use crate::source::Source;
use crate::typing::{Context, Expected, RawColumn, Typed, understand_spelled};
use halfspaces_linalg::Threads;
use std::collections::{BTreeMap, BTreeSet};

/// The result of reading the columns of a table.
pub(crate) enum Outcome {
    Frame(Box<Frame>),
    /// Columns that must be read as texts from the start. In some of them, texts follow numbers; each has the first such
    /// text and its line. In the others, points may separate thousands; their text is empty.
    Words(BTreeMap<String, (u64, String)>),
}

/// The columns of a table while they are being read.
pub(crate) struct Columns<'a> {
    layout: &'a Layout,
    options: &'a ReadOptions,
    hints: &'a Hints,
    /// The columns that are read as texts, because texts followed numbers in an earlier reading.
    texts: &'a BTreeSet<String>,
    names: Vec<String>,
    expected: Vec<Expected>,
    builders: Vec<ColumnBuilder>,
    lines: Vec<u64>,
    /// The number of cells that the file contains.
    given: u64,
    /// The number of cells that were filled in with missing values.
    filled: u64,
}

/// The maximum number of missing cells that are filled in for each cell of the file, in addition to [`ALWAYS_FILLED`].
const MOST_FILLED: u64 = 16;
/// The number of missing cells that may always be filled in, regardless of the number of cells in the file.
const ALWAYS_FILLED: u64 = 1 << 20;
/// The number of rows below which the budget is not checked, because so few rows take little memory.
const FEW_ROWS: usize = 4096;

impl<'a> Columns<'a> {
    /// Creates empty columns. The columns named in `texts` are read as texts, even if they exist only in longer rows.
    pub(crate) fn new(
        layout: &'a Layout,
        options: &'a ReadOptions,
        hints: &'a Hints,
        texts: &'a BTreeSet<String>,
    ) -> Columns<'a> {
        let mut columns = Columns {
            layout,
            options,
            hints,
            texts,
            names: Vec::new(),
            expected: Vec::new(),
            builders: Vec::new(),
            lines: Vec::new(),
            given: 0,
            filled: 0,
        };
        for name in &layout.names {
            columns.add(name.clone());
        }
        columns
    }

    fn add(&mut self, name: String) {
        let expected = Expected::of(&name, self.hints);
        let is_respelled = self.options.decimal.is_some() && matches!(expected, Expected::Rule(_));
        let texts = self.texts.contains(&name) || is_respelled || expected.needs_texts();
        self.builders.push(ColumnBuilder::new(texts, expected.markers(self.options)));
        self.names.push(name);
        self.expected.push(expected);
    }

    /// Reads until there are `most` rows. If `only` is given, only the rows with these numbers are kept. The numbers
    /// must be ascending.
    pub(crate) fn take(
        &mut self,
        source: &Source,
        rows: &mut Rows<'_>,
        most: usize,
        only: Option<&[u64]>,
    ) -> Result<(), DataError> {
        while self.lines.len() < most {
            if self.take_plain(source, rows, most, only)? {
                continue;
            }
            let number = rows.tally.rows;
            let Some(line) = rows.next()? else { break };
            if only.is_some_and(|rows| rows.binary_search(&number).is_err()) {
                continue;
            }
            let before = self.lines.len();
            if before == 0 {
                check_header(source, self.layout, self.options.ragged)?;
            }
            self.push(source, rows, line)?;
            self.check_room(source, before)?;
        }
        Ok(())
    }

    /// Like [`Columns::take`], but reads only plain rows. Returns `false` if the next row is not plain.
    fn take_plain(
        &mut self,
        source: &Source,
        rows: &mut Rows<'_>,
        most: usize,
        only: Option<&[u64]>,
    ) -> Result<bool, DataError> {
        let width = self.builders.len();
        let is_number = self.builders.iter().map(ColumnBuilder::is_number).collect();
        let Some(plan) = Plan::new(self.layout, is_number) else { return Ok(false) };
        let before = self.lines.len();
        // The first row is read separately, because it shows which columns contain numbers.
        let is_all = most == usize::MAX && only.is_none() && before > 0;
        let threads = if is_all { self.options.threads } else { Threads::ONE };
        let most = if before == 0 { 1 } else { most - before };
        let request = Request { most, only, threads };
        let taken = plain::take(rows, &plan, request, &mut self.builders, &mut self.lines)?;
        self.given += (width * (self.lines.len() - before)) as u64;
        self.check_room(source, before)?;
        if taken == TakeResult::Rows {
            self.reserve(source, rows, before, most);
        }
        match taken {
            TakeResult::NotUtf8 { line, column } => Err(self.not_utf8(source, line, column)),
            taken => Ok(taken == TakeResult::Rows),
        }
    }

    /// Reserves capacity for all rows of a text in memory, or for up to `most` rows of a stream, if the budget allows
    /// this. `before` is the number of rows before the last ones were added. The capacity is reserved only once,
    /// because each further reservation copies the columns. For a text in memory, it is reserved as soon as there are
    /// enough rows to estimate the number of rows.
    fn reserve(&mut self, source: &Source, rows: &Rows<'_>, before: usize, most: usize) {
        let more = match rows.expected() {
            Some(more) if before < FEW_ROWS && self.lines.len() >= FEW_ROWS => more + more / 8,
            None if before == 1 => FEW_ROWS,
            _ => return,
        };
        let more = more.min(most);
        let bytes = 8 * (self.builders.len() as u64 + 1) * more as u64;
        if source.budget().take(bytes).is_ok() {
            source.budget().give_back(bytes);
            self.builders.iter_mut().for_each(|builder| builder.reserve(more));
            self.lines.reserve_exact(more);
        }
    }

    fn not_utf8(&self, source: &Source, line: u64, column: usize) -> DataError {
        let (source, column) = (source.name(), short(&self.names[column]));
        DataError::user(format!(
            "{source}, line {line}, column `{column}`: not UTF-8 text; save the file as UTF-8"
        ))
    }

    /// Checks that the budget allows the columns to double their capacity. The capacity may double when the number of
    /// rows passes a power of two; `before` is the earlier number of rows.
    fn check_room(&self, source: &Source, before: usize) -> Result<(), DataError> {
        let rows = self.lines.len();
        if rows < FEW_ROWS || rows.ilog2() == before.max(1).ilog2() {
            return Ok(());
        }
        let bytes = 8 * (self.builders.len() as u64 + 1) * 2 * rows as u64;
        source.budget().take(bytes)?;
        source.budget().give_back(bytes);
        Ok(())
    }

    fn push(&mut self, source: &Source, rows: &Rows<'_>, line: u64) -> Result<(), DataError> {
        let mut fault = None;
        let mut count = 0;
        rows.cells(|at, cell| {
            let cell = trimmed(cell);
            if at >= self.builders.len() {
                if self.layout.trailing && cell.is_empty() {
                    return;
                }
                let first = self.builders.len();
                self.add_late(at);
                // Empty cells of this row before `at` were taken for the delimiter at the end of the row.
                self.builders.iter_mut().take(at).skip(first).for_each(ColumnBuilder::push_empty);
            }
            if at >= self.builders.len() {
                // The column was not added because too many cells are missing, and the row is rejected below.
                return;
            }
            count = at + 1;
            if self.builders[at].push(cell).is_err() {
                fault.get_or_insert(at);
            }
        });
        self.given += count as u64;
        self.filled += (self.builders.len() - count) as u64;
        if self.filled > MOST_FILLED * self.given + ALWAYS_FILLED {
            let name = source.name();
            return Err(DataError::user(format!(
                "{name}, line {line}: the rows differ too much in length for missing cells to be filled in; pass --ragged skip, or set the delimiter with --delimiter"
            )));
        }
        self.builders.iter_mut().skip(count).for_each(ColumnBuilder::push_empty);
        self.lines.push(line);
        fault.map_or(Ok(()), |at| Err(self.not_utf8(source, line, at)))
    }

    /// Adds columns up to index `at`, because a row has more cells than all rows before it.
    fn add_late(&mut self, at: usize) {
        for place in self.builders.len()..=at {
            self.filled += self.lines.len() as u64;
            if self.filled > MOST_FILLED * self.given + ALWAYS_FILLED {
                return;
            }
            self.add(column_name(place, &self.layout.names));
            for _ in 0..self.lines.len() {
                self.builders[place].push_empty();
            }
        }
    }

    /// Returns the columns, without row names and indices.
    pub(crate) fn finish(self, source: &Source) -> Result<Outcome, DataError> {
        let Columns { layout, options, names, expected, builders, lines, .. } = self;
        let unnamed = layout.header > 0 && names.len() > 1 && names[0].is_empty();
        let (mut of_words, mut remarks, mut columns) = (BTreeMap::new(), Vec::new(), Vec::new());
        let mut spelled = Vec::new();
        let mut built = builders.into_iter().zip(names).zip(expected);
        let index = if unnamed { built.next() } else { None };
        let index = index.and_then(|((builder, name), _)| {
            Some(Column { name, values: builder.finish().into_values()? })
        });
        for ((builder, name), expected) in built {
            match builder.finish() {
                Built::Cells { cells, rounded, zero, sign, points } => {
                    if let Some((row, cell)) = zero {
                        let cell = short(&cell);
                        remarks.push((name.clone(), Remark::Code { number: lines[row], cell }));
                    }
                    if let Some((row, cell)) = rounded {
                        let cell = short(&cell);
                        remarks.push((name.clone(), Remark::Rounded { number: lines[row], cell }));
                    }
                    if let Some((row, cell)) = sign {
                        let cell = short(&cell);
                        remarks.push((name.clone(), Remark::Sign { number: lines[row], cell }));
                    }
                    columns.push(RawColumn { name, cells, expected });
                    spelled.push(points);
                }
                Built::Words { row, cell } => {
                    of_words.insert(name, (lines[row], short(&cell)));
                }
            }
        }
        if !of_words.is_empty() {
            return Ok(Outcome::Words(of_words));
        }
        let place = |row: usize| {
            format!("{}, line {}", source.name(), lines.get(row).copied().unwrap_or(0))
        };
        let delimiter = match layout.dialect.delimiter {
            Delimiter::Byte(byte) => Some(byte),
            Delimiter::Blanks => Some(b' '),
        };
        let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
        let context = Context { source: source.name(), place: &place, options, delimiter };
        let Typed { columns, records, again } = understand_spelled(columns, &spelled, &context)?;
        if !again.is_empty() {
            let line = lines.first().copied().unwrap_or(0);
            let words = again.into_iter().map(|at| (names[at].clone(), (line, String::new())));
            return Ok(Outcome::Words(words.collect()));
        }
        let mut notes = Vec::new();
        if unnamed && !layout.row_names {
            let name = source.name();
            notes.push(format!(
                "{name}: the first column has no name, so it is taken for an index and left out"
            ));
        }
        let frame = Frame::new(source.name(), columns);
        let rows = lines.len();
        let places = Places::lines(lines);
        Ok(Outcome::Frame(Box::new(Frame {
            index,
            rows,
            places,
            remarks,
            records,
            notes,
            ..frame
        })))
    }
}

/// Removes the white space around a cell.
#[inline]
fn trimmed(cell: &[u8]) -> &[u8] {
    let is_white = |byte: Option<&u8>| byte.is_some_and(|b| *b <= b' ');
    if is_white(cell.first()) || is_white(cell.last()) { cell.trim_ascii() } else { cell }
}
