//! Reads blocks of plain lines on several threads. A plain line has no quotes, and has one cell for each column.
//!
//! Most lines of most files are plain. All other lines are read by [`Rows`], which handles quotes, ragged rows and
//! footnotes.

use super::layout::Layout;
use super::records::MARK;
use super::rows::Rows;
use super::split::Delimiter;
use crate::csv_columns::{ColumnBuilder, EXACT, NotUtf8, has_leading_zero, is_code};
use crate::decimal::{short_decimal, short_decimal_within};
use crate::error::DataError;
use crate::positions::positions;
use crate::typing::{Points, plain_number};
use halfspaces_linalg::Threads;
use memchr::{memchr, memchr_iter};

/// The size in bytes of a block that one thread reads. Blocks are small in tests, so that short texts have many blocks.
const BLOCK: usize = if cfg!(test) { 1 << 6 } else { 1 << 16 };
/// The number of blocks that are read at once for each thread.
const BLOCKS_A_THREAD: usize = 64;

/// The properties that all blocks of a text have in common.
#[derive(Debug)]
pub(crate) struct Plan<'a> {
    delimiter: u8,
    quote: Option<u8>,
    /// The first name of the header. The header may be repeated between the rows.
    first_name: Option<&'a [u8]>,
    /// For each column, whether it contains only numbers so far.
    is_number: Vec<bool>,
    /// The number of columns that contain only numbers so far.
    numbers: usize,
}

impl<'a> Plan<'a> {
    /// Creates the plan. Returns `None` if the text cannot have plain lines.
    pub(crate) fn new(layout: &'a Layout, is_number: Vec<bool>) -> Option<Plan<'a>> {
        let Delimiter::Byte(delimiter) = layout.dialect.delimiter else { return None };
        // In a table with one column, a blank line is a row.
        let plain = !layout.trailing && is_number.len() == layout.width && layout.width > 1;
        let first_name = layout.raw_names.first().map(|name| &name[..]);
        let numbers = is_number.iter().filter(|is_number| **is_number).count();
        let quote = layout.dialect.quote;
        plain.then_some(Plan { delimiter, quote, first_name, is_number, numbers })
    }
}

/// The rows that are requested.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request<'a> {
    /// The maximum number of rows.
    pub(crate) most: usize,
    /// The numbers of the rows to keep, in ascending order. If this is `None`, all rows are kept.
    pub(crate) only: Option<&'a [u64]>,
    /// The maximum number of threads. It may be larger than one only if all rows are kept.
    pub(crate) threads: Threads,
}

/// The cells of a block of lines.
#[derive(Debug)]
struct Block {
    /// The number of lines.
    lines: usize,
    places: Vec<u32>,
    /// The number of bytes in the block.
    length: usize,
    /// The values of the number columns, row by row.
    values: Vec<f64>,
    /// The numbers of digits after the point, for each number column.
    points: Vec<Points>,
    others: Vec<Other>,
}

/// A cell that is not a plain number. A block stores such cells in the order of the rows.
#[derive(Debug)]
struct Other {
    row: u32,
    column: u32,
    start: u32,
    end: u32,
}

/// The result of [`take`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TakeResult {
    /// Rows were appended.
    Rows,
    /// The next line is not plain.
    Nothing,
    /// A cell is not UTF-8.
    NotUtf8 { line: u64, column: usize },
}

