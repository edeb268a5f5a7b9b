//! The experiments, grouped by subject. A large experiment has a folder of its own.

mod common;
mod noise;
mod online;
mod position;
mod self_directed;

pub(crate) use noise::*;
pub(crate) use online::*;
pub(crate) use position::*;
pub(crate) use self_directed::*;
