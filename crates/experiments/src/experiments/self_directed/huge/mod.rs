//! S11: Algorithm 1 of DKTZ23 on pools of up to 10^80 points, simulated from its exact distribution. S15: the greedy
//! learner on the whole pool, simulated in the same way.

mod claims;
mod greedy;
mod greedy_claims;
mod play;
mod plots;
mod wedge;
mod workload;

pub(crate) use claims::HugePoolsExperiment;
pub(crate) use greedy_claims::GreedyInLawExperiment;
