//! Radially isotropic position of point sets.
//!
//! Points are in δ-approximate radially isotropic position when, scaled to norm 1, they have the
//! same second moment in every direction up to δ. What is here so far is the certificate
//! ([`Isotropy`]); the transform that brings points into the position is not in this crate yet.
//!
//! ```
//! use halfspaces_data::{Gaussian, Marginal};
//! use halfspaces_forster::Isotropy;
//! let round = Gaussian::new(5, 1.0)?.sample(20_000, 1)?;
//! assert!(Isotropy::of(&round)?.holds_within(0.1));
//! let flat = Gaussian::new(5, 100.0)?.sample(20_000, 1)?;
//! assert!(!Isotropy::of(&flat)?.holds_within(0.9));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![cfg_attr(test, allow(clippy::float_cmp, reason = "tests compare exact values on purpose"))]

mod isotropy;

pub use isotropy::{Isotropy, IsotropyError};
