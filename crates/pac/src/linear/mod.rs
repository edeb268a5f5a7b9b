//! Linear models that minimise a convex surrogate of the error: logistic regression and the support vector machine.

mod hinge_loss;
mod logistic;
mod logistic_loss;
mod regularised_loss;
mod svm;
mod svm_interior;
mod svm_lanes;

pub use logistic::{LogisticFit, LogisticParams, LogisticRegression};
pub use svm::{LinearSvm, SvmFit, SvmParams};
pub use svm_lanes::{SvmLane, SvmLanes};
