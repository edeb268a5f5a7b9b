//! The exact posterior of a Gaussian process on a pool. Part of `LabellingSession`. Claims: none.
//!
//! Each class has a value for every point, with prior covariance K. The target of an answer is 1 for its class and -1
//! for the others, with noise of variance 0.2. Let A be the answered points, e their targets, and L Lᵀ = K(A, A) + 0.2
//! I. Then the posterior mean of a point x is V(x) · L⁻¹e and its variance is K(x, x) - |V(x)|², where V(x) = L⁻¹K(A,
//! x). All classes share the variance (Rasmussen and Williams 2006, section 2.2).
//!
//! An answer adds a row to L, a change replaces a target, and a withdrawal removes a row of L. Each of these operations
//! is described by one function on the pool: the means of every point change by multiples of the function, and the
//! variance changes by a multiple of its square. If K consists of inner products of explicit feature vectors, the
//! function is computed in one pass over these vectors. Otherwise the function is a combination of the columns of V,
//! which are kept for the pool.

use super::factor::Factor;
use super::kernel::Kernel;
use halfspaces_linalg::kernels::{self, Wide, run_wide};
use halfspaces_linalg::{InputError, Threads, reserve, zeros};

/// The variance of the noise of the targets 1 and -1.
pub(super) const NOISE: f64 = 0.2;
/// The maximum number of stored values of V, which take 1 GB.
const MAX_STORED: usize = 250_000_000;
/// Number of points that a thread processes at a time.
const BLOCK: usize = 2048;

/// The state of the posterior.
#[derive(Debug, Clone)]
pub(super) struct Posterior {
    kernel: Kernel,
    classes: usize,
    threads: Threads,
    /// The answered points, in the order of the rows of L.
    answered: Vec<usize>,
    factor: Factor,
    /// L⁻¹e, one row for each answered point and one column for each class.
    gains: Vec<f64>,
    /// The columns of V on the pool. The list is empty if the kernel has explicit features.
    columns: Vec<Vec<f32>>,
    /// The maximum number of stored values of V.
    max_stored: usize,
    /// For each point, the means of the classes (`means`) and the variance (`variances`).
    means: Vec<f64>,
    variances: Vec<f64>,
}

impl Posterior {
    pub(super) fn new(
        kernel: Kernel,
        classes: usize,
        threads: Threads,
    ) -> Result<Self, InputError> {
        let mut posterior = Posterior {
            kernel,
            classes,
            threads,
            answered: Vec::new(),
            factor: Factor::default(),
            gains: Vec::new(),
            columns: Vec::new(),
            max_stored: MAX_STORED,
            means: Vec::new(),
            variances: Vec::new(),
        };
        posterior.extend()?;
        Ok(posterior)
    }

    #[cfg(test)]
    pub(super) fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    pub(super) fn len(&self) -> usize {
        self.variances.len()
    }

    pub(super) fn means(&self, index: usize) -> &[f64] {
        &self.means[index * self.classes..][..self.classes]
    }

    pub(super) fn variance(&self, index: usize) -> f64 {
        self.variances[index]
    }

    /// The weights of a point's coordinates in the difference of two means: the mean of `class` minus the mean of
    /// `other`. Returns `None` for a kernel that is not linear in the coordinates.
    pub(super) fn weights(
        &self,
        index: usize,
        class: usize,
        other: usize,
    ) -> Option<Vec<(usize, f64)>> {
        let Kernel::Text(kernel) = &self.kernel else { return None };
        let gains = self.gains.chunks_exact(self.classes);
        let gains: Vec<f64> = gains.map(|gains| gains[class] - gains[other]).collect();
        let dual = self.factor.solve_transposed(&gains);
        Some(kernel.weights(index, self.answered.iter().copied().zip(dual)))
    }

    /// Adds points to the pool.
    pub(super) fn append<P: halfspaces_linalg::PointSet>(
        &mut self,
        points: &P,
    ) -> Result<(), InputError> {
        let before = self.len();
        self.kernel.append(points, self.threads)?;
        self.extend().inspect_err(|_| self.kernel.truncate(before))
    }

