//! Labels: the classes of the rows, read from a column. The name of a class is its shortest spelling.

use crate::classes::{ClassCollector, Classes};
use crate::error::DataError;
use crate::frame::{Column, Frame};
use crate::look_alikes::look_alikes;
use crate::missing::MISSING_SHOWN;
use crate::names::{first_of, short, suggestion};
use crate::typing::{Kind, missing_signs};
use crate::values::Values;
use halfspaces_linalg::Label;
use std::collections::HashMap;

/// If there are at most this many distinct labels, they are always classes. With more distinct labels, the labels are
/// not classes if most rows have a label that occurs in no other row.
const MIN_FREE: usize = 30;

/// If a label column has more than [`MIN_FREE`] distinct numbers and, on average, fewer than this many rows per number,
/// the numbers are treated as a quantity, not as classes. Consecutive integers are still classes, unless most rows have
/// a number that occurs in no other row.
const MIN_ROWS_OF_NUMBER: usize = 10;

/// The classes of a table, and the class of each row.
///
/// ```
/// use halfspaces_frame::{Column, Labels, Values};
/// let values = Values::texts(vec![0, 1, 2, 0], &["1.0", "0", "1"]);
/// let (column, mut notes) = (Column { name: "y".into(), values }, Vec::new());
/// let labels = Labels::of_column(&column, "t.csv, column `y`", &mut notes)?;
/// assert_eq!(notes, ["t.csv, column `y`: `1.0` and `1` count as one class"]);
/// assert_eq!((labels.classes, labels.of_row), (vec!["0".to_owned(), "1".to_owned()], vec![1, 0, 1, 1]));
/// # Ok::<(), halfspaces_frame::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Labels {
    /// The class of each row, as an index into `classes`.
    pub of_row: Vec<usize>,
    /// The class names in sorted order. If all names are numbers, they are sorted by value. Otherwise, they are sorted
    /// alphabetically; a truth value in any spelling is sorted as `false` or `true`. If there are two classes, the
    /// positive class is last. Labels with the same [`ClassKey`](crate::ClassKey) belong to one class.
    pub classes: Vec<String>,
}

impl Labels {
    /// Removes the label column from a table and returns its labels.
    ///
    /// # Errors
    /// Returns an error if a row has no label or if the labels are not classes. They are not classes if they are a
    /// quantity, or if most of them occur only once.
    pub fn take(frame: &mut Frame, name: &str) -> Result<Labels, DataError> {
        let collected = Labels::taken(frame, name)?;
        let of_cells = frame.record(name).map_or_else(Vec::new, |record| record.notes.clone());
        frame.notes.extend(of_cells);
        let place = format!("{}, column `{name}`", frame.source);
        Labels::checked(collected, &place, &mut frame.notes)
    }

    /// Returns the labels of a column that has no missing labels. Adds notes on labels that count as one class, on
    /// classes that look alike, and on classes whose names often mark a missing value. `place` describes the column in
    /// messages.
    ///
    /// # Errors
    /// Returns an error if the labels are not classes.
    pub fn of_column(
        column: &Column,
        place: &str,
        notes: &mut Vec<String>,
    ) -> Result<Labels, DataError> {
        Labels::checked(Labels::collect(column, false), place, notes)
    }

    fn checked(
        (labels, collected): (Labels, ClassCollector),
        place: &str,
        notes: &mut Vec<String>,
    ) -> Result<Labels, DataError> {
        for spellings in collected.joined() {
            let shown: Vec<String> = spellings.iter().map(|s| format!("`{}`", short(s))).collect();
            notes.push(format!("{place}: {} count as one class", shown.join(" and ")));
        }
        notes.extend(labels.notes(place));
        labels.check_classes(place)?;
        Ok(labels)
    }

    /// Removes the label column from a part of a table and returns its labels. The part may have only one class, or few
    /// rows of each class.
    ///
    /// # Errors
    /// Returns an error if a row has no label.
    pub fn take_part(frame: &mut Frame, name: &str) -> Result<Labels, DataError> {
        Ok(Labels::taken(frame, name)?.0)
    }

