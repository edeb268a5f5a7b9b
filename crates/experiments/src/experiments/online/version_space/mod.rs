//! K8: the mistakes of version-space learners, compared with their ln(1/γ) bounds, on decision lists, on real data
//! relabelled by a halfspace, and on a family where the perceptron makes about 1/γ² mistakes.

mod claims;
mod learners;
mod plots;
mod workload;

pub(crate) use claims::VersionSpaceExperiment;