    /// Computes the means and variances of the points that have been added to the kernel.
    fn extend(&mut self) -> Result<(), InputError> {
        let (first, n) = (self.len(), self.kernel.len());
        // Check that the means fit in memory before anything is changed.
        drop(zeros(n, self.classes)?);
        for column in &mut self.columns {
            reserve(column, n - first)?;
        }
        let (kernel, answered, factor) = (&self.kernel, &self.answered, &self.factor);
        let rows = self.threads.map_blocks(n - first, BLOCK, |block| {
            let row = |i| factor.solve(&kernel.between(first + i, answered));
            block.map(row).collect::<Vec<_>>()
        });
        for (index, row) in (first..).zip(rows.into_iter().flatten()) {
            let variance = self.kernel.own(index) - kernels::norm_sq(&row);
            self.variances.push(variance.max(0.0));
            let start = self.means.len();
            self.means.resize(start + self.classes, 0.0);
            for (v, gains) in row.iter().zip(self.gains.chunks_exact(self.classes)) {
                kernels::axpy(*v, gains, &mut self.means[start..]);
            }
            self.columns.iter_mut().zip(&row).for_each(|(column, v)| column.push(*v as f32));
        }
        Ok(())
    }

    /// The number of answers that can be learned, or `usize::MAX` if there is no limit.
    pub(super) fn capacity(&self) -> usize {
        match self.kernel {
            Kernel::Text(_) => usize::MAX,
            Kernel::Cosine(_) => self.max_stored / self.len().max(1),
        }
    }

    /// The number of answers that have been learned.
    pub(super) fn learned(&self) -> usize {
        self.answered.len()
    }

    /// Learns an answer.
    pub(super) fn learn(&mut self, index: usize, class: usize) {
        let row = self.factor.solve(&self.kernel.between(index, &self.answered));
        let variance = (self.kernel.own(index) - kernels::norm_sq(&row)).max(0.0);
        let diagonal = (variance + NOISE).sqrt();
        let mut gain: Vec<f64> = (0..self.classes).map(|k| target(k == class)).collect();
        for (v, gains) in row.iter().zip(self.gains.chunks_exact(self.classes)) {
            kernels::axpy(-v, gains, &mut gain);
        }
        gain.iter_mut().for_each(|v| *v /= diagonal);
        // The new column of V.
        let column = match &self.kernel {
            Kernel::Text(kernel) => {
                let mut dual = self.factor.solve_transposed(&row);
                dual.iter_mut().for_each(|v| *v = -*v / diagonal);
                let terms = self.answered.iter().copied().zip(dual);
                kernel.combination(terms.chain([(index, 1.0 / diagonal)]), self.threads)
            }
            Kernel::Cosine(kernel) => {
                let mut own = kernel.column(index, self.threads);
                own.iter_mut().for_each(|v| *v /= diagonal);
                let factors: Vec<f64> = row.iter().map(|v| -v / diagonal).collect();
                self.of_columns(own, &factors)
            }
        };
        self.spread(&column, &gain, -1.0);
        if matches!(self.kernel, Kernel::Cosine(_)) {
            self.columns.push(column);
        }
        self.factor.push(row, diagonal);
        self.gains.extend(gain);
        self.answered.push(index);
    }

    /// Changes the class of a learned answer.
    pub(super) fn change(&mut self, index: usize, before: usize, class: usize) {
        let place = self.place(index);
        let (column, h, _) = self.column_of(place);
        let mut change = vec![0.0; self.classes];
        change[before] = target(false) - target(true);
        change[class] = target(true) - target(false);
        self.spread(&column, &change, 0.0);
        for (v, gains) in h.iter().zip(self.gains.chunks_exact_mut(self.classes)) {
            kernels::axpy(*v, &change, gains);
        }
    }

    /// Removes a learned answer.
    pub(super) fn forget(&mut self, index: usize) {
        let place = self.place(index);
        let (mut column, h, own) = self.column_of(place);
        // Let Q be the inverse of K(A, A) + noise. The mean decreases by K(x, A)Q_i (Qe)_i / Q_ii, and the variance
        // increases by (K(x, A)Q_i)² / Q_ii.
        let mut loss = vec![0.0; self.classes];
        for (v, gains) in h.iter().zip(self.gains.chunks_exact(self.classes)) {
            kernels::axpy(*v, gains, &mut loss);
        }
        let root = own.sqrt();
        loss.iter_mut().for_each(|v| *v /= -root);
        column.iter_mut().for_each(|v| *v = (f64::from(*v) / root) as f32);
        self.spread(&column, &loss, 1.0);
        self.remove_row(place);
    }

