//! What can be wrong with a file of examples, and where.

use super::file_kind::FileKind;
use super::number_fault::NumberFault;
use halfspaces_linalg::InputError;
use std::fmt;
use std::io;
use thiserror::Error;

/// A place in an input.
///
/// ```
/// use halfspaces_data::read::Location;
/// let at = Location { source: "wdbc.csv".into(), line: 17, column: Some(4) };
/// assert_eq!(at.to_string(), "wdbc.csv, line 17, column 4");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// Path of the file, or the name the caller gave to the reader.
    pub source: String,
    /// Line, from 1; of a quoted record that spans lines, the first.
    pub line: u64,
    /// Field within the line, from 1; `None` if the line as a whole is meant.
    pub column: Option<usize>,
}

impl Location {
    pub(super) fn new(source: &str, line: u64, column: Option<usize>) -> Location {
        Location { source: source.to_owned(), line, column }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, line {}", Printable(&self.source), self.line)?;
        match self.column {
            Some(column) => write!(f, ", column {column}"),
            None => Ok(()),
        }
    }
}

/// Why an input could not be read. The message is one line, names the place and says what to do.
///
/// ```
/// use halfspaces_data::read::{CsvOptions, ReadError, read_csv_from};
/// let fault = read_csv_from(&b"1,2,+1\n3,,-1\n"[..], "tiny", &CsvOptions::new()).unwrap_err();
/// assert!(matches!(&fault, ReadError::MissingValue { at } if at.line == 2));
/// assert!(fault.to_string().starts_with("tiny, line 2, column 2: the value is missing; "));
/// ```
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The operating system refused.
    #[error("{}: {source}; check that it exists and can be read", Printable(name))]
    Io {
        /// Path of the file, or the name the caller gave to the reader.
        name: String,
        /// What the system said.
        source: io::Error,
    },
    /// The input is no text, or not in an encoding that is read.
    #[error("{}: {kind}", Printable(name))]
    NotText {
        /// Path of the file, or the name the caller gave to the reader.
        name: String,
        /// What it is.
        kind: FileKind,
    },
    /// A line, or a record with its quoted line ends, is longer than allowed. Where the next one begins
    /// is then not known, so a stream ends after this fault.
    #[error(
        "{at}: longer than {limit} bytes; check that it is a text file with line ends, or allow longer \
         lines with max_line in the options"
    )]
    LineTooLong {
        /// The line.
        at: Location,
        /// The longest allowed, in bytes.
        limit: usize,
    },
    /// A quoted field is still open when its record is as long as allowed. A stream ends after this fault.
    #[error(
        "{at}: the quoted field that begins here makes the record longer than {limit} bytes; add the \
         closing quote, or allow longer records with max_line in the options"
    )]
    QuotedFieldTooLong {
        /// Where the quote opens.
        at: Location,
        /// The longest record allowed, in bytes.
        limit: usize,
    },
    /// A NUL byte stands in a line.
    #[error(
        "{at}: a NUL byte; the file is not plain text or is damaged, so write it again as UTF-8"
    )]
    NulByte {
        /// The line.
        at: Location,
    },
    /// A byte-order mark stands elsewhere than once at the start of the file.
    #[error("{at}: a second byte-order mark, as joining files leaves; remove it")]
    ByteOrderMark {
        /// The line that begins with it.
        at: Location,
    },
    /// The first line has more fields than a table may have columns.
    #[error(
        "{at}: {found} fields, more than {limit}; check the delimiter, or write so wide a table as \
         LIBSVM text"
    )]
    TooManyColumns {
        /// Where.
        at: Location,
        /// Fields of the line.
        found: usize,
        /// The largest number allowed.
        limit: usize,
    },
    /// A numeric field holds something else.
    #[error("{at}: {found:?} is not a number; {cause}")]
    NotANumber {
        /// Where.
        at: Location,
        /// What stands there (its beginning, if long).
        found: String,
        /// Why it is none, as far as that can be told.
        cause: NumberFault,
    },
    /// The first line is read as data, has text in a column, and all values below it are numbers.
    #[error(
        "{at}: {found:?} stands above a column of numbers; if this line names the columns, read with \
         Header::Present; otherwise write a number, or declare the column categorical"
    )]
    HeaderAsData {
        /// Where.
        at: Location,
        /// What stands there (its beginning, if long).
        found: String,
    },
    /// A number is NaN, infinite, or too large for `f64`.
    #[error("{at}: {found:?} is not finite; drop the row or fill in a finite number")]
    NonFinite {
        /// Where.
        at: Location,
        /// What stands there (its beginning, if long).
        found: String,
    },
    /// A field is empty or `?`, or `NA` where a number is needed.
    #[error(
        "{at}: the value is missing; drop the row or fill the value in \
         (a categorical column may also be read with Missing::Category)"
    )]
    MissingValue {
        /// Where.
        at: Location,
    },
    /// A record has more or fewer fields than the first.
    #[error(
        "{at}: expected {expected} fields, found {found}; \
         check the delimiter, and quote fields that contain it"
    )]
    Ragged {
        /// Where.
        at: Location,
        /// Fields of the first record.
        expected: usize,
        /// Fields of this one.
        found: usize,
    },
    /// A category that the scan did not see.
    #[error("{at}: {found:?} is a category the schema does not know; scan a file that contains it")]
    UnknownCategory {
        /// Where.
        at: Location,
        /// What stands there (its beginning, if long).
        found: String,
    },
    /// A categorical column or the label column has more different values than allowed.
    #[error(
        "{at}: more than {limit} different values, among them {found:?}; declare the column \
         numeric, choose another label column, or raise CsvOptions::max_categories"
    )]
    TooManyCategories {
        /// Where the first value too many stands.
        at: Location,
        /// The limit.
        limit: usize,
        /// A value that is not a number if there is one, else the first value too many.
        found: String,
    },
    /// A label that the schema does not know.
    #[error(
        "{at}: unknown label {found:?}, known are {}; fix it, or name the positive class \
         and scan a file that contains every label",
        list(classes)
    )]
    UnknownLabel {
        /// Where.
        at: Location,
        /// What stands there (its beginning, if long).
        found: String,
        /// The labels that are known.
        classes: Vec<String>,
    },
    /// The classes do not say which of them is positive: words, or more than two numbers.
    #[error("{at}: the labels are {}; name the positive class in the options", list(classes))]
    UnclearPositive {
        /// Where the last class to appear appears first.
        at: Location,
        /// The classes found.
        classes: Vec<String>,
    },
    /// There are several classes, and the one named positive is not among them.
    #[error(
        "{at}: the labels are {}, without the positive class {positive:?}; name one of them",
        list(classes)
    )]
    AbsentPositive {
        /// Where the last class to appear appears first.
        at: Location,
        /// The class the options name.
        positive: String,
        /// The classes found.
        classes: Vec<String>,
    },
    /// The options speak of a column that is not there.
    #[error(
        "{at}: there is no column {wanted} among {fields}; give an index from 0, or a name of the header \
         (with Header::Present)"
    )]
    ColumnNotFound {
        /// The first record.
        at: Location,
        /// Index or name of the column.
        wanted: String,
        /// Number of fields of the first record.
        fields: usize,
    },
    /// A column has no name.
    #[error("{at}: the column has no name; name it, or read with Header::Absent")]
    MissingName {
        /// Where.
        at: Location,
    },
    /// Two columns have the same name.
    #[error("{at}: the name {name:?} is taken by column {first}; rename one of the two")]
    DuplicateName {
        /// Where the name stands the second time.
        at: Location,
        /// The name.
        name: String,
        /// The column, from 1, that has the name already.
        first: usize,
    },
    /// A name is not UTF-8.
    #[error("{at}: the name is not UTF-8; save the file as UTF-8")]
    NameNotUtf8 {
        /// Where.
        at: Location,
    },
    /// The header is not that of the file the schema came from.
    #[error(
        "{at}: expected the column {expected:?}, found {found:?}; \
         order the columns as in the file that was scanned"
    )]
    OtherName {
        /// Where.
        at: Location,
        /// Name in the schema.
        expected: String,
        /// Name found (its beginning, if long).
        found: String,
    },
    /// A carriage return stands within a line.
    #[error(
        "{at}: a carriage return within the line; end lines with LF or CRLF, or quote the field"
    )]
    BareCarriageReturn {
        /// The line, as LF and CRLF divide the file.
        at: Location,
    },
    /// A quoted field never ends.
    #[error("{at}: the quote is never closed; add the closing quote, or double a literal one")]
    UnclosedQuote {
        /// Where the quote opens.
        at: Location,
    },
    /// Text follows a closing quote.
    #[error("{at}: text after the closing quote; write a quote inside a quoted field twice")]
    TextAfterQuote {
        /// Where.
        at: Location,
    },
    /// A LIBSVM field is not of the form `index:value`.
    #[error("{at}: {found:?} is not an index:value pair; write it as 3:0.5")]
    MalformedPair {
        /// Where.
        at: Location,
        /// What stands there (its beginning, if long).
        found: String,
    },
    /// A LIBSVM index is 0.
    #[error("{at}: index 0; indices start at 1, so add 1 to every index of the file")]
    IndexZero {
        /// Where.
        at: Location,
    },
    /// A LIBSVM index does not come after the one before it.
    #[error("{at}: index {index} after {previous}; sort the pairs of a line and drop duplicates")]
    UnsortedIndex {
        /// Where.
        at: Location,
        /// The index.
        index: u64,
        /// The index before it.
        previous: u64,
    },
    /// A LIBSVM index is beyond the dimension that was declared or found by a scan.
    #[error(
        "{at}: index {index} is beyond dimension {dim}; declare a larger one with LibsvmOptions::dim"
    )]
    IndexBeyondDimension {
        /// Where.
        at: Location,
        /// The index, from 1.
        index: u64,
        /// The dimension.
        dim: usize,
    },
    /// A LIBSVM index is larger than any that can be read.
    #[error(
        "{at}: index {found} is larger than 2147483648, the largest there can be; number the features \
         anew, from 1 without gaps"
    )]
    IndexTooLarge {
        /// Where.
        at: Location,
        /// The index (its beginning, if long).
        found: String,
    },
    /// There is no example.
    #[error("{}: no rows of data; give at least one example", Printable(name))]
    NoRows {
        /// Path of the file, or the name the caller gave to the reader.
        name: String,
    },
    /// Examples have labels but no features.
    #[error(
        "{}: no features beside the labels; check the delimiter, or declare a dimension",
        Printable(name)
    )]
    NoFeatures {
        /// Path of the file, or the name the caller gave to the reader.
        name: String,
    },
    /// Every CSV record is one field, and another delimiter would cut the first in more.
    #[error(
        "{at}: one field only, the labels; it holds {:?}, which CsvOptions::delimiter may have to name",
        char::from(*delimiter)
    )]
    OtherDelimiter {
        /// The first line.
        at: Location,
        /// The byte that may be the delimiter.
        delimiter: u8,
    },
    /// The delimiter cannot separate fields.
    #[error("the delimiter {:?} is a quote or a line end; choose another", char::from(*delimiter))]
    BadDelimiter {
        /// The delimiter of the options.
        delimiter: u8,
    },
    /// A schema that was saved is not one that a scan finds.
    #[error("the schema is inconsistent: {what}; scan the file again")]
    BadSchema {
        /// What must hold and does not.
        what: &'static str,
    },
    /// The dimension that is declared, or that the categories add up to, is missing, zero, or too large.
    #[error("the dimension is {dim}; it must be declared, from 1 to 2147483648")]
    BadDimension {
        /// The dimension, 0 if there is none.
        dim: usize,
    },
    /// The dense form does not fit in memory.
    #[error(
        "{}: {rows} rows of {dim} values do not fit in memory; read the sparse form",
        Printable(name)
    )]
    TooLarge {
        /// Path of the file, or the name the caller gave to the reader.
        name: String,
        /// Number of rows.
        rows: u64,
        /// Number of coordinates.
        dim: usize,
    },
    /// The parts of a data set do not fit each other.
    #[error(transparent)]
    Input(#[from] InputError),
}

