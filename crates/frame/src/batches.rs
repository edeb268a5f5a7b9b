//! Tables from Arrow record batches, as Arrow and Parquet files hold them.

use crate::error::DataError;
use crate::frame::{Column, Frame, Remark};
use crate::levels::Levels;
use crate::options::Hints;
use crate::source::Source;
use crate::values::{MISSING, Values};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Schema};

/// Name of pandas' index in files it writes.
const PANDAS_INDEX: &str = "__index_level_0__";

/// A table from its batches.
pub(crate) fn from_batches(
    source: &Source,
    hints: &Hints,
    schema: &Schema,
    batches: impl Iterator<Item = Result<RecordBatch, DataError>>,
) -> Result<Frame, DataError> {
    let (mut builders, mut remarks) = (Vec::new(), Vec::new());
    for (at, field) in schema.fields().iter().enumerate() {
        let (name, of) = (field.name().clone(), field.data_type());
        if is_read(of) {
            let texts = hints.texts.contains(&name) || is_text(of);
            let builder = if texts { Builder::texts() } else { Builder::Numbers(Vec::new()) };
            builders.push((at, name, builder));
        } else {
            remarks.push((name, Remark::Unread { kind: of.to_string() }));
        }
    }
    let mut rows = 0;
    for batch in batches {
        let batch = batch?;
        for (at, name, builder) in &mut builders {
            builder.append(batch.column(*at).as_ref()).map_err(|Infinite { row }| {
                DataError::user(format!(
                    "{}, row {}, column `{name}`: the value is infinite; write a finite number or null",
                    source.name(),
                    rows + row + 1
                ))
            })?;
            let is_new = !remarks.iter().any(|(column, _)| column == name);
            let is_numbers = matches!(builder, Builder::Numbers(_));
            if let Some((row, cell)) = rounded(batch.column(*at)).filter(|_| is_new && is_numbers) {
                remarks.push((name.clone(), Remark::Rounded { row: rows + row, cell }));
            }
        }
        rows += batch.num_rows();
    }
    let column =
        |(_, name, builder): (usize, String, Builder)| Column { name, values: builder.finish() };
    let mut columns: Vec<Column> = builders.into_iter().map(column).collect();
    let mut notes = Vec::new();
    if let Some(at) = columns.iter().position(|c| c.name == PANDAS_INDEX) {
        notes.push(format!("{}: the index that pandas wrote is left out", source.name()));
        columns.remove(at);
    }
    Ok(Frame { rows, remarks, notes, ..Frame::new(source.name(), columns) })
}

/// The first integer that no number is equal to, and its row.
fn rounded(array: &dyn Array) -> Option<(usize, String)> {
    let of = |integer: &dyn Fn(usize) -> i128| {
        let is_rounded =
            |i: &usize| array.is_valid(*i) && integer(*i) as f64 as i128 != integer(*i);
        (0..array.len()).find(is_rounded).map(|i| (i, integer(i).to_string()))
    };
    match array.data_type() {
        DataType::Int64 => of(&|i| i128::from(array.as_primitive::<Int64Type>().value(i))),
        DataType::UInt64 => of(&|i| i128::from(array.as_primitive::<UInt64Type>().value(i))),
        _ => None,
    }
}

/// Whether there is a number or a text for values of a type.
fn is_read(of: &DataType) -> bool {
    match of {
        DataType::Dictionary(_, values) => is_read(values),
        DataType::Null | DataType::Boolean | DataType::Date32 | DataType::Date64 => true,
        DataType::Float32 | DataType::Float64 => true,
        of => of.is_integer() || is_text(of),
    }
}

fn is_text(of: &DataType) -> bool {
    match of {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Dictionary(_, values) => is_text(values),
        _ => false,
    }
}

enum Builder {
    Numbers(Vec<f64>),
    Texts { codes: Vec<u32>, levels: Levels },
}

/// A number that is infinite, in this row of its batch.
struct Infinite {
    row: usize,
}

impl Builder {
    fn texts() -> Builder {
        Builder::Texts { codes: Vec::new(), levels: Levels::default() }
    }

    fn finish(self) -> Values {
        match self {
            Builder::Numbers(values) => Values::numbers(values),
            Builder::Texts { codes, levels } => Values::texts(codes, &levels.into_names()),
        }
    }

