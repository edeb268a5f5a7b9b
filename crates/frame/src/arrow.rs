//! Arrow IPC files and streams.

use crate::batches::from_batches;
use crate::error::DataError;
use crate::frame::Frame;
use crate::options::Hints;
use crate::source::Source;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::ArrowError;
use std::io::Cursor;

/// Reads a table.
pub(crate) fn read(source: &Source, hints: &Hints) -> Result<Frame, DataError> {
    let damaged = |e: ArrowError| {
        DataError::user(format!("{}: not an Arrow file that can be read: {e}", source.name()))
    };
    let bytes = Cursor::new(source.bytes()?);
    if source.head().starts_with(b"ARROW1") {
        let reader = FileReader::try_new(bytes, None).map_err(damaged)?;
        let schema = reader.schema();
        from_batches(source, hints, &schema, reader.map(|batch| batch.map_err(damaged)))
    } else {
        let reader = StreamReader::try_new(bytes, None).map_err(damaged)?;
        let schema = reader.schema();
        from_batches(source, hints, &schema, reader.map(|batch| batch.map_err(damaged)))
    }
}
