//! Checks that the rows of two tables agree in the columns that both tables have, if the tables are joined in order or
//! by row numbers.

use halfspaces_frame::{
    ClassKey, Column, DataError, Frame, Kind, Values, is_missing_marker, short,
};
use std::collections::{HashMap, HashSet};

/// The columns that identify rows and labels, whose meaning can differ between the two files.
const ROLES: [&str; 3] = ["row", "label", "suggested"];
/// For each command, the columns that show that it wrote the file, and the columns that it adds.
const OWN: [(&[&str], &[&str]); 3] = [
    // `audit`, in Python with a column `score`
    (
        &["row", "suggested"],
        &["rank", "agreement", "score", "likely_wrong", "line", "sort_key", "contradicts"],
    ),
    // `label`
    (&["row", "label", "source"], &["source", "probability"]),
    // `predict`
    (&["label", "value", "probability"], &["value", "probability"]),
];
/// The prefix of the name of a copied column if the file has its own column with this name.
const COPY: &str = "kept ";
/// The name of an index in messages.
const INDEX: &str = "the index";
/// A column of identifiers is an index if it has one of these names.
const INDEX_NAMES: [&str; 4] = ["index", "rownames", "row.names", "row_names"];
/// The prefixes of other columns that the commands add. The prefix is followed by the name of an annotator or a class.
const OWN_BEGINNINGS: [&str; 2] = ["label by ", "probability="];

/// The result of a comparison of joined rows.
///
/// ```
/// use halfspaces_pipeline::SameRows;
/// assert_eq!(SameRows::default().columns, 0);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SameRows {
    /// The number of columns that were compared.
    pub columns: usize,
    /// A note on each column in which some of the rows differ.
    pub notes: Vec<String>,
}

