//! P12, P12p: random projection keeps margins, and the Perspectron on projected points reaches η + ε even if the
//! original dimension is far above the projected one.

mod claims;
mod learners;
mod plots;
mod workload;

pub(crate) use claims::ProjectionExperiment;
