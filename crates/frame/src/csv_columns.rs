//! Columns of a text file while they are read.

use crate::levels::Levels;
use crate::options::MISSING_CELLS;
use crate::values::{MISSING, Values};

/// A column that reads as texts is one of numbers with mistakes in it if more than this share of its cells are
/// numbers, and more than [`MIN_DIFFERENT`] different ones.
const MOSTLY: f64 = 0.5;
const MIN_DIFFERENT: usize = 20;

/// The number that a cell holds, infinite ones included; none for words and for NaN.
pub(crate) fn is_number(cell: &[u8]) -> Option<f64> {
    fast_float2::parse::<f64, _>(cell).ok().filter(|v| !v.is_nan())
}

/// Up to here every integer is a number.
pub(crate) const EXACT: f64 = (1u64 << 53) as f64;

/// Whether a cell, if it is an integer, is the number that it was read as. Of fractions and powers of ten nobody expects it.
fn holds(value: f64, cell: &[u8]) -> bool {
    let integer = std::str::from_utf8(cell).ok().and_then(|text| text.trim().parse::<i128>().ok());
    integer.is_none_or(|integer| value as i128 == integer)
}

/// What is wrong with a cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CellFault {
    NotUtf8,
    Infinite,
}

/// A column so far.
#[derive(Debug)]
pub(crate) struct ColumnBuilder {
    kind: Kind,
    /// Cells that are numbers, missing ones not counted.
    numbers: usize,
    /// The first row whose cell is neither a number nor missing, and the cell.
    first_word: Option<(usize, String)>,
    /// The first integer that a number does not hold, and its row.
    rounded: Option<(usize, String)>,
}

#[derive(Debug)]
enum Kind {
    Numbers(Vec<f64>),
    Texts {
        codes: Vec<u32>,
        levels: Levels,
    },
    /// Numbers came first, then this word: it must be read again as texts.
    Words {
        row: usize,
        cell: String,
    },
}

/// What a column turned out to be.
#[derive(Debug)]
pub(crate) enum Built {
    Values(Values),
    /// Numbers up to this row and its cell: the file must be read again with this column as texts.
    Words {
        row: usize,
        cell: String,
    },
    /// Numbers, of which this row's cell is an integer that was rounded.
    Rounded {
        values: Vec<f64>,
        row: usize,
        cell: String,
    },
    /// A column of numbers but for this row's cell; so many of its cells are numbers.
    Mixed {
        row: usize,
        cell: String,
        numbers: usize,
    },
}

impl ColumnBuilder {
    /// A column of texts, or of what its cells look like.
    pub(crate) fn new(texts: bool) -> ColumnBuilder {
        let kind = if texts {
            Kind::Texts { codes: Vec::new(), levels: Levels::default() }
        } else {
            Kind::Numbers(Vec::new())
        };
        ColumnBuilder { kind, numbers: 0, first_word: None, rounded: None }
    }

    /// Adds a cell.
    pub(crate) fn push(&mut self, cell: &[u8], missing: &[String]) -> Result<(), CellFault> {
        if let Kind::Numbers(values) = &mut self.kind
            && let Some(value) = is_number(cell)
        {
            if !missing.is_empty() && is_missing(cell, missing) {
                values.push(f64::NAN);
                return Ok(());
            }
            if value.is_infinite() {
                return Err(CellFault::Infinite);
            }
            if value.abs() >= EXACT && self.rounded.is_none() && !holds(value, cell) {
                let cell = String::from_utf8_lossy(cell).into_owned();
                self.rounded = Some((values.len(), cell));
            }
            self.numbers += 1;
            values.push(value);
            return Ok(());
        }
        let absent = is_missing(cell, missing);
        match &mut self.kind {
            Kind::Numbers(values) if absent => values.push(f64::NAN),
            Kind::Numbers(values) => {
                let word = utf8(cell)?;
                if self.numbers > 0 {
                    self.kind = Kind::Words { row: values.len(), cell: word.to_owned() };
                } else {
                    let mut levels = Levels::default();
                    let mut codes = vec![MISSING; values.len()];
                    self.first_word = Some((values.len(), word.to_owned()));
                    codes.push(levels.code(word));
                    self.kind = Kind::Texts { codes, levels };
                }
            }
            Kind::Texts { codes, .. } if absent => codes.push(MISSING),
            Kind::Texts { codes, levels } => {
                let word = utf8(cell)?;
                let number = is_number(cell).is_some();
                self.numbers += usize::from(number);
                if !number && self.first_word.is_none() {
                    self.first_word = Some((codes.len(), word.to_owned()));
                }
                codes.push(levels.code(word));
            }
            Kind::Words { .. } => {}
        }
        Ok(())
    }

