//! Linear models that minimise a convex surrogate of the error: logistic regression and the support vector machine.

mod hinge_loss;
mod logistic;
mod logistic_blocks;
mod logistic_loss;
mod regularised_loss;
mod svm;
mod svm_interior;

pub use logistic::{LogisticFit, LogisticParams, LogisticRegression};
pub use logistic_blocks::{LogisticPass, LogisticSum};
pub use svm::{LinearSvm, SvmFit, SvmParams};
