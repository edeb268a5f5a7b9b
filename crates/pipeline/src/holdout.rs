//! The hold-out rule, which splits a table into training rows and held-out rows. The error is measured on the held-out
//! rows.

use crate::streams;
use halfspaces_frame::{Column, ColumnRecord, DataError, Frame, Kind, Remark, Values, look_alikes};
use halfspaces_linalg::rand::seq::SliceRandom;
use halfspaces_linalg::rng_for;
use halfspaces_tables::default_hold_out;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// The default share of rows that are held out if the split is by group or by time.
const SHARE_OF_GROUPS: f64 = 0.2;

/// The rule by which held-out rows are chosen.
///
/// ```
/// use halfspaces_pipeline::{FitOptions, SplitBy};
/// let options = FitOptions { split: SplitBy::Group("patient".into()), ..FitOptions::new("class") };
/// assert_eq!(options.split.column(), Some("patient"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SplitBy {
    /// Rows are held out at random by the rule of [`split`].
    #[default]
    Random,
    /// Whole groups are held out. A group consists of all rows with the same value in this column. The held-out error
    /// is then the error on new groups, such as new patients. The model does not learn from this column. The comparison
    /// of candidates, the probabilities and the cross-validated error also use whole groups. The default share is a
    /// fifth of the rows.
    Group(String),
    /// The last rows in the order of this column, which contains dates or numbers, are held out. The held-out error is
    /// then the error on later rows. The model does not learn from this column. The default share is a fifth of the
    /// rows.
    Time(String),
}

/// The training rows and the held-out rows of a table, each in ascending order.
pub(crate) struct Split {
    pub(crate) learn: Vec<usize>,
    pub(crate) held_out: Vec<usize>,
    /// The group number of each row. Groups are numbered in random order. The numbers 0 and -0 are the same group. The vector is empty unless the split is by
    /// group.
    pub(crate) groups: Vec<usize>,
}

impl SplitBy {
    /// The column of groups or times, or `None` if the split is random.
    #[must_use]
    pub fn column(&self) -> Option<&str> {
        match self {
            SplitBy::Random => None,
            SplitBy::Group(column) | SplitBy::Time(column) => Some(column),
        }
    }

    /// Whether the split is random.
    #[must_use]
    pub fn is_random(&self) -> bool {
        *self == SplitBy::Random
    }

    /// Splits a table and removes the column of groups or times from it.
    pub(crate) fn rows(
        &self,
        frame: &mut Frame,
        share: Option<f64>,
        seed: u64,
    ) -> Result<Split, DataError> {
        let by_column = share.unwrap_or(SHARE_OF_GROUPS);
        let most = (by_column * frame.rows as f64).round() as usize;
        match self {
            SplitBy::Random => {
                let (learn, held_out) = split(frame.rows, share, seed);
                Ok(Split { learn, held_out, groups: Vec::new() })
            }
            SplitBy::Group(column) => {
                let values = take_full(frame, column, "group")?;
                if let Values::Texts(texts) = &values {
                    let place = format!("{}, column `{column}`", frame.source);
                    let mut rows = vec![0; texts.level_count()];
                    texts.codes().iter().for_each(|code| rows[*code as usize] += 1);
                    let names = texts.levels().zip(rows).filter(|(_, rows)| *rows > 0);
                    frame.notes.extend(look_alikes(names, "groups", &place));
                }
                let groups = groups(&values, seed);
                let count = groups.iter().max().map_or(0, |last| last + 1);
                if count < 2 {
                    return Err(DataError::user(format!(
                        "{}, column `{column}`: all rows are in one group; at least two groups are needed",
                        frame.source
                    )));
                }
                let mut rows_of = vec![0; count];
                groups.iter().for_each(|group| rows_of[*group] += 1);
                if count == frame.rows {
                    frame.notes.push(format!(
                        "{}: column `{column}` has a different value in each row, so each group is a single row",
                        frame.source
                    ));
                }
                let (mut held_groups, mut held) = (0, 0);
                while held < most && held_groups + 1 < count {
                    held += rows_of[held_groups];
                    held_groups += 1;
                }
                let (held_out, learn) = (0..frame.rows).partition(|row| groups[*row] < held_groups);
                Ok(Split { learn, held_out, groups })
            }
            SplitBy::Time(column) => {
                let times = times(&take_full(frame, column, "time")?, frame, column)?;
                let mut order: Vec<usize> = (0..frame.rows).collect();
                order.sort_by(|a, b| times[*a].total_cmp(&times[*b]).then(a.cmp(b)));
                // Rows with the same time must be on the same side of the split.
                let mut first = frame.rows - most.min(frame.rows.saturating_sub(1));
                while first < frame.rows
                    && first > 0
                    && times[order[first]].total_cmp(&times[order[first - 1]]).is_eq()
                {
                    first += 1;
                }
                if most > 0 && first == frame.rows {
                    return Err(DataError::user(format!(
                        "{}, column `{column}`: the last rows all have the same value, so no row is later than the others; choose \
                         another column, or hold out more rows (--holdout)",
                        frame.source
                    )));
                }
                let mut held_out = order.split_off(first);
                held_out.sort_unstable();
                order.sort_unstable();
                Ok(Split { learn: order, held_out, groups: Vec::new() })
            }
        }
    }
}

