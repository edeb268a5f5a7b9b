//! Columns of texts from typed formats (Parquet, Arrow, NPY and NPZ).

use crate::budget::Budget;
use crate::error::DataError;
use crate::frame::{Column, Frame, Places};
use crate::levels::Levels;
use crate::options::{Hints, ReadOptions};
use crate::typing::{
    Cells, ColumnRecord, Context, Expected, Kind, RawColumn, RawTexts, Typed, understand,
};
use crate::values::{MISSING, Values};

/// The number of bytes that a distinct text takes in addition to its own bytes. These bytes are its entries in the
/// levels and in the index of the levels.
const LEVEL_COST: usize = 80;

/// A text column that is built row by row.
#[derive(Debug, Default)]
pub(crate) struct TextColumn {
    codes: Vec<u32>,
    levels: Levels,
}

impl TextColumn {
    /// Creates an empty column with capacity for `rows` rows.
    #[cfg(any(feature = "arrow", feature = "parquet"))]
    pub(crate) fn with_room(rows: usize, budget: &Budget) -> Result<TextColumn, DataError> {
        Ok(TextColumn { codes: budget.room(rows)?, levels: Levels::default() })
    }

    /// Appends a text or a null.
    pub(crate) fn push(&mut self, text: Option<&str>, budget: &Budget) -> Result<(), DataError> {
        budget.grow(&mut self.codes, 1)?;
        let code = match text {
            None => MISSING,
            Some(text) => {
                let before = self.levels.len();
                let code = self.levels.code(text);
                if self.levels.len() > before {
                    budget.take(2 * text.len() as u64 + LEVEL_COST as u64)?;
                }
                code
            }
        };
        self.codes.push(code);
        Ok(())
    }

    /// Converts the column to its cells.
    pub(crate) fn into_cells(self) -> RawTexts {
        RawTexts { codes: self.codes, levels: self.levels.into_names() }
    }
}

/// What is expected of a column with a declared type. This is the declared type, unless the user or the model overrides
/// it.
pub(crate) fn declared(name: &str, kind: Kind, hints: &Hints) -> Expected {
    match Expected::of(name, hints) {
        Expected::Anything => Expected::Declared(kind),
        other => other,
    }
}

/// Builds a table of typed columns, by the same rules as for delimited text.
pub(crate) fn typed_frame(
    source: &str,
    columns: Vec<RawColumn>,
    rows: usize,
    places: Places,
    options: &ReadOptions,
) -> Result<Frame, DataError> {
    let mut frame = Frame { rows, places, ..Frame::new(source, Vec::new()) };
    let place = |row: usize| frame.place(row);
    let context = Context { source, place: &place, options, delimiter: None };
    let Typed { columns, records, again } = understand(columns, &context)?;
    // Only columns of plain numbers without a declared type may have to be read again.
    debug_assert!(again.is_empty(), "all number columns have a declared type");
    frame.columns = columns;
    frame.records = records;
    Ok(frame)
}

impl Frame {
    /// Infers the type of a column of text in the same way as the reader does without a hint. The column becomes
    /// numbers, dates, categories or text. Returns `None` if the frame has no text column with this name.
    ///
    /// # Errors
    /// Returns an error if most cells are numbers or dates but some are not.
    pub fn inferred(
        &self,
        name: &str,
        options: &ReadOptions,
    ) -> Result<Option<(Column, ColumnRecord)>, DataError> {
        self.understood(name, Expected::Anything, options)
    }

    /// Converts a column that was read with [`Hints::verbatim`](crate::Hints::verbatim) to the form that it would have
    /// if it had been read with [`Hints::texts`](crate::Hints::texts). In this form, common markers such as `NA` are
    /// missing values. Returns `None` if the frame has no text column with this name.
    ///
    /// # Errors
    /// Returns no error for a column that the reader accepted.
    pub fn with_missing_markers(
        &self,
        name: &str,
        options: &ReadOptions,
    ) -> Result<Option<(Column, ColumnRecord)>, DataError> {
        self.understood(name, Expected::Texts, options)
    }

    /// Infers the type of a column of text again, with other expectations.
    fn understood(
        &self,
        name: &str,
        expected: Expected,
        options: &ReadOptions,
    ) -> Result<Option<(Column, ColumnRecord)>, DataError> {
        let Some(Values::Texts(texts)) =
            self.columns.iter().find(|column| column.name == name).map(|column| &column.values)
        else {
            return Ok(None);
        };
        let levels = texts.levels().map(str::to_owned).collect();
        let cells = Cells::Texts(RawTexts { codes: texts.codes().to_vec(), levels });
        let column = RawColumn { name: name.to_owned(), cells, expected };
        let delimiter = self.reading.as_ref().and_then(|reading| reading.delimiter.as_deref());
        let delimiter = delimiter.and_then(|text| text.bytes().next());
        let place = |row: usize| self.place(row);
        let context = Context { source: &self.source, place: &place, options, delimiter };
        let typed = understand(vec![column], &context)?;
        Ok(typed.columns.into_iter().zip(typed.records).next())
    }
}
