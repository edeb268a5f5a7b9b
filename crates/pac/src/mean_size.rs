//! The mean absolute value, which is the unit for comparing decision values of different classifiers.

/// The mean |v|, computed without overflow. Returns 1 if all values are 0, so that the result is always a valid
/// divisor.
pub(crate) fn mean_size(values: &[f64]) -> f64 {
    let largest = values.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    if largest == 0.0 {
        return 1.0;
    }
    // The sum of quotients does not overflow.
    let sum: f64 = values.iter().map(|v| v.abs() / largest).sum();
    largest * (sum / values.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::mean_size;

    #[test]
    fn sizes_are_averaged_without_overflow() {
        assert_eq!(mean_size(&[1.0, -2.0, 3.0]), 2.0);
        assert_eq!(mean_size(&[1e308, -1e308, 0.0, 0.0]), 5e307);
        assert_eq!((mean_size(&[0.0, -0.0]), mean_size(&[])), (1.0, 1.0));
    }
}
