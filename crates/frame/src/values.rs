//! The values of a column, as Arrow arrays.

use arrow_array::{Array, Float64Array, LargeStringArray, TimestampMicrosecondArray, UInt32Array};
use arrow_buffer::{NullBuffer, ScalarBuffer};

use crate::text_kind::TextKind;
use crate::typing::moment_text;

/// The code that marks a missing text.
pub const MISSING: u32 = u32::MAX;

/// The values of a column, as an Arrow array of one of the types that learners support.
///
/// ```
/// use halfspaces_frame::Values;
/// let values = Values::numbers(vec![1.5, f64::NAN]);
/// assert_eq!((values.text(0), values.is_missing(1)), ("1.5".to_owned(), true));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Finite numbers. The slot of a missing number contains NaN.
    Numbers(Float64Array),
    /// Texts, stored as codes that refer to the distinct texts in order of appearance. The slot of a missing text
    /// contains [`MISSING`].
    Texts(Texts),
    /// Dates and times in microseconds since 1970-01-01. A time without a date is stored as a time on 1970-01-01. Use
    /// [`MomentParts`](crate::MomentParts) to convert dates and times to coordinates.
    Moments(TimestampMicrosecondArray),
}

/// A text column, which consists of the distinct texts and one code for each row.
///
/// ```
/// use halfspaces_frame::{MISSING, Texts};
/// let texts = Texts::new(vec![1, MISSING, 0], &["a", "b"]);
/// assert_eq!((texts.get(0), texts.get(1)), (Some("b"), None));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Texts {
    codes: UInt32Array,
    levels: LargeStringArray,
}

impl Texts {
    /// Creates a column from `codes`, which are indices of texts in `levels`. The code [`MISSING`] marks a missing
    /// text.
    ///
    /// # Panics
    /// Panics if a code is out of range.
    pub fn new<S: AsRef<str>>(codes: Vec<u32>, levels: &[S]) -> Texts {
        let levels = LargeStringArray::from_iter_values(levels);
        let in_range = codes.iter().all(|c| *c == MISSING || (*c as usize) < levels.len());
        assert!(in_range, "every code must be the index of a text");
        let nulls = nulls(&codes, |code| *code != MISSING);
        Texts { codes: UInt32Array::new(ScalarBuffer::from(codes), nulls), levels }
    }

    /// The code of each row, which is [`MISSING`] for a missing text.
    #[must_use]
    pub fn codes(&self) -> &[u32] {
        self.codes.values()
    }

    /// The number of distinct texts, some of which may not occur in any row.
    #[must_use]
    pub fn level_count(&self) -> usize {
        self.levels.len()
    }

    /// The distinct text with this code.
    ///
    /// # Panics
    /// Panics if there is no such code.
    #[must_use]
    pub fn level(&self, code: u32) -> &str {
        self.levels.value(code as usize)
    }

    /// All distinct texts, in the order of their codes.
    pub fn levels(&self) -> impl Iterator<Item = &str> {
        (0..self.levels.len()).map(|at| self.levels.value(at))
    }

    /// The distinct texts that occur in at least one row, each with its number of rows.
    #[must_use]
    pub fn counted(&self) -> Vec<(&str, u32)> {
        let mut rows = vec![0; self.level_count()];
        self.codes().iter().filter(|c| **c != MISSING).for_each(|c| rows[*c as usize] += 1);
        self.levels().zip(rows).filter(|(_, rows)| *rows > 0).collect()
    }

    /// The text of a row, or `None` if the text is missing.
    ///
    /// # Panics
    /// Panics if there is no such row.
    #[must_use]
    pub fn get(&self, row: usize) -> Option<&str> {
        match self.codes.value(row) {
            MISSING => None,
            code => Some(self.level(code)),
        }
    }

    fn select(&self, rows: &[usize]) -> Texts {
        let codes: Vec<u32> = rows.iter().map(|row| self.codes.value(*row)).collect();
        let nulls = nulls(&codes, |code| *code != MISSING);
        let codes = UInt32Array::new(ScalarBuffer::from(codes), nulls);
        Texts { codes, levels: self.levels.clone() }
    }
}

/// The values with the indices `rows`, which are ascending.
fn compacted<T: Copy>(mut values: Vec<T>, rows: &[usize]) -> Vec<T> {
    rows.iter().enumerate().for_each(|(to, from)| values[to] = values[*from]);
    values.truncate(rows.len());
    values
}

fn nulls<T>(values: &[T], is_present: impl Fn(&T) -> bool) -> Option<NullBuffer> {
    if values.iter().all(&is_present) {
        return None;
    }
    Some(values.iter().map(is_present).collect())
}

impl Values {
    /// Whether the column contains free text ([`TextKind::Text`]).
    #[must_use]
    pub fn is_free_text(&self) -> bool {
        let Values::Texts(texts) = self else { return false };
        let counted = texts.counted();
        TextKind::of(counted.iter().map(|(text, rows)| (*text, *rows as usize))) == TextKind::Text
    }

    /// Creates a column of numbers. NaN marks a missing number.
    #[must_use]
    pub fn numbers(values: Vec<f64>) -> Values {
        let nulls = nulls(&values, |v| !v.is_nan());
        Values::Numbers(Float64Array::new(ScalarBuffer::from(values), nulls))
    }

