//! The kernel perceptron.
//!
//! Keep the points of all mistakes; predict sign(Σ y_i K(x_i, x)). It is the perceptron in the
//! feature space of K, which is never entered; nor is the kernel matrix ever formed.
//!
//! *Guarantee.* If a unit w* in feature space has margin γ, at most max K(x,x)/γ² mistakes in every
//! order. With the linear kernel it is the perceptron, mistake for mistake.
//!
//! *Source.* Notes21. The budgeted form drops its oldest support when the budget is exceeded; it has no
//! bound of this kind (it is a heuristic).

use crate::error::OnlineError;
use crate::protocol::{OnlineLearner, Prediction};
use crate::protocol::{Round, Transcript};
use faer::linalg::matmul::matmul;
use faer::traits::pulp::{Arch, Simd, WithSimd};
use faer::{Accum, MatMut, MatRef, Par};
use halfspaces_linalg::{InputError, Label, PointSet, Points, RowView, exp_neg, kernels};

/// A kernel K(x, z).
///
/// ```
/// use halfspaces_linalg::DenseRow;
/// use halfspaces_online::Kernel;
/// let value = |kernel: Kernel| kernel.value(DenseRow::new(&[1.0, 2.0])?, &[1.0, 1.0]);
/// assert_eq!(value(Kernel::Linear)?, 3.0);
/// assert_eq!(value(Kernel::Polynomial { degree: 2 })?, 9.0);
/// assert_eq!(value(Kernel::Inhomogeneous { degree: 2 })?, 16.0);
/// assert!((value(Kernel::Gaussian { scale: 2.0 })? - (-0.5f64).exp()).abs() < 1e-15);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Kernel {
    /// x · z.
    Linear,
    /// (x · z)^degree.
    Polynomial {
        /// At least 1.
        degree: u32,
    },
    /// (1 + x · z)^degree.
    Inhomogeneous {
        /// At least 1.
        degree: u32,
    },
    /// exp(-‖x - z‖²/scale).
    Gaussian {
        /// Positive.
        #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::saved::positive"))]
        scale: f64,
    },
}

impl Kernel {
    fn check(self) -> Result<(), InputError> {
        match self {
            Kernel::Linear => Ok(()),
            Kernel::Polynomial { degree } | Kernel::Inhomogeneous { degree } => {
                let in_range = (1..=1000).contains(&degree);
                InputError::check_parameter("degree", degree.into(), in_range, "between 1 and 1000")
            }
            Kernel::Gaussian { scale } => {
                let in_range = scale > 0.0 && scale.is_finite();
                InputError::check_parameter("scale", scale, in_range, "positive and finite")
            }
        }
    }

    /// K from each product x · z, in its place; `norms_sq` has the ‖z‖².
    #[inline(always)]
    fn replace_products(self, products: &mut [f64], x_sq: f64, norms_sq: &[f64]) {
        match self {
            Kernel::Linear => {}
            Kernel::Polynomial { degree } => {
                for product in products {
                    *product = product.powi(degree as i32);
                }
            }
            Kernel::Inhomogeneous { degree } => {
                for product in products {
                    *product = (1.0 + *product).powi(degree as i32);
                }
            }
            Kernel::Gaussian { scale } => {
                // Finite, so that equal points have the value 1 at every scale.
                let inverse = (1.0 / scale).min(f64::MAX);
                for (product, z_sq) in products.iter_mut().zip(norms_sq) {
                    let distance_sq = x_sq + z_sq - 2.0 * *product;
                    // Rounding may leave that of equal points below 0. A NaN, of norms that
                    // overflow, is to stay one.
                    let distance_sq = if distance_sq < 0.0 { 0.0 } else { distance_sq };
                    *product = exp_neg(distance_sq * inverse);
                }
            }
        }
    }

