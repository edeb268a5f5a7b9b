//! Labels that are stored in a separate file, next to the table.

use crate::guesses::{SOURCE, is_guess};
use crate::moved_rows::check_same_order;
use crate::recipe::RecipeOptions;
use crate::same_rows::{check_row_column, check_same_rows};
use halfspaces_frame::{
    Column, DataError, Frame, Hints, MISSING, ReadOptions, Source, Values, is_missing_marker, read,
    same_class,
};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// The column of row numbers.
const ROW: &str = "row";
/// The values in the column [`SOURCE`] for answers to questions about rows that a session chose.
const ANSWERS: [&str; 2] = ["confirmed", "corrected"];
/// The column of file names, if the table is a folder of images.
const FILE: &str = "file";
/// The default name of the column of labels. If the columns of the file have no names, the column of labels gets this
/// name in the model.
const LABEL: &str = "label";

/// A file of labels for the rows of a table, such as `y.npy` next to `X.npy`, or a file that `halfspaces label` wrote.
///
/// If [`id`](LabelFile::id) names a column, labels are joined to the table by the ids in this column, which both files
/// must have. Otherwise, if the table is a folder of images, they are joined by a column `file` of file names.
/// Otherwise, they are joined by a column `row`, which contains the numbers of the data rows, counted from 0. If the
/// file has no such column, the labels are joined in order. A join by `row` or in order fails with an error if other
/// columns of both files contradict it ([`check_same_rows`]). It also fails if columns of ids with different names have
/// the same ids in different orders. Rows without a label are left out. Labels with the value `predicted` in a column
/// `source` are left out too, because they are predictions of a model.
///
/// ```
/// use halfspaces_frame::{Hints, ReadOptions};
/// use halfspaces_pipeline::{LabelFile, RecipeOptions};
/// let folder = std::env::temp_dir();
/// let path = |name: &str| folder.join(format!("halfspaces-{}-{name}", std::process::id()));
/// std::fs::write(path("x.csv"), "size\n1\n5\n2\n")?;
/// std::fs::write(path("y.csv"), "row,label\n2,small\n1,large\n")?;
/// let labels = LabelFile { path: path("y.csv"), column: None, id: None };
/// let (told, columns) = (ReadOptions::default(), RecipeOptions::default());
/// let joined = labels.read_table(&path("x.csv"), &told, &columns)?;
/// assert_eq!((joined.column.as_str(), joined.rows), ("label", vec![1, 2]));
/// assert_eq!(joined.frame.column("label").map(|labels| labels.text(0)), Some("large".to_owned()));
/// # std::fs::remove_file(path("x.csv"))?;
/// # std::fs::remove_file(path("y.csv"))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelFile {
    /// The file of labels, in any format in which a table can be read.
    pub path: PathBuf,
    /// The column of labels. The default is the column `label`, or the only column other than row numbers and ids.
    pub column: Option<String>,
    /// The column of unique ids in both files. The column is removed from the table, because ids contain no information
    /// about the class.
    pub id: Option<String>,
}

/// A table joined with the labels of another file. See [`LabelFile`] for an example.
#[derive(Debug, Clone, PartialEq)]
pub struct JoinedTable {
    /// The rows that have a label, with the labels as the last column. The notes of the frame state how many rows and
    /// labels were left out.
    pub frame: Frame,
    /// The name of the column of labels.
    pub column: String,
    /// The numbers of the labelled rows in the original table, counted from 0, in ascending order.
    pub rows: Vec<usize>,
    /// Whether a labelling session chose the labelled rows, and other rows have no label. The labelled rows are then
    /// not a random sample, so held-out rows among them tell little about other rows.
    pub is_chosen: bool,
    /// Whether the labels are predictions of a model. This is the case if the file has the columns `label`, `value` and
    /// `probability` of the output of `halfspaces predict`.
    pub are_predictions: bool,
}

