//! P13, P13s: distributions on a few points that are hard for the Perspectron and its rivals, built and
//! searched.

mod claims;
mod learners;
mod models;
mod plots;
mod search;
mod told;
mod workload;

pub(crate) use claims::HardExperiment;
