//! Features of a kernel by landmarks, made fast to learn on.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::triangular_solve::{
    solve_lower_triangular_in_place, solve_upper_triangular_in_place,
};
use faer::{Mat, MatMut, Par};
use halfspaces_features::{FeatureMap, KernelValues};
use halfspaces_linalg::{InputError, PointSet, Points};
use std::ops::Range;

/// What is added to the diagonal of the landmarks' kernel matrix, so that equal landmarks do no harm.
const RIDGE: f64 = 1e-7;

/// Features L⁻¹k(x) for the kernel values k of landmarks whose kernel matrix is LLᵀ: up to a rotation those of a
/// [`Nystroem`](halfspaces_features::Nystroem) map, which a learner of halfspaces does not notice.
pub(crate) struct LandmarkFeatures {
    values: KernelValues,
    factor: Mat<f64>,
}

impl LandmarkFeatures {
    pub(crate) fn new(values: KernelValues) -> Result<LandmarkFeatures, InputError> {
        let own = values.apply(values.centres())?;
        let m = own.len();
        let entries = own.as_slice();
        let params = Default::default();
        let mut memory = MemBuffer::new(cholesky_in_place_scratch::<f64>(m, Par::Seq, params));
        let mut ridge = RIDGE;
        let factor = loop {
            let entry = |i: usize, j: usize| entries[i * m + j] + if i == j { ridge } else { 0.0 };
            let mut factor = Mat::from_fn(m, m, entry);
            let stack = MemStack::new(&mut memory);
            let done =
                cholesky_in_place(factor.as_mut(), Default::default(), Par::Seq, stack, params);
            if done.is_ok() {
                break factor;
            }
            // Values of points far out, compared with the scale, are rounded by more than the ridge.
            assert!(ridge <= m as f64, "entries of at most 1 beside a diagonal above their number");
            ridge *= 100.0;
        };
        Ok(LandmarkFeatures { values, factor })
    }

    /// The features of the points `rows`, row after row.
    pub(crate) fn map_rows(
        &self,
        points: &Points,
        rows: Range<usize>,
        out: &mut [f64],
    ) -> Result<(), InputError> {
        let m = self.factor.nrows();
        let count = rows.len();
        self.values.map_rows(points, rows, out)?;
        let out = MatMut::from_column_major_slice_mut(out, m, count);
        solve_lower_triangular_in_place(self.factor.as_ref(), out, Par::Seq);
        Ok(())
    }

    /// The coefficients c with w · φ(x) = Σ c_k K(x, z_k).
    pub(crate) fn expansion(&self, mut weights: Vec<f64>) -> Vec<f64> {
        let m = self.factor.nrows();
        let column = MatMut::from_column_major_slice_mut(&mut weights, m, 1);
        solve_upper_triangular_in_place(self.factor.as_ref().transpose(), column, Par::Seq);
        weights
    }

    pub(crate) fn into_values(self) -> KernelValues {
        self.values
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_features::{Nystroem, RadialKernel};
    use halfspaces_linalg::kernels;

    fn applied(map: &LandmarkFeatures, points: &Points) -> Points {
        let m = map.factor.nrows();
        let mut features = vec![0.0; points.len() * m];
        map.map_rows(points, 0..points.len(), &mut features).unwrap();
        Points::new(features, m).unwrap()
    }

    /// Far out, squared distances of almost equal points are mostly rounding.
    #[test]
    fn points_far_out_do_no_harm() {
        let row = |i: i32| [1e7 + f64::from(i) * 1e-8, 1e7, f64::from(i % 3) * 1e-8];
        let rows: Vec<[f64; 3]> = (0..60).map(row).collect();
        let points = Points::from_rows(&rows).unwrap();
        let kernel = RadialKernel::gaussian(1e-3).unwrap();
        let map =
            LandmarkFeatures::new(KernelValues::new(points.clone(), kernel).unwrap()).unwrap();
        assert_eq!(applied(&map, &points).len(), 60);
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
        let map = LandmarkFeatures::new(KernelValues::new(landmarks, kernel).unwrap()).unwrap();
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
        let w = [1.0, -2.0, 0.5, 3.0, -1.0, 0.25];
        let c = map.expansion(w.to_vec());
        let values = map.into_values().apply(&points).unwrap();
        for i in 0..40 {
            let (a, b) = (kernels::dot(&row(&found, i), &w), kernels::dot(&row(&values, i), &c));
            assert!((a - b).abs() < 1e-8, "{a} {b}");
        }
    }
}
