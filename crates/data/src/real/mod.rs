//! Real data and its preparation.

pub(crate) mod builtin;
pub(crate) mod zscore;
