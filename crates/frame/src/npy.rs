//! Reads `NumPy` arrays from NPY files and from NPZ files, which are ZIP archives of arrays.
//!
//! Items are converted while they are read, so memory holds only the numbers and not the bytes of the file. Before
//! memory is allocated, the size stated in a header is compared with the size of the file and with the budget.

use crate::block::Block;
use crate::budget::Budget;
use crate::error::DataError;
use crate::frame::{Frame, Places, Remark};
use crate::npy_archive::{check_end, damaged, names, open};
use crate::npy_header::{Header, Kind};
use crate::npy_items::{Rounded, for_pieces, for_texts};
use crate::npy_sparse;
use crate::options::{Hints, ReadOptions};
use crate::source::Source;
use crate::text_column::{TextColumn, declared, typed_frame};
use crate::typing::{self, Cells, Expected, RawColumn};
use std::io::Read;
use zip::ZipArchive;

/// The number of columns of a Fortran-order array that are copied at a time. A cache line holds this many numbers.
const STRIP: usize = 8;

const MICROS_OF_A_DAY: f64 = 86_400e6;

/// The columns that have been read so far.
#[derive(Debug, Default)]
struct Table {
    columns: Vec<RawColumn>,
    block: Option<Block>,
    remarks: Vec<(String, Remark)>,
    notes: Vec<String>,
}

/// Reads an array with one or two dimensions as a table.
pub(crate) fn read(
    source: &Source,
    options: &ReadOptions,
    hints: &Hints,
) -> Result<Frame, DataError> {
    let name = source.name();
    let mut reader = source.decompressed()?;
    let mut table = Table::default();
    let header = Header::read(&mut reader).map_err(|e| e.at(name))?;
    if let Some(length) = source.length() {
        header.check_length(length).map_err(|e| e.at(name))?;
    }
    table.append(&mut reader, &header, "x", hints, source.budget()).map_err(|e| e.at(name))?;
    table.finish(name, options)
}

/// Reads an archive as a table. The array with two dimensions gives the columns x0, x1, .. Each array with one
/// dimension gives a column with the name of the array. So does an array with one column, if the archive also contains
/// another array with two dimensions. A sparse matrix that was saved by SciPy is read as a matrix.
pub(crate) fn read_npz(
    source: &Source,
    options: &ReadOptions,
    hints: &Hints,
) -> Result<Frame, DataError> {
    let name = source.name();
    let reader = source.seekable()?;
    let mut archive = ZipArchive::new(reader).map_err(|e| damaged(name, &e))?;
    let names = names(&mut archive, name)?;
    let mut table = Table::default();
    let of_matrix = npy_sparse::parts(&names);
    if !of_matrix.is_empty() {
        let matrix = npy_sparse::read(&mut archive, &names, source).map_err(|e| e.within(name))?;
        table.block = Some(matrix);
    }
    let mut shapes = Vec::new();
    for (at, array) in names.iter().enumerate() {
        shapes.push(match of_matrix.contains(array.as_str()) {
            true => Vec::new(),
            false => open(&mut archive, at, name, array)?.0.shape,
        });
    }
    let vectors = if of_matrix.is_empty() { vectors(&shapes) } else { one_column(&shapes) };
    let mut matrix: Option<&str> = None;
    for (at, array) in names.iter().enumerate() {
        if of_matrix.contains(array.as_str()) {
            continue;
        }
        let place = format!("{name}, array `{array}`");
        let (mut header, mut items) = open(&mut archive, at, name, array)?;
        if vectors.contains(&at) {
            header.shape.truncate(1);
        }
        if header.shape.len() > 1 {
            if !of_matrix.is_empty() {
                return Err(DataError::user(format!(
                    "{place}: the archive already contains a sparse matrix; save this array as a separate file"
                )));
            }
            if let Some(other) = matrix.replace(array) {
                return Err(DataError::user(format!(
                    "{name}: `{other}` and `{array}` both have two dimensions; keep only one table in the archive"
                )));
            }
        }
        table
            .append(&mut items, &header, array, hints, source.budget())
            .map_err(|e| e.at(&place))?;
    }
    table.finish(name, options)
}

/// The arrays that have several dimensions but one column.
fn one_column(shapes: &[Vec<usize>]) -> Vec<usize> {
    let is_one = |shape: &[usize]| shape.len() > 1 && shape[1..].iter().all(|count| *count == 1);
    (0..shapes.len()).filter(|at| is_one(&shapes[*at])).collect()
}

