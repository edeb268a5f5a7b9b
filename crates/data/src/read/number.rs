//! Numbers from bytes: every form that `str::parse::<f64>` takes, rounded to nearest alike.

use super::error::{Location, ReadError, excerpt};

/// Powers of ten that `f64` holds exactly.
const POWERS: [f64; 20] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19,
];

/// The number that `field` spells, possibly NaN or infinite.
#[inline]
pub(super) fn parse(field: &[u8]) -> Option<f64> {
    short_decimal(field).or_else(|| general(field))
}

/// [`parse`], with everything but a finite number reported as a fault at `at`.
#[inline]
pub(super) fn finite(field: &[u8], at: impl FnOnce() -> Location) -> Result<f64, ReadError> {
    match parse(field) {
        Some(value) if value.is_finite() => Ok(value),
        Some(_) => Err(ReadError::NonFinite { at: at(), found: excerpt(field) }),
        None if is_missing(field) || is_na(field) => Err(ReadError::MissingValue { at: at() }),
        None => Err(ReadError::NotANumber { at: at(), found: excerpt(field) }),
    }
}

/// Whether a field of any column counts as missing.
#[inline]
pub(super) fn is_missing(field: &[u8]) -> bool {
    matches!(field, b"" | b"?")
}

/// Whether a field counts as missing in a numeric column (elsewhere `NA` may be a name).
#[inline]
pub(super) fn is_na(field: &[u8]) -> bool {
    field == b"NA"
}

/// Plain decimals of few digits, the common case: integer and power of ten are both exact in `f64`
/// (the integer at most 2^53), so one division rounds once and correctly.
#[inline]
fn short_decimal(field: &[u8]) -> Option<f64> {
    let (negative, digits) = match field {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, field),
    };
    // At most 19 digits cannot overflow 64 bits.
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
    if spelled == 0 || integer > 1 << 53 {
        return None;
    }
    let value = integer as f64 / POWERS.get(decimals)?;
    Some(if negative { -value } else { value })
}

/// The standard library's parser, after the blanks that a quoted field may hold.
#[cold]
fn general(field: &[u8]) -> Option<f64> {
    std::str::from_utf8(field.trim_ascii()).ok()?.parse().ok()
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
        ] {
            assert_eq!(parse(text.as_bytes()).unwrap().to_bits(), f64::to_bits(value), "{text}");
        }
        assert_eq!(parse(b"-0").unwrap().to_bits(), (-0.0f64).to_bits());
        for text in ["", ".", "-", "+-1", "1.2.3", "1,5", "0x10", "1_000", "abc", "1e", "\u{661}"] {
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
