//! Parquet.

use crate::batches::from_batches;
use crate::error::DataError;
use crate::frame::Frame;
use crate::options::Hints;
use crate::source::Source;
use ::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use ::parquet::file::reader::ChunkReader;
use std::fmt::Display;

/// Rows decoded at a time.
const BATCH: usize = 8192;

/// Reads a table.
pub(crate) fn read(source: &Source, hints: &Hints) -> Result<Frame, DataError> {
    match source.file()? {
        Some(file) => read_from(source, hints, file),
        None => read_from(source, hints, bytes::Bytes::from(source.bytes()?)),
    }
}

fn read_from<R: ChunkReader + 'static>(
    source: &Source,
    hints: &Hints,
    reader: R,
) -> Result<Frame, DataError> {
    let damaged = |e: &dyn Display| {
        DataError::user(format!("{}: not a Parquet file that can be read: {e}", source.name()))
    };
    let builder = ParquetRecordBatchReaderBuilder::try_new(reader).map_err(|e| damaged(&e))?;
    let schema = builder.schema().clone();
    let reader = builder.with_batch_size(BATCH).build().map_err(|e| damaged(&e))?;
    from_batches(source, hints, &schema, reader.map(|batch| batch.map_err(|e| damaged(&e))))
}