/// Checks that the rows of a file agree with the rows of the table to which they were joined. Each element of `pairs`
/// is a row of the table and the row of the file that is joined to it.
///
/// Columns with the same name in the table and in the file are compared. The names may differ in case (`id` and `ID`)
/// if neither table has another column whose name differs only in case. There are three exceptions: the columns
/// `except`; the columns `row`, `label`, `suggested` and others that a command added to the file (such as `rank` in a
/// ranking); and the columns of a file without column names. A copy that the file calls `kept NAME` is compared with
/// the column `NAME`. A column contradicts the join in two cases:
///
/// - Its cells are all distinct within the table and within the file, like ids, and a cell of the file equals a cell in
///   a different row of the table. An edited cell, which equals no cell of the table, does not contradict the join.
/// - More than half of the pairs of cells differ.
///
/// The indices of the two files, such as row names, are compared like columns, whatever their names are. They do not
/// contradict the join if one of them merely numbers the rows and the other has different values. An index with a name
/// is also compared with a column of that name in the other file.
///
/// Cells are equal if their texts are equal, or if they are the same number or truth value (`1` and `1.0`, `007` and
/// `7`). Missing cells are equal to each other. If a column was read as dates in only one of the two files, it is not
/// compared. If it was read as numbers in only one of them, it is compared only if all its texts in the other are
/// numbers.
///
/// *Cost.* The time is linear in the number of cells compared. The memory is linear in the number of rows, because
/// columns are compared one at a time.
///
/// ```
/// use halfspaces_frame::{Column, Frame, Values};
/// use halfspaces_pipeline::check_same_rows;
/// let table = |source: &str, ids: Vec<f64>| {
///     Frame::new(source, vec![Column { name: "id".into(), values: Values::numbers(ids) }])
/// };
/// let (x, y) = (table("x.csv", vec![1.0, 2.0]), table("y.csv", vec![2.0, 1.0]));
/// let error = check_same_rows(&x, &y, &[(0, 0), (1, 1)], &[], "sort them").unwrap_err().to_string();
/// assert!(error.starts_with("y.csv, row 0, column `id`: `2` here, but `1` in x.csv, row 0"));
/// assert_eq!(check_same_rows(&x, &y, &[(0, 1), (1, 0)], &[], "sort them").unwrap().columns, 1);
/// ```
///
/// # Errors
/// Returns an error if a column contradicts the join. The message names both rows and gives the `advice`.
///
/// # Panics
/// Panics if a row in `pairs` does not exist.
pub fn check_same_rows(
    table: &Frame,
    file: &Frame,
    pairs: &[(usize, usize)],
    except: &[&str],
    advice: &str,
) -> Result<SameRows, DataError> {
    let mut found = SameRows::default();
    if file.reading.as_ref().is_some_and(|reading| reading.header_lines == 0) {
        return Ok(found);
    }
    let named = |index: &&Column| !index.name.is_empty();
    let of_file: HashMap<&str, &Column> = (file.index.iter().filter(named))
        .chain(&file.columns)
        .map(|column| (column.name.as_str(), column))
        .collect();
    let (ours_in_lower_case, theirs_in_lower_case) = (in_lower_case(table), in_lower_case(file));
    let mut contradiction = Ok(());
    let columns = table.columns.iter().chain(table.index.iter().filter(named));
    let in_both = columns.filter_map(|column| {
        let name = column.name.as_str();
        if except.contains(&name) {
            return None;
        }
        let is_compared = |name: &str| !is_own(name, file);
        let in_other_case = || {
            let name = name.to_lowercase();
            let other = ours_in_lower_case.get(&name)?.and(*theirs_in_lower_case.get(&name)?)?;
            (!except.contains(&other.name.as_str()) && is_compared(&name)).then_some(other)
        };
        let copy = || of_file.get(format!("{COPY}{name}").as_str()).copied();
        let same = of_file.get(name).copied().filter(|_| is_compared(name));
        let other = same.or_else(copy).or_else(in_other_case)?;
        Some((format!("column `{}`", other.name), &column.values, &other.values))
    });
    let indices =
        index_of(table).zip(index_of(file)).filter(|((a, _), (b, _))| a.is_none() || a != b);
    let indices = indices.map(|((_, ours), (_, theirs))| (INDEX.to_owned(), ours, theirs));
    for (name, values, other) in in_both.chain(indices) {
        let (ours, theirs) = (keys(values, table.rows), keys(other, file.rows));
        let is_index = name == INDEX;
        // Row numbers are no names of rows.
        let are_alike = !is_index || are_numbers(&ours) == are_numbers(&theirs);
        if !are_alike || !are_comparable((values, &ours), (other, &theirs)) {
            continue;
        }
        // An index that only counts the rows says nothing about the order of rows that have another index.
        let says_nothing = is_index
            && (counts_rows(&ours) || counts_rows(&theirs))
            && ours.iter().collect::<HashSet<_>>() != theirs.iter().collect::<HashSet<_>>();
        found.columns += 1;
        let differing = pairs.iter().filter(|(row, at)| ours[*row] != theirs[*at]);
        let differing: Vec<(usize, usize)> = differing.copied().collect();
        let fault = |(row, at): (usize, usize)| {
            DataError::user(format!(
                "{}, {name}: {} here, but {} in {}, to which it is joined ({} of {} rows differ); {advice}, or {} one of them if it \
                 has a different meaning there",
                file.place(at),
                shown(other, at),
                shown(values, row),
                table.place(row),
                differing.len(),
                pairs.len(),
                if is_index { "remove the index of" } else { "rename the column in" }
            ))
        };
        // A contradiction in a column of ids is reported first, because ids show best which rows belong together.
        if let (Some(rows), Some(_)) = (rows_of(&ours), rows_of(&theirs))
            && let Some(moved) = differing
                .iter()
                .find(|(_, at)| theirs[*at].as_ref().is_some_and(|key| rows.contains_key(key)))
            && !says_nothing
        {
            return Err(fault(*moved));
        }
        if contradiction.is_ok() && 2 * differing.len() > pairs.len() && !says_nothing {
            contradiction = Err(fault(differing[0]));
        }
        if let Some((row, at)) = differing.first() {
            found.notes.push(format!(
                "{}, {name}: in {} of {} rows, the value differs from that in the joined row of {}; for example, it is {} here, but {} in {}",
                file.place(*at),
                differing.len(),
                pairs.len(),
                table.source,
                shown(other, *at),
                shown(values, *row),
                table.place(*row),
            ));
        }
    }
    contradiction.map(|()| found)
}

