//! Points, labels, halfspaces and margins: the types shared by the `halfspaces` crates.

#![doc = include_str!("../README.md")]
#![cfg_attr(test, allow(clippy::float_cmp, reason = "tests compare exact values on purpose"))]

mod affine;
mod angle;
mod boolean;
mod contract;
mod declare;
mod ellipsoid;
mod error;
mod example_stream;
mod exp;
mod halfspace;
#[doc(hidden)]
pub mod kernels;
mod label;
mod largest_margins;
mod margin_scan;
mod margins;
mod placed_row;
mod points;
mod row;
mod sparse;
pub mod tolerance;
mod zeros;

/// The `rand` crate, whose generators appear in signatures of this crate.
pub use rand;

pub use affine::AffineHalfspace;
pub use angle::{angle, norm, normalise};
pub use boolean::{
    BooleanConcept, BooleanPoint, Conjunction, DecisionList, Disjunction, Literal, MAX_VARIABLES,
};
#[doc(hidden)]
pub use contract::rng_for_round;
pub use contract::{
    BLOCK_ROWS, ClassModel, Classifier, FitError, FitSample, FitStream, MergeError, Monitor,
    Params, Partial, RngStream, Steps, Sum, Termination, Threads, checkpoint, checkpoint_at,
    deciding_class, rng_for,
};
pub use ellipsoid::Ellipsoid;
pub use error::InputError;
pub use example_stream::ExampleStream;
#[doc(hidden)]
pub use example_stream::RowsAhead;
#[doc(hidden)]
pub use exp::{exp_neg, exp_neg_single};
pub use halfspace::Halfspace;
pub use label::{InvalidLabel, Label};
pub use largest_margins::largest_margins;
pub use margin_scan::{LargestMargins, MarginScan};
pub use margins::{DescendingMargins, margins, margins_into};
pub use placed_row::{LiftedRow, ScaledRow};
pub use points::{DensePoints, PointSet, Points};
pub use row::{DenseRow, RowView, SparseRow};
pub use sparse::{CsrPoints, MAX_SPARSE_DIM, SparsePoints};
#[doc(hidden)]
pub use zeros::{aligned_with_capacity, aligned_zeros, reserve, zeros};
