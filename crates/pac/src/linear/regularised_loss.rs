//! Sums over points for logistic regression and the support vector machine, which both minimise ½‖w‖² + C Σ loss.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt;
use faer::{ColMut, Mat, Par};
use halfspaces_kernels::{Fused, FusedLoop, run_fused};
use halfspaces_linalg::{InputError, Label, PointSet, RowView, Threads, zeros};
use std::ops::Range;

/// The maximum number of parts into which sums over points are split. The parts are divided among the threads.
const MAX_PARTS: usize = 16;
/// The minimum number of points in a part.
pub(super) const MIN_PART: usize = 8192;

/// The number of squared norms that a thread computes at a time.
const BLOCK: usize = 4096;

/// The problem of minimising ½‖w‖² + C Σ loss over v = (w, b), or v = w without an intercept. The loss of a point is
/// multiplied by its weight, if there are weights.
///
/// Sums over points are computed part by part and added in order, so they do not depend on the number of threads.
pub(super) struct Problem<'a, P> {
    pub(super) points: &'a P,
    pub(super) labels: &'a [Label],
    weights: Option<&'a [f64]>,
    pub(super) c: f64,
    pub(super) intercept: bool,
    pub(super) threads: Threads,
    /// The squared norm ‖x‖² of every point.
    pub(super) norms_sq: Vec<f64>,
}

impl<'a, P: PointSet> Problem<'a, P> {
    /// # Errors
    /// [`InputError::Empty`], [`InputError::LengthMismatch`]; [`InputError::ParameterOutOfRange`] for a weight that is
    /// negative or not finite; [`InputError::Overflow`] for a row at which the sum of C times the squared norms
    /// overflows.
    pub(super) fn new(
        points: &'a P,
        labels: &'a [Label],
        weights: Option<&'a [f64]>,
        c: f64,
        intercept: bool,
        threads: Threads,
    ) -> Result<Self, InputError> {
        InputError::check_len(points.len(), labels.len())?;
        if labels.is_empty() {
            return Err(InputError::Empty);
        }
        weights.map_or(Ok(()), |weights| check_not_negative("weight", weights, labels.len()))?;
        let norms_sq = Vec::new();
        let mut problem = Problem { points, labels, weights, c, intercept, threads, norms_sq };
        let norms_sq = |block: Range<usize>| -> Vec<f64> {
            block.map(|index| problem.row(index).norm_sq()).collect()
        };
        problem.norms_sq = threads.map_blocks(labels.len(), BLOCK, norms_sq).concat();
        let mut total = 0.0;
        for (row, norm_sq) in problem.norms_sq.iter().enumerate() {
            total += c * problem.weight(row) * (norm_sq + 1.0);
            if !f64::is_finite(total) {
                return Err(InputError::Overflow { row });
            }
        }
        Ok(problem)
    }

    pub(super) fn unknowns(&self) -> usize {
        self.points.dim() + usize::from(self.intercept)
    }