    fn taken(frame: &mut Frame, name: &str) -> Result<(Labels, ClassCollector), DataError> {
        let column = frame.take(name)?;
        if let Some(row) = (0..frame.rows).find(|row| column.values.is_missing(*row)) {
            return Err(missing_label(frame, name, &column, row));
        }
        // The classes of a column of truth values are true and false, even if the column was read without a hint.
        let is_truth = frame.record(name).is_some_and(|record| record.rule.kind == Kind::Boolean);
        Ok(Labels::collect(&column, is_truth))
    }

    /// Collects the classes of a column. Missing labels form a class with an empty name.
    fn collect(column: &Column, is_truth: bool) -> (Labels, ClassCollector) {
        let mut collected = ClassCollector::default();
        let of_row: Vec<usize> = match &column.values {
            Values::Texts(texts) => {
                // Each distinct text is looked up once, in the order of the rows.
                let mut of_level: Vec<Option<usize>> = vec![None; texts.level_count()];
                let class = |(row, code): (usize, &u32)| match of_level.get_mut(*code as usize) {
                    Some(class) => *class.get_or_insert_with(|| collected.add(texts.level(*code))),
                    None => collected.add(texts.get(row).unwrap_or_default()),
                };
                texts.codes().iter().enumerate().map(class).collect()
            }
            Values::Numbers(numbers) => {
                let mut of_number: HashMap<u64, usize> = HashMap::new();
                let values = numbers.values().iter().enumerate();
                let class = |(row, value): (usize, &f64)| {
                    *of_number.entry(value.to_bits()).or_insert_with(|| match is_truth {
                        true => collected.add(&(*value > 0.5).to_string()),
                        false => collected.add(&column.values.text(row)),
                    })
                };
                values.map(class).collect()
            }
            Values::Moments(moments) => {
                (0..moments.len()).map(|row| collected.add(&column.values.text(row))).collect()
            }
        };
        let order = collected.sorted();
        let mut places = vec![0; order.len()];
        for (place, class) in order.iter().enumerate() {
            places[*class] = place;
        }
        let of_row = of_row.into_iter().map(|class| places[class]).collect();
        let classes = order.into_iter().map(|class| collected.names()[class].clone()).collect();
        (Labels { of_row, classes }, collected)
    }

    /// Returns an error if the labels are not classes.
    fn check_classes(&self, place: &str) -> Result<(), DataError> {
        let (count, rows) = (self.classes.len(), self.of_row.len());
        if count <= MIN_FREE {
            return Ok(());
        }
        let alone = self.rows_of_classes().into_iter().filter(|rows| *rows == 1).count();
        let numbers: Option<Vec<f64>> =
            self.classes.iter().map(|class| crate::ClassKey::of(class).number()).collect();
        // Consecutive integers, such as the codes 0 to 39, may be classes with few rows each.
        let is_gapless = |numbers: &[f64]| {
            let (low, high) = (numbers[0], numbers[count - 1]);
            high - low < count as f64 && numbers.iter().all(|v| v.fract().to_bits() << 1 == 0)
        };
        if let Some(numbers) = numbers.filter(|numbers| {
            rows < MIN_ROWS_OF_NUMBER * count && (2 * alone > rows || !is_gapless(numbers))
        }) {
            let (low, high) = (numbers[0], numbers[count - 1]);
            return Err(DataError::user(format!(
                "{place}: {count} different numbers from {low} to {high} in {rows} rows are a quantity, not classes; \
                divide them into ranges, such as low and high, in a new column, or use another column"
            )));
        }
        if 2 * alone > rows {
            return Err(DataError::user(format!(
                "{place}: {count} different labels in {rows} rows are not classes, because most rows have a label of their own; use another column"
            )));
        }
        Ok(())
    }

    /// The number of rows of each class.
    fn rows_of_classes(&self) -> Vec<usize> {
        let mut rows = vec![0; self.classes.len()];
        self.of_row.iter().for_each(|class| rows[*class] += 1);
        rows
    }

    /// Returns notes on classes that look alike, and on classes whose names often mark a missing value. `place`
    /// describes the label column in messages.
    #[must_use]
    pub fn notes(&self, place: &str) -> Vec<String> {
        let classes = self.classes.iter().map(String::as_str).zip(self.rows_of_classes());
        let mut notes = look_alikes(classes, "classes", place);
        notes.extend(self.doubtful_classes(place));
        notes
    }