/// Removes a column from the table and returns its values. Returns an error if a value is missing.
fn take_full(frame: &mut Frame, column: &str, what: &str) -> Result<Values, DataError> {
    let values = take_with_notes(frame, column)?.values;
    match (0..frame.rows).find(|row| values.is_missing(*row)) {
        None => Ok(values),
        Some(row) => Err(DataError::user(format!(
            "{}, column `{column}`: the {what} is missing; fill it in, or remove the row",
            frame.place(row)
        ))),
    }
}

/// Removes a column from the table. The notes on how its cells were read are added to the notes of the table, because
/// they would otherwise be lost.
pub(crate) fn take_with_notes(frame: &mut Frame, column: &str) -> Result<Column, DataError> {
    let is_read =
        |record: &&ColumnRecord| !matches!(record.rule.kind, Kind::Identifier | Kind::Index);
    let of_cells = frame.record(column).filter(is_read);
    let mut notes = of_cells.map_or_else(Vec::new, |record| record.notes.clone());
    let remark = frame.remark(column).filter(|remark| matches!(remark, Remark::Code { .. }));
    notes.extend(remark.map(|remark| frame.about(column, remark)));
    frame.notes.extend(notes);
    frame.take(column)
}

/// The group number of each row. Groups are numbered in random order.
fn groups(values: &Values, seed: u64) -> Vec<usize> {
    let mut number_of: HashMap<String, usize> = HashMap::new();
    let is_number = matches!(values, Values::Numbers(_));
    let number = |row: usize| {
        let next = number_of.len();
        let text = match values.text(row) {
            text if is_number && text == "-0" => "0".to_owned(),
            text => text,
        };
        *number_of.entry(text).or_insert(next)
    };
    let groups: Vec<usize> = (0..values.len()).map(number).collect();
    let mut order: Vec<usize> = (0..number_of.len()).collect();
    order.shuffle(&mut rng_for(streams::HOLD_OUT, seed));
    groups.into_iter().map(|group| order[group]).collect()
}

fn times(values: &Values, frame: &Frame, column: &str) -> Result<Vec<f64>, DataError> {
    match values {
        Values::Numbers(numbers) => Ok(numbers.values().to_vec()),
        Values::Moments(moments) => {
            // An `f64` is exact up to 2^53 microseconds, which are 285 years. Later times are rounded, but they keep
            // their order.
            Ok(moments.values().iter().map(|moment| *moment as f64).collect())
        }
        Values::Texts(_) => Err(DataError::user(format!(
            "{}, column `{column}`: it contains text; --time needs dates, times or numbers",
            frame.source
        ))),
    }
}

