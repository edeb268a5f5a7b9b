//! The vocabulary shared by the `halfspaces` crates: points (dense and sparse), labels, halfspaces,
//! margins, and the orders in which points are visited.
//!
//! Conventions, used by every crate of the workspace:
//!
//! - `sign(t) = +1` iff `t >= 0`, so the zero vector predicts `+1` everywhere ([`Label::from_sign`]).
//! - Points are rows. All numbers are `f64` and finite: [`Points`], [`SparsePoints`] and
//!   [`DenseRow`] can only be made from finite values, so no learner has to check again.
//! - Dense and sparse rows compute *bit-identical* inner products ([`kernels`]), so a learner run on
//!   either form of the same data gives the same transcript.
//!
//! ```
//! use halfspaces_linalg::{Classifier, Halfspace, Label, PointSet, Points};
//!
//! let points = Points::from_rows(&[[3.0, 4.0], [-1.0, 0.0]])?.normalised()?;
//! let target = Halfspace::new(vec![1.0, 0.0])?;
//! let labels = target.label_all(&points)?;
//! assert_eq!(labels, [Label::Positive, Label::Negative]);
//! assert!((target.margin_on(&points, &labels)? - 0.6).abs() < 1e-15);
//! # Ok::<(), halfspaces_linalg::InputError>(())
//! ```

#![cfg_attr(test, allow(clippy::float_cmp, reason = "tests compare exact values on purpose"))]

mod affine;
mod angle;
mod boolean;
mod contract;
mod declare;
mod determinant;
mod ellipsoid;
mod error;
mod example_stream;
mod exp;
mod halfspace;
pub mod kernels;
mod label;
mod largest_margins;
mod margins;
mod placed_row;
mod points;
mod row;
mod sparse;
pub mod tolerance;
mod zeros;

/// The generator types of this crate's signatures.
pub use rand;

pub use affine::AffineHalfspace;
pub use angle::{angle, norm, normalise};
pub use boolean::{
    BooleanConcept, BooleanPoint, Conjunction, DecisionList, Disjunction, Literal, MAX_VARIABLES,
};
pub use contract::{
    ClassModel, Classifier, FitError, FitSample, FitStream, Params, RngStream, Termination,
    Threads, deciding_class, rng_for, rng_for_round,
};
pub use determinant::log_abs_determinant;
pub use ellipsoid::Ellipsoid;
pub use error::InputError;
pub use example_stream::{ExampleStream, RowsAhead};
pub use exp::{exp_neg, exp_neg_single};
pub use halfspace::Halfspace;
pub use label::{InvalidLabel, Label};
pub use largest_margins::largest_margins;
pub use margins::{DescendingMargins, margins, margins_into, margins_of_many};
pub use placed_row::{LiftedRow, ScaledRow};
pub use points::{PointSet, Points};
pub use row::{DenseRow, RowView, SparseRow};
pub use sparse::{MAX_SPARSE_DIM, SparsePoints};
pub use zeros::{aligned_room, aligned_zeros, reserve, zeros};