    /// Adds a value, as number or as text, whichever the column is of.
    fn push(
        &mut self,
        value: Option<(f64, impl FnOnce() -> String)>,
        row: usize,
    ) -> Result<(), Infinite> {
        match self {
            Builder::Numbers(values) => {
                let number = value.map_or(f64::NAN, |(number, _)| number);
                if number.is_infinite() {
                    return Err(Infinite { row });
                }
                values.push(number);
            }
            Builder::Texts { codes, levels } => codes.push(match value {
                Some((number, text)) if !number.is_nan() => levels.code(&text()),
                _ => MISSING,
            }),
        }
        Ok(())
    }

    fn append(&mut self, array: &dyn Array) -> Result<(), Infinite> {
        match array.data_type() {
            DataType::Int8 => self.primitives::<Int8Type>(array, f64::from),
            DataType::Int16 => self.primitives::<Int16Type>(array, f64::from),
            DataType::Int32 => self.primitives::<Int32Type>(array, f64::from),
            DataType::Int64 => self.primitives::<Int64Type>(array, |v| v as f64),
            DataType::UInt8 => self.primitives::<UInt8Type>(array, f64::from),
            DataType::UInt16 => self.primitives::<UInt16Type>(array, f64::from),
            DataType::UInt32 => self.primitives::<UInt32Type>(array, f64::from),
            DataType::UInt64 => self.primitives::<UInt64Type>(array, |v| v as f64),
            DataType::Float32 => self.primitives::<Float32Type>(array, f64::from),
            DataType::Float64 => self.primitives::<Float64Type>(array, |v| v),
            // Days, and milliseconds.
            DataType::Date32 => self.primitives::<Date32Type>(array, f64::from),
            DataType::Date64 => self.primitives::<Date64Type>(array, |v| v as f64),
            DataType::Boolean => {
                let truths = array.as_boolean();
                (0..array.len()).try_for_each(|i| {
                    let value = truths.is_valid(i).then(|| truths.value(i));
                    self.push(value.map(|v| (f64::from(u8::from(v)), move || v.to_string())), i)
                })
            }
            DataType::Null => {
                (0..array.len()).try_for_each(|i| self.push(None::<(f64, fn() -> String)>, i))
            }
            DataType::Utf8 => self.strings(array, |i| array.as_string::<i32>().value(i)),
            DataType::LargeUtf8 => self.strings(array, |i| array.as_string::<i64>().value(i)),
            DataType::Utf8View => self.strings(array, |i| array.as_string_view().value(i)),
            DataType::Dictionary(_, _) => self.dictionary(array),
            other => unreachable!("columns of type {other} are not read"),
        }
    }

    fn primitives<T: ArrowPrimitiveType>(
        &mut self,
        array: &dyn Array,
        number: impl Fn(T::Native) -> f64,
    ) -> Result<(), Infinite>
    where
        T::Native: std::fmt::Display,
    {
        let values = array.as_primitive::<T>();
        (0..array.len()).try_for_each(|i| {
            let value = values.is_valid(i).then(|| values.value(i));
            self.push(value.map(|v| (number(v), move || v.to_string())), i)
        })
    }

    fn strings<'a>(
        &mut self,
        array: &dyn Array,
        text: impl Fn(usize) -> &'a str,
    ) -> Result<(), Infinite> {
        let Builder::Texts { codes, levels } = self else {
            unreachable!("columns of strings are read as texts");
        };
        let code = |i| if array.is_valid(i) { levels.code(text(i)) } else { MISSING };
        codes.extend((0..array.len()).map(code));
        Ok(())
    }

    /// The values of a dictionary, then the value of each key.
    fn dictionary(&mut self, array: &dyn Array) -> Result<(), Infinite> {
        let dictionary = array.as_any_dictionary();
        let keys = if dictionary.values().is_empty() {
            vec![0; array.len()]
        } else {
            dictionary.normalized_keys()
        };
        let mut values = match self {
            Builder::Numbers(_) => Builder::Numbers(Vec::new()),
            Builder::Texts { .. } => Builder::texts(),
        };
        values.append(dictionary.values().as_ref())?;
        let values = values.finish();
        match self {
            Builder::Numbers(numbers) => numbers.extend((0..array.len()).map(|i| match &values {
                Values::Numbers(of) if array.is_valid(i) => of.values()[keys[i]],
                _ => f64::NAN,
            })),
            Builder::Texts { codes, levels } => codes.extend((0..array.len()).map(|i| {
                if array.is_valid(i) && !values.is_missing(keys[i]) {
                    levels.code(&values.text(keys[i]))
                } else {
                    MISSING
                }
            })),
        }
        Ok(())
    }
}
