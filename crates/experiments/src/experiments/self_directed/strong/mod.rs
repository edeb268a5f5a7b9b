//! S8, S9: the weak learner on points in radially isotropic position, and the strong learner that boosts it, on pools
//! of many kinds.

mod claims;
mod learners;
mod plan;
mod plots;
mod runs;
mod searched;
mod workload;

pub(crate) use claims::StrongExperiment;
pub(super) use learners::strong;
pub(super) use workload::{Kind, draw};
