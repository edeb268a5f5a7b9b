//! The header of an NPY array, which contains its shape and its item type.

use crate::error::DataError;
use std::io::Read;

const MAGIC: &[u8] = b"\x93NUMPY";

/// The maximum length of a header in bytes. `NumPy` itself reads at most 10,000 bytes.
const MAX_HEADER: usize = 1 << 20;

/// The maximum size of a text item in bytes.
const MAX_ITEM: usize = 1 << 28;

/// A parsed header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Header {
    /// The length of each dimension.
    pub(crate) shape: Vec<usize>,
    /// Whether the array is in Fortran order, in which the first index changes fastest.
    pub(crate) is_fortran: bool,
    pub(crate) item: Item,
    /// The number of bytes before the first item.
    pub(crate) length: u64,
}

/// The type of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) kind: Kind,
    /// The number of bytes of an item.
    pub(crate) size: usize,
    pub(crate) is_big_endian: bool,
}

/// The supported item types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Float,
    Integer,
    Unsigned,
    Boolean,
    /// Unicode text with four bytes per character.
    Text,
    /// Text that is stored as bytes.
    Bytes,
    /// Dates and times as ticks since 1970, which are converted to days.
    Days(Scale),
    /// Durations as ticks, which are converted to seconds.
    Seconds(Scale),
}

/// The conversion of ticks to days or seconds by an integer factor and an integer divisor. With integers, whole days
/// remain exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Scale {
    pub(crate) times: u32,
    pub(crate) per: u64,
}

impl Scale {
    pub(crate) fn of(self, ticks: i64) -> f64 {
        ticks as f64 * f64::from(self.times) / self.per as f64
    }
}

impl Kind {
    pub(crate) fn is_text(self) -> bool {
        matches!(self, Kind::Text | Kind::Bytes)
    }
}

impl Header {
    /// Reads a header and leaves the reader at the first item.
    ///
    /// # Errors
    /// Returns an error if the bytes are not a header or if the item type is not supported. The message does not name
    /// the file.
    pub(crate) fn read(reader: &mut impl Read) -> Result<Header, DataError> {
        let mut start = [0; 10];
        exactly(reader, &mut start)?;
        if !start.starts_with(MAGIC) {
            return Err(broken());
        }
        let (length, before) = match start[6] {
            1 => (usize::from(u16::from_le_bytes([start[8], start[9]])), 10),
            2 | 3 => {
                let mut more = [0; 2];
                exactly(reader, &mut more)?;
                (u32::from_le_bytes([start[8], start[9], more[0], more[1]]) as usize, 12)
            }
            version => {
                return Err(DataError::user(format!(
                    "NPY format version {version} is not supported; write the array again with numpy.save"
                )));
            }
        };
        if length > MAX_HEADER {
            return Err(broken());
        }
        let mut header = vec![0; length];
        exactly(reader, &mut header)?;
        let header = std::str::from_utf8(&header).map_err(|_| broken())?;
        let item = Item::parse(after(header, "descr").ok_or_else(broken)?)?;
        let is_fortran = after(header, "fortran_order").ok_or_else(broken)?.starts_with("True");
        let shape = after(header, "shape").ok_or_else(broken)?;
        let inside =
            shape.strip_prefix('(').and_then(|s| s.split(')').next()).ok_or_else(broken)?;
        let lengths = inside.split(',').map(str::trim).filter(|s| !s.is_empty());
        // Python 2 wrote lengths such as `10L`.
        let lengths = lengths.map(|s| s.strip_suffix('L').unwrap_or(s).parse().ok());
        let shape: Vec<usize> = lengths.collect::<Option<_>>().ok_or_else(broken)?;
        Ok(Header { shape, is_fortran, item, length: (before + length) as u64 })
    }

