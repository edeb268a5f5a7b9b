//! Reads Parquet files, as a whole or in chunks.

use crate::batches::{Assembler, Plan, from_batches};
use crate::error::DataError;
use crate::frame::{Frame, Places};
use crate::guard::guarded;
use crate::options::{Hints, ReadOptions};
use crate::parquet_header::has_endless_list;
use crate::raw_file::RawFile;
use crate::source::Source;
use ::parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use ::parquet::basic::Compression;
use ::parquet::errors::{ParquetError, Result as ParquetResult};
use ::parquet::file::reader::{ChunkReader, Length};
use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field, FieldRef, Schema, SchemaRef};
use bytes::Bytes;
use std::fmt::Display;
use std::io::{self, BufReader, Read};
use std::sync::Arc;

/// The number of rows that are decoded at a time.
const BATCH: usize = 8192;

/// Reads a whole file as a table.
pub(crate) fn read(
    source: &Source,
    options: &ReadOptions,
    hints: &Hints,
) -> Result<Frame, DataError> {
    let mut file = Parquet::open(source, BATCH)?;
    let (schema, rows) = (file.schema.clone(), file.rows);
    from_batches(
        source,
        options,
        hints,
        &schema,
        (0, Some(rows)),
        std::iter::from_fn(|| file.next_batch()),
    )
}

/// Reads a file as a sequence of tables with at most `size` rows each. All tables have the same columns. Notes about
/// the columns are in the first table.
pub(crate) fn chunks(
    source: &Source,
    options: &ReadOptions,
    hints: &Hints,
    size: usize,
) -> Result<impl Iterator<Item = Result<Frame, DataError>>, DataError> {
    let mut file = Parquet::open(source, size.max(1))?;
    let mut plan = Plan::new(source, options, hints, &file.schema);
    let (mut rows, mut widths) = (0, Vec::new());
    Ok(std::iter::from_fn(move || {
        let taken = source.budget().taken();
        let frame = file.next_batch()?.and_then(|batch| {
            let mut assembler = Assembler::new(source, &plan, batch.num_rows())?;
            assembler.continue_with(&widths);
            assembler.append(&batch, rows)?;
            widths = assembler.widths();
            assembler.finish(Places::rows_from(rows))
        });
        // The caller drops a chunk before the next one is read, so the memory of the chunk is released here.
        source.budget().reset(taken);
        if frame.is_err() {
            file.batches = None;
        }
        Some(frame.map(|frame| {
            let notes = match rows {
                0 => [std::mem::take(&mut plan.notes), frame.notes].concat(),
                _ => Vec::new(),
            };
            rows += frame.rows as u64;
            Frame { notes, ..frame }
        }))
    }))
}

/// Reads the rows with the numbers `rows`, which are counted from 0 and must be ascending.
pub(crate) fn select(
    source: &Source,
    options: &ReadOptions,
    hints: &Hints,
    rows: &[u64],
) -> Result<Frame, DataError> {
    let mut file = Parquet::open(source, BATCH)?;
    let plan = Plan::new(source, options, hints, &file.schema);
    let mut assembler = Assembler::new(source, &plan, rows.len())?;
    let (mut rest, mut before) = (rows, 0);
    while let Some(batch) = file.next_batch().filter(|_| !rest.is_empty()) {
        let batch = batch?;
        let end = before + batch.num_rows() as u64;
        let (here, later) = rest.split_at(rest.partition_point(|row| *row < end));
        for run in here.chunk_by(|a, b| a + 1 == *b) {
            assembler.append(&batch.slice((run[0] - before) as usize, run.len()), run[0])?;
        }
        (rest, before) = (later, end);
    }
    let frame = assembler.finish(Places::row_list(rows.to_vec()))?;
    let notes = [plan.notes, frame.notes].concat();
    Ok(Frame { notes, ..frame })
}

/// The number of rows of a file, which is stored in its metadata.
pub(crate) fn count(source: &Source) -> Result<u64, DataError> {
    Ok(Parquet::open(source, BATCH)?.rows as u64)
}

/// An open Parquet file.
struct Parquet<'s> {
    source: &'s Source,
    schema: SchemaRef,
    rows: usize,
    /// The reader of batches, or `None` after the last batch or an error.
    batches: Option<ParquetRecordBatchReader>,
}

