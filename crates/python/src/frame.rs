//! Tables from Python: files, Arrow streams, and columns of arrays.

use crate::error::Fault;
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, DurationNanosecondArray, Float64Array, Int32Array,
    Int64Array, RecordBatch, StringArray, Time64MicrosecondArray, TimestampMicrosecondArray,
    UInt64Array,
};
use arrow_ipc::reader::StreamReader;
use arrow_schema::{ArrowError, DataType, Field, Schema};
use halfspaces_frame::{
    DataError, Decimal, Format, Frame, Hints, Ragged, ReadOptions, read, read_batches, read_part,
};
use halfspaces_linalg::Threads;
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::{Deserialize, Serialize};
use std::io::Cursor;
use std::path::PathBuf;
use std::sync::Arc;

/// The number that NumPy uses for a missing time.
const NOT_A_TIME: i64 = i64::MIN;

/// A column of a table. Missing numbers are NaN.
#[derive(FromPyObject)]
pub(crate) enum Cells<'py> {
    #[pyo3(transparent)]
    Numbers(PyReadonlyArray1<'py, f64>),
    #[pyo3(transparent)]
    Booleans(Vec<Option<bool>>),
    #[pyo3(transparent)]
    Integers(PyReadonlyArray1<'py, i64>),
    #[pyo3(transparent)]
    Unsigned(PyReadonlyArray1<'py, u64>),
    /// Integers and what they represent: moments (microseconds since 1970-01-01), durations (nanoseconds) or times
    /// (microseconds since midnight).
    Times(PyReadonlyArray1<'py, i64>, String),
    #[pyo3(transparent)]
    Texts(Vec<Option<String>>),
    /// Codes, which are negative for missing values, and the categories.
    Categories(PyReadonlyArray1<'py, i32>, Vec<String>),
}

impl Cells<'_> {
    fn array(&self) -> PyResult<ArrayRef> {
        Ok(match self {
            Cells::Numbers(values) => Arc::new(Float64Array::from(values.as_slice()?.to_vec())),
            Cells::Integers(values) => Arc::new(Int64Array::from(values.as_slice()?.to_vec())),
            Cells::Unsigned(values) => Arc::new(UInt64Array::from(values.as_slice()?.to_vec())),
            Cells::Booleans(values) => Arc::new(BooleanArray::from(values.clone())),
            Cells::Times(values, kind) => {
                let present = |v: &i64| (*v != NOT_A_TIME).then_some(*v);
                let values = values.as_slice()?.iter().map(present);
                match kind.as_str() {
                    "moments" => Arc::new(TimestampMicrosecondArray::from_iter(values)),
                    "durations" => Arc::new(DurationNanosecondArray::from_iter(values)),
                    "times" => Arc::new(Time64MicrosecondArray::from_iter(values)),
                    _ => return Err(Fault::new(format!("{kind}: not a kind of time")).into()),
                }
            }
            Cells::Texts(texts) => Arc::new(StringArray::from_iter(texts)),
            Cells::Categories(codes, levels) => {
                let present = |code: &i32| (*code >= 0).then_some(*code);
                let keys: Int32Array = codes.as_slice()?.iter().map(present).collect();
                let levels = Arc::new(StringArray::from_iter_values(levels));
                let array = DictionaryArray::<Int32Type>::try_new(keys, levels);
                Arc::new(array.map_err(Fault::new)?)
            }
        })
    }
}

/// A table as Python passes it.
#[derive(FromPyObject)]
pub(crate) enum Source<'py> {
    /// A file.
    #[pyo3(transparent)]
    File(PathBuf),
    /// A name and an Arrow IPC stream.
    Arrow(String, Bound<'py, PyBytes>),
    /// A name and columns, each with its name.
    Columns(String, Vec<(String, Cells<'py>)>),
}

/// A table without references to Python objects.
#[derive(Debug, Clone)]
pub(crate) enum Table {
    File(PathBuf),
    Batches { name: String, schema: Schema, batches: Vec<RecordBatch> },
}

impl Source<'_> {
    pub(crate) fn table(self) -> PyResult<Table> {
        match self {
            Source::File(path) => Ok(Table::File(path)),
            Source::Arrow(name, bytes) => {
                let unread = |e| Fault::new(format!("{name}: not a readable Arrow stream: {e}"));
                let reader =
                    StreamReader::try_new(Cursor::new(bytes.as_bytes()), None).map_err(unread)?;
                let schema = Schema::clone(&reader.schema());
                let batches: Result<Vec<RecordBatch>, _> = reader.collect();
                Ok(Table::Batches { schema, batches: batches.map_err(unread)?, name })
            }
            Source::Columns(name, columns) => {
                let arrays = columns.iter().map(|(_, cells)| cells.array());
                let arrays = arrays.collect::<PyResult<Vec<ArrayRef>>>()?;
                let fields = columns.iter().zip(&arrays);
                let fields =
                    fields.map(|((of, _), array)| Field::new(of, array.data_type().clone(), true));
                let schema = Schema::new(fields.collect::<Vec<_>>());
                let batch = RecordBatch::try_new(Arc::new(schema.clone()), arrays);
                let batch = batch.map_err(|e| PyValueError::new_err(format!("{name}: {e}")))?;
                Ok(Table::Batches { name, schema, batches: vec![batch] })
            }
        }
    }
}

impl Table {
    /// A table of columns of numbers. `values` are the rows, one after another; a missing number is NaN.
    pub(crate) fn of_numbers(
        name: &str,
        columns: &[String],
        values: &[f64],
    ) -> Result<Table, ArrowError> {
        let of_column = |place| -> ArrayRef {
            let values = values.iter().skip(place).step_by(columns.len());
            Arc::new(Float64Array::from_iter_values(values.copied()))
        };
        let arrays = (0..columns.len()).map(of_column).collect();
        let fields = columns.iter().map(|of| Field::new(of, DataType::Float64, true));
        let schema = Schema::new(fields.collect::<Vec<_>>());
        let batch = RecordBatch::try_new(Arc::new(schema.clone()), arrays)?;
        Ok(Table::Batches { name: name.to_owned(), schema, batches: vec![batch] })
    }

    /// Reads a part of a larger table, whose first row is row `first` of that table.
    pub(crate) fn read_part(
        self,
        first: u64,
        reading: &ReadOptions,
        hints: &Hints,
    ) -> Result<Frame, DataError> {
        match self {
            Table::File(path) => Err(DataError::user(format!(
                "{}: a part of a table must be in memory; read the file first",
                path.display()
            ))),
            Table::Batches { name, schema, batches } => {
                read_part(&name, &schema, batches, first, reading, hints)
            }
        }
    }

    /// Reads the table.
    pub(crate) fn read(self, reading: &ReadOptions, hints: &Hints) -> Result<Frame, DataError> {
        match self {
            Table::File(path) => read(&path, reading, hints),
            Table::Batches { name, schema, batches } => {
                read_batches(&name, &schema, batches, reading, hints)
            }
        }
    }
}

/// The options for reading a table.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Reading {
    format: Option<String>,
    delimiter: Option<char>,
    header: Option<bool>,
    ragged: Ragged,
    missing: Vec<String>,
    not_missing: Vec<String>,
    decimal: Option<char>,
    day_first: Option<bool>,
    category: Vec<String>,
}

impl Reading {
    /// The options for reading later parts of a table; its categories are known by then.
    pub(crate) fn of_parts(self) -> Reading {
        Reading { category: Vec::new(), ..self }
    }

    pub(crate) fn ragged(&self) -> Ragged {
        self.ragged
    }

    pub(crate) fn options(&self, threads: Threads) -> Result<ReadOptions, Fault> {
        let format = self.format.as_deref().map(str::parse::<Format>).transpose();
        let delimiter = match self.delimiter {
            None => None,
            Some(of) if of.is_ascii() && !matches!(of, '"' | '\n' | '\r') => Some(of as u8),
            Some(of) => {
                let what =
                    "must be one ASCII character, and neither a quotation mark nor a line end";
                return Err(Fault::new(format!("delimiter={of:?}: {what}")));
            }
        };
        let decimal = match self.decimal {
            None => None,
            Some('.') => Some(Decimal::Point),
            Some(',') => Some(Decimal::Comma),
            Some(of) => return Err(Fault::new(format!("decimal={of:?}: must be '.' or ','"))),
        };
        Ok(ReadOptions {
            format: format.map_err(|e| Fault::new(format!("format: {e}")))?,
            delimiter,
            header: self.header,
            ragged: self.ragged,
            missing: self.missing.clone(),
            not_missing: self.not_missing.clone(),
            decimal,
            day_first: self.day_first,
            category: self.category.clone(),
            threads,
        })
    }
}

/// Replaces the names of options by those of Python arguments: `--skip-unlabelled` becomes `skip_unlabelled`.
pub(crate) fn by_argument(text: &str) -> String {
    let mut found = String::with_capacity(text.len());
    let mut parts = text.split("--");
    found.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let is_start = found.chars().next_back().is_none_or(|c| !c.is_alphanumeric() && c != '-');
        let length = part.find(|c: char| !(c.is_ascii_lowercase() || c == '-'));
        let (option, rest) = part.split_at(length.unwrap_or(part.len()));
        if is_start && !option.is_empty() {
            found.push_str(&option.replace('-', "_"));
        } else {
            found.push_str("--");
            found.push_str(option);
        }
        found.push_str(rest);
    }
    found
}