/// Appends the rows of plain lines to `builders` and their line numbers to `lines`.
pub(crate) fn take(
    rows: &mut Rows<'_>,
    plan: &Plan<'_>,
    request: Request<'_>,
    builders: &mut [ColumnBuilder],
    lines: &mut Vec<u64>,
) -> Result<TakeResult, DataError> {
    let threads = request.threads;
    let count = if threads == Threads::ONE { 1 } else { threads.count() * BLOCKS_A_THREAD };
    let (row, mut line) = (rows.tally.rows, rows.line());
    let Some(text) = rows.plain_text(BLOCK * count)? else { return Ok(TakeResult::Nothing) };
    let pieces = pieces(text);
    let blocks =
        threads.map_with(pieces.iter(), || (), |(), piece| Block::read(piece, plan, request, row));
    let (mut passed, mut refused, mut fault) = ((0, 0), 0, None);
    for (block, piece) in blocks.into_iter().zip(&pieces) {
        let Some(block) = block else {
            refused = piece.len();
            break;
        };
        lines.extend(block.places.iter().map(|at| line + u64::from(*at)));
        if let Err((at, column)) = block.append(piece, plan, builders) {
            fault = Some(TakeResult::NotUtf8 { line: line + u64::from(block.places[at]), column });
            break;
        }
        passed = (passed.0 + block.lines, passed.1 + block.length);
        line += block.lines as u64;
    }
    rows.pass(passed, refused);
    Ok(fault.unwrap_or(if passed.0 > 0 { TakeResult::Rows } else { TakeResult::Nothing }))
}

/// The number in the cell `text[start..end]`, or `None` if the cell is not a plain number. Also returns `None` for
/// numbers that may need a note: integers that may be rounded, and numbers that are written like codes.
#[inline(always)]
fn plain_value(text: &[u8], start: usize, end: usize) -> Option<(f64, Points)> {
    match short_decimal_within(text, start, end) {
        Some((value, decimals)) => Some((value, Points::with(decimals))),
        None => general_value(&text[start..end]),
    }
}

/// Like [`plain_value`], but accepts all forms of numbers.
#[inline(never)]
fn general_value(cell: &[u8]) -> Option<(f64, Points)> {
    let cell = cell.trim_ascii();
    if has_leading_zero(cell) {
        return None;
    }
    let other = || plain_number(cell).filter(|_| !is_code(cell));
    let value = short_decimal(cell).or_else(other).filter(|value| value.abs() < EXACT)?;
    Some((value, Points::of(cell)))
}

/// Splits a text of whole lines into pieces of whole lines.
fn pieces(mut text: &[u8]) -> Vec<&[u8]> {
    let mut pieces = Vec::new();
    while !text.is_empty() {
        let from = BLOCK.min(text.len()) - 1;
        let end = memchr(b'\n', &text[from..]).map_or(text.len(), |at| from + at + 1);
        let (piece, rest) = text.split_at(end);
        pieces.push(piece);
        text = rest;
    }
    pieces
}

impl Block {
    /// Reads the lines of `text`, the first of which is row number `first`. Returns `None` if a line is not plain.
    fn read(text: &[u8], plan: &Plan<'_>, request: Request<'_>, first: u64) -> Option<Block> {
        if text.len() > u32::MAX as usize
            || plan.quote.is_some_and(|quote| memchr(quote, text).is_some())
        {
            return None;
        }
        if memchr_iter(b'\r', text).any(|at| text.get(at + 1) != Some(&b'\n')) {
            return None;
        }
        let from = |rows: &'_ [u64]| rows.partition_point(|row| *row < first);
        let mut only = request.only.map(|rows| rows[from(rows)..].iter());
        let width = plan.is_number.len();
        let ends = positions(text, plan.delimiter);
        let lines = ends.chunks_exact(width);
        // If each line has its line end in the last place and there are no more line ends, no other place has one.
        if !lines.remainder().is_empty() || memchr_iter(b'\n', text).count() != lines.len() {
            return None;
        }
        let mut block = Block {
            lines: 0,
            places: Vec::new(),
            length: 0,
            values: Vec::with_capacity(ends.len()),
            points: vec![Points::default(); plan.numbers],
            others: Vec::new(),
        };
        let mut start = 0;
        for ends in lines {
            if block.places.len() == request.most {
                break;
            }
            let number = first + block.lines as u64;
            let is_wanted = match &mut only {
                None => true,
                Some(rows) => rows.as_slice().first() == Some(&number) && rows.next().is_some(),
            };
            let (first_end, line_end) = (ends[0] as usize, ends[width - 1] as usize);
            let cell = &text[start..first_end];
            let is_repeated = || Some(cell.trim_ascii()) == plan.first_name;
            let is_plain = text[line_end] == b'\n' && !cell.is_empty() && !cell.starts_with(MARK);
            if !is_plain || is_repeated() {
                return None;
            }
            if is_wanted {
                block.read_line(text, start, ends, plan);
                block.places.push(block.lines as u32);
            }
            start = line_end + 1;
            block.lines += 1;
            block.length = start;
        }
        Some(block)
    }

