//! Logistic regression on points that do not fit on one machine. The fit requests one pass at a time.
//!
//! A [`LogisticPass`] value is sent to the processes that hold blocks of rows. Each process computes the loss, the
//! gradient and the Hessian of its blocks ([`LogisticPass::partial`]). The partial results are joined in any order
//! ([`halfspaces_linalg::Partial`]). The Newton iteration is that of [`LogisticRegression`].
//!
//! *Cost.* A pass reads n points in d dimensions once and takes O(nd²) time. It sends d numbers to each process, and
//! each process returns d²/2 numbers. A fit takes about ten passes.

use super::logistic::{LogisticFit, LogisticRegression, Objective, minimise, small_gradient};
use super::logistic_loss::Expansion;
use super::regularised_loss::{Cholesky, Problem};
use halfspaces_linalg::{
    DensePoints, InputError, Label, Partial, PointSet, Sum, Threads, kernels, zeros,
};

/// One pass over all blocks, which computes the loss, the gradient and the Hessian at one halfspace.
///
/// ```
/// use halfspaces_linalg::{Label, Points, Threads};
/// use halfspaces_pac::LogisticPass;
/// let points = Points::from_rows(&[[1.0], [3.0]])?;
/// let pass = LogisticPass::at(vec![0.0], None)?;
/// let partial = pass.partial(0, &points, &[Label::Negative, Label::Positive], Threads::ONE)?;
/// assert_eq!(partial.finish(1)?.map(|sum| sum.rows()), Some(2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LogisticPass {
    /// The weights w, followed by the intercept b if there is one.
    v: Vec<f64>,
    intercept: bool,
}

/// The sums of a [`LogisticPass`] over some blocks.
///
/// ```
/// use halfspaces_linalg::{Label, Points, Threads};
/// use halfspaces_pac::LogisticPass;
/// let points = Points::from_rows(&[[2.0]])?;
/// let pass = LogisticPass::at(vec![0.0], None)?;
/// let sum = pass.partial(0, &points, &[Label::Positive], Threads::ONE)?.finish(1)?.unwrap();
/// assert_eq!(sum.loss(), 2f64.ln());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LogisticSum {
    rows: u64,
    loss: f64,
    /// The sum Σ ‖(x, 1)‖.
    sizes: f64,
    gradient: Vec<f64>,
    /// The lower triangle of the Hessian, by rows.
    hessian: Vec<f64>,
}

impl LogisticSum {
    /// The number of rows in the sums.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The sum Σ ln(1 + exp(-y (w · x + b))).
    #[must_use]
    pub fn loss(&self) -> f64 {
        self.loss
    }
}

impl Sum for LogisticSum {
    fn fits(&self, other: &LogisticSum) -> bool {
        self.gradient.len() == other.gradient.len() && self.hessian.len() == other.hessian.len()
    }

    fn add(&mut self, later: LogisticSum) {
        self.rows += later.rows;
        self.loss += later.loss;
        self.sizes += later.sizes;
        kernels::axpy(1.0, &later.gradient, &mut self.gradient);
        kernels::axpy(1.0, &later.hessian, &mut self.hessian);
    }
}

impl LogisticPass {
    /// Creates the pass at the halfspace with the weights w and, if there is one, the intercept b.
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`] for no weights.
    pub fn at(mut w: Vec<f64>, b: Option<f64>) -> Result<LogisticPass, InputError> {
        if w.is_empty() {
            return Err(InputError::ZeroDimension);
        }
        w.extend(b);
        Ok(LogisticPass { v: w, intercept: b.is_some() })
    }

    /// The sums over a block without rows.
    #[must_use]
    pub fn nothing(&self) -> LogisticSum {
        let k = self.v.len();
        let (gradient, hessian) = (vec![0.0; k], vec![0.0; k * (k + 1) / 2]);
        LogisticSum { rows: 0, loss: 0.0, sizes: 0.0, gradient, hessian }
    }

    /// Computes the sums over consecutive blocks of labelled points. The first point is the first row of block `first`.
    /// Every block must be complete, except for the last block of the whole data set.
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`], [`InputError::LengthMismatch`]; [`InputError::Overflow`] if squared norms
    /// overflow; [`InputError::TooLarge`].
    pub fn partial(
        &self,
        first: u64,
        points: &DensePoints<'_>,
        labels: &[Label],
        threads: Threads,
    ) -> Result<Partial<LogisticSum>, InputError> {
        let k = self.v.len();
        InputError::check_dim(k - usize::from(self.intercept), points.dim())?;
        InputError::check_len(points.len(), labels.len())?;
        if labels.is_empty() {
            return Ok(Partial::default());
        }
        let problem = Problem::new(points, labels, None, 1.0, self.intercept, threads)?;
        let mut buffers = vec![(); Partial::<LogisticSum>::groups(first, labels.len()).len()];
        threads.sum_blocks(first, labels.len(), &mut buffers, |(), part| {
            let (mut gradient, mut full) = (zeros(1, k)?, zeros(k, k)?);
            let (loss, curvatures) = problem.add_gradient_of(part.clone(), &self.v, &mut gradient);
            problem.add_outer_products_of(part.clone(), &curvatures, &mut full);
            let mut hessian = Vec::with_capacity(k * (k + 1) / 2);
            for (i, row) in full.chunks_exact(k).enumerate() {
                hessian.extend_from_slice(&row[..=i]);
            }
            let rows = part.len() as u64;
            let sizes = part.map(|index| problem.square(index).sqrt()).sum();
            Ok(LogisticSum { rows, loss, sizes, gradient, hessian })
        })
    }
}