impl LabelFile {
    /// Reads the table at `data` and joins the labels. The columns that `options` drop or use as text are read as text.
    ///
    /// # Errors
    /// Returns the same errors as [`read`]. Also returns an error if a column does not exist, if the table already has
    /// a column with the same name as the column of labels, or if no row has a label. Further errors are a label that
    /// refers to a row that does not exist, a row with two different labels, missing or repeated ids, and columns of
    /// both files that contradict a join by row numbers or in order.
    pub fn read_table(
        &self,
        data: &Path,
        told: &ReadOptions,
        options: &RecipeOptions,
    ) -> Result<JoinedTable, DataError> {
        let hints = options.with_texts(Hints::default());
        let hints = self.id.iter().cloned().fold(hints, with_verbatim);
        self.join(read(data, told, &hints)?, told)
    }

    /// Joins the labels to a table. If labels are joined by ids, the column of ids must have been read as text. `told`
    /// contains the options with which the table was read. Its markers of missing values also apply to the column of
    /// labels.
    ///
    /// # Errors
    /// Returns the same errors as [`read_table`](LabelFile::read_table).
    pub fn join(&self, mut table: Frame, told: &ReadOptions) -> Result<JoinedTable, DataError> {
        let options = ReadOptions { missing: told.missing.clone(), ..ReadOptions::default() };
        let known = [ROW, SOURCE, FILE].into_iter().chain(self.id.as_deref());
        let named = self.column.as_deref().unwrap_or(LABEL);
        let hints = known.chain([named]).map(str::to_owned).fold(Hints::default(), with_verbatim);
        let source = Source::open(&self.path)?;
        let mut file = source.read(&options, &hints)?;
        let (found, column) = self.label_column(&file)?;
        leave_out_target(&mut table);
        check_free(&table, &column, &file.source)?;
        if found != named {
            // The file is read again without converting the labels, so that they stay unchanged.
            file = source.read(&options, &with_verbatim(hints, found.clone()))?;
        }
        let rows = self.rows(&file, &found, &mut table, told)?;
        let values_of_predictions = are_numbers(&file, "value") && file.has("probability");
        let labels = file.take(&found)?.values;
        let is_guess: Vec<bool> = match file.column(SOURCE) {
            Some(source) => (0..file.rows).map(|at| is_guess(&source.text(at))).collect(),
            None => vec![false; file.rows],
        };
        let is_answer = |at: &usize| {
            file.column(SOURCE).is_some_and(|source| ANSWERS.contains(&source.text(*at).as_str()))
        };
        let is_chosen = (0..file.rows).any(|at| is_answer(&at));
        let mut label_of: BTreeMap<usize, String> = BTreeMap::new();
        for (at, row) in rows.into_iter().enumerate() {
            if is_guess[at] || labels.is_missing(at) {
                continue;
            }
            let label = labels.text(at);
            if let Some(other) = label_of.insert(row, label.clone())
                && !same_class(&label, &other)
            {
                return Err(DataError::user(format!(
                    "{}: row {row} of {} has two labels, `{}` and `{}`; delete one of them",
                    file.place(at),
                    table.source,
                    other,
                    label
                )));
            }
        }
        if label_of.is_empty() {
            return Err(DataError::user(format!("{}: it has no labels", file.source)));
        }
        table.notes.append(&mut file.notes);
        // If the file has a column of sources, its labels are the classes of a labelling session, so none of them is
        // doubtful.
        let is_doubtful =
            |label: &&String| is_missing_marker(label) && !told.not_missing.contains(label);
        let marker = label_of.values().find(is_doubtful);
        if let Some(marker) = marker.filter(|_| !file.has(SOURCE)) {
            let rows = label_of.values().filter(|label| *label == marker).count();
            table.notes.push(format!(
                "{}: the label `{marker}` is read as a class ({rows} rows); pass --missing '{marker}' if it marks missing labels",
                file.source
            ));
        }
        let guesses = is_guess.iter().filter(|is_guess| **is_guess).count();
        if guesses > 0 {
            table.notes.push(format!(
                "{}: predicted labels are left out ({guesses}); only the other labels are used",
                file.source
            ));
        }
        let are_predictions = found == LABEL && values_of_predictions;
        if are_predictions {
            table.notes.push(format!(
                "{}: its labels are predictions of a model, because it has the columns `value` and `probability` of the output of \
                 `predict`; remove these columns if a person checked the labels",
                file.source
            ));
        }
        let joined = JoinedTable::new(table, column, (label_of, is_chosen), &file.source);
        Ok(JoinedTable { are_predictions, ..joined })
    }

