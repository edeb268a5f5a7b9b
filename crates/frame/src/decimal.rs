//! Parses numbers from bytes. Every form that `str::parse::<f64>` accepts is parsed, with the same rounding.
//!
//! Plain decimals with few digits, which are the common case, are parsed here. All other numbers are parsed by
//! `fast-float2`. If `fast-float2` parsed every number, LIBSVM text whose values are all 1 would be read at 306 MB/s
//! instead of 351 MB/s.

/// Powers of ten, all of which are exact in `f64`.
const POWERS: [f64; 20] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19,
];

/// A word of eight bytes that are all 1.
const EACH: u64 = u64::from_ne_bytes([1; 8]);

/// Parses the number in `field`, which may be NaN or infinite. Surrounding blanks are skipped.
#[inline]
pub(crate) fn parse(field: &[u8]) -> Option<f64> {
    short_decimal(field).or_else(|| general(field))
}

/// Returns a word in which the top bit of a byte is set if the corresponding byte of `word` equals `byte`.
#[inline]
pub(crate) fn bytes_equal(word: u64, byte: u8) -> u64 {
    const LOW: u64 = u64::from_ne_bytes([0x7f; 8]);
    let zero_where_equal = word ^ u64::from_ne_bytes([byte; 8]);
    // Adding 0x7f to the low seven bits of a byte carries into its top bit, unless these seven bits are all zero.
    !(((zero_where_equal & LOW) + LOW) | zero_where_equal | LOW)
}

/// Parses a plain decimal with few digits, which is the common case. The integer formed by the digits, which is at most
/// 2^53, and the power of ten are both exact in `f64`. So the only rounding is that of one division, which is correctly
/// rounded.
#[inline(always)]
pub(crate) fn short_decimal(field: &[u8]) -> Option<f64> {
    // The sign is unpredictable, so this code avoids a branch.
    let first = *field.first()?;
    let negative = first == b'-';
    let digits = field.get(usize::from(negative | (first == b'+'))..)?;
    let (integer, decimals) = match word_of(digits) {
        Some(word) => digits_of_word(word, digits.len())?,
        None => digits_one_by_one(digits)?,
    };
    quotient(negative, integer, decimals)
}

/// Parses the field `text[start..end]` like [`short_decimal`], but faster. Also returns the number of digits after the
/// decimal point. Returns `None` if the field has more than eight digits, starts with a zero that is followed by
/// another digit, or is near the end of the text.
#[inline(always)]
pub(crate) fn short_decimal_within(text: &[u8], start: usize, end: usize) -> Option<(f64, usize)> {
    let bytes = text.get(start..)?.first_chunk::<9>()?;
    // The sign and the first digit are unpredictable, so this code avoids branches.
    let negative = bytes[0] == b'-';
    let sign = usize::from(negative | (bytes[0] == b'+'));
    let length = end.wrapping_sub(start + sign);
    let leading_zero = (bytes[0] == b'0') & bytes[1].is_ascii_digit() & (length > 1);
    if leading_zero | !matches!(length, 1..=8) {
        return None;
    }
    let word = bytes[sign..].first_chunk::<8>()?;
    let (integer, decimals) = digits_of_word(u64::from_le_bytes(*word), length)?;
    Some((quotient(negative, integer, decimals)?, decimals))
}

#[inline(always)]
fn quotient(negative: bool, integer: u64, decimals: usize) -> Option<f64> {
    // A signed integer is converted in one instruction.
    let size = integer as i64 as f64 / POWERS.get(decimals)?;
    Some(f64::from_bits(size.to_bits() | u64::from(negative) << 63))
}

/// Returns all digits as one integer, which is at most 2^53, and the number of digits after the decimal point.
#[inline]
fn digits_one_by_one(digits: &[u8]) -> Option<(u64, usize)> {
    // A number of at most 19 digits cannot overflow 64 bits.
    if digits.len() > 19 {
        return None;
    }
    let mut integer = 0u64;
    let mut point = None;
    for (i, &byte) in digits.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit <= 9 {
            integer = integer * 10 + u64::from(digit);
        } else if byte == b'.' && point.is_none() {
            point = Some(i);
        } else {
            return None;
        }
    }
    let decimals = point.map_or(0, |at| digits.len() - at - 1);
    let spelled = digits.len() - usize::from(point.is_some());
    (spelled > 0 && integer <= 1 << 53).then_some((integer, decimals))
}

/// Packs two to eight bytes into one word. The first byte is the lowest, and the bytes above the last one are zero.
#[inline]
fn word_of(bytes: &[u8]) -> Option<u64> {
    let n = bytes.len();
    if let (Some(low), Some(high), 4..=8) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>(), n) {
        // The two halves contain the same bytes where they overlap.
        let (low, high) = (u32::from_le_bytes(*low), u32::from_le_bytes(*high));
        return Some(u64::from(low) | u64::from(high) << (8 * (n - 4)));
    }
    if let (Some(low), Some(high), 2..=3) = (bytes.first_chunk::<2>(), bytes.last_chunk::<2>(), n) {
        let (low, high) = (u16::from_le_bytes(*low), u16::from_le_bytes(*high));
        return Some(u64::from(low) | u64::from(high) << (8 * (n - 2)));
    }
    None
}

