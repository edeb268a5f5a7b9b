//! Synthetic and real data for learning halfspaces.
//!
//! - Where points come from: a [`Marginal`] ([`UnitSphere`], [`Gaussian`], [`StudentT`],
//!   [`MarginBall`], [`Clusters`]; harder ones with a margin: [`MarginShell`],
//!   [`IllConditionedBall`], [`SpikedBall`]; [`FiniteSupport`]), a [`Builtin`] real data set, or a
//!   file ([`read`]).
//! - Where labels come from: the file's own, or a target halfspace ([`random_target`],
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
//! use halfspaces_data::{Builtin, Marginal, Realizable, UnitSphere, ZScore, random_target};
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

mod builtin;
mod finite;
mod flips;
mod hard;
mod heavy;
mod instance;
mod labelled;
mod link;
mod margin_marginals;
mod marginal;
mod noise;
mod population;
pub mod read;
mod realizable;
mod rotation;
mod target;
mod zscore;

pub use builtin::Builtin;
pub use finite::FiniteSupport;
pub use flips::{flip_labels, flip_probabilities};
pub use hard::{massart_trap, perceptron_tight};
pub use heavy::{Excess, HeavyCase, HeavyKind, Planted};
pub use instance::{Instance, InstanceStream};
pub use labelled::LabelledPoints;
pub use link::{
    LINK_PROBE_STEPS, LINK_PROBES_NEAR_ZERO, LINK_TOLERANCE, Link, LinkError, StandardLink,
    check_link,
};
pub use margin_marginals::{IllConditionedBall, MarginShell, SpikedBall};
pub use marginal::{Clusters, Gaussian, MarginBall, Marginal, StudentT, UnitSphere};
pub use noise::{AdversarialLabels, GlmNoise, Massart, NoiseModel, Rcn, Region};
pub use population::{Population, PopulationMean};
pub use realizable::Realizable;
pub use rotation::Rotation;
pub use target::{centroid_target, random_target, random_target_with_rng};
pub use zscore::ZScore;
