//! The kernel perceptron.

use super::kernel::{Kernel, SignedSum};
use super::weights::finite;
use crate::protocol::{OnlineLearner, Prediction, Round, Transcript};
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use halfspaces_linalg::kernels::run_wide;
use halfspaces_linalg::{
    Classifier, DensePoints, DenseRow, InputError, Label, PointSet, RowView, Threads, load_checked,
};
use std::ops::Range;

/// The kernel perceptron: stores the points of all mistakes, called the supports, and predicts sign(Σ y_i K(x_i, x)).
///
/// It is the perceptron in the feature space of K, without computing features or a kernel matrix.
///
/// *Guarantee.* If a unit w* in feature space has margin γ, the learner makes at most max K(x,x)/γ² mistakes in every
/// order ([`crate::bounds::kernel_perceptron_mistakes`]). With the linear kernel it makes exactly the mistakes of the
/// perceptron. The budgeted form drops the oldest support when the budget is exceeded and has no mistake bound.
///
/// *Cost.* O(d) memory per support, which is stored as a dense row; O(d · supports) time per point.
///
/// *When to use it.* For correct labels that a curved boundary explains but no halfspace does. For noisy labels, use
/// [`crate::AveragedPerceptron`] on the features of a few hundred landmarks, for example
/// [`Nystroem`](halfspaces_features::Nystroem). On an unbounded stream, set a budget, because the number of supports
/// grows with the number of mistakes.
///
/// *Source.* Notes21. Claims: K6.
///
/// ```
/// use halfspaces_linalg::{Classifier, DenseRow, Label};
/// use halfspaces_online::{Kernel, KernelPerceptron, OnlineLearner};
/// // Exclusive or: separable by a quadratic function, but not by a halfspace.
/// let mut learner = KernelPerceptron::new(2, Kernel::Inhomogeneous { degree: 2 })?;
/// let xor = [([1.0, 1.0], -1i8), ([1.0, -1.0], 1), ([-1.0, 1.0], 1), ([-1.0, -1.0], -1)];
/// for _ in 0..20 {
///     for (x, y) in &xor {
///         learner.observe(DenseRow::new(x)?, Label::try_from(*y)?)?;
///     }
/// }
/// for (x, y) in &xor {
///     assert_eq!(learner.label(DenseRow::new(x)?)?, Label::try_from(*y)?);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct KernelPerceptron {
    kernel: Kernel,
    dim: usize,
    /// The rows of the supports, oldest first.
    rows: Vec<f64>,
    norms_sq: Vec<f64>,
    signs: Vec<f64>,
    budget: Option<usize>,
    updates: u64,
}

load_checked! {
    KernelPerceptron {
        kernel: Kernel,
        dim: usize,
        rows: Vec<f64>,
        signs: Vec<f64>,
        budget: Option<usize>,
        #[serde(deserialize_with = "crate::saved::count")]
        updates: u64,
    } => KernelPerceptron::from_saved
}

#[cfg(feature = "serde")]
impl KernelPerceptron {
    /// Rejects a saved state that no run can reach, and recomputes the squared norms.
    fn from_saved(
        kernel: Kernel,
        dim: usize,
        rows: Vec<f64>,
        signs: Vec<f64>,
        budget: Option<usize>,
        updates: u64,
    ) -> Result<Self, InputError> {
        let empty = KernelPerceptron::new(dim, kernel)?;
        let points = halfspaces_linalg::Points::new(rows, dim)?;
        InputError::check_len(points.len(), signs.len())?;
        let units = signs.iter().all(|s| s.abs().to_bits() == 1f64.to_bits());
        InputError::check_state(units, "a sign that is neither -1 nor 1")?;
        let supports = signs.len();
        let within = budget.is_none_or(|budget| budget > 0 && supports <= budget);
        InputError::check_state(within, "more supports than the budget")?;
        InputError::check_state(updates >= supports as u64, "more supports than updates")?;
        Ok(KernelPerceptron {
            norms_sq: points.rows().map(RowView::norm_sq).collect(),
            rows: points.into_vec(),
            signs,
            budget,
            updates,
            ..empty
        })
    }
}

/// Number of points of [`KernelPerceptron::learn_all`] whose products with the supports are computed together.
const BLOCK: usize = 256;

