//! Names as messages show them.

pub(crate) use halfspaces_frame::visible;