    /// K(x, z).
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`].
    pub fn value<R: RowView>(self, x: R, z: &[f64]) -> Result<f64, InputError> {
        InputError::check_dim(x.dim(), z.len())?;
        let mut value = [x.dot(z)];
        self.replace_products(&mut value, x.norm_sq(), &[kernels::norm_sq(z)]);
        Ok(value[0])
    }
}

/// Σ y_i K(x_i, x) from the products x_i · x, which it overwrites. Being a [`WithSimd`] lets it be
/// compiled for the vector instructions that the processor turns out to have; as it fuses no
/// multiplication with an addition, they do not change the result.
struct SignedSum<'a> {
    kernel: Kernel,
    products: &'a mut [f64],
    x_sq: f64,
    norms_sq: &'a [f64],
    signs: &'a [f64],
}

impl WithSimd for SignedSum<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> f64 {
        self.kernel.replace_products(self.products, self.x_sq, self.norms_sq);
        kernels::dot(self.signs, self.products)
    }
}

/// The kernel perceptron. Supports are kept dense, one row each.
///
/// ```
/// use halfspaces_linalg::{DenseRow, Label};
/// use halfspaces_online::{Kernel, KernelPerceptron, OnlineLearner};
/// // Exclusive or: no halfspace, but a quadratic one.
/// let mut learner = KernelPerceptron::new(2, Kernel::Inhomogeneous { degree: 2 })?;
/// let xor = [([1.0, 1.0], -1i8), ([1.0, -1.0], 1), ([-1.0, 1.0], 1), ([-1.0, -1.0], -1)];
/// for _ in 0..20 {
///     for (x, y) in &xor {
///         learner.observe(DenseRow::new(x)?, Label::try_from(*y)?)?;
///     }
/// }
/// for (x, y) in &xor {
///     assert_eq!(learner.predict(DenseRow::new(x)?)?.label, Label::try_from(*y)?);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "RawKernelPerceptron"))]
pub struct KernelPerceptron {
    kernel: Kernel,
    dim: usize,
    /// The supports' rows, oldest first.
    rows: Vec<f64>,
    norms_sq: Vec<f64>,
    signs: Vec<f64>,
    budget: Option<usize>,
    updates: u64,
}

/// What a [`KernelPerceptron`] looks like before it is checked.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
struct RawKernelPerceptron {
    kernel: Kernel,
    dim: usize,
    rows: Vec<f64>,
    signs: Vec<f64>,
    budget: Option<usize>,
    #[serde(deserialize_with = "crate::saved::count")]
    updates: u64,
}

#[cfg(feature = "serde")]
impl TryFrom<RawKernelPerceptron> for KernelPerceptron {
    type Error = InputError;

