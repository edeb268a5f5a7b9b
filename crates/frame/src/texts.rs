//! Columns of texts from typed formats: Parquet, Arrow, NPY and NPZ.

use crate::budget::Budget;
use crate::error::DataError;
use crate::frame::{Column, Frame, Places};
use crate::levels::Levels;
use crate::options::{Hints, ReadOptions};
use crate::typing::{
    Cells, ColumnRecord, Context, Expected, Kind, RawColumn, RawTexts, Typed, understand,
};
use crate::values::{MISSING, Values};

/// The memory of a text in addition to its bytes: an entry in the levels and in their index.
const LEVEL_COST: usize = 80;

/// A column of texts that grows row by row.
#[derive(Debug, Default)]
pub(crate) struct TextColumn {
    codes: Vec<u32>,
    levels: Levels,
}

impl TextColumn {
    /// An empty column with capacity for `rows`.
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

    /// The cells.
    pub(crate) fn into_cells(self) -> RawTexts {
        RawTexts { codes: self.codes, levels: self.levels.into_names() }
    }
}

/// The facts known about a column with a declared type: this type, unless the user or the model overrides it.
pub(crate) fn declared(name: &str, kind: Kind, hints: &Hints) -> Expected {
    match Expected::of(name, hints) {
        Expected::Anything => Expected::Declared(kind),
        other => other,
    }
}

/// Builds a table of typed columns by the rules that also apply to delimited text.
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
    // Only plain numbers without a declared type can require a second reading.
    debug_assert!(again.is_empty(), "all number columns have a declared type");
    frame.columns = columns;
    frame.records = records;
    Ok(frame)
}

impl Frame {
    /// Types a column of text as the reader does without a hint: as numbers, dates, categories or text. Returns `None`
    /// if the frame has no text column of this name.
    ///
    /// # Errors
    /// If most cells are numbers or dates and some are not.
    pub fn inferred(
        &self,
        name: &str,
        options: &ReadOptions,
    ) -> Result<Option<(Column, ColumnRecord)>, DataError> {
        self.understood(name, Expected::Anything, options)
    }

    /// A column that was read with [`Hints::verbatim`](crate::Hints::verbatim), as [`Hints::texts`](crate::Hints::texts)
    /// reads it: common markers such as `NA` are missing. Returns `None` if the frame has no text column of this name.
    ///
    /// # Errors
    /// None for a column that the reader accepted.
    pub fn with_missing_markers(
        &self,
        name: &str,
        options: &ReadOptions,
    ) -> Result<Option<(Column, ColumnRecord)>, DataError> {
        self.understood(name, Expected::Texts, options)
    }

    /// Types a column of text again.
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
