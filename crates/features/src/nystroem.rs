//! Nyström features of a kernel.
//!
//! The factorisation is in double precision and drops landmarks below a squared length of 1e-10.
//! [`SingleNystroem`](crate::SingleNystroem) has a factorisation of its own, in single precision and with a tolerance
//! of 1e-5. They are not merged: a common factorisation would change the order and the number of the landmarks kept,
//! and with them the features of every model.

use crate::products::{Columns, Product};
use crate::{FeatureMap, KernelValues, RadialKernel};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt_pivoting::factor::{cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::triangular_inverse::invert_lower_triangular;
use faer::{Mat, Par, Spec};
use halfspaces_linalg::{InputError, PointSet, Points, RowView, zeros};
use std::ops::Range;

/// A landmark is dropped if the other landmarks explain its features up to this squared length; the full squared length
/// is 1.
const TOLERANCE: f64 = 1e-10;

/// Features φ of a radial kernel, from landmarks z_1, ..., z_m. φ(x) · φ(z) equals K(x, z) if x or z is a landmark, and
/// is close to it if both are near landmarks.
///
/// φ(x) = L⁻¹ k(x). Here k(x) holds the kernel values of x and the landmarks, and LLᵀ is the Cholesky factorisation of
/// the landmarks' own kernel matrix K. The factorisation chooses the landmarks one by one. Each time it chooses the
/// landmark with the largest remainder, that is, the part of its features that the landmarks chosen before do not
/// explain. Landmarks with a squared remainder below 1e-10 are dropped. So duplicate landmarks do no harm, and a smooth
/// kernel keeps fewer landmarks than it was given.
///
/// *Guarantee.* φ(x) · φ(z) = k(x)ᵀ K⁻¹ k(z) is the best approximation of K(x, z) from the landmarks.
/// ‖φ(x)‖² never exceeds K(x, x) = 1, and the error is at most √((1 - ‖φ(x)‖²)(1 - ‖φ(z)‖²)).
///
/// *Cost.* O(m²(d + m)) time once; O(m(s + m)) time per point with s stored coordinates; O(m(d + m)) memory.
///
/// *When to use it.* Labels that no halfspace of the columns explains. A few hundred landmarks suffice for most tables.
///
/// *Source.* Williams and Seeger 2001; Fine and Scheinberg 2001 for the order of the landmarks. Claims: none of its
/// own.
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
    /// L⁻¹, one row per feature.
    whitening: Points,
    /// The same rows, arranged for fast products.
    columns: Columns,
}

impl Nystroem {
    /// Creates the map from landmarks, one per row (see [`choose_landmarks`](crate::choose_landmarks)). Landmarks that
    /// add no feature are dropped.
    ///
    /// # Errors
    /// [`InputError::Empty`]; [`InputError::Overflow`] if a squared norm exceeds the range of `f64`.
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

    /// The kernel values of the landmarks that were kept, in their order: the map that
    /// [`Nystroem::expansion`] belongs to.
    #[must_use]
    pub fn kernel_values(&self) -> &KernelValues {
        &self.values
    }

    /// The coefficients c with w · φ(x) = Σ c_k K(x, z_k), which turn a halfspace of the features into an expansion in
    /// [`Nystroem::kernel_values`]. Given the kernel values, the expansion takes O(m) time per point instead of O(m²).
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`].
    pub fn expansion(&self, weights: &[f64]) -> Result<Vec<f64>, InputError> {
        InputError::check_dim(self.output_dim(), weights.len())?;
        let mut coefficients = zeros(1, self.whitening.dim())?;
        for (row, w) in self.whitening.rows().zip(weights) {
            row.add_scaled_to(*w, &mut coefficients);
        }
        Ok(coefficients)
    }
}

/// The indices of the landmarks kept, in order, and the lower Cholesky factor of their kernel matrix.
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
    #[expect(clippy::expect_used, reason = "kernel values are finite, 1 on the diagonal")]
    let max_rank = done.expect("pivots are numbers, the first is 1").0.rank;
    // Pivots decrease; a squared pivot is the squared remainder of its landmark.
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

    /// Of two landmarks at distance d, the first leaves the second a squared remainder of 1 - exp(-d²)² = 2d²: 2e-10
    /// and 5e-11.
    #[test]
    fn redundant_landmarks_are_dropped() {
        for (distance, kept) in [(1e-5, 2), (5e-6, 1), (0.0, 1)] {
            let landmarks = Points::new(vec![0.0, distance], 1).unwrap();
            let map = Nystroem::new(landmarks, RadialKernel::gaussian(1.0).unwrap()).unwrap();
            let landmarks = map.kernel_values().centres().len();
            assert_eq!((landmarks, map.output_dim()), (kept, kept), "{distance}");
        }
        // The landmark with the largest remainder comes next: of 0, 0.1 and 3, the landmark 3 is chosen second.
        let landmarks = Points::new(vec![0.0, 0.1, 3.0], 1).unwrap();
        let map = Nystroem::new(landmarks, RadialKernel::gaussian(1.0).unwrap()).unwrap();
        assert_eq!(map.kernel_values().centres().as_slice(), [0.0, 3.0, 0.1]);
    }
}
