//! P12: random projection keeps margins, and the Perspectron behind it reaches η + ε in dimensions
//! far above those it works in.

mod claims;
mod learners;
mod plots;
mod workload;

pub(crate) use claims::ProjectionExperiment;
