//! Learners that choose the order of the points.

mod best_random;
mod huge;
mod margins;
mod optimum;
mod paired;
mod process;
mod random_order;
mod real_pools;
mod sphere;
mod start;
mod strong;
mod strong_cost;

pub(crate) use best_random::BestRandomExperiment;
pub(crate) use huge::{GreedyInLawExperiment, HugePoolsExperiment};
pub(crate) use margins::MarginsExperiment;
pub(crate) use optimum::OptimumExperiment;
pub(crate) use paired::PairedGrowthExperiment;
pub(crate) use process::ProcessExperiment;
pub(crate) use random_order::RandomOrderExperiment;
pub(crate) use real_pools::RealPoolsExperiment;
pub(crate) use sphere::SphereExperiment;
pub(crate) use start::StartExperiment;
pub(crate) use strong::StrongExperiment;
pub(crate) use strong_cost::StrongCostExperiment;
