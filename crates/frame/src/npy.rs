//! `NumPy` arrays: NPY, and NPZ, a ZIP archive of them.

use crate::block::Block;
use crate::error::DataError;
use crate::frame::{Column, Frame};
use crate::levels::Levels;
use crate::source::Source;
use crate::values::{MISSING, Values};
use std::io::{Cursor, Read};

const MAGIC: &[u8] = b"\x93NUMPY";

/// Largest array read from an archive, in bytes: more than any machine's table, less than a bomb.
const MAX_ARRAY: u64 = 1 << 36;

/// Reads an array of two dimensions, or of one, as a table.
pub(crate) fn read(source: &Source) -> Result<Frame, DataError> {
    let bytes = source.bytes()?;
    let name = source.name();
    let array = Array::parse(&bytes).map_err(|fault| fault.at(name))?;
    let (columns, block) = array.parts("x").map_err(|fault| fault.at(name))?;
    frame(source, columns, block)
}

/// Reads an archive: the array of two dimensions gives columns x0, x1, .., each of one dimension a column of its name.
pub(crate) fn read_npz(source: &Source) -> Result<Frame, DataError> {
    let name = source.name();
    let damaged = |e: zip::result::ZipError| {
        DataError::user(format!("{name}: not an NPZ archive that can be read: {e}"))
    };
    let mut archive = zip::ZipArchive::new(Cursor::new(source.bytes()?)).map_err(damaged)?;
    let mut columns = Vec::new();
    let mut matrix: Option<String> = None;
    let mut block = None;
    for at in 0..archive.len() {
        let mut entry = archive.by_index(at).map_err(damaged)?;
        let found = entry.name().map_err(damaged)?.into_owned();
        let Some(array_name) = found.strip_suffix(".npy").map(str::to_owned) else {
            let advice = "an NPZ archive holds .npy files only; save a workbook as CSV";
            return Err(DataError::user(format!("{name}: there is `{found}` in it; {advice}")));
        };
        let place = format!("{name}, array `{array_name}`");
        let mut bytes = Vec::new();
        let read = entry.by_ref().take(MAX_ARRAY).read_to_end(&mut bytes);
        read.map_err(|e| DataError::user(format!("{place}: cannot be unpacked: {e}")))?;
        let array = Array::parse(&bytes).map_err(|fault| fault.at(&place))?;
        if array.shape.len() > 1 {
            if let Some(other) = matrix.replace(array_name.clone()) {
                return Err(DataError::user(format!(
                    "{name}: `{other}` and `{array_name}` both have two dimensions; leave one table in the archive"
                )));
            }
        }
        let (vector, matrix) = array.parts(&array_name).map_err(|fault| fault.at(&place))?;
        columns.extend(vector);
        block = block.or(matrix);
    }
    frame(source, columns, block)
}

fn frame(source: &Source, columns: Vec<Column>, block: Option<Block>) -> Result<Frame, DataError> {
    let name = source.name();
    let lengths = columns.iter().map(|column| (column.name.as_str(), column.values.len()));
    let lengths: Vec<(&str, usize)> =
        lengths.chain(block.as_ref().map(|block| ("x0", block.rows()))).collect();
    let Some((first, rows)) = lengths.first().copied() else {
        return Err(DataError::user(format!("{name}: there is no column in it")));
    };
    if let Some((other, length)) = lengths.iter().find(|(_, length)| *length != rows) {
        return Err(DataError::user(format!(
            "{name}: `{first}` has {rows} rows, `{other}` has {length}; they must have equally many"
        )));
    }
    Ok(Frame { block, rows, ..Frame::new(name, columns) })
}

/// An array, its items still bytes.
struct Array<'a> {
    shape: Vec<usize>,
    fortran: bool,
    item: Item,
    data: &'a [u8],
}

#[derive(Debug, Clone, Copy)]
struct Item {
    /// `f`, `i`, `u`, `b` or `U`.
    kind: char,
    /// Bytes per item.
    size: usize,
    big_endian: bool,
}