    /// The weight of a point; 1 if there are no weights.
    #[inline(always)]
    pub(super) fn weight(&self, index: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[index])
    }

    /// The weights of some points.
    pub(super) fn weights_of(&self, indices: &[usize]) -> Option<Vec<f64>> {
        self.weights.map(|weights| indices.iter().map(|&index| weights[index]).collect())
    }

    /// Returns b, or 0 without an intercept.
    pub(super) fn bias(&self, v: &[f64]) -> f64 {
        if self.intercept { v[self.points.dim()] } else { 0.0 }
    }

    /// Returns ‖(x, 1)‖² of a point, or ‖x‖² without an intercept.
    #[inline(always)]
    pub(super) fn square(&self, index: usize) -> f64 {
        self.norms_sq[index] + if self.intercept { 1.0 } else { 0.0 }
    }

    /// The range of points of each part.
    pub(super) fn parts(&self) -> impl ExactSizeIterator<Item = Range<usize>> + Send + use<'a, P> {
        let n = self.labels.len();
        let size = n.div_ceil(MAX_PARTS).max(MIN_PART);
        (0..n.div_ceil(size)).map(move |part| part * size..n.min((part + 1) * size))
    }

    fn row(&self, index: usize) -> P::Row<'_> {
        match self.points.row(index) {
            Some(x) => x,
            None => unreachable!("there is a label for each point"),
        }
    }

    /// Computes w · x + b for the points of a part.
    pub(super) fn values_of(&self, part: Range<usize>, v: &[f64], values: &mut [f64]) {
        let (d, bias) = (self.points.dim(), self.bias(v));
        match self.points.as_dense() {
            Some(dense) => {
                let rows = &dense.as_slice()[part.start * d..];
                halfspaces_kernels::products(rows, &v[..d], values);
            }
            None => {
                values.iter_mut().zip(part).for_each(|(value, i)| *value = self.row(i).dot(v));
            }
        }
        values.iter_mut().for_each(|value| *value += bias);
    }

    /// Computes y (w · x + b) for the points of a part.
    pub(super) fn margins_of(&self, part: Range<usize>, v: &[f64], margins: &mut [f64]) {
        self.values_of(part.clone(), v, margins);
        margins.iter_mut().zip(&self.labels[part]).for_each(|(m, y)| *m *= y.as_f64());
    }

    /// Returns y (w · x + b) for every point.
    pub(super) fn margins(&self, v: &[f64]) -> Vec<f64> {
        let (_, margins) = self.over(self.parts(), Vec::new(), |part, _| {
            let mut margins = vec![0.0; part.len()];
            self.margins_of(part, v, &mut margins);
            margins
        });
        margins.concat()
    }

    /// Returns Σ factor y (x, 1), with one factor per point.
    ///
    /// # Errors
    /// [`InputError::TooLarge`].
    pub(super) fn signed_sum(&self, factors: &[f64]) -> Result<Vec<f64>, InputError> {
        let signed = factors.iter().zip(self.labels).map(|(factor, y)| factor * y.as_f64());
        let signed: Vec<f64> = signed.collect();
        let (sum, _) = self.over(self.parts(), zeros(1, self.unknowns())?, |part, sum| {
            self.add_scaled_of(part.clone(), &signed[part], sum);
        });
        Ok(sum)
    }

    /// Adds Σ factor (x, 1) over the points of a part to `out`, with one factor per point.
    pub(super) fn add_scaled_of(&self, part: Range<usize>, factors: &[f64], out: &mut [f64]) {
        let d = self.points.dim();
        match self.points.as_dense() {
            Some(dense) => {
                let rows = &dense.as_slice()[part.start * d..];
                halfspaces_kernels::add_rows(rows, d, factors, &mut out[..d]);
            }
            None => {
                for (index, factor) in part.zip(factors) {
                    self.row(index).add_scaled_to(*factor, out);
                }
            }
        }
        if self.intercept {
            factors.iter().for_each(|factor| out[d] += factor);
        }
    }

    /// Runs `work` for every part. `work` adds to a vector, which is `start` for the first part and zero for the other
    /// parts. Returns the sum of these vectors and the results of `work`.
    pub(super) fn over<I: Send, T: Send>(
        &self,
        parts: impl ExactSizeIterator<Item = I> + Send,
        start: Vec<f64>,
        work: impl Fn(I, &mut [f64]) -> T + Sync,
    ) -> (Vec<f64>, Vec<T>) {
        let len = start.len();
        let mut starts = Some(start).into_iter();
        let parts = parts.map(move |part| (part, starts.next()));
        let done = self.threads.map_with(
            parts,
            || (),
            |(), (part, start)| {
                let mut out = start.unwrap_or_else(|| vec![0.0; len]);
                let rest = work(part, &mut out);
                (out, rest)
            },
        );
        let (sums, rest): (Vec<Vec<f64>>, Vec<T>) = done.into_iter().unzip();
        let join = |mut sum: Vec<f64>, next: Vec<f64>| {
            sum.iter_mut().zip(next).for_each(|(s, n)| *s += n);
            sum
        };
        let Some(sum) = sums.into_iter().reduce(join) else { unreachable!("a sample has points") };
        (sum, rest)
    }

    /// Returns the penalised part of v, in which the entry of the intercept is 0.
    pub(super) fn penalised(&self, v: &[f64]) -> Vec<f64> {
        let mut w = v.to_vec();
        if self.intercept {
            w[self.points.dim()] = 0.0;
        }
        w
    }

    /// Returns C Σ ‖(x, 1)‖, where each term is multiplied by the weight of the point.
    pub(super) fn gradient_scale(&self) -> f64 {
        let sizes = (0..self.labels.len()).map(|i| self.weight(i) * self.square(i).sqrt());
        self.c * sizes.sum::<f64>()
    }

    /// Returns the lower triangle, by rows, of Σ factor (x, 1)(x, 1)', with one factor per point.
    ///
    /// # Errors
    /// [`InputError::TooLarge`].
    pub(super) fn outer_products(&self, factors: &[f64]) -> Result<Vec<f64>, InputError> {
        let k = self.unknowns();
        let (sum, _) = self.over(self.parts(), zeros(k, k)?, |part, sum| {
            self.add_outer_products_of(part.clone(), &factors[part], sum);
        });
        Ok(sum)
    }

    /// Adds Σ factor (x, 1)(x, 1)' over the points of a part to `sum`.
    pub(super) fn add_outer_products_of(
        &self,
        part: Range<usize>,
        factors: &[f64],
        sum: &mut [f64],
    ) {
        let (k, d) = (self.unknowns(), self.points.dim());
        match self.points.as_dense() {
            Some(dense) => {
                let rows = &dense.as_slice()[part.start * d..part.end * d];
                halfspaces_kernels::add_outer(rows, d, factors, sum, k);
            }
            None => {
                let part = part.clone();
                run_fused(OuterOfEntries { problem: self, part, factors, sum: &mut *sum });
            }
        }
        if self.intercept {
            self.add_scaled_of(part, factors, &mut sum[d * k..]);
        }
    }
}

