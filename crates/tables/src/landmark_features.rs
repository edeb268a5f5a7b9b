//! Features of a kernel by landmarks, made fast to learn on.

use crate::feature_rows::{Entry, FeatureRows, copy_rounded};
use crate::pivoted_cholesky::pivoted_cholesky;
use crate::single_kernel::SingleKernel;
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::{
    solve_lower_triangular_in_place, solve_upper_triangular_in_place,
};
use faer::{Accum, Mat, MatMut, Par};
use halfspaces_features::{FeatureMap, KernelValues};
use halfspaces_kernels::SINGLE_LANES;
use halfspaces_linalg::{InputError, PointSet, Points};
use std::ops::Range;

/// Features solved for together.
const SOLVED: usize = 64;

/// Features U⁻ᵀk(x) for the kernel values k of landmarks whose kernel matrix is UᵀU: up to a rotation those of a
/// [`Nystroem`](halfspaces_features::Nystroem) map, which a learner of halfspaces does not notice. Of smooth kernels
/// a part of the landmarks gives the features of all.
pub(crate) struct LandmarkFeatures {
    values: KernelValues,
    factor: Mat<f32>,
    single: SingleKernel,
    /// Whether values in single precision are those that models have.
    single_is_near: bool,
}

impl LandmarkFeatures {
    /// By as many of the centres as are needed.
    pub(crate) fn new(values: &KernelValues) -> Result<LandmarkFeatures, InputError> {
        let centres = values.centres();
        let m = centres.len();
        let mut own = vec![0.0; m * m];
        let single = SingleKernel::new(values);
        if single.is_near(values)? {
            single.values(centres.as_slice(), &mut own, m);
        } else {
            own.iter_mut()
                .zip(values.apply(centres)?.as_slice())
                .for_each(|(own, v)| *own = *v as f32);
        }
        let (chosen, factor) = pivoted_cholesky(own, m);
        let values = KernelValues::new(centres.select(&chosen)?, values.kernel())?;
        let single = SingleKernel::new(&values);
        let single_is_near = single.is_near(&values)?;
        Ok(LandmarkFeatures { values, factor, single, single_is_near })
    }

    /// Number of features.
    pub(crate) fn dim(&self) -> usize {
        self.factor.nrows()
    }

    /// The features of the first points; none where they cannot be kept as `T`, or kernel values not be computed in single
    /// precision. In single precision the solution is that of a factor of which every entry
    /// is off by some 1e-6 of itself.
    pub(crate) fn rows<T: Entry>(
        &self,
        points: &Points,
        rows: usize,
    ) -> Result<Option<FeatureRows<T>>, InputError> {
        let dim = points.dim();
        if !self.single_is_near {
            return Ok(None);
        }
        self.solved(rows, |rows, out, width| {
            self.single.values(&points.as_slice()[rows.start * dim..rows.end * dim], out, width);
            Ok(())
        })
    }

    /// The same by the kernel values that models have, whatever these are off by: where points lie far from 0 and much closer
    /// to each other.
    pub(crate) fn rows_as_models_have_them(
        &self,
        points: &Points,
        rows: usize,
    ) -> Result<FeatureRows<f32>, InputError> {
        let mut values = Vec::new();
        let rows = self.solved(rows, |rows, out, _| {
            values.resize(rows.len() * self.dim(), 0.0);
            self.values.map_rows(points, rows, &mut values)?;
            copy_rounded(&values, self.dim(), out);
            Ok(())
        })?;
        let Some(rows) = rows else { unreachable!("single precision holds whatever is written") };
        Ok(rows)
    }

