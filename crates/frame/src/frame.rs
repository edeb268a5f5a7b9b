//! Tables in memory, which consist of Arrow arrays, an optional numeric block, and the origin of each row.

use crate::block::Block;
use crate::delimited::FileRecord;
use crate::error::DataError;
use crate::names::suggestion;
use crate::typing::ColumnRecord;
use crate::values::Values;
use std::borrow::Cow;
use std::sync::Arc;

/// A table, which consists of named columns of equal length and an optional numeric block.
///
/// ```
/// use halfspaces_frame::{Column, Frame, Values};
/// let x = Column { name: "x".into(), values: Values::numbers(vec![1.0, 2.5]) };
/// let frame = Frame::new("t.csv", vec![x]);
/// assert_eq!((frame.rows, frame.place(1)), (2, "t.csv, row 1".to_owned()));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// The columns, in the order of the file.
    pub columns: Vec<Column>,
    /// A numeric matrix, if there is one. The columns of the matrix follow the other columns.
    pub block: Option<Block>,
    /// An unnamed first column, a column of row names, or the index that pandas wrote; the name of an unnamed index is
    /// empty. This column is not among `columns`. Its cells show whether the rows of two files are in the same order.
    pub index: Option<Column>,
    /// The number of rows.
    pub rows: usize,
    /// The name of the file, as shown in messages.
    pub source: String,
    /// The origin of each row.
    pub places: Places,
    /// Facts that matter when a column is used, each with the name of the column.
    pub remarks: Vec<(String, Remark)>,
    /// Notes on decisions of the reader that could be wrong, one sentence each.
    pub notes: Vec<String>,
    /// The records of how columns were read, in no particular order (see [`Frame::record`]).
    pub records: Vec<ColumnRecord>,
    /// The record of how the file was read, if it is delimited text.
    pub reading: Option<FileRecord>,
}

/// A fact about a column that matters only if the column is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remark {
    /// The file has the column, but the type of the column is not supported, so the frame does not contain it.
    Unread {
        /// The name of the type.
        kind: String,
    },
    /// Integers with too many digits for an `f64` were rounded. The fields describe the first of them.
    Rounded {
        /// The number of the integer's line or row in the file, as in [`Frame::place`]. The number does not change when
        /// rows are selected.
        number: u64,
        /// The integer as it is written in the file.
        cell: String,
    },
    /// Some numbers in the column are written like codes, that is, as integers with a leading zero (`02134`) or as
    /// integers joined by an E (`5E3`). The column is read as numbers. The fields describe the first such cell.
    Code {
        /// The number of the cell's line, as in [`Frame::place`]. The number does not change when rows are selected.
        number: u64,
        /// The cell as it is written in the file.
        cell: String,
    },
    /// The sign of a number follows it (`5-`), or parentheses mean that it is negative (`(5)`). The fields describe the
    /// first such cell.
    Sign {
        /// The number of the cell's line, as in [`Frame::place`]. The number does not change when rows are selected.
        number: u64,
        /// The cell as it is written in the file.
        cell: String,
    },
}

/// A named column.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// The name of the column.
    pub name: String,
    /// One value for each row.
    pub values: Values,
}

/// The origin of each row of a table: a line or a row of a file, or a file in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// The unit that is counted, "line" or "row".
    unit: &'static str,
    numbers: Numbers,
    /// The file of each row, if the table was read from a folder. This is empty for other tables.
    files: Arc<[String]>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Numbers {
    /// Consecutive numbers, starting at this one.
    From(u64),
    List(Vec<u64>),
}

impl Places {
    /// Creates the origin of rows that are counted from 0, for a file without lines.
    pub(crate) fn rows() -> Places {
        Places::rows_from(0)
    }

    /// Creates the origin of consecutive rows, the first of which is row `first` of the file.
    pub(crate) fn rows_from(first: u64) -> Places {
        Places { unit: "row", numbers: Numbers::From(first), files: Arc::default() }
    }

    /// Creates the origin of rows with the given numbers, which are counted from 0.
    #[cfg(feature = "parquet")]
    pub(crate) fn row_list(rows: Vec<u64>) -> Places {
        Places { unit: "row", numbers: Numbers::List(rows), files: Arc::default() }
    }