/// Points that are accessible only through passes.
struct Blocks<F> {
    run: F,
    dim: usize,
    c: f64,
    intercept: bool,
    /// The number of rows and the sum Σ ‖(x, 1)‖, from the first pass.
    rows: u64,
    sizes: f64,
    /// The lower triangle of the Hessian of the loss at the last v.
    hessian: Vec<f64>,
}

impl<E: From<InputError>, F: FnMut(&LogisticPass) -> Result<LogisticSum, E>> Objective
    for Blocks<F>
{
    type Error = E;

    fn expand(&mut self, v: &[f64]) -> Result<Expansion, E> {
        let k = v.len();
        let sum = (self.run)(&LogisticPass { v: v.to_vec(), intercept: self.intercept })?;
        let complete = sum.gradient.len() == k && sum.hessian.len() == k * (k + 1) / 2;
        InputError::check_state(complete, "the sums of a pass have another dimension")?;
        if sum.rows == 0 {
            return Err(InputError::Empty.into());
        }
        let same = self.rows == 0 || self.rows == sum.rows;
        InputError::check_state(same, "two passes counted different numbers of rows")?;
        if !f64::is_finite(self.c * sum.sizes * sum.sizes) {
            return Err(InputError::Overflow { row: 0 }.into());
        }
        (self.rows, self.sizes) = (sum.rows, sum.sizes);
        let mut gradient = v.to_vec();
        gradient[self.dim..].fill(0.0);
        let objective = 0.5 * kernels::norm_sq(&gradient) + self.c * sum.loss;
        kernels::axpy(self.c, &sum.gradient, &mut gradient);
        self.hessian = sum.hessian;
        Ok(Expansion { objective, gradient, curvatures: Vec::new() })
    }

    /// The iteration requests a direction only at the point where it has just expanded f.
    fn direction(&mut self, here: &Expansion) -> Result<Option<Vec<f64>>, E> {
        let k = here.gradient.len();
        let mut full = zeros(k, k)?;
        let mut entries = self.hessian.iter();
        for (i, row) in full.chunks_exact_mut(k).enumerate() {
            row[..=i].iter_mut().zip(&mut entries).for_each(|(h, entry)| *h = self.c * entry);
        }
        let Some(mut factor) = Cholesky::new(&full, k, self.dim) else { return Ok(None) };
        let mut direction: Vec<f64> = here.gradient.iter().map(|g| -g).collect();
        factor.solve(&mut direction);
        Ok(direction.iter().all(|p| p.is_finite()).then_some(direction))
    }
}

