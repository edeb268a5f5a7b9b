//! Radially isotropic position of point sets: the Forster transform, or the heavy subspace that forbids
//! it.
//!
//! Points are in radially isotropic position when, scaled to norm 1, they have the same second moment
//! in every direction. Linear maps x -> Aᵀx bring them as near to that as one likes exactly when no proper subspace of
//! their span holds more than its share of them, k/d of the points in k of d dimensions; then every
//! halfspace has a margin on a good part of them, whatever their condition was (DKTZ23 §3).
//!
//! - [`ForsterTransform::params`] -> [`Forster`] -> [`Fit`]: position on the whole span, or a heavy
//!   [`Subspace`] with position inside it, or `Unresolved`; never a guess ([`Outcome`]).
//! - Every answer carries certificates computed from the points as given: [`Isotropy`] (the extreme
//!   eigenvalues over the unit vectors handed out) and [`Subspace`] (members, residuals, inequality).
//! - [`ForsterTransform`] maps points, maps halfspaces there and back, and is a scatter matrix
//!   ([`ForsterTransform::scatter`], Tyler's M-estimator).
//! - [`Forster::decompose`] places every point, subspace by subspace.
//!
//! ```
//! use halfspaces_data::{Marginal, StudentT, random_target};
//! use halfspaces_forster::{Accuracy, ForsterTransform, Isotropy, Outcome};
//! use halfspaces_linalg::{Params, PointSet};
//!
//! // Heavy tails and a condition of a million.
//! let points = StudentT::new(5, 1.0, 1e6)?.sample(2000, 1)?;
//! let solver = ForsterTransform::params().accuracy(Accuracy::OneSided(0.5)).check()?;
//! let fit = solver.fit(&points)?;
//! let Outcome::RadiallyIsotropic(position) = fit.outcome() else { panic!("no subspace is heavy") };
//!
//! let round = position.transform.apply(&points)?;
//! assert!(Isotropy::measure(&round)?.holds_within(0.5));
//! // A halfspace moves with the points, and now has |w·u| >= 1/(2√d) on 1/(4d) of them at least.
//! let target = position.transform.halfspace_inside(&random_target(5, 2)?)?.normalised()?;
//! let wide = halfspaces_linalg::margins(&round, target.normal())?;
//! let wide = wide.iter().filter(|m| m.abs() >= 0.5 / 5f64.sqrt()).count();
//! assert!(wide * 4 * 5 >= round.len());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![cfg_attr(test, allow(clippy::float_cmp, reason = "tests compare exact values on purpose"))]

mod anderson;
mod decomposition;
mod dense;
mod error;
mod forster;
mod gram;
mod heavy;
mod isotropy;
mod iterate;
mod level;
mod newton;
mod params;
mod pass;
mod prepare;
mod report;
mod saved;
mod subspace;
mod survey;
mod tile;
mod transform;

pub use decomposition::Decomposition;
pub use error::ForsterError;
pub use forster::Forster;
pub use isotropy::Isotropy;
pub use params::{Accuracy, ForsterParams, Step};
pub use report::{Fit, Level, LevelEnd, Outcome, Position, Reason};
pub use subspace::Subspace;
pub use transform::{ForsterTransform, Normalisation};
