//! S11: Algorithm 1 of DKTZ23 on pools of up to 10^80 points, sampled exactly in law.

mod claims;
mod play;
mod plots;
mod wedge;
mod workload;

pub(crate) use claims::HugePoolsExperiment;
