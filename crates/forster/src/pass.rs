//! One pass over the points, which computes U = XA with rows scaled to norm 1, and M = (k/W) Σ w u uᵀ. *Source.* DKTZ23
//! §3, Forster transform. Claims: F1, F2, F3, S7, S8.
//!
//! The passes take most of the time, so rows are processed in tiles that stay in the first-level cache
//! ([`crate::tile`]), and each row is read once. A is lower triangular (a rotation of A changes neither norms nor
//! eigenvalues), so only half of the products are needed, and only the lower half of M is summed. Together, these
//! computations take as much work as one XᵀX. After [`Pass::new`], a pass allocates memory only for A, for M, and for
//! the sums that are not yet joined.
//!
//! The rows are split into blocks of [`BLOCK_ROWS`]. Each block has its own sums ([`MomentSum`]), which are joined as
//! described in [`halfspaces_linalg::Partial`]. Therefore no result depends on the number of threads or machines, not
//! even in the last digit. Within a block, the sums run from the first row to the last.

use crate::gram::{AddGram, add_gram};
use crate::tile::{self, Factor, lanes_dot, padded, product_and_scales, unit_or_zero_rows};
use faer::{Mat, MatRef};
use halfspaces_linalg::kernels::{Aligned, Fused, FusedLoop, run_fused};
use halfspaces_linalg::{BLOCK_ROWS, InputError, Partial, Sum, Threads, aligned_zeros};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::convert::Infallible;
use std::fmt::Debug;
use std::ops::Range;

/// Points of one level, with weights: row-major rows whose squared norms neither overflow nor underflow.
#[derive(Debug, Clone)]
pub(crate) struct Rows<'a> {
    pub(crate) values: Cow<'a, [f64]>,
    pub(crate) dim: usize,
    pub(crate) weights: Vec<f64>,
    /// The sum of the weights.
    pub(crate) total: f64,
}

impl Rows<'_> {
    pub(crate) fn len(&self) -> usize {
        self.weights.len()
    }

    /// Row `i`, which must exist.
    pub(crate) fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.dim..(i + 1) * self.dim]
    }
}

/// The matrix M and the other results of the same pass.
#[derive(Debug, Clone)]
pub(crate) struct Moments {
    /// The matrix M, with both of its halves.
    pub(crate) moment: Mat<f64>,
    /// The sum (k/W) Σ w ln‖Aᵀx‖².
    pub(crate) log_norms: f64,
}

/// The sums over one or several blocks of rows: Σ w u uᵀ, Σ w, and Σ w ln‖u‖². In the first sum, u is scaled to norm 1;
/// in the last sum, it is not.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct MomentSum {
    /// The lower triangle of Σ w u uᵀ, row by row.
    lower: Vec<f64>,
    rows: u64,
    weight: f64,
    log_norms: f64,
    vanished: bool,
}

impl Sum for MomentSum {
    fn fits(&self, other: &MomentSum) -> bool {
        self.lower.len() == other.lower.len()
    }

    fn add(&mut self, later: MomentSum) {
        self.lower.iter_mut().zip(&later.lower).for_each(|(sum, other)| *sum += other);
        self.rows += later.rows;
        self.weight += later.weight;
        self.log_norms += later.log_norms;
        self.vanished |= later.vanished;
    }
}

impl MomentSum {
    /// The number of rows.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// Whether the rows have this dimension.
    pub(crate) fn is_of_dim(&self, dim: usize) -> bool {
        self.lower.len() == dim * (dim + 1) / 2
    }

    /// The sum Σ w of the weights.
    pub(crate) fn weight(&self) -> f64 {
        self.weight
    }

    /// The symmetric matrix (dim/total) Σ w u uᵀ.
    pub(crate) fn matrix(&self, dim: usize, total: f64) -> Mat<f64> {
        let share = dim as f64 / total;
        Mat::from_fn(dim, dim, |i, j| {
            let (row, column) = (i.max(j), i.min(j));
            share * self.lower[row * (row + 1) / 2 + column]
        })
    }

    /// M and the sum of logarithms, for rows of total weight `total`. Returns `None` if a row vanishes, which means
    /// that A is numerically singular.
    pub(crate) fn moments(&self, dim: usize, total: f64) -> Option<Moments> {
        let log_norms = dim as f64 / total * self.log_norms;
        let regular = !self.vanished && log_norms.is_finite();
        regular.then(|| Moments { moment: self.matrix(dim, total), log_norms })
    }
}

