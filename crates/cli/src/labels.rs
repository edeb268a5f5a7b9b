//! Labels as the library reads them.

pub(crate) use halfspaces_frame::{Labels, find_class};
