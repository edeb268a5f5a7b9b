//! The record of the decisions that were made when a text was read.

use super::encoding::Encoded;
use super::layout::Layout;
use super::rows::Tally;
use super::split::Delimiter;
use serde::Serialize;

/// The decisions that were made when a file was read.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use halfspaces_frame::{ReadOptions, inspect_bytes};
/// let inspection = inspect_bytes("t.csv", b"a;b\n1;2\n3;4\n".to_vec(), &ReadOptions::default())?;
/// let reading = &inspection.reading;
/// assert_eq!((reading.delimiter.as_deref(), reading.rows), (Some(";"), 2));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FileRecord {
    /// The name of the format.
    pub format: String,
    /// The name of the compression format, if the file is compressed.
    pub compression: Option<String>,
    /// The name of the text encoding, or `None` for binary formats.
    pub encoding: Option<String>,
    /// The delimiter. "spaces" means one or more blanks.
    pub delimiter: Option<String>,
    /// The quote character, or `None` if quotes are ordinary characters of the text.
    pub quote: Option<char>,
    /// How a quote inside a quoted cell is written: `doubled` or `backslash`.
    pub escape: Option<String>,
    /// The number of lines that contain column names.
    pub header_lines: usize,
    /// The number of lines above the column names.
    pub preamble_lines: u64,
    /// Whether the first column contains row names and is left out.
    pub row_names: bool,
    /// Whether rows end with a delimiter after the last cell.
    pub trailing_delimiter: bool,
    /// The number of rows.
    pub rows: u64,
    /// The number of columns.
    pub columns: usize,
    /// The number of rows that have more or fewer cells than the others.
    pub ragged_rows: usize,
    /// The number of rows in which a misplaced quote was read as a character.
    pub repaired_rows: usize,
    /// The number of blank lines, comments and repeated headers between the rows.
    pub skipped_lines: usize,
    /// The first and the last line of the footnotes, if there are any.
    pub footnotes: Option<(u64, u64)>,
}

impl FileRecord {
    /// Creates the record of a file in a binary format.
    pub(crate) fn of_format(format: &str, rows: u64, columns: usize) -> FileRecord {
        FileRecord {
            format: format.to_owned(),
            compression: None,
            encoding: None,
            delimiter: None,
            quote: None,
            escape: None,
            header_lines: 0,
            preamble_lines: 0,
            row_names: false,
            trailing_delimiter: false,
            rows,
            columns,
            ragged_rows: 0,
            repaired_rows: 0,
            skipped_lines: 0,
            footnotes: None,
        }
    }

    pub(crate) fn of_text(
        layout: &Layout,
        encoded: Encoded,
        tally: &Tally,
        columns: usize,
    ) -> FileRecord {
        let dialect = layout.dialect;
        let delimiter = match dialect.delimiter {
            Delimiter::Byte(byte) => char::from(byte).to_string(),
            Delimiter::Blanks => "spaces".to_owned(),
        };
        let escape = if dialect.backslash { "backslash" } else { "doubled" };
        FileRecord {
            encoding: Some(encoded.encoding.name().to_owned()),
            delimiter: Some(delimiter),
            quote: dialect.quote.map(char::from),
            escape: dialect.quote.map(|_| escape.to_owned()),
            header_lines: layout.header,
            preamble_lines: layout.preamble,
            row_names: layout.row_names,
            trailing_delimiter: layout.trailing,
            ragged_rows: tally.longer.count + tally.shorter.count,
            repaired_rows: tally.repaired.count,
            skipped_lines: tally.blank.count + tally.comments.count + tally.headers.count,
            footnotes: tally.footer,
            ..FileRecord::of_format("csv", tally.rows, columns)
        }
    }
}
