//! How a CSV file is to be understood.

use super::error::ReadError;
use halfspaces_linalg::{Threads, setters};
use std::fmt;

/// The longest line that is read unless the options say otherwise: 64 MiB, a million columns of numbers in
/// full precision three times over. Memory grows with the longest line that a file has, not with this.
pub const MAX_LINE_BYTES: usize = 1 << 26;

/// Whether the first line names the columns.
///
/// ```
/// use halfspaces_data::read::{CsvOptions, CsvSchema, Header};
/// let (text, options) = (b"a,b,0\nc,d,1\n", CsvOptions::new());
/// assert!(!CsvSchema::scan(&text[..], "t", &options)?.has_header());
/// let headed = CsvSchema::scan(&text[..], "t", &options.header(Header::Present))?;
/// assert_eq!(headed.names(), ["a", "b", "0"]);
/// # Ok::<(), halfspaces_data::read::ReadError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Header {
    /// It does if an option refers to a column by name, or if no field of the first line is a number
    /// or missing while some column below it holds numbers only. So a file of categories alone is
    /// taken to have no header; say [`Header::Present`] if it has one. A header with a number or a missing
    /// name in it is refused, as [`ReadError::HeaderAsData`].
    #[default]
    Auto,
    /// It does.
    Present,
    /// It is the first row of data. Columns are then called `x1`, `x2`, ...
    Absent,
}

/// A column, by place or by name.
///
/// ```
/// use halfspaces_data::read::Column;
/// assert_eq!(Column::from(3), Column::Index(3));
/// assert_eq!(Column::from("job").to_string(), "\"job\"");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Column {
    /// The column at this place, from 0.
    Index(usize),
    /// The column with this name in the header.
    Name(String),
}

impl From<usize> for Column {
    fn from(index: usize) -> Column {
        Column::Index(index)
    }
}

impl From<&str> for Column {
    fn from(name: &str) -> Column {
        Column::Name(name.to_owned())
    }
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Column::Index(index) => write!(f, "{index}"),
            Column::Name(name) => write!(f, "{name:?}"),
        }
    }
}

/// Which column holds the labels.
///
/// ```
/// use halfspaces_data::read::{CsvOptions, LabelColumn, read_csv_from};
/// let options = CsvOptions::new().label(LabelColumn::Name("good".into()));
/// let data = read_csv_from(&b"size,good,mass\n1,0,2\n3,1,4\n"[..], "t", &options)?;
/// assert_eq!(data.columns(), ["size", "mass"]);
/// # Ok::<(), halfspaces_data::read::ReadError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum LabelColumn {
    /// The last.
    #[default]
    Last,
    /// The first.
    First,
    /// The one at this place, from 0.
    Index(usize),
    /// The one with this name in the header.
    Name(String),
}

/// Which columns hold categories, coded as one 0/1 coordinate a category.
///
/// ```
/// use halfspaces_data::read::{Categorical, CsvOptions, read_csv_from};
/// let text = b"month,heat,y\n1,0.5,0\n7,0.9,1\n";
/// let months = Categorical::Columns(vec!["month".into()]);
/// let data = read_csv_from(&text[..], "t", &CsvOptions::new().categorical(months))?;
/// assert_eq!(data.columns(), ["month=1", "month=7", "heat"]);
/// # Ok::<(), halfspaces_data::read::ReadError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Categorical {
    /// Those with a value that is not a number; [`CsvSchema::auto_categorical`](super::CsvSchema) and
    /// [`Dataset::auto_categorical`](super::Dataset) list them. Three such columns are refused or numeric,
    /// with the value a fault: one whose only text stands on the first line, above numbers (a header, most
    /// likely); one of numbers and of nothing but misspelt ones (`0x1f`, `1_000`, `1,5`); one that shows
    /// more different numbers than [`CsvOptions::max_categories`] before the text.
    #[default]
    Auto,
    /// None: every value must be a number.
    None,
    /// These (the label column among them is ignored); all others are numeric.
    Columns(Vec<Column>),
}

/// What to do with an empty field or `?` in a categorical column. In a numeric column, or as a
/// label, it is always a fault, and so is `NA` in a numeric column.
///
/// ```
/// use halfspaces_data::read::{CsvOptions, Missing, read_csv_from};
/// let (text, options) = (b"red,1\n?,0\n", CsvOptions::new());
/// assert!(read_csv_from(&text[..], "t", &options).is_err());
/// let data = read_csv_from(&text[..], "t", &options.missing(Missing::Category))?;
/// assert_eq!(data.columns(), ["x1=?", "x1=red"]);
/// # Ok::<(), halfspaces_data::read::ReadError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Missing {
    /// Refuse it.
    #[default]
    Error,
    /// Take it as a category of its own, called `?`.
    Category,
}