    fn doubtful_classes(&self, place: &str) -> Vec<String> {
        let rows = self.rows_of_classes();
        let classes = self.classes.iter().zip(&rows).map(|(class, rows)| (class.as_str(), *rows));
        let doubtful = |(class, rows)| {
            format!(
                "{place}: the label `{class}` is read as a class ({rows} rows); pass --missing '{class}' if it marks missing labels"
            )
        };
        missing_signs(classes).map(doubtful).collect()
    }

    /// Rejects classes with fewer than `least` rows.
    ///
    /// # Errors
    /// Returns an error if there are such classes. The message names up to 20 of them.
    pub fn check_rows(&self, least: usize, place: &str) -> Result<(), DataError> {
        const MOST_SHOWN: usize = 20;
        let rows = self.rows_of_classes();
        let rare: Vec<usize> = (0..rows.len()).filter(|class| rows[*class] < least).collect();
        if rare.is_empty() {
            return Ok(());
        }
        let counted = rare
            .iter()
            .map(|class| format!("`{}` ({})", short(&self.classes[*class]), rows[*class]));
        Err(DataError::user(format!(
            "{place}: every class needs at least {least} rows, but these have fewer: {}; add rows, join classes, or \
            remove their rows",
            first_of(counted, MOST_SHOWN)
        )))
    }

    /// Returns the labels +1 for the rows of the second class and -1 for the rows of the first class.
    ///
    /// # Errors
    /// Returns an error unless there are exactly two classes.
    pub fn signs(&self) -> Result<Vec<Label>, DataError> {
        if self.classes.len() != 2 {
            let names: Vec<String> =
                self.classes.iter().take(5).map(|c| format!("`{c}`")).collect();
            return Err(DataError::user(format!(
                "two classes are needed, but there are {}: {}; if there are more than two, choose one of them as the positive class",
                self.classes.len(),
                names.join(", ")
            )));
        }
        let sign = |class: &usize| if *class == 1 { Label::Positive } else { Label::Negative };
        Ok(self.of_row.iter().map(sign).collect())
    }

