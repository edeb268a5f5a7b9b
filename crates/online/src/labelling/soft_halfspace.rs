//! The posterior over the halfspaces of the columns, given answers that may be wrong, computed by expectation
//! propagation. Part of the model of `LabellingSession`. Claims: S10, S10n, S10s, S10c.
//!
//! The weights w ~ N(0, I) are applied to points (z, 1) scaled to norm 1. An answer is the sign of w · x with
//! probability 1 - `SLIP`, and the opposite sign with probability `SLIP`. The likelihood of each answer is replaced by
//! a Gaussian factor. The product of this factor with all other factors has the same moments as the product of the
//! likelihood with all other factors (Minka 2001). After each informative answer, all factors are revised together for
//! a few sweeps. If there are few wrong answers, the mean is close to the centre of gravity of the version space. A
//! wrong answer about a point far from the boundary has little influence.

use super::features::Features;
use super::normal::{Probit, Site};
use super::scan::products;
use halfspaces_linalg::kernels::{Wide, run_wide};
use halfspaces_linalg::{InputError, Threads, kernels, zeros};

/// The likelihood is nearly a step function and assumes that one answer in a hundred is wrong.
pub(super) const STEP: Probit = Probit { noise: 1e-4, slip: 0.01 };
/// A new answer is uninformative if its score is at least `SURE` standard deviations; the factors of answers with a
/// score of at least `NEAR` standard deviations are not revised.
const SURE: f64 = 6.0;
const NEAR: f64 = 5.0;
/// A new answer with a score below this many standard deviations is followed by several sweeps.
const TELLING: f64 = 3.0;
const MAX_SWEEPS: usize = 4;
const DAMPING: f64 = 0.8;
/// The sweeps end once no factor changes the variance of its point by more than this fraction.
const SETTLED: f64 = 1e-3;
/// The maximum number of multiplications for the factors of a sweep, and for the variances of the pool.
const SWEEP_WORK: usize = 5_000_000;
const VARIANCE_WORK: usize = 20_000_000;

/// The posterior and its predictions for every point of the pool.
#[derive(Debug, Clone)]
pub(super) struct SoftHalfspace {
    dim: usize,
    sites: Vec<Site>,
    /// The lower triangle of Σ precision x xᵀ + I (`precision`), and Σ shift x (`shift`).
    precision: Vec<f64>,
    shift: Vec<f64>,
    /// The inverse of the Cholesky factor of the precision, stored by rows (`inverse_root`), and the mean (`weights`).
    inverse_root: Vec<f64>,
    weights: Vec<f64>,
    pub(super) means: Vec<f64>,
    pub(super) variances: Vec<f64>,
    /// For each answer in order, the earlier values of the factors that were revised after this answer.
    history: Vec<(usize, Vec<(usize, Site)>)>,
}

impl SoftHalfspace {
    pub(super) fn new(features: &Features) -> Result<Self, InputError> {
        let dim = features.head();
        let mut precision = zeros(dim, dim)?;
        precision.iter_mut().step_by(dim + 1).for_each(|v| *v = 1.0);
        let mut soft = SoftHalfspace {
            dim,
            sites: Vec::new(),
            inverse_root: precision.clone(),
            precision,
            shift: zeros(1, dim)?,
            weights: zeros(1, dim)?,
            means: Vec::new(),
            variances: Vec::new(),
            history: Vec::new(),
        };
        soft.extend(features);
        Ok(soft)
    }

    /// Extends the posterior to points that have been added.
    pub(super) fn extend(&mut self, features: &Features) {
        let mut x = vec![0.0; self.dim];
        for index in self.means.len()..features.len() {
            features.unit(index, &mut x);
            self.means.push(kernels::dot(&self.weights, &x));
            self.variances.push(self.variance(&x));
        }
        self.sites.resize(features.len(), Site::NONE);
    }

    pub(super) fn site(&self, index: usize) -> Site {
        self.sites[index]
    }

    /// The z-score of the value of a point.
    pub(super) fn score(&self, index: usize) -> f64 {
        self.means[index] / (self.variances[index] + STEP.noise).sqrt()
    }

    /// xᵀ(precision)⁻¹x.
    fn variance(&self, x: &[f64]) -> f64 {
        run_wide(Variance { inverse_root: &self.inverse_root, x })
    }

