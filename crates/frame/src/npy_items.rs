//! Reads the items of an NPY array and converts them in pieces.

use crate::error::DataError;
use crate::npy_header::{Item, Kind, Scale};
use arrow_array::types::{ArrowPrimitiveType, Float16Type};
use std::io::{self, Read};

/// The number of items that are converted at a time.
const PIECE: usize = 1 << 13;

/// An integer that an `f64` cannot represent exactly, with its index among the items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rounded {
    pub(crate) item: usize,
    pub(crate) integer: String,
}

/// Reads `count` numbers and passes them to `take` in pieces. Missing times are passed as NaN. Returns the first
/// integer that was rounded.
///
/// # Errors
/// Returns an error if there are fewer than `count` items or if `take` fails.
pub(crate) fn for_pieces(
    reader: &mut impl Read,
    item: Item,
    count: usize,
    mut take: impl FnMut(&[f64]) -> Result<(), DataError>,
) -> Result<Option<Rounded>, DataError> {
    let mut bytes = vec![0; PIECE.min(count) * item.size];
    let mut numbers = Vec::with_capacity(PIECE.min(count));
    let mut rounded = None;
    for start in (0..count).step_by(PIECE) {
        let bytes = &mut bytes[..PIECE.min(count - start) * item.size];
        fill(reader, bytes)?;
        numbers.clear();
        convert(item, bytes, &mut numbers);
        if rounded.is_none() {
            rounded = first_rounded(item, bytes, start);
        }
        take(&numbers)?;
    }
    Ok(rounded)
}

/// Reads `count` texts or 64-bit integers and passes them to `take` as texts, with their indices. A text that is not
/// valid Unicode is passed as an error.
///
/// # Errors
/// Returns an error if there are fewer than `count` items or if `take` fails.
pub(crate) fn for_texts(
    reader: &mut impl Read,
    item: Item,
    count: usize,
    mut take: impl FnMut(usize, Result<&str, &'static str>) -> Result<(), DataError>,
) -> Result<(), DataError> {
    let mut bytes = vec![0; item.size];
    let mut letters = String::new();
    for at in 0..count {
        fill(reader, &mut bytes)?;
        if let Some(integer) = item.long(&bytes) {
            take(at, Ok(&integer.to_string()))?;
        } else if item.kind == Kind::Bytes {
            let used = bytes.iter().rposition(|b| *b != 0).map_or(0, |last| last + 1);
            take(at, std::str::from_utf8(&bytes[..used]).map_err(|_| NOT_UTF8))?;
        } else {
            letters.clear();
            take(at, unicode(&bytes, item.is_big_endian, &mut letters))?;
        }
    }
    Ok(())
}

const NOT_UTF8: &str = "the bytes are not UTF-8 text; convert the array, for example with numpy.char.decode(a, 'latin-1')";

fn unicode<'l>(
    bytes: &[u8],
    is_big_endian: bool,
    letters: &'l mut String,
) -> Result<&'l str, &'static str> {
    let (codes, _) = bytes.as_chunks::<4>();
    let used = codes.iter().rposition(|code| *code != [0; 4]).map_or(0, |last| last + 1);
    for code in &codes[..used] {
        let code =
            if is_big_endian { u32::from_be_bytes(*code) } else { u32::from_le_bytes(*code) };
        letters.push(char::from_u32(code).ok_or("not valid Unicode; the file is damaged")?);
    }
    Ok(letters)
}

fn fill(reader: &mut impl Read, bytes: &mut [u8]) -> Result<(), DataError> {
    reader.read_exact(bytes).map_err(|error| {
        DataError::user(match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                "there is less data than the shape and the type require; the file is cut off"
                    .to_owned()
            }
            _ => format!("cannot be decompressed: {error}"),
        })
    })
}

