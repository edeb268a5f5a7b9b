//! Numerical tolerances shared by several crates.

/// Maximum deviation of the norm of a unit vector from 1. Normalising leaves an error of a few units in the last place,
/// and no bound changes if the norm is 1 ± 1e-9.
pub const UNIT_NORM: f64 = 1e-9;

/// A projected vector is numerically zero if its norm, relative to the norm before projection, is at most this value.
/// Rounding turns a zero vector into one of length about 1e-16.
pub const VANISHED: f64 = 1e-12;
