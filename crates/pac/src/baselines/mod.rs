//! Baselines: learners from the literature for comparison with the Perspectrons.

mod ckmy;
mod cutting_plane;
mod ddk;
mod decision_list;
mod descent;
mod dgt;
mod heuristics;
mod leaky_relu;
mod unit_ball;
mod validation_split;

pub use ckmy::{Ckmy, CkmyParams, ckmy_steps};
pub use cutting_plane::{
    CuttingPlane, CuttingPlaneFit, CuttingPlaneParams, cutting_plane_batch, cutting_plane_rounds,
};
pub use ddk::{Ddk, DdkParams, ddk_steps};
pub use decision_list::{DecisionListOfHalfspaces, ThresholdRule};
pub use descent::{DescentFit, DescentParams};
pub use dgt::{Dgt, DgtFit, DgtParams, DgtRound, dgt_rounds};
pub use heuristics::{GlmHeuristic, Heuristic, HeuristicParams, HeuristicRun};
pub use leaky_relu::LeakyRelu;