    /// Learns a new answer with sign `y`; `answers` contains all answers, including this one.
    pub(super) fn learn(
        &mut self,
        features: &Features,
        index: usize,
        y: f64,
        answers: &[(usize, f64)],
        surest: &[usize],
        threads: Threads,
    ) {
        let score = y * self.score(index);
        let mut before = Vec::new();
        if score < SURE {
            let sweeps = if score < TELLING { MAX_SWEEPS } else { 1 };
            before = self.revise(features, answers, sweeps, surest, threads);
        }
        self.history.push((index, before));
    }

    /// Removes the factor of an answer that is no longer in `answers`. If this was the most recent answer, all factors
    /// are restored to their values before the answer; otherwise they are revised.
    pub(super) fn forget(
        &mut self,
        features: &Features,
        index: usize,
        answers: &[(usize, f64)],
        surest: &[usize],
        threads: Threads,
    ) {
        let mut x = vec![0.0; self.dim];
        if self.history.last().is_some_and(|(last, _)| *last == index) {
            let Some((_, before)) = self.history.pop() else {
                unreachable!("the history has one entry for each answer")
            };
            if before.is_empty() {
                return;
            }
            for &(i, old) in &before {
                features.unit(i, &mut x);
                let new = std::mem::replace(&mut self.sites[i], old);
                self.add_factors(&x, &[old.less(new)]);
            }
            self.solve();
            self.measure(features, surest, threads);
            for (i, _) in before {
                features.unit(i, &mut x);
                self.variances[i] = self.variance(&x);
            }
            return;
        }
        // The recorded factors would not correspond to the remaining answers.
        self.history.clear();
        features.unit(index, &mut x);
        let site = std::mem::replace(&mut self.sites[index], Site::NONE);
        self.add_factors(&x, &[Site::NONE.less(site)]);
        self.solve();
        self.measure(features, &[], threads);
        self.revise(features, answers, MAX_SWEEPS, surest, threads);
    }

    /// Adds a factor at each of the rows x.
    fn add_factors(&mut self, rows: &[f64], factors: &[Site]) {
        run_wide(AddSquares { rows, factors, to: &mut self.precision });
        for (x, factor) in rows.chunks_exact(self.dim).zip(factors) {
            kernels::axpy(factor.shift, x, &mut self.shift);
        }
    }

    /// Revises the factors of the least certain answers, for at most `sweeps` sweeps or until the factors settle.
    /// Returns the values of these factors before the revision.
    fn revise(
        &mut self,
        features: &Features,
        answers: &[(usize, f64)],
        sweeps: usize,
        surest: &[usize],
        threads: Threads,
    ) -> Vec<(usize, Site)> {
        let mut near: Vec<(f64, usize, f64)> = answers
            .iter()
            .map(|&(index, y)| (y * self.score(index), index, y))
            .filter(|(score, ..)| *score < NEAR)
            .collect();
        near.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        near.truncate((SWEEP_WORK / (self.dim * self.dim)).max(16));
        let mut rows = vec![0.0; near.len() * self.dim];
        for ((_, index, _), x) in near.iter().zip(rows.chunks_exact_mut(self.dim)) {
            features.unit(*index, x);
        }
        let before = near.iter().map(|&(_, index, _)| (index, self.sites[index])).collect();
        for _ in 0..sweeps {
            let mut most: f64 = 0.0;
            let revised: Vec<Site> = near
                .iter()
                .zip(rows.chunks_exact(self.dim))
                .map(|(&(_, index, y), x)| {
                    let (mean, variance) = (kernels::dot(&self.weights, x), self.variance(x));
                    let old = self.sites[index];
                    let (mean, rest) = cavity(mean, variance, old);
                    let new = STEP.site(y, mean, rest);
                    let step = DAMPING * (new.precision - old.precision);
                    most = most.max(step.abs() * variance);
                    Site {
                        precision: old.precision + step,
                        shift: old.shift + DAMPING * (new.shift - old.shift),
                    }
                })
                .collect();
            let revise = |(&(_, index, _), new): (&(f64, usize, f64), Site)| {
                new.less(std::mem::replace(&mut self.sites[index], new))
            };
            let changes: Vec<Site> = near.iter().zip(revised).map(revise).collect();
            self.add_factors(&rows, &changes);
            self.solve();
            if most < SETTLED {
                break;
            }
        }
        self.measure(features, surest, threads);
        for (&(_, index, _), x) in near.iter().zip(rows.chunks_exact(self.dim)) {
            self.variances[index] = self.variance(x);
        }
        before
    }