/// The classes for a message: the first few, and how many more.
fn list(classes: &[String]) -> String {
    const SHOWN: usize = 8;
    let mut text: Vec<String> = classes.iter().take(SHOWN).map(|c| format!("{c:?}")).collect();
    if classes.len() > SHOWN {
        text.push(format!("and {} more", classes.len() - SHOWN));
    }
    text.join(", ")
}

/// A name on one line: control characters are escaped.
struct Printable<'a>(&'a str);

impl fmt::Display for Printable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            if c.is_control() { write!(f, "{}", c.escape_debug())? } else { write!(f, "{c}")? }
        }
        Ok(())
    }
}

/// The beginning of a field, fit for a message: short also when it is escaped there.
pub(super) fn excerpt(bytes: &[u8]) -> String {
    /// Characters, as escaped by `{:?}`.
    const MAX_SHOWN: usize = 60;
    // No character takes more than four bytes.
    let start = &bytes[..bytes.len().min(4 * MAX_SHOWN)];
    let mut text = String::new();
    let mut shown = 0;
    for chunk in start.utf8_chunks() {
        let broken = (!chunk.invalid().is_empty()).then_some(char::REPLACEMENT_CHARACTER);
        for c in chunk.valid().chars().chain(broken) {
            shown += c.escape_debug().count();
            if shown > MAX_SHOWN {
                text.push('…');
                return text;
            }
            text.push(c);
        }
    }
    if start.len() < bytes.len() {
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_one_line_and_short() {
        let classes = (0..20).map(|k| k.to_string()).collect();
        let at = Location::new("a\tb", 3, None);
        let fault = ReadError::UnclearPositive { at, classes };
        assert_eq!(
            fault.to_string(),
            "a\\tb, line 3: the labels are \"0\", \"1\", \"2\", \"3\", \"4\", \"5\", \"6\", \"7\", \
             and 12 more; name the positive class in the options"
        );
        assert_eq!(excerpt(b"ab\xff"), "ab\u{fffd}");
        assert_eq!(excerpt(&[b'x'; 60]), "x".repeat(60));
        for long in [&b"x"[..], b"\0", b"\xff", "ß".as_bytes(), b"\x1b[31m", "\u{feff}".as_bytes()]
        {
            let text = excerpt(&long.repeat(1 << 20));
            assert!(text.ends_with('…') && format!("{text:?}").chars().count() <= 63, "{text:?}");
        }
        assert!(size_of::<ReadError>() <= 128);
    }
}
