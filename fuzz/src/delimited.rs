//! Reads delimited text with the reader of tables.

use halfspaces_frame::{Hints, Ragged, ReadOptions, inspect_bytes, read_bytes};

/// Reads text after a byte that chooses the options. Every text must be read or refused, and no line may be counted
/// twice.
pub fn delimited(bytes: &[u8]) {
    let Some((&choice, text)) = bytes.split_first() else { return };
    let options = ReadOptions {
        ragged: [Ragged::Error, Ragged::Pad, Ragged::Skip][usize::from(choice % 3)],
        header: [None, Some(true), Some(false)][usize::from(choice / 3 % 3)],
        delimiter: [None, Some(b','), Some(b';'), Some(b'\t')][usize::from(choice / 9 % 4)],
        ..ReadOptions::default()
    };
    let lines = text.iter().filter(|b| matches!(b, b'\n' | b'\r')).count() + 1;
    if let Ok(frame) = read_bytes("t.csv", text.to_vec(), &options, &Hints::default()) {
        assert!(frame.rows <= lines, "{} rows of {lines} lines", frame.rows);
    }
    if let Ok(inspection) = inspect_bytes("t.csv", text.to_vec(), &options) {
        assert!(inspection.reading.rows <= lines as u64);
        let mut table = Vec::new();
        // Writing is refused if the lengths of the rows differ too much.
        if inspection.write_csv(&mut table).is_ok() {
            assert!(table.len() <= 64 * text.len() + (1 << 22), "{} bytes", table.len());
        }
    }
}
