//! Features of a kernel by landmarks.

use crate::FeatureMap;
use crate::products::{Columns, Product};
use crate::radial_kernel::{Centres, RadialKernel};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt_pivoting::factor::{cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::triangular_inverse::invert_lower_triangular;
use faer::{Mat, Par, Spec};
use halfspaces_linalg::{InputError, PointSet, Points, RowView, load_checked, zeros};
use std::ops::Range;

/// A landmark is left out if the others give its features up to this squared length, of 1.
const TOLERANCE: f64 = 1e-10;
/// How far a saved map may be from orthonormal on its own landmarks: rounding over the least eigenvalue.
#[cfg(feature = "serde")]
const WHITE_TOLERANCE: f64 = 1e-4;

/// Features φ of a radial kernel by landmarks z_1..z_m: φ(x) · φ(z) is the kernel wherever x or z is a landmark,
/// and nearly so where they are near some.
///
/// φ(x) = L⁻¹ k(x), with k(x) the kernel values of x and the landmarks, and LLᵀ the Cholesky factors of the
/// landmarks' own kernel matrix K. They are taken in an order in which each is the one of which the features before it
/// leave the most, and those of which they leave a squared length of less than 1e-10 are left out: equal landmarks do no
/// harm, and of a smooth kernel fewer are left than were given. φ(x) · φ(z) is
/// k(x)ᵀ K⁻¹ k(z), the best that can be said of K(x, z) from the landmarks: never above K(x, x), with an error of
/// at most √((1 - ‖φ(x)‖²)(1 - ‖φ(z)‖²)).
///
/// *Cost.* O(m²(d + m)) once; per point O(m(s + m)) time for s stored coordinates. O(m(d + m)) memory.
///
/// *When to use it.* Labels that no halfspace of the columns explains. A few hundred landmarks do for most
/// tables; [`RandomFourier`](crate::RandomFourier) has cheaper features that need more of them.
///
/// *Source.* Williams and Seeger 2001; which landmarks, Fine and Scheinberg 2001. Claims: none of its own.
///
/// ```
/// use halfspaces_features::{Distance, FeatureMap, Landmarks, Nystroem, RadialKernel};
/// use halfspaces_linalg::{Points, kernels};
/// let points = Points::from_rows(&[[0.0, 1.0], [2.0, 0.0], [1.0, 1.0], [0.5, 0.0]])?;
/// let kernel = RadialKernel::gaussian(Distance::SquaredEuclidean.median(&points, 1)?)?;
/// let map = Nystroem::new(Landmarks::Uniform.choose(&points, 4, 1)?, kernel)?;
/// let features = map.apply(&points)?;
/// let exact = kernel.value(halfspaces_linalg::DenseRow::new(&[0.0, 1.0])?, &[2.0, 0.0])?;
/// assert!((kernels::dot(&features.as_slice()[..4], &features.as_slice()[4..8]) - exact).abs() < 1e-12);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Nystroem {
    landmarks: Points,
    kernel: RadialKernel,
    /// L⁻¹, a row per feature.
    whitening: Points,
    #[cfg_attr(feature = "serde", serde(skip))]
    centres: Centres,
    #[cfg_attr(feature = "serde", serde(skip))]
    directions: Columns,
}

load_checked!(Nystroem { landmarks: Points, kernel: RadialKernel, whitening: Points } => Nystroem::load);

#[cfg(feature = "serde")]
impl Nystroem {
    /// Features are those of one order of the landmarks, which rounding may change: a model fitted to them needs these very
    /// ones, so they are saved and checked, not computed anew.
    fn load(
        landmarks: Points,
        kernel: RadialKernel,
        whitening: Points,
    ) -> Result<Self, InputError> {
        InputError::check_dim(landmarks.len(), whitening.dim())?;
        if landmarks.is_empty() || whitening.is_empty() {
            return Err(InputError::Empty);
        }
        let map = Nystroem::from_parts(landmarks, kernel, whitening);
        let features = map.apply(&map.landmarks)?;
        // The rows of Φ are φ(z_k): Φ = KL⁻ᵀ, and L⁻¹Φ is the identity.
        let size = map.whitening.len();
        let identity = map.whitening.as_mat() * features.as_mat();
        let white = (0..size).all(|i| {
            (0..size).all(|j| {
                let expected = if i == j { 1.0 } else { 0.0 };
                (identity[(i, j)] - expected).abs() <= WHITE_TOLERANCE
            })
        });
        InputError::check_state(
            white,
            "the features are not orthonormal on the landmarks' kernel",
        )?;
        Ok(map)
    }
}