/// The columns by their names in lower case. The value is `None` if several columns have the same name in lower case.
fn in_lower_case(table: &Frame) -> HashMap<String, Option<&Column>> {
    let mut columns = HashMap::new();
    for column in &table.columns {
        let only = columns.entry(column.name.to_lowercase());
        only.and_modify(|only| *only = None).or_insert(Some(column));
    }
    columns
}

/// The index of a table, with its name if it is a column.
fn index_of(table: &Frame) -> Option<(Option<&str>, &Values)> {
    let is_index = |column: &&Column| {
        let kind = table.record(&column.name).map(|record| record.rule.kind);
        let is_named = || INDEX_NAMES.iter().any(|name| column.name.eq_ignore_ascii_case(name));
        kind == Some(Kind::Index) || kind == Some(Kind::Identifier) && is_named()
    };
    let column = || table.columns.iter().find(is_index);
    let apart = table.index.as_ref().map(|index| (None, &index.values));
    apart.or_else(|| column().map(|column| (Some(column.name.as_str()), &column.values)))
}

/// Returns an error if `file` has an index or a column of ids that numbers its rows from 0 or 1, but not in ascending
/// order.
pub(crate) fn check_order(file: &Frame, except: &[&str], advice: &str) -> Result<(), DataError> {
    let may_number = |column: &&Column| {
        let is_named = INDEX_NAMES.iter().chain(&["id", "row", "row_id"]);
        let is_named = is_named.into_iter().any(|name| column.name.eq_ignore_ascii_case(name));
        let kind = file.record(&column.name).map(|record| record.rule.kind);
        !except.contains(&column.name.as_str()) && (is_named || kind == Some(Kind::Index))
    };
    let columns = file.columns.iter().filter(may_number);
    let named = columns.map(|column| (format!("column `{}`", column.name), &column.values));
    let index = file.index.iter().map(|index| (INDEX.to_owned(), &index.values));
    for (name, values) in index.chain(named) {
        let keys = keys(values, file.rows);
        let Some(rows) = rows_of(&keys) else { continue };
        let numbers_from =
            |first: usize| (first..first + file.rows).all(|n| rows.contains_key(&number(n)));
        let Some(first) = [0, 1].into_iter().find(|first| numbers_from(*first)) else { continue };
        let is_elsewhere = |row: &usize| keys[*row].as_ref() != Some(&number(first + row));
        if let Some(row) = (0..file.rows).find(is_elsewhere) {
            return Err(DataError::user(format!(
                "{}, {name}: {} here, but {} is expected, because {name} numbers the rows from {first}; the rows are in another \
                 order than their numbers; {advice}",
                file.place(row),
                shown(values, row),
                first + row
            )));
        }
    }
    Ok(())
}

/// Checks that the column `row` of a file, by which it is joined to a table, can only mean the numbers of the data
/// rows. It could also mean the column `row` of the table if that column contains all of its values, but in different
/// rows. `pairs` are as for [`check_same_rows`]. In a file that `label` wrote, the column contains the numbers of the
/// rows.
///
/// # Errors
/// Returns an error with the `advice` if the column could have both meanings.
///
/// # Panics
/// Panics if a row in `pairs` does not exist.
pub fn check_row_column(
    table: &Frame,
    file: &Frame,
    pairs: &[(usize, usize)],
    advice: &str,
) -> Result<(), DataError> {
    const ROW: &str = "row";
    let is_written = |names: &[&str]| names.iter().all(|name| file.has(name));
    let (Some(column), Some(theirs)) = (table.column(ROW), file.column(ROW)) else { return Ok(()) };
    if is_written(&[ROW, "label", "source", "probability"]) {
        return Ok(());
    }
    let (ours, named) = (keys(&column, table.rows), keys(&theirs, file.rows));
    let Some(rows) = rows_of(&ours) else { return Ok(()) };
    let has_all = named.iter().flatten().all(|key| rows.contains_key(key));
    match pairs.iter().find(|(row, at)| ours[*row] != named[*at]) {
        Some((row, at)) if has_all => Err(DataError::user(format!(
            "{}, column `row`: {} is the number of a data row or a value of the column `row` of {}, which is {} in that data row; \
             {advice}",
            file.place(*at),
            shown(&theirs, *at),
            table.source,
            shown(&column, *row)
        ))),
        _ => Ok(()),
    }
}

