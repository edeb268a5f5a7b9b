//! Checks that two tables whose rows are joined in order have the same order, also if the columns of ids have different
//! names in the two files.

use crate::same_rows::{SameRows, check_order, check_same_rows, is_own, key, shown};
use halfspaces_frame::{ClassKey, Column, DataError, Frame, Kind};
use std::collections::HashMap;

/// Words in the name of a column that indicate that it contains file names.
const FILE_WORDS: [&str; 7] = ["image", "file", "img", "path", "name", "picture", "photo"];

/// The part of a file name that another file may have kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Whole,
    /// The name without folders.
    Base,
    /// The name without folders and without its extension.
    Stem,
}

impl Part {
    fn of(self, text: &str) -> &str {
        let base = text.rsplit(['/', '\\']).next().unwrap_or(text);
        match self {
            Part::Whole => text,
            Part::Base => base,
            Part::Stem => base.rsplit_once('.').map_or(base, |(stem, _)| stem),
        }
    }
}

/// Checks that the rows of a file, which is joined to a table in order, agree with the rows of the table
/// ([`check_same_rows`]). If the two have no common column, and an index or a column of ids numbers the rows of the
/// file from 0 or 1, the numbers must be in ascending order. Otherwise, the rows were sorted or shuffled after they
/// were numbered. A column of ids must not have the values of a column with a different name in a different order.
///
/// ```
/// use halfspaces_frame::{Column, Frame, Values};
/// use halfspaces_pipeline::check_same_order;
/// let table = |source: &str, name: &str, values: Vec<f64>| {
///     Frame::new(source, vec![Column { name: name.into(), values: Values::numbers(values) }])
/// };
/// let (x, y) = (table("x.csv", "size", vec![7.0, 9.0]), table("y.csv", "index", vec![1.0, 0.0]));
/// let error = check_same_order(&x, &y, &[], ["sort them", "sort it", "rename it"]).unwrap_err().to_string();
/// assert!(error.starts_with("y.csv, row 0, column `index`: `1` here, but 0 is expected"));
/// ```
///
/// # Errors
/// Returns the same errors as [`check_same_rows`], with the first advice. The second advice is for row numbers that are
/// out of order, and the third is for columns of ids with different names.
///
/// # Panics
/// Panics if the file has fewer rows than the table.
pub fn check_same_order(
    table: &Frame,
    file: &Frame,
    except: &[&str],
    [advice, of_numbers, of_other_names]: [&str; 3],
) -> Result<SameRows, DataError> {
    let pairs: Vec<_> = (0..table.rows).map(|row| (row, row)).collect();
    let same = check_same_rows(table, file, &pairs, except, advice)?;
    if same.columns == 0 {
        check_order(file, except, of_numbers)?;
    }
    check_other_names(table, file, except, of_other_names)?;
    Ok(same)
}

/// Checks that no column of `file` has the values of a column of `table` with a different name, but in a different
/// order. The rows of `file` are joined to the rows of `table` in order. If the table is a folder, file names are also
/// compared without folders and extensions.
///
/// All values of the column must be distinct, and both columns must have the same values. Whole numbers count only if
/// at least one of the two column names indicates identifiers. If they merely number the rows, both names must do so,
/// because a column of ranks or step numbers has the same values. The order is known to be right if such a column is in
/// the order of the table, or if both files have the same column of distinct values.
///
/// *Cost.* The time is linear in the number of cells of the columns of distinct values in the file. A column of the table
/// is read up to its first value that the file does not have.
///
/// # Errors
/// Returns an error that names both columns and gives the `advice`.
fn check_other_names(
    table: &Frame,
    file: &Frame,
    except: &[&str],
    advice: &str,
) -> Result<(), DataError> {
    if table.rows < 2 || file.rows != table.rows {
        return Ok(());
    }
    let mut moved = None;
    for theirs in file.columns.iter().chain(&file.index) {
        let name = theirs.name.as_str();
        if except.contains(&name) || is_own(name, file) {
            continue;
        }
        let Some(rows) = distinct(theirs, file.rows, Part::Whole) else { continue };
        if table.has(name) && !counts_rows(&rows) {
            return Ok(());
        }
        for ours in table.columns.iter().chain(&table.index).filter(|ours| ours.name != name) {
            let parts: &[Part] = match table.is_folder() {
                true => &[Part::Whole, Part::Base, Part::Stem],
                false => &[Part::Whole],
            };
            for part in parts {
                let again = (*part != Part::Whole).then(|| distinct(theirs, file.rows, *part));
                let rows = match &again {
                    None => &rows,
                    Some(Some(again)) => again,
                    Some(None) => continue,
                };
                let Some(at) = order(ours, table.rows, *part, rows) else { continue };
                if !are_ids((table, ours), (file, theirs), rows) {
                    continue;
                }
                match at.iter().enumerate().find(|(row, at)| row != *at) {
                    None => return Ok(()),
                    Some((row, _)) => {
                        let differing = at.iter().enumerate().filter(|(row, at)| row != *at);
                        let count = differing.count();
                        moved.get_or_insert((theirs, ours, row, count));
                    }
                }
            }
        }
    }
    let Some((theirs, ours, row, count)) = moved else { return Ok(()) };
    Err(DataError::user(format!(
        "{}, {}: {} here, but {} in {} of {}, to which it is joined; both have the same values in another order ({count} of {} \
         rows differ); {advice}",
        file.place(row),
        named(theirs),
        shown(&theirs.values, row),
        shown(&ours.values, row),
        named(ours),
        table.place(row),
        table.rows
    )))
}

