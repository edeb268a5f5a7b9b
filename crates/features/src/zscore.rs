//! A feature map that standardises columns.

use crate::FeatureMap;
use halfspaces_linalg::{
    InputError, PointSet, RowView, checkpoint_at, getters, load_checked, zeros,
};

/// Shifts every column to mean 0 and scales it to standard deviation 1 (the population standard deviation). A constant
/// column becomes 0.
///
/// Fit the map to the training data, then apply the same map to later data. The zeros of sparse points are treated like
/// any other value, so the result is dense.
///
/// ```
/// use halfspaces_features::{FeatureMap, ZScore};
/// use halfspaces_linalg::Points;
/// let train = Points::from_rows(&[[1.0, 7.0], [3.0, 7.0]])?;
/// let map = ZScore::fit(&train)?;
/// assert_eq!(map.apply(&train)?.as_slice(), [-1.0, 0.0, 1.0, 0.0]);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ZScore {
    means: Vec<f64>,
    /// The standard deviation of each column, which is 0 for a constant column.
    deviations: Vec<f64>,
}

load_checked!(ZScore { means: Vec<f64>, deviations: Vec<f64> });

#[cfg(feature = "serde")]
impl ZScore {
    /// Checks that all numbers are finite, that there is one deviation for each mean, and that no deviation is
    /// negative.
    fn check_saved(&self) -> Result<(), InputError> {
        let ZScore { means, deviations } = self;
        let both = halfspaces_linalg::Points::from_rows(&[&means[..], &deviations[..]])?;
        if let Some(s) = both.as_slice()[means.len()..].iter().find(|s| **s < 0.0) {
            InputError::check_parameter("deviation", *s, false, "at least 0")?;
        }
        Ok(())
    }
}

impl ZScore {
    getters! {
        /// The mean of each column.
        means: &[f64],

        /// The number by which each column is divided. If this number is 0, the column becomes 0.
        deviations: &[f64],
    }

    /// Fits a map that shifts every column to mean 0 and divides all columns by the same number, the square root of
    /// their mean variance. This keeps the directions and the ratios of distances, which matter if all columns have the
    /// same unit, for example the coordinates of an embedding. A constant column becomes 0.
    ///
    /// # Errors
    /// Returns the same errors as [`ZScore::fit`].
    pub fn fit_common<P: PointSet>(points: &P) -> Result<ZScore, InputError> {
        let mut map = ZScore::fit(points)?;
        let largest = map.deviations.iter().copied().fold(0.0, f64::max);
        if largest > 0.0 {
            // Each deviation is divided by the largest one, so that no square overflows.
            let sum: f64 = map.deviations.iter().map(|s| (s / largest) * (s / largest)).sum();
            let common = largest * (sum / map.deviations.len() as f64).sqrt();
            map.deviations.iter_mut().filter(|s| **s > 0.0).for_each(|s| *s = common);
        }
        Ok(map)
    }

    /// Fits the map to `points` by computing the mean and the standard deviation of each column.
    ///
    /// # Errors
    /// [`InputError::Empty`] if there are no points; [`InputError::Overflow`] if the difference of two numbers in a
    /// column overflows.
    pub fn fit<P: PointSet>(points: &P) -> Result<ZScore, InputError> {
        let n = points.len() as f64;
        let mut dense = zeros(1, points.dim())?;
        // Differences from the first row are summed, so the sums are exactly 0 in a constant column.
        let mut first = dense.clone();
        points.row(0).ok_or(InputError::Empty)?.add_scaled_to(1.0, &mut first);
        let mut shifts = dense.clone();
        for (at, x) in points.rows().enumerate() {
            checkpoint_at(at);
            dense.fill(0.0);
            x.add_scaled_to(1.0, &mut dense);
            for ((s, v), f) in shifts.iter_mut().zip(&dense).zip(&first) {
                *s += (v - f) / n;
            }
        }
        let means: Vec<f64> = first.iter().zip(shifts).map(|(f, s)| f + s).collect();
        let variances = mean_squares(points, &means, |_, difference| difference)?;
        let is_exact = |s: &f64| *s >= f64::MIN_POSITIVE && s.is_finite();
        let mut deviations: Vec<f64> = variances.iter().map(|s| s.sqrt()).collect();
        if variances.iter().all(is_exact) {
            return Ok(ZScore { means, deviations });
        }
        // If the squares of a column overflow or underflow, the column is measured in units of its largest difference
        // from the mean.
        let mut units = zeros(1, points.dim())?;
        for (row, x) in points.rows().enumerate() {
            dense.fill(0.0);
            x.add_scaled_to(1.0, &mut dense);
            for ((unit, v), m) in units.iter_mut().zip(&dense).zip(&means) {
                *unit = f64::max(*unit, (v - m).abs());
                if !unit.is_finite() {
                    return Err(InputError::Overflow { row });
                }
            }
        }
        let scaled = mean_squares(points, &means, |column, difference| {
            if units[column] > 0.0 { difference / units[column] } else { 0.0 }
        })?;
        for ((column, s), variance) in deviations.iter_mut().enumerate().zip(&variances) {
            if !is_exact(variance) {
                *s = units[column] * scaled[column].sqrt();
            }
        }
        Ok(ZScore { means, deviations })
    }
}

