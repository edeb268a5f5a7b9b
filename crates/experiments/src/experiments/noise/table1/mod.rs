//! P10: CKST24's Table 1 as measured. Samples each learner needs until its error is at most η + ε, on the
//! same examples for all, against the number that its theorem asks for.

mod claims;
mod learners;
mod plots;
mod sample_bounds;
mod workload;

pub(crate) use claims::Table1Experiment;
