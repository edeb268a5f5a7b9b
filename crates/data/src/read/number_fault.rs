//! Why a field is not a number, where the reason can be told.

use std::fmt;

/// Why a field is not a number, as far as it can be told; its text says what to do.
///
/// ```
/// use halfspaces_data::read::{CsvOptions, NumberFault, ReadError, read_csv_from};
/// let fault = read_csv_from(&b"7,0\n0x1f,1\n"[..], "t", &CsvOptions::new()).unwrap_err();
/// assert!(matches!(fault, ReadError::NotANumber { cause: NumberFault::Hexadecimal, .. }));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NumberFault {
    /// It is some text.
    Text,
    /// It is some text, on the first line of data.
    TextOnFirstLine,
    /// It is some text, in a file that can hold numbers only.
    TextInLibsvm,
    /// It holds a comma, in a file whose fields are separated by blanks.
    CommaInLibsvm,
    /// It is written in base 16, 8 or 2.
    Hexadecimal,
    /// Its digits are separated in groups, by `_`, `'` or a comma.
    Separators,
    /// A comma stands for the decimal point.
    DecimalComma,
    /// The exponent is marked by a D, as Fortran does.
    FortranExponent,
    /// It is a percentage.
    Percent,
    /// The minus sign is not that of ASCII.
    MinusSign,
    /// It holds a blank that is not one of ASCII, or that is not seen at all.
    HiddenBlank,
    /// It holds a byte-order mark.
    ByteOrderMark,
    /// It holds a NUL byte.
    NulByte,
}

impl NumberFault {
    /// Why `field`, which is not a number, is none.
    pub(super) fn of(field: &[u8]) -> NumberFault {
        if field.contains(&0) {
            return NumberFault::NulByte;
        }
        let Ok(text) = std::str::from_utf8(field) else { return NumberFault::Text };
        let becomes = |text: String| text.trim().parse::<f64>().is_ok();
        let without = |gone: &[char]| text.replace(gone, "");
        if text.contains('\u{feff}') {
            return NumberFault::ByteOrderMark;
        }
        if becomes(text.replace(['\u{2212}', '\u{2013}', '\u{2014}'], "-")) {
            return NumberFault::MinusSign;
        }
        if becomes(without(&['\u{a0}', '\u{2007}', '\u{2009}', '\u{202f}', '\u{200b}'])) {
            return NumberFault::HiddenBlank;
        }
        let digits = text.trim_start_matches(['+', '-']);
        for (marks, base) in [(["0x", "0X"], 16), (["0o", "0O"], 8), (["0b", "0B"], 2)] {
            let rest = marks.iter().find_map(|mark| digits.strip_prefix(mark));
            if rest.is_some_and(|r| !r.is_empty() && r.chars().all(|c| c.is_digit(base))) {
                return NumberFault::Hexadecimal;
            }
        }
        if becomes(without(&['_'])) || becomes(without(&['\''])) {
            return NumberFault::Separators;
        }
        if text.contains(',') {
            // 1,5 and 1.000,5 have a decimal comma; 1,000 and 1,000.5 have groups of three.
            let grouped = |whole: &str| {
                let mut groups = whole.trim_start_matches(['+', '-']).split(',');
                let first = groups.next().is_some_and(|g| (1..=3).contains(&g.len()));
                first && groups.all(|g| g.len() == 3)
            };
            let whole = text.split('.').next().unwrap_or(text);
            if whole.contains(',') && grouped(whole) && becomes(without(&[','])) {
                return NumberFault::Separators;
            }
            if becomes(without(&['.']).replacen(',', ".", 1)) {
                return NumberFault::DecimalComma;
            }
        }
        if text.strip_suffix('%').is_some_and(|number| becomes(number.to_owned())) {
            return NumberFault::Percent;
        }
        if text.contains(['d', 'D']) && becomes(text.replacen(['d', 'D'], "e", 1)) {
            return NumberFault::FortranExponent;
        }
        NumberFault::Text
    }

    /// Whether the field is a number in a form that is not read.
    pub(super) fn is_misspelt_number(self) -> bool {
        !matches!(
            self,
            NumberFault::Text
                | NumberFault::TextOnFirstLine
                | NumberFault::TextInLibsvm
                | NumberFault::CommaInLibsvm
                | NumberFault::NulByte
        )
    }

    /// The same in a LIBSVM file.
    pub(super) fn in_libsvm(self, field: &[u8]) -> NumberFault {
        match self {
            NumberFault::Text | NumberFault::Separators | NumberFault::DecimalComma
                if field.contains(&b',') =>
            {
                NumberFault::CommaInLibsvm
            }
            NumberFault::Text => NumberFault::TextInLibsvm,
            other => other,
        }
    }
}

impl fmt::Display for NumberFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NumberFault::Text => "write a number, or declare the column categorical",
            NumberFault::TextOnFirstLine => {
                "if this line names the columns, read with Header::Present; otherwise write a \
                 number, or declare the column categorical"
            }
            NumberFault::TextInLibsvm => "write a number; labels and values are numbers in LIBSVM text",
            NumberFault::CommaInLibsvm => {
                "write one label, then pairs as in 3:0.5, with blanks between them; if this is a CSV \
                 file, use read_csv"
            }
            NumberFault::Hexadecimal => "write it in decimal digits",
            NumberFault::Separators => "write the digits without separators",
            NumberFault::DecimalComma => "write a decimal point instead of the comma",
            NumberFault::FortranExponent => "write the exponent with an e, as in 1.5e-3",
            NumberFault::Percent => "write the percentage as a fraction or without its sign",
            NumberFault::MinusSign => "write the minus sign as the hyphen of ASCII",
            NumberFault::HiddenBlank => "remove the special space",
            NumberFault::ByteOrderMark => "remove the byte-order mark",
            NumberFault::NulByte => "remove the NUL byte; the file may be damaged",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_told_apart() {
        for (field, cause) in [
            ("0x1f", NumberFault::Hexadecimal),
            ("-0XFF", NumberFault::Hexadecimal),
            ("0b101", NumberFault::Hexadecimal),
            ("1_000", NumberFault::Separators),
            ("12'000.5", NumberFault::Separators),
            ("1,000", NumberFault::Separators),
            ("-1,234,567.5", NumberFault::Separators),
            ("1,5", NumberFault::DecimalComma),
            ("1.000,25", NumberFault::DecimalComma),
            ("1234,567", NumberFault::DecimalComma),
            ("1.0D+05", NumberFault::FortranExponent),
            ("5%", NumberFault::Percent),
            ("\u{2212}5", NumberFault::MinusSign),
            ("1\u{a0}000", NumberFault::HiddenBlank),
            ("\u{feff}7", NumberFault::ByteOrderMark),
            ("7\0", NumberFault::NulByte),
            ("abc", NumberFault::Text),
            ("0x", NumberFault::Text),
            ("0xg", NumberFault::Text),
            ("red, blue", NumberFault::Text),
            ("_", NumberFault::Text),
            ("d", NumberFault::Text),
            ("%", NumberFault::Text),
        ] {
            assert_eq!(NumberFault::of(field.as_bytes()), cause, "{field}");
        }
        assert_eq!(NumberFault::of(b"\xff1"), NumberFault::Text);
    }
}