/// Whether the cells are the numbers of the rows, counted from 0 or 1.
fn counts_rows(keys: &[Option<ClassKey>]) -> bool {
    let counts_from = |first: usize| {
        keys.iter().enumerate().all(|(row, key)| key.as_ref() == Some(&number(first + row)))
    };
    counts_from(0) || counts_from(1)
}

fn number(n: usize) -> ClassKey {
    ClassKey::of(&n.to_string())
}

/// Whether a command added the column with this name to `file`. Columns that name rows and labels count as added.
pub(crate) fn is_own(name: &str, file: &Frame) -> bool {
    let is_written = |(shown_by, names): &(&[&str], &[&str])| {
        names.contains(&name) && shown_by.iter().all(|name| file.has(name))
    };
    ROLES.contains(&name)
        || OWN.iter().any(is_written)
        || OWN_BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
}

/// The keys by which the cells are compared.
fn keys(values: &Values, rows: usize) -> Vec<Option<ClassKey>> {
    (0..rows).map(|row| key(&values.text(row))).collect()
}

/// The key by which a cell is compared, or `None` if the cell is missing.
pub(crate) fn key(text: &str) -> Option<ClassKey> {
    let text = match text.trim() {
        _ if text.eq_ignore_ascii_case("true") => "1",
        _ if text.eq_ignore_ascii_case("false") => "0",
        // A program may have removed leading zeros.
        digits if digits.bytes().all(|b| b.is_ascii_digit()) && digits.len() > 1 => {
            let number = digits.trim_start_matches('0');
            if number.is_empty() { "0" } else { number }
        }
        text => text,
    };
    (!text.is_empty() && !is_missing_marker(text)).then(|| ClassKey::of(text))
}

type Keyed<'a> = (&'a Values, &'a [Option<ClassKey>]);

/// Whether the cells of two columns can be compared. The same cell may have been read as a date or a number in one
/// table and kept as a text in the other.
fn are_comparable((a, of_a): Keyed<'_>, (b, of_b): Keyed<'_>) -> bool {
    match (a, b) {
        (Values::Numbers(_), Values::Texts(_)) => are_numbers(of_b),
        (Values::Texts(_), Values::Numbers(_)) => are_numbers(of_a),
        _ => std::mem::discriminant(a) == std::mem::discriminant(b),
    }
}

/// Whether all cells that are not missing are numbers.
fn are_numbers(keys: &[Option<ClassKey>]) -> bool {
    keys.iter().flatten().all(|key| key.number().is_some())
}

/// The row of each cell, or `None` if a cell is missing or two cells are equal.
fn rows_of(keys: &[Option<ClassKey>]) -> Option<HashMap<&ClassKey, usize>> {
    let mut rows = HashMap::with_capacity(keys.len());
    for (row, key) in keys.iter().enumerate() {
        if rows.insert(key.as_ref()?, row).is_some() {
            return None;
        }
    }
    Some(rows)
}