/// The loop of [`halfspaces_kernels::add_outer`] for sparse rows, with the same rounding.
struct OuterOfEntries<'a, 'p, P> {
    problem: &'a Problem<'p, P>,
    part: Range<usize>,
    factors: &'a [f64],
    sum: &'a mut [f64],
}

impl<P: PointSet> FusedLoop for OuterOfEntries<'_, '_, P> {
    type Output = ();

    #[inline(always)]
    fn run<F: Fused>(self, _: F) {
        let k = self.problem.unknowns();
        for (index, factor) in self.part.zip(self.factors) {
            let x = self.problem.row(index);
            for (i, x_i) in x.entries() {
                let (row, scaled) = (&mut self.sum[i * k..=i * k + i], factor * x_i);
                for (j, x_j) in x.entries().take_while(|(j, _)| *j <= i) {
                    row[j] = scaled.mul_add(x_j, row[j]);
                }
            }
        }
    }
}

/// The Cholesky factor of a matrix.
pub(super) struct Cholesky {
    factor: Mat<f64>,
    memory: MemBuffer,
}

impl Cholesky {
    /// Factorises the matrix of `size` columns with the given lower triangle (by rows), after adding 1 to the first
    /// `penalised` entries of its diagonal. Returns `None` if the matrix is not positive definite up to rounding.
    pub(super) fn new(lower: &[f64], size: usize, penalised: usize) -> Option<Cholesky> {
        let mut factor =
            Mat::from_fn(size, size, |i, j| if j <= i { lower[i * size + j] } else { 0.0 });
        (0..penalised).for_each(|j| factor[(j, j)] += 1.0);
        let params = Default::default();
        let mut memory =
            MemBuffer::new(llt::factor::cholesky_in_place_scratch::<f64>(size, Par::Seq, params));
        let stack = MemStack::new(&mut memory);
        llt::factor::cholesky_in_place(
            factor.as_mut(),
            Default::default(),
            Par::Seq,
            stack,
            params,
        )
        .ok()?;
        Some(Cholesky { factor, memory })
    }

    /// Replaces the right-hand side of a linear system by its solution.
    pub(super) fn solve(&mut self, right: &mut [f64]) {
        let right = ColMut::from_slice_mut(right).as_mat_mut();
        let stack = MemStack::new(&mut self.memory);
        llt::solve::solve_in_place(self.factor.as_ref(), right, Par::Seq, stack);
    }
}

/// Checks that there is one finite, non-negative number for each point.
pub(super) fn check_not_negative(
    name: &'static str,
    given: &[f64],
    points: usize,
) -> Result<(), InputError> {
    InputError::check_len(points, given.len())?;
    let bad = given.iter().find(|v| !(v.is_finite() && **v >= 0.0));
    bad.map_or(Ok(()), |v| InputError::check_parameter(name, *v, false, "at least 0"))
}

/// Checks C, the weight of the loss relative to ½‖w‖².
pub(super) fn check_c(c: f64) -> Result<(), InputError> {
    InputError::check_parameter("c", c, (1e-12..=1e12).contains(&c), "between 1e-12 and 1e12")
}

/// Checks a tolerance relative to the scale of the problem.
pub(super) fn check_tolerance(tolerance: f64) -> Result<(), InputError> {
    let in_range = (1e-13..1.0).contains(&tolerance);
    InputError::check_parameter("tolerance", tolerance, in_range, "at least 1e-13 and below 1")
}

/// Checks a cap on steps or passes.
pub(super) fn check_cap(name: &'static str, cap: u64) -> Result<(), InputError> {
    InputError::check_parameter(name, cap as f64, cap > 0, "at least 1")
}
