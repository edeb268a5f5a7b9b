//! PR, PRe: real data with injected Massart noise. The experiment measures how often the Perspectron's model-free error
//! bound fails, and the accuracy of the Perspectron and its rivals on clean labels.

mod claims;
mod learners;
mod plots;
mod workload;

pub(crate) use claims::RealNoiseExperiment;