    /// Rows of kernel values that `write` writes, solved for.
    fn solved<T: Entry>(
        &self,
        rows: usize,
        mut write: impl FnMut(Range<usize>, &mut [f32], usize) -> Result<(), InputError>,
    ) -> Result<Option<FeatureRows<T>>, InputError> {
        let solve = ForwardSolve::new(&self.factor);
        let features = self.dim();
        let width = features.next_multiple_of(SINGLE_LANES);
        FeatureRows::new(rows, features, |rows, out| {
            let count = rows.len();
            write(rows, out, width)?;
            solve.in_place(MatMut::from_column_major_slice_with_stride_mut(
                out, features, count, width,
            ));
            Ok(())
        })
    }

    /// The coefficients c with w · φ(x) = Σ c_k K(x, z_k).
    pub(crate) fn expansion(&self, mut weights: Vec<f64>) -> Vec<f64> {
        let m = self.factor.nrows();
        let factor = Mat::from_fn(m, m, |i, j| f64::from(self.factor[(i, j)]));
        let column = MatMut::from_column_major_slice_mut(&mut weights, m, 1);
        solve_upper_triangular_in_place(factor.as_ref(), column, Par::Seq);
        weights
    }

    pub(crate) fn into_values(self) -> KernelValues {
        self.values
    }
}

/// Solves Uᵀx = k for many k at once: blocks of x by products with all before, and with the inverse of a block on the diagonal.
struct ForwardSolve<'a> {
    factor: &'a Mat<f32>,
    inverses: Vec<Mat<f32>>,
}

