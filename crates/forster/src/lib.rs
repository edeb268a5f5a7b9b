//! Radially isotropic position of point sets.
#![cfg_attr(test, allow(clippy::float_cmp, reason = "tests compare exact values on purpose"))]

mod decomposition;
mod dense;
mod error;
mod forster;
mod heavy;
mod isotropy;
mod newton;
mod pass;
mod prepare;
mod report;
mod subspace;
mod transform;

pub use decomposition::Decomposition;
pub use error::ForsterError;
pub use forster::{Accuracy, Forster, ForsterParams, Step};
pub use isotropy::Isotropy;
pub use report::{Fit, Level, LevelEnd, Outcome, Position, Reason};
pub use subspace::Subspace;
pub use transform::{ForsterTransform, Normalisation};