/// The buffers for one group of blocks.
#[derive(Debug)]
pub(crate) struct Buffers {
    tile: Aligned<f64>,
    /// The lower half of Σ w u uᵀ, with rows of padded length.
    moment: Aligned<f64>,
    dim: usize,
}

impl Buffers {
    pub(crate) fn new(dim: usize) -> Result<Buffers, InputError> {
        let tile = aligned_zeros(tile::tile_rows(dim), padded(dim))?;
        Ok(Buffers { tile, moment: aligned_zeros(dim, padded(dim))?, dim })
    }

    /// The sums over the rows of a block, with U = XA, or with U = X if there is no A.
    pub(crate) fn moments(
        &mut self,
        values: &[f64],
        weights: &[f64],
        factor: Option<&Factor>,
    ) -> MomentSum {
        run_fused(MomentRun { buffers: self, values, weights, factor })
    }

    /// The sums of w u uᵀ (uᵀ S u) over unit rows. `factor` is a lower triangle with the same quadratic form as S.
    pub(crate) fn fourth(&mut self, unit: &[f64], weights: &[f64], factor: &Factor) -> MomentSum {
        run_fused(FourthRun { buffers: self, values: unit, weights, factor })
    }

    /// Writes the rows of U, scaled to norm 1, to `out`.
    pub(crate) fn unit_rows(&mut self, values: &[f64], factor: &Factor, out: &mut [f64]) {
        run_fused(UnitRun { buffers: self, values, factor, out });
    }

    /// The sum of w u uᵀ over unit rows that `to_unit` writes, tile by tile.
    pub(crate) fn sum_of<E>(
        &mut self,
        weights: &[f64],
        mut to_unit: impl FnMut(Range<usize>, &mut [f64]) -> Result<(), E>,
    ) -> Result<MomentSum, E> {
        let (rows, dim) = (tile::tile_rows(self.dim), self.dim);
        self.moment.fill(0.0);
        for (at, scales) in weights.chunks(rows).enumerate() {
            let u = &mut self.tile[..scales.len() * padded(dim)];
            to_unit(at * rows..at * rows + scales.len(), u)?;
            run_fused(AddGram { u, scales, dim, m: &mut self.moment });
        }
        Ok(self.take(weights, 0.0, false))
    }

    /// The sums over the rows that have been added to the buffer.
    fn take(&mut self, weights: &[f64], log_norms: f64, vanished: bool) -> MomentSum {
        let (dim, width) = (self.dim, padded(self.dim));
        let mut lower = Vec::with_capacity(dim * (dim + 1) / 2);
        for (i, row) in self.moment.chunks_exact(width).enumerate() {
            lower.extend_from_slice(&row[..=i]);
        }
        let weight = weights.iter().sum();
        MomentSum { lower, rows: weights.len() as u64, weight, log_norms, vanished }
    }
}

/// A lower triangle with the same quadratic form as the symmetric S.
pub(crate) fn form_of(s: MatRef<'_, f64>) -> Factor {
    let dim = s.nrows();
    let lower = Mat::from_fn(dim, dim, |i, j| match i.cmp(&j) {
        Ordering::Less => 0.0,
        Ordering::Equal => s[(i, j)],
        Ordering::Greater => 2.0 * s[(i, j)],
    });
    Factor::new(lower.as_ref())
}

/// The workspace of all passes of a level.
#[derive(Debug)]
pub(crate) struct Pass {
    /// One element for each group of blocks.
    buffers: Vec<Buffers>,
    dim: usize,
    threads: Threads,
}

impl Pass {
    pub(crate) fn new(rows: &Rows<'_>, threads: Threads) -> Result<Pass, InputError> {
        let groups = Partial::<MomentSum>::groups(0, rows.len()).len();
        let buffers = (0..groups).map(|_| Buffers::new(rows.dim)).collect::<Result<_, _>>()?;
        Ok(Pass { buffers, dim: rows.dim, threads })
    }

    /// Makes a pass with U = XA for a lower triangular A, or with U = X if there is no A. Returns `None` if a row
    /// vanishes, which means that A is numerically singular.
    pub(crate) fn moments(
        &mut self,
        rows: &Rows<'_>,
        a: Option<MatRef<'_, f64>>,
    ) -> Option<Moments> {
        let factor = a.map(Factor::new);
        let Ok(sum) = self.sum(&rows.values, &rows.weights, |buffers, values, weights| {
            Ok::<_, Infallible>(buffers.moments(values, weights, factor.as_ref()))
        });
        sum.moments(self.dim, rows.total)
    }

