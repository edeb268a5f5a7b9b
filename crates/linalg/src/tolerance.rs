//! Every numerical tolerance of this crate's users in one place, each with its reason.

/// Relative slack granted when a measured quantity is compared with a bound that holds with
/// equality in exact arithmetic. A bound such as (R/γ)² is computed from a handful of rounded
/// operations on inner products of `d` terms; for `d` up to 10^5 their relative error stays below
/// 1e-10, and no bound of the theory is missed or met by so little.
pub const BOUND_SLACK: f64 = 1e-9;

/// How far from 1 the norm of a vector may lie that is to count as a unit vector. Normalising
/// leaves an error of a few units in the last place; a norm of 1 ± 1e-9 changes no bound.
pub const UNIT_NORM: f64 = 1e-9;

/// Norm, relative to what it was, at or below which a projected vector counts as gone: what rounding
/// leaves of a zero vector is about 1e-16 long.
pub const VANISHED: f64 = 1e-12;

/// `measured <= bound`, up to [`BOUND_SLACK`] relative to the bound.
///
/// ```
/// use halfspaces_linalg::tolerance::within_bound;
/// assert!(within_bound(9.0, 1.0 / (1.0f64 / 3.0).powi(2)));
/// assert!(!within_bound(10.0, 9.0));
/// ```
#[must_use]
pub fn within_bound(measured: f64, bound: f64) -> bool {
    measured <= bound + BOUND_SLACK * bound.abs()
}
