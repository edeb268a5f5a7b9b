//! Nyström features of a kernel, in double precision.
//!
//! The factorisation runs in double precision and drops landmarks whose squared remainder is at most 1e-10.
//! [`SingleNystroem`](crate::SingleNystroem) has its own factorisation, which runs in single precision with a tolerance
//! of 1e-5. The two are not merged, because a common factorisation would change the order and the number of the
//! landmarks kept, and therefore the features of every model.

use crate::products::{Columns, Product};
use crate::{FeatureMap, KernelValues, RadialKernel};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt_pivoting::factor::{cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::triangular_inverse::invert_lower_triangular;
use faer::{Mat, Par, Spec};
use halfspaces_linalg::{InputError, PointSet, Points, RowView, zeros};
use std::ops::Range;

/// The remainder of a landmark is the part of its features that the other landmarks do not explain. A landmark is
/// dropped if the squared length of its remainder is at most this number. The squared length of all its features is 1.
const TOLERANCE: f64 = 1e-10;

/// A map to Nyström features φ of a radial kernel K, computed from landmarks z_1, ..., z_m. The product φ(x) · φ(z)
/// equals K(x, z) if x or z is a landmark, and is close to K(x, z) if both points are near landmarks.
///
/// The features are φ(x) = L⁻¹ k(x). The vector k(x) holds the kernel values of x with the landmarks, and LLᵀ is the
/// Cholesky factorisation of the landmarks' own kernel matrix K. The factorisation chooses the landmarks one by one.
/// The remainder of a landmark is the part of its features that the landmarks chosen so far do not explain. Each step
/// chooses the landmark with the largest remainder. Landmarks with a squared remainder of at most 1e-10 are dropped.
/// Duplicate landmarks therefore do no harm, and a map with a smooth kernel keeps fewer landmarks than it was given.
///
/// *Guarantee.* The product φ(x) · φ(z) = k(x)ᵀ K⁻¹ k(z) is the best approximation of K(x, z) from the landmarks. The
/// squared norm ‖φ(x)‖² never exceeds K(x, x) = 1, and the error of the approximation is at most √((1 - ‖φ(x)‖²)(1 -
/// ‖φ(z)‖²)).
///
/// *Cost.* O(m²(d + m)) time to create the map, O(m(s + m)) time per point with s stored coordinates, and O(m(d + m))
/// memory, for m landmarks in d dimensions.
///
/// *When to use it.* Use this map if no halfspace of the original columns explains the labels. A few hundred landmarks
/// suffice for most tables.
///
/// *Source.* Williams and Seeger 2001; Fine and Scheinberg 2001 for the order of the landmarks. No claim tests this
/// map.
///
/// ```
/// use halfspaces_features::{Distance, FeatureMap, Nystroem, RadialKernel, choose_landmarks};
/// use halfspaces_linalg::{Points, kernels};
/// let points = Points::from_rows(&[[0.0, 1.0], [2.0, 0.0], [1.0, 1.0], [0.5, 0.0]])?;
/// let kernel = RadialKernel::gaussian(Distance::SquaredEuclidean.median(&points, 1)?)?;
/// let map = Nystroem::new(choose_landmarks(&points, 4, 1)?, kernel)?;
/// let features = map.apply(&points)?;
/// let exact = kernel.value(halfspaces_linalg::DenseRow::new(&[0.0, 1.0])?, &[2.0, 0.0])?;
/// assert!((kernels::dot(&features.as_slice()[..4], &features.as_slice()[4..8]) - exact).abs() < 1e-12);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Nystroem {
    values: KernelValues,
    /// The matrix L⁻¹, one row per feature.
    whitening: Points,
    /// The rows of `whitening`, arranged for fast products.
    columns: Columns,
}

impl Nystroem {
    /// Creates the map from landmarks, one per row (see [`choose_landmarks`](crate::choose_landmarks)). Landmarks that
    /// add no feature are dropped.
    ///
    /// # Errors
    /// [`InputError::Empty`] if there are no landmarks; [`InputError::Overflow`] if a squared norm exceeds the range of
    /// `f64`.
    pub fn new(landmarks: Points, kernel: RadialKernel) -> Result<Self, InputError> {
        let all = KernelValues::new(landmarks, kernel)?;
        let landmarks = all.centres();
        let m = landmarks.len();
        let mut values = zeros(m, m)?;
        all.map_rows(landmarks, 0..m, &mut values)?;
        let (order, factor) = pivoted_cholesky(Mat::from_fn(m, m, |i, j| values[i * m + j]));
        let rank = order.len();
        let mut inverse = Mat::zeros(rank, rank);
        invert_lower_triangular(inverse.as_mut(), factor.as_ref(), Par::Seq);
        let mut whitening = zeros(rank, rank)?;
        for (k, row) in whitening.chunks_exact_mut(rank).enumerate() {
            row[..=k].iter_mut().enumerate().for_each(|(i, v)| *v = inverse[(k, i)]);
        }
        let values = KernelValues::new(landmarks.select(&order)?, kernel)?;
        let columns = Columns::from_rows(&whitening, rank).without_trailing_zeros();
        Ok(Nystroem { values, whitening: Points::new(whitening, rank)?, columns })
    }

