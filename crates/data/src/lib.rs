//! Synthetic and real data for learning halfspaces.
//!
//! - Where points come from: a [`Marginal`] ([`UnitSphere`], [`Gaussian`], [`StudentT`],
//!   [`MarginBall`], [`Clusters`]; harder ones with a margin: [`MarginShell`],
//!   [`IllConditionedBall`], [`SpikedBall`]; [`FiniteSupport`]), or a [`Builtin`] real data set.
//!   Files are read by `halfspaces-frame`.
//! - Where labels come from: the data set's own, or a target halfspace ([`random_target`],
//!   [`centroid_target`], or any given one) through [`Realizable`], which also says how large the
//!   margin is. Theorems that need separability run on real points *relabelled* this way.
//! - Who flips labels: a [`NoiseModel`] ([`Rcn`], [`Massart`] in a [`Region`],
//!   [`AdversarialLabels`], [`GlmNoise`] of a [`Link`]), in an [`Instance`] (marginal, target, noise)
//!   that streams examples, or on points at hand ([`flip_probabilities`], [`flip_labels`]). A
//!   [`Population`] judges classifiers with the expectation over labels exact. [`massart_trap`] is
//!   where convex losses fail.
//!
//! Randomness is explicit: `sample(n, seed)` for a seed, `sample_with_rng` for a generator of yours.
//!
//! ```
//! use halfspaces_data::{Builtin, Marginal, Realizable, UnitSphere, random_target};
//! use halfspaces_features::{FeatureMap, ZScore};
//! use halfspaces_linalg::PointSet;
//!
//! // Synthetic: 1000 points on the sphere in R^10, those within 0.05 of the boundary dropped.
//! let target = random_target(10, 7)?;
//! let sphere = UnitSphere::new(10)?.sample(1000, 8)?;
//! let easy = Realizable::with_margin(sphere, target, 0.05)?;
//! assert!(easy.margin() >= 0.05 && easy.dropped() > 0);
//!
//! // Real points, labels of a stated halfspace.
//! let points = Builtin::Wdbc.load()?.into_parts().0;
//! let points = ZScore::fit(&points)?.apply(&points)?.lifted().normalised()?;
//! let real = Realizable::new(points, random_target(31, 9)?)?;
//! assert_eq!(real.labels().len(), 569);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![cfg_attr(test, allow(clippy::float_cmp, reason = "tests compare exact values on purpose"))]

mod dataset;
mod distributions;
mod labelled;
mod noise;
mod real;
mod write;

/// The generator types of this crate's signatures.
pub use halfspaces_linalg::rand;

pub use dataset::Dataset;
pub use distributions::finite::FiniteSupport;
pub use distributions::heavy::{Excess, HeavyCase, HeavyKind, Planted};
pub use distributions::margin_marginals::{IllConditionedBall, MarginShell, SpikedBall};
pub use distributions::marginal::{Clusters, Gaussian, MarginBall, Marginal, StudentT, UnitSphere};
pub use distributions::realizable::Realizable;
pub use distributions::rotation::Rotation;
pub use distributions::target::{centroid_target, random_target, random_target_with_rng};
pub use distributions::tight::{
    margin_perceptron_tight, modified_perceptron_tight, perceptron_tight,
};
pub use labelled::LabelledPoints;
pub use noise::flips::{flip_labels, flip_probabilities};
pub use noise::instance::{Instance, InstanceStream};
pub use noise::link::{
    LINK_PROBE_STEPS, LINK_PROBES_NEAR_ZERO, LINK_TOLERANCE, Link, LinkError, StandardLink,
    check_link,
};
pub use noise::model::{AdversarialLabels, GlmNoise, Massart, NoiseModel, Rcn, Region};
pub use noise::population::{Population, PopulationMean};
pub use noise::trap::massart_trap;
pub use real::builtin::Builtin;
pub use write::{WriteError, write_csv, write_libsvm};