    fn try_from(raw: RawKernelPerceptron) -> Result<Self, InputError> {
        let empty = KernelPerceptron::new(raw.dim, raw.kernel)?;
        let points = Points::new(raw.rows, raw.dim)?;
        InputError::check_len(points.len(), raw.signs.len())?;
        if let Some(sign) = raw.signs.iter().find(|s| s.abs().to_bits() != 1f64.to_bits()) {
            InputError::check_parameter("sign", *sign, false, "-1 or 1")?;
        }
        Ok(KernelPerceptron {
            norms_sq: points.rows().map(RowView::norm_sq).collect(),
            rows: points.into_vec(),
            signs: raw.signs,
            budget: raw.budget,
            updates: raw.updates,
            ..empty
        })
    }
}

/// Rows of a bulk run whose products with the supports are computed at once.
const BLOCK: usize = 128;

/// Supports whose kernel values with one point are computed at once.
const CHUNK: usize = 256;

impl KernelPerceptron {
    /// Starts without supports in R^`dim`.
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`], [`InputError::ParameterOutOfRange`].
    pub fn new(dim: usize, kernel: Kernel) -> Result<Self, InputError> {
        if dim == 0 {
            return Err(InputError::ZeroDimension);
        }
        kernel.check()?;
        Ok(KernelPerceptron {
            kernel,
            dim,
            rows: Vec::new(),
            norms_sq: Vec::new(),
            signs: Vec::new(),
            budget: None,
            updates: 0,
        })
    }

    /// The budgeted form: at most `budget` supports, the oldest going first. No mistake bound.
    ///
    /// # Errors
    /// [`InputError::ParameterOutOfRange`] for a budget of 0.
    pub fn with_budget(mut self, budget: usize) -> Result<Self, InputError> {
        InputError::check_parameter("budget", budget as f64, budget > 0, "at least 1")?;
        self.budget = Some(budget);
        while self.supports() > budget {
            self.forget_oldest();
        }
        Ok(self)
    }

    /// Number of supports.
    #[must_use]
    pub fn supports(&self) -> usize {
        self.signs.len()
    }

    /// The kernel.
    #[must_use]
    pub fn kernel(&self) -> Kernel {
        self.kernel
    }

    fn forget_oldest(&mut self) {
        self.rows.drain(..self.dim);
        self.norms_sq.remove(0);
        self.signs.remove(0);
    }

    fn learn<R: RowView>(&mut self, x: R, truth: Label) {
        let from = self.rows.len();
        self.rows.resize(from + self.dim, 0.0);
        x.add_scaled_to(1.0, &mut self.rows[from..]);
        self.norms_sq.push(x.norm_sq());
        self.signs.push(truth.as_f64());
        self.updates += 1;
        if self.budget.is_some_and(|budget| self.supports() > budget) {
            self.forget_oldest();
        }
    }

    /// Learns points in order, as `observe` one by one would, but with the products of 128 points
    /// and all supports as one matrix product. Sums are rounded differently than one by one, so a
    /// value within rounding of 0 may fall the other way.
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`], [`InputError::LengthMismatch`];
    /// [`OnlineError::Overflow`], with the points before it learned.
    pub fn learn_all(
        &mut self,
        points: &Points,
        labels: &[Label],
    ) -> Result<Transcript, OnlineError> {
        InputError::check_dim(self.dim, points.dim())?;
        InputError::check_len(points.len(), labels.len())?;
        let mut transcript = Transcript::default();
        let mut products = Vec::new();
        for start in (0..points.len()).step_by(BLOCK) {
            let size = BLOCK.min(points.len() - start);
            let known = self.supports();
            let updates_before = self.updates;
            products.resize(size * known, 0.0);
            if known > 0 {
                let d = self.dim;
                let block = &points.as_slice()[start * d..(start + size) * d];
                matmul(
                    MatMut::from_row_major_slice_mut(&mut products[..size * known], size, known),
                    Accum::Replace,
                    MatRef::from_row_major_slice(block, size, d),
                    MatRef::from_row_major_slice(&self.rows, known, d).transpose(),
                    1.0,
                    Par::Seq,
                );
            }
            for (offset, &truth) in labels[start..start + size].iter().enumerate() {
                let index = start + offset;
                let len = points.len();
                let x = points.row(index).ok_or(InputError::IndexOutOfRange { index, len })?;
                let x_sq = x.norm_sq();
                // Supports forgotten since the product was taken stand at its front.
                let learned = (self.updates - updates_before) as usize;
                let gone = (known + learned).saturating_sub(self.supports()).min(known);
                let row = &mut products[offset * known + gone..(offset + 1) * known];
                let value = self.sum_of_products(0, row, x_sq) + self.sum_from(row.len(), x, x_sq);
                if !value.is_finite() {
                    return Err(OnlineError::Overflow);
                }
                let prediction = Prediction::from_value(value);
                transcript.push(Round { index, prediction, truth });
                if prediction.is_wrong(truth) {
                    self.learn(x, truth);
                }
            }
        }
        Ok(transcript)
    }

    /// Σ y_i K(x_i, x) over the supports from `first` on, as many as there are products.
    fn sum_of_products(&self, first: usize, products: &mut [f64], x_sq: f64) -> f64 {
        Arch::new().dispatch(SignedSum {
            kernel: self.kernel,
            x_sq,
            norms_sq: &self.norms_sq[first..],
            signs: &self.signs[first..],
            products,
        })
    }

    /// Σ y_i K(x_i, x) over the supports from `first` on.
    fn sum_from<R: RowView>(&self, first: usize, x: R, x_sq: f64) -> f64 {
        let mut products = [0.0; CHUNK];
        let mut sum = 0.0;
        for from in (first..self.supports()).step_by(CHUNK) {
            let rows = self.rows[from * self.dim..].chunks_exact(self.dim);
            let size = rows.len().min(CHUNK);
            for (product, row) in products.iter_mut().zip(rows) {
                *product = x.dot(row);
            }
            sum += self.sum_of_products(from, &mut products[..size], x_sq);
        }
        sum
    }
}

impl OnlineLearner for KernelPerceptron {
    fn dim(&self) -> usize {
        self.dim
    }

