//! P12, P12p: random projection preserves margins, and the Perspectron on projected points reaches error η + ε even if
//! the original dimension is far above the projected one.

mod claims;
mod learners;
mod plots;
mod workload;

pub(crate) use claims::ProjectionExperiment;
