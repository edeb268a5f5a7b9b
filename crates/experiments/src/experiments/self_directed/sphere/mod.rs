//! S1, S2: self-directed learners on the sphere, compared with the same pool in random order.

mod claims;
mod learners;
mod plots;
mod workload;

pub(crate) use claims::SphereExperiment;
