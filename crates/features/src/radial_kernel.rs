//! Kernels that decrease with distance.

use crate::products::{AbsoluteDifference, Columns, Product};
use crate::streams;
use halfspaces_linalg::kernels::{Wide, run_wide};
use halfspaces_linalg::{
    InputError, PointSet, RowView, exp_neg, kernels, load_checked, rng_for, zeros,
};
use rand::RngExt;
use std::ops::Range;

/// The number of pairs of points drawn for the median distance.
const PAIRS: usize = 2000;

/// A kernel K(x, z) = exp(-distance/scale), which decreases with the [`Distance`] between the two points. K(x, x) is 1.
///
/// The Gaussian kernel is invariant to rotations of the columns. The Laplacian kernel treats the columns one by one, as
/// decision trees do, and is the better choice for most tables of measurements.
///
/// ```
/// use halfspaces_features::RadialKernel;
/// use halfspaces_linalg::DenseRow;
/// let x = DenseRow::new(&[3.0, 4.0])?;
/// assert!((RadialKernel::gaussian(25.0)?.value(x, &[0.0, 0.0])? - (-1f64).exp()).abs() < 1e-15);
/// assert!((RadialKernel::laplacian(7.0)?.value(x, &[0.0, 0.0])? - (-1f64).exp()).abs() < 1e-15);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct RadialKernel {
    distance: Distance,
    scale: f64,
}

/// The distance between two points in a [`RadialKernel`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Distance {
    /// The squared Euclidean distance ‖x - z‖², which gives the Gaussian kernel.
    SquaredEuclidean,
    /// The Manhattan distance ‖x - z‖₁, which gives the Laplacian kernel.
    Manhattan,
}

load_checked!(RadialKernel { distance: Distance, scale: f64 } => RadialKernel::new);

impl RadialKernel {
    /// Creates the kernel exp(-distance/scale).
    ///
    /// # Errors
    /// [`InputError::ParameterOutOfRange`] unless the scale is positive and finite.
    pub fn new(distance: Distance, scale: f64) -> Result<Self, InputError> {
        let in_range = scale > 0.0 && scale.is_finite();
        InputError::check_parameter("scale", scale, in_range, "positive and finite")?;
        Ok(RadialKernel { distance, scale })
    }

    /// Creates the Gaussian kernel exp(-‖x - z‖²/scale).
    ///
    /// # Errors
    /// Returns the same errors as [`RadialKernel::new`].
    pub fn gaussian(scale: f64) -> Result<Self, InputError> {
        RadialKernel::new(Distance::SquaredEuclidean, scale)
    }

    /// Creates the Laplacian kernel exp(-‖x - z‖₁/scale).
    ///
    /// # Errors
    /// Returns the same errors as [`RadialKernel::new`].
    pub fn laplacian(scale: f64) -> Result<Self, InputError> {
        RadialKernel::new(Distance::Manhattan, scale)
    }

    /// The distance that the kernel uses.
    #[must_use]
    pub fn distance(self) -> Distance {
        self.distance
    }

    /// The scale by which the distance is divided.
    #[must_use]
    pub fn scale(self) -> f64 {
        self.scale
    }

