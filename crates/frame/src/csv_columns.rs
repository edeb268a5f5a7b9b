//! Collects the columns of a text file while the file is read.

use crate::levels::Levels;
use crate::typing::{
    Cells, Markers, NumberFormat, Points, RawTexts, has_turned_sign, plain_number,
};
use crate::values::Values;

/// The limit up to which an `f64` represents every integer exactly.
pub(crate) const EXACT: f64 = (1u64 << 53) as f64;

/// Whether a number equals the integer in its cell. Numbers with a fraction or an exponent always count as exact,
/// because rounding them is allowed.
pub(crate) fn is_exact(value: f64, cell: &[u8]) -> bool {
    let integer = std::str::from_utf8(cell).ok().and_then(|text| text.trim().parse::<i128>().ok());
    integer.is_none_or(|integer| value as i128 == integer)
}

/// The error for a cell that is not valid UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NotUtf8;

/// The cells of a column that have been read so far. They are stored as numbers as long as all cells are plain numbers,
/// and as distinct texts otherwise.
#[derive(Debug)]
pub(crate) struct ColumnBuilder {
    state: State,
    markers: Markers,
    /// The first integer that an `f64` cannot represent exactly, with its row.
    rounded: Option<(usize, String)>,
    /// The first number that is written like a code, with its row.
    zero: Option<(usize, String)>,
    /// The first negative number without a leading minus sign, with its row.
    sign: Option<(usize, String)>,
    points: Points,
}

#[derive(Debug)]
enum State {
    /// All cells so far are missing. The cells are kept in case texts follow.
    Missing {
        codes: Vec<u32>,
        levels: Levels,
    },
    Numbers(Vec<f64>),
    Texts {
        codes: Vec<u32>,
        levels: Levels,
    },
    /// A cell that is not a number came after numbers. The column must be read again as texts.
    Words {
        row: usize,
        cell: String,
    },
}

/// The finished cells of a column.
#[derive(Debug)]
pub(crate) enum Built {
    Cells {
        cells: Cells,
        /// The first integer that was rounded, with its row.
        rounded: Option<(usize, String)>,
        /// The first number that is written like a code, with its row.
        zero: Option<(usize, String)>,
        /// The first negative number without a leading minus sign, with its row.
        sign: Option<(usize, String)>,
        /// The set of the numbers of digits after the point, for a column of numbers.
        points: Points,
    },
    /// A cell that is not a number came after numbers. The fields are the first such cell and its row. The file must be
    /// read again with this column as texts.
    Words { row: usize, cell: String },
}

impl Built {
    /// The unchanged values of the column, or `None` if numbers and other cells are mixed.
    pub(crate) fn into_values(self) -> Option<Values> {
        match self {
            Built::Cells { cells: Cells::Numbers(values), .. } => Some(Values::numbers(values)),
            Built::Cells { cells, .. } => {
                let raw = cells.into_texts();
                Some(Values::texts(raw.codes, &raw.levels))
            }
            Built::Words { .. } => None,
        }
    }
}

impl ColumnBuilder {
    /// Creates an empty column. If `texts` is true, cells are collected as texts. Otherwise, they are collected as
    /// numbers as long as all of them are plain numbers. Cells that equal one of the `markers` count as missing
    /// numbers.
    pub(crate) fn new(texts: bool, markers: Markers) -> ColumnBuilder {
        let (codes, levels) = (Vec::new(), Levels::default());
        let state =
            if texts { State::Texts { codes, levels } } else { State::Missing { codes, levels } };
        let points = Points::default();
        ColumnBuilder { state, markers, rounded: None, zero: None, sign: None, points }
    }

    /// Adds a cell to the column.
    #[inline]
    pub(crate) fn push(&mut self, cell: &[u8]) -> Result<(), NotUtf8> {
        if let State::Numbers(values) = &mut self.state
            && let Some(value) = plain_number(cell)
        {
            if value.abs() >= EXACT && self.rounded.is_none() && !is_exact(value, cell) {
                self.rounded = Some((values.len(), String::from_utf8_lossy(cell).into_owned()));
            }
            if self.zero.is_none() && is_code(cell) {
                self.zero = Some((values.len(), String::from_utf8_lossy(cell).into_owned()));
            }
            if self.points.are_open() {
                self.points.add(Points::of(cell));
            }
            values.push(value);
            return Ok(());
        }
        self.push_other(cell)
    }

