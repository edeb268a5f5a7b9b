//! Real data and its preparation.

pub(crate) mod builtin;
