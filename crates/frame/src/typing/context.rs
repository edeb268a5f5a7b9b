//! The origin of columns.

use crate::options::ReadOptions;

/// The file that contains the columns.
pub(crate) struct Context<'a> {
    pub(crate) source: &'a str,
    /// The place of a row, such as "t.csv, line 7".
    pub(crate) place: &'a dyn Fn(usize) -> String,
    pub(crate) options: &'a ReadOptions,
    /// The delimiter of delimited text.
    pub(crate) delimiter: Option<u8>,
}