    /// Creates a text column. The code [`MISSING`] marks a missing text.
    ///
    /// # Panics
    /// Panics if a code is out of range.
    pub fn texts<S: AsRef<str>>(codes: Vec<u32>, levels: &[S]) -> Values {
        Values::Texts(Texts::new(codes, levels))
    }

    /// Creates a column of dates and times, in microseconds since 1970-01-01. `None` marks a missing value.
    #[must_use]
    pub fn moments(values: Vec<Option<i64>>) -> Values {
        Values::Moments(TimestampMicrosecondArray::from(values))
    }

    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Values::Numbers(values) => values.len(),
            Values::Texts(texts) => texts.codes.len(),
            Values::Moments(moments) => moments.len(),
        }
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of a row as text. A text is unchanged, a number is in its shortest form, and a timestamp is in ISO
    /// 8601 format. The result is empty if the value is missing.
    ///
    /// # Panics
    /// Panics if there is no such row.
    #[must_use]
    pub fn text(&self, row: usize) -> String {
        match self {
            Values::Numbers(values) if values.is_null(row) => String::new(),
            Values::Numbers(values) => values.value(row).to_string(),
            Values::Texts(texts) => texts.get(row).unwrap_or_default().to_owned(),
            Values::Moments(moments) if moments.is_null(row) => String::new(),
            Values::Moments(moments) => moment_text(moments.value(row)),
        }
    }

    /// Whether a row has no value.
    ///
    /// # Panics
    /// Panics if there is no such row.
    #[must_use]
    pub fn is_missing(&self, row: usize) -> bool {
        match self {
            Values::Numbers(values) => values.is_null(row),
            Values::Texts(texts) => texts.codes.is_null(row),
            Values::Moments(moments) => moments.is_null(row),
        }
    }

    /// The number of missing values.
    #[must_use]
    pub fn missing(&self) -> usize {
        match self {
            Values::Numbers(values) => values.null_count(),
            Values::Texts(texts) => texts.codes.null_count(),
            Values::Moments(moments) => moments.null_count(),
        }
    }

    /// Keeps the rows with the indices `rows`, which must be ascending. The memory of numbers and texts is reused if
    /// nothing else refers to it.
    ///
    /// # Panics
    /// Panics if an index is out of range or if `rows` is not ascending.
    #[must_use]
    pub fn into_rows(self, rows: &[usize]) -> Values {
        assert!(rows.is_sorted(), "the rows must be ascending");
        match self {
            Values::Numbers(values) => {
                Values::numbers(compacted(Vec::from(values.into_parts().1), rows))
            }
            Values::Texts(Texts { codes, levels }) => {
                let codes = compacted(Vec::from(codes.into_parts().1), rows);
                let nulls = nulls(&codes, |code| *code != MISSING);
                Values::Texts(Texts {
                    codes: UInt32Array::new(ScalarBuffer::from(codes), nulls),
                    levels,
                })
            }
            Values::Moments(_) => self.select(rows),
        }
    }

    /// Copies the rows with the indices `rows`, in that order.
    ///
    /// # Panics
    /// Panics if an index is out of range.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Values {
        match self {
            Values::Numbers(values) => {
                Values::numbers(rows.iter().map(|row| values.values()[*row]).collect())
            }
            Values::Texts(texts) => Values::Texts(texts.select(rows)),
            Values::Moments(moments) => {
                let value = |row: &usize| moments.is_valid(*row).then(|| moments.value(*row));
                Values::moments(rows.iter().map(value).collect())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_values_are_null() {
        let texts = Texts::new(vec![1, MISSING, 0, 1], &["a", "b"]);
        let rows = [0, 1, 3];
        for values in [
            Values::Texts(texts.clone()),
            Values::numbers(vec![1.0, f64::NAN, 3.0, 4.0]),
            Values::moments(vec![Some(1), None, Some(3), Some(4)]),
        ] {
            let (kept, copied) = (values.clone().into_rows(&rows), values.select(&rows));
            assert_eq!((kept.len(), kept.missing()), (3, 1));
            assert!((0..3).all(|row| kept.text(row) == copied.text(row)));
            assert_eq!(kept.missing(), copied.missing());
        }
        let found: Vec<Option<&str>> = (0..4).map(|row| texts.get(row)).collect();
        assert_eq!(found, [Some("b"), None, Some("a"), Some("b")]);
        let part = Values::Texts(texts).select(&[2, 1]);
        assert_eq!((part.text(0), part.is_missing(1), part.missing()), ("a".into(), true, 1));
        let Values::Numbers(numbers) = Values::numbers(vec![2.0, f64::NAN]) else { panic!() };
        assert_eq!((numbers.null_count(), numbers.values()[0]), (1, 2.0));
        assert!(numbers.values()[1].is_nan());
    }

    #[test]
    fn moments_are_shown_in_iso_form() {
        let moments = Values::moments(vec![
            Some(86_400_000_000),
            None,
            Some(23_400_000_000),
            Some(90_000_000_000),
        ]);
        let texts: Vec<String> = (0..4).map(|row| moments.text(row)).collect();
        assert_eq!(texts, ["1970-01-02", "", "06:30:00", "1970-01-02T01:00:00"]);
        let part = moments.select(&[1, 0]);
        assert_eq!(
            (part.missing(), part.is_missing(0), part.text(1)),
            (1, true, "1970-01-02".into())
        );
    }
}