    /// The name of the column of labels in the file, and the name that it gets in the table.
    fn label_column(&self, file: &Frame) -> Result<(String, String), DataError> {
        if let Some(name) = &self.column {
            return match file.has(name) {
                true => Ok((name.clone(), name.clone())),
                false => Err(file.no_column(name)),
            };
        }
        if file.has(LABEL) {
            return Ok((LABEL.to_owned(), LABEL.to_owned()));
        }
        let names = file.names();
        let others: Vec<&str> = names
            .iter()
            .map(AsRef::as_ref)
            .filter(|name| *name != ROW && self.id.as_deref() != Some(*name))
            .collect();
        match others[..] {
            // A column gets one of these names if the file has no column names.
            [only] if ["x", "x0", "c1"].contains(&only) => Ok((only.to_owned(), LABEL.to_owned())),
            [only] => Ok((only.to_owned(), only.to_owned())),
            _ => Err(DataError::user(format!(
                "{}: it has no column `label`; pass the column of labels with --label; its columns are {}",
                file.source,
                others.join(", ")
            ))),
        }
    }

    /// The row of the table to which each row of the file belongs. `label` is the name of the column of labels in the
    /// file.
    fn rows(
        &self,
        file: &Frame,
        label: &str,
        table: &mut Frame,
        told: &ReadOptions,
    ) -> Result<Vec<usize>, DataError> {
        // The row numbers of a folder change with every new image, so the labels of a folder are joined by file name.
        let is_folder = table.is_folder() && file.has(FILE) && table.has(FILE);
        let id = self.id.as_deref().or_else(|| is_folder.then_some(FILE));
        if let Some(id) = id {
            // The names of images are no features, and reports show the images.
            let ids = match table.column(id).filter(|_| table.is_folder() && id == FILE) {
                Some(files) => files.into_owned(),
                None => table.take(id)?.values,
            };
            return rows_by_ids(table, &ids, file, id);
        }
        if let Some(numbers) = file.column(ROW) {
            let row = |at| file.row_number(&numbers, at, &table.source, table.rows);
            let rows = (0..file.rows).map(row).collect::<Result<Vec<usize>, _>>()?;
            let pairs: Vec<_> = rows.iter().enumerate().map(|(at, row)| (*row, at)).collect();
            let advice = format!(
                "join by a column of ids (--id), or pass the table to which {} belongs",
                file.source
            );
            let same = check_same_rows(table, file, &pairs, &[label], &advice)?;
            table.notes.extend(same.notes);
            if same.columns == 0 {
                let advice = "pass --id row if it means the column, or rename the column in one of them if it counts the data rows \
                              from 0";
                check_row_column(table, file, &pairs, advice)?;
                check_first_line(table, told, &file.source)?;
                table.notes.push(unconfirmed(file, table, "by row number"));
            }
            return Ok(rows);
        }
        if file.rows != table.rows {
            let has_no_names = file.reading.as_ref().is_some_and(|of| of.header_lines == 0);
            let first = file.column(label).filter(|_| has_no_names && file.rows == table.rows + 1);
            let first = first.map_or_else(String::new, |labels| {
                let first = labels.text(0);
                format!(
                    " the first line is read as a label; if it is a name, pass --label '{first}';"
                )
            });
            return Err(DataError::user(format!(
                "{}: {} labels for the {} rows of {};{first} pass one label for each row in the same order, or add a column `row` \
                 (data rows, counted from 0), or a column of ids (--id)",
                file.source, file.rows, table.rows, table.source
            )));
        }
        let advice = "join by a column of ids (--id), or sort the tables in the same order";
        let of_numbers = format!(
            "call the column `row` if it has the numbers of the rows of {}, counted from 0, sort the file by it, or remove it",
            table.source
        );
        let by_ids = match table.is_folder() {
            true => "call the column `file` and give it the file names of the folder".to_owned(),
            false => format!(
                "give both columns the same name and pass it with --id, or sort {}",
                file.source
            ),
        };
        let same = check_same_order(table, file, &[label], [advice, &of_numbers, &by_ids])?;
        table.notes.extend(same.notes);
        let has_more = file.names().len() > 1 || file.index.is_some() || table.index.is_some();
        if same.columns == 0 && table.is_folder() {
            table.notes.push(format!(
                "{}: the labels are joined to the images of {} in the order of their names (2 before 10); no column can confirm \
                 this; to be safe, add a column `file` of file names",
                file.source, table.source
            ));
        } else if same.columns == 0 && has_more {
            table.notes.push(unconfirmed(file, table, "in order"));
        }
        Ok((0..table.rows).collect())
    }
}

