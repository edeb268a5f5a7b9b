//! Signs that a delimiter inside a cell splits this cell in every row.
//!
//! If every row has one more cell than the header, there are two possible reasons: the first cell is the name of the
//! row, as in files written by `write.table` of R, or an unquoted cell contains a delimiter.

use super::kinds::kind;
use super::records::Records;
use super::split::{Delimiter, Dialect};
use crate::typing::identifies_rows;

/// The maximum number of records that are examined.
const RECORDS: usize = 400;
/// A sign is accepted if at most one in this many rows lacks it.
const RARELY: usize = 10;

/// The number of rows with each sign, for two adjacent cells.
#[derive(Debug, Default, Clone, Copy)]
struct Signs {
    /// The right cell is a text that begins with a blank, as in `Boston, MA`.
    blank: usize,
    /// The left cell ends with a backslash.
    backslash: usize,
    /// A quotation mark opens in the left cell and closes in the right one.
    quote: usize,
    /// Both cells are integers, and the right one has no sign, as in `7,25`.
    integers: usize,
}

/// The signs in the rows that have one more cell than the header.
#[derive(Debug)]
pub(super) struct SplitCells {
    /// Whether some cells are certainly split, so that the first cells are not the names of the rows.
    pub(super) is_certain: bool,
    /// The first two adjacent integers that could be a number with a decimal comma.
    pub(super) decimal: Option<String>,
}

/// Looks for signs in the rows of `sample` that have `width` cells. `first` is the first name in the header.
pub(super) fn find(sample: &[u8], dialect: Dialect, width: usize, first: &[u8]) -> SplitCells {
    let mut records = Records::of_text(sample, dialect);
    let mut signs = vec![Signs::default(); width - 1];
    let mut examples: Vec<Option<String>> = vec![None; width - 1];
    let (mut rows, mut quoted) = (0, 0);
    for _ in 0..RECORDS {
        let Ok(Some(_)) = records.next() else { break };
        if records.len() != width {
            continue;
        }
        rows += 1;
        let cells = records.cells();
        quoted += usize::from(cells.is_quoted(0));
        for (at, sign) in signs.iter_mut().enumerate() {
            if cells.is_quoted(at) || cells.is_quoted(at + 1) {
                continue;
            }
            let (left, right) = (records.cell(at), records.cell(at + 1));
            sign.blank += usize::from(right.first() == Some(&b' ') && kind(right).is_wordy());
            sign.backslash += usize::from(left.last() == Some(&b'\\'));
            sign.quote += usize::from(opens(left) && closes(right));
            if are_digits(left.strip_prefix(b"-").unwrap_or(left)) && are_digits(right) {
                sign.integers += 1;
                let shown = || String::from_utf8_lossy(&[left, b",", right].concat()).into_owned();
                examples[at].get_or_insert_with(shown);
            }
        }
    }
    let in_all = |count: usize| RARELY * (rows - count) <= rows;
    let in_none = |count: usize| RARELY * count <= rows;
    let has_comma = dialect.delimiter == Delimiter::Byte(b',');
    // Only commas are common inside numbers and names. R writes the names of rows in quotes.
    let is_shifted = has_comma
        && in_none(quoted)
        && std::str::from_utf8(first).is_ok_and(|name| identifies_rows(name.trim()));
    let some_blank =
        signs.iter().any(|s| in_all(s.blank)) && signs.iter().any(|s| in_none(s.blank));
    let is_certain =
        is_shifted || some_blank || signs.iter().any(|s| in_all(s.backslash) || in_all(s.quote));
    let is_doubtful = has_comma && in_none(quoted);
    let decimal = signs.iter().zip(examples).find(|(s, _)| is_doubtful && in_all(s.integers));
    SplitCells { is_certain, decimal: decimal.and_then(|(_, example)| example) }
}

fn opens(cell: &[u8]) -> bool {
    cell.first() == Some(&b'"') && (cell.len() == 1 || cell.last() != Some(&b'"'))
}

fn closes(cell: &[u8]) -> bool {
    cell.last() == Some(&b'"') && (cell.len() == 1 || cell.first() != Some(&b'"'))
}

fn are_digits(cell: &[u8]) -> bool {
    !cell.is_empty() && cell.iter().all(u8::is_ascii_digit)
}
