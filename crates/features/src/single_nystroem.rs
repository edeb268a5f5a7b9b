//! Nyström features in single precision.

use crate::pivoted_cholesky::pivoted_cholesky;
use crate::single_kernel::SingleKernel;
use crate::{FeatureMap, KernelValues};
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::{
    solve_lower_triangular_in_place, solve_upper_triangular_in_place,
};
use faer::{Accum, Mat, MatMut, Par};
use halfspaces_kernels::SINGLE_LANES;
use halfspaces_linalg::{InputError, PointSet, Points, zeros};
use std::ops::Range;

/// The number of features that the triangular solve computes together.
const SOLVE_BLOCK: usize = 64;

/// A map to the features of a [`Nystroem`](crate::Nystroem) map, up to a rotation, in single precision. These features
/// are fast to compute for many rows. The rotation does not affect a learner of halfspaces.
///
/// The features are U⁻ᵀk(x). The vector k(x) holds the kernel values of x with the landmarks, and UᵀU is the landmarks'
/// kernel matrix. A landmark is dropped if the part of its features that the other landmarks do not explain has a
/// squared length of at most 1e-5. A map with a smooth kernel therefore keeps fewer landmarks than it was given.
///
/// [`SingleNystroem::expansion`] converts a halfspace of the features into a halfspace of kernel values, which labels
/// points in double precision.
///
/// The coordinates of all points must be within the range of `f32`. Standardise the columns first, with
/// [`ZScore`](crate::ZScore) or [`Ranks`](crate::Ranks).
///
/// *Cost.* O(m²(d + m)) time to create the map and O(m(d + m)) time per point, for m landmarks in d dimensions.
///
/// *Source.* Williams and Seeger 2001; Fine and Scheinberg 2001 for the order of the landmarks.
///
/// ```
/// use halfspaces_features::{FeatureMap, KernelValues, RadialKernel, SingleNystroem};
/// use halfspaces_linalg::{Points, kernels};
/// let points = Points::new(vec![0.0, 1.0, 2.5, 3.0], 1)?;
/// let values = KernelValues::new(points.clone(), RadialKernel::gaussian(2.0)?)?;
/// let map = SingleNystroem::new(&values)?;
/// let mut features = vec![0.0; 4 * map.row_len()];
/// map.map_rows(&points, 0..4, &mut features);
/// let first_feature_of_last_point = features[3 * map.row_len()];
/// // The same feature as an expansion in kernel values.
/// let mut weights = vec![0.0; map.dim()];
/// weights[0] = 1.0;
/// let coefficients = map.expansion(weights);
/// let values = map.into_kernel_values().apply(&points)?;
/// let dim = coefficients.len();
/// let expected = kernels::dot(&values.as_slice()[3 * dim..], &coefficients);
/// assert!((f64::from(first_feature_of_last_point) - expected).abs() < 1e-5);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone)]
pub struct SingleNystroem {
    values: KernelValues,
    single: SingleKernel,
    is_accurate: bool,
    factor: UpperFactor,
}

impl SingleNystroem {
    /// Creates the map from the centres of `values`, which are the landmarks. Landmarks that add no feature are
    /// dropped.
    ///
    /// # Errors
    /// [`InputError::Overflow`] if a squared norm exceeds the range of `f64`.
    ///
    /// # Panics
    /// Panics if a coordinate exceeds the range of `f32`.
    pub fn new(values: &KernelValues) -> Result<SingleNystroem, InputError> {
        let centres = values.centres();
        let m = centres.len();
        let mut matrix = vec![0.0; m * m];
        let single = SingleKernel::new(values);
        if single.is_accurate(values)? {
            single.values(centres.as_slice(), &mut matrix, m);
        } else {
            round_rows(values.apply(centres)?.as_slice(), m, &mut matrix, m);
        }
        let (chosen, factor) = pivoted_cholesky(matrix, m);
        let values = KernelValues::new(centres.select(&chosen)?, values.kernel())?;
        let single = SingleKernel::new(&values);
        let is_accurate = single.is_accurate(&values)?;
        Ok(SingleNystroem { values, single, is_accurate, factor: UpperFactor::new(factor) })
    }