/// The row of a table for each row of a file, found by the column `id` of the file. `ids` are the ids of the rows of the
/// table.
///
/// ```
/// use halfspaces_frame::{Column, Frame, Values};
/// use halfspaces_pipeline::rows_by_ids;
/// let ids = Values::texts(vec![0, 1, 2], &["a", "b", "c"]);
/// let table = Frame::new("x.csv", vec![Column { name: "id".into(), values: ids.clone() }]);
/// let ids_of_file = Values::texts(vec![0, 1], &["c", "a"]);
/// let file = Frame::new("y.csv", vec![Column { name: "id".into(), values: ids_of_file }]);
/// assert_eq!(rows_by_ids(&table, &ids, &file, "id")?, [2, 0]);
/// # Ok::<(), halfspaces_frame::DataError>(())
/// ```
///
/// # Errors
/// Returns an error if an id is missing or repeated in the table, or if the file has an id that the table does not have
/// or has no such column.
pub fn rows_by_ids(
    table: &Frame,
    ids: &Values,
    file: &Frame,
    id: &str,
) -> Result<Vec<usize>, DataError> {
    let mut rows = HashMap::with_capacity(ids.len());
    for row in 0..ids.len() {
        let text = ids.text(row);
        if text.is_empty() {
            return Err(DataError::user(format!(
                "{}, column `{id}`: the id is missing",
                table.place(row)
            )));
        }
        if let Some(first) = rows.insert(text, row) {
            return Err(DataError::user(format!(
                "{}, column `{id}`: the id `{}` is already used at {}; ids must be unique",
                table.place(row),
                ids.text(row),
                table.place(first)
            )));
        }
    }
    let named = file.column(id).ok_or_else(|| file.no_column(id))?;
    let row = |at: usize| {
        let text = named.text(at);
        rows.get(&text).copied().ok_or_else(|| {
            DataError::user(format!(
                "{}, column `{id}`: {} has no row with the id `{}`",
                file.place(at),
                table.source,
                text
            ))
        })
    };
    (0..file.rows).map(row).collect()
}

impl JoinedTable {
    /// Keeps the rows of a table that have a label and adds the labels as the last column, called `column`. `label_of`
    /// maps row numbers to labels, and `is_chosen` says whether a session chose the rows. `source` names the origin of
    /// the labels in notes.
    fn new(
        mut table: Frame,
        column: String,
        (label_of, is_chosen): (BTreeMap<usize, String>, bool),
        source: &str,
    ) -> JoinedTable {
        let (rows, labels): (Vec<usize>, Vec<String>) = label_of.into_iter().unzip();
        if rows.len() < table.rows {
            table.notes.push(format!(
                "{}: {} of {} rows have a label in {source}; the others are left out",
                table.source,
                rows.len(),
                table.rows,
            ));
        }
        let is_chosen = is_chosen && rows.len() < table.rows;
        let mut frame = table.into_rows(&rows);
        for Column { name, values } in &frame.columns {
            let is_same = |(row, label): (usize, &String)| same_class(&values.text(row), label);
            if labels.iter().enumerate().all(is_same) {
                frame.notes.push(format!(
                    "{}: column `{name}` has the label in all {} rows; pass --drop {name} if it holds known labels",
                    frame.source,
                    rows.len()
                ));
            }
        }
        frame.columns.push(Column { name: column.clone(), values: texts(&labels) });
        JoinedTable { frame, column, rows, is_chosen, are_predictions: false }
    }

