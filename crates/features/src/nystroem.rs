//! Features of a kernel by landmarks.

use crate::FeatureMap;
use crate::products::{Columns, Product};
use crate::radial_kernel::{Centres, RadialKernel};
use faer::{Mat, Side};
use halfspaces_linalg::{InputError, PointSet, Points, RowView, load_checked, zeros};
use std::ops::Range;

/// Eigenvalues of the landmarks' kernel below this share of the largest are taken for 0.
const RANK_TOLERANCE: f64 = 1e-10;
/// How far a saved map may be from orthonormal on its own landmarks: rounding over the least eigenvalue.
#[cfg(feature = "serde")]
const WHITE_TOLERANCE: f64 = 1e-4;

/// Features φ of a radial kernel by landmarks z_1..z_m: φ(x) · φ(z) is the kernel wherever x or z is a landmark,
/// and nearly so where they are near some.
///
/// φ(x) = Λ^(-1/2) Vᵀ k(x), with k(x) the kernel values of x and the landmarks, and VΛVᵀ the
/// eigendecomposition of the landmarks' own kernel matrix K; directions of eigenvalues below 1e-10 of the
/// largest are left out, so equal landmarks do no harm and there may be fewer features than landmarks. φ(x) · φ(z) is
/// k(x)ᵀ K⁺ k(z), the best that can be said of K(x, z) from the landmarks: never above K(x, x), with an error of
/// at most √((1 - ‖φ(x)‖²)(1 - ‖φ(z)‖²)).
///
/// *Cost.* O(m²(d + m)) once; per point O(m(s + m)) time for s stored coordinates. O(m(d + m)) memory.
///
/// *When to use it.* Labels that no halfspace of the columns explains. A few hundred landmarks do for most
/// tables; [`RandomFourier`](crate::RandomFourier) has cheaper features that need more of them.
///
/// *Source.* Williams and Seeger 2001. Claims: none of its own.
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
    /// VΛ^(-1/2), a row per feature.
    whitening: Points,
    #[cfg_attr(feature = "serde", serde(skip))]
    centres: Centres,
    #[cfg_attr(feature = "serde", serde(skip))]
    directions: Columns,
}

load_checked!(Nystroem { landmarks: Points, kernel: RadialKernel, whitening: Points } => Nystroem::load);

#[cfg(feature = "serde")]
impl Nystroem {
    /// The features are a matter of signs and of the order of equal eigenvalues: a model fitted to them needs these very
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
        // The rows of Φ are φ(z_k): Φ = KVΛ^(-1/2), and Λ^(-1/2)VᵀΦ is the identity.
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
    /// Features by these landmarks, one per row ([`Landmarks::choose`](crate::Landmarks::choose)).
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
        let matrix = Mat::from_fn(m, m, |i, j| values[i * m + j]);
        #[expect(clippy::expect_used, reason = "kernel values are finite, between 0 and 1")]
        let eigen = matrix.self_adjoint_eigen(Side::Lower).expect("finite matrices decompose");
        let (sizes, vectors) = (eigen.S().column_vector(), eigen.U());
        let largest = sizes[m - 1];
        let kept: Vec<usize> =
            (0..m).rev().filter(|&k| sizes[k] > RANK_TOLERANCE * largest).collect();
        let mut whitening = zeros(kept.len(), m)?;
        for (row, &k) in whitening.chunks_exact_mut(m).zip(&kept) {
            let root = sizes[k].sqrt();
            row.iter_mut().enumerate().for_each(|(i, v)| *v = vectors[(i, k)] / root);
        }
        Ok(Nystroem::from_parts(landmarks, kernel, Points::new(whitening, m)?))
    }

    fn from_parts(landmarks: Points, kernel: RadialKernel, whitening: Points) -> Nystroem {
        let centres = Centres::new(landmarks.as_slice(), landmarks.dim());
        let directions = Columns::from_rows(whitening.as_slice(), landmarks.len());
        Nystroem { landmarks, kernel, whitening, centres, directions }
    }

    /// The landmarks.
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
