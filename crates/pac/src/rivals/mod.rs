//! What the Perspectrons are measured against, and what these learners share.

mod ball;
mod ckmy;
mod cutting_plane;
mod ddk;
mod decision_list;
mod dgt;
mod heuristics;
mod holdout;
mod leaky_relu;
mod logistic;
mod problem;
mod solver;
mod svm;

pub use ckmy::{Ckmy, CkmyFit, CkmyParams, CkmyStatus, ckmy_error, ckmy_step_size, ckmy_steps};
pub use cutting_plane::{
    CutStatus, CuttingPlane, CuttingPlaneFit, CuttingPlaneParams, cutting_plane_batch,
    cutting_plane_rounds, feasible_radius,
};
pub use ddk::{Ddk, DdkFit, DdkParams, DdkStatus, ddk_excess, ddk_step_size, ddk_steps};
pub use decision_list::{DecisionListOfHalfspaces, ThresholdRule};
pub use dgt::{
    DGT_ATTEMPTS, Dgt, DgtFit, DgtParams, DgtRound, DgtStatus, dgt_rounds, dgt_step_size,
    dgt_steps, dgt_training_error,
};
pub use heuristics::{
    GlmHeuristic, Heuristic, HeuristicError, HeuristicParams, HeuristicRun, HeuristicStatus,
    heuristic_step, heuristic_steps,
};
pub use leaky_relu::LeakyRelu;
pub use logistic::{LogisticFit, LogisticParams, LogisticRegression, MAX_CHOLESKY};
pub use problem::BASELINE_MAX_STEPS;
pub use solver::SolverStatus;
pub use svm::{LinearSvm, SvmFit, SvmParams};
