//! Numbers for readers, and values as JSON.

use serde::Serialize;

/// The value as JSON on several lines, followed by a line end.
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

/// The superscript of a digit or a minus sign.
pub(crate) fn raised(c: char) -> char {
    match c {
        '-' => '⁻',
        '0' => '⁰',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '4' => '⁴',
        '5' => '⁵',
        '6' => '⁶',
        '7' => '⁷',
        '8' => '⁸',
        _ => '⁹',
    }
}

/// A text of plain characters in the form that readers see: integer exponents are raised (`10^80`, `2^-15`), and `lnln`
/// becomes two words. Other exponents, such as `n^0.5` and `2^r`, stay as they are.
pub(crate) fn typeset(text: &str) -> String {
    let (mut shown, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once('^') {
        shown.push_str(before);
        let digits_from = usize::from(after.starts_with('-'));
        let is_digit = |c: char| c.is_ascii_digit();
        let length =
            after[digits_from..].find(|c| !is_digit(c)).unwrap_or(after.len() - digits_from);
        let end = digits_from + length;
        let fraction =
            after[end..].strip_prefix('.').is_some_and(|next| next.starts_with(is_digit));
        if length == 0 || fraction || after[end..].starts_with(char::is_alphabetic) {
            shown.push('^');
            rest = after;
        } else {
            shown.extend(after[..end].chars().map(raised));
            rest = &after[end..];
        }
    }
    (shown + rest).replace("lnln", "ln ln")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_exponents_are_raised() {
        for (text, expected) in [
            ("10^80 points", "10⁸⁰ points"),
            ("margin 2^-15, R^30.", "margin 2⁻¹⁵, R³⁰."),
            ("n^0.5 and 2^r, 2^2d, e^(d/2), a^-", "n^0.5 and 2^r, 2^2d, e^(d/2), a^-"),
            ("5.6 d lnln n", "5.6 d ln ln n"),
            ("", ""),
            ("x^", "x^"),
            ("10^-3", "10⁻³"),
        ] {
            assert_eq!(typeset(text), expected);
        }
    }

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