    /// Creates the origin of rows that are files.
    pub(crate) fn files(files: Vec<String>) -> Places {
        Places { files: files.into(), ..Places::rows() }
    }

    /// Creates the origin of the rows of a text file from the lines on which they begin.
    pub(crate) fn lines(lines: Vec<u64>) -> Places {
        let first = lines.first().copied().unwrap_or(1);
        let consecutive = lines.iter().zip(first..).all(|(line, expected)| *line == expected);
        let numbers = if consecutive { Numbers::From(first) } else { Numbers::List(lines) };
        Places { unit: "line", numbers, files: Arc::default() }
    }

    fn number(&self, row: usize) -> u64 {
        match &self.numbers {
            Numbers::From(first) => first + row as u64,
            Numbers::List(list) => list[row],
        }
    }

    fn select(&self, rows: &[usize]) -> Places {
        let list = rows.iter().map(|row| self.number(*row)).collect();
        let files = Arc::clone(&self.files);
        Places { unit: self.unit, numbers: Numbers::List(list), files }
    }
}

impl Frame {
    /// Creates a table from its columns. Rows are counted from 0.
    ///
    /// # Panics
    /// Panics if two columns have different lengths.
    #[must_use]
    pub fn new(source: impl Into<String>, columns: Vec<Column>) -> Frame {
        let rows = columns.first().map_or(0, |column| column.values.len());
        assert!(
            columns.iter().all(|c| c.values.len() == rows),
            "all columns must have the same length"
        );
        Frame {
            columns,
            block: None,
            index: None,
            rows,
            source: source.into(),
            places: Places::rows(),
            remarks: Vec::new(),
            notes: Vec::new(),
            reading: None,
            records: Vec::new(),
        }
    }

