//! PM, PMn, PMt: Massart noise without a margin, learned by a decision list of rules in radially isotropic position,
//! and compared with learners that need a margin.

mod claims;
mod learners;
mod plots;
mod workload;

pub(crate) use claims::PositionedExperiment;