    /// The number of items.
    ///
    /// # Errors
    /// Returns an error if there are no items, or more items than a file can contain.
    pub(crate) fn items(&self) -> Result<usize, DataError> {
        if self.shape.contains(&0) || self.item.size == 0 {
            return Err(DataError::user(format!(
                "the array of shape {:?} with items of {} bytes is empty; a table has at least one row and one column",
                self.shape, self.item.size
            )));
        }
        let items = self.shape.iter().try_fold(1usize, |n, length| n.checked_mul(*length));
        items.filter(|n| n.checked_mul(self.item.size).is_some()).ok_or_else(|| {
            DataError::user(format!("an array of shape {:?} is larger than any file", self.shape))
        })
    }

    /// The row and the column of an item in a table with `rows` rows and `width` columns.
    pub(crate) fn place(&self, item: usize, rows: usize, width: usize) -> (usize, usize) {
        match self.is_fortran {
            true => (item % rows, item / rows),
            false => (item / width, item % width),
        }
    }

    /// Rejects a file of `length` bytes if the shape and the item type require another length.
    pub(crate) fn check_length(&self, length: u64) -> Result<(), DataError> {
        let size = self.items()? as u64 * self.item.size as u64;
        let found = length.saturating_sub(self.length);
        if found == size {
            return Ok(());
        }
        Err(DataError::user(format!(
            "there are {found} bytes of data, but the shape and the type require {size}; the file is cut off or damaged"
        )))
    }
}

fn exactly(reader: &mut impl Read, buffer: &mut [u8]) -> Result<(), DataError> {
    reader.read_exact(buffer).map_err(|_| broken())
}

fn broken() -> DataError {
    DataError::user("this is not an NPY array, or it is cut off; write it again with numpy.save")
}

/// The text that follows `'key': ` in the header.
fn after<'h>(header: &'h str, key: &str) -> Option<&'h str> {
    let quoted = [format!("'{key}'"), format!("\"{key}\"")];
    let at = quoted.iter().find_map(|q| header.find(q.as_str()).map(|at| at + q.len()))?;
    Some(header[at..].trim_start().strip_prefix(':')?.trim_start())
}

impl Item {
    fn parse(descr: &str) -> Result<Item, DataError> {
        let quote = descr.chars().next().filter(|c| *c == '\'' || *c == '"');
        let Some(code) = quote.and_then(|q| descr[1..].split(q).next()) else {
            return Err(DataError::user(
                "an array of records is not supported; save each field as an array of its own: \
                 numpy.savez(file, **{name: a[name] for name in a.dtype.names})",
            ));
        };
        let refused = |advice: &str| {
            DataError::user(format!("items of type {code} are not supported; {advice}"))
        };
        let other = || {
            refused("convert the array with .astype(float) for numbers or .astype(str) for text")
        };
        let mut letters = code.chars();
        let is_big_endian = match letters.next() {
            Some('<' | '|' | '=') => false,
            Some('>') => true,
            _ => return Err(other()),
        };
        let kind = letters.next().ok_or_else(other)?;
        let rest = letters.as_str();
        let count = || rest.parse::<usize>().map_err(|_| other());
        let (kind, size) = match kind {
            'O' => {
                return Err(refused(
                    "they are Python objects; convert the array with .astype(float) for numbers or .astype(str) for text",
                ));
            }
            'c' => return Err(refused("save the real and the imaginary part as two arrays")),
            'V' => return Err(refused("save each field as an array of its own")),
            'f' if matches!(count()?, 10 | 12 | 16) => {
                return Err(refused("convert the array with .astype('f8')"));
            }
            'f' if matches!(count()?, 2 | 4 | 8) => (Kind::Float, count()?),
            'i' if matches!(count()?, 1 | 2 | 4 | 8) => (Kind::Integer, count()?),
            'u' if matches!(count()?, 1 | 2 | 4 | 8) => (Kind::Unsigned, count()?),
            'b' if count()? == 1 => (Kind::Boolean, 1),
            'U' => (Kind::Text, count()?.checked_mul(4).ok_or_else(other)?),
            'S' | 'a' => (Kind::Bytes, count()?),
            'M' | 'm' => {
                let unit = if kind == 'M' { 86_400 } else { 1 };
                let scale = rest.strip_prefix('8').and_then(|ticks| scale(ticks, unit));
                let scale = scale.ok_or_else(|| {
                    refused("convert the array to a fixed unit with .astype('M8[s]') for times or .astype('m8[s]') for durations")
                })?;
                (if kind == 'M' { Kind::Days(scale) } else { Kind::Seconds(scale) }, 8)
            }
            _ => return Err(other()),
        };
        if size > MAX_ITEM {
            return Err(DataError::user(format!(
                "items of type {code} are too large; save shorter texts"
            )));
        }
        Ok(Item { kind, size, is_big_endian })
    }
}

