//! Appends the numbers, times and lists of Arrow arrays to vectors.

use crate::budget::Budget;
use crate::error::DataError;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type,
    Decimal256Type, DecimalType, DurationMicrosecondType, DurationMillisecondType,
    DurationNanosecondType, DurationSecondType, Float16Type, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, Time32MillisecondType, Time32SecondType,
    Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, PrimitiveArray};
use arrow_schema::{DataType, TimeUnit};

const MICROS_OF_A_DAY: i64 = 86_400_000_000;

/// The reason why an array cannot be appended.
#[derive(Debug)]
pub(crate) enum Fault {
    /// A number is infinite. `row` is its row in the batch.
    Infinite {
        row: usize,
    },
    /// The length of a list differs from that of the lists before it. `row` is its row in the batch.
    Length {
        row: usize,
        expected: usize,
        found: usize,
    },
    Memory(DataError),
    /// The values are of a kind that is not supported. The text describes the kind.
    Unread(String),
}

impl From<DataError> for Fault {
    fn from(error: DataError) -> Fault {
        Fault::Memory(error)
    }
}

/// Appends numbers, with NaN for missing numbers.
pub(crate) fn numbers(array: &dyn Array, out: &mut Vec<f64>) -> Result<(), Fault> {
    match array.data_type() {
        DataType::Int8 => primitives::<Int8Type>(array, out, f64::from),
        DataType::Int16 => primitives::<Int16Type>(array, out, f64::from),
        DataType::Int32 => primitives::<Int32Type>(array, out, f64::from),
        DataType::Int64 => primitives::<Int64Type>(array, out, |v| v as f64),
        DataType::UInt8 => primitives::<UInt8Type>(array, out, f64::from),
        DataType::UInt16 => primitives::<UInt16Type>(array, out, f64::from),
        DataType::UInt32 => primitives::<UInt32Type>(array, out, f64::from),
        DataType::UInt64 => primitives::<UInt64Type>(array, out, |v| v as f64),
        DataType::Float16 => primitives::<Float16Type>(array, out, |v| v.to_f64()),
        DataType::Float32 => primitives::<Float32Type>(array, out, f64::from),
        DataType::Float64 => primitives::<Float64Type>(array, out, |v| v),
        DataType::Decimal32(_, scale) => {
            decimals::<Decimal32Type>(array, out, *scale, |v| v.into())
        }
        DataType::Decimal64(_, scale) => {
            decimals::<Decimal64Type>(array, out, *scale, |v| v as f64)
        }
        DataType::Decimal128(_, scale) => {
            decimals::<Decimal128Type>(array, out, *scale, |v| v as f64)
        }
        // 256-bit decimals are always parsed from their digits.
        DataType::Decimal256(_, scale) => {
            decimals::<Decimal256Type>(array, out, *scale, |_| f64::INFINITY)
        }
        DataType::Duration(unit) => {
            let second = ticks_per_second(*unit);
            match unit {
                TimeUnit::Second => ticks::<DurationSecondType>(array, out, second),
                TimeUnit::Millisecond => ticks::<DurationMillisecondType>(array, out, second),
                TimeUnit::Microsecond => ticks::<DurationMicrosecondType>(array, out, second),
                TimeUnit::Nanosecond => ticks::<DurationNanosecondType>(array, out, second),
            }
        }
        DataType::Time32(TimeUnit::Second) => primitives::<Time32SecondType>(array, out, f64::from),
        DataType::Time32(_) => {
            primitives::<Time32MillisecondType>(array, out, |v| f64::from(v) / 1e3)
        }
        DataType::Time64(TimeUnit::Microsecond) => ticks::<Time64MicrosecondType>(array, out, 1e6),
        DataType::Time64(_) => ticks::<Time64NanosecondType>(array, out, 1e9),
        DataType::Boolean => {
            let truths = array.as_boolean().iter();
            out.extend(truths.map(|truth| truth.map_or(f64::NAN, |v| f64::from(u8::from(v)))));
        }
        DataType::Null => out.resize(out.len() + array.len(), f64::NAN),
        DataType::Dictionary(..) => append_levels(array, out, f64::NAN, numbers)?,
        other => return Err(Fault::Unread(other.to_string())),
    }
    Ok(())
}

/// Describes times that cannot be represented in microseconds since 1970-01-01, for use in messages.
pub(crate) fn too_late() -> String {
    "times beyond the year 290,000".to_owned()
}

/// Appends timestamps in microseconds since 1970-01-01, and times of day in microseconds since midnight. Nanoseconds are
/// truncated.
pub(crate) fn append_moments(array: &dyn Array, out: &mut Vec<Option<i64>>) -> Result<(), Fault> {
    fn each<T: ArrowPrimitiveType>(
        array: &dyn Array,
        out: &mut Vec<Option<i64>>,
        micros: impl Fn(T::Native) -> Option<i64>,
    ) -> Result<(), Fault> {
        for value in array.as_primitive::<T>() {
            let beyond = || Fault::Unread(too_late());
            out.push(value.map(|value| micros(value).ok_or_else(beyond)).transpose()?);
        }
        Ok(())
    }
    match array.data_type() {
        DataType::Date32 => {
            each::<Date32Type>(array, out, |days| i64::from(days).checked_mul(MICROS_OF_A_DAY))
        }
        DataType::Date64 => each::<Date64Type>(array, out, |ms| ms.checked_mul(1000)),
        DataType::Timestamp(TimeUnit::Second, _) => {
            each::<TimestampSecondType>(array, out, |s| s.checked_mul(1_000_000))
        }
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            each::<TimestampMillisecondType>(array, out, |ms| ms.checked_mul(1000))
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            each::<TimestampMicrosecondType>(array, out, Some)
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            each::<TimestampNanosecondType>(array, out, |ns| Some(ns.div_euclid(1000)))
        }
        DataType::Time32(TimeUnit::Second) => {
            each::<Time32SecondType>(array, out, |s| i64::from(s).checked_mul(1_000_000))
        }
        DataType::Time32(_) => {
            each::<Time32MillisecondType>(array, out, |ms| i64::from(ms).checked_mul(1000))
        }
        DataType::Time64(TimeUnit::Microsecond) => each::<Time64MicrosecondType>(array, out, Some),
        DataType::Time64(_) => {
            each::<Time64NanosecondType>(array, out, |ns| Some(ns.div_euclid(1000)))
        }
        DataType::Dictionary(..) => append_levels(array, out, None, append_moments),
        other => Err(Fault::Unread(other.to_string())),
    }
}