    /// The map to kernel values with the landmarks that were kept, in the order in which they were chosen. The
    /// coefficients that [`Nystroem::expansion`] returns apply to these kernel values.
    #[must_use]
    pub fn kernel_values(&self) -> &KernelValues {
        &self.values
    }

    /// The coefficients c with w · φ(x) = Σ c_k K(x, z_k). They convert a halfspace of the features with the given
    /// weights w into an expansion in [`Nystroem::kernel_values`]. Given the kernel values, the expansion takes O(m)
    /// time per point instead of O(m²).
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`] unless there is one weight per feature.
    pub fn expansion(&self, weights: &[f64]) -> Result<Vec<f64>, InputError> {
        InputError::check_dim(self.output_dim(), weights.len())?;
        let mut coefficients = zeros(1, self.whitening.dim())?;
        for (row, w) in self.whitening.rows().zip(weights) {
            row.add_scaled_to(*w, &mut coefficients);
        }
        Ok(coefficients)
    }
}

/// The indices of the landmarks that are kept, in the order chosen, and the lower Cholesky factor of their kernel
/// matrix.
fn pivoted_cholesky(mut kernel: Mat<f64>) -> (Vec<usize>, Mat<f64>) {
    let m = kernel.nrows();
    let (mut order, mut inverse) = (vec![0usize; m], vec![0usize; m]);
    let params = Spec::default();
    let scratch = cholesky_in_place_scratch::<usize, f64>(m, Par::Seq, params);
    let mut scratch = MemBuffer::new(scratch);
    let done = cholesky_in_place(
        kernel.as_mut(),
        &mut order,
        &mut inverse,
        Par::Seq,
        MemStack::new(&mut scratch),
        params,
    );
    #[expect(clippy::expect_used, reason = "kernel values are finite, and 1 on the diagonal")]
    let max_rank = done.expect("no pivot is NaN, and the first is 1").0.rank;
    // The pivots decrease. The square of a pivot is the squared remainder of its landmark.
    let is_needed = |k: &usize| kernel[(*k, *k)].powi(2) > TOLERANCE;
    let rank = (0..max_rank).take_while(is_needed).count();
    order.truncate(rank);
    let lower = |i, j| if j <= i { kernel[(i, j)] } else { 0.0 };
    (order, Mat::from_fn(rank, rank, lower))
}

impl FeatureMap for Nystroem {
    fn input_dim(&self) -> usize {
        self.values.input_dim()
    }

    fn output_dim(&self) -> usize {
        self.whitening.len()
    }

    fn map_rows<P: PointSet>(
        &self,
        points: &P,
        rows: Range<usize>,
        out: &mut [f64],
    ) -> Result<(), InputError> {
        let mut values = zeros(rows.len(), self.values.output_dim())?;
        self.values.map_rows(points, rows, &mut values)?;
        self.columns.sums_of_block::<Product>(&values, out);
        Ok(())
    }

    fn map_row<R: RowView>(&self, x: R, out: &mut [f64]) -> Result<(), InputError> {
        let mut values = zeros(1, self.values.output_dim())?;
        self.values.map_row(x, &mut values)?;
        self.columns.sums_of_block::<Product>(&values, out);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// If two landmarks are a distance d apart, the second has a squared remainder of 1 - exp(-d²)², which is about
    /// 2d². The remainders here are 2e-10 and 5e-11.
    #[test]
    fn redundant_landmarks_are_dropped() {
        for (distance, kept) in [(1e-5, 2), (5e-6, 1), (0.0, 1)] {
            let landmarks = Points::new(vec![0.0, distance], 1).unwrap();
            let map = Nystroem::new(landmarks, RadialKernel::gaussian(1.0).unwrap()).unwrap();
            let landmarks = map.kernel_values().centres().len();
            assert_eq!((landmarks, map.output_dim()), (kept, kept), "{distance}");
        }
        // Each step chooses the landmark with the largest remainder. With landmarks at 0, 0.1 and 3, the one at 3 is
        // chosen second.
        let landmarks = Points::new(vec![0.0, 0.1, 3.0], 1).unwrap();
        let map = Nystroem::new(landmarks, RadialKernel::gaussian(1.0).unwrap()).unwrap();
        assert_eq!(map.kernel_values().centres().as_slice(), [0.0, 3.0, 0.1]);
    }
}