    /// The column; `texts` if it is known to hold texts.
    pub(crate) fn finish(self, texts: bool) -> Built {
        match self.kind {
            Kind::Numbers(values) => match self.rounded {
                Some((row, cell)) => Built::Rounded { values, row, cell },
                None => Built::Values(Values::numbers(values)),
            },
            Kind::Words { row, cell } => Built::Words { row, cell },
            Kind::Texts { codes, levels } => {
                let present = codes.iter().filter(|c| **c != MISSING).count();
                let different = levels.len() > MIN_DIFFERENT;
                let levels = levels.into_names();
                if !texts {
                    if let Some(values) = truths(&codes, &levels) {
                        return Built::Values(Values::numbers(values));
                    }
                    let mostly = self.numbers as f64 > MOSTLY * present as f64;
                    if let (true, true, Some((row, cell))) = (mostly, different, self.first_word) {
                        return Built::Mixed { row, cell, numbers: self.numbers };
                    }
                }
                Built::Values(Values::texts(codes, &levels))
            }
        }
    }
}

/// 0 and 1 for columns of `false` and `true`.
fn truths(codes: &[u32], levels: &[String]) -> Option<Vec<f64>> {
    let value = |level: &String| match level.to_ascii_lowercase().as_str() {
        "true" => Some(1.0),
        "false" => Some(0.0),
        _ => None,
    };
    let values: Vec<f64> = levels.iter().map(value).collect::<Option<_>>()?;
    if values.is_empty() {
        return None;
    }
    Some(codes.iter().map(|c| values.get(*c as usize).copied().unwrap_or(f64::NAN)).collect())
}

fn utf8(cell: &[u8]) -> Result<&str, CellFault> {
    std::str::from_utf8(cell).map_err(|_| CellFault::NotUtf8)
}

fn is_missing(cell: &[u8], missing: &[String]) -> bool {
    cell.len() <= 4 && MISSING_CELLS.iter().any(|m| m.as_bytes() == cell)
        || missing.iter().any(|m| m.as_bytes() == cell)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(cells: &[&str], texts: bool) -> Built {
        let mut builder = ColumnBuilder::new(texts);
        for cell in cells {
            builder.push(cell.as_bytes(), &[]).unwrap();
        }
        builder.finish(texts)
    }

    fn numbers(built: Built) -> Vec<f64> {
        let Built::Values(Values::numbers(values)) = built else { panic!("{built:?}") };
        values
    }

    #[test]
    fn cells_make_numbers_texts_or_truths() {
        let values = numbers(column(&["1", "NA", "+2.5e1", ""], false));
        assert_eq!((values[0], values[2]), (1.0, 25.0));
        assert!(values[1].is_nan() && values[3].is_nan());
        assert_eq!(numbers(column(&["True", "FALSE", "?"], false))[..2], [1.0, 0.0]);
        let Built::Values(Values::Texts(texts)) = column(&["01", "?", "1"], true) else {
            panic!("texts")
        };
        assert_eq!(texts.codes(), [0, MISSING, 1]);
        assert!(texts.levels().eq(["01", "1"]));
        assert!(matches!(column(&["", "1", "a"], false), Built::Words { row: 2, .. }));
        assert!(matches!(column(&["", "a", "1"], false), Built::Values(Values::Texts(_))));
    }

    #[test]
    fn integers_that_are_rounded_are_noticed() {
        let built =
            column(&["9007199254740992", "", "9007199254740993", "9007199254740995"], false);
        let Built::Rounded { values, row, cell } = built else { panic!("{built:?}") };
        assert_eq!((values.len(), row, cell.as_str()), (4, 2, "9007199254740993"));
        assert_eq!(values[2], EXACT);
        numbers(column(&["-9007199254740994", "1e300", "9007199254740993.5"], false));
    }

    #[test]
    fn a_slip_among_numbers_is_found() {
        let mut cells: Vec<String> = (0..30).map(|i| i.to_string()).collect();
        cells[0] = "x".into();
        cells[17] = "1O".into();
        let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        let built = column(&cells, false);
        let Built::Mixed { row, cell, numbers } = built else { panic!("{built:?}") };
        assert_eq!((row, cell.as_str(), numbers), (0, "x", 28));
        assert!(matches!(column(&cells, true), Built::Values(Values::Texts(_))));
        // Few different ones are codes of categories.
        assert!(matches!(column(&["a", "1", "1", "2"], false), Built::Values(Values::Texts(_))));
    }

    #[test]
    fn infinite_numbers_are_refused() {
        for cell in ["inf", "-Infinity", "1e999"] {
            let mut builder = ColumnBuilder::new(false);
            assert_eq!(builder.push(cell.as_bytes(), &[]), Err(CellFault::Infinite), "{cell}");
        }
        let mut builder = ColumnBuilder::new(false);
        builder.push(b"-999", &["-999".into()]).unwrap();
        assert!(numbers(builder.finish(false))[0].is_nan());
    }
}