    /// Keeps the rows of a table that were labelled in a labelling session, and adds a column `label` with the labels.
    /// `label_of` maps row numbers to labels, and `source` is the name of the session.
    ///
    /// # Errors
    /// Returns an error if the table already has a column `label` or if there is no label.
    ///
    /// # Panics
    /// Panics if a label refers to a row that the table does not have.
    pub fn of_session(
        table: Frame,
        label_of: BTreeMap<usize, String>,
        source: &str,
    ) -> Result<JoinedTable, DataError> {
        check_free(&table, LABEL, source)?;
        if label_of.is_empty() {
            return Err(DataError::user(format!("{source}: it has no labels")));
        }
        Ok(JoinedTable::new(table, LABEL.to_owned(), (label_of, true), source))
    }
}

/// A note that no column confirms to which rows the labels belong. `how` says how they are joined.
fn unconfirmed(file: &Frame, table: &Frame, how: &str) -> String {
    format!(
        "{}: the labels are joined to the rows of {} {how}; the files have no common column that could confirm this",
        file.source, table.source
    )
}

/// Checks that the first line of the table is certainly a data row. A program that knows the name of a column may have
/// treated a first line of words as column names, and then all row numbers are off by one.
fn check_first_line(table: &Frame, told: &ReadOptions, labels: &str) -> Result<(), DataError> {
    let has_no_names = table.reading.as_ref().is_some_and(|reading| reading.header_lines == 0);
    let has_words = || table.columns.iter().all(|column| matches!(column.values, Values::Texts(_)));
    // In a table of one column, a name differs from the texts below it.
    if told.header.is_some() || !has_no_names || table.columns.len() < 2 || !has_words() {
        return Ok(());
    }
    Err(DataError::user(format!(
        "{}: its first line has only words, so it may contain names, and the row numbers in {labels} depend on it; pass \
         --header if it contains names, or --no-header",
        table.source
    )))
}

/// Checks that a table has no column with the same name as the column of labels.
fn check_free(table: &Frame, column: &str, labels: &str) -> Result<(), DataError> {
    if !table.has(column) {
        return Ok(());
    }
    Err(DataError::user(format!(
        "{}: it already has a column `{column}`; rename or remove this column or the column of {labels}",
        table.source
    )))
}

/// Leaves out the targets in a LIBSVM file. Each line of such a file begins with a target, even if the labels of the
/// table are in another file. The targets are the only column besides the sparse entries.
fn leave_out_target(table: &mut Frame) {
    let is_target = matches!(&table.columns[..], [only] if only.name == LABEL);
    if !table.is_sparse() || !is_target || table.take(LABEL).is_err() {
        return;
    }
    table.notes.push(format!(
        "{}: its targets (`{LABEL}`) are left out, because the labels are in another file",
        table.source
    ));
}

fn are_numbers(file: &Frame, name: &str) -> bool {
    file.column(name).is_some_and(|values| matches!(values.as_ref(), Values::Numbers(_)))
}

fn with_verbatim(mut hints: Hints, name: String) -> Hints {
    hints.texts.insert(name.clone());
    hints.expected.insert(name.clone());
    hints.verbatim.insert(name);
    hints
}

/// Creates a text column from the labels.
fn texts(labels: &[String]) -> Values {
    let mut levels: Vec<&String> = Vec::new();
    let mut code_of: HashMap<&String, u32> = HashMap::new();
    let codes = labels.iter().map(|label| {
        *code_of.entry(label).or_insert_with(|| {
            levels.push(label);
            levels.len() as u32 - 1
        })
    });
    let codes: Vec<u32> = codes.collect();
    debug_assert!(!codes.contains(&MISSING));
    Values::texts(codes, &levels)
}