fn ticks_per_second(unit: TimeUnit) -> f64 {
    match unit {
        TimeUnit::Second => 1.0,
        TimeUnit::Millisecond => 1e3,
        TimeUnit::Microsecond => 1e6,
        TimeUnit::Nanosecond => 1e9,
    }
}

fn primitives<T: ArrowPrimitiveType>(
    array: &dyn Array,
    out: &mut Vec<f64>,
    number: impl Fn(T::Native) -> f64,
) {
    let values = array.as_primitive::<T>();
    if values.null_count() == 0 {
        out.extend(values.values().iter().map(|v| number(*v)));
    } else {
        out.extend(values.iter().map(|v| v.map_or(f64::NAN, &number)));
    }
}

/// Appends integer numbers of ticks, converted to days or seconds. `per` is the number of ticks in one day or one
/// second.
fn ticks<T: ArrowPrimitiveType<Native = i64>>(array: &dyn Array, out: &mut Vec<f64>, per: f64) {
    primitives::<T>(array, out, |v| v as f64 / per);
}

/// Appends decimals, each rounded to the nearest `f64`. A decimal is computed as the quotient of two exact numbers. If
/// these are too large, the decimal is parsed from its digits.
fn decimals<T: DecimalType>(
    array: &dyn Array,
    out: &mut Vec<f64>,
    scale: i8,
    number: impl Fn(T::Native) -> f64,
) {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let values: &PrimitiveArray<T> = array.as_primitive::<T>();
    let power = (0..=22).contains(&scale).then(|| 10f64.powi(scale.into()));
    out.extend((0..values.len()).map(|i| {
        if values.is_null(i) {
            return f64::NAN;
        }
        match (power, number(values.value(i))) {
            (Some(power), unscaled) if unscaled.abs() <= EXACT => unscaled / power,
            _ => {
                let digits = values.value_as_string(i);
                let Ok(value) = digits.parse() else { unreachable!("`{digits}` is a decimal") };
                value
            }
        }
    }));
}

/// For each row of a dictionary array, the index of its level, or `None` if the row has no value.
pub(crate) fn level_of_rows(array: &dyn Array) -> impl Iterator<Item = Option<usize>> + '_ {
    let dictionary = array.as_any_dictionary();
    let keys = if dictionary.values().is_empty() {
        vec![0; array.len()]
    } else {
        dictionary.normalized_keys()
    };
    keys.into_iter().enumerate().map(|(row, key)| array.is_valid(row).then_some(key))
}

/// Appends the numbers or times of a dictionary array. `read` reads the levels, and `missing` is a missing value.
fn append_levels<T: Copy>(
    array: &dyn Array,
    out: &mut Vec<T>,
    missing: T,
    read: impl Fn(&dyn Array, &mut Vec<T>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let mut levels = Vec::new();
    read(array.as_any_dictionary().values().as_ref(), &mut levels)?;
    out.extend(
        level_of_rows(array)
            .map(|level| level.and_then(|level| levels.get(level)).copied().unwrap_or(missing)),
    );
    Ok(())
}

/// Appends lists of numbers that all have the same length. The length is stored in `width` once it is known. Until
/// then, missing lists are only counted, in `missing`.
pub(crate) fn append_lists(
    array: &dyn Array,
    out: &mut Vec<f64>,
    width: &mut Option<usize>,
    missing: &mut usize,
    budget: &Budget,
) -> Result<(), Fault> {
    for row in 0..array.len() {
        let list = array.is_valid(row).then(|| match array.data_type() {
            DataType::FixedSizeList(..) => array.as_fixed_size_list().value(row),
            DataType::LargeList(_) => array.as_list::<i64>().value(row),
            _ => array.as_list::<i32>().value(row),
        });
        let Some(list) = list else {
            match width {
                None => *missing += 1,
                Some(width) => {
                    budget.grow(out, *width)?;
                    out.resize(out.len() + *width, f64::NAN);
                }
            }
            continue;
        };
        let expected = *width.get_or_insert(list.len());
        if list.len() != expected || expected == 0 {
            return Err(match expected {
                0 => Fault::Unread("empty lists".to_owned()),
                _ => Fault::Length { row, expected, found: list.len() },
            });
        }
        let before = std::mem::take(missing);
        if out.is_empty() {
            budget.take_columns(expected)?;
        }
        budget.grow(out, (before + 1).saturating_mul(expected))?;
        out.resize(out.len() + before * expected, f64::NAN);
        let start = out.len();
        numbers(list.as_ref(), out)?;
        if out[start..].iter().any(|v| v.is_infinite()) {
            return Err(Fault::Infinite { row });
        }
    }
    Ok(())
}