/// The cell of a row, as it is shown in a message.
pub(crate) fn shown(values: &Values, row: usize) -> String {
    let text = values.text(row);
    match text.trim().is_empty() {
        true => "an empty cell".to_owned(),
        false => format!("`{}`", short(&text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_frame::{Hints, ReadOptions, read_bytes};

    /// Reads a CSV file, whose columns `texts` are kept as texts.
    fn csv(name: &str, text: &str, texts: &[&str]) -> Frame {
        let hints = Hints::verbatim(texts.iter().copied());
        read_bytes(name, text.as_bytes().to_vec(), &ReadOptions::default(), &hints).unwrap()
    }

    fn compare(table: &Frame, file: &Frame) -> Result<usize, String> {
        let pairs: Vec<(usize, usize)> = (0..table.rows).zip(0..file.rows).collect();
        let found = check_same_rows(table, file, &pairs, &["class"], "sort them");
        found.map(|found| found.columns).map_err(|error| error.to_string())
    }

    /// A first column without a name is an index. It need not have the same name in both files.
    #[test]
    fn an_index_in_another_order_contradicts() {
        let read = |name: &str, index: &[&str], head: &str| {
            let rows: String = index.iter().map(|of| format!("{of},1\n")).collect();
            csv(name, &format!("{head}\n{rows}"), &[])
        };
        let table = read("x.csv", &["0", "1", "2", "3"], ",a");
        for head in [",b", "Unnamed: 0,b", "index,b"] {
            let said = compare(&table, &read("y.csv", &["0", "2", "1", "3"], head)).unwrap_err();
            assert!(
                said.starts_with("y.csv, line 3, the index: `2` here, but `1` in x.csv, line 3"),
                "{said}"
            );
            assert_eq!(compare(&table, &read("y.csv", &["0", "1", "2", "3"], head)), Ok(1));
        }
        let names = read("x.csv", &["u", "v", "w", "z"], ",a");
        assert!(compare(&names, &read("y.csv", &["v", "u", "w", "z"], ",b")).is_err());
        // The table is a sample of a larger table, and the file may have a new index.
        let sampled = read("x.csv", &["7", "1", "9", "4"], ",a");
        let found = |index: &[&str]| {
            let file = read("y.csv", index, ",b");
            let pairs: Vec<(usize, usize)> = (0..4).map(|row| (row, row)).collect();
            check_same_rows(&sampled, &file, &pairs, &[], "").map(|found| found.notes.len())
        };
        assert_eq!((found(&["0", "1", "2", "3"]), found(&["1", "2", "3", "4"])), (Ok(1), Ok(1)));
        assert!(found(&["2", "7", "9", "4"]).is_err() && found(&["9", "8", "7", "6"]).is_err());
        assert_eq!(found(&["7", "1", "9", "4"]), Ok(0));
    }

    /// A data frame may have its ids as the index and another file as a column, in either direction.
    #[test]
    fn an_index_with_a_name_is_compared_with_the_column() {
        let ids = |names: [&str; 3]| Column {
            name: "id".into(),
            values: Values::texts(vec![0, 1, 2], &names),
        };
        let with_column = |names| Frame::new("x.csv", vec![ids(names)]);
        let with_index =
            |names| Frame { index: Some(ids(names)), ..Frame::new("y.parquet", Vec::new()) };
        let frames = |a, b| [(with_column(a), with_index(b)), (with_index(b), with_column(a))];
        for (table, mut file) in frames(["u", "v", "w"], ["v", "u", "w"]) {
            file.rows = 3;
            let table = Frame { rows: 3, ..table };
            let said = compare(&table, &file).unwrap_err();
            assert!(said.contains("column `id`: `"), "{said}");
        }
        for (table, file) in frames(["u", "v", "w"], ["u", "v", "w"]) {
            let (table, file) = (Frame { rows: 3, ..table }, Frame { rows: 3, ..file });
            assert_eq!(compare(&table, &file), Ok(1));
        }
    }

    #[test]
    fn ids_in_another_order_contradict() {
        let table = csv("x.csv", "id,a\nu,1\nv,1\nw,2\n", &["id"]);
        let file = csv("y.csv", "id,a\nu,1.0\nw,2.0\nv,1.0\n", &["id"]);
        let said = compare(&table, &file).unwrap_err();
        assert_eq!(
            said,
            "y.csv, line 3, column `id`: `w` here, but `v` in x.csv, line 3, to which it is joined (2 of 3 rows differ); sort \
             them, or rename the column in one of them if it has a different meaning there"
        );
        let pairs = [(0, 0), (2, 1), (1, 2)];
        let same = SameRows { columns: 2, notes: Vec::new() };
        assert_eq!(check_same_rows(&table, &file, &pairs, &[], ""), Ok(same));
        // An id that occurs in no other row may have been corrected.
        let edited = csv("y.csv", "id,a\nu,1\nv2,1\nw,2\n", &["id"]);
        assert_eq!(compare(&table, &edited), Ok(2));
        // The difference is noted.
        let pairs = [(0, 0), (1, 1), (2, 2)];
        let notes = check_same_rows(&table, &edited, &pairs, &[], "").unwrap().notes;
        assert_eq!(
            notes,
            [
                "y.csv, line 3, column `id`: in 1 of 3 rows, the value differs from that in the joined row of x.csv; \
              for example, it is `v2` here, but `v` in x.csv, line 3"
            ]
        );
    }

    #[test]
    fn capital_letters_of_a_name_may_differ() {
        let column = |name: &str, values: [f64; 3]| Column {
            name: name.into(),
            values: Values::numbers(values.to_vec()),
        };
        let table = Frame::new("x.csv", vec![column("id", [1.0, 2.0, 3.0])]);
        let moved = || column("ID", [2.0, 3.0, 1.0]);
        let pairs = [(0, 0), (1, 1), (2, 2)];
        let check = |table: &Frame, file: Vec<Column>| {
            check_same_rows(table, &Frame::new("y.csv", file), &pairs, &[], "sort them")
        };
        let error = check(&table, vec![moved()]).unwrap_err().to_string();
        assert!(error.starts_with("y.csv, row 0, column `ID`: `2` here, but `1`"), "{error}");
        // If one of the tables has two columns with this name, it is unclear which columns correspond.
        assert_eq!(check(&table, vec![moved(), column("Id", [1.0; 3])]).unwrap().columns, 0);
        let two = Frame::new("x.csv", vec![column("iD", [1.0; 3]), column("id", [1.0, 2.0, 3.0])]);
        assert_eq!(check(&two, vec![moved()]).unwrap().columns, 0);
        let exact = check(&table, vec![moved(), column("id", [1.0, 2.0, 3.0])]);
        assert_eq!(exact.unwrap().columns, 1);
        let file = Frame::new("y.csv", vec![moved()]);
        assert_eq!(
            check_same_rows(&table, &file, &pairs, &["ID"], "sort them").unwrap().columns,
            0
        );
    }

    #[test]
    fn other_columns_contradict_in_most_rows() {
        let table = csv("x.csv", "t,n\nred,1\nred,2\nblue,3\nblue,4\n", &["t"]);
        let half = csv("y.csv", "t,m\nred,1\nrose,2\nblue,3\nnavy,4\n", &["t"]);
        assert_eq!(compare(&table, &half), Ok(1));
        let turned = csv("y.csv", "t,m\nblue,1\nblue,2\nred,3\nred,4\n", &["t"]);
        let said = compare(&table, &turned).unwrap_err();
        assert!(said.contains("(4 of 4 rows differ); sort them"), "{said}");
        let other = csv("y.csv", "t,m\nrose,1\nrose,2\nblue,3\nnavy,4\n", &["t"]);
        assert!(compare(&table, &other).unwrap_err().contains("(3 of 4 rows differ)"));
    }

    #[test]
    fn spellings_of_the_same_cell_are_equal() {
        let text = "id,n,flag,gap\n001,1.50,True,NA\n002,2,false,5\n003,3.0,TRUE,7\n";
        let table = csv("x.csv", text, &[]);
        let file = csv("y.csv", text, &["id", "n", "flag", "gap"]);
        assert_eq!((compare(&table, &file), compare(&file, &table)), (Ok(4), Ok(4)));
        let key = |text: &str| keys(&Values::texts(vec![0], &[text]), 1)[0].clone();
        assert_eq!([key("NA"), key(" ")], [None, None]);
        for (a, b, is_same) in [
            ("1", "1.0", true),
            ("007", "7", true),
            ("00", "0", true),
            (" a ", "a", true),
            ("true", "1", true),
            ("9007199254740993", "9007199254740992", false),
            ("a", "A", false),
        ] {
            assert_eq!(key(a) == key(b), is_same, "{a} {b}");
        }
        // Columns of dates and amounts that one of the tables keeps as texts are left out.
        let text = "day,price\n1.3.2024,5 %\n2.3.2024,6 %\n13.3.2024,7 %\n";
        let table = csv("x.csv", text, &[]);
        assert_eq!(compare(&table, &csv("y.csv", text, &["day", "price"])), Ok(0));
        assert_eq!(compare(&table, &csv("y.csv", text, &[])), Ok(2));
    }

    /// Columns of labels, columns that the program adds, and columns without names do not show which rows belong
    /// together.
    #[test]
    fn columns_without_a_meaning_are_not_compared() {
        let table = csv("x.csv", "class,rank,c1\na,1,p\nb,2,q\n", &["class", "c1"]);
        let text = "class,rank,row,suggested,probability=a\nb,2,1,a,0\na,1,0,b,1\n";
        let file = csv("y.csv", text, &["class"]);
        assert_eq!(compare(&table, &file), Ok(0));
        let options = ReadOptions { header: Some(false), ..ReadOptions::default() };
        let bare =
            read_bytes("y.csv", b"q,1\np,2\n".to_vec(), &options, &Hints::default()).unwrap();
        assert!(bare.has("c1"));
        assert_eq!(compare(&table, &bare), Ok(0));
    }

    /// The names of columns that the commands write also occur in other files.
    #[test]
    fn names_of_own_columns_are_compared_in_other_files() {
        for name in ["value", "score", "source", "probability", "rank", "line"] {
            let table = csv("x.csv", &format!("{name},b\n1.5,1\n2.5,1\n4,2\n"), &[]);
            let file = csv("y.csv", &format!("{name},class\n4,p\n2.5,q\n1.5,p\n"), &["class"]);
            let said = compare(&table, &file).unwrap_err();
            assert!(said.contains(&format!("column `{name}`: `4` here")), "{said}");
        }
        for head in ["row,label,source,probability", "label,source,value,probability"] {
            let cells = head.split(',').map(|_| "1").collect::<Vec<_>>().join(",");
            let table = csv("x.csv", "source,probability,b\n3,3,1\n", &[]);
            let file = csv("y.csv", &format!("{head}\n{cells}\n"), &[]);
            let is_of_label = head.starts_with("row");
            assert_eq!(compare(&table, &file).is_ok(), is_of_label, "{head}");
        }
    }

    /// A command that has a column with the name of a copied column renames the copy.
    #[test]
    fn renamed_copies_are_compared() {
        for name in ["row", "label", "rank"] {
            let table = csv("x.csv", &format!("{name},a\n106,1\n103,1\n"), &[]);
            let file = |copy: u32| {
                let text = format!("rank,row,label,suggested,kept {name}\n1,0,p,q,{copy}\n");
                csv("y.csv", &text, &["label", "suggested"])
            };
            let check = |file: &Frame| check_same_rows(&table, file, &[(0, 0)], &["class"], "");
            assert_eq!(check(&file(106)).unwrap().columns, 1, "{name}");
            let said = check(&file(103)).unwrap_err().to_string();
            let found = format!("column `kept {name}`: `103` here, but `106`");
            assert!(said.contains(&found), "{said}");
        }
    }

    #[test]
    fn a_column_of_row_numbers_in_the_table_makes_row_unclear() {
        let check = |ours: [u32; 3], theirs: [usize; 3]| {
            let lines: String = ours.iter().map(|row| format!("{row},1\n")).collect();
            let table = csv("x.csv", &format!("row,a\n{lines}"), &[]);
            let lines: String = theirs.iter().map(|row| format!("{row},p\n")).collect();
            let file = csv("y.csv", &format!("row,class\n{lines}"), &[]);
            let pairs = [(theirs[0], 0), (theirs[1], 1), (theirs[2], 2)];
            check_row_column(&table, &file, &pairs, "pass --id row").map_err(|e| e.to_string())
        };
        let said = check([2, 0, 1], [0, 1, 2]).unwrap_err();
        assert_eq!(
            said,
            "y.csv, line 2, column `row`: `0` is the number of a data row or a value of the column `row` of x.csv, which is `2` in \
             that data row; pass --id row"
        );
        // The numbers of the data rows, numbers from 1, and numbers of something else.
        for ours in [[0, 1, 2], [1, 2, 3], [7, 7, 0]] {
            assert_eq!(check(ours, [0, 1, 2]), Ok(()));
        }
    }
}