    /// Adds an empty cell.
    pub(crate) fn push_empty(&mut self) {
        if self.push(b"").is_err() {
            unreachable!("an empty cell is UTF-8");
        }
    }

    /// Whether the column contains at least one number and only numbers so far.
    pub(crate) fn is_number(&self) -> bool {
        matches!(self.state, State::Numbers(_))
    }

    /// Reserves capacity for `more` numbers.
    pub(crate) fn reserve(&mut self, more: usize) {
        if let State::Numbers(values) = &mut self.state {
            values.reserve_exact(more);
        }
    }

    /// Appends plain numbers to a column that contains only numbers so far.
    pub(crate) fn extend(&mut self, numbers: impl ExactSizeIterator<Item = f64>) {
        if let State::Numbers(values) = &mut self.state {
            values.extend(numbers);
        }
    }

    /// Adds the numbers of digits after the point in numbers that were appended.
    pub(crate) fn add_points(&mut self, points: Points) {
        self.points.add(points);
    }

    /// Appends a cell that is not a plain number, or any cell of a column that has no numbers so far.
    fn push_other(&mut self, cell: &[u8]) -> Result<(), NotUtf8> {
        match &mut self.state {
            State::Numbers(values) if self.markers.has(cell) => values.push(f64::NAN),
            State::Numbers(values) => {
                let cell = utf8(cell)?;
                match NumberFormat::default().parse(cell) {
                    // This reads cells such as `5-` or `1.5D+03`.
                    Some(value) => {
                        if self.sign.is_none() && has_turned_sign(cell) {
                            self.sign = Some((values.len(), cell.to_owned()));
                        }
                        self.points.add(Points::of(cell.as_bytes()));
                        values.push(value);
                    }
                    None => self.state = State::Words { row: values.len(), cell: cell.to_owned() },
                }
            }
            State::Texts { codes, levels } => codes.push(levels.code(utf8(cell)?)),
            State::Missing { codes, levels } if self.markers.has(cell) => {
                codes.push(levels.code(utf8(cell)?))
            }
            State::Missing { codes, levels } => {
                if plain_number(cell).is_some() {
                    self.state = State::Numbers(vec![f64::NAN; codes.len()]);
                    return self.push(cell);
                }
                codes.push(levels.code(utf8(cell)?));
                self.state =
                    State::Texts { codes: std::mem::take(codes), levels: std::mem::take(levels) };
            }
            State::Words { .. } => {}
        }
        Ok(())
    }

    /// Returns the finished column.
    pub(crate) fn finish(self) -> Built {
        let (rounded, zero, sign, points) = (self.rounded, self.zero, self.sign, self.points);
        match self.state {
            State::Numbers(values) => {
                Built::Cells { cells: Cells::Numbers(values), rounded, zero, sign, points }
            }
            State::Missing { codes, levels } | State::Texts { codes, levels } => Built::Cells {
                cells: Cells::Texts(RawTexts { codes, levels: levels.into_names() }),
                rounded,
                zero,
                sign,
                points,
            },
            State::Words { row, cell } => Built::Words { row, cell },
        }
    }
}

/// Whether a cell starts with a zero that is followed by another digit. Postal codes and article numbers often start
/// like this, but most numbers do not.
#[inline]
pub(crate) fn has_leading_zero(cell: &[u8]) -> bool {
    matches!(cell, [b'0', b'0'..=b'9', ..])
}

