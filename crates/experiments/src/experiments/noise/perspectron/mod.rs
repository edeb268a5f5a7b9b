//! P2, P3, P4, P4s, P6, P6m, P8: the Perspectron under random and Massart noise.

mod claims;
mod exponents;
mod learners;
mod plots;
mod workload;

pub(crate) use claims::PerspectronExperiment;