/// Converts whole items to numbers and appends them.
fn convert(item: Item, bytes: &[u8], numbers: &mut Vec<f64>) {
    match (item.kind, item.size) {
        (Kind::Float, 8) => extend::<8>(item, bytes, numbers, f64::from_le_bytes),
        (Kind::Float, 4) => extend::<4>(item, bytes, numbers, |b| f32::from_le_bytes(b).into()),
        (Kind::Float, _) => extend::<2>(item, bytes, numbers, half),
        (Kind::Integer, 8) => extend::<8>(item, bytes, numbers, |b| i64::from_le_bytes(b) as f64),
        (Kind::Integer, 4) => extend::<4>(item, bytes, numbers, |b| i32::from_le_bytes(b).into()),
        (Kind::Integer, 2) => extend::<2>(item, bytes, numbers, |b| i16::from_le_bytes(b).into()),
        (Kind::Integer, _) => extend::<1>(item, bytes, numbers, |b| i8::from_le_bytes(b).into()),
        (Kind::Unsigned, 8) => extend::<8>(item, bytes, numbers, |b| u64::from_le_bytes(b) as f64),
        (Kind::Unsigned, 4) => extend::<4>(item, bytes, numbers, |b| u32::from_le_bytes(b).into()),
        (Kind::Unsigned, 2) => extend::<2>(item, bytes, numbers, |b| u16::from_le_bytes(b).into()),
        (Kind::Unsigned, _) => extend::<1>(item, bytes, numbers, |[b]| b.into()),
        (Kind::Boolean, _) => extend::<1>(item, bytes, numbers, |[b]| f64::from(u8::from(b != 0))),
        (Kind::Days(scale) | Kind::Seconds(scale), _) => {
            extend::<8>(item, bytes, numbers, |b| ticks(scale, i64::from_le_bytes(b)));
        }
        (Kind::Text | Kind::Bytes, _) => unreachable!("texts are not converted to numbers"),
    }
}

#[inline]
fn extend<const N: usize>(
    item: Item,
    bytes: &[u8],
    numbers: &mut Vec<f64>,
    number: impl Fn([u8; N]) -> f64,
) {
    let (items, _) = bytes.as_chunks::<N>();
    if item.is_big_endian {
        numbers.extend(items.iter().map(|bytes| {
            let mut bytes = *bytes;
            bytes.reverse();
            number(bytes)
        }));
    } else {
        numbers.extend(items.iter().map(|bytes| number(*bytes)));
    }
}

fn half(bytes: [u8; 2]) -> f64 {
    <Float16Type as ArrowPrimitiveType>::Native::from_le_bytes(bytes).to_f64()
}

/// Converts ticks to days or seconds. The smallest integer means "not a time" and becomes NaN.
fn ticks(scale: Scale, ticks: i64) -> f64 {
    if ticks == i64::MIN { f64::NAN } else { scale.of(ticks) }
}

impl Item {
    /// Whether the items are 64-bit integers.
    pub(crate) fn is_long(self) -> bool {
        self.size == 8 && matches!(self.kind, Kind::Integer | Kind::Unsigned)
    }

    /// The 64-bit integer in these bytes, or `None` if the items are not 64-bit integers.
    fn long(self, bytes: &[u8]) -> Option<i128> {
        let bytes = bytes.try_into().ok().filter(|_| self.is_long())?;
        let bits =
            if self.is_big_endian { u64::from_be_bytes(bytes) } else { u64::from_le_bytes(bytes) };
        let is_signed = self.kind == Kind::Integer;
        Some(if is_signed { i128::from(bits as i64) } else { i128::from(bits) })
    }
}

/// The first integer among the items that an `f64` cannot represent exactly.
fn first_rounded(item: Item, bytes: &[u8], start: usize) -> Option<Rounded> {
    if !item.is_long() {
        return None;
    }
    let integers = bytes.chunks_exact(8).filter_map(|bytes| item.long(bytes)).enumerate();
    let is_rounded =
        |integer: i128| integer.unsigned_abs() > 1 << 53 && integer as f64 as i128 != integer;
    let mut rounded = integers.filter(|(_, integer)| is_rounded(*integer));
    rounded.next().map(|(at, integer)| Rounded { item: start + at, integer: integer.to_string() })
}
