//! Feature maps: standardised columns, columns replaced by ranks, and Nyström features of kernels.

#![doc = include_str!("../README.md")]
#![cfg_attr(test, allow(clippy::float_cmp, reason = "tests compare exact values on purpose"))]

mod feature_map;
mod kernel_values;
mod landmarks;
mod nystroem;
mod pivoted_cholesky;
mod products;
mod radial_kernel;
mod ranks;
mod single_kernel;
mod single_nystroem;
mod streams;
#[cfg(test)]
mod tests;
mod zscore;

pub use feature_map::{FeatureMap, Transformed};
pub use kernel_values::KernelValues;
pub use landmarks::choose_landmarks;
pub use nystroem::Nystroem;
pub use radial_kernel::{Distance, RadialKernel};
pub use ranks::Ranks;
pub use single_nystroem::SingleNystroem;
pub use zscore::ZScore;
