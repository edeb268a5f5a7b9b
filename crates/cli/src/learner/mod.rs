//! The learners that the command offers, and what they decide of points.

mod binary;
mod learned;
mod plan;
mod stream;

pub(crate) use learned::{Decisions, Learned};
pub(crate) use plan::{Findings, Method, Plan};
pub(crate) use stream::Batch;
