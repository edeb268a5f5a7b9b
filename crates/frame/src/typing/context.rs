//! The origin of the columns whose types are determined.

use crate::options::ReadOptions;

/// The file that contains the columns, and the options with which it is read.
pub(crate) struct Context<'a> {
    pub(crate) source: &'a str,
    /// Describes the origin of a row, such as "t.csv, line 7".
    pub(crate) place: &'a dyn Fn(usize) -> String,
    pub(crate) options: &'a ReadOptions,
    /// The delimiter, if the file is delimited text.
    pub(crate) delimiter: Option<u8>,
}
