//! Builds a column from Arrow arrays, which are appended one after another.

use crate::array_texts::append_texts;
use crate::array_values::{Fault, append_lists, append_moments, level_of_rows, numbers};
use crate::budget::Budget;
use crate::error::DataError;
use crate::text_column::TextColumn;
use crate::typing::{Cells, Kind};
use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal64Type, Decimal128Type, Decimal256Type, Int64Type, UInt64Type};
use arrow_schema::DataType;

/// The representation in which a column is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Numbers,
    Booleans,
    /// Dates and times.
    Moments,
    /// Texts without a declared meaning.
    Texts,
    /// Values that the file or the user declares to be categories.
    Category,
    /// Lists of numbers, all of the same length.
    Lists,
}

impl Shape {
    /// The shape in which values of a type are read, or `None` if the type is not supported.
    pub(crate) fn of(of: &DataType, is_category: bool) -> Option<Shape> {
        let is_list = match of {
            DataType::FixedSizeList(item, _) | DataType::List(item) | DataType::LargeList(item) => {
                Some(is_number(item.data_type()))
            }
            _ => None,
        };
        match (is_list, is_category) {
            (Some(true), false) => Some(Shape::Lists),
            (Some(_), _) => None,
            (None, true) => is_scalar(of).then_some(Shape::Category),
            (None, false) if holds_texts(of) => Some(Shape::Texts),
            (None, false) => match levels_of(of) {
                DataType::Boolean => Some(Shape::Booleans),
                DataType::Date32
                | DataType::Date64
                | DataType::Timestamp(..)
                | DataType::Time32(_)
                | DataType::Time64(_) => Some(Shape::Moments),
                of => is_scalar(of).then_some(Shape::Numbers),
            },
        }
    }
}

/// The type of the values: for a dictionary, the type of its levels.
fn levels_of(of: &DataType) -> &DataType {
    match of {
        DataType::Dictionary(_, levels) => levels_of(levels),
        of => of,
    }
}

/// Whether values of a type can be read as numbers or as texts.
fn is_scalar(of: &DataType) -> bool {
    let of = levels_of(of);
    is_number(of) || holds_texts(of)
}

fn is_number(of: &DataType) -> bool {
    match of {
        DataType::Null | DataType::Boolean | DataType::Date32 | DataType::Date64 => true,
        DataType::Timestamp(..)
        | DataType::Duration(_)
        | DataType::Time32(_)
        | DataType::Time64(_) => true,
        DataType::Float16 | DataType::Float32 | DataType::Float64 => true,
        DataType::Decimal32(..)
        | DataType::Decimal64(..)
        | DataType::Decimal128(..)
        | DataType::Decimal256(..) => true,
        of => of.is_integer(),
    }
}

/// Whether values of a type are texts, or bytes that may be text.
pub(crate) fn holds_texts(of: &DataType) -> bool {
    matches!(
        levels_of(of),
        DataType::Utf8
            | DataType::LargeUtf8
            | DataType::Utf8View
            | DataType::Binary
            | DataType::LargeBinary
            | DataType::BinaryView
            | DataType::FixedSizeBinary(_)
    )
}

/// A column under construction, with the values that have been collected so far.
#[derive(Debug)]
pub(crate) enum Builder {
    Numbers(Vec<f64>),
    Booleans(Vec<f64>),
    /// Dates and times in microseconds since 1970-01-01.
    Moments(Vec<Option<i64>>),
    Texts(TextColumn),
    Categories(TextColumn),
    /// The concatenated lists, and the common length of the lists once it is known. Until then, missing lists are only
    /// counted.
    Lists {
        values: Vec<f64>,
        width: Option<usize>,
        missing: usize,
    },
    /// A column that is not read, because its values turned out to be unsupported.
    Unread,
}

/// The first integer that was rounded, with its row.
type Rounded = Option<(usize, String)>;