    /// The kernel value K(x, z).
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`] if the points have different dimensions; [`InputError::Overflow`] if the
    /// distance exceeds the range of `f64`.
    pub fn value<R: RowView>(self, x: R, z: &[f64]) -> Result<f64, InputError> {
        InputError::check_dim(z.len(), x.dim())?;
        let mut value = [0.0];
        Centres::new(z, z.len()).values(self, x, &mut value)?;
        Ok(value[0])
    }

    /// Replaces the sums over the coordinates of x and each of several points z with the kernel values K(x, z), in
    /// place. For a Gaussian kernel, each sum is x · z, and `own` holds ‖z‖² for each z. For a Laplacian kernel, `own`
    /// holds ‖z‖₁ for each z, and each sum is Σ (|x_i - z_i| - |z_i|). NaN remains NaN. This function is always
    /// inlined, so that it is compiled for the vector instructions of its caller.
    #[inline(always)]
    pub fn replace_sums(self, sums: &mut [f64], x_norm_sq: f64, own: &[f64]) {
        // The inverse must be finite, so that equal points have the value 1 at every scale.
        let inverse = (1.0 / self.scale).min(f64::MAX);
        // Rounding can make the distance of equal points negative.
        let value = |distance: f64| exp_neg(if distance < 0.0 { 0.0 } else { distance } * inverse);
        match self.distance {
            Distance::SquaredEuclidean => {
                for (sum, z_sq) in sums.iter_mut().zip(own) {
                    *sum = value(x_norm_sq + z_sq - 2.0 * *sum);
                }
            }
            Distance::Manhattan => {
                for (sum, z_1) in sums.iter_mut().zip(own) {
                    *sum = value(*sum + z_1);
                }
            }
        }
    }
}

impl Distance {
    /// The median distance between two points, over 2000 random pairs of points. Pairs of equal points are ignored.
    /// This median is the usual scale of a kernel (the "median heuristic"). Returns 1 if all pairs consist of equal
    /// points.
    ///
    /// # Errors
    /// [`InputError::Empty`] if there are no points; [`InputError::TooLarge`] if a dense point does not fit in memory;
    /// [`InputError::Overflow`] if a distance exceeds the range of `f64`.
    ///
    /// ```
    /// use halfspaces_features::Distance;
    /// use halfspaces_linalg::Points;
    /// let points = Points::new(vec![0.0, 3.0], 1)?;
    /// assert_eq!(Distance::SquaredEuclidean.median(&points, 1)?, 9.0);
    /// assert_eq!(Distance::Manhattan.median(&points, 1)?, 3.0);
    /// # Ok::<(), halfspaces_linalg::InputError>(())
    /// ```
    pub fn median<P: PointSet>(self, points: &P, seed: u64) -> Result<f64, InputError> {
        let n = points.len();
        if n == 0 {
            return Err(InputError::Empty);
        }
        let mut rng = rng_for(streams::DISTANCE_PAIRS, seed);
        let mut difference = zeros(1, points.dim())?;
        let mut distances = Vec::with_capacity(PAIRS);
        for _ in 0..PAIRS {
            let (i, j) = (rng.random_range(0..n), rng.random_range(0..n));
            let (Some(x), Some(z)) = (points.row(i), points.row(j)) else {
                unreachable!("indices are drawn below the number of points")
            };
            difference.fill(0.0);
            x.add_scaled_to(1.0, &mut difference);
            z.add_scaled_to(-1.0, &mut difference);
            let distance = match self {
                Distance::SquaredEuclidean => kernels::norm_sq(&difference),
                Distance::Manhattan => difference.iter().map(|v| v.abs()).sum(),
            };
            if !distance.is_finite() {
                return Err(InputError::Overflow { row: i });
            }
            if distance > 0.0 {
                distances.push(distance);
            }
        }
        if distances.is_empty() {
            return Ok(1.0);
        }
        let middle = distances.len() / 2;
        let (_, median, _) = distances.select_nth_unstable_by(middle, f64::total_cmp);
        Ok(*median)
    }
}

/// The centres of the kernel values.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Centres {
    columns: Columns,
    norms_sq: Vec<f64>,
    norms_1: Vec<f64>,
}

impl Centres {
    pub(crate) fn new(rows: &[f64], dim: usize) -> Centres {
        let norms_1 = |z: &[f64]| z.iter().map(|v| v.abs()).sum();
        Centres {
            columns: Columns::from_rows(rows, dim),
            norms_sq: rows.chunks_exact(dim).map(kernels::norm_sq).collect(),
            norms_1: rows.chunks_exact(dim).map(norms_1).collect(),
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.columns.count()
    }

    /// Computes K(x, z) for every centre z.
    pub(crate) fn values<R: RowView>(
        &self,
        kernel: RadialKernel,
        x: R,
        out: &mut [f64],
    ) -> Result<(), InputError> {
        match kernel.distance {
            Distance::SquaredEuclidean => self.columns.sums::<Product, _>(x, out),
            Distance::Manhattan => self.columns.sums::<AbsoluteDifference, _>(x, out),
        }
        self.finish(kernel, x.norm_sq(), out)
    }

    /// Computes K(x, z) for each point x with an index in `rows` and every centre z, row by row.
    pub(crate) fn values_of_rows<P: PointSet>(
        &self,
        kernel: RadialKernel,
        points: &P,
        rows: Range<usize>,
        out: &mut [f64],
    ) -> Result<(), InputError> {
        match kernel.distance {
            Distance::SquaredEuclidean => {
                self.columns.sums_of_rows::<Product, _>(points, rows.clone(), out);
            }
            Distance::Manhattan => {
                self.columns.sums_of_rows::<AbsoluteDifference, _>(points, rows.clone(), out);
            }
        }
        for (row, out) in rows.zip(out.chunks_exact_mut(self.count())) {
            let Some(x) = points.row(row) else { unreachable!("callers check the range") };
            self.finish(kernel, x.norm_sq(), out).map_err(|error| error.at_row(row))?;
        }
        Ok(())
    }

    /// Replaces the sums over the coordinates of a row by the kernel values of this row.
    fn finish(&self, kernel: RadialKernel, x_sq: f64, out: &mut [f64]) -> Result<(), InputError> {
        if !x_sq.is_finite() {
            return Err(InputError::Overflow { row: 0 });
        }
        let own = match kernel.distance {
            Distance::SquaredEuclidean => &self.norms_sq,
            Distance::Manhattan => &self.norms_1,
        };
        run_wide(Finish { kernel, x_sq, own, out });
        Ok(())
    }
}

/// A call to [`RadialKernel::replace_sums`], compiled for the vector instructions that the processor supports.
struct Finish<'a> {
    kernel: RadialKernel,
    x_sq: f64,
    own: &'a [f64],
    out: &'a mut [f64],
}