impl ForwardSolve<'_> {
    fn new(factor: &Mat<f32>) -> ForwardSolve<'_> {
        let m = factor.nrows();
        let inverse = |first: usize| {
            let end = m.min(first + SOLVED);
            let mut inverse = Mat::identity(end - first, end - first);
            let block = Mat::from_fn(end - first, end - first, |i, j| {
                f64::from(factor[(first + j, first + i)])
            });
            solve_lower_triangular_in_place(block.as_ref(), inverse.as_mut(), Par::Seq);
            Mat::from_fn(end - first, end - first, |i, j| inverse[(i, j)] as f32)
        };
        ForwardSolve { factor, inverses: (0..m).step_by(SOLVED).map(inverse).collect() }
    }

    fn in_place(&self, mut columns: MatMut<'_, f32>) {
        let mut left = Mat::zeros(SOLVED, columns.ncols());
        for (block, inverse) in self.inverses.iter().enumerate() {
            let (first, count) = (block * SOLVED, inverse.nrows());
            let (solved, rest) = columns.as_mut().split_at_row_mut(first);
            let mut at_hand = rest.get_mut(..count, ..);
            let before = self.factor.get(..first, first..first + count).transpose();
            matmul(at_hand.as_mut(), Accum::Add, before, solved.as_ref(), -1.0, Par::Seq);
            left.get_mut(..count, ..).copy_from(at_hand.as_ref());
            matmul(at_hand, Accum::Replace, inverse, left.get(..count, ..), 1.0, Par::Seq);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pivoted_cholesky::TOLERANCE;
    use halfspaces_features::{Nystroem, RadialKernel};
    use halfspaces_linalg::kernels;

    fn map(points: &Points, kernel: RadialKernel) -> LandmarkFeatures {
        LandmarkFeatures::new(&KernelValues::new(points.clone(), kernel).unwrap()).unwrap()
    }

    fn applied<T: Entry>(map: &LandmarkFeatures, points: &Points) -> Points {
        let rows = map.rows::<T>(points, points.len()).unwrap().unwrap();
        let row = |i: usize| {
            let row = rows.row(i).as_flattened()[..map.dim()].iter();
            row.map(|v| (*v).into() * f64::from(T::UNIT))
        };
        Points::new((0..points.len()).flat_map(row).collect(), map.dim()).unwrap()
    }

    /// A second landmark at distance t of the first adds 1 - exp(-2t²), about 2t².
    #[test]
    fn what_adds_less_than_a_hundred_thousandth_is_left_out() {
        for (added, kept) in [(0.8e-5, 1), (1.2e-5, 2)] {
            let points = Points::from_rows(&[[0.0], [f64::sqrt(added / 2.0)]]).unwrap();
            assert_eq!(map(&points, RadialKernel::gaussian(1.0).unwrap()).dim(), kept, "{added}");
        }
    }

    /// The length of a landmark's features is that of the kernel, 1, up to the tolerance, whether it was chosen or not.
    #[test]
    fn no_landmark_loses_more_than_the_tolerance() {
        let points: Vec<[f64; 2]> =
            (0..200).map(|i| [f64::from(i % 17), f64::from(i % 13)]).collect();
        let points = Points::from_rows(&points).unwrap();
        let map = map(&points, RadialKernel::gaussian(300.0).unwrap());
        assert!((10..60).contains(&map.dim()), "{}", map.dim());
        let features = applied::<f32>(&map, &points);
        let short = applied::<i16>(&map, &points);
        for (single, short) in features.as_slice().iter().zip(short.as_slice()) {
            assert!((single - short).abs() < 1.6e-5, "{single} {short}");
        }
        for row in features.as_slice().chunks(map.dim()) {
            let left = 1.0 - kernels::dot(row, row);
            assert!(left.abs() < f64::from(TOLERANCE) + 1e-5, "{left}");
        }
        // Not more of them than that takes: each adds more than the tolerance to the landmark it is.
        let last = map.factor[(map.dim() - 1, map.dim() - 1)];
        assert!(last * last > TOLERANCE && last * last < 10.0 * TOLERANCE, "{last}");
    }

    /// Far out, squared distances of almost equal points are mostly rounding.
    #[test]
    fn points_far_out_do_no_harm() {
        let row = |i: i32| [1e7 + f64::from(i) * 1e-8, 1e7, f64::from(i % 3) * 1e-8];
        let rows: Vec<[f64; 3]> = (0..60).map(row).collect();
        let points = Points::from_rows(&rows).unwrap();
        let kernel = RadialKernel::gaussian(1e-3).unwrap();
        // No features but those of the values that a model has: what is learned of them is what it says.
        let map = map(&points, kernel);
        assert!(map.rows::<i16>(&points, 60).unwrap().is_none());
        let features = map.rows_as_models_have_them(&points, 60).unwrap();
        let weights: Vec<f64> = (0..map.dim()).map(|j| (j as f64).cos()).collect();
        let found = features.products(&(0..60).collect::<Vec<_>>(), &weights);
        let expansion = map.expansion(weights);
        let values = map.into_values().apply(&points).unwrap();
        for (found, values) in found.iter().zip(values.as_slice().chunks(expansion.len())) {
            let expected = kernels::dot(values, &expansion);
            assert!((found - expected).abs() < 1e-4 * (1.0 + expected.abs()), "{found} {expected}");
        }
    }

    /// Products of features are those of Nyström features, and a halfspace of them is one of kernel values. Two of the landmarks
    /// are equal.
    #[test]
    fn features_are_nystroem_features_turned() {
        let points: Vec<[f64; 2]> =
            (0..40).map(|i| [f64::from(i % 7), f64::from(i % 5) * 0.5]).collect();
        let points = Points::from_rows(&points).unwrap();
        let landmarks = points.select(&[0, 3, 5, 11, 17, 35]).unwrap();
        let kernel = RadialKernel::laplacian(2.0).unwrap();
        let nystroem = Nystroem::new(landmarks.clone(), kernel).unwrap().apply(&points).unwrap();
        let map = map(&landmarks, kernel);
        let found = applied::<f32>(&map, &points);
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
        // One of the two equal landmarks is left out. The values of a halfspace by its expansion are those by features
        // that are computed in double precision, one after the other.
        let w = [1.0, -2.0, 0.5, 3.0, -1.0];
        assert_eq!(map.dim(), w.len());
        let c = map.expansion(w.to_vec());
        let factor = map.factor.clone();
        let values = map.into_values().apply(&points).unwrap();
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