    /// The number of features.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.factor.dim()
    }

    /// The length of a row of features in memory, which is [`SingleNystroem::dim`] padded to a multiple of 16.
    #[must_use]
    pub fn row_len(&self) -> usize {
        self.dim().next_multiple_of(SINGLE_LANES)
    }

    /// Whether kernel values in single precision agree with the [`KernelValues`] of the landmarks within 1e-6. They
    /// disagree if the landmarks lie much closer to each other than to 0. In that case, use
    /// [`SingleNystroem::map_rows_in_double`].
    #[must_use]
    pub fn is_accurate(&self) -> bool {
        self.is_accurate
    }

    /// Writes the features of the points with indices `rows` to `out`, whose rows have length
    /// [`SingleNystroem::row_len`]. The kernel values are computed in single precision.
    ///
    /// # Panics
    /// Panics if a row does not exist, if the points do not have the dimension of the landmarks, if a coordinate
    /// exceeds the range of `f32`, or if `out` is too short.
    pub fn map_rows(&self, points: &Points, rows: Range<usize>, out: &mut [f32]) {
        let (dim, width) = (points.dim(), self.row_len());
        assert_eq!(dim, self.values.input_dim(), "points of the landmarks' dimension");
        self.single.values(&points.as_slice()[rows.start * dim..rows.end * dim], out, width);
        self.solve(rows.len(), out);
    }

    /// Like [`SingleNystroem::map_rows`], but with the kernel values that [`KernelValues`] computes in double
    /// precision. These are the values that a model computes when it labels points, including their rounding errors.
    ///
    /// # Errors
    /// [`InputError::Overflow`] if a squared norm exceeds the range of `f64`; [`InputError::TooLarge`] if the kernel
    /// values do not fit in memory.
    ///
    /// # Panics
    /// Panics if a row does not exist or if `out` is too short.
    pub fn map_rows_in_double(
        &self,
        points: &Points,
        rows: Range<usize>,
        out: &mut [f32],
    ) -> Result<(), InputError> {
        InputError::check_dim(self.values.input_dim(), points.dim())?;
        let count = rows.len();
        let mut values = zeros(count, self.dim())?;
        self.values.map_rows(points, rows, &mut values)?;
        round_rows(&values, self.dim(), out, self.row_len());
        self.solve(count, out);
        Ok(())
    }

    fn solve(&self, rows: usize, out: &mut [f32]) {
        let (dim, width) = (self.dim(), self.row_len());
        let columns = MatMut::from_column_major_slice_with_stride_mut(out, dim, rows, width);
        self.factor.solve_in_place(columns);
    }

    /// The coefficients c with w · φ(x) = Σ c_k K(x, z_k), where w are the weights and z_k are the landmarks of
    /// [`SingleNystroem::into_kernel_values`].
    ///
    /// # Panics
    /// Panics unless there is one weight per feature.
    #[must_use]
    pub fn expansion(&self, mut weights: Vec<f64>) -> Vec<f64> {
        let m = self.dim();
        let factor = Mat::from_fn(m, m, |i, j| f64::from(self.factor.upper[(i, j)]));
        let column = MatMut::from_column_major_slice_mut(&mut weights, m, 1);
        solve_upper_triangular_in_place(factor.as_ref(), column, Par::Seq);
        weights
    }

    /// The map to kernel values with the landmarks that were kept, in the order of the features.
    #[must_use]
    pub fn into_kernel_values(self) -> KernelValues {
        self.values
    }
}

/// Rounds rows of `dim` numbers to single precision. The rows of `out` have length `width`.
fn round_rows(rows: &[f64], dim: usize, out: &mut [f32], width: usize) {
    for (row, out) in rows.chunks_exact(dim).zip(out.chunks_exact_mut(width)) {
        out.iter_mut().zip(row).for_each(|(out, v)| *out = *v as f32);
    }
}

