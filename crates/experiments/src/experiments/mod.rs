//! The experiments, by subject; a large one is a folder.

mod common;
mod noise;
mod online;
mod position;
mod self_directed;

pub(crate) use noise::*;
pub(crate) use online::*;
pub(crate) use position::*;
pub(crate) use self_directed::*;
