//! What the command does, one module per subcommand.

pub(crate) mod audit;
pub(crate) mod completions;
pub(crate) mod evaluate;
pub(crate) mod explain;
pub(crate) mod fit;
pub(crate) mod inspect;
mod judged;
pub(crate) mod label;
pub(crate) mod predict;
pub(crate) mod transform;