impl Builder {
    /// Creates an empty column with capacity for `rows` rows.
    pub(crate) fn new(shape: Shape, rows: usize, budget: &Budget) -> Result<Builder, DataError> {
        Ok(match shape {
            Shape::Numbers => Builder::Numbers(budget.room(rows)?),
            Shape::Booleans => Builder::Booleans(budget.room(rows)?),
            Shape::Moments => Builder::Moments(budget.room(rows)?),
            Shape::Texts => Builder::Texts(TextColumn::with_room(rows, budget)?),
            Shape::Category => Builder::Categories(TextColumn::with_room(rows, budget)?),
            Shape::Lists => Builder::Lists { values: Vec::new(), width: None, missing: 0 },
        })
    }

    /// Returns the cells of a column that does not contain lists, with the declared kind of the column.
    pub(crate) fn finish(self) -> (Cells, Kind) {
        match self {
            Builder::Numbers(values) => (Cells::Numbers(values), Kind::Number),
            Builder::Booleans(values) => (Cells::Booleans(values), Kind::Boolean),
            Builder::Moments(moments) => (Cells::Moments { moments, has_zone: false }, Kind::Date),
            Builder::Texts(texts) => (Cells::Texts(texts.into_cells()), Kind::Text),
            Builder::Categories(texts) => (Cells::Texts(texts.into_cells()), Kind::Category),
            Builder::Lists { .. } | Builder::Unread => {
                unreachable!("lists and unread columns have no cells")
            }
        }
    }

    /// Appends an array and returns the first integer that was rounded.
    pub(crate) fn append(&mut self, array: &dyn Array, budget: &Budget) -> Result<Rounded, Fault> {
        match self {
            Builder::Unread => Ok(None),
            Builder::Moments(moments) => {
                budget.grow(moments, array.len())?;
                append_moments(array, moments)?;
                Ok(None)
            }
            Builder::Numbers(values) | Builder::Booleans(values) => {
                budget.grow(values, array.len())?;
                let start = values.len();
                numbers(array, values)?;
                match values[start..].iter().position(|v| v.is_infinite()) {
                    Some(row) => Err(Fault::Infinite { row }),
                    None => Ok(rounded(array)),
                }
            }
            Builder::Texts(texts) | Builder::Categories(texts) => {
                append_texts(array, texts, budget)?;
                Ok(None)
            }
            Builder::Lists { values, width, missing } => {
                append_lists(array, values, width, missing, budget)?;
                Ok(None)
            }
        }
    }
}

/// The first integer that an `f64` cannot represent exactly, with its row.
fn rounded(array: &dyn Array) -> Rounded {
    let of = |integer: &dyn Fn(usize) -> i128| {
        let is_rounded = |i: &usize| {
            let value = integer(*i);
            value.unsigned_abs() > 1 << 53 && array.is_valid(*i) && value as f64 as i128 != value
        };
        (0..array.len()).find(is_rounded).map(|i| (i, integer(i).to_string()))
    };
    match array.data_type() {
        DataType::Int64 => of(&|i| i128::from(array.as_primitive::<Int64Type>().value(i))),
        // Each level is checked once. The row is the first one that has the level.
        DataType::Dictionary(..) => {
            let (level, cell) = rounded(array.as_any_dictionary().values().as_ref())?;
            let row = level_of_rows(array).position(|of| of == Some(level))?;
            Some((row, cell))
        }
        DataType::UInt64 => of(&|i| i128::from(array.as_primitive::<UInt64Type>().value(i))),
        DataType::Decimal64(_, 0) => {
            of(&|i| i128::from(array.as_primitive::<Decimal64Type>().value(i)))
        }
        DataType::Decimal128(_, 0) => of(&|i| array.as_primitive::<Decimal128Type>().value(i)),
        DataType::Decimal256(_, 0) => {
            let values = array.as_primitive::<Decimal256Type>();
            let is_rounded =
                |value: i128| value.unsigned_abs() > 1 << 53 && value as f64 as i128 != value;
            let row = (0..values.len()).find(|row| {
                values.is_valid(*row) && values.value(*row).to_i128().is_none_or(is_rounded)
            })?;
            Some((row, values.value_as_string(row)))
        }
        _ => None,
    }
}