    /// Removes a row of L and the corresponding column of V.
    fn remove_row(&mut self, place: usize) {
        self.answered.remove(place);
        let rotations = self.factor.remove(place);
        let classes = self.classes;
        let mut rest: Vec<f64> = self.gains.drain(place * classes..(place + 1) * classes).collect();
        let later = self.gains[place * classes..].chunks_exact_mut(classes);
        for (rotation, gains) in rotations.iter().zip(later) {
            gains.iter_mut().zip(&mut rest).for_each(|(x, w)| rotation.apply(x, w));
        }
        if self.columns.is_empty() {
            return;
        }
        let mut rest = self.columns.remove(place);
        for (rotation, column) in rotations.iter().zip(&mut self.columns[place..]) {
            column.iter_mut().zip(&mut rest).for_each(|(x, w)| rotation.apply_single(x, w));
        }
    }

    fn place(&self, index: usize) -> usize {
        let place = self.answered.iter().position(|i| *i == index);
        let Some(place) = place else { unreachable!("only learned answers change") };
        place
    }

    #[cfg(test)]
    pub(super) fn limit(&mut self, max_stored: usize) {
        self.max_stored = max_stored;
    }

    /// Returns K(x, A)Q_i for every point x, L⁻¹ times the unit vector of i, and Q_ii, where Q is the inverse of K(A,
    /// A) + noise.
    fn column_of(&self, place: usize) -> (Vec<f32>, Vec<f64>, f64) {
        let h = self.factor.solve_unit(place);
        let column = match &self.kernel {
            Kernel::Text(kernel) => {
                let dual = self.factor.solve_transposed(&h);
                kernel.combination(self.answered.iter().copied().zip(dual), self.threads)
            }
            Kernel::Cosine(_) => self.of_columns(vec![0.0; self.len()], &h),
        };
        let own = kernels::norm_sq(&h);
        (column, h, own)
    }

    /// The sum of a function on the pool and a combination of the columns of V.
    fn of_columns(&self, mut plus: Vec<f64>, factors: &[f64]) -> Vec<f32> {
        let columns = &self.columns;
        self.threads.map_with(
            plus.chunks_mut(BLOCK).enumerate(),
            || (),
            |(), (block, sums)| {
                run_wide(Combine { columns, factors, start: block * BLOCK, sums });
            },
        );
        plus.into_iter().map(|v| v as f32).collect()
    }

    /// Adds the column times `gain` to the means, and the square of the column times `sign` to the variances.
    fn spread(&mut self, column: &[f32], gain: &[f64], sign: f64) {
        let classes = self.classes;
        let means = self.means.chunks_mut(BLOCK * classes);
        let tasks = means.zip(self.variances.chunks_mut(BLOCK)).zip(column.chunks(BLOCK));
        self.threads.map_with(
            tasks,
            || (),
            |(), ((means, variances), column)| {
                let means = means.chunks_exact_mut(classes);
                for ((means, variance), v) in means.zip(variances).zip(column) {
                    let v = f64::from(*v);
                    means.iter_mut().zip(gain).for_each(|(mean, gain)| *mean += v * gain);
                    // Rounding must not make the variance of an answered point negative.
                    *variance = (*variance + sign * v * v).max(0.0);
                }
            },
        );
    }
}

/// The target value of a class.
pub(super) fn target(is_class: bool) -> f64 {
    if is_class { 1.0 } else { -1.0 }
}

/// Adds a combination of columns to the sums of the points, beginning with point `start`.
struct Combine<'a> {
    columns: &'a [Vec<f32>],
    factors: &'a [f64],
    start: usize,
    sums: &'a mut [f64],
}

impl Wide for Combine<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Combine { columns, factors, start, sums } = self;
        for (column, factor) in columns.iter().zip(factors) {
            let column = &column[start..][..sums.len()];
            for (sum, v) in sums.iter_mut().zip(column) {
                *sum += factor * f64::from(*v);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{embeddings, texts};
    use super::*;
    use halfspaces_linalg::PointSet;

    /// The columns of V take at most 4 · 250 000 000 bytes. Explicit features need no columns.
    #[test]
    fn only_columns_limit_the_number_of_answers() {
        let (points, _) = embeddings(50, 120, 1);
        let kernel = Kernel::fit(&points, Threads::ONE).unwrap().unwrap();
        let posterior = Posterior::new(kernel, 3, Threads::ONE).unwrap();
        assert_eq!(posterior.capacity(), 5_000_000);
        let (points, _) = texts(50, 1);
        let kernel = Kernel::fit(&points.select(&[0, 1, 2]).unwrap(), Threads::ONE);
        let posterior = Posterior::new(kernel.unwrap().unwrap(), 3, Threads::ONE).unwrap();
        assert_eq!(posterior.capacity(), usize::MAX);
    }
}
