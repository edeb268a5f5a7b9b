//! Checks for points whose squared norm is outside the range of `f64`.

use halfspaces_linalg::{InputError, RowView};

/// ‖x‖², for learners that divide by it. Returns an error if ‖x‖² is 0, subnormal or infinite.
pub(crate) fn positive_norm_sq<R: RowView>(x: R) -> Result<f64, InputError> {
    let norm_sq = x.norm_sq();
    if norm_sq.is_normal() {
        return Ok(norm_sq);
    }
    check_scale(x)?;
    Err(InputError::ZeroVector)
}

/// For any number of values with at most this absolute value, the sum of the squares is finite.
const NO_OVERFLOW: f64 = 1e140;
/// If the absolute value of a number is at least this, its square is at least the smallest normal `f64`.
const NO_UNDERFLOW: f64 = 1e-150;

/// Rejects a non-zero point whose squared norm is not a normal `f64`: products with the point would lose digits, and
/// the bounds would not apply.
pub(crate) fn check_scale<R: RowView>(x: R) -> Result<(), InputError> {
    // The common case needs no sum: the squared norm is normal if no value is too large and one is large enough.
    let (mut small, mut large) = (true, false);
    for (_, v) in x.entries() {
        small &= v.abs() <= NO_OVERFLOW;
        large |= v.abs() >= NO_UNDERFLOW;
    }
    if small && large {
        return Ok(());
    }
    let norm_sq = x.norm_sq();
    if norm_sq.is_normal() {
        Ok(())
    } else if !norm_sq.is_finite() {
        Err(InputError::Overflow { row: 0 })
    } else if x.entries().any(|(_, v)| v != 0.0) {
        Err(InputError::Underflow { row: 0 })
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_linalg::DenseRow;

    #[test]
    fn scales_are_judged_by_the_squared_norm() {
        let sizes = [0.0, 5e-324, 1e-170, 1e-154, 1e-150, 1e-149, 1.0, 1e140, 1e141, 1e153, 1e154];
        for a in sizes {
            for b in sizes.into_iter().chain([1e155, f64::MAX]) {
                let row = [a, -b];
                let x = DenseRow::new(&row).unwrap();
                let norm_sq = x.norm_sq();
                let expected = match (norm_sq.is_finite(), norm_sq.is_normal()) {
                    (false, _) => Err(InputError::Overflow { row: 0 }),
                    (_, true) => Ok(()),
                    _ if a + b > 0.0 => Err(InputError::Underflow { row: 0 }),
                    _ => Ok(()),
                };
                assert_eq!(check_scale(x), expected, "{a:e}, {b:e}");
            }
        }
    }
}