/// An upper triangular matrix U, prepared for solving Uᵀx = k for many right-hand sides k at once. The solver proceeds
/// in blocks. For each block, it subtracts the product with all earlier blocks and then multiplies by the inverse of
/// the diagonal block.
#[derive(Debug, Clone)]
struct UpperFactor {
    upper: Mat<f32>,
    /// The inverses of the transposed diagonal blocks.
    inverses: Vec<Mat<f32>>,
}

impl UpperFactor {
    fn new(upper: Mat<f32>) -> UpperFactor {
        let m = upper.nrows();
        let inverse = |first: usize| {
            let end = m.min(first + SOLVE_BLOCK);
            let mut inverse = Mat::identity(end - first, end - first);
            let block = Mat::from_fn(end - first, end - first, |i, j| {
                f64::from(upper[(first + j, first + i)])
            });
            solve_lower_triangular_in_place(block.as_ref(), inverse.as_mut(), Par::Seq);
            Mat::from_fn(end - first, end - first, |i, j| inverse[(i, j)] as f32)
        };
        let inverses = (0..m).step_by(SOLVE_BLOCK).map(inverse).collect();
        UpperFactor { upper, inverses }
    }

    fn dim(&self) -> usize {
        self.upper.nrows()
    }

    fn solve_in_place(&self, mut columns: MatMut<'_, f32>) {
        let mut remainder = Mat::zeros(SOLVE_BLOCK, columns.ncols());
        for (block, inverse) in self.inverses.iter().enumerate() {
            let (first, count) = (block * SOLVE_BLOCK, inverse.nrows());
            let (solved, rest) = columns.as_mut().split_at_row_mut(first);
            let mut current = rest.get_mut(..count, ..);
            let above = self.upper.get(..first, first..first + count).transpose();
            matmul(current.as_mut(), Accum::Add, above, solved.as_ref(), -1.0, Par::Seq);
            remainder.get_mut(..count, ..).copy_from(current.as_ref());
            matmul(current, Accum::Replace, inverse, remainder.get(..count, ..), 1.0, Par::Seq);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pivoted_cholesky::TOLERANCE;
    use crate::{Nystroem, RadialKernel};
    use halfspaces_linalg::kernels;

    fn map(points: &Points, kernel: RadialKernel) -> SingleNystroem {
        SingleNystroem::new(&KernelValues::new(points.clone(), kernel).unwrap()).unwrap()
    }

    fn unpadded(map: &SingleNystroem, features: &[f32]) -> Points {
        let row = |row: &'_ [f32]| row[..map.dim()].iter().map(|v| f64::from(*v)).collect();
        let rows: Vec<Vec<f64>> = features.chunks(map.row_len()).map(row).collect();
        Points::new(rows.concat(), map.dim()).unwrap()
    }

    fn applied(map: &SingleNystroem, points: &Points) -> Points {
        assert!(map.is_accurate());
        let mut features = vec![0.0; points.len() * map.row_len()];
        map.map_rows(points, 0..points.len(), &mut features);
        unpadded(map, &features)
    }

    /// A second landmark at distance t from the first has the squared remainder 1 - exp(-2t²), which is about 2t².
    #[test]
    fn landmarks_with_a_remainder_below_the_tolerance_are_dropped() {
        for (remainder, kept) in [(0.8e-5, 1), (1.2e-5, 2)] {
            let points = Points::from_rows(&[[0.0], [f64::sqrt(remainder / 2.0)]]).unwrap();
            let map = map(&points, RadialKernel::gaussian(1.0).unwrap());
            assert_eq!(map.dim(), kept, "{remainder}");
        }
    }

    /// The squared length of a landmark's features is K(z, z) = 1 up to the tolerance, whether or not the landmark was
    /// kept.
    #[test]
    fn no_landmark_loses_more_than_the_tolerance() {
        let points: Vec<[f64; 2]> =
            (0..200).map(|i| [f64::from(i % 17), f64::from(i % 13)]).collect();
        let points = Points::from_rows(&points).unwrap();
        let map = map(&points, RadialKernel::gaussian(300.0).unwrap());
        assert!((10..60).contains(&map.dim()), "{}", map.dim());
        for row in applied(&map, &points).as_slice().chunks(map.dim()) {
            let lost = 1.0 - kernels::dot(row, row);
            assert!(lost.abs() < f64::from(TOLERANCE) + 1e-5, "{lost}");
        }
        // No more landmarks are kept than needed, because the remainder of the last one exceeds the tolerance.
        let last = map.factor.upper[(map.dim() - 1, map.dim() - 1)];
        assert!(last * last > TOLERANCE && last * last < 10.0 * TOLERANCE, "{last}");
    }

    /// The squared distances between almost equal points that lie far from 0 consist mostly of rounding errors.
    #[test]
    fn features_of_points_far_from_0_are_those_of_the_models_kernel_values() {
        let row = |i: i32| [1e7 + f64::from(i) * 1e-8, 1e7, f64::from(i % 3) * 1e-8];
        let rows: Vec<[f64; 3]> = (0..60).map(row).collect();
        let points = Points::from_rows(&rows).unwrap();
        let map = map(&points, RadialKernel::gaussian(1e-3).unwrap());
        assert!(!map.is_accurate());
        let mut features = vec![0.0; 60 * map.row_len()];
        map.map_rows_in_double(&points, 0..60, &mut features).unwrap();
        let features = unpadded(&map, &features);
        let weights: Vec<f64> = (0..map.dim()).map(|j| (j as f64).cos()).collect();
        let found: Vec<f64> =
            features.as_slice().chunks(map.dim()).map(|row| kernels::dot(row, &weights)).collect();
        let expansion = map.expansion(weights);
        let values = map.into_kernel_values().apply(&points).unwrap();
        for (found, values) in found.iter().zip(values.as_slice().chunks(expansion.len())) {
            let expected = kernels::dot(values, &expansion);
            assert!((found - expected).abs() < 1e-4 * (1.0 + expected.abs()), "{found} {expected}");
        }
    }

    /// The products of features equal those of Nyström features, and a halfspace of the features equals a halfspace of
    /// kernel values. Two of the landmarks are equal.
    #[test]
    fn features_are_rotated_nystroem_features() {
        let points: Vec<[f64; 2]> =
            (0..40).map(|i| [f64::from(i % 7), f64::from(i % 5) * 0.5]).collect();
        let points = Points::from_rows(&points).unwrap();
        let landmarks = points.select(&[0, 3, 5, 11, 17, 35]).unwrap();
        let kernel = RadialKernel::laplacian(2.0).unwrap();
        let nystroem = Nystroem::new(landmarks.clone(), kernel).unwrap().apply(&points).unwrap();
        let map = map(&landmarks, kernel);
        let found = applied(&map, &points);
        let row = |points: &Points, i: usize| {
            points.as_slice()[i * points.dim()..][..points.dim()].to_vec()
        };
        for i in 0..40 {
            for j in 0..40 {
                let expected = kernels::dot(&row(&nystroem, i), &row(&nystroem, j));
                let product = kernels::dot(&row(&found, i), &row(&found, j));
                assert!((product - expected).abs() < 1e-5, "{product} {expected}");
            }
        }
        // One of the two equal landmarks is dropped. The expansion gives the same values as features that are computed
        // one at a time in double precision.
        let w = [1.0, -2.0, 0.5, 3.0, -1.0];
        assert_eq!(map.dim(), w.len());
        let c = map.expansion(w.to_vec());
        let factor = map.factor.upper.clone();
        let values = map.into_kernel_values().apply(&points).unwrap();
        for i in 0..40 {
            let k = row(&values, i);
            let mut features = Vec::new();
            for (j, value) in k.iter().enumerate() {
                let known: f64 = (0..j).map(|l| f64::from(factor[(l, j)]) * features[l]).sum();
                features.push((value - known) / f64::from(factor[(j, j)]));
            }
            let (a, b) = (kernels::dot(&features, &w), kernels::dot(&k, &c));
            assert!((a - b).abs() < 1e-12, "{a} {b}");
            for (double, single) in features.iter().zip(row(&found, i)) {
                assert!((double - single).abs() < 1e-6, "{double} {single}");
            }
        }
    }
}
