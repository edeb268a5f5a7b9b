//! Real data sets.

pub(crate) mod builtin;
