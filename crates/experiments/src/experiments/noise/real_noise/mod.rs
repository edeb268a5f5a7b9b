//! PR, PRe: real data with injected Massart noise: the failure rate of the Perspectron's model-free error bound, and
//! the accuracy of the Perspectron and its rivals on clean labels.

mod claims;
mod learners;
mod plots;
mod workload;

pub(crate) use claims::RealNoiseExperiment;
