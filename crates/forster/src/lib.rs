//! Radially isotropic position of point sets: the Forster transform, or the heavy subspace that prevents it.

#![doc = include_str!("../README.md")]
#![cfg_attr(test, allow(clippy::float_cmp, reason = "tests compare exact values on purpose"))]

mod anderson;
mod blocks;
mod decomposition;
mod dense;
mod descent;
mod error;
mod forster;
mod gram;
mod heavy;
mod isotropy;
mod iterate;
mod level;
mod level_passes;
mod member_pass;
mod newton;
mod params;
mod pass;
mod prepare;
mod report;
mod search;
mod subspace;
mod survey;
mod tile;
mod transform;

pub use blocks::{BlocksFit, ForsterPass, ForsterSum};
pub use decomposition::Decomposition;
pub use error::ForsterError;
pub use forster::Forster;
pub use isotropy::Isotropy;
pub use params::{Accuracy, ForsterParams, Step};
pub use report::{Fit, Level, LevelEnd, Outcome, Position, Reason};
pub use subspace::Subspace;
pub use transform::{ForsterTransform, Normalisation};