    /// Makes `positive` the second class. If there are more than two classes, all other classes are combined into the
    /// first class.
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

/// Finds the class of a label. This is the class with the same text, or else the class with the same
/// [`ClassKey`](crate::ClassKey). For many labels, use [`Classes`], which looks up each label in constant time.
#[must_use]
pub fn find_class(label: &str, classes: &[String]) -> Option<usize> {
    Classes::new(classes).find(label)
}

/// The error for a row without a label. The message contains the cell, the number of such cells, and advice for the
/// user.
fn missing_label(frame: &Frame, name: &str, column: &Column, row: usize) -> DataError {
    let place = format!("{}, column `{name}`: the label is missing", frame.place(row));
    let markers =
        frame.record(name).map(|record| &record.markers).filter(|markers| !markers.is_empty());
    let Some(markers) = markers else {
        return DataError::user(format!(
            "{place} ({MISSING_SHOWN} count as missing); fill it in or remove the row (`fit --skip-unlabelled` leaves out such rows, but not with --stream)"
        ));
    };
    let counts: Vec<String> =
        markers.iter().map(|(marker, rows)| format!("{rows} x `{}`", short(marker))).collect();
    let empty = column.values.missing().saturating_sub(markers.values().sum());
    let empty = if empty > 0 { format!(", {empty} x an empty cell") } else { String::new() };
    let marker =
        markers.iter().max_by_key(|(_, rows)| **rows).map_or("", |(marker, _)| marker.as_str());
    DataError::user(format!(
        "{place} ({}{empty} in this column); if `{marker}` is a class, pass --not-missing '{marker}'; otherwise fill the labels in or \
         remove the rows",
        counts.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Hints, ReadOptions, Values, read_bytes};

    fn column(texts: &[&str]) -> Column {
        let codes = (0..texts.len() as u32).collect();
        Column { name: "y".into(), values: Values::texts(codes, texts) }
    }

    fn labels(texts: &[&str]) -> Labels {
        Labels::collect(&column(texts), false).0
    }

    #[test]
    fn numbers_are_sorted_as_numbers_and_names_kept() {
        assert_eq!(labels(&["10", "9", "10"]).classes, ["9", "10"]);
        assert_eq!(labels(&["10", "9", "b"]).classes, ["10", "9", "b"]);
        assert_eq!(labels(&["1.0", "0.0"]).of_row, [1, 0]);
    }

    /// Truth values give the same classes whether or not a hint names the column of labels.
    #[test]
    fn truth_values_are_classes_with_and_without_a_hint() {
        let bytes = b"x,y\n1.5,True\n2,False\n3,True\n4,False\n";
        let classes = |hints: &Hints| {
            let frame = read_bytes("t.csv", bytes.to_vec(), &ReadOptions::default(), hints);
            Labels::take(&mut frame.unwrap(), "y").unwrap()
        };
        let (hinted, unhinted) = (classes(&Hints::texts(["y"])), classes(&Hints::default()));
        assert_eq!(hinted.of_row, [1, 0, 1, 0]);
        assert_eq!(unhinted.of_row, hinted.of_row);
        assert_eq!(unhinted.classes, ["false", "true"]);
        assert_eq!(hinted.classes, ["False", "True"]);
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

    /// If there are more than thirty distinct labels, and more than half of the rows have a label that occurs only
    /// once, the labels are not classes.
    #[test]
    fn a_label_of_its_own_for_most_rows_is_no_class() {
        let take = |alone: usize, twice: usize| {
            let text = |i: usize| if i < alone { i } else { alone + (i - alone) / 2 };
            let rows = alone + 2 * twice;
            let levels: Vec<String> = (0..alone + twice).map(|i| format!("l{i}")).collect();
            let codes = (0..rows).map(|i| text(i) as u32).collect();
            let column = Column { name: "y".into(), values: Values::texts(codes, &levels) };
            let mut frame = Frame::new("t.csv", vec![column]);
            Labels::take(&mut frame, "y").is_ok()
        };
        assert!(take(30, 0) && !take(31, 0));
        assert!(take(22, 11) && !take(23, 11));
    }

    #[test]
    fn spellings_of_one_class_are_joined_and_noted() {
        let mut frame = Frame::new("t.csv", vec![column(&["1", "-1", "1.0", "+1", "-1.0"])]);
        let labels = Labels::take(&mut frame, "y").unwrap();
        assert_eq!(
            (labels.classes, labels.of_row),
            (vec!["-1".into(), "1".into()], vec![1, 0, 1, 1, 0])
        );
        assert_eq!(frame.notes[0], "t.csv, column `y`: `1` and `1.0` and `+1` count as one class");
        assert_eq!(
            labels_of(&["True", "false", "TRUE"]),
            (vec!["false".into(), "True".into()], vec![1, 0, 1])
        );
        assert_eq!(
            labels_of(&["b'pos'", "neg", "pos"]),
            (vec!["neg".into(), "pos".into()], vec![1, 0, 1])
        );
        let numbers =
            Column { name: "y".into(), values: Values::numbers(vec![2.0, 10.0, 2.0, -0.0, 0.0]) };
        assert_eq!(Labels::collect(&numbers, false).0.of_row, [1, 2, 1, 0, 0]);
    }

    fn labels_of(texts: &[&str]) -> (Vec<String>, Vec<usize>) {
        let labels = labels(texts);
        (labels.classes, labels.of_row)
    }

    #[test]
    fn numbers_with_few_rows_each_are_a_quantity() {
        let take = |count: usize, rows: usize, number: &dyn Fn(usize) -> f64| {
            let values = Values::numbers((0..rows).map(|row| number(row % count)).collect());
            let mut frame = Frame::new("t.csv", vec![Column { name: "y".into(), values }]);
            Labels::take(&mut frame, "y").map(|_| ()).map_err(|e| e.to_string())
        };
        let error = take(214, 442, &|i| 25.0 + 1.5 * i as f64).unwrap_err();
        assert!(
            error.contains("214 different numbers from 25 to 344.5 in 442 rows are a quantity"),
            "{error}"
        );
        assert!(
            take(40, 400, &|i| 2.0 * i as f64).is_ok()
                && take(40, 399, &|i| 2.0 * i as f64).is_err()
        );
        // Consecutive codes are classes, and so are numbers with many rows each.
        assert!(take(40, 200, &|i| i as f64).is_ok() && take(30, 60, &|i| 2.5 * i as f64).is_ok());
    }

    #[test]
    fn all_rare_classes_are_named_together() {
        let labels = labels(&["a", "a2", "b"]);
        let error = labels.check_rows(2, "t.csv, column `y`").unwrap_err().to_string();
        assert!(error.contains("`a` (1), `a2` (1), `b` (1)"), "{error}");
        assert!(labels.check_rows(1, "").is_ok());
    }

    #[test]
    fn a_missing_label_is_shown_with_a_remedy() {
        let values =
            Values::texts(vec![0, crate::MISSING, crate::MISSING, crate::MISSING], &["scratch"]);
        let mut frame = Frame::new("t.csv", vec![Column { name: "y".into(), values }]);
        let mut record = crate::ColumnRecord::new("y", crate::ColumnRule::category());
        record.markers.insert("None".into(), 2);
        frame.records.push(record);
        let error = Labels::take(&mut frame, "y").unwrap_err().to_string();
        assert!(
            error.contains("row 1") && error.contains("2 x `None`, 1 x an empty cell"),
            "{error}"
        );
        assert!(error.contains("if `None` is a class, pass --not-missing 'None'"), "{error}");
    }

    #[test]
    fn classes_that_differ_in_case_or_blanks_are_named() {
        let column = |texts: &[&str]| {
            let values = Values::texts((0..texts.len() as u32).collect(), texts);
            let mut frame = Frame::new("t.csv", vec![Column { name: "y".into(), values }]);
            let labels = Labels::take(&mut frame, "y").unwrap();
            (labels.classes.len(), frame.notes)
        };
        let (count, notes) = column(&["New York", "new_york", "NEW YORK", "A", "A-", "Boston"]);
        let said = "t.csv, column `y`: `NEW YORK` (1) and `New York` (1) and `new_york` (1) count as different \
        classes; correct them if they mean the same";
        assert_eq!((count, notes), (6, vec![said.to_owned()]));
        assert_eq!(column(&["01", "0 1", "a", "b"]).1, Vec::<String>::new());
        for pair in [
            ["caf\u{e9}", "cafe\u{301}"],
            ["pos", "pos\u{200b}"],
            ["a-b", "a\u{2013}b"],
            ["01", "1"],
            ["5E3", "5000"],
        ] {
            let notes = column(&[pair[0], pair[1], "other"]).1;
            assert!(
                notes.len() == 1 && notes[0].contains("count as different classes"),
                "{notes:?}"
            );
        }
        assert_eq!(column(&["+", "-", "10", "1"]).1, Vec::<String>::new());
        for marker in ["\\N", "-", ".", "(NULL)", "n.a.", "NaT", "#NULL!"] {
            let notes = column(&[marker, "a", "b"]).1;
            assert!(
                notes.len() == 1 && notes[0].contains("if it marks missing labels"),
                "{notes:?}"
            );
        }
        assert_eq!(column(&["none", "unknown", "x", "missing"]).1, Vec::<String>::new());
        // If there are five groups, all are named. If there are six, five are named.
        let pairs: Vec<String> = (b'a'..b'g')
            .flat_map(|l| [(l as char).into(), (l as char).to_ascii_uppercase().into()])
            .collect();
        let pairs: Vec<&str> = pairs.iter().map(String::as_str).collect();
        assert_eq!(column(&pairs[2..]).1.len(), 5);
        let notes = column(&pairs).1;
        assert!(
            notes.len() == 6
                && notes[5].contains("look alike: 1;")
                && notes[0].contains("`A` (1) and `a` (1)"),
            "{notes:?}"
        );
    }

    #[test]
    fn time_is_linear_in_rows_and_classes() {
        let levels: Vec<String> = (0..300_000).map(|i| format!("l{i}")).collect();
        let values = Values::texts((0..300_000).rev().collect(), &levels);
        let labels = Labels::collect(&Column { name: "y".into(), values }, false).0;
        assert_eq!(labels.classes.len(), 300_000);
    }
}
