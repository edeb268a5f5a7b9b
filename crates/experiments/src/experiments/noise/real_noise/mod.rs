//! PR: real data with injected Massart noise. How often the model-free error bound of the
//! Perspectron for samples fails, and how well its rivals and it do on clean labels.

mod claims;
mod learners;
mod plots;
mod workload;

pub(crate) use claims::RealNoiseExperiment;