    /// Computes the mean and the inverse root of the precision.
    fn solve(&mut self) {
        let d = self.dim;
        // The Cholesky factor exists, because the precision is the identity plus factors with positive precision.
        let mut root = self.precision.clone();
        for i in 0..d {
            for j in 0..=i {
                let product = kernels::dot(&root[i * d..i * d + j], &root[j * d..j * d + j]);
                let rest = root[i * d + j] - product;
                root[i * d + j] = if i == j {
                    // Keep the pivot positive in spite of rounding.
                    rest.max(f64::EPSILON).sqrt()
                } else {
                    rest / root[j * d + j]
                };
            }
        }
        let inverse_root = &mut self.inverse_root;
        run_wide(InverseRoot { root: &root, inverse_root, dim: d });
        let half: Vec<f64> =
            self.inverse_root.chunks_exact(d).map(|row| kernels::dot(row, &self.shift)).collect();
        self.weights.fill(0.0);
        for (row, v) in self.inverse_root.chunks_exact(d).zip(half) {
            kernels::axpy(v, row, &mut self.weights);
        }
    }

    /// Computes the means of all points and, up to a limit on the work, their variances. In large pools, only the
    /// variances of the surest points are computed.
    fn measure(&mut self, features: &Features, surest: &[usize], threads: Threads) {
        let mut x = vec![0.0; self.dim];
        let work = self.dim * self.dim / 2;
        let all = work.saturating_mul(features.len()) <= VARIANCE_WORK;
        let change = features.direction_of_units(&self.weights);
        let values = products(features, &[change], threads);
        for (index, (mean, value)) in self.means.iter_mut().zip(values).enumerate() {
            *mean = value * features.unit_scale(index);
        }
        let measured = if all { 0..features.len() } else { 0..0 };
        let some = surest.iter().copied().take((VARIANCE_WORK / work).max(1));
        for index in measured.chain(some) {
            features.unit(index, &mut x);
            self.variances[index] = self.variance(&x);
        }
    }

    /// The number of points whose variances are computed after each answer. If the pool has at most this many points,
    /// all variances are computed.
    pub(super) fn measured(&self) -> usize {
        VARIANCE_WORK / (self.dim * self.dim / 2).max(1)
    }
}

/// Computes xᵀ(precision)⁻¹x. This computation and the next one are compiled for the vector instructions of the
/// processor, which do not change the sums.
struct Variance<'a> {
    inverse_root: &'a [f64],
    x: &'a [f64],
}

impl Wide for Variance<'_> {
    type Output = f64;

    #[inline(always)]
    fn run(self) -> f64 {
        let Variance { inverse_root, x } = self;
        let (d, mut sum) = (x.len(), 0.0);
        for (i, row) in inverse_root.chunks_exact(d).enumerate() {
            let end = whole_lanes(i + 1, d);
            sum += kernels::dot(&row[..end], &x[..end]).powi(2);
        }
        sum
    }
}

/// Adds the lower triangle of Σ precision · xxᵀ, where the sum is over factors and their rows x. The length of each
/// row of the triangle is rounded up to a multiple of the number of lanes.
struct AddSquares<'a> {
    rows: &'a [f64],
    factors: &'a [Site],
    to: &'a mut [f64],
}

impl Wide for AddSquares<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let AddSquares { rows, factors, to } = self;
        let d = to.len().isqrt();
        for (i, row) in to.chunks_exact_mut(d).enumerate() {
            let end = whole_lanes(i + 1, d);
            for (x, factor) in rows.chunks_exact(d).zip(factors) {
                add_scaled(factor.precision * x[i], &x[..end], &mut row[..end]);
            }
        }
    }
}

/// The number of terms to add if only the first `len` of `d` terms are not 0. This number is rounded up to a
/// multiple of the number of lanes, because a partly filled block is slow.
#[inline(always)]
fn whole_lanes(len: usize, d: usize) -> usize {
    len.next_multiple_of(kernels::LANES).min(d)
}

/// Computes the inverse of a lower triangular matrix.
struct InverseRoot<'a> {
    root: &'a [f64],
    inverse_root: &'a mut [f64],
    dim: usize,
}

impl Wide for InverseRoot<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let InverseRoot { root, inverse_root, dim: d } = self;
        inverse_root.fill(0.0);
        for i in 0..d {
            // Row i is -(root_i0 row 0 + root_i1 row 1 + ... + root_i(i-1) row i-1)/root_ii, with 1/root_ii on the
            // diagonal.
            let (above, row) = inverse_root.split_at_mut(i * d);
            for (k, above) in above.chunks_exact(d).enumerate() {
                let end = whole_lanes(k + 1, d);
                add_scaled(root[i * d + k], &above[..end], &mut row[..end]);
            }
            for v in &mut row[..i] {
                *v = -*v / root[i * d + i];
            }
            row[i] = 1.0 / root[i * d + i];
        }
    }
}

