//! P13, P13s: distributions on a few points that are hard for the Perspectron and its rivals, constructed by hand or
//! found by search.

mod claims;
mod learners;
mod models;
mod plots;
mod search;
mod told;
mod workload;

pub(crate) use claims::HardExperiment;