    /// Reads the cells of a line. The line begins at `start`, and its cells end at `ends`.
    #[inline]
    fn read_line(&mut self, text: &[u8], mut start: usize, ends: &[u32], plan: &Plan<'_>) {
        let row = self.places.len() as u32;
        let before = self.values.len();
        self.values.resize(before + plan.numbers, f64::NAN);
        let mut values = self.values[before..].iter_mut().zip(&mut self.points);
        for (column, (end, is_number)) in (0..).zip(ends.iter().zip(&plan.is_number)) {
            let cell = (start, *end as usize);
            start = cell.1 + 1;
            if *is_number
                && let Some((value, points)) = values.next()
                && let Some((number, point)) = plain_value(text, cell.0, cell.1)
            {
                *value = number;
                points.add(point);
                continue;
            }
            self.others.push(Other { row, column, start: cell.0 as u32, end: *end });
        }
    }

    /// Appends the cells to the columns. If a cell is not valid UTF-8, the error gives its row and column.
    fn append(
        &self,
        text: &[u8],
        plan: &Plan<'_>,
        builders: &mut [ColumnBuilder],
    ) -> Result<(), (usize, usize)> {
        let mut place = 0;
        let places = plan.is_number.iter().map(|is_number| {
            place += usize::from(*is_number);
            place - usize::from(*is_number)
        });
        let places: Vec<usize> = places.collect();
        let numbers = plan.numbers;
        let mut done = vec![0; builders.len()];
        let between = |column: usize, from: usize, to: usize| {
            (from..to)
                .map(move |row| (row, column))
                .map(|(row, column)| self.values[row * numbers + column])
        };
        for other in &self.others {
            let (row, column) = (other.row as usize, other.column as usize);
            if plan.is_number[column] {
                builders[column].extend(between(places[column], done[column], row));
                done[column] = row + 1;
            }
            let cell = text[other.start as usize..other.end as usize].trim_ascii();
            builders[column].push(cell).map_err(|NotUtf8| (row, column))?;
        }
        for (column, builder) in builders.iter_mut().enumerate() {
            if plan.is_number[column] {
                builder.extend(between(places[column], done[column], self.places.len()));
                builder.add_points(self.points[places[column]]);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::records::whole_lines;
    use super::*;
    use crate::frame::Frame;
    use crate::options::{Hints, Ragged, ReadOptions};
    use crate::read::{LargeTable, read_bytes};
    use proptest::prelude::*;

    /// Reads a text as a table. The record of how the text was read is removed, because it depends on the quoting.
    fn understood(text: &str, options: &ReadOptions) -> Result<Frame, String> {
        let frame = read_bytes("t.csv", text.into(), options, &Hints::default());
        frame.map(|frame| Frame { reading: None, ..frame }).map_err(|e| e.to_string())
    }

    /// Writes rows as text. If `quoted` is true, the first cell of each row is quoted, so that no line is plain.
    fn text(rows: &[Vec<String>], end: &str, quoted: bool) -> String {
        let mut text = format!("a,b,c{end}");
        for row in rows {
            let quote = if quoted && !row.is_empty() { "\"" } else { "" };
            let first = row.first().map(String::as_str).unwrap_or_default();
            let rest: String = row.iter().skip(1).map(|cell| format!(",{cell}")).collect();
            text += &format!("{quote}{first}{quote}{rest}{end}");
        }
        text
    }

    fn any_cell() -> proptest::strategy::BoxedStrategy<String> {
        prop_oneof![
            6 => "-?[0-9]{1,3}[.][0-9]{1,6}",
            2 => "[0-9]{1,17}",
            1 => Just("9007199254740993".to_owned()),
            1 => prop_oneof!["", "NA", " 7 ", "1e5", "5-", "inf", "12 kg", "\u{e4}"],
        ]
        .boxed()
    }

    fn number() -> proptest::strategy::BoxedStrategy<String> {
        prop_oneof![20 => "-?[0-9]{1,3}[.][0-9]{1,6}", 1 => Just(String::new())].boxed()
    }

    fn rows(
        cell: impl Fn() -> proptest::strategy::BoxedStrategy<String>,
    ) -> impl Strategy<Value = Vec<Vec<String>>> {
        let word = prop_oneof!["[a-d]{1,2}", "[a-d]{1,2}", Just(String::new())];
        let row = (cell(), word, cell()).prop_map(|(a, b, c)| vec![a, b, c]);
        let other = prop_oneof![
            Just(Vec::new()),
            Just(vec!["1".to_owned(), "x".to_owned()]),
            Just(vec!["1".to_owned(), "x".to_owned(), "2".to_owned(), "9".to_owned()]),
            Just(vec!["a".to_owned(), "b".to_owned(), "c".to_owned()]),
        ];
        prop::collection::vec(prop_oneof![40 => row, 1 => other], 1..60)
    }

    proptest! {
        /// The result does not depend on whether the lines are plain, or on whether one or three threads are used.
        #[test]
        fn plain_lines_are_read_as_all_others(
            rows in rows(any_cell),
            ragged in prop_oneof![Just(Ragged::Error), Just(Ragged::Pad), Just(Ragged::Skip)],
            end in prop_oneof![Just("\n"), Just("\r\n")],
        ) {
            let options = ReadOptions { ragged, header: Some(true), ..ReadOptions::default() };
            let expected = understood(&text(&rows, end, true), &options);
            let plain = text(&rows, end, false);
            let one = understood(&plain, &options);
            let threads = Threads::new(3).unwrap();
            let three = understood(&plain, &ReadOptions { threads, ..options });
            // The tables are compared as text, because NaN does not equal NaN.
            prop_assert_eq!(format!("{one:?}"), format!("{expected:?}"));
            prop_assert_eq!(format!("{three:?}"), format!("{expected:?}"));
        }

        /// A stream gives the same rows as the whole text, whether the rows are counted, selected or read in chunks.
        #[test]
        fn a_stream_has_the_same_rows(rows in rows(number), every in 1..5usize, size in 1..20usize) {
            let options =
                ReadOptions { ragged: Ragged::Skip, header: Some(true), ..ReadOptions::default() };
            let text = text(&rows, "\n", false);
            let whole = understood(&text, &options);
            let Ok(whole) = whole else { return Ok(()) };
            let file = tempfile::NamedTempFile::with_suffix(".csv").unwrap();
            std::fs::write(file.path(), &text).unwrap();
            let table = LargeTable::open(file.path(), &options, Hints::default()).unwrap();
            prop_assert_eq!(table.count().unwrap() as usize, whole.rows);
            let only: Vec<u64> = (0..whole.rows as u64).step_by(every).collect();
            // If only a few rows are selected, their columns may be interpreted in a different way.
            let Ok(chosen) = table.rows(&only) else { return Ok(()) };
            let chosen_rows: Vec<usize> = only.iter().map(|row| *row as usize).collect();
            let expected = whole.select_rows(&chosen_rows);
            let lines = |frame: &Frame| -> Vec<String> {
                let places = (0..frame.rows).map(|row| frame.place(row));
                places.map(|place| place.rsplit(' ').next().unwrap().to_owned()).collect()
            };
            prop_assert_eq!(lines(&chosen), lines(&expected));
            let hints = Hints::default();
            let parts = table.in_chunks(&hints, size, |parts| {
                Ok::<_, DataError>(parts.map(|part| part.map(|part| lines(&part))).collect::<Vec<_>>())
            });
            // A chunk with few rows may contain cells that do not match earlier cells of the same column.
            let parts: Result<Vec<Vec<String>>, DataError> = parts.unwrap().0.into_iter().collect();
            if let Ok(parts) = parts {
                prop_assert!(parts.iter().rev().skip(1).all(|part| part.len() == size));
                prop_assert_eq!(parts.concat(), lines(&whole));
            }
        }
    }

    /// The spelling of all cells is known, whether the lines are plain or quoted.
    #[test]
    fn points_between_thousands_are_found_in_all_lines() {
        let is_noted = |last: &str, quote: &str| {
            let rows = (300..360).map(|i| match i % 3 {
                0 => format!("{quote}{i}{quote};x\n"),
                _ => format!("{quote}{}.000{quote};y\n", i - 290),
            });
            let text: String = rows.collect();
            let options = ReadOptions { header: Some(true), ..ReadOptions::default() };
            let frame = understood(&format!("a;b\n{text}{last};x\n"), &options).unwrap();
            frame.records[0].notes.concat().contains("pass --decimal , if they separate thousands")
        };
        for quote in ["", "\""] {
            for last in ["330", "-12.000", "12.000-", "+12.500", "NA"] {
                assert!(is_noted(last, quote), "{quote}{last}");
            }
            for last in ["2.5", "2.50000001", "1.500e2", "01.000", "0.125"] {
                assert!(!is_noted(last, quote), "{quote}{last}");
            }
        }
    }

    /// A line may end with only a carriage return, and a blank line is a row if the table has one column.
    #[test]
    fn lines_that_only_look_plain() {
        let options = ReadOptions { header: Some(true), ..ReadOptions::default() };
        let rows = "1,x\n".repeat(40);
        let error = understood(&format!("a,b\n{rows}1,x\rz\n{rows}"), &options).unwrap_err();
        assert!(error.contains("line 43"), "{error}");
        let numbers = "7\n8\n".repeat(40);
        let one = understood(&format!("a\n{numbers}  \n{numbers}"), &options).unwrap();
        let quoted = numbers.replace('7', "\"7\"");
        let other = understood(&format!("a\n{quoted}  \n{quoted}"), &options).unwrap();
        assert_eq!(format!("{one:?}"), format!("{other:?}"));
        assert_eq!((one.rows, one.columns[0].values.missing()), (161, 1));
    }

    #[test]
    fn pieces_are_whole_lines() {
        let line = "x".repeat(BLOCK + 7) + "\n";
        let text = format!("a\nb\n{line}{line}c\n");
        let found = pieces(text.as_bytes());
        assert!(found.len() > 2 && found.concat() == text.as_bytes());
        assert!(found.iter().all(|piece| piece.ends_with(b"\n")));
        assert_eq!(whole_lines(b"a\nbb\nc", 4), b"a\n");
        assert_eq!(whole_lines(b"a\nbb\nc", 5), b"a\nbb\n");
        assert_eq!(
            (whole_lines(b"aaaa\nb", 2), whole_lines(b"aaaa", 2)),
            (&b"aaaa\n"[..], &b""[..])
        );
    }

    #[test]
    fn the_error_names_a_cell_that_is_not_utf8() {
        let mut text = "a,b\n".to_owned() + &"1,x\n".repeat(100);
        text += "2,y\n";
        let mut bytes = text.into_bytes();
        let at = bytes.len() - 2;
        bytes[at] = 0xff;
        let options = ReadOptions { header: Some(true), ..ReadOptions::default() };
        // The bytes that are not UTF-8 come after the sample, because a different encoding would be detected if the
        // sample contained them.
        let file = tempfile::NamedTempFile::with_suffix(".csv").unwrap();
        std::fs::write(
            file.path(),
            [&b"a,b\n"[..], &b"1,x\n".repeat(50_000), &bytes[4..]].concat(),
        )
        .unwrap();
        let table = LargeTable::open(file.path(), &options, Hints::default()).unwrap();
        let error = table.rows(&(0..60_000).collect::<Vec<_>>()).unwrap_err().to_string();
        assert!(error.contains("line 50102, column `b`: not UTF-8 text"), "{error}");
    }
}
