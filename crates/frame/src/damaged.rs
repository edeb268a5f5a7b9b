//! Tests that damaged files of every format cause errors instead of panics, and that reading them never takes more
//! memory than the budget.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::budget::Budget;
use crate::error::DataError;
use crate::frame::Frame;
use crate::options::{Hints, ReadOptions};
use crate::read::read_source;
use crate::source::Source;
use arrow_array::types::Int8Type;
use arrow_array::{
    ArrayRef, DictionaryArray, FixedSizeListArray, Float64Array, RecordBatch, StringArray, types,
};
use std::io::Write;
use std::sync::Arc;

/// The memory budget for a damaged file of a few hundred bytes.
const LIMIT: u64 = 1 << 20;

fn read(bytes: Vec<u8>) -> Result<Frame, DataError> {
    let source = Source::of_bytes("t", bytes, Budget::new(LIMIT))?;
    read_source(&source, &ReadOptions::default(), &Hints::default())
}

/// Flips every bit of a file in turn, and truncates the file at every length. A truncated file may be readable only if
/// `may_be_cut` is true.
fn attack(bytes: &[u8], may_be_cut: bool) {
    let whole = read(bytes.to_vec()).unwrap();
    for bit in 0..8 * bytes.len() {
        let mut turned = bytes.to_vec();
        turned[bit / 8] ^= 1 << (bit % 8);
        // Most flipped bits in numbers and texts cannot be detected, so the result is ignored.
        drop(read(turned));
    }
    for length in 0..bytes.len() {
        let part = read(bytes[..length].to_vec());
        assert!(may_be_cut || part.is_err(), "cut at {length} of {}", bytes.len());
        assert!(part.is_err() || part.is_ok_and(|part| part.rows <= whole.rows));
    }
}

