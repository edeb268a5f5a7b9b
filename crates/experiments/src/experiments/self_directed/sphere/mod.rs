//! S1, S2: self-directed learners on the sphere, compared with learners on the same pools in random order.

mod claims;
mod learners;
mod plots;
mod workload;

pub(crate) use claims::SphereExperiment;
