//! Files of tables. For any bytes, the reader must return a valid table or an error.

use halfspaces_frame::{Format, Frame, Hints, ReadOptions, read_bytes};

/// Reads an Arrow file or stream.
pub fn arrow(bytes: &[u8]) {
    table(bytes, Some(Format::Arrow));
}

/// Reads a Parquet file.
pub fn parquet(bytes: &[u8]) {
    table(bytes, Some(Format::Parquet));
}

/// Reads an NPY array or an NPZ archive.
pub fn numpy(bytes: &[u8]) {
    let is_archive = bytes.starts_with(b"PK");
    table(bytes, Some(if is_archive { Format::Npz } else { Format::Npy }));
}

/// Reads LIBSVM text.
pub fn libsvm(text: &[u8]) {
    let Some(frame) = table(text, Some(Format::Libsvm)) else { return };
    let lines = text.iter().filter(|byte| **byte == b'\n').count() + 1;
    assert!(frame.rows <= lines && frame.is_sparse());
    // Writing the table and reading it again gives the same number of rows.
    let Some(block) = &frame.block else { return };
    let mut written = String::new();
    for row in 0..frame.rows {
        written += &frame.columns[0].values.text(row);
        for (column, value) in block.entries(row) {
            written += &format!(" {}:{value:e}", block.name(column));
        }
        written += "\n";
    }
    // The last column may contain only explicit zeros. The table then has fewer columns after it is read again.
    let again = table(written.as_bytes(), Some(Format::Libsvm)).map(|again| again.rows);
    assert_eq!(again, (frame.rows > 0).then_some(frame.rows), "{written}");
}

/// Reads a table and checks its columns, its block and its last row.
fn table(bytes: &[u8], format: Option<Format>) -> Option<Frame> {
    let options = ReadOptions { format, ..ReadOptions::default() };
    let frame = read_bytes("fuzz", bytes.to_vec(), &options, &Hints::default()).ok()?;
    assert!(frame.rows > 0, "a table without rows is refused");
    for column in &frame.columns {
        assert_eq!(column.values.len(), frame.rows, "{}", column.name);
        assert!(column.values.missing() <= frame.rows);
    }
    if let Some(block) = &frame.block {
        assert_eq!(block.rows(), frame.rows);
        assert_eq!(block.place(&block.name(block.dim() - 1)), Some(block.dim() - 1));
    }
    let last = frame.select_rows(&[frame.rows - 1]);
    assert_eq!(last.place(0), frame.place(frame.rows - 1));
    Some(frame)
}
