//! Norms, directions and angles, computed without overflow or cancellation.

use crate::error::{InputError, check_finite};
use crate::kernels;

/// Euclidean norm, safe for entries up to the limits of `f64`.
///
/// ```
/// use halfspaces_linalg::norm;
/// assert!((norm(&[3e200, 4e200]) / 5e200 - 1.0).abs() < 1e-15);
/// assert!((norm(&[3e-200, 4e-200]) / 5e-200 - 1.0).abs() < 1e-15);
/// ```
#[must_use]
pub fn norm(a: &[f64]) -> f64 {
    norm_by(a, kernels::norm_sq(a))
}

/// The [`norm`] of `a`, given its squared norm, which may have overflowed.
pub(crate) fn norm_by(a: &[f64], norm_sq: f64) -> f64 {
    if (1e-200..1e200).contains(&norm_sq) {
        return norm_sq.sqrt();
    }
    if a.iter().any(|v| v.is_nan()) {
        return f64::NAN;
    }
    let largest = a.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    if largest == 0.0 || !largest.is_finite() {
        return largest;
    }
    let scaled: f64 = a.iter().map(|v| (v / largest) * (v / largest)).sum();
    largest * scaled.sqrt()
}

/// Scales `a` in place to unit norm. Returns `false` and leaves `a` unchanged if it is zero or not finite.
///
/// The entries are first divided by the largest absolute value, so norms such as 1e150 or 1e-150 lose no precision.
///
/// ```
/// let mut v = [3e-170, 4e-170];
/// assert!(halfspaces_linalg::normalise(&mut v));
/// assert!((v[0] - 0.6).abs() < 1e-15);
/// assert!(!halfspaces_linalg::normalise(&mut [0.0]));
/// ```
#[must_use]
pub fn normalise(a: &mut [f64]) -> bool {
    normalise_by(a, kernels::norm_sq)
}

/// Same as [`normalise`], with a given function for the sum of squares. A sparse row adds each square to the running
/// sum of its column, so that the norm is rounded like that of the dense row.
pub(crate) fn normalise_by(a: &mut [f64], norm_sq: impl Fn(&[f64]) -> f64) -> bool {
    let largest = a.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    if largest == 0.0 || a.iter().any(|v| !v.is_finite()) {
        return false;
    }
    a.iter_mut().for_each(|v| *v /= largest);
    let norm = norm_sq(a).sqrt();
    a.iter_mut().for_each(|v| *v /= norm);
    true
}

/// The angle between two non-zero vectors, in radians in [0, π].
///
/// The angle is computed as `2 atan2(‖û-v̂‖, ‖û+v̂‖)`, which is accurate to about 1e-16 everywhere. The arc cosine of
/// an inner product would lose half the digits near 0 and π.
///
/// # Errors
/// Fails if the vectors differ in dimension or have no coordinates, or if a vector is zero or has a non-finite entry.
///
/// ```
/// use halfspaces_linalg::angle;
/// assert!((angle(&[1.0, 0.0], &[1.0, 1e-10])? - 1e-10).abs() < 1e-24);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
pub fn angle(u: &[f64], v: &[f64]) -> Result<f64, InputError> {
    InputError::check_dim(u.len(), v.len())?;
    check_finite(u, u.len())?;
    check_finite(v, v.len())?;
    let (mut u, mut v) = (u.to_vec(), v.to_vec());
    if !normalise(&mut u) || !normalise(&mut v) {
        return Err(InputError::ZeroVector);
    }
    let (mut apart, mut together) = (0.0, 0.0);
    for (a, b) in u.iter().zip(&v) {
        apart += (a - b) * (a - b);
        together += (a + b) * (a + b);
    }
    Ok(2.0 * apart.sqrt().atan2(together.sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use std::f64::consts::{FRAC_PI_2, PI};

    #[test]
    fn known_angles() {
        assert_relative_eq!(angle(&[1.0, 0.0], &[0.0, 5.0]).unwrap(), FRAC_PI_2);
        assert_relative_eq!(angle(&[1.0, 2.0], &[-2.0, -4.0]).unwrap(), PI);
        assert_eq!(angle(&[1.0, 2.0], &[1.0, 2.0]).unwrap(), 0.0);
        assert_relative_eq!(angle(&[1e-300], &[1e300]).unwrap(), 0.0);
    }

    #[test]
    fn bad_input_is_typed() {
        assert_eq!(angle(&[0.0], &[1.0]), Err(InputError::ZeroVector));
        assert_eq!(angle(&[], &[]), Err(InputError::ZeroVector));
        assert!(matches!(
            angle(&[1.0], &[1.0, 2.0]),
            Err(InputError::DimensionMismatch { expected: 1, found: 2 })
        ));
        assert!(matches!(
            angle(&[1.0, f64::NAN], &[1.0, 2.0]),
            Err(InputError::NonFinite { column: 1, .. })
        ));
    }

    #[test]
    fn norms_at_the_edges_of_the_range() {
        assert_eq!(norm(&[]), 0.0);
        assert!(norm(&[f64::NAN]).is_nan());
        assert_eq!(norm(&[f64::NEG_INFINITY, 1.0]), f64::INFINITY);
        assert!(!normalise(&mut [f64::INFINITY, 1.0]));
        assert_relative_eq!(norm(&[1e-310, 0.0]), 1e-310);
        assert_relative_eq!(norm(&[1e300, 1e300]), 2f64.sqrt() * 1e300, max_relative = 1e-15);
        let mut tiny = [5e-324, 5e-324];
        assert!(normalise(&mut tiny));
        assert_relative_eq!(tiny[0], 0.5f64.sqrt());
    }
}
