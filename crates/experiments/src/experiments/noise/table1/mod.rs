//! P10, P10o: measurements for Table 1 of CKST24. The number of examples that each learner needs until its error is at
//! most η + ε is compared with the number in its theorem. All learners get the same samples.

mod claims;
mod learners;
mod plots;
mod sample_bounds;
mod workload;

pub(crate) use claims::Table1Experiment;