/// Whether a cell is a number that is written like a code. This is an integer with a leading zero, or two integers
/// joined by an E or a D (`5E3`). Programs that write exponents also write a decimal point or a sign.
pub(crate) fn is_code(cell: &[u8]) -> bool {
    let digits = cell.iter().take_while(|byte| byte.is_ascii_digit()).count();
    match &cell[digits..] {
        [] => has_leading_zero(cell),
        [b'e' | b'E' | b'd' | b'D', exponent @ ..] => {
            digits > 0 && !exponent.is_empty() && exponent.iter().all(u8::is_ascii_digit)
        }
        _ => false,
    }
}

fn utf8(cell: &[u8]) -> Result<&str, NotUtf8> {
    std::str::from_utf8(cell).map_err(|_| NotUtf8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(cells: &[&str], texts: bool) -> Built {
        let mut builder = ColumnBuilder::new(texts, Markers::default());
        for cell in cells {
            builder.push(cell.as_bytes()).unwrap();
        }
        builder.finish()
    }

    fn texts(built: Built) -> Vec<String> {
        let Built::Cells { cells: Cells::Texts(raw), .. } = built else { panic!("{built:?}") };
        raw.codes.iter().map(|code| raw.levels[*code as usize].clone()).collect()
    }

    #[test]
    fn plain_numbers_stay_numbers_and_other_cells_become_texts() {
        let Built::Cells { cells: Cells::Numbers(values), .. } =
            column(&["", "1", "NA", "+2.5e1"], false)
        else {
            panic!("numbers")
        };
        assert!(values[0].is_nan() && values[2].is_nan());
        assert_eq!((values[1], values[3]), (1.0, 25.0));
        assert_eq!(texts(column(&["NA", "", "a", "1"], false)), ["NA", "", "a", "1"]);
        assert_eq!(texts(column(&["1", "NA"], true)), ["1", "NA"]);
        assert_eq!(texts(column(&["", "?"], false)), ["", "?"]);
    }

    #[test]
    fn words_after_numbers_require_a_second_reading() {
        assert!(matches!(column(&["", "1", "a", "2"], false), Built::Words { row: 2, .. }));
        // Words for infinity are not numbers, whichever row they are in.
        assert!(matches!(column(&["1", "Inf"], false), Built::Words { row: 1, .. }));
        assert_eq!(texts(column(&["Inf", "1"], false)), ["Inf", "1"]);
        assert!(matches!(column(&["1", "1e999"], false), Built::Words { row: 1, .. }));
    }

    #[test]
    fn numbers_in_other_notations_require_no_second_reading() {
        let built = column(&["1", "5-", "1.5D+03", "\u{2212}2", "(3)"], false);
        let Built::Cells { cells: Cells::Numbers(values), .. } = built else { panic!("{built:?}") };
        assert_eq!(values, [1.0, -5.0, 1500.0, -2.0, -3.0]);
    }

    #[test]
    fn numbers_written_as_codes_are_noticed() {
        for (cells, first) in [
            (&["1", "0", "0.5", "00.5", "-01"][..], None),
            (&["12345", "02134", "00501"], Some((1, "02134".to_owned()))),
            (&["07", "8"], Some((0, "07".to_owned()))),
            (&["1e+05", "1.5e3", "2E-3", "5E3"], Some((3, "5E3".to_owned()))),
        ] {
            let Built::Cells { zero, .. } = column(cells, false) else { panic!("{cells:?}") };
            assert_eq!(zero, first, "{cells:?}");
        }
        for cell in ["E3", "5E", "5E3E", "0"] {
            assert!(!is_code(cell.as_bytes()), "{cell}");
        }
    }

    #[test]
    fn integers_that_are_rounded_are_noticed() {
        let built =
            column(&["9007199254740992", "", "9007199254740993", "9007199254740995"], false);
        let Built::Cells { cells: Cells::Numbers(values), rounded, .. } = built else {
            panic!("{built:?}")
        };
        assert_eq!((values.len(), values[2]), (4, EXACT));
        assert_eq!(rounded, Some((2, "9007199254740993".to_owned())));
        let built = column(&["-9007199254740994", "1e300", "9007199254740993.5"], false);
        assert!(matches!(built, Built::Cells { rounded: None, .. }));
    }
}