fn batch() -> RecordBatch {
    let numbers: Float64Array = (0..6).map(|i| (i != 2).then(|| f64::from(i) / 2.0)).collect();
    let texts = StringArray::from(vec![Some("p"), None, Some("q"), Some("p"), Some(""), Some("r")]);
    let areas: DictionaryArray<Int8Type> = ["a", "b", "a", "b", "a", "a"].into_iter().collect();
    let lists = (0..6).map(|i| Some([Some(i), None]));
    let lists = FixedSizeListArray::from_iter_primitive::<types::Int32Type, _, _>(lists, 2);
    let columns: [(&str, ArrayRef); 4] = [
        ("n", Arc::new(numbers)),
        ("t", Arc::new(texts)),
        ("d", Arc::new(areas)),
        ("l", Arc::new(lists)),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

#[cfg(feature = "arrow")]
#[test]
fn arrow_files_and_streams() {
    use arrow_ipc::CompressionType;
    use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
    let batch = batch();
    for compression in [None, Some(CompressionType::LZ4_FRAME), Some(CompressionType::ZSTD)] {
        let options = IpcWriteOptions::default().try_with_compression(compression).unwrap();
        let mut file = Vec::new();
        let mut writer =
            FileWriter::try_new_with_options(&mut file, &batch.schema(), options.clone()).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
        drop(writer);
        let frame = read(file.clone()).unwrap();
        assert_eq!((frame.rows, frame.column_count()), (6, 5));
        assert_eq!(
            (frame.column("t").unwrap().missing(), frame.column("l.0").unwrap().text(3)),
            (2, "3".into())
        );
        attack(&file, false);
        let mut stream = Vec::new();
        let mut writer =
            StreamWriter::try_new_with_options(&mut stream, &batch.schema(), options).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
        drop(writer);
        attack(&stream, true);
    }
}

/// A stream may end between two messages. A stream that ends within a message is truncated.
#[cfg(feature = "arrow")]
#[test]
fn a_stream_cut_within_a_message_is_an_error() {
    use arrow_ipc::writer::StreamWriter;
    let batch = batch();
    let (mut stream, mut ends) = (Vec::new(), Vec::new());
    for batches in 0..4 {
        stream.clear();
        let mut writer = StreamWriter::try_new(&mut stream, &batch.schema()).unwrap();
        (0..batches).for_each(|_| writer.write(&batch).unwrap());
        writer.flush().unwrap();
        drop(writer);
        ends.push(stream.len());
    }
    for length in ends[1]..=stream.len() {
        let part = read(stream[..length].to_vec());
        match ends.iter().position(|end| *end == length) {
            Some(batches) => assert_eq!(part.unwrap().rows, 6 * batches),
            None => assert!(part.unwrap_err().to_string().contains("cut off"), "{length}"),
        }
    }
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_files() {
    use ::parquet::arrow::ArrowWriter;
    let batch = batch();
    let mut file = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let frame = read(file.clone()).unwrap();
    assert_eq!((frame.rows, frame.column_count()), (6, 5));
    attack(&file, false);
}

/// The Parquet reader would skip the elements of a list of 2^31 booleans one at a time.
#[test]
fn parquet_metadata_with_an_endless_list() {
    use ::parquet::arrow::ArrowWriter;
    let batch = batch();
    let mut file = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    // The metadata end with 0; the field 100 of the list is unknown.
    let end = file.len() - 8;
    let with_field = |list: &[u8]| {
        let length = u32::from_le_bytes(file[end..end + 4].try_into().unwrap()) as usize;
        let field = [&[0x09, 0xc8, 1], list, &[0]].concat();
        let length = (length + field.len() - 1) as u32;
        [&file[..end - 1], &field, &length.to_le_bytes(), b"PAR1"].concat()
    };
    assert_eq!(read(with_field(&[0x31])).unwrap().rows, 6);
    let error = read(with_field(&[0xf1, 0xff, 0xff, 0xff, 0xff, 7])).unwrap_err().to_string();
    assert!(error.contains("its metadata have an endless list"), "{error}");
}

/// Equal rows compress to almost nothing, but the number of rows is known before they are decoded.
#[test]
fn parquet_files_of_too_many_rows() {
    use ::parquet::arrow::ArrowWriter;
    let numbers: ArrayRef = Arc::new(Float64Array::from(vec![0.0; 200_000]));
    let batch = RecordBatch::try_from_iter([("n", numbers)]).unwrap();
    let mut file = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    assert!(file.len() < 10_000);
    let error = read(file.clone()).unwrap_err().to_string();
    assert!(error.contains("1.6 MB of memory, and the limit is 1.0 MB"), "{error}");
    // If the file is read in chunks, the budget suffices.
    let source = Source::of_bytes("t", file, Budget::new(LIMIT)).unwrap();
    let (options, hints) = (ReadOptions::default(), Hints::default());
    let chunks = crate::parquet::chunks(&source, &options, &hints, 7000).unwrap();
    let chunks: Vec<Frame> = chunks.map(Result::unwrap).collect();
    assert_eq!(chunks.iter().map(|chunk| chunk.rows).sum::<usize>(), 200_000);
    assert_eq!(chunks[1].place(0), "t, row 7000");
    let some =
        crate::parquet::select(&source, &options, &hints, &[0, 8191, 8192, 199_999]).unwrap();
    assert_eq!((some.rows, some.place(2)), (4, "t, row 8192".to_owned()));
}

fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let length = (header.len() as u16).to_le_bytes();
    [b"\x93NUMPY\x01\0", &length[..], header.as_bytes(), data].concat()
}

fn npz(arrays: &[(&str, Vec<u8>)], method: zip::CompressionMethod) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default().compression_method(method);
    for (name, bytes) in arrays {
        writer.start_file(format!("{name}.npy"), options).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn integers(values: &[i64]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

fn sparse(format: &str, method: zip::CompressionMethod) -> Vec<u8> {
    let ends = if format == "csr" { vec![0, 1, 1, 3] } else { vec![0, 1, 2, 2, 3] };
    let inner = if format == "csr" { vec![2, 3, 0] } else { vec![2, 2, 0] };
    let data: Vec<u8> = [1.5f64, -2.0, 4.0].iter().flat_map(|v| v.to_le_bytes()).collect();
    let arrays = [
        ("indices", npy("<i8", "(3,)", &integers(&inner))),
        ("indptr", npy("<i8", &format!("({},)", ends.len()), &integers(&ends))),
        ("format", npy("|S3", "()", format.as_bytes())),
        ("shape", npy("<i8", "(2,)", &integers(&[3, 4]))),
        ("data", npy("<f8", "(3,)", &data)),
        ("y", npy("|S2", "(3,)", b"a\0b\0a\0")),
    ];
    npz(&arrays, method)
}

#[test]
fn numpy_arrays() {
    attack(&npy("<f8", "(2, 3)", &[1; 48]), false);
    attack(&npy("<U2", "(3,)", b"a\0\0\0b\0\0\0c\0\0\0\0\0\0\0e\0\0\0\0\0\0\0"), false);
    for method in [zip::CompressionMethod::Stored, zip::CompressionMethod::Deflated] {
        attack(
            &npz(
                &[("x", npy("<i4", "(2, 3)", &[7; 24])), ("y", npy("|b1", "(2,)", &[0, 1]))],
                method,
            ),
            false,
        );
        for format in ["csr", "csc"] {
            let file = sparse(format, method);
            let frame = read(file.clone()).unwrap();
            assert_eq!(
                (frame.rows, frame.column_count(), frame.is_sparse()),
                (3, 5, true),
                "{format}"
            );
            assert_eq!(frame.column("y").unwrap().text(1), "b");
            attack(&file, false);
        }
    }
}

/// These small files would require arbitrarily large amounts of memory.
#[test]
fn headers_that_ask_for_too_much() {
    for (descr, shape) in [
        ("<f8", "(0, 1000000000000)"),
        ("<U0", "(1000000000000,)"),
        ("|u1", "(0, 100000000)"),
        ("<f8", "(3, 0)"),
    ] {
        let array = npy(descr, shape, &[]);
        for bytes in [array.clone(), npz(&[("a", array)], zip::CompressionMethod::Deflated)] {
            let error = read(bytes).unwrap_err().to_string();
            assert!(error.contains("empty"), "{error}");
        }
    }
    // Zeros compress well: 16 MB take only a few kilobytes. All arrays of an archive share one budget.
    let zeros = npy("|u1", "(100000,)", &[0; 100_000]);
    let error = read(zstd::encode_all(&npy("<f8", "(2000000,)", &[0; 16_000_000])[..], 1).unwrap());
    assert!(error.unwrap_err().to_string().contains("of memory, and the limit is"));
    let names = ["a", "b", "c"];
    let arrays: Vec<(&str, Vec<u8>)> = names.iter().map(|name| (*name, zeros.clone())).collect();
    assert!(read(npz(&arrays[..1], zip::CompressionMethod::Deflated)).is_ok());
    let error = read(npz(&arrays, zip::CompressionMethod::Deflated)).unwrap_err().to_string();
    assert!(error.contains("of memory, and the limit is"), "{error}");
    // An entry is not decompressed if its size differs from the size stated in its header.
    let error =
        read(npz(&[("a", npy("<f8", "(100000,)", &[0; 80]))], zip::CompressionMethod::Stored));
    assert!(error.unwrap_err().to_string().contains("80 bytes of data"));
}

/// Rows without columns take memory as well, because each row gets a number and a prediction.
#[cfg(feature = "arrow")]
#[test]
fn arrow_files_of_too_many_rows_without_columns() {
    use arrow_array::RecordBatchOptions;
    use arrow_ipc::writer::FileWriter;
    use arrow_schema::Schema;
    // 32 bytes for each row, and a limit of 2^20 bytes.
    for (rows, is_read) in [(1 << 15, true), ((1 << 15) + 1, false), (1 << 62, false)] {
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let schema = Arc::new(Schema::empty());
        let batch = RecordBatch::try_new_with_options(schema.clone(), vec![], &options).unwrap();
        let mut file = Vec::new();
        let mut writer = FileWriter::try_new(&mut file, &schema).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
        drop(writer);
        let found = read(file);
        assert_eq!(found.is_ok(), is_read, "{rows}");
        assert!(found.is_ok_and(|frame| frame.rows == rows) || !is_read);
    }
}

/// Labels without entries take memory as well.
#[test]
fn libsvm_files_of_too_many_labels() {
    let labels = |count: usize| read(b"1\n-1\n".repeat(count / 2));
    assert_eq!(labels(1 << 14).unwrap().rows, 1 << 14);
    let error = labels(1 << 17).unwrap_err().to_string();
    assert!(error.contains("memory"), "{error}");
}

#[test]
fn libsvm_files() {
    attack(b"# two classes\n1 qid:1 0:0.5 3:-2e3\r\n-1\n\n1.0 7:1 2:.5\n+1 1:1 # end\n", true);
}
