//! The training rows with scaled columns, and their features.

use crate::candidate::{ColumnScale, Family, Space, is_wide};
use crate::feature_rows::{FeatureRows, copy_rounded};
use halfspaces_features::{Distance, KernelValues, RadialKernel, SingleNystroem, choose_landmarks};
use halfspaces_linalg::{InputError, PointSet, Points};

/// Number of landmarks of a kernel: a tenth of the rows, clamped to the range between these two constants.
const MIN_LANDMARKS: usize = 300;
const MAX_LANDMARKS: usize = 500;
/// Number of landmarks for more than two classes. With more classes, there are more boundaries.
const MULTICLASS_LANDMARKS: usize = 800;
/// Maximum number of landmarks for ridge regression, which is only for wide tables.
const RIDGE_LANDMARKS: usize = 2000;
/// Fraction of the landmarks that the screening round uses.
const SCREENING_LANDMARKS: f64 = 0.6;

/// The training rows, with their columns in one of the column scales.
pub(crate) struct ScaledRows {
    pub(crate) columns: ColumnScale,
    pub(crate) points: Points,
    /// The landmarks of ridge regression. Other methods use only the first `few` of them.
    landmarks: Points,
    /// The number of landmarks of the other methods.
    few: usize,
    median_squared_euclidean: f64,
    median_manhattan: f64,
}

impl ScaledRows {
    /// Draws the landmarks and measures the median distances. Each row has `outputs` decision values.
    pub(crate) fn new(
        columns: ColumnScale,
        points: Points,
        outputs: usize,
        seed: u64,
    ) -> Result<ScaledRows, InputError> {
        let few = match outputs {
            1 => (points.len() / 10).clamp(MIN_LANDMARKS, MAX_LANDMARKS),
            _ => MULTICLASS_LANDMARKS,
        };
        let landmarks = if is_wide(points.dim()) {
            rounded(choose_landmarks(&points, RIDGE_LANDMARKS, seed)?)?
        } else {
            choose_landmarks(&points, few, seed)?
        };
        let median_squared_euclidean = Distance::SquaredEuclidean.median(&points, seed)?;
        let median_manhattan = Distance::Manhattan.median(&points, seed)?;
        Ok(ScaledRows {
            columns,
            points,
            landmarks,
            few,
            median_squared_euclidean,
            median_manhattan,
        })
    }

    fn kernel_map(
        &self,
        distance: Distance,
        width: f64,
        landmarks: usize,
    ) -> Result<SingleNystroem, InputError> {
        let median = match distance {
            Distance::SquaredEuclidean => self.median_squared_euclidean,
            Distance::Manhattan => self.median_manhattan,
        };
        let kernel = RadialKernel::new(distance, width * median)?;
        // The landmarks are in random order.
        let landmarks = self.landmarks.select(&(0..landmarks).collect::<Vec<_>>())?;
        SingleNystroem::new(&KernelValues::new(landmarks, kernel)?)
    }

    /// Computes the features of the first `rows` rows for a family.
    pub(crate) fn features(
        &self,
        family: &Family,
        rows: usize,
        screening: bool,
    ) -> Result<Features, InputError> {
        let points = &self.points;
        let (rows, map) = match family.space {
            Space::Columns => {
                let dim = points.dim();
                let features = FeatureRows::new(rows, dim, |rows, out| {
                    let values = &points.as_slice()[rows.start * dim..rows.end * dim];
                    copy_rounded(values, dim, out);
                    Ok(())
                });
                (Rows::Single(expect_stored(features?)), None)
            }
            Space::Kernel { distance, width } => {
                let all = self.landmarks.len();
                let count = if family.is_ridge() { all } else { self.few.min(all) };
                let count = if screening { screening_count(count) } else { count };
                let map = self.kernel_map(distance, width, count)?;
                (kernel_rows(&map, points, rows)?, Some(map))
            }
        };
        Ok(Features { rows, map })
    }
}

