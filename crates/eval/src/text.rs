//! Numbers for readers, and values as JSON.

use serde::Serialize;

/// The value as JSON on several lines, with a final line end.
pub(crate) fn json_text(value: &impl Serialize) -> String {
    let text = serde_json::to_string_pretty(value);
    let Ok(mut text) = text else {
        unreachable!("types with derived Serialize and string keys serialise to JSON: {text:?}")
    };
    text.push('\n');
    text
}

/// The number with at most four significant digits, without trailing zeros.
pub(crate) fn short(value: &f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-3..1e6).contains(&size) {
        return format!("{value:.2e}");
    }
    let digits = if size >= 1000.0 { 0 } else { 3 - (size.max(1e-3).log10().floor() as i32) };
    let text = format!("{value:.*}", digits.max(0) as usize);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (value, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (0.333333, "0.3333"),
            (12.3456, "12.35"),
            (123456.7, "123457"),
            (1e-9, "1.00e-9"),
            (2.5e12, "2.50e12"),
            (1000.0, "1000"),
            (-0.5, "-0.5"),
        ] {
            assert_eq!(short(&value), text);
        }
    }
}