/// `y += a x` like [`kernels::axpy`], but always inlined into the loop around it.
#[inline(always)]
fn add_scaled(a: f64, x: &[f64], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += a * x;
    }
}

/// The mean and the variance after a factor is removed.
#[inline]
pub(super) fn cavity(mean: f64, variance: f64, site: Site) -> (f64, f64) {
    /// The lower limit of 1 - precision · variance.
    const MIN_REST: f64 = 1e-9;
    let rest = (1.0 - site.precision * variance).max(MIN_REST);
    ((mean - variance * site.shift) / rest, variance / rest)
}

#[cfg(test)]
mod tests {
    use super::super::features::PoolMaps;
    use super::*;
    use halfspaces_data::{Gaussian, Marginal};

    /// The precision, its inverse, the mean, and the values of every point equal those of the prior multiplied by all
    /// factors. The test checks this after several answers, including a wrong one, and after removing an answer in the
    /// middle.
    #[test]
    fn the_posterior_is_that_of_its_factors() {
        let points = Gaussian::new(3, 1.0).unwrap().sample(40, 5).unwrap();
        let maps = PoolMaps::fit(&points, 10, 1).unwrap();
        let mut features = Features::default();
        maps.append(&points, &mut features, Threads::ONE).unwrap();
        let mut soft = SoftHalfspace::new(&features).unwrap();
        // 2·10⁷ multiplications, divided by half of 4 × 4.
        assert_eq!((soft.dim, soft.measured()), (4, 2_500_000));
        let holds = |soft: &SoftHalfspace, answers: &[(usize, f64)]| {
            let d = soft.dim;
            let rows: Vec<Vec<f64>> = (0..features.len())
                .map(|i| {
                    let mut x = vec![0.0; d];
                    features.unit(i, &mut x);
                    x
                })
                .collect();
            let asked = |i: usize| answers.iter().any(|(index, _)| *index == i);
            assert!((0..40).all(|i| asked(i) || soft.sites[i] == Site::NONE));
            let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (1.0 + b.abs());
            for i in 0..d {
                let shift: f64 = (0..40).map(|k| soft.sites[k].shift * rows[k][i]).sum();
                assert!(close(soft.shift[i], shift));
                let product: f64 =
                    (0..d).map(|j| soft.precision[i * d + j] * soft.weights[j]).sum();
                assert!(close(product, shift), "the mean is the inverse times the shift");
                for j in 0..d {
                    let of = |k: usize| soft.sites[k].precision * rows[k][i] * rows[k][j];
                    let precision = f64::from(u8::from(i == j)) + (0..40).map(of).sum::<f64>();
                    assert!(close(soft.precision[i * d + j], precision));
                    let inverse = |a: usize, b: usize| -> f64 {
                        (0..d)
                            .map(|k| soft.inverse_root[k * d + a] * soft.inverse_root[k * d + b])
                            .sum()
                    };
                    let unit: f64 = (0..d).map(|k| soft.precision[i * d + k] * inverse(k, j)).sum();
                    assert!(close(unit, f64::from(u8::from(i == j))), "{i} {j}: {unit}");
                }
            }
            for (k, x) in rows.iter().enumerate() {
                assert!((soft.means[k] - kernels::dot(&soft.weights, x)).abs() < 1e-6);
                assert!(close(soft.variances[k], soft.variance(x)));
                // An answer about a point has its own noise of variance 10⁻⁴.
                let deviation = (soft.variances[k] + 1e-4).sqrt();
                assert!(close(soft.score(k), soft.means[k] / deviation));
            }
        };
        let mut answers: Vec<(usize, f64)> = Vec::new();
        for k in 0..12 {
            let y = points.as_slice()[3 * k].signum() * if k == 7 { -1.0 } else { 1.0 };
            answers.push((k, y));
            soft.learn(&features, k, y, &answers, &[], Threads::ONE);
            holds(&soft, &answers);
        }
        assert!(answers.iter().filter(|(k, y)| y * soft.means[*k] > 0.0).count() >= 11);
        let last = soft.clone();
        soft.learn(&features, 20, 1.0, &[&answers[..], &[(20, 1.0)]].concat(), &[], Threads::ONE);
        soft.forget(&features, 20, &answers, &[], Threads::ONE);
        holds(&soft, &answers);
        assert!(soft.weights.iter().zip(&last.weights).all(|(a, b)| (a - b).abs() < 1e-9));
        answers.remove(4);
        soft.forget(&features, 4, &answers, &[], Threads::ONE);
        holds(&soft, &answers);
    }
}