    /// The values of the column with this name, or `None` if there is no such column. The values are copied if the
    /// column belongs to the block.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<Cow<'_, Values>> {
        if let Some(column) = self.columns.iter().find(|column| column.name == name) {
            return Some(Cow::Borrowed(&column.values));
        }
        let block = self.block.as_ref()?;
        Some(Cow::Owned(Values::numbers(block.column(block.place(name)?))))
    }

    /// The last column, which often contains the classes.
    ///
    /// # Errors
    /// Returns an error if the table has a block. The columns of a block are not ordered among the other columns, so
    /// the label column must then be named.
    pub fn last_column(&self) -> Result<&Column, DataError> {
        match (&self.block, self.columns.last()) {
            (None, Some(column)) => Ok(column),
            _ => Err(DataError::user(format!(
                "{}: the format has no last column, so the column of labels must be named",
                self.source
            ))),
        }
    }

    /// Whether there is a column with this name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        let in_block = |block: &Block| block.place(name).is_some();
        self.columns.iter().any(|column| column.name == name)
            || self.block.as_ref().is_some_and(in_block)
    }

    /// Removes a column and returns it.
    ///
    /// # Errors
    /// Returns an error if there is no such column. The message suggests the most similar name.
    pub fn take(&mut self, name: &str) -> Result<Column, DataError> {
        if let Some(at) = self.columns.iter().position(|column| column.name == name) {
            return Ok(self.columns.remove(at));
        }
        let place = self.block.as_ref().and_then(|block| block.place(name));
        match (place, self.block.take()) {
            (Some(place), Some(mut block)) => {
                let values = Values::numbers(block.column(place));
                block.remove(place);
                self.block = Some(block).filter(|block| block.dim() > 0);
                Ok(Column { name: name.to_owned(), values })
            }
            (_, block) => {
                self.block = block;
                Err(self.no_column(name))
            }
        }
    }

    /// The remark on a column, if there is one.
    #[must_use]
    pub fn remark(&self, name: &str) -> Option<&Remark> {
        self.remarks.iter().find(|(column, _)| column == name).map(|(_, remark)| remark)
    }

    /// A message that explains a remark on the column `name` to the user.
    #[must_use]
    pub fn about(&self, name: &str, remark: &Remark) -> String {
        match remark {
            Remark::Unread { kind } => format!(
                "{}, column `{name}`: values of type {kind} are not supported; convert the column, or leave it out with --drop '{name}'",
                self.source
            ),
            Remark::Rounded { number, cell } => format!(
                "{}, column `{name}`: {cell} is rounded, as are all integers above 2^53; different integers may become \
                 equal: use --category '{name}' if they are names, or --drop '{name}' to leave them out",
                self.place_number(*number)
            ),
            Remark::Code { number, cell } => format!(
                "{}, column `{name}`: {}",
                self.place_number(*number),
                code_as_number(name, cell)
            ),
            Remark::Sign { number, cell } => {
                format!("{}, column `{name}`: {}", self.place_number(*number), turned_sign(cell))
            }
        }
    }

    /// The record of how a column was read, if there is one.
    #[must_use]
    pub fn record(&self, name: &str) -> Option<&ColumnRecord> {
        self.records.iter().find(|record| record.name == name)
    }

    /// The error for a column that does not exist. The message suggests the most similar name, explains that a list of
    /// names is not one name, or says that the type of the column is not supported.
    #[must_use]
    pub fn no_column(&self, name: &str) -> DataError {
        if let Some(remark @ Remark::Unread { .. }) = self.remark(name) {
            return DataError::user(self.about(name, remark));
        }
        // The columns `name.0`, `name.1`, .. come from a column of lists.
        let list = name.rsplit_once('.').filter(|(_, number)| number.parse::<u32>().is_ok());
        if let Some((list, _)) = list
            && let Some(remark @ Remark::Unread { .. }) = self.remark(list)
        {
            return DataError::user(self.about(list, remark));
        }
        let names = self.names();
        let names: Vec<&str> = names.iter().map(Cow::as_ref).collect();
        let is_list =
            name.contains(',') && name.split(',').all(|part| names.contains(&part.trim()));
        let hint = match is_list {
            true => "; give each of these columns in an option of its own".to_owned(),
            false => suggestion(name, &names),
        };
        DataError::user(format!("{}: there is no column `{name}`{hint}", self.source))
    }

    /// The names of all columns.
    #[must_use]
    pub fn names(&self) -> Vec<Cow<'_, str>> {
        let names = self.columns.iter().map(|column| Cow::Borrowed(column.name.as_str()));
        let block = self.block.as_ref();
        let of_block = block
            .into_iter()
            .flat_map(|block| (0..block.dim()).map(|place| Cow::Owned(block.name(place))));
        names.chain(of_block).collect()
    }

    /// The number of columns, including those of the block.
    #[must_use]
    pub fn column_count(&self) -> usize {
        self.columns.len() + self.block.as_ref().map_or(0, Block::dim)
    }

    /// Whether absent columns count as zeros, as in LIBSVM files.
    #[must_use]
    pub fn is_sparse(&self) -> bool {
        matches!(self.block, Some(Block::Sparse(_)))
    }

    /// Copies the rows with the indices `rows`, in that order.
    ///
    /// # Panics
    /// Panics if an index is out of range.
    #[must_use]
    pub fn select_rows(&self, rows: &[usize]) -> Frame {
        let column = |c: &Column| Column { name: c.name.clone(), values: c.values.select(rows) };
        Frame {
            columns: self.columns.iter().map(column).collect(),
            block: self.block.as_ref().map(|block| block.select(rows)),
            index: self.index.as_ref().map(|Column { name, values }| Column {
                name: name.clone(),
                values: values.select(rows),
            }),
            rows: rows.len(),
            source: self.source.clone(),
            places: self.places.select(rows),
            remarks: self.remarks.clone(),
            notes: self.notes.clone(),
            reading: self.reading.clone(),
            records: self.records.clone(),
        }
    }

    /// Keeps the rows with the indices `rows`, which must be ascending. Columns of numbers and texts, and blocks, are compacted
    /// in place.
    ///
    /// # Panics
    /// Panics if an index is out of range or if `rows` is not ascending.
    #[must_use]
    pub fn into_rows(mut self, rows: &[usize]) -> Frame {
        if rows.len() == self.rows {
            return self;
        }
        let block = self.block.take().map(|block| block.into_rows(rows));
        let columns = std::mem::take(&mut self.columns).into_iter();
        let kept = |c: Column| Column { name: c.name, values: c.values.into_rows(rows) };
        let columns = columns.map(kept).collect();
        Frame { block, columns, ..self.select_rows(rows) }
    }

    /// The origin of a row, such as "data.csv, line 7".
    ///
    /// # Panics
    /// Panics if there is no such row.
    #[must_use]
    pub fn place(&self, row: usize) -> String {
        self.place_number(self.places.number(row))
    }

    /// Reads a row number, such as `3` or `3.0`, from a cell of the column `numbers`. This is the number of a row in
    /// another table, which is called `other` and has `rows` rows.
    ///
    /// # Errors
    /// Returns an error if the cell is not an integer from 0 to `rows` - 1.
    ///
    /// # Panics
    /// Panics if there is no row `at`.
    pub fn row_number(
        &self,
        numbers: &Values,
        at: usize,
        other: &str,
        rows: usize,
    ) -> Result<usize, DataError> {
        let text = numbers.text(at);
        let whole = text.strip_suffix(".0").unwrap_or(&text);
        whole.parse().ok().filter(|row| *row < rows).ok_or_else(|| {
            DataError::user(format!(
                "{}, column `row`: `{text}` is not a row of {other}, which has {rows} rows, counted from 0",
                self.place(at)
            ))
        })
    }

    /// Whether the table was read from a folder of images, so that each row is a file.
    #[must_use]
    pub fn is_folder(&self) -> bool {
        !self.places.files.is_empty()
    }

    /// A description of the line or row with this number in the file, such as "data.csv, line 7".
    #[must_use]
    pub fn place_number(&self, number: u64) -> String {
        match self.places.files.get(number as usize) {
            Some(file) => file.clone(),
            None => format!("{}, {} {number}", self.source, self.places.unit),
        }
    }
}