impl<'a> Array<'a> {
    fn parse(bytes: &'a [u8]) -> Result<Array<'a>, DataError> {
        let broken =
            || DataError::user("not an NPY array, or cut off; write it again by numpy.save");
        let version =
            *bytes.strip_prefix(MAGIC).and_then(|rest| rest.first()).ok_or_else(broken)?;
        let number = |range: std::ops::Range<usize>| {
            let bytes = bytes.get(range).ok_or_else(broken)?;
            Ok::<usize, DataError>(bytes.iter().rev().fold(0, |sum, b| sum << 8 | usize::from(*b)))
        };
        let (start, length) = match version {
            1 => (10, number(8..10)?),
            _ => (12, number(8..12)?),
        };
        let header = bytes.get(start..start + length).ok_or_else(broken)?;
        let header = std::str::from_utf8(header).map_err(|_| broken())?;
        let descr = after(header, "descr").ok_or_else(broken)?;
        let item = Item::parse(descr)?;
        let fortran = after(header, "fortran_order").ok_or_else(broken)?.starts_with("True");
        let shape = after(header, "shape").ok_or_else(broken)?;
        let inside =
            shape.strip_prefix('(').and_then(|s| s.split(')').next()).ok_or_else(broken)?;
        let lengths = inside.split(',').map(str::trim).filter(|s| !s.is_empty());
        let shape: Vec<usize> =
            lengths.map(|s| s.parse().ok()).collect::<Option<_>>().ok_or_else(broken)?;
        let items = shape.iter().try_fold(1usize, |n, len| n.checked_mul(*len));
        let size = items.and_then(|n| n.checked_mul(item.size)).ok_or_else(broken)?;
        let data = &bytes[start + length..];
        if data.len() != size {
            let found = data.len();
            return Err(DataError::user(format!(
                "{found} bytes of data, but shape and type ask for {size}; the file is cut off or damaged"
            )));
        }
        Ok(Array { shape, fortran, item, data })
    }

    /// A vector as one column `name`; a matrix of numbers as a block, of texts as columns `name` and their numbers from 0.
    /// Of more dimensions the last ones are laid out in a row.
    fn parts(&self, name: &str) -> Result<(Vec<Column>, Option<Block>), DataError> {
        let Some((rows, rest)) = self.shape.split_first() else {
            return Err(DataError::user("a single number; a table has rows"));
        };
        if self.fortran && rest.len() > 1 {
            let advice = "save it in C order, by numpy.ascontiguousarray";
            return Err(DataError::user(format!(
                "more than two dimensions in Fortran order; {advice}"
            )));
        }
        let width: usize = rest.iter().product();
        if *rows == 0 || width == 0 || self.item.size == 0 {
            return Err(DataError::user(format!("the array is empty, of shape {:?}", self.shape)));
        }
        let item = |row: usize, column: usize| {
            let item = if self.fortran { column * rows + row } else { row * width + column };
            &self.data[item * self.item.size..(item + 1) * self.item.size]
        };
        if rest.is_empty() {
            let values = self.item.column(*rows, |row| item(row, 0), name)?;
            return Ok((vec![Column { name: name.to_owned(), values }], None));
        }
        if self.item.kind == 'U' {
            let column = |column: usize| {
                let name = format!("x{column}");
                let values = self.item.column(*rows, |row| item(row, column), &name)?;
                Ok(Column { name, values })
            };
            return Ok(((0..width).map(column).collect::<Result<_, DataError>>()?, None));
        }
        let mut values = Vec::with_capacity(rows * width);
        for row in 0..*rows {
            for column in 0..width {
                let value = self.item.number(item(row, column));
                if value.is_infinite() {
                    return Err(infinite(row, &format!("x{column}"), value));
                }
                values.push(value);
            }
        }
        let numbers = u32::try_from(width).map(|width| (0..width).collect());
        let numbers =
            numbers.map_err(|_| DataError::user(format!("{width} columns are too many")))?;
        Ok((Vec::new(), Some(Block::Dense { values, numbers })))
    }
}

fn infinite(row: usize, name: &str, value: f64) -> DataError {
    DataError::user(format!(
        "row {}, column `{name}`: {value}; write a finite number, or NaN for a missing one",
        row + 1
    ))
}

/// What follows `'key': ` in the header.
fn after<'h>(header: &'h str, key: &str) -> Option<&'h str> {
    let quoted = [format!("'{key}'"), format!("\"{key}\"")];
    let at = quoted.iter().find_map(|q| header.find(q.as_str()).map(|at| at + q.len()))?;
    Some(header[at..].trim_start().strip_prefix(':')?.trim_start())
}

impl Item {
    fn parse(descr: &str) -> Result<Item, DataError> {
        let quote = descr.chars().next().filter(|c| *c == '\'' || *c == '"');
        let code = quote.and_then(|q| descr[1..].split(q).next());
        let refused = || {
            let shown = code.unwrap_or("records");
            DataError::user(format!(
                "items of type {shown} are not read; convert the array, by .astype(float) say"
            ))
        };
        let code = code.ok_or_else(refused)?;
        let mut letters = code.chars();
        let big_endian = match letters.next() {
            Some('<' | '|' | '=') => false,
            Some('>') => true,
            _ => return Err(refused()),
        };
        let kind = letters.next().ok_or_else(refused)?;
        let count: usize = letters.as_str().parse().map_err(|_| refused())?;
        let size = match (kind, count) {
            ('f', 4 | 8) | ('i' | 'u', 1 | 2 | 4 | 8) | ('b', 1) => count,
            ('U', _) => count.checked_mul(4).ok_or_else(refused)?,
            _ => return Err(refused()),
        };
        Ok(Item { kind, size, big_endian })
    }

