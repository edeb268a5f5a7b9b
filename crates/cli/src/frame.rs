//! The table of the library.

pub(crate) use halfspaces_frame::{Column, Frame, Values};
