//! Appends the values of Arrow arrays to a text column.

use crate::array_values::{Fault, append_moments, level_of_rows, numbers};
use crate::budget::Budget;
use crate::error::DataError;
use crate::text_column::TextColumn;
use crate::typing::{clock_text, exact_text};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, DecimalType, Float32Type,
    Int64Type, Time64NanosecondType, TimestampNanosecondType, UInt64Type,
};
use arrow_array::{Array, PrimitiveArray};
use arrow_schema::DataType;

pub(crate) fn append_texts(
    array: &dyn Array,
    texts: &mut TextColumn,
    budget: &Budget,
) -> Result<(), Fault> {
    let mut push = |value: Option<&str>| texts.push(value, budget);
    match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().iter().try_for_each(&mut push)?,
        DataType::LargeUtf8 => array.as_string::<i64>().iter().try_for_each(&mut push)?,
        DataType::Utf8View => array.as_string_view().iter().try_for_each(&mut push)?,
        DataType::Binary => {
            array.as_binary::<i32>().iter().try_for_each(|v| Ok::<(), Fault>(push(utf8(v)?)?))?;
        }
        DataType::LargeBinary => {
            array.as_binary::<i64>().iter().try_for_each(|v| Ok::<(), Fault>(push(utf8(v)?)?))?;
        }
        DataType::BinaryView => {
            array.as_binary_view().iter().try_for_each(|v| Ok::<(), Fault>(push(utf8(v)?)?))?;
        }
        DataType::FixedSizeBinary(_) => {
            array
                .as_fixed_size_binary()
                .iter()
                .try_for_each(|v| Ok::<(), Fault>(push(utf8(v)?)?))?;
        }
        DataType::Boolean => {
            array
                .as_boolean()
                .iter()
                .try_for_each(|v| push(v.map(|v| if v { "true" } else { "false" })))?;
        }
        DataType::Int64 => {
            let integers = array.as_primitive::<Int64Type>().iter();
            integers.map(|v| v.map(|v| v.to_string())).try_for_each(|v| push(v.as_deref()))?;
        }
        DataType::UInt64 => {
            let integers = array.as_primitive::<UInt64Type>().iter();
            integers.map(|v| v.map(|v| v.to_string())).try_for_each(|v| push(v.as_deref()))?;
        }
        DataType::Decimal32(..) => push_decimals::<Decimal32Type>(array, push)?,
        DataType::Decimal64(..) => push_decimals::<Decimal64Type>(array, push)?,
        DataType::Decimal128(..) => push_decimals::<Decimal128Type>(array, push)?,
        DataType::Decimal256(..) => push_decimals::<Decimal256Type>(array, push)?,
        DataType::Float32 => {
            // This writes the fewest digits that identify the 32-bit number. The same number in 64 bits would have more
            // digits.
            let numbers = array.as_primitive::<Float32Type>().iter();
            let text = |v: f32| (!v.is_nan()).then(|| v.to_string());
            numbers.map(|v| v.and_then(text)).try_for_each(|v| push(v.as_deref()))?;
        }
        DataType::Date32 | DataType::Date64 | DataType::Timestamp(..) => {
            let mut moments = Vec::new();
            budget.grow(&mut moments, array.len())?;
            append_moments(array, &mut moments)?;
            let has_zone = matches!(array.data_type(), DataType::Timestamp(_, Some(_)));
            let nanoseconds = array.as_primitive_opt::<TimestampNanosecondType>();
            for (row, moment) in moments.into_iter().enumerate() {
                let nanos = nanoseconds.map_or(0, |times| times.value(row).rem_euclid(1000));
                push(moment.map(|at| exact_text(at, nanos as u16, has_zone)).as_deref())?;
            }
        }
        DataType::Time32(_) | DataType::Time64(_) => {
            let mut moments = Vec::new();
            budget.grow(&mut moments, array.len())?;
            append_moments(array, &mut moments)?;
            let nanoseconds = array.as_primitive_opt::<Time64NanosecondType>();
            for (row, moment) in moments.into_iter().enumerate() {
                let nanos = nanoseconds.map_or(0, |times| times.value(row).rem_euclid(1000));
                push(moment.map(|at| clock_text(at, nanos as u16)).as_deref())?;
            }
        }
        DataType::Dictionary(..) => append_dictionary(array, texts, budget)?,
        _ => {
            let mut values = Vec::new();
            budget.grow(&mut values, array.len())?;
            numbers(array, &mut values)?;
            let text = |v: f64| (!v.is_nan()).then(|| v.to_string());
            values.into_iter().map(text).try_for_each(|v| push(v.as_deref()))?;
        }
    }
    Ok(())
}

/// Appends decimals as texts with all their digits except the trailing zeros of the fraction.
fn push_decimals<T: DecimalType>(
    array: &dyn Array,
    mut push: impl FnMut(Option<&str>) -> Result<(), DataError>,
) -> Result<(), Fault> {
    let values: &PrimitiveArray<T> = array.as_primitive::<T>();
    for i in 0..values.len() {
        let text = values.is_valid(i).then(|| values.value_as_string(i));
        let text = text.as_deref().map(|text| match text.contains('.') {
            true => text.trim_end_matches('0').trim_end_matches('.'),
            false => text,
        });
        push(text)?;
    }
    Ok(())
}

/// Interprets bytes as UTF-8 text.
fn utf8(value: Option<&[u8]>) -> Result<Option<&str>, Fault> {
    let refused = |_| Fault::Unread("bytes that are not UTF-8 text".to_owned());
    value.map(std::str::from_utf8).transpose().map_err(refused)
}

/// Appends the texts of a dictionary array.
fn append_dictionary(
    array: &dyn Array,
    texts: &mut TextColumn,
    budget: &Budget,
) -> Result<(), Fault> {
    let mut levels = TextColumn::default();
    append_texts(array.as_any_dictionary().values().as_ref(), &mut levels, budget)?;
    let levels = levels.into_cells();
    for level in level_of_rows(array) {
        let code = level.and_then(|level| levels.codes.get(level));
        let value = code.and_then(|code| levels.levels.get(*code as usize));
        texts.push(value.map(String::as_str), budget)?;
    }
    Ok(())
}
