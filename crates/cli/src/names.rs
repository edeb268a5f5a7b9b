//! Names as the library shows them.

pub(crate) use halfspaces_frame::{suggestion, visible};
