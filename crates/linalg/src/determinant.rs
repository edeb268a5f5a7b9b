//! The determinant of a small matrix, for saved states that are checked against themselves.

/// How far apart pivots may lie for the determinant to be trusted.
const MAX_PIVOT_RATIO: f64 = 1e10;

/// ln |det M| of the square matrix M of `dim` rows, by Gaussian elimination with partial pivoting in
/// O(`dim`³); `None` where M is singular or so ill-conditioned that rounding decides the digits.
///
/// ```
/// use halfspaces_linalg::log_abs_determinant;
/// let value = log_abs_determinant(&[0.0, 2.0, -3.0, 1.0], 2);
/// assert!(value.is_some_and(|v| (v - 6.0f64.ln()).abs() < 1e-15));
/// assert_eq!(log_abs_determinant(&[1.0, 2.0, 2.0, 4.0], 2), None);
/// ```
///
/// # Panics
/// Unless there are `dim`² values.
#[must_use]
pub fn log_abs_determinant(matrix: &[f64], dim: usize) -> Option<f64> {
    assert_eq!(matrix.len(), dim * dim, "a square matrix");
    let mut rows: Vec<Vec<f64>> = matrix.chunks(dim.max(1)).map(<[f64]>::to_vec).collect();
    let (mut log, mut least, mut most) = (0.0, f64::INFINITY, 0.0f64);
    for step in 0..dim {
        let size = |row: usize| rows[row][step].abs();
        let largest = (step..dim).fold(step, |best, r| if size(r) > size(best) { r } else { best });
        rows.swap(step, largest);
        let (done, below) = rows.split_at_mut(step + 1);
        let pivot_row = &done[step];
        let pivot = pivot_row[step];
        (least, most) = (least.min(pivot.abs()), most.max(pivot.abs()));
        if !pivot.is_finite() || least * MAX_PIVOT_RATIO <= most {
            return None;
        }
        log += pivot.abs().ln();
        for row in below {
            let factor = row[step] / pivot;
            for (v, p) in row[step..].iter_mut().zip(&pivot_row[step..]) {
                *v -= factor * p;
            }
        }
    }
    Some(log)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_determinants() {
        // A Vandermonde matrix of 1, 2, 4: (2-1)(4-1)(4-2) = 6.
        let vandermonde = [1.0, 1.0, 1.0, 1.0, 2.0, 4.0, 1.0, 4.0, 16.0];
        assert!((log_abs_determinant(&vandermonde, 3).unwrap() - 6.0f64.ln()).abs() < 1e-14);
        assert_eq!(log_abs_determinant(&[], 0), Some(0.0));
        assert_eq!(log_abs_determinant(&[f64::NAN], 1), None);
        assert_eq!(log_abs_determinant(&[1.0, 0.0, 0.0, 0.99e-10], 2), None);
        assert!(log_abs_determinant(&[1.0, 0.0, 0.0, 1.01e-10], 2).is_some());
    }
}
