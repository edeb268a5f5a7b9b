//! Columns of texts from files whose types are declared: Parquet, Arrow, NPY and NPZ.

use crate::budget::Budget;
use crate::error::DataError;
use crate::frame::{Frame, Places};
use crate::levels::Levels;
use crate::options::{Hints, ReadOptions};
use crate::typing::{Context, Expected, Kind, RawColumn, RawTexts, Typed, understand};
use crate::values::MISSING;

/// What a text costs next to its bytes: its place among the levels and in their index.
const LEVEL_COST: usize = 80;

/// A column of texts that grows row by row.
#[derive(Debug, Default)]
pub(crate) struct TextColumn {
    codes: Vec<u32>,
    levels: Levels,
}

impl TextColumn {
    /// A column without rows, with room for `rows`.
    #[cfg(any(feature = "arrow", feature = "parquet"))]
    pub(crate) fn with_room(rows: usize, budget: &Budget) -> Result<TextColumn, DataError> {
        Ok(TextColumn { codes: budget.room(rows)?, levels: Levels::default() })
    }

    /// Adds a text, or a null.
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

/// A column of a declared type: the schema counts unless the user or the model says otherwise.
pub(crate) fn declared(name: &str, kind: Kind, hints: &Hints) -> Expected {
    match Expected::of(name, hints) {
        Expected::Anything => Expected::Declared(kind),
        told => told,
    }
}

/// A table of typed columns, read by the rules that hold for delimited text as well.
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
    // Only plain numbers whose type is not declared are read again.
    debug_assert!(again.is_empty(), "all columns of numbers have a declared type");
    frame.columns = columns;
    frame.records = records;
    Ok(frame)
}
