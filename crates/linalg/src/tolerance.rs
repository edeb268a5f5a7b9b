//! Numerical tolerances shared by several crates.

/// Maximum deviation from 1 of the norm of a unit vector. Normalising leaves an error of a few units in the last place;
/// a norm of 1 ± 1e-9 changes no bound.
pub const UNIT_NORM: f64 = 1e-9;

/// A projected vector is numerically zero if its norm, relative to the norm before projection, is at most this.
/// Rounding turns a zero vector into one of length about 1e-16.
pub const VANISHED: f64 = 1e-12;