impl LogisticRegression {
    /// Fits a halfspace to labelled points of R^`dim` that other processes hold in blocks. `run` runs a pass. It must
    /// let every process compute the sums over its blocks ([`LogisticPass::partial`]), join the partial results, and
    /// return the total. The fit starts at 0.
    ///
    /// # Errors
    /// The errors of `run`; [`InputError::ZeroDimension`], [`InputError::Empty`], [`InputError::Overflow`],
    /// [`InputError::TooLarge`]; [`InputError::InconsistentState`] if two passes count different numbers of rows.
    pub fn fit_blocks<E: From<InputError>>(
        &self,
        dim: usize,
        run: impl FnMut(&LogisticPass) -> Result<LogisticSum, E>,
    ) -> Result<LogisticFit, E> {
        let params = self.parameters();
        if dim == 0 {
            return Err(InputError::ZeroDimension.into());
        }
        let (c, intercept) = (params.c, params.intercept);
        let (rows, sizes, hessian) = (0, 0.0, Vec::new());
        let mut blocks = Blocks { run, dim, c, intercept, rows, sizes, hessian };
        let v = zeros(1, dim + usize::from(intercept))?;
        let here = blocks.expand(&v)?;
        let small = small_gradient(params.tolerance, &here, c * blocks.sizes);
        minimise(&mut blocks, dim, v, here, small, params.max_steps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_linalg::Points;
    use halfspaces_linalg::{BLOCK_ROWS, FitSample, Params, Termination};

    /// Runs a pass on `workers` workers. Each worker has every `workers`th block.
    fn shared(
        points: &Points,
        labels: &[Label],
        workers: usize,
        pass: &LogisticPass,
    ) -> Result<LogisticSum, InputError> {
        let (n, dim) = (points.len(), points.dim());
        let blocks = n.div_ceil(BLOCK_ROWS);
        let mut all = Partial::default();
        for worker in (0..workers).rev() {
            for block in (worker..blocks).step_by(workers) {
                let rows = block * BLOCK_ROWS..n.min((block + 1) * BLOCK_ROWS);
                let values = points.as_slice()[rows.start * dim..rows.end * dim].to_vec();
                let values = Points::new(values, dim)?;
                let part = pass.partial(block as u64, &values, &labels[rows], Threads::ONE)?;
                all.merge(part).unwrap();
            }
        }
        Ok(all.finish(blocks as u64).unwrap().unwrap())
    }

    #[test]
    fn workers_change_no_bit_and_the_minimum_is_that_of_a_fit_in_memory() {
        let (points, labels) = crate::test_data::noisy_with_zeros(3 * BLOCK_ROWS + 50, 5, 1);
        for intercept in [true, false] {
            let learner =
                LogisticRegression::params().c(0.01).intercept(intercept).check().unwrap();
            let fit = |workers: usize| {
                learner.fit_blocks(5, |pass| shared(&points, &labels, workers, pass)).unwrap()
            };
            let one = fit(1);
            assert_eq!(one.termination(), Termination::Converged);
            assert!([2, 3, 8].into_iter().all(|workers| fit(workers) == one));
            let memory = learner.fit(&points, &labels).unwrap();
            let pairs = one.halfspace().weights().iter().zip(memory.halfspace().weights());
            assert!(pairs.clone().all(|(a, b)| (a - b).abs() < 1e-7), "{one:?} {memory:?}");
            assert!((one.halfspace().bias() - memory.halfspace().bias()).abs() < 1e-7);
            assert!((one.objective() / memory.objective() - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn a_block_without_rows_adds_nothing() {
        let (points, labels) = crate::test_data::noisy_with_zeros(50, 3, 1);
        let pass = LogisticPass::at(vec![0.5, -1.0, 2.0], Some(0.25)).unwrap();
        let some = pass.partial(0, &points, &labels, Threads::ONE).unwrap();
        let mut both = some.clone();
        both.merge(Partial::of_block(1, pass.nothing())).unwrap();
        assert_eq!(both.finish(2).unwrap(), some.finish(1).unwrap());
    }

    #[test]
    fn faults_are_told() {
        let (points, labels) = crate::test_data::noisy_with_zeros(100, 3, 1);
        let learner = LogisticRegression::params().check().unwrap();
        let mut rows = 100;
        let fault = learner.fit_blocks(3, |pass| {
            rows -= 1;
            let fewer = Points::new(points.as_slice()[..3 * rows].to_vec(), 3)?;
            shared(&fewer, &labels[..rows], 1, pass)
        });
        assert!(matches!(fault, Err(InputError::InconsistentState { .. })));
        let fault = learner.fit_blocks(2, |pass| shared(&points, &labels, 1, pass));
        assert_eq!(fault, Err(InputError::DimensionMismatch { expected: 2, found: 3 }));
        let pass = LogisticPass::at(vec![0.0; 3], Some(0.0)).unwrap();
        assert!(pass.partial(0, &points, &labels[1..], Threads::ONE).is_err());
        assert!(LogisticPass::at(vec![], Some(1.0)).is_err());
    }
}