    /// The value is Σ y_i K(x_i, x).
    fn predict<R: RowView>(&self, x: R) -> Result<Prediction, OnlineError> {
        InputError::check_dim(self.dim, x.dim())?;
        let value = self.sum_from(0, x, x.norm_sq());
        if value.is_finite() {
            Ok(Prediction::from_value(value))
        } else {
            Err(OnlineError::Overflow)
        }
    }

    fn update<R: RowView>(
        &mut self,
        x: R,
        prediction: Prediction,
        truth: Label,
    ) -> Result<bool, OnlineError> {
        InputError::check_dim(self.dim, x.dim())?;
        let mistake = prediction.is_wrong(truth);
        if mistake {
            self.learn(x, truth);
        }
        Ok(mistake)
    }

    fn updates(&self) -> u64 {
        self.updates
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AsGiven, Perceptron, run};
    use faer::traits::pulp::Scalar;
    use halfspaces_data::{Gaussian, Marginal};
    use halfspaces_linalg::{DenseRow, SparsePoints};
    use proptest::prelude::*;

    fn integer_pool(rows: Vec<(Vec<i8>, bool)>) -> (Points, Vec<Label>) {
        let (rows, labels): (Vec<Vec<f64>>, Vec<Label>) = rows
            .into_iter()
            .map(|(row, positive)| {
                let row = row.into_iter().map(f64::from).collect();
                (row, if positive { Label::Positive } else { Label::Negative })
            })
            .unzip();
        (Points::from_rows(&rows).unwrap(), labels)
    }

    proptest! {
        #[test]
        fn vector_instructions_do_not_change_the_sum(
            terms in prop::collection::vec((-40.0..40.0f64, 0.0..900.0f64, any::<bool>()), 0..70),
            x_sq in 0.0..900.0f64,
        ) {
            let signs: Vec<f64> = terms.iter().map(|t| if t.2 { 1.0 } else { -1.0 }).collect();
            let norms_sq: Vec<f64> = terms.iter().map(|t| t.1).collect();
            let products: Vec<f64> = terms.iter().map(|t| t.0).collect();
            for kernel in [Kernel::Gaussian { scale: 1.5 }, Kernel::Inhomogeneous { degree: 3 }] {
                let (mut wide, mut plain) = (products.clone(), products.clone());
                let (norms_sq, signs) = (&norms_sq, &signs);
                let sum = |products| SignedSum { kernel, products, x_sq, norms_sq, signs };
                let of_wide = Arch::new().dispatch(sum(&mut wide));
                prop_assert_eq!(of_wide.to_bits(), sum(&mut plain).with_simd(Scalar).to_bits());
                prop_assert_eq!(wide, plain);
            }
        }

        /// Integer arithmetic is exact, so even ties fall alike: K6.
        #[test]
        fn the_linear_kernel_is_the_perceptron(
            rows in prop::collection::vec((prop::collection::vec(-3i8..=3, 5), any::<bool>()), 1..80),
        ) {
            let (points, labels) = integer_pool(rows);
            let plain = run(Perceptron::new(5).unwrap(), &points, &labels, AsGiven::new()).unwrap();
            let kernel = || KernelPerceptron::new(5, Kernel::Linear).unwrap();
            let (learner, transcript) = run(kernel(), &points, &labels, AsGiven::new()).unwrap();
            prop_assert_eq!(&transcript, &plain.1);
            prop_assert_eq!(learner.supports(), plain.1.mistakes());
            // In bulk and on sparse rows alike.
            let mut bulk = kernel();
            prop_assert_eq!(&bulk.learn_all(&points, &labels).unwrap(), &plain.1);
            prop_assert_eq!(&bulk, &learner);
            let sparse = SparsePoints::from_dense(&points).unwrap();
            let (of_sparse, same) = run(kernel(), &sparse, &labels, AsGiven::new()).unwrap();
            prop_assert_eq!(&same, &plain.1);
            prop_assert_eq!(&of_sparse, &learner);
        }
    }

