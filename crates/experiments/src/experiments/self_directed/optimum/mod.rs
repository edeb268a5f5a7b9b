//! S12, S12p, S12l, K9: the mistakes that the best possible learner can guarantee on small pools, compared with the
//! learners of the library.

mod claims;
mod learners;
mod plots;
mod workload;

pub(crate) use claims::OptimumExperiment;
