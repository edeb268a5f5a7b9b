//! Notes on columns with repeated values, such as patient numbers, which suggest that whole groups should be held out.

use halfspaces_frame::{Frame, Values};
use std::collections::HashMap;

/// The minimum number of distinct values for which a note is written.
const MIN_VALUES: usize = 20;
/// The maximum number of columns that are listed.
const LISTED: usize = 3;
/// The threshold for the log probability that rows with the same value have the same label by coincidence. Below this
/// threshold, it is no coincidence.
const LN_COINCIDENCE: f64 = -20.0;

/// A note on the text columns or integers in which rows with the same value always have the same label, although
/// neighbouring values have different labels. If there are at least two rows per value on average, this suggests that
/// rows with the same value belong together. `classes` contains the class of each row.
pub(crate) fn note_groups(frame: &Frame, classes: &[usize]) -> Option<String> {
    let mut shares = vec![0.0; classes.iter().max().map_or(0, |last| last + 1)];
    classes.iter().for_each(|class| shares[*class] += 1.0 / classes.len() as f64);
    let names = frame.columns.iter().filter(|column| {
        let found = values_with_one_label(&column.values, classes);
        found.is_some_and(|values| is_of_groups(&values, &shares))
    });
    let names: Vec<&str> = names.map(|column| column.name.as_str()).take(LISTED).collect();
    let first = names.first()?;
    let shown: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    Some(format!(
        "{}: rows with the same {} always have the same label; if such rows belong together, for example because they are of the \
         same person, the error on others can be much larger; hold out whole groups with --group '{first}'",
        frame.source,
        shown.join(" or the same ")
    ))
}

/// The class and the number of rows of each value, in the order of the values. Returns `None` if there are dates or
/// numbers that are not integers, if rows with the same value have different classes, or if there are fewer than two
/// rows per value on average.
fn values_with_one_label(values: &Values, classes: &[usize]) -> Option<Vec<(usize, usize)>> {
    let mut found: HashMap<i64, (usize, usize)> = HashMap::new();
    for (row, class) in classes.iter().enumerate().filter(|(row, _)| !values.is_missing(*row)) {
        let key = match values {
            Values::Numbers(numbers) => {
                let number = numbers.value(row);
                let integer = number as i64;
                ((integer as f64).to_bits() == number.to_bits()).then_some(integer)?
            }
            Values::Texts(texts) => i64::from(texts.codes()[row]),
            Values::Moments(_) => return None,
        };
        let (of_value, rows) = found.entry(key).or_insert((*class, 0));
        *rows += 1;
        if of_value != class || 2 * found.len() > classes.len() {
            return None;
        }
    }
    let mut found: Vec<(i64, (usize, usize))> = found.into_iter().collect();
    match values {
        Values::Texts(texts) => found.sort_unstable_by_key(|(code, _)| texts.level(*code as u32)),
        _ => found.sort_unstable_by_key(|(number, _)| *number),
    }
    Some(found.into_iter().map(|(_, of_value)| of_value).collect())
}

/// Whether values that occur in this many rows, with these classes, look like group numbers. The classes must depend on
/// the value much more strongly than by coincidence. They must change from value to value at least half as often as in
/// a random order, because a class that is determined by a range of values is no sign of groups.
fn is_of_groups(values: &[(usize, usize)], shares: &[f64]) -> bool {
    let rows: usize = values.iter().map(|(_, rows)| rows).sum();
    if values.len() < MIN_VALUES || rows < 2 * values.len() {
        return false;
    }
    let coincidence = |rows: usize| shares.iter().map(|p| p.powf(rows as f64)).sum::<f64>().ln();
    let repeated = values.iter().map(|(_, rows)| *rows).filter(|rows| *rows > 1);
    let changes = values.windows(2).filter(|pair| pair[0].0 != pair[1].0).count();
    let mut of_class = vec![0.0; shares.len()];
    values.iter().for_each(|(class, _)| of_class[*class] += 1.0 / values.len() as f64);
    let in_random_order = 1.0 - of_class.iter().map(|share| share * share).sum::<f64>();
    repeated.map(coincidence).sum::<f64>() < LN_COINCIDENCE
        && changes as f64 >= 0.5 * in_random_order * (values.len() - 1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_frame::Column;

    /// The note for a column in which row i has the value `value(i)`, with `rows` rows of the class `class(value)`.
    fn note(rows: usize, value: impl Fn(usize) -> usize, class: impl Fn(usize) -> usize) -> bool {
        let values: Vec<usize> = (0..rows).map(value).collect();
        let classes: Vec<usize> = values.iter().map(|value| class(*value)).collect();
        let found = |values: Values| {
            let frame = Frame::new("t.csv", vec![Column { name: "who".into(), values }]);
            note_groups(&frame, &classes)
        };
        let numbers = found(Values::numbers(values.iter().map(|v| *v as f64).collect()));
        let names: Vec<String> = (0..rows).map(|value| format!("p{value:03}")).collect();
        let texts = found(Values::texts(values.iter().map(|v| *v as u32).collect(), &names));
        assert_eq!(numbers, texts);
        numbers.is_some_and(|note| note.contains("same `who` always") && note.contains("'who'"))
    }

    /// A class that does not depend on the order of the values.
    fn mixed(value: usize) -> usize {
        (value * value / 3 + value) % 2
    }

    #[test]
    fn groups_with_one_label_each_are_noted() {
        assert!(note(200, |row| row % 40, mixed));
        // There must be at least 20 values, and at least two rows for each value.
        assert!(note(60, |row| row % 20, mixed) && !note(57, |row| row % 19, mixed));
        assert!(note(80, |row| row % 40, mixed) && !note(79, |row| row % 40, mixed));
        // By coincidence, 34 pairs of rows have equal labels with probability e^-20.7, and 33 pairs with e^-19.4.
        assert!(note(68, |row| row % 34, mixed) && !note(66, |row| row % 33, mixed));
        // The class is determined by a range of values.
        assert!(!note(200, |row| row % 40, |value| usize::from(value < 20)));
        // The class changes 13 or 9 times from value to value. Half of the number in a random order is 9.75.
        assert!(note(200, |row| row % 40, |value| value / 3 % 2));
        assert!(!note(200, |row| row % 40, |value| value / 4 % 2));
        // Nearly all rows have the same class, so equal labels are likely to be a coincidence.
        assert!(!note(80, |row| row % 40, |value| usize::from(value == 7)));
    }

    #[test]
    fn one_group_with_two_labels_is_enough() {
        let mut classes: Vec<usize> = (0..200).map(|row| mixed(row % 40)).collect();
        let frame = |add: f64| {
            let values = Values::numbers((0..200).map(|row| f64::from(row % 40) + add).collect());
            Frame::new("t.csv", vec![Column { name: "who".into(), values }])
        };
        assert!(note_groups(&frame(0.0), &classes).is_some());
        assert!(note_groups(&frame(0.5), &classes).is_none(), "fractions");
        classes[7] = 1 - classes[7];
        assert!(note_groups(&frame(0.0), &classes).is_none());
    }
}
