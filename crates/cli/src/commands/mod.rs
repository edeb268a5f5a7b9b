//! The subcommands, one module each.

pub(crate) mod audit;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod correct;
pub(crate) mod evaluate;
mod evaluation_data;
pub(crate) mod explain;
pub(crate) mod export;
pub(crate) mod fit;
pub(crate) mod inspect;
pub(crate) mod label;
mod named_rows;
pub(crate) mod predict;
pub(crate) mod transform;
