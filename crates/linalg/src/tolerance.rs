//! Numerical tolerances of this crate's users in one place, each with its reason.

/// How far from 1 the norm of a vector may lie that is to count as a unit vector. Normalising
/// leaves an error of a few units in the last place; a norm of 1 ± 1e-9 changes no bound.
pub const UNIT_NORM: f64 = 1e-9;

/// Norm, relative to what it was, at or below which a projected vector counts as gone: what rounding
/// leaves of a zero vector is about 1e-16 long.
pub const VANISHED: f64 = 1e-12;