/// The row of each value of a column, or `None` if a value is missing or occurs twice.
fn distinct(column: &Column, rows: usize, part: Part) -> Option<HashMap<ClassKey, usize>> {
    let mut of_key = HashMap::new();
    for row in 0..rows {
        if of_key.insert(key(part.of(&column.values.text(row)))?, row).is_some() {
            return None;
        }
    }
    Some(of_key)
}

/// The place of each value of a column in the other file. Returns `None` if the two columns do not have the same values.
fn order(
    column: &Column,
    rows: usize,
    part: Part,
    places: &HashMap<ClassKey, usize>,
) -> Option<Vec<usize>> {
    let mut is_taken = vec![false; rows];
    let place = |row: usize| {
        let at = *places.get(&key(part.of(&column.values.text(row)))?)?;
        (!std::mem::replace(&mut is_taken[at], true)).then_some(at)
    };
    (0..rows).map(place).collect()
}

/// Whether two columns with the same distinct values are certainly identifiers of rows.
fn are_ids(
    (table, ours): (&Frame, &Column),
    (file, theirs): (&Frame, &Column),
    rows: &HashMap<ClassKey, usize>,
) -> bool {
    let is_whole = |key: &ClassKey| key.number().is_some_and(|number| number.fract() == 0.0);
    if !rows.keys().all(is_whole) {
        return true;
    }
    let names_files = |column: &Column| {
        let name = column.name.to_lowercase();
        table.is_folder() && FILE_WORDS.iter().any(|word| name.contains(word))
    };
    let is_id = |frame: &Frame, column: &Column| {
        let kind = frame.record(&column.name).map(|record| record.rule.kind);
        kind == Some(Kind::Identifier) || names_files(column)
    };
    match (is_id(table, ours), is_id(file, theirs)) {
        (true, true) => true,
        (false, false) => false,
        _ => !counts_rows(rows),
    }
}

/// Whether the values are consecutive whole numbers that start at 0 or 1, in any order.
fn counts_rows(rows: &HashMap<ClassKey, usize>) -> bool {
    let number = |n: usize| ClassKey::of(&n.to_string());
    let count = rows.len();
    [0, 1].into_iter().any(|first| (first..first + count).all(|n| rows.contains_key(&number(n))))
}

fn named(column: &Column) -> String {
    match column.name.is_empty() {
        true => "the index".to_owned(),
        false => format!("column `{}`", column.name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_frame::{Hints, ReadOptions, read_bytes};

    fn csv(name: &str, head: &str, cells: &[String]) -> Frame {
        let text = format!("{head}\n{}\n", cells.join("\n")).into_bytes();
        read_bytes(name, text, &ReadOptions::default(), &Hints::default()).unwrap()
    }

    /// Compares a table with a file that has the same cells in reverse order.
    fn reversed(ours: &str, theirs: &str, cell: &dyn Fn(usize) -> String) -> Result<(), String> {
        let cells: Vec<String> = (0..30).map(|i| format!("{},{}", cell(i), i % 4)).collect();
        let turned: Vec<String> = cells.iter().rev().cloned().collect();
        let table = csv("x.csv", &format!("{ours},a"), &cells);
        let file = csv("y.csv", &format!("{theirs},b"), &turned);
        let said = |error: DataError| error.to_string();
        check_other_names(&table, &table, &[], "sort it").map_err(said)?;
        check_other_names(&table, &file, &["b"], "sort it").map_err(said)
    }

    #[test]
    fn ids_under_another_name_contradict() {
        let said = reversed("id", "sample_id", &|i| format!("{:03}", i + 1)).unwrap_err();
        assert_eq!(
            said,
            "y.csv, line 2, column `sample_id`: `30` here, but `1` in column `id` of x.csv, line 2, to which it is joined; \
             both have the same values in another order (30 of 30 rows differ); sort it"
        );
        for (ours, theirs) in [("id", "sample"), ("sample", "id"), ("key", "sample")] {
            assert!(reversed(ours, theirs, &|i| format!("{}", 4021 + 13 * i)).is_err());
        }
        assert!(reversed("a1", "b1", &|i| format!("{}.25", i)).is_err());
        assert!(reversed("who", "name", &|i| format!("person {i}")).is_err());
    }

    #[test]
    fn numbers_that_could_be_anything_do_not_contradict() {
        for first in [0, 1] {
            assert_eq!(reversed("n", "place", &|i| format!("{}", first + i)), Ok(()));
            assert_eq!(reversed("id", "place", &|i| format!("{}", first + i)), Ok(()));
        }
        assert_eq!(reversed("height", "width", &|i| format!("{}", 4021 + 13 * i)), Ok(()));
        // Repeated values do not identify rows.
        assert_eq!(reversed("who", "name", &|i| format!("person {}", i / 2)), Ok(()));
        // Row numbers from 0 and from 1.
        let table = csv("x.csv", "id,a", &["0,5", "1,7", "2,5"].map(str::to_owned));
        let file = csv("y.csv", "sample_id,b", &["3,5", "1,7", "2,5"].map(str::to_owned));
        assert!(check_other_names(&table, &file, &["b"], "").is_ok());
    }

    /// The partner of a row has the id of another row.
    #[test]
    fn a_column_in_the_right_order_confirms() {
        let line = |i: usize| format!("p{i:02},p{:02}", (i + 1) % 30);
        let lines: Vec<String> = (0..30).map(line).collect();
        let table = csv("x.csv", "id,partner", &lines);
        for head in ["sample,other", "id,other", "who,partner"] {
            let file = csv("y.csv", head, &lines);
            assert!(check_other_names(&table, &file, &[], "").is_ok(), "{head}");
        }
        let turned: Vec<String> = lines.iter().rev().cloned().collect();
        assert!(check_other_names(&table, &csv("y.csv", "who,other", &turned), &[], "").is_err());
    }
}