/// For each column, the mean of the squared scaled differences from the column's mean.
fn mean_squares<P: PointSet>(
    points: &P,
    means: &[f64],
    scaled: impl Fn(usize, f64) -> f64,
) -> Result<Vec<f64>, InputError> {
    let n = points.len() as f64;
    let (mut dense, mut sums) = (zeros(1, points.dim())?, zeros(1, points.dim())?);
    for (at, x) in points.rows().enumerate() {
        checkpoint_at(at);
        dense.fill(0.0);
        x.add_scaled_to(1.0, &mut dense);
        for (column, ((s, v), m)) in sums.iter_mut().zip(&dense).zip(means).enumerate() {
            let difference = scaled(column, v - m);
            *s += difference * difference / n;
        }
    }
    Ok(sums)
}

impl FeatureMap for ZScore {
    fn input_dim(&self) -> usize {
        self.means.len()
    }

    fn output_dim(&self) -> usize {
        self.means.len()
    }

    fn map_row<R: RowView>(&self, x: R, out: &mut [f64]) -> Result<(), InputError> {
        out.fill(0.0);
        x.add_scaled_to(1.0, out);
        for ((v, m), s) in out.iter_mut().zip(&self.means).zip(&self.deviations) {
            *v = if *s > 0.0 { (*v - m) / s } else { 0.0 };
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_linalg::{Points, SparsePoints};

    #[test]
    fn constant_columns_become_zero_despite_rounding() {
        let rows: Vec<[f64; 2]> = (0..100_000).map(|i| [0.1, f64::from(i % 7)]).collect();
        let points = Points::from_rows(&rows).unwrap();
        let scaled = ZScore::fit(&points).unwrap().apply(&points).unwrap();
        for x in scaled.rows() {
            assert_eq!(x.as_slice()[0], 0.0);
        }
        let sum_sq: f64 = scaled.as_slice().iter().map(|v| v * v).sum();
        assert!((sum_sq / 1e5 - 1.0).abs() < 1e-12);
    }

    /// The unit of a column does not matter, however large or small it is. A constant column becomes 0.
    #[test]
    fn columns_of_any_unit_are_standardised_alike() {
        let of = |units: [f64; 3]| {
            let row = |i: usize| [units[0] * (i % 3) as f64, units[1] * (i % 5) as f64, units[2]];
            let points = Points::from_rows(&(0..60).map(row).collect::<Vec<_>>()).unwrap();
            ZScore::fit(&points).unwrap().apply(&points).unwrap().as_slice().to_vec()
        };
        let plain = of([1.0, 1.0, 1.0]);
        for units in [[1e-200, 1.0, 1e-200], [1.0, 1e200, 1e300], [1e300, 1e-300, 1.0]] {
            let found = of(units);
            assert!(found.iter().zip(&plain).all(|(a, b)| (a - b).abs() < 1e-12), "{units:?}");
        }
    }

    /// The variances are 1, 9 and 0, so the common deviation is the square root of their mean 10/3.
    #[test]
    fn a_common_scale_keeps_the_ratios_of_distances() {
        for unit in [1.0, 1e-200, 1e200] {
            let rows = [[unit, 3.0 * unit, 7.0], [-unit, -3.0 * unit, 7.0]];
            let map = ZScore::fit_common(&Points::from_rows(&rows).unwrap()).unwrap();
            let other = Points::from_rows(&[[2.0 * unit, 4.0 * unit, 8.0]]).unwrap();
            let scaled = map.apply(&other).unwrap();
            for (found, expected) in scaled.as_slice().iter().zip([2.0, 4.0, 0.0]) {
                assert!((found - expected / (10.0f64 / 3.0).sqrt()).abs() < 1e-12, "{unit}");
            }
        }
        let constant = Points::from_rows(&[[2.0], [2.0]]).unwrap();
        assert_eq!(ZScore::fit_common(&constant), ZScore::fit(&constant));
    }

    #[test]
    fn bad_input_is_typed() {
        assert_eq!(ZScore::fit(&Points::new(vec![], 1).unwrap()), Err(InputError::Empty));
        let huge = Points::new(vec![1.5e308, -1.5e308], 1).unwrap();
        assert!(matches!(ZScore::fit(&huge), Err(InputError::Overflow { .. })));
        let map = ZScore::fit(&Points::new(vec![1.0, 2.0], 1).unwrap()).unwrap();
        assert!(map.apply(&Points::new(vec![1.0, 2.0], 2).unwrap()).is_err());
        let map = ZScore::fit(&Points::new(vec![0.0, 1e-150], 1).unwrap()).unwrap();
        let far = Points::new(vec![1.0, 1e200], 1).unwrap();
        assert_eq!(map.apply(&far), Err(InputError::Overflow { row: 1 }));
    }

    #[test]
    fn sparse_points_have_their_zeros() {
        let points = Points::from_rows(&[[0.0, 2.0], [3.0, 0.0], [0.0, 0.0]]).unwrap();
        let sparse = SparsePoints::from_dense(&points).unwrap();
        let map = ZScore::fit(&points).unwrap();
        assert_eq!(ZScore::fit(&sparse).unwrap(), map);
        assert_eq!(map.apply(&sparse).unwrap(), map.apply(&points).unwrap());
    }
}