/// A message about a cell of the column `name` that is read as a number although it is written like a code.
pub(crate) fn code_as_number(name: &str, cell: &str) -> String {
    let reading = match cell.contains(['e', 'E', 'd', 'D']) {
        true => "with an exponent",
        false => "without its leading zero",
    };
    format!(
        "{cell} is read as a number, {reading}; use --category '{name}' if it is a code, or --drop '{name}' to leave the column out"
    )
}

/// A message about a negative number without a leading minus sign.
pub(crate) fn turned_sign(cell: &str) -> String {
    match cell.trim_start().starts_with('(') {
        true => format!("a number in parentheses, such as `{cell}`, is read as negative"),
        false => format!("a minus sign after a number, as in `{cell}`, is read as its sign"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::MISSING;

    #[test]
    fn rows_keep_their_places() {
        let texts = Values::texts(vec![0, MISSING, 1], &["a", "b"]);
        let columns = vec![
            Column { name: "x".into(), values: Values::numbers(vec![1.0, 2.5, f64::NAN]) },
            Column { name: "c".into(), values: texts },
        ];
        let frame = Frame { places: Places::lines(vec![2, 3, 5]), ..Frame::new("t.csv", columns) };
        let part = frame.select_rows(&[2, 1]);
        assert_eq!(
            (part.place(0), part.place(1)),
            ("t.csv, line 5".into(), "t.csv, line 3".into())
        );
        assert_eq!(
            (part.columns[0].values.text(0), part.columns[1].values.text(0)),
            (String::new(), "b".into())
        );
        assert_eq!(
            (part.columns[0].values.text(1), part.columns[1].values.text(1)),
            ("2.5".into(), String::new())
        );
        assert!(part.columns[1].values.is_missing(1) && !part.columns[0].values.is_missing(1));
        assert_eq!(frame.last_column().unwrap().name, "c");
        let block = Some(Block::dense("x", vec![0.0; 3], vec![0]));
        assert!(Frame { block, ..frame.clone() }.last_column().is_err());
        let error = frame.clone().take("X").unwrap_err().to_string();
        assert_eq!(error, "t.csv: there is no column `X`; did you mean `x`?");
        let error = frame.no_column("x, c").to_string();
        assert!(error.ends_with("; give each of these columns in an option of its own"), "{error}");
        assert!(!frame.no_column("x,d").to_string().contains("option of its own"));
        assert_eq!(
            Places::lines(vec![4, 5, 6]),
            Places { unit: "line", numbers: Numbers::From(4), files: Arc::default() }
        );
    }
}
