//! Where columns come from.

use crate::options::ReadOptions;

/// The file that columns come from.
pub(crate) struct Context<'a> {
    pub(crate) source: &'a str,
    /// "t.csv, line 7", by row.
    pub(crate) place: &'a dyn Fn(usize) -> String,
    pub(crate) options: &'a ReadOptions,
    /// The character between the cells of delimited text.
    pub(crate) delimiter: Option<u8>,
}