/// How a CSV file is to be understood. The default: separated by commas, header found out, label
/// last, larger of two numeric classes positive, columns with text categorical, nothing missing.
///
/// Blanks around fields are trimmed (not inside quotes), blank lines skipped, and LF, CRLF, a
/// missing last line end and a byte-order mark all accepted.
///
/// ```
/// use halfspaces_data::read::{Categorical, CsvOptions, Header, LabelColumn, read_csv_from};
/// let options = CsvOptions::new()
///     .delimiter(b';')
///     .header(Header::Absent)
///     .label(LabelColumn::First)
///     .positive("yes")
///     .categorical(Categorical::Columns(vec![1.into()]));
/// let data = read_csv_from(&b"yes;1;0.5\nno;2;1.5\n"[..], "tiny", &options)?;
/// assert_eq!(data.columns(), ["x2=1", "x2=2", "x3"]);
/// # Ok::<(), halfspaces_data::read::ReadError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default))]
pub struct CsvOptions {
    pub(super) header: Header,
    pub(super) label: LabelColumn,
    pub(super) positive: Option<String>,
    pub(super) delimiter: u8,
    pub(super) categorical: Categorical,
    pub(super) missing: Missing,
    pub(super) max_categories: usize,
    pub(super) max_line: usize,
    pub(super) threads: Threads,
}

impl Default for CsvOptions {
    fn default() -> CsvOptions {
        CsvOptions {
            header: Header::Auto,
            label: LabelColumn::Last,
            positive: None,
            delimiter: b',',
            categorical: Categorical::Auto,
            missing: Missing::Error,
            max_categories: 1024,
            max_line: MAX_LINE_BYTES,
            threads: Threads::ONE,
        }
    }
}

impl CsvOptions {
    /// The default options.
    #[must_use]
    pub fn new() -> CsvOptions {
        CsvOptions::default()
    }

    setters! {
        /// Whether the first line names the columns.
        header: Header,

        /// Which column holds the labels.
        label: LabelColumn,
    }

    /// The class labelled +1; every other is -1. Without a name there may be at most two classes,
    /// both numbers, and the larger is +1; a number that is the only class is +1 iff above 0.
    #[must_use]
    pub fn positive(mut self, class: impl Into<String>) -> CsvOptions {
        self.positive = Some(class.into());
        self
    }

    setters! {
        /// The byte between fields.
        delimiter: u8,

        /// Which columns hold categories.
        categorical: Categorical,

        /// What to do with a missing category.
        missing: Missing,

        /// The length in bytes that no line, and no record with its quoted line ends, may exceed; it bounds the
        /// memory for an input without line ends. Default: [`MAX_LINE_BYTES`].
        ///
        /// ```
        /// use halfspaces_data::read::{CsvOptions, ReadError, read_csv_from};
        /// let endless = std::io::repeat(b'7');
        /// let fault = read_csv_from(endless, "t", &CsvOptions::new().max_line(1000)).unwrap_err();
        /// assert!(matches!(fault, ReadError::LineTooLong { limit: 1000, .. }));
        /// ```
        max_line: usize,

        /// The largest number of different values a categorical column or the label column may have; it
        /// bounds the memory of a scan. Default: 1024.
        max_categories: usize,

        /// How many threads read a dense table of numbers; no result and no message depends on it. Rows are read side by
        /// side once no column can turn out to hold categories, and up to the first block with a quote in it;
        /// everything else, and a scan or a stream, is read by one. Default: one.
        threads: Threads,
    }

    /// Refuses a delimiter that cannot separate fields.
    pub(super) fn check(&self) -> Result<(), ReadError> {
        match self.delimiter {
            delimiter @ (b'"' | b'\r' | b'\n') => Err(ReadError::BadDelimiter { delimiter }),
            _ => Ok(()),
        }
    }

    /// Whether an option refers to a column by name.
    pub(super) fn names_a_column(&self) -> bool {
        let named = |column: &Column| matches!(column, Column::Name(_));
        matches!(self.label, LabelColumn::Name(_))
            || matches!(&self.categorical, Categorical::Columns(columns) if columns.iter().any(named))
    }
}
