//! P10, P10o: CKST24's Table 1 as measured: the examples that each learner needs until its error is at most η + ε, on
//! the same samples for all, compared with the number of its theorem.

mod claims;
mod learners;
mod plots;
mod sample_bounds;
mod workload;

pub(crate) use claims::Table1Experiment;
