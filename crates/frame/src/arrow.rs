//! Reads Arrow IPC files and streams.

use crate::arrow_check::check;
use crate::batches::from_batches;
use crate::error::DataError;
use crate::frame::Frame;
use crate::guard::guarded;
use crate::options::{Hints, ReadOptions};
use crate::source::Source;
use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, SchemaRef};
use std::fmt::Display;
use std::io::Cursor;

type Batches<'b> = Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + 'b>;

/// Reads a file or a stream as a table.
pub(crate) fn read(
    source: &Source,
    options: &ReadOptions,
    hints: &Hints,
) -> Result<Frame, DataError> {
    let damaged = |what: &dyn Display| {
        DataError::user(format!(
            "{}: not a readable Arrow file: {what}; write it again, or write it as Parquet",
            source.name()
        ))
    };
    let panicked = || damaged(&"its contents are inconsistent");
    let bytes = source.bytes()?;
    check(&bytes, source.budget()).map_err(|what| damaged(&what))?;
    let opened = guarded(|| open(&bytes)).ok_or_else(panicked)?;
    let (schema, mut batches) = opened.map_err(|e| damaged(&e))?;
    let batches = std::iter::from_fn(|| match guarded(|| batches.next()) {
        Some(batch) => Some(batch?.map_err(|e| damaged(&e))),
        None => Some(Err(panicked())),
    });
    from_batches(source, options, hints, &schema, (0, None), batches)
}

fn open(bytes: &[u8]) -> Result<(SchemaRef, Batches<'_>), ArrowError> {
    if bytes.starts_with(b"ARROW1") {
        let reader = FileReader::try_new(Cursor::new(bytes), None)?;
        Ok((reader.schema(), Box::new(reader)))
    } else {
        let reader = StreamReader::try_new(Cursor::new(bytes), None)?;
        Ok((reader.schema(), Box::new(reader)))
    }
}
