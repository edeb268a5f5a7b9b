//! The experiments, grouped by subject. A large experiment has its own folder.

mod common;
mod noise;
mod online;
mod position;
mod self_directed;

pub(crate) use noise::*;
pub(crate) use online::*;
pub(crate) use position::*;
pub(crate) use self_directed::*;
