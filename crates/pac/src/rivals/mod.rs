//! What the Perspectrons are measured against, and what these learners share.

mod ckmy;
mod cutting_plane;
mod ddk;
mod decision_list;
mod descent;
mod dgt;
mod heuristics;
mod leaky_relu;
mod logistic;
mod logistic_loss;
mod regularised_loss;
mod svm;
mod svm_interior;
mod unit_ball;
mod validation_split;

pub use ckmy::{Ckmy, CkmyParams, ckmy_error, ckmy_step_size, ckmy_steps};
pub use cutting_plane::{
    CuttingPlane, CuttingPlaneFit, CuttingPlaneParams, cutting_plane_batch, cutting_plane_rounds,
    feasible_radius,
};
pub use ddk::{Ddk, DdkParams, ddk_excess, ddk_step_size, ddk_steps};
pub use decision_list::{DecisionListOfHalfspaces, ThresholdRule};
pub use descent::{DESCENT_MAX_STEPS, DescentFit, DescentParams};
pub use dgt::{
    DGT_ATTEMPTS, Dgt, DgtFit, DgtParams, DgtRound, dgt_rounds, dgt_step_size, dgt_steps,
    dgt_training_error,
};
pub use heuristics::{
    GlmHeuristic, Heuristic, HeuristicParams, HeuristicRun, heuristic_step, heuristic_steps,
};
pub use leaky_relu::LeakyRelu;
pub use logistic::{LogisticFit, LogisticParams, LogisticRegression, MAX_CHOLESKY};
pub use svm::{LinearSvm, SvmFit, SvmParams};