/// The arrays that are read as vectors although they have several dimensions: those with one column, unless the archive
/// has only one array of several dimensions.
fn vectors(shapes: &[Vec<usize>]) -> Vec<usize> {
    match shapes.iter().filter(|shape| shape.len() > 1).count() {
        1 => Vec::new(),
        _ => one_column(shapes),
    }
}

impl Table {
    /// Appends an array. A vector becomes a column `name`, a matrix of numbers becomes a block, and a matrix of texts
    /// becomes columns x0, x1, ... If there are more than two dimensions, all dimensions except the first are flattened
    /// into columns.
    fn append(
        &mut self,
        reader: &mut impl Read,
        header: &Header,
        name: &str,
        hints: &Hints,
        budget: &Budget,
    ) -> Result<(), DataError> {
        let count = header.items()?;
        let Some((rows, rest)) = header.shape.split_first() else {
            return Err(DataError::user("the array is a single value, but a table needs rows"));
        };
        if header.is_fortran && rest.len() > 1 {
            let advice = "save it in C order, with numpy.ascontiguousarray";
            return Err(DataError::user(format!(
                "the array has more than two dimensions and is in Fortran order; {advice}"
            )));
        }
        let width = count / rows;
        if !rest.is_empty() {
            budget.take_columns(width)?;
        }
        // An `f64` cannot hold every 64-bit integer, so integers in a column that is expected to be text are read as
        // texts.
        let is_name =
            rest.is_empty() && header.item.is_long() && Expected::of(name, hints).is_text();
        match (header.item.kind.is_text() || is_name, rest.is_empty()) {
            (true, is_vector) => {
                let name = is_vector.then_some(name);
                self.texts(reader, header, name, width, hints, budget)?;
            }
            (false, true) => self.vector(reader, header, name, hints, budget)?,
            (false, false) => self.matrix(reader, header, width, budget)?,
        }
        check_end(reader)
    }

    fn vector(
        &mut self,
        reader: &mut impl Read,
        header: &Header,
        name: &str,
        hints: &Hints,
        budget: &Budget,
    ) -> Result<(), DataError> {
        let rows = header.items()?;
        let mut values = budget.room(rows)?;
        let rounded = for_pieces(reader, header.item, rows, |piece| {
            check_finite(piece, values.len(), |row| (row, name.to_owned()))?;
            values.extend_from_slice(piece);
            Ok(())
        })?;
        if let Some(Rounded { item, integer }) = rounded {
            self.remarks
                .push((name.to_owned(), Remark::Rounded { number: item as u64, cell: integer }));
        }
        let (kind, cells) = match header.item.kind {
            Kind::Boolean => (typing::Kind::Boolean, Cells::Booleans(values)),
            Kind::Days(_) => {
                let micros =
                    |days: f64| (!days.is_nan()).then(|| (days * MICROS_OF_A_DAY).round() as i64);
                let moments = values.into_iter().map(micros).collect();
                (typing::Kind::Date, Cells::Moments { moments, has_zone: false })
            }
            _ => (typing::Kind::Number, Cells::Numbers(values)),
        };
        if let Kind::Seconds(_) = header.item.kind {
            self.notes.push(format!("`{name}`: durations are read as seconds"));
        }
        self.columns.push(RawColumn {
            name: name.to_owned(),
            cells,
            expected: declared(name, kind, hints),
        });
        Ok(())
    }

    fn matrix(
        &mut self,
        reader: &mut impl Read,
        header: &Header,
        width: usize,
        budget: &Budget,
    ) -> Result<(), DataError> {
        let (count, rows) = (header.items()?, header.shape[0]);
        let Ok(columns) = u32::try_from(width) else {
            return Err(DataError::user(format!("{width} columns are too many")));
        };
        let place = |item: usize| {
            let (row, column) = header.place(item, rows, width);
            (row, format!("x{column}"))
        };
        let mut values = budget.room(count)?;
        let rounded = if header.is_fortran {
            values.resize(count, 0.0);
            let mut strip = budget.room(rows * STRIP.min(width))?;
            let mut first = None;
            for start in (0..width).step_by(STRIP) {
                let columns = STRIP.min(width - start);
                strip.clear();
                let rounded = for_pieces(reader, header.item, rows * columns, |piece| {
                    check_finite(piece, start * rows + strip.len(), place)?;
                    strip.extend_from_slice(piece);
                    Ok(())
                })?;
                for (row, out) in values.chunks_exact_mut(width).enumerate() {
                    for (column, out) in out[start..start + columns].iter_mut().enumerate() {
                        *out = strip[column * rows + row];
                    }
                }
                let rounded = rounded.map(|r| Rounded { item: r.item + start * rows, ..r });
                first = first.or(rounded);
            }
            first
        } else {
            for_pieces(reader, header.item, count, |piece| {
                check_finite(piece, values.len(), place)?;
                values.extend_from_slice(piece);
                Ok(())
            })?
        };
        if let Some(Rounded { item, integer }) = rounded {
            let (row, column) = place(item);
            self.notes.push(format!(
                "row {row}, column `{column}`: {integer} has more digits than a 64-bit float can represent and is \
                rounded, as are other integers beyond 2^53 in the array"
            ));
        }
        match header.item.kind {
            Kind::Days(_) => self.notes.push("times are read as days since 1970-01-01".to_owned()),
            Kind::Seconds(_) => self.notes.push("durations are read as seconds".to_owned()),
            _ => {}
        }
        self.block = Some(Block::dense("x", values, (0..columns).collect()));
        Ok(())
    }

