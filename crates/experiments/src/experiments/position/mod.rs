//! Radially isotropic position.

mod forster;
mod steps;

pub(crate) use forster::ForsterExperiment;
pub(crate) use steps::StepsExperiment;