    /// Writes the rows of U, scaled to norm 1, to `out`.
    pub(crate) fn unit_rows(&mut self, rows: &Rows<'_>, a: MatRef<'_, f64>, out: &mut [f64]) {
        let factor = Factor::new(a);
        assert_eq!(out.len(), rows.values.len(), "the output has as many rows as the input");
        let groups = Partial::<MomentSum>::groups(0, rows.len());
        let size = groups.first().map_or(1, |group| group.end as usize * BLOCK_ROWS * self.dim);
        let parts = rows.values.chunks(size).zip(out.chunks_mut(size)).zip(&mut self.buffers);
        let write = |(), ((x, out), buffers): ((&[f64], &mut [f64]), &mut Buffers)| {
            buffers.unit_rows(x, &factor, out);
        };
        self.threads.map_with(parts, || (), |(), part| write((), part));
    }

    /// The sum (k/W) Σ w u uᵀ (uᵀ S u) over given unit rows, for a symmetric S.
    pub(crate) fn fourth_moment(
        &mut self,
        rows: &Rows<'_>,
        unit: &[f64],
        s: MatRef<'_, f64>,
    ) -> Mat<f64> {
        let factor = form_of(s);
        let Ok(sum) = self.sum(unit, &rows.weights, |buffers, values, weights| {
            Ok::<_, Infallible>(buffers.fourth(values, weights, &factor))
        });
        sum.matrix(self.dim, rows.total)
    }

    /// The sum over all blocks.
    pub(crate) fn sum<S: Sum + Send + Debug, E: Send>(
        &mut self,
        values: &[f64],
        weights: &[f64],
        of_block: impl Fn(&mut Buffers, &[f64], &[f64]) -> Result<S, E> + Sync,
    ) -> Result<S, E> {
        let (n, dim) = (weights.len(), self.dim);
        assert_eq!(values.len(), n * dim, "a row has one weight");
        let work = |buffers: &mut Buffers, rows: Range<usize>| {
            let values = &values[rows.start * dim..rows.end * dim];
            of_block(buffers, values, &weights[rows])
        };
        let partial = self.threads.sum_blocks(0, n, &mut self.buffers, work)?;
        match partial.finish(n.div_ceil(BLOCK_ROWS) as u64) {
            Ok(Some(sum)) => Ok(sum),
            other => unreachable!("a level has rows, and all of its blocks are summed: {other:?}"),
        }
    }
}

/// The loop of [`Buffers::moments`].
struct MomentRun<'a> {
    buffers: &'a mut Buffers,
    values: &'a [f64],
    weights: &'a [f64],
    factor: Option<&'a Factor>,
}

impl FusedLoop for MomentRun<'_> {
    type Output = MomentSum;

    #[inline(always)]
    fn run<F: Fused>(self, f: F) -> MomentSum {
        let MomentRun { buffers, values, weights, factor } = self;
        let dim = buffers.dim;
        let (block, width) = (tile::tile_rows(dim), padded(dim));
        let (mut log_norms, mut vanished) = (0.0, false);
        buffers.moment.fill(0.0);
        let mut scales = [0.0; tile::MAX_ROWS];
        for (x, weights) in values.chunks(block * dim).zip(weights.chunks(block)) {
            let u = &mut buffers.tile[..weights.len() * width];
            let scales = &mut scales[..weights.len()];
            let scaled = product_and_scales(f, x, factor, dim, u, weights, scales);
            add_gram(f, u, scales, dim, &mut buffers.moment);
            log_norms += scaled.log_norms;
            vanished |= scaled.vanished;
        }
        buffers.take(weights, log_norms, vanished)
    }
}

/// The loop of [`Buffers::unit_rows`].
struct UnitRun<'a> {
    buffers: &'a mut Buffers,
    values: &'a [f64],
    factor: &'a Factor,
    out: &'a mut [f64],
}

impl FusedLoop for UnitRun<'_> {
    type Output = ();

    #[inline(always)]
    fn run<F: Fused>(self, f: F) {
        let UnitRun { buffers, values, factor, out } = self;
        let dim = buffers.dim;
        let (block, width) = (tile::tile_rows(dim), padded(dim));
        for (x, out) in values.chunks(block * dim).zip(out.chunks_mut(block * dim)) {
            let u = &mut buffers.tile[..x.len() / dim * width];
            tile::product(f, x, factor, u);
            unit_or_zero_rows(f, u, dim);
            let rows = out.chunks_exact_mut(dim).zip(u.chunks_exact(width));
            rows.for_each(|(out, u)| out.copy_from_slice(&u[..dim]));
        }
    }
}

