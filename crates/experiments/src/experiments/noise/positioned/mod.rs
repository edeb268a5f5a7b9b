//! PM: Massart noise without a margin, by position and a decision list of positioned rules, beside learners that
//! need a margin.

mod claims;
mod learners;
mod plots;
mod workload;

pub(crate) use claims::PositionedExperiment;