impl<'s> Parquet<'s> {
    fn open(source: &'s Source, batch: usize) -> Result<Parquet<'s>, DataError> {
        match source.file() {
            Some(file) => Parquet::from_reader(source, FileChunks(file), batch),
            None => Parquet::from_reader(source, Bytes::from(source.bytes()?.into_owned()), batch),
        }
    }

    fn from_reader<R: ChunkReader + 'static>(
        source: &'s Source,
        reader: R,
        batch: usize,
    ) -> Result<Parquet<'s>, DataError> {
        let opened = guarded(|| -> Result<_, DataError> {
            let reader = Ending(reader);
            check_footer(&reader).map_err(|e| damaged(source, &e))?;
            let metadata = arrow_metadata(&reader).map_err(|e| damaged(source, &e))?;
            let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(reader, metadata);
            let metadata = builder.metadata();
            for group in metadata.row_groups() {
                for column in group.columns() {
                    check_compression(source, column.compression())?;
                }
            }
            let rows = usize::try_from(metadata.file_metadata().num_rows())
                .map_err(|_| damaged(source, &"the number of rows is negative"))?;
            let schema = builder.schema().clone();
            let batches =
                builder.with_batch_size(batch).build().map_err(|e| damaged(source, &e))?;
            Ok(Parquet { source, schema, rows, batches: Some(batches) })
        });
        opened.unwrap_or_else(|| Err(panicked(source)))
    }

    fn next_batch(&mut self) -> Option<Result<RecordBatch, DataError>> {
        let batches = self.batches.as_mut()?;
        let batch = match guarded(|| batches.next()) {
            Some(batch) => batch?.map_err(|e| damaged(self.source, &e)),
            None => Err(panicked(self.source)),
        };
        if batch.is_err() {
            self.batches = None;
        }
        Some(batch)
    }
}

/// Returns an error if the metadata at the end of the file contain a list that would keep the reader busy. Other damage
/// is found when the metadata are read.
fn check_footer<R: ChunkReader>(reader: &R) -> ParquetResult<()> {
    let Some(end) = reader.len().checked_sub(8) else { return Ok(()) };
    let tail = reader.get_bytes(end, 8)?;
    let Some((length, b"PAR1")) = tail.split_first_chunk::<4>() else { return Ok(()) };
    let length = u32::from_le_bytes(*length);
    let Some(start) = end.checked_sub(length.into()) else { return Ok(()) };
    if has_endless_list(&reader.get_bytes(start, length as usize)?) {
        return Err(ParquetError::General("its metadata have an endless list".to_owned()));
    }
    Ok(())
}

/// Reads the metadata. Dictionaries of booleans become booleans, because the Parquet reader panics on such
/// dictionaries.
fn arrow_metadata<R: ChunkReader>(reader: &R) -> ParquetResult<ArrowReaderMetadata> {
    let metadata = ArrowReaderMetadata::load(reader, ArrowReaderOptions::new())?;
    let readable = |field: &FieldRef| match field.data_type() {
        DataType::Dictionary(_, levels) if **levels == DataType::Boolean => {
            Arc::new(Field::clone(field).with_data_type(DataType::Boolean))
        }
        _ => field.clone(),
    };
    let fields: Vec<FieldRef> = metadata.schema().fields().iter().map(readable).collect();
    let schema = Schema::new_with_metadata(fields, metadata.schema().metadata().clone());
    if schema == **metadata.schema() {
        return Ok(metadata);
    }
    let options = ArrowReaderOptions::new().with_schema(Arc::new(schema));
    ArrowReaderMetadata::try_new(metadata.metadata().clone(), options)
}

fn check_compression(source: &Source, compression: Compression) -> Result<(), DataError> {
    let name = match compression {
        Compression::BROTLI(_) => "Brotli",
        Compression::LZO => "LZO",
        _ => return Ok(()),
    };
    Err(DataError::user(format!(
        "{}: the columns are compressed with {name}, which is not supported; write the file again with another compression, such as \
         zstd, snappy or gzip",
        source.name()
    )))
}

fn damaged(source: &Source, what: &dyn Display) -> DataError {
    DataError::user(format!("{}: not a readable Parquet file: {what}", source.name()))
}