impl Wide for Finish<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.kernel.replace_sums(self.out, self.x_sq, self.own);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_linalg::{DenseRow, Points};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn values_are_the_exponential_of_the_distance(
            x in prop::array::uniform3(-2.0..2.0f64),
            z in prop::array::uniform3(-2.0..2.0f64),
            scale in 0.1..10.0f64,
        ) {
            let row = DenseRow::new(&x).unwrap();
            let differences = x.iter().zip(&z).map(|(a, b)| a - b);
            let squared: f64 = differences.clone().map(|v| v * v).sum();
            let gaussian = RadialKernel::gaussian(scale).unwrap().value(row, &z).unwrap();
            prop_assert!((gaussian - (-squared / scale).exp()).abs() < 1e-12 / scale);
            let absolute: f64 = differences.map(f64::abs).sum();
            let laplacian = RadialKernel::laplacian(scale).unwrap().value(row, &z).unwrap();
            prop_assert!((laplacian - (-absolute / scale).exp()).abs() < 1e-12 / scale);
            for kernel in [RadialKernel::gaussian(scale), RadialKernel::laplacian(scale)] {
                prop_assert!((kernel.unwrap().value(row, &x).unwrap() - 1.0).abs() < 1e-12 / scale);
            }
        }
    }

    #[test]
    fn the_median_ignores_pairs_of_equal_points() {
        let points = Points::new(vec![0.0, 1.0, 2.0], 1).unwrap();
        assert_eq!(Distance::SquaredEuclidean.median(&points, 3).unwrap(), 1.0);
        // In about 96 % of the pairs of different points, the distance is 7.
        let mut values = vec![0.0; 50];
        values.extend(vec![7.0; 50]);
        values.push(1000.0);
        let points = Points::new(values, 1).unwrap();
        assert_eq!(Distance::Manhattan.median(&points, 3).unwrap(), 7.0);
        let equal = Points::new(vec![5.0; 4], 1).unwrap();
        assert_eq!(Distance::Manhattan.median(&equal, 3).unwrap(), 1.0);
    }

    #[test]
    fn bad_input_is_typed() {
        for scale in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(
                RadialKernel::gaussian(scale).is_err() && RadialKernel::laplacian(scale).is_err()
            );
        }
        let kernel = RadialKernel::gaussian(1.0).unwrap();
        let far = DenseRow::new(&[1e200]).unwrap();
        assert_eq!(kernel.value(far, &[0.0]), Err(InputError::Overflow { row: 0 }));
        assert!(kernel.value(far, &[0.0, 0.0]).is_err());
        let none = Points::new(vec![], 1).unwrap();
        assert_eq!(Distance::Manhattan.median(&none, 0), Err(InputError::Empty));
        let far = Points::new(vec![1e200, -1e200], 1).unwrap();
        assert!(matches!(
            Distance::SquaredEuclidean.median(&far, 0),
            Err(InputError::Overflow { .. })
        ));
    }

    #[cfg(feature = "serde")]
    #[test]
    fn a_saved_scale_is_checked() {
        let text = serde_json::to_string(&RadialKernel::laplacian(2.5).unwrap()).unwrap();
        let load = |text: &str| serde_json::from_str::<RadialKernel>(text);
        assert_eq!(load(&text).unwrap(), RadialKernel::laplacian(2.5).unwrap());
        assert!(load(&text.replace("2.5", "-2.5")).is_err());
    }
}