/// Number of supports whose kernel values are computed together.
const CHUNK: usize = 256;

impl KernelPerceptron {
    /// Starts in R^`dim` without supports.
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

    /// Limits the supports to `budget`, dropping the oldest ones first. This form has no mistake bound.
    ///
    /// # Errors
    /// [`InputError::ParameterOutOfRange`] for a budget of 0.
    pub fn with_budget(mut self, budget: usize) -> Result<Self, InputError> {
        InputError::check_parameter("budget", budget as f64, budget > 0, "at least 1")?;
        self.budget = Some(budget);
        while self.supports() > budget {
            self.drop_oldest();
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

    fn drop_oldest(&mut self) {
        self.rows.drain(..self.dim);
        self.norms_sq.remove(0);
        self.signs.remove(0);
    }

    fn add_support<R: RowView>(&mut self, x: R, truth: Label) {
        let from = self.rows.len();
        self.rows.resize(from + self.dim, 0.0);
        x.add_scaled_to(1.0, &mut self.rows[from..]);
        self.norms_sq.push(x.norm_sq());
        self.signs.push(truth.as_f64());
        self.updates += 1;
        if self.budget.is_some_and(|budget| self.supports() > budget) {
            self.drop_oldest();
        }
    }

    /// Learns from the points in order, like `observe` on each point, but computes the products of 256 points and 256
    /// supports as one matrix product. The sums are rounded differently from those of `observe`, so a value within
    /// rounding error of 0 may change its sign.
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`], [`InputError::LengthMismatch`]; [`InputError::Overflow`] at a point, after
    /// learning from the points before it.
    pub fn learn_all(
        &mut self,
        points: &DensePoints<'_>,
        labels: &[Label],
    ) -> Result<Transcript, InputError> {
        self.learn_all_on(points, labels, Threads::ONE)
    }

    /// Like [`KernelPerceptron::learn_all`], on several threads. The result does not depend on the number of threads.
    ///
    /// # Errors
    /// The errors of [`KernelPerceptron::learn_all`].
    ///
    /// ```
    /// use halfspaces_linalg::{Label, Points, Threads};
    /// use halfspaces_online::{Kernel, KernelPerceptron};
    /// let points = Points::from_rows(&[[1.0, 1.0], [1.0, -1.0]])?;
    /// let mut learner = KernelPerceptron::new(2, Kernel::Inhomogeneous { degree: 2 })?;
    /// let labels = [Label::Negative, Label::Positive];
    /// let rounds = learner.learn_all_on(&points, &labels, Threads::all())?;
    /// assert_eq!((rounds.mistakes(), learner.supports()), (2, 2));
    /// # Ok::<(), halfspaces_linalg::InputError>(())
    /// ```
    pub fn learn_all_on(
        &mut self,
        points: &DensePoints<'_>,
        labels: &[Label],
        threads: Threads,
    ) -> Result<Transcript, InputError> {
        InputError::check_dim(self.dim, points.dim())?;
        InputError::check_len(points.len(), labels.len())?;
        match self.budget {
            None => self.learn_pipelined(points, labels, threads),
            Some(_) => self.learn_with_budget(points, labels, threads),
        }
    }

    /// While one thread learns from a block of points, the others compute the sums of the next block over the supports
    /// that were known before the current block.
    fn learn_pipelined(
        &mut self,
        points: &DensePoints<'_>,
        labels: &[Label],
        threads: Threads,
    ) -> Result<Transcript, InputError> {
        let mut transcript = Transcript::default();
        let block = |from: usize| Block { points, rows: from..points.len().min(from + BLOCK) };
        let ((), mut known) = self.sum_alongside(|| (), &block(0), threads);
        let mut found = KernelPerceptron::new(self.dim, self.kernel)?;
        for from in (0..points.len()).step_by(BLOCK) {
            let now = block(from);
            // No sum includes the supports of the previous block yet.
            let late = self.supports()..self.supports() + found.supports();
            self.absorb(&mut found);
            let learn = || {
                known.push(self.sum_over(late, &now, &mut Vec::new()));
                found.learn_block(&now, &known, labels, &mut transcript)
            };
            let (outcome, next) = self.sum_alongside(learn, &block(now.rows.end), threads);
            if outcome.is_err() {
                self.absorb(&mut found);
            }
            outcome?;
            known = next;
        }
        self.absorb(&mut found);
        Ok(transcript)
    }

    /// Learns from a block. The known sums, one for each point and each chunk of supports, are added to the values of
    /// this learner.
    fn learn_block(
        &mut self,
        block: &Block<'_>,
        known: &[Vec<f64>],
        labels: &[Label],
        transcript: &mut Transcript,
    ) -> Result<(), InputError> {
        for index in block.rows.clone() {
            let x = block.row(index);
            let known: f64 = known.iter().map(|sums| sums[index - block.rows.start]).sum();
            let value = known + self.sum_from(0, x, x.norm_sq());
            self.learn_value(value, x, index, labels[index], transcript)?;
        }
        Ok(())
    }

    /// Plays a round in which the sum over the supports is `value`.
    fn learn_value(
        &mut self,
        value: f64,
        x: DenseRow<'_>,
        index: usize,
        truth: Label,
        transcript: &mut Transcript,
    ) -> Result<(), InputError> {
        if !value.is_finite() {
            return Err(InputError::Overflow { row: index });
        }
        let prediction = Prediction::from_value(value);
        transcript.push(Round { index, prediction, truth });
        if prediction.is_wrong(truth) {
            self.add_support(x, truth);
        }
        Ok(())
    }

    /// Moves all supports of `later` to this learner.
    fn absorb(&mut self, later: &mut KernelPerceptron) {
        self.rows.append(&mut later.rows);
        self.norms_sq.append(&mut later.norms_sq);
        self.signs.append(&mut later.signs);
        self.updates += std::mem::take(&mut later.updates);
    }

    /// Runs `first` and, in parallel, computes the sum over each chunk of supports for every point of a block.
    fn sum_alongside<A>(
        &self,
        first: impl FnOnce() -> A,
        block: &Block<'_>,
        threads: Threads,
    ) -> (A, Vec<Vec<f64>>) {
        let chunks = 0..self.supports().div_ceil(CHUNK);
        threads.map_alongside(first, chunks, Vec::new, |products, chunk| {
            let supports = chunk * CHUNK..self.supports().min((chunk + 1) * CHUNK);
            self.sum_over(supports, block, products)
        })
    }

    /// Σ y_i K(x_i, x) over a range of supports, for every point of a block.
    fn sum_over(
        &self,
        supports: Range<usize>,
        block: &Block<'_>,
        products: &mut Vec<f64>,
    ) -> Vec<f64> {
        if supports.is_empty() {
            return vec![0.0; block.rows.len()];
        }
        products.resize(block.rows.len() * supports.len(), 0.0);
        block.multiply(&self.rows[supports.start * self.dim..supports.end * self.dim], products);
        let rows = block.rows.clone().zip(products.chunks_exact_mut(supports.len()));
        let sum = |(index, row): (usize, &mut [f64])| {
            let x_sq = block.row(index).norm_sq();
            self.sum_of_products(supports.start, row, x_sq)
        };
        rows.map(sum).collect()
    }

    /// Learns block by block. The values are summed point by point, because the supports to drop are not known in
    /// advance.
    fn learn_with_budget(
        &mut self,
        points: &DensePoints<'_>,
        labels: &[Label],
        threads: Threads,
    ) -> Result<Transcript, InputError> {
        let (mut transcript, mut products) = (Transcript::default(), Vec::new());
        for start in (0..points.len()).step_by(BLOCK) {
            let block = Block { points, rows: start..points.len().min(start + BLOCK) };
            let (known, updates_before) = (self.supports(), self.updates);
            self.multiply(&block, &mut products, threads);
            for index in block.rows.clone() {
                let x = block.row(index);
                // The supports dropped since the products were computed come first in the products.
                let learned = (self.updates - updates_before) as usize;
                let gone = (known + learned - self.supports()).min(known);
                let of_known = self.sum_but_gone(&block, &mut products, index, gone);
                let value = of_known + self.sum_from(known - gone, x, x.norm_sq());
                self.learn_value(value, x, index, labels[index], &mut transcript)?;
            }
        }
        Ok(transcript)
    }

    /// The products of a block of points with the supports, in chunks of supports, one row per point.
    fn multiply(&self, block: &Block<'_>, products: &mut Vec<f64>, threads: Threads) {
        let size = block.rows.len();
        products.resize(size * self.supports(), 0.0);
        let chunks = products.chunks_mut(size * CHUNK).zip(self.rows.chunks(CHUNK * self.dim));
        threads.map_with(
            chunks,
            || (),
            |(), (products, supports)| block.multiply(supports, products),
        );
    }

    /// Σ y_i K(x_i, x) over the supports of `products`, except the first `gone`, which have been dropped since the
    /// products were computed.
    fn sum_but_gone(
        &self,
        block: &Block<'_>,
        products: &mut [f64],
        index: usize,
        gone: usize,
    ) -> f64 {
        let (size, x_sq) = (block.rows.len(), block.row(index).norm_sq());
        let mut sum = 0.0;
        for (chunk, products) in products.chunks_mut(size * CHUNK).enumerate() {
            let count = products.len() / size;
            let out = gone.saturating_sub(chunk * CHUNK).min(count);
            let row = &mut products[(index - block.rows.start) * count..][out..count];
            let first = (chunk * CHUNK + out).saturating_sub(gone);
            sum += self.sum_of_products(first, row, x_sq);
        }
        sum
    }

    /// Σ y_i K(x_i, x) over the supports from `first` on, one for each product.
    fn sum_of_products(&self, first: usize, products: &mut [f64], x_sq: f64) -> f64 {
        run_wide(SignedSum {
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

/// A block of points that are processed together.
struct Block<'p> {
    points: &'p DensePoints<'p>,
    rows: Range<usize>,
}

impl<'p> Block<'p> {
    /// The products of the points of the block with some supports, one row per point.
    fn multiply(&self, supports: &[f64], products: &mut [f64]) {
        let (size, d) = (self.rows.len(), self.points.dim());
        let (x, count) =
            (&self.points.as_slice()[self.rows.start * d..self.rows.end * d], supports.len() / d);
        matmul(
            MatMut::from_row_major_slice_mut(products, size, count),
            Accum::Replace,
            MatRef::from_row_major_slice(x, size, d),
            MatRef::from_row_major_slice(supports, count, d).transpose(),
            1.0,
            Par::Seq,
        );
    }

    fn row(&self, index: usize) -> DenseRow<'p> {
        match self.points.row(index) {
            Some(x) => x,
            None => unreachable!("blocks lie within the number of points"),
        }
    }
}

/// The decision value is Σ y_i K(x_i, x).
impl Classifier for KernelPerceptron {
    fn dim(&self) -> usize {
        self.dim
    }

    fn decision_value<R: RowView>(&self, x: R) -> Result<f64, InputError> {
        InputError::check_dim(self.dim, x.dim())?;
        finite(self.sum_from(0, x, x.norm_sq()))
    }
}

impl OnlineLearner for KernelPerceptron {
    fn update<R: RowView>(
        &mut self,
        x: R,
        prediction: Prediction,
        truth: Label,
    ) -> Result<bool, InputError> {
        InputError::check_dim(self.dim, x.dim())?;
        let mistake = prediction.is_wrong(truth);
        if mistake {
            self.add_support(x, truth);
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
    use halfspaces_data::{Gaussian, Marginal};
    use halfspaces_linalg::{Points, SparsePoints};
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
        /// Claim K6. Integer arithmetic is exact, so even ties are broken in the same way.
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
            // Learning in bulk and from sparse rows gives the same result.
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
        let points = Gaussian::new(3, 1.0).unwrap().sample(1500, 1).unwrap();
        // The labels are given by a circle, so the linear kernel never converges.
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
                let (mut threaded, three) = (fresh(), Threads::new(3).unwrap());
                assert_eq!(threaded.learn_all_on(&points, &labels, three).unwrap(), in_bulk);
                assert_eq!(threaded, bulk);
                assert!(budget.is_none_or(|budget| one.supports() <= budget));
            }
        }
    }

    /// The supports stored by earlier calls, and those stored before an overflow in the third block, are the same as
    /// when learning point by point.
    #[test]
    fn in_bulk_it_goes_on_and_stops_where_it_would_one_by_one() {
        let mut points = Gaussian::new(2, 1.0).unwrap().sample(3 * BLOCK, 2).unwrap();
        let labels: Vec<Label> =
            points.rows().map(|x| Label::from_sign(x.norm_sq() - 1.5)).collect();
        let fresh = || KernelPerceptron::new(2, Kernel::Polynomial { degree: 2 }).unwrap();
        let (one, transcript) = run(fresh(), &points, &labels, AsGiven::new()).unwrap();
        let (mut bulk, half) = (fresh(), 300);
        let part = |rows: Range<usize>| points.select(&rows.collect::<Vec<_>>()).unwrap();
        let (first, second) = (part(0..half), part(half..points.len()));
        let mut mistakes = bulk.learn_all(&first, &labels[..half]).unwrap().mistakes();
        mistakes += bulk.learn_all(&second, &labels[half..]).unwrap().mistakes();
        assert_eq!((&bulk, mistakes), (&one, transcript.mistakes()));

        let bad = 2 * BLOCK + 70;
        let mut rows = points.into_vec();
        rows[2 * bad] = 1e200;
        points = Points::new(rows, 2).unwrap();
        let (mut one, mut bulk) = (fresh(), fresh());
        for (x, y) in points.rows().zip(&labels).take(bad) {
            one.observe(x, *y).unwrap();
        }
        assert!(one.supports() > 0);
        let learned = bulk.learn_all_on(&points, &labels, Threads::new(2).unwrap());
        assert_eq!(learned, Err(InputError::Overflow { row: bad }));
        assert_eq!(bulk, one);
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
        assert_eq!(learner.guess(huge), Err(InputError::Overflow { row: 0 }));
        // If norms overflow, the distance is undefined; it must not be treated as 0.
        let gaussian = || KernelPerceptron::new(1, Kernel::Gaussian { scale: 1.0 }).unwrap();
        let mut one = gaussian();
        one.observe(huge, Label::Negative).unwrap();
        assert_eq!(
            one.guess(DenseRow::new(&[2e200]).unwrap()),
            Err(InputError::Overflow { row: 0 })
        );
        let far = Points::new(vec![1e200, 2e200], 1).unwrap();
        assert_eq!(
            gaussian().learn_all(&far, &[Label::Negative; 2]),
            Err(InputError::Overflow { row: 1 })
        );
        let wide = Points::new(vec![1.0, 2.0], 2).unwrap();
        assert!(learner.learn_all(&wide, &[Label::Positive]).is_err());
    }

    #[cfg(feature = "serde")]
    #[test]
    fn saved_learners_are_checked() {
        let mut learner = KernelPerceptron::new(1, Kernel::Linear).unwrap().with_budget(2).unwrap();
        learner.observe(DenseRow::new(&[3.0]).unwrap(), Label::Negative).unwrap();
        let text = serde_json::to_string(&learner).unwrap();
        assert_eq!(serde_json::from_str::<KernelPerceptron>(&text).unwrap(), learner);
        let loads = |changes: &[(&str, &str)]| {
            let broken = changes.iter().fold(text.clone(), |text, (from, to)| {
                assert!(text.contains(from), "{from} in {text}");
                text.replace(from, to)
            });
            serde_json::from_str::<KernelPerceptron>(&broken).is_ok()
        };
        let (empty, full) = ("\"rows\":[]", "\"rows\":[3.0]");
        assert!(loads(&[(full, empty), ("\"signs\":[-1.0]", "\"signs\":[]")]));
        for changes in [
            &[("\"signs\":[-1.0]", "\"signs\":[-2.0]")][..],
            &[("\"signs\":[-1.0]", "\"signs\":[]")],
            &[("\"updates\":1", "\"updates\":0")],
            &[("\"budget\":2", "\"budget\":0")],
            &[
                (full, empty),
                ("\"signs\":[-1.0]", "\"signs\":[]"),
                ("\"budget\":2", "\"budget\":0"),
            ],
            &[
                (full, "\"rows\":[3.0,1.0]"),
                ("\"signs\":[-1.0]", "\"signs\":[-1.0,1.0]"),
                ("\"updates\":1", "\"updates\":2"),
                ("\"budget\":2", "\"budget\":1"),
            ],
        ] {
            assert!(!loads(changes), "{changes:?}");
        }
    }
}
