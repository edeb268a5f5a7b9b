//! S12, S12p, S12l, K9: what the best learner of all can promise on small pools, and what the learners here do beside it.

mod claims;
mod learners;
mod plots;
mod workload;

pub(crate) use claims::OptimumExperiment;