impl Nystroem {
    /// Features by these landmarks, one per row ([`Landmarks::choose`](crate::Landmarks::choose)), as far as they are needed.
    ///
    /// # Errors
    /// [`InputError::Empty`]; [`InputError::Overflow`] if a squared norm leaves `f64`.
    pub fn new(landmarks: Points, kernel: RadialKernel) -> Result<Self, InputError> {
        if landmarks.is_empty() {
            return Err(InputError::Empty);
        }
        let m = landmarks.len();
        let centres = Centres::new(landmarks.as_slice(), landmarks.dim());
        let mut values = zeros(m, m)?;
        centres.values_of_rows(kernel, &landmarks, 0..m, &mut values)?;
        let (order, factor) = pivoted_cholesky(Mat::from_fn(m, m, |i, j| values[i * m + j]));
        let rank = order.len();
        let mut inverse = Mat::zeros(rank, rank);
        invert_lower_triangular(inverse.as_mut(), factor.as_ref(), Par::Seq);
        let mut whitening = zeros(rank, rank)?;
        for (k, row) in whitening.chunks_exact_mut(rank).enumerate() {
            row[..=k].iter_mut().enumerate().for_each(|(i, v)| *v = inverse[(k, i)]);
        }
        let landmarks = landmarks.select(&order)?;
        Ok(Nystroem::from_parts(landmarks, kernel, Points::new(whitening, rank)?))
    }

    fn from_parts(landmarks: Points, kernel: RadialKernel, whitening: Points) -> Nystroem {
        let centres = Centres::new(landmarks.as_slice(), landmarks.dim());
        let directions =
            Columns::from_rows(whitening.as_slice(), landmarks.len()).without_last_zeros();
        Nystroem { landmarks, kernel, whitening, centres, directions }
    }

    /// The landmarks that are needed, in their order.
    #[must_use]
    pub fn landmarks(&self) -> &Points {
        &self.landmarks
    }

    /// The kernel.
    #[must_use]
    pub fn kernel(&self) -> RadialKernel {
        self.kernel
    }

    /// The coefficients c with w · φ(x) = Σ c_k K(x, z_k): a halfspace of the features as an expansion in kernel values,
    /// which takes O(m) instead of O(m²) per point beyond these values.
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`].
    pub fn expansion(&self, weights: &[f64]) -> Result<Vec<f64>, InputError> {
        InputError::check_dim(self.output_dim(), weights.len())?;
        let mut coefficients = zeros(1, self.landmarks.len())?;
        for (direction, w) in self.whitening.rows().zip(weights) {
            direction.add_scaled_to(*w, &mut coefficients);
        }
        Ok(coefficients)
    }
}

/// The landmarks that are needed, in order, and the lower factor of their kernel matrix.
fn pivoted_cholesky(mut kernel: Mat<f64>) -> (Vec<usize>, Mat<f64>) {
    let m = kernel.nrows();
    let (mut order, mut inverse) = (vec![0usize; m], vec![0usize; m]);
    let params = Spec::default();
    let room = cholesky_in_place_scratch::<usize, f64>(m, Par::Seq, params);
    let mut room = MemBuffer::new(room);
    let done = cholesky_in_place(
        kernel.as_mut(),
        &mut order,
        &mut inverse,
        Par::Seq,
        MemStack::new(&mut room),
        params,
    );
    #[expect(clippy::expect_used, reason = "kernel values are finite, 1 on the diagonal")]
    let most = done.expect("pivots are numbers, the first is 1").0.rank;
    // Pivots fall; the square of one is what the features before it leave.
    let is_needed = |k: &usize| kernel[(*k, *k)].powi(2) > TOLERANCE;
    let rank = (0..most).take_while(is_needed).count();
    order.truncate(rank);
    let lower = |i, j| if j <= i { kernel[(i, j)] } else { 0.0 };
    (order, Mat::from_fn(rank, rank, lower))
}

impl FeatureMap for Nystroem {
    fn input_dim(&self) -> usize {
        self.landmarks.dim()
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
        let mut values = zeros(rows.len(), self.landmarks.len())?;
        self.centres.values_of_rows(self.kernel, points, rows, &mut values)?;
        self.directions.sums_of_block::<Product>(&values, out);
        Ok(())
    }

    fn map_row<R: RowView>(&self, x: R, out: &mut [f64]) -> Result<(), InputError> {
        let mut values = zeros(1, self.landmarks.len())?;
        self.centres.values(self.kernel, x, &mut values)?;
        self.directions.sums_of_block::<Product>(&values, out);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of two landmarks at a distance d the first leaves 1 - exp(-d²)² = 2d² of the second: 2e-10 and 5e-11.
    #[test]
    fn landmarks_that_others_give_are_left_out() {
        for (distance, left) in [(1e-5, 2), (5e-6, 1), (0.0, 1)] {
            let landmarks = Points::new(vec![0.0, distance], 1).unwrap();
            let map = Nystroem::new(landmarks, RadialKernel::gaussian(1.0).unwrap()).unwrap();
            assert_eq!((map.landmarks().len(), map.output_dim()), (left, left), "{distance}");
        }
        // Farthest from what the ones before see comes first: of 0, 0.1 and 3 the last is second.
        let landmarks = Points::new(vec![0.0, 0.1, 3.0], 1).unwrap();
        let map = Nystroem::new(landmarks, RadialKernel::gaussian(1.0).unwrap()).unwrap();
        assert_eq!(map.landmarks().as_slice(), [0.0, 3.0, 0.1]);
    }
}
