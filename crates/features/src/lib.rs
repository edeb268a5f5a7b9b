//! Feature maps: points of another space, in which a halfspace says more.
//!
//! - [`ZScore`], [`Ranks`]: columns of one scale, by value or by rank.
//! - [`Nystroem`], [`RandomFourier`]: features of a [`RadialKernel`], by [`Landmarks`] or by chance;
//!   [`KernelValues`] themselves.
//! - [`Polynomial`]: products of columns.
//! - [`Linear`], [`Joined`], [`Chained`]: maps made of maps.
//!
//! Every [`FeatureMap`] takes dense and sparse points, on several threads if asked to, and every learner works on
//! features: map first, or wrap it in a [`FeatureLearner`]. A model on features is a [`Transformed`], a
//! [`Classifier`](halfspaces_linalg::Classifier) of the points as they are given.
//!
//! ```
//! use halfspaces_features::{
//!     Chained, Distance, FeatureMap, Landmarks, Nystroem, RadialKernel, Transformed, ZScore,
//! };
//! use halfspaces_linalg::{AffineHalfspace, Classifier, PointSet, Points};
//! let points = Points::from_rows(&[[1.0, 20.0], [2.0, 10.0], [4.0, 40.0], [0.0, 30.0]])?;
//! let scale = ZScore::fit(&points)?;
//! let scaled = scale.apply(&points)?;
//! let kernel = RadialKernel::gaussian(Distance::SquaredEuclidean.median(&scaled, 1)?)?;
//! let nystroem = Nystroem::new(Landmarks::Uniform.choose(&scaled, 3, 1)?, kernel)?;
//! let map = Chained::new(scale, nystroem)?;
//! assert_eq!(map.apply(&points)?.dim(), 3);
//! // Any classifier of the three features is one of the two columns.
//! let model = Transformed::new(map, AffineHalfspace::new(vec![1.0, 0.0, -1.0], 0.5)?)?;
//! assert_eq!(model.label_all(&points)?.len(), points.len());
//! # Ok::<(), halfspaces_linalg::InputError>(())
//! ```
#![cfg_attr(test, allow(clippy::float_cmp, reason = "tests compare exact values on purpose"))]

mod compose;
mod feature_map;
mod kernel_values;
mod landmarks;
mod nystroem;
mod polynomial;
mod products;
mod radial_kernel;
mod random_fourier;
mod ranks;
#[cfg(test)]
mod tests;
mod zscore;

pub use compose::{Chained, Joined, Linear};
pub use feature_map::{FeatureLearner, FeatureMap, Transformed};
pub use kernel_values::KernelValues;
pub use landmarks::Landmarks;
pub use nystroem::Nystroem;
pub use polynomial::{MAX_POLYNOMIAL_DIM, Polynomial};
pub use radial_kernel::{Distance, RadialKernel};
pub use random_fourier::RandomFourier;
pub use ranks::Ranks;
pub use zscore::ZScore;
