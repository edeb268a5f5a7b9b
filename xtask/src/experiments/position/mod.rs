//! Radially isotropic position.

mod forster;

pub(crate) use forster::ForsterExperiment;