/// Like [`digits_one_by_one`], but processes the first `length` (1 to 8) bytes of a word at once. The other bytes may
/// have any value.
#[inline(always)]
fn digits_of_word(word: u64, length: usize) -> Option<(u64, usize)> {
    let digits = digits_at_top(word, length);
    // The first decimal point is removed. A second point is not a digit and is rejected.
    let points = bytes_equal(digits, b'.' ^ b'0');
    if points == 0 {
        return Some((integer_at_top(digits)?, 0));
    }
    let at = points.trailing_zeros() as usize / 8;
    let before = digits & ((1 << (8 * at)) - 1);
    let after = digits & (!0xff << (8 * at));
    let integer = integer_at_top(before << 8 | after)?;
    (length > 1).then_some((integer, 7 - at))
}

/// Parses the integer in the lowest `length` (1 to 8) bytes of a word. The first digit is the lowest byte. The other
/// bytes may have any value.
#[inline]
pub(crate) fn integer_of_word(word: u64, length: usize) -> Option<u64> {
    integer_at_top(digits_at_top(word, length))
}

/// Returns a word in which the top bit of a byte is set if the corresponding byte of `values` is larger than 9. The byte
/// after one that is larger than 137 may be marked, too.
#[inline(always)]
fn too_large(values: u64) -> u64 {
    (values | values.wrapping_add(0x76 * EACH)) & (0x80 * EACH)
}

/// Moves the lowest `length` (1 to 8) bytes of a word to the top, converts digits to their values, and fills the bytes
/// below with leading zeros.
#[inline(always)]
fn digits_at_top(word: u64, length: usize) -> u64 {
    (word ^ (0x30 * EACH)) << (8 * (8 - length))
}

/// Like [`combined`], but returns `None` if a value is larger than 9.
#[inline(always)]
fn integer_at_top(values: u64) -> Option<u64> {
    (too_large(values) == 0).then(|| combined(values))
}

/// Returns the integer that is formed by the digits at the end of a word, and the number of these digits, which is less
/// than eight. The last byte is the highest. Returns `None` if all bytes are digits or if the last byte is not a digit.
#[inline(always)]
pub(crate) fn last_integer(word: u64) -> Option<(u64, usize)> {
    let values = word ^ (0x30 * EACH);
    let digits = too_large(values).leading_zeros() as usize / 8;
    if !matches!(digits, 1..=7) {
        return None;
    }
    Some((combined(values & (u64::MAX << (8 * (8 - digits)))), digits))
}

/// Combines the values of eight digits into an integer. The most significant digit is the lowest byte.
#[inline(always)]
fn combined(values: u64) -> u64 {
    // These lines combine two digits into one number, and then the four pairs. The first of two neighbours is the more
    // significant one. The product adds the pairs in its upper half, each times a power of 100.
    const PAIRS: u64 = 0x0000_00ff_0000_00ff;
    let pairs = values * 10 + (values >> 8);
    let (odd, even) = (pairs & PAIRS, (pairs >> 16) & PAIRS);
    let sum = odd.wrapping_mul(100 + (1_000_000 << 32));
    sum.wrapping_add(even.wrapping_mul(1 + (10_000 << 32))) >> 32
}

/// Parses all other forms, after skipping the blanks that a quoted field may contain.
#[cold]
fn general(field: &[u8]) -> Option<f64> {
    fast_float2::parse(field.trim_ascii()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_forms_of_a_number() {
        for (text, value) in [
            ("0", 0.0),
            ("+1", 1.0),
            ("-1.50", -1.5),
            (".5", 0.5),
            ("5.", 5.0),
            ("1e3", 1000.0),
            ("-2E-2", -0.02),
            (" 7 ", 7.0),
            ("9007199254740993", 9007199254740992.0),
            ("123456789012345678901", 123456789012345680000.0),
            ("1234567890e1", 12345678900.0),
        ] {
            assert_eq!(parse(text.as_bytes()).unwrap().to_bits(), f64::to_bits(value), "{text}");
        }
        assert_eq!(parse(b"-0").unwrap().to_bits(), (-0.0f64).to_bits());
        for text in [
            "",
            ".",
            "-",
            "+-1",
            "1.2.3",
            "123456789.1.2",
            "1,5",
            "0x10",
            "1_000",
            "abc",
            "1e",
            "\u{661}",
        ] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
        for text in ["inf", "-Infinity", "NaN", "1e999"] {
            assert!(!parse(text.as_bytes()).unwrap().is_finite(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn agrees_with_the_standard_library(
            text in prop_oneof![
                "[-+]?[0-9]{0,12}[.]?[0-9]{0,12}",
                "[-+]?[0-9]{1,4}[.]?[0-9]{0,8}",
                "[-+.0-9eE]{0,8}",
                any::<f64>().prop_map(|v| v.to_string()),
                any::<f64>().prop_map(|v| format!("{v:e}")),
                (-1e6..1e6f64).prop_map(|v| format!("{v:.3}")),
            ],
        ) {
            let bits = |v: Option<f64>| v.map(f64::to_bits);
            prop_assert_eq!(bits(parse(text.as_bytes())), bits(text.parse().ok()));
        }
    }
}