fn panicked(source: &Source) -> DataError {
    damaged(source, &"its contents are inconsistent; the file is damaged")
}

/// The number of reads at the end of a file after which the file is considered damaged. A damaged header can say that
/// billions of values follow, and the Parquet reader tries to skip each of them.
const MAX_READS_AT_END: usize = 1000;

/// A reader of chunks that fails if it is read at its end too often.
struct Ending<R>(R);

impl<R: ChunkReader> Length for Ending<R> {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl<R: ChunkReader> ChunkReader for Ending<R> {
    type T = EndingRead<R::T>;

    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        Ok(EndingRead { inner: self.0.get_read(start)?, reads_at_end: 0 })
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        self.0.get_bytes(start, length)
    }
}

struct EndingRead<T> {
    inner: T,
    reads_at_end: usize,
}

impl<T: Read> Read for EndingRead<T> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        if read == 0 && !buffer.is_empty() {
            self.reads_at_end += 1;
            if self.reads_at_end > MAX_READS_AT_END {
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it ends within a page"));
            }
        }
        Ok(read)
    }
}

/// A file that the Parquet reader reads. Requested ranges are checked before memory is allocated.
struct FileChunks(RawFile);

impl Length for FileChunks {
    fn len(&self) -> u64 {
        self.0.length()
    }
}

impl ChunkReader for FileChunks {
    type T = BufReader<RawFile>;

    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        Ok(BufReader::new(self.0.from(start)))
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        if start.checked_add(length as u64).is_none_or(|end| end > self.0.length()) {
            return Err(ParquetError::EOF(format!("{length} bytes at {start} are beyond its end")));
        }
        let mut bytes = vec![0; length];
        self.0.from(start).read_exact(&mut bytes)?;
        Ok(bytes.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader may meet the end of a file a few times, but not again and again.
    #[test]
    fn reads_at_the_end_are_limited() {
        let mut read = EndingRead { inner: &b"ab"[..], reads_at_end: 0 };
        let mut buffer = [0; 2];
        assert_eq!(read.read(&mut buffer).unwrap(), 2);
        for _ in 0..MAX_READS_AT_END {
            assert_eq!(read.read(&mut []).unwrap() + read.read(&mut buffer).unwrap(), 0);
        }
        let error = read.read(&mut buffer).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }

    /// Lists of another length are refused in later chunks too, if the model needs their numbers. Missing lists have no
    /// length.
    #[test]
    fn lists_of_later_chunks_have_the_same_length() {
        use arrow_array::types::Float64Type;
        use arrow_array::{Array, ListArray};
        let read = |lists: Vec<Option<Vec<Option<f64>>>>| {
            let array = Arc::new(ListArray::from_iter_primitive::<Float64Type, _, _>(lists));
            let schema = Schema::new(vec![Field::new("e", array.data_type().clone(), true)]);
            let batch = RecordBatch::try_new(Arc::new(schema), vec![array]).unwrap();
            let mut bytes = Vec::new();
            let writer = ::parquet::arrow::ArrowWriter::try_new(&mut bytes, batch.schema(), None);
            let mut writer = writer.unwrap();
            writer.write(&batch).unwrap();
            writer.close().unwrap();
            let source = Source::of_bytes("t", bytes, crate::budget::Budget::of_machine()).unwrap();
            let hints = Hints { expected: ["e.1".to_owned()].into(), ..Hints::default() };
            let options = ReadOptions::default();
            let chunks = chunks(&source, &options, &hints, 2).unwrap();
            chunks
                .map(|chunk| chunk.map(|frame| frame.column_count()))
                .collect::<Result<Vec<_>, _>>()
        };
        let list = |length: usize| Some(vec![Some(1.0); length]);
        let full = || [list(2), list(2)];
        assert_eq!(read([full(), full()].concat()).unwrap(), [2, 2]);
        assert_eq!(read([full(), [None, None], full()].concat()).unwrap(), [2, 2, 2]);
        for odd in [[list(3), list(3)], [list(2), list(1)], [None, list(0)]] {
            let row = if odd[0].as_ref().is_some_and(|list| list.len() == 3) { 2 } else { 3 };
            let error = read([full(), odd].concat()).unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("t, row {row}, column `e`: the list has length")),
                "{error}"
            );
        }
    }
}
