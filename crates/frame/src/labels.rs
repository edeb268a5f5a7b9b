//! Labels: the classes of a column, by the names that the file has for them.

use crate::error::DataError;
use crate::frame::{Column, Frame};
use crate::names::suggestion;
use crate::options::MISSING_SHOWN;

/// Labels are no classes if there are more than so many and most rows have one of their own.
const MIN_FREE: usize = 30;

/// One class per row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Labels {
    /// The class of each row, as its place in `classes`.
    pub of_row: Vec<usize>,
    /// The names of the classes: by number if all are numbers, else by letters; of two, the positive one last.
    pub classes: Vec<String>,
}

impl Labels {
    /// Takes the label column out of a table. Rows without a label are an error, and so are labels that are no classes.
    pub fn take(frame: &mut Frame, name: &str) -> Result<Labels, DataError> {
        let labels = Labels::take_part(frame, name)?;
        // Classes that are numbers are in the order of these.
        let number = |class: &String| class.parse::<f64>().ok().filter(|v| v.is_finite());
        for pair in labels.classes.windows(2) {
            if let (Some(a), Some(b)) = (number(&pair[0]), number(&pair[1]))
                && a.to_bits() == b.to_bits()
            {
                frame.notes.push(format!(
                    "{}, column `{name}`: `{}` and `{}` are two classes, but the same number",
                    frame.source, pair[0], pair[1]
                ));
            }
        }
        let mut rows_of = vec![0usize; labels.classes.len()];
        labels.of_row.iter().for_each(|class| rows_of[*class] += 1);
        let (count, rows) = (labels.classes.len(), frame.rows);
        let alone = rows_of.iter().filter(|rows| **rows == 1).count();
        if count > MIN_FREE && 2 * alone > rows {
            return Err(DataError::user(format!(
                "{}, column `{name}`: {count} different labels in {rows} rows, most of them once, are no classes; cut numbers \
                 into ranges, or name another column",
                frame.source
            )));
        }
        Ok(labels)
    }

    /// The same of a part of a table.
    pub fn take_part(frame: &mut Frame, name: &str) -> Result<Labels, DataError> {
        let column = frame.take(name)?;
        if let Some(row) = (0..frame.rows).find(|row| column.values.is_missing(*row)) {
            return Err(DataError::user(format!(
                "{}, column `{name}`: the label is missing, as {MISSING_SHOWN} mean; fill it in or remove the row",
                frame.place(row)
            )));
        }
        Ok(Labels::from_column(&column))
    }

    /// The classes of a column in which nothing is missing.
    pub fn from_column(column: &Column) -> Labels {
        let texts: Vec<String> = (0..column.values.len()).map(|i| column.values.text(i)).collect();
        let mut classes = texts.clone();
        sort_names(&mut classes);
        let of_row = texts.iter().map(|text| place_of(text, &classes)).collect();
        Labels { of_row, classes }
    }

    /// Makes `positive` the last of two classes; of more, that class against all others.
    pub fn with_positive(self, positive: &str) -> Result<Labels, DataError> {
        let names: Vec<&str> = self.classes.iter().map(String::as_str).collect();
        let Some(class) = find_class(positive, &self.classes) else {
            let hint = suggestion(positive, &names);
            return Err(DataError::user(format!(
                "--positive {positive}: no row has this label{hint}"
            )));
        };
        if self.classes.len() > 2 {
            let of_row = self.of_row.iter().map(|c| usize::from(*c == class)).collect();
            let positive = self.classes[class].clone();
            return Ok(Labels { of_row, classes: vec![format!("not {positive}"), positive] });
        }
        if class + 1 == self.classes.len() {
            return Ok(self);
        }
        let of_row = self.of_row.iter().map(|c| 1 - c).collect();
        Ok(Labels { of_row, classes: self.classes.into_iter().rev().collect() })
    }
}

/// The class that a label means: of the same text, or else of the same number (`1.0` for `1`).
pub fn find_class(text: &str, classes: &[String]) -> Option<usize> {
    let number = |s: &str| s.trim().parse::<f64>().ok().filter(|v| v.is_finite());
    classes.iter().position(|class| class == text).or_else(|| {
        let wanted = number(text)?.to_bits();
        classes.iter().position(|class| number(class).is_some_and(|v| v.to_bits() == wanted))
    })
}

fn sort_names(names: &mut Vec<String>) {
    let numbers: Option<Vec<f64>> = names.iter().map(|name| name.parse().ok()).collect();
    if numbers.is_some_and(|numbers| numbers.iter().all(|v| v.is_finite())) {
        let value = |s: &String| s.parse::<f64>().unwrap_or(f64::NAN);
        names.sort_by(|a, b| value(a).total_cmp(&value(b)).then_with(|| a.cmp(b)));
    } else {
        names.sort();
    }
    names.dedup();
}

fn place_of(text: &str, classes: &[String]) -> usize {
    match classes.iter().position(|class| class == text) {
        Some(place) => place,
        None => unreachable!("the classes were made of these texts"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::Values;

    fn labels(texts: &[&str]) -> Labels {
        let levels: Vec<String> = texts.iter().map(|t| (*t).to_owned()).collect();
        let codes = (0..texts.len() as u32).collect();
        Labels::from_column(&Column { name: "y".into(), values: Values::texts(codes, &levels) })
    }

    #[test]
    fn numbers_are_sorted_as_numbers_and_names_kept() {
        assert_eq!(labels(&["10", "9", "10"]).classes, ["9", "10"]);
        assert_eq!(labels(&["10", "9", "b"]).classes, ["10", "9", "b"]);
        assert_eq!(labels(&["1.0", "0.0"]).of_row, [1, 0]);
    }

    #[test]
    fn the_positive_class_is_the_last() {
        let two = labels(&["ham", "spam", "ham"]);
        assert_eq!(two.clone().with_positive("spam").unwrap(), two);
        let turned = two.with_positive("ham").unwrap();
        assert_eq!(
            (turned.classes, turned.of_row),
            (vec!["spam".into(), "ham".into()], vec![1, 0, 1])
        );
        let three = labels(&["a", "b", "c", "b"]).with_positive("b").unwrap();
        assert_eq!(
            (three.classes, three.of_row),
            (vec!["not b".into(), "b".into()], vec![0, 1, 0, 1])
        );
        let error = labels(&["ham", "spam"]).with_positive("Spam").unwrap_err();
        assert_eq!(
            error.to_string(),
            "--positive Spam: no row has this label; did you mean `spam`?"
        );
    }

    #[test]
    fn a_label_is_found_by_text_before_number() {
        let classes = ["1".to_owned(), "1.0".to_owned(), "x".to_owned()];
        assert_eq!(find_class("1.0", &classes), Some(1));
        assert_eq!(find_class("1.00", &classes), Some(0));
        assert_eq!(find_class("y", &classes), None);
    }

    /// More than thirty labels, of which more than half of the rows have one of their own, are none.
    #[test]
    fn a_label_of_its_own_for_most_rows_is_no_class() {
        let take = |alone: usize, twice: usize| {
            let text = |i: usize| if i < alone { i } else { alone + (i - alone) / 2 };
            let rows = alone + 2 * twice;
            let levels = (0..alone + twice).map(|i| format!("l{i}")).collect();
            let codes = (0..rows).map(|i| text(i) as u32).collect();
            let column = Column { name: "y".into(), values: Values::texts(codes, &levels) };
            let mut frame = Frame::new("t.csv", vec![column]);
            Labels::take(&mut frame, "y").is_ok()
        };
        assert!(take(30, 0) && !take(31, 0));
        assert!(take(22, 11) && !take(23, 11));
    }
}