/// Rounds all numbers to four decimals, that is, to a ten-thousandth of a standard deviation. This reduces the file
/// size of a model with many high-dimensional landmarks to about a third.
fn rounded(points: Points) -> Result<Points, InputError> {
    const UNITS: f64 = 1e4;
    let dim = points.dim();
    // Larger numbers are unchanged, because the value of their last bit is close to a ten-thousandth.
    let round = |v: f64| if v.abs() < 1e11 { (v * UNITS).round() / UNITS } else { v };
    Points::new(points.into_vec().into_iter().map(round).collect(), dim)
}

fn screening_count(landmarks: usize) -> usize {
    (SCREENING_LANDMARKS * landmarks as f64).ceil() as usize
}

/// Rows of features in one of two storage formats.
pub(crate) enum Rows {
    /// Features of any size, such as columns.
    Single(FeatureRows<f32>),
    /// Features with absolute value at most 1, such as kernel features.
    Short(FeatureRows<i16>),
}

/// Evaluates an expression for the rows of either format.
macro_rules! with_rows {
    ($rows:expr, $inner:ident => $value:expr) => {
        match $rows {
            $crate::scaled_rows::Rows::Single($inner) => $value,
            $crate::scaled_rows::Rows::Short($inner) => $value,
        }
    };
}
pub(crate) use with_rows;

/// Rows of features and the map that computed them. The map is `None` if the features are the columns.
pub(crate) struct Features {
    pub(crate) rows: Rows,
    pub(crate) map: Option<SingleNystroem>,
}

/// The features of the first `rows` points. They are 16-bit numbers if they are in range; otherwise they are in single
/// precision and computed from the same kernel values as in the model.
fn kernel_rows(map: &SingleNystroem, points: &Points, rows: usize) -> Result<Rows, InputError> {
    if map.is_accurate() {
        let short = FeatureRows::new(rows, map.dim(), |rows, out| {
            map.map_rows(points, rows, out);
            Ok(())
        });
        if let Some(rows) = short? {
            return Ok(Rows::Short(rows));
        }
    }
    let single =
        FeatureRows::new(rows, map.dim(), |rows, out| map.map_rows_in_double(points, rows, out));
    Ok(Rows::Single(expect_stored(single?)))
}

fn expect_stored(rows: Option<FeatureRows<f32>>) -> FeatureRows<f32> {
    let Some(rows) = rows else { unreachable!("single precision stores every value") };
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernel_scales_are_multiples_of_the_median_distance() {
        let values = (0..180).map(|i| (f64::from(i) * 12.9898).sin()).collect();
        let points = Points::new(values, 3).unwrap();
        let scaled = ScaledRows::new(ColumnScale::Standardised, points.clone(), 1, 7).unwrap();
        for distance in [Distance::SquaredEuclidean, Distance::Manhattan] {
            let map = scaled.kernel_map(distance, 0.5, 60).unwrap();
            let scale = 0.5 * distance.median(&points, 7).unwrap();
            let expected = RadialKernel::new(distance, scale).unwrap();
            assert_eq!(map.into_kernel_values().kernel(), expected);
        }
    }

    /// The features of a kernel are stored in 16 bits, unless the points lie far from 0 and much closer to each other
    /// than to 0.
    #[test]
    fn kernel_features_have_the_smallest_storage_that_fits() {
        for (offset, step, is_short) in [(0.0, 0.01, true), (1e7, 1e-8, false)] {
            let row = |i: i32| [offset + f64::from(i) * step, offset, f64::from(i % 3) * step];
            let points = Points::from_rows(&(0..60).map(row).collect::<Vec<_>>()).unwrap();
            let kernel = RadialKernel::gaussian(1e-3).unwrap();
            let values = KernelValues::new(points.clone(), kernel).unwrap();
            let map = SingleNystroem::new(&values).unwrap();
            let rows = kernel_rows(&map, &points, 50).unwrap();
            assert_eq!(matches!(&rows, Rows::Short(_)), is_short, "{offset}");
            assert_eq!(with_rows!(&rows, rows => (rows.len(), rows.dim())), (50, map.dim()));
        }
    }
}