    #[test]
    fn bulk_and_one_by_one_agree_for_every_kernel_and_budget() {
        let points = Gaussian::new(3, 1.0).unwrap().sample(900, 1).unwrap();
        // Labels of a circle, which the linear kernel never settles on.
        let labels: Vec<Label> =
            points.rows().map(|x| Label::from_sign(x.norm_sq() - 2.0)).collect();
        for kernel in [
            Kernel::Linear,
            Kernel::Polynomial { degree: 2 },
            Kernel::Inhomogeneous { degree: 3 },
            Kernel::Gaussian { scale: 2.0 },
        ] {
            for budget in [None, Some(1), Some(40), Some(300)] {
                let fresh = || {
                    let learner = KernelPerceptron::new(3, kernel).unwrap();
                    match budget {
                        Some(budget) => learner.with_budget(budget).unwrap(),
                        None => learner,
                    }
                };
                let (one, transcript) = run(fresh(), &points, &labels, AsGiven::new()).unwrap();
                let mut bulk = fresh();
                let in_bulk = bulk.learn_all(&points, &labels).unwrap();
                for (a, b) in transcript.rounds().iter().zip(in_bulk.rounds()) {
                    let scale = 1.0 + a.prediction.value.abs();
                    assert!((a.prediction.value - b.prediction.value).abs() < 1e-7 * scale);
                }
                assert_eq!(bulk, one);
                assert!(budget.is_none_or(|budget| one.supports() <= budget));
            }
        }
    }

    #[test]
    fn the_gaussian_kernel_is_the_exponential_at_every_scale() {
        let (x, z) = (DenseRow::new(&[1.0, 2.0]).unwrap(), [0.5, 2.5]);
        for scale in [1e-3, 0.02, 0.5, 3.0, 1e6, f64::MAX] {
            let value = Kernel::Gaussian { scale }.value(x, &z).unwrap();
            let plain = (-0.5 / scale).exp();
            assert!((value - plain).abs() <= 1e-12 * plain, "{scale}");
        }
        for scale in [5e-324, 1e-310, 1.0, f64::MAX] {
            assert_eq!(Kernel::Gaussian { scale }.value(x, &[1.0, 2.0]).unwrap(), 1.0);
        }
    }

    #[test]
    fn a_gaussian_learns_the_circle() {
        let points = Gaussian::new(2, 1.0).unwrap().sample(3000, 3).unwrap();
        let labels: Vec<Label> =
            points.rows().map(|x| Label::from_sign(x.norm_sq() - 1.0)).collect();
        let mut learner = KernelPerceptron::new(2, Kernel::Gaussian { scale: 0.5 }).unwrap();
        let transcript = learner.learn_all(&points, &labels).unwrap();
        let late = transcript.rounds()[2000..].iter().filter(|r| r.is_mistake()).count();
        assert!(late < 80, "{late} mistakes in the last thousand");
    }

    #[test]
    fn bad_input_is_typed() {
        assert!(KernelPerceptron::new(0, Kernel::Linear).is_err());
        assert!(KernelPerceptron::new(1, Kernel::Polynomial { degree: 0 }).is_err());
        for scale in [0.0, -1.0, f64::NAN] {
            assert!(KernelPerceptron::new(1, Kernel::Gaussian { scale }).is_err());
        }
        let mut learner = KernelPerceptron::new(1, Kernel::Polynomial { degree: 3 }).unwrap();
        assert!(learner.clone().with_budget(0).is_err());
        let huge = DenseRow::new(&[1e200]).unwrap();
        learner.observe(huge, Label::Negative).unwrap();
        assert_eq!(learner.predict(huge), Err(OnlineError::Overflow));
        // Norms that overflow leave no distance; nor is it taken for 0.
        let gaussian = || KernelPerceptron::new(1, Kernel::Gaussian { scale: 1.0 }).unwrap();
        let mut one = gaussian();
        one.observe(huge, Label::Negative).unwrap();
        assert_eq!(one.predict(DenseRow::new(&[2e200]).unwrap()), Err(OnlineError::Overflow));
        let far = Points::new(vec![1e200, 2e200], 1).unwrap();
        assert_eq!(gaussian().learn_all(&far, &[Label::Negative; 2]), Err(OnlineError::Overflow));
        let wide = Points::new(vec![1.0, 2.0], 2).unwrap();
        assert!(learner.learn_all(&wide, &[Label::Positive]).is_err());
    }
}