/// The loop of [`Buffers::fourth`].
struct FourthRun<'a> {
    buffers: &'a mut Buffers,
    values: &'a [f64],
    weights: &'a [f64],
    factor: &'a Factor,
}

impl FusedLoop for FourthRun<'_> {
    type Output = MomentSum;

    #[inline(always)]
    fn run<F: Fused>(self, f: F) -> MomentSum {
        let FourthRun { buffers, values, weights, factor } = self;
        let dim = buffers.dim;
        let (block, width) = (tile::tile_rows(dim), padded(dim));
        buffers.moment.fill(0.0);
        let mut scales = [0.0; tile::MAX_ROWS];
        for (u, weights) in values.chunks(block * dim).zip(weights.chunks(block)) {
            let t = &mut buffers.tile[..weights.len() * width];
            tile::product(f, u, factor, t);
            let rows = t.chunks_exact_mut(width).zip(u.chunks_exact(dim)).zip(weights);
            let scales = &mut scales[..weights.len()];
            for (((t, u), weight), scale) in rows.zip(&mut *scales) {
                *scale = weight * lanes_dot(t, u);
                t[..dim].copy_from_slice(u);
            }
            add_gram(f, t, scales, dim, &mut buffers.moment);
        }
        buffers.take(weights, 0.0, false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dense::lower_factor;
    use halfspaces_data::{Gaussian, Marginal};

    fn rows(n: usize, dim: usize, weighted: bool) -> Rows<'static> {
        let values = Gaussian::new(dim, 10.0).unwrap().sample(n, 1).unwrap().into_vec();
        let weights: Vec<f64> =
            (0..n).map(|i| if weighted { 0.5 + (i % 3) as f64 } else { 1.0 }).collect();
        let total = weights.iter().sum();
        Rows { values: values.into(), dim, weights, total }
    }

    fn lower(dim: usize) -> Mat<f64> {
        let m = Gaussian::new(dim, 1.0).unwrap().sample(dim, 2).unwrap();
        lower_factor(m.as_mat())
    }

    /// The reference implementation, which works row by row and computes both halves of each sum.
    fn plain(rows: &Rows<'_>, a: Option<&Mat<f64>>) -> (Vec<f64>, Mat<f64>, f64) {
        let dim = rows.dim;
        let share = dim as f64 / rows.total;
        let (mut unit, mut moment, mut logs) = (Vec::new(), Mat::zeros(dim, dim), 0.0);
        for i in 0..rows.len() {
            let x = rows.row(i);
            let u: Vec<f64> = match a {
                None => x.to_vec(),
                Some(a) => (0..dim).map(|j| (0..dim).map(|l| x[l] * a[(l, j)]).sum()).collect(),
            };
            let norm_sq: f64 = u.iter().map(|v| v * v).sum();
            logs += share * rows.weights[i] * norm_sq.ln();
            let u: Vec<f64> = u.iter().map(|v| v / norm_sq.sqrt()).collect();
            for j in 0..dim {
                for l in 0..dim {
                    moment[(j, l)] += share * rows.weights[i] * u[j] * u[l];
                }
            }
            unit.extend(u);
        }
        (unit, moment, logs)
    }

    #[test]
    fn blocks_and_panels_agree_with_the_plain_pass() {
        for (n, dim) in [(1, 1), (9000, 3), (900, 24), (1500, 50), (400, 75)] {
            for weighted in [false, true] {
                let rows = rows(n, dim, weighted);
                let a = lower(dim);
                for threads in [Threads::ONE, Threads::new(3).unwrap()] {
                    let mut pass = Pass::new(&rows, threads).unwrap();
                    for a in [None, Some(&a)] {
                        let (_, moment, logs) = plain(&rows, a);
                        let fast = pass.moments(&rows, a.map(|a| a.as_ref())).unwrap();
                        assert!((&fast.moment - &moment).norm_max() < 1e-11, "{n} × {dim}");
                        assert!((fast.log_norms - logs).abs() < 1e-10 * logs.abs().max(1.0));
                    }
                    let (unit, ..) = plain(&rows, Some(&a));
                    let mut fast = vec![0.0; n * dim];
                    pass.unit_rows(&rows, a.as_ref(), &mut fast);
                    assert!(unit.iter().zip(&fast).all(|(u, v)| (u - v).abs() < 1e-11));
                }
            }
        }
    }

    /// There are several blocks, and the last block is shorter.
    #[test]
    fn threads_change_no_bit() {
        let (n, dim) = (3 * BLOCK_ROWS + 700, 5);
        let rows = rows(n, dim, true);
        let (a, s) = (lower(dim), Mat::from_fn(dim, dim, |i, j| ((i + j) % 5) as f64 - 2.0));
        let bits = |m: &Mat<f64>| -> Vec<u64> {
            m.col_iter().flat_map(|c| c.iter().map(|v| v.to_bits()).collect::<Vec<_>>()).collect()
        };
        let all = |threads| {
            let mut pass = Pass::new(&rows, Threads::new(threads).unwrap()).unwrap();
            assert_eq!(pass.buffers.len(), 4);
            let moments = pass.moments(&rows, Some(a.as_ref())).unwrap();
            let mut unit = vec![0.0; n * dim];
            pass.unit_rows(&rows, a.as_ref(), &mut unit);
            let fourth = pass.fourth_moment(&rows, &unit, s.as_ref());
            let unit: Vec<u64> = unit.into_iter().map(f64::to_bits).collect();
            (bits(&moments.moment), moments.log_norms.to_bits(), unit, bits(&fourth))
        };
        let one = all(1);
        assert!([2, 3, 5].into_iter().all(|threads| all(threads) == one));
    }

    /// The blocks of one level are divided among several workers.
    #[test]
    fn workers_change_no_bit() {
        let (n, dim) = (4 * BLOCK_ROWS + 9, 7);
        let rows = rows(n, dim, true);
        let a = lower(dim);
        let whole = Pass::new(&rows, Threads::ONE).unwrap().moments(&rows, Some(a.as_ref()));
        let factor = Factor::new(a.as_ref());
        let mut buffers = Buffers::new(dim).unwrap();
        let mut workers = vec![Partial::default(); 3];
        for block in (0..5).rev() {
            let rows_of = block * BLOCK_ROWS..n.min((block + 1) * BLOCK_ROWS);
            let values = &rows.values[rows_of.start * dim..rows_of.end * dim];
            let sum = buffers.moments(values, &rows.weights[rows_of], Some(&factor));
            workers[block % 3].merge(Partial::of_block(block as u64, sum)).unwrap();
        }
        let mut all = Partial::default();
        workers.into_iter().for_each(|worker| all.merge(worker).unwrap());
        let sum = all.finish(5).unwrap().unwrap();
        assert_eq!((sum.rows(), sum.weight()), (n as u64, rows.total));
        let (whole, parts) = (whole.unwrap(), sum.moments(dim, rows.total).unwrap());
        assert_eq!((whole.moment, whole.log_norms), (parts.moment, parts.log_norms));
    }

    #[test]
    fn the_fourth_moment_agrees_with_its_definition() {
        let (n, dim) = (300, 30);
        let rows = rows(n, dim, true);
        let (unit, ..) = plain(&rows, Some(&lower(dim)));
        let s = Mat::from_fn(dim, dim, |i, j| ((i + j) % 5) as f64 - 2.0);
        let mut expected = Mat::<f64>::zeros(dim, dim);
        for (u, w) in unit.chunks_exact(dim).zip(&rows.weights) {
            let mut q = 0.0;
            for i in 0..dim {
                q += (0..dim).map(|j| u[i] * s[(i, j)] * u[j]).sum::<f64>();
            }
            for i in 0..dim {
                for j in 0..dim {
                    expected[(i, j)] += dim as f64 / rows.total * w * q * u[i] * u[j];
                }
            }
        }
        for threads in [Threads::ONE, Threads::new(2).unwrap()] {
            let mut pass = Pass::new(&rows, threads).unwrap();
            let fast = pass.fourth_moment(&rows, &unit, s.as_ref());
            assert!((&fast - &expected).norm_max() < 1e-11);
        }
    }

    #[test]
    fn a_singular_factor_is_noticed() {
        let rows = rows(10, 2, false);
        let mut pass = Pass::new(&rows, Threads::ONE).unwrap();
        assert!(pass.moments(&rows, Some(Mat::zeros(2, 2).as_ref())).is_none());
        // A failed pass does not affect later passes.
        assert!(pass.moments(&rows, None).is_some());
    }
}