    /// Appends texts, or integers that are converted to texts. They become one column `name`, or several columns x0,
    /// x1, ..
    fn texts(
        &mut self,
        reader: &mut impl Read,
        header: &Header,
        name: Option<&str>,
        width: usize,
        hints: &Hints,
        budget: &Budget,
    ) -> Result<(), DataError> {
        let (count, rows) = (header.items()?, header.shape[0]);
        let column_name = |column: usize| name.map_or_else(|| format!("x{column}"), str::to_owned);
        let mut columns: Vec<TextColumn> = Vec::new();
        columns.resize_with(width, TextColumn::default);
        for_texts(reader, header.item, count, |item, text| {
            let (row, column) = header.place(item, rows, width);
            let text = text.map_err(|what| {
                let name = column_name(column);
                DataError::user(format!("row {row}, column `{name}`: {what}"))
            })?;
            columns[column].push(Some(text), budget)
        })?;
        self.columns.extend(columns.into_iter().enumerate().map(|(column, texts)| {
            let name = column_name(column);
            let expected = declared(&name, typing::Kind::Text, hints);
            RawColumn { name, cells: Cells::Texts(texts.into_cells()), expected }
        }));
        Ok(())
    }

    fn finish(self, name: &str, options: &ReadOptions) -> Result<Frame, DataError> {
        let Table { columns, block, remarks, notes } = self;
        let lengths = columns.iter().map(|column| (column.name.as_str(), column.cells.len()));
        let lengths: Vec<(&str, usize)> =
            lengths.chain(block.as_ref().map(|block| ("the matrix", block.rows()))).collect();
        let Some((first, rows)) = lengths.first().copied() else {
            return Err(DataError::user(format!("{name}: the archive contains no array")));
        };
        if let Some((other, length)) = lengths.iter().find(|(_, length)| *length != rows) {
            return Err(DataError::user(format!(
                "{name}: `{first}` has {rows} rows, but `{other}` has {length}; all arrays must have the same number of rows"
            )));
        }
        let notes = notes.into_iter().map(|note| format!("{name}: {note}")).collect();
        let frame = typed_frame(name, columns, rows, Places::rows(), options)?;
        Ok(Frame { block, remarks, notes, ..frame })
    }
}

/// Rejects infinite numbers. `first` is the index of the first number, and `place` maps an index to a row and a column.
fn check_finite(
    numbers: &[f64],
    first: usize,
    place: impl Fn(usize) -> (usize, String),
) -> Result<(), DataError> {
    let Some(at) = numbers.iter().position(|v| v.is_infinite()) else { return Ok(()) };
    let (row, name) = place(first + at);
    Err(DataError::user(format!(
        "row {row}, column `{name}`: the value is {}; write a finite number, or NaN for a missing value",
        numbers[at]
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read_bytes;

    /// Column 9 is in the second strip of columns that are copied together.
    #[test]
    fn a_rounded_integer_is_found_in_a_later_strip() {
        let header = "{'descr': '<i8', 'fortran_order': True, 'shape': (3, 10), }\n";
        let mut items = [5i64; 30];
        items[9 * 3 + 1] = (1 << 53) + 1;
        let length = (header.len() as u16).to_le_bytes();
        let mut bytes = [b"\x93NUMPY\x01\0", &length[..], header.as_bytes()].concat();
        bytes.extend(items.iter().flat_map(|item| item.to_le_bytes()));
        let (options, hints) = (ReadOptions::default(), Hints::default());
        let frame = read_bytes("a.npy", bytes, &options, &hints).unwrap();
        let note = "row 1, column `x9`: 9007199254740993 has more digits";
        assert!(frame.notes.iter().any(|found| found.contains(note)), "{:?}", frame.notes);
    }
}