    fn column<'d>(
        self,
        rows: usize,
        at: impl Fn(usize) -> &'d [u8],
        name: &str,
    ) -> Result<Values, DataError> {
        if self.kind == 'U' {
            let mut levels = Levels::default();
            let codes = (0..rows).map(|row| {
                let text = self.text(at(row)).ok_or_else(|| {
                    DataError::user(format!("row {}, column `{name}`: not Unicode", row + 1))
                })?;
                Ok::<u32, DataError>(if text.is_empty() { MISSING } else { levels.code(&text) })
            });
            let codes = codes.collect::<Result<Vec<u32>, _>>()?;
            return Ok(Values::texts(codes, &levels.into_names()));
        }
        let mut values = Vec::with_capacity(rows);
        for row in 0..rows {
            let value = self.number(at(row));
            if value.is_infinite() {
                return Err(infinite(row, name, value));
            }
            values.push(value);
        }
        Ok(Values::numbers(values))
    }

    fn number(self, bytes: &[u8]) -> f64 {
        let mut buffer = [0; 8];
        let buffer = &mut buffer[..bytes.len()];
        buffer.copy_from_slice(bytes);
        if self.big_endian {
            buffer.reverse();
        }
        let unsigned = buffer.iter().rev().fold(0u64, |sum, b| sum << 8 | u64::from(*b));
        let bits = 8 * bytes.len() as u32;
        match (self.kind, bits) {
            ('f', 32) => f64::from(f32::from_bits(unsigned as u32)),
            ('f', _) => f64::from_bits(unsigned),
            ('i', _) => ((unsigned << (64 - bits)) as i64 >> (64 - bits)) as f64,
            _ => unsigned as f64,
        }
    }

    fn text(self, bytes: &[u8]) -> Option<String> {
        let (letters, _) = bytes.as_chunks::<4>();
        let code = |b: &[u8; 4]| {
            if self.big_endian { u32::from_be_bytes(*b) } else { u32::from_le_bytes(*b) }
        };
        let letters = letters.iter().map(code).collect::<Vec<_>>();
        let used = letters.iter().rposition(|c| *c != 0).map_or(0, |last| last + 1);
        letters[..used].iter().map(|c| char::from_u32(*c)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn npy(header: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([1, 0]);
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        bytes
    }

    fn numbers(descr: &str, data: &[u8]) -> Vec<f64> {
        let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (1,), }}\n");
        let bytes = npy(&header, data);
        let (columns, _) = Array::parse(&bytes).unwrap().parts("y").unwrap();
        let Values::Numbers(values) = &columns[0].values else { panic!("numbers") };
        values.values().to_vec()
    }

    #[test]
    fn items_of_every_kind() {
        assert_eq!(numbers("<f8", &1.5f64.to_le_bytes()), [1.5]);
        assert_eq!(numbers(">f4", &(-2.25f32).to_be_bytes()), [-2.25]);
        assert_eq!(numbers("|i1", &[0xff]), [-1.0]);
        assert_eq!(numbers("|u1", &[0xff]), [255.0]);
        assert_eq!(numbers("<i8", &(-7i64).to_le_bytes()), [-7.0]);
        assert_eq!(numbers(">i2", &(-300i16).to_be_bytes()), [-300.0]);
        assert_eq!(numbers("|b1", &[1]), [1.0]);
        let header = "{'descr': '<U3', 'fortran_order': False, 'shape': (2,), }";
        let text: Vec<u8> = "ab\0ü\0\0".chars().flat_map(|c| (c as u32).to_le_bytes()).collect();
        let (columns, _) = Array::parse(&npy(header, &text)).unwrap().parts("y").unwrap();
        assert_eq!(
            (columns[0].values.text(0), columns[0].values.text(1)),
            ("ab".into(), "ü".into())
        );
    }

    #[test]
    fn both_orders_give_the_same_columns() {
        let bytes = |values: &[u8], order: &str| {
            let header = format!("{{'descr': '|u1', 'fortran_order': {order}, 'shape': (2, 3), }}");
            let bytes = npy(&header, values);
            Array::parse(&bytes).unwrap().parts("x").unwrap().1.unwrap()
        };
        let block = bytes(&[1, 2, 3, 4, 5, 6], "False");
        assert_eq!(block, bytes(&[1, 4, 2, 5, 3, 6], "True"));
        assert_eq!((block.name(2).as_str(), block.column(2)[1]), ("x2", 6.0));
    }

    #[test]
    fn what_is_cut_off_is_refused() {
        let whole = npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1), }", &[0; 8]);
        for length in 0..whole.len() {
            assert!(Array::parse(&whole[..length]).is_err(), "{length}");
        }
        assert!(Array::parse(&whole).is_ok());
        let objects = npy("{'descr': '|O', 'fortran_order': False, 'shape': (0,), }", &[]);
        assert!(Array::parse(&objects).err().unwrap().to_string().contains("|O"));
    }
}