/// Splits row numbers at random into training rows and held-out rows, each in ascending order.
///
/// If `share` is `None`, a twentieth of the rows is held out, or a tenth if there are at least 5000 rows. In the second
/// case, at least 1500 and at most 20 000 rows are held out. At least one row is left for training.
///
/// ```
/// let (learn, held_out) = halfspaces_pipeline::split(100, None, 1);
/// assert_eq!((learn.len(), held_out.len()), (95, 5));
/// ```
#[must_use]
pub fn split(rows: usize, share: Option<f64>, seed: u64) -> (Vec<usize>, Vec<usize>) {
    let held_out = match share {
        Some(share) => (share * rows as f64).round() as usize,
        None => default_hold_out(rows),
    };
    let mut order: Vec<usize> = (0..rows).collect();
    order.shuffle(&mut rng_for(streams::HOLD_OUT, seed));
    let mut learn = order.split_off(held_out.min(rows.saturating_sub(1)));
    learn.sort_unstable();
    order.sort_unstable();
    (learn, order)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_and_negative_zero_are_one_group() {
        let of = groups(&Values::numbers(vec![0.0, -0.0, 1.0, -1.0]), 0);
        assert!(of[0] == of[1] && of[0] != of[2] && of[2] != of[3], "{of:?}");
        let of = groups(&Values::texts(vec![0, 1], &["0", "-0"]), 0);
        assert_ne!(of[0], of[1]);
    }

    use halfspaces_frame::Column;

    fn frame(name: &str, values: Values) -> Frame {
        let x = Values::numbers((0..values.len()).map(|i| i as f64).collect());
        let columns = [("x", x), (name, values)];
        let columns = columns.map(|(name, values)| Column { name: name.into(), values });
        Frame::new("t.csv", columns.to_vec())
    }

    #[test]
    fn groups_stay_together() {
        let names: Vec<String> = (0..10).map(|group| format!("p{group}")).collect();
        let codes: Vec<u32> = (0..100).map(|row| row % 10).collect();
        let by = SplitBy::Group("p".into());
        for (share, held_groups) in [(None, 2), (Some(0.25), 3), (Some(0.99), 9), (Some(0.0), 0)] {
            let mut table = frame("p", Values::texts(codes.clone(), &names));
            let parts = by.rows(&mut table, share, 3).unwrap();
            assert!(!table.has("p") && parts.learn.len() + parts.held_out.len() == 100);
            let held: Vec<usize> = parts.held_out.iter().map(|row| parts.groups[*row]).collect();
            assert_eq!(held.len(), 10 * held_groups, "{share:?}");
            assert!(parts.learn.iter().all(|row| !held.contains(&parts.groups[*row])));
            assert!((0..100).all(|row| parts.groups[row] == parts.groups[row % 10]));
        }
        let seeds =
            |seed| by.rows(&mut frame("p", Values::texts(codes.clone(), &names)), None, seed);
        assert_ne!(seeds(1).unwrap().held_out, seeds(2).unwrap().held_out);
        let one = by.rows(&mut frame("p", Values::texts(vec![0; 9], &["a"])), None, 1);
        assert!(one.err().unwrap().to_string().contains("one group"));
        // Groups of one row each are rows.
        for (groups, is_noted) in [(9, true), (8, false)] {
            let values = (0..9).map(|row| f64::from(row % groups)).collect();
            let mut table = frame("p", Values::numbers(values));
            by.rows(&mut table, None, 1).unwrap();
            let said = table.notes.iter().any(|note| note.contains("each group is a single row"));
            assert_eq!(said, is_noted, "{:?}", table.notes);
        }
    }

    #[test]
    fn groups_that_look_alike_are_noted() {
        let by = SplitBy::Group("p".into());
        let names = ["A", "B", "a ", "C", "b"];
        // No row is in group `b`.
        let mut table = frame("p", Values::texts((0..12).map(|row| row % 4).collect(), &names));
        by.rows(&mut table, None, 1).unwrap();
        let [note] = &table.notes[..] else { panic!("{:?}", table.notes) };
        assert!(
            note.contains("column `p`: `A` (3) and `a ` (3) count as different groups"),
            "{note}"
        );
    }

    #[test]
    fn the_last_rows_are_held_out() {
        let by = SplitBy::Time("t".into());
        // Rows 0 to 9 have the times 9, 8, .., 0, except that row 1 also has the time 7.
        let times = [9.0, 7.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0, 0.0];
        let held = |values: &[f64], share| {
            let parts = by.rows(&mut frame("t", Values::numbers(values.to_vec())), share, 1)?;
            Ok::<_, DataError>(parts.held_out)
        };
        assert_eq!(held(&times, None).unwrap(), [0]);
        assert_eq!(held(&times, Some(0.3)).unwrap(), [0, 1, 2]);
        assert_eq!(held(&times, Some(0.0)).unwrap(), [0usize; 0]);
        assert_eq!(held(&times, Some(0.99)).unwrap().len(), 9);
        assert!(held(&[1.0; 10], None).unwrap_err().to_string().contains("same value"));
        assert!(held(&[1.0, f64::NAN], None).unwrap_err().to_string().contains("row 1"));
    }

    #[test]
    fn rows_are_split_by_the_stated_shares() {
        for (rows, share, held_out) in [
            (100, None, 5),
            (4999, None, 249),
            (5000, None, 1500),
            (30_000, None, 3000),
            (1_000_000, None, 20_000),
            (10, Some(0.25), 3),
            (10, Some(0.0), 0),
            (2, Some(0.99), 1),
        ] {
            let (learn, held) = split(rows, share, 1);
            assert_eq!(held.len(), held_out, "{rows}");
            let mut all = [learn, held].concat();
            all.sort_unstable();
            assert!(all.into_iter().eq(0..rows));
        }
        assert_ne!(split(100, None, 1), split(100, None, 2));
    }
}