/// The scale that converts ticks of `[unit]` or `[25unit]` to multiples of `seconds` seconds. Returns `None` for years
/// and months, because their lengths vary.
fn scale(ticks: &str, seconds: u64) -> Option<Scale> {
    let name = ticks.strip_prefix('[')?.split(']').next()?;
    let digits = name.len() - name.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (count, name) = name.split_at(digits);
    let count: u32 = if count.is_empty() { 1 } else { count.parse().ok()? };
    let (times, parts) = match name {
        "W" => (604_800, 1),
        "D" => (86_400, 1),
        "h" => (3600, 1),
        "m" => (60, 1),
        "s" => (1, 1),
        "ms" => (1, 1_000),
        "us" => (1, 1_000_000),
        "ns" => (1, 1_000_000_000),
        _ => return None,
    };
    Some(Scale { times: count.checked_mul(times)?, per: parts * seconds })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(descr: &str, shape: &str) -> Result<Header, DataError> {
        let text = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}");
        let length = (text.len() as u16).to_le_bytes();
        let bytes = [MAGIC, &[1, 0], &length, text.as_bytes()].concat();
        Header::read(&mut &bytes[..])
    }

    #[test]
    fn the_advice_matches_the_type() {
        for (descr, advice) in [
            ("'|O'", "astype(str)"),
            ("'<f16'", "astype('f8')"),
            ("'<c16'", "imaginary"),
            ("[('a', '<f8'), ('shape', '<i8')]", "numpy.savez"),
            ("'<M8'", "fixed unit"),
            ("'<M8[Y]'", "fixed unit"),
            ("'<f3'", "astype(float)"),
            ("'<U99999999999999999999'", "astype"),
            ("'<S999999999999'", "shorter"),
        ] {
            let error = header(descr, "(1,)").unwrap_err().to_string();
            assert!(error.contains(advice), "{descr}: {error}");
        }
    }

    #[test]
    fn empty_and_excessive_shapes_are_refused() {
        for (descr, shape) in [
            ("'<f8'", "(0, 1000000000000)"),
            ("'<U0'", "(1000000000000,)"),
            ("'|S0'", "(3, 4)"),
            ("'|u1'", "(0, 100000000)"),
            ("'|u1'", "(5, 0)"),
            ("'<f8'", "(4611686018427387904, 4611686018427387904)"),
            ("'<f8'", "(4611686018427387904,)"),
        ] {
            let header = header(descr, shape).unwrap();
            assert!(header.items().is_err() && header.check_length(80).is_err(), "{shape}");
        }
        assert_eq!(header("'<f8'", "(2L, 3)").unwrap().items(), Ok(6));
    }

    #[test]
    fn ticks_are_fractions_of_days() {
        let kind = |descr: &str| header(descr, "(1,)").unwrap().item.kind;
        let days = |descr: &str, ticks: i64| match kind(descr) {
            Kind::Days(scale) => scale.of(ticks),
            other => panic!("{other:?}"),
        };
        assert_eq!(
            (days("'<M8[D]'", 3), days("'<M8[W]'", 3), days("'<M8[6h]'", 3)),
            (3.0, 21.0, 0.75)
        );
        assert_eq!(days("'<M8[ns]'", 20_000 * 86_400_000_000_000), 20_000.0);
        assert_eq!(kind("'<m8[ms]'"), Kind::Seconds(Scale { times: 1, per: 1000 }));
    }
}
