//! Synthetic and real data for learning halfspaces.

#![doc = include_str!("../README.md")]
#![cfg_attr(test, allow(clippy::float_cmp, reason = "tests compare exact values on purpose"))]

mod dataset;
mod distributions;
mod labelled;
mod noise;
mod real;
mod streams;
mod write;

/// The `rand` crate, whose generators appear in signatures of this crate.
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
pub use noise::misspecified::Misspecified;
pub use noise::model::{GlmNoise, Massart, NoiseModel, Rcn, Region};
pub use noise::population::{Population, PopulationMean};
pub use noise::trap::massart_trap;
pub use real::builtin::Builtin;
pub use write::{WriteError, write_csv, write_libsvm};
