//! One pass over the points: U = XA with rows scaled to norm 1, and M = (k/W) Σ w u uᵀ. *Source.* DKTZ23 §3, Forster
//! transform. Claims: F1, F2, F3, S7, S8.
//!
//! The passes take most of the time, so rows are processed in tiles that stay in the first-level cache
//! ([`crate::tile`]), and each row is read once. A is lower triangular (a rotation of A changes neither norms nor
//! eigenvalues), so only half of the products are needed, and only the lower half of M is summed. Together this is the
//! work of one XᵀX. After [`Pass::new`] a pass allocates only the d² numbers of A and M.
//!
//! The rows are split into blocks that depend only on their number. Each block has its own sums, which are added in one
//! fixed tree: no result depends on the number of threads, not even in the last digit. Up to [`MIN_BLOCK`] rows form a
//! single block, whose sums run from the first row to the last.

use crate::gram::add_gram;
use crate::tile::{self, Factor, lanes_dot, padded, product_and_scales, unit_or_zero_rows};
use faer::{Mat, MatRef};
use halfspaces_linalg::kernels::{Aligned, Fused, FusedLoop, run_fused};
use halfspaces_linalg::{InputError, Threads, aligned_zeros};
use std::borrow::Cow;
use std::cmp::Ordering;

/// Minimum number of rows per block. On one thread each additional block costs d² additions, whose time is not
/// measurable with this many rows.
const MIN_BLOCK: usize = 4096;
/// Maximum number of blocks, because each stores d² numbers.
const MAX_BLOCKS: usize = 64;

/// Points of one level: row-major rows whose squared norms neither over- nor underflow, with weights.
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
    /// M, both halves.
    pub(crate) moment: Mat<f64>,
    /// The sum (k/W) Σ w ln‖Aᵀx‖².
    pub(crate) log_norms: f64,
}

/// The buffers and sums of a block of rows.
#[derive(Debug)]
struct Block {
    tile: Aligned<f64>,
    /// The lower half of Σ w u uᵀ, in rows of padded length.
    moment: Aligned<f64>,
    log_norms: f64,
    vanished: bool,
}

/// The workspace of all passes of a level.
#[derive(Debug)]
pub(crate) struct Pass {
    blocks: Vec<Block>,
    /// Number of rows of each block except the last.
    block_rows: usize,
    dim: usize,
    threads: Threads,
}

/// The input of one block, and the rows to be written (empty unless requested).
struct Part<'a> {
    block: &'a mut Block,
    values: &'a [f64],
    weights: &'a [f64],
    out: &'a mut [f64],
}

/// Number of rows of each block of `n` rows except the last.
pub(crate) fn block_rows(n: usize, dim: usize) -> usize {
    n.div_ceil(MAX_BLOCKS).max(MIN_BLOCK).next_multiple_of(tile::tile_rows(dim))
}

impl Pass {
    pub(crate) fn new(rows: &Rows<'_>, threads: Threads) -> Result<Pass, InputError> {
        let (n, dim) = (rows.len(), rows.dim);
        let (tile_rows, block_rows) = (tile::tile_rows(dim), block_rows(n, dim));
        let count = n.div_ceil(block_rows).max(1);
        let mut blocks = Vec::with_capacity(count);
        for _ in 0..count {
            let (tile, moment) =
                (aligned_zeros(tile_rows, padded(dim))?, aligned_zeros(dim, padded(dim))?);
            blocks.push(Block { tile, moment, log_norms: 0.0, vanished: false });
        }
        Ok(Pass { blocks, block_rows, dim, threads })
    }

    /// The pass with U = XA for a lower triangular A, or U = X without an A. `None` if a row vanishes: A is numerically
    /// singular.
    pub(crate) fn moments(
        &mut self,
        rows: &Rows<'_>,
        a: Option<MatRef<'_, f64>>,
    ) -> Option<Moments> {
        let dim = self.dim;
        let factor = a.map(Factor::new);
        self.each(rows, &mut [], |part| {
            run_fused(MomentRun { part, dim, factor: factor.as_ref() });
        });
        let share = dim as f64 / rows.total;
        let log_norms = share * tree_sum(&self.blocks, |block| block.log_norms);
        if self.blocks.iter().any(|block| block.vanished) || !log_norms.is_finite() {
            return None;
        }
        Some(Moments { moment: self.gather(share), log_norms })
    }

    /// Writes the rows of U, scaled to norm 1, to `out`.
    pub(crate) fn unit_rows(&mut self, rows: &Rows<'_>, a: MatRef<'_, f64>, out: &mut [f64]) {
        let dim = self.dim;
        let factor = Factor::new(a);
        self.each(rows, out, |part| {
            run_fused(UnitRun { part, dim, factor: &factor });
        });
    }

    /// The sum (k/W) Σ w u uᵀ (uᵀ S u) over given unit rows, with S symmetric.
    pub(crate) fn fourth_moment(
        &mut self,
        rows: &Rows<'_>,
        unit: &[f64],
        s: MatRef<'_, f64>,
    ) -> Mat<f64> {
        let dim = self.dim;
        // A lower triangle with the same quadratic form.
        let s = Mat::from_fn(dim, dim, |i, j| match i.cmp(&j) {
            Ordering::Less => 0.0,
            Ordering::Equal => s[(i, j)],
            Ordering::Greater => 2.0 * s[(i, j)],
        });
        let factor = Factor::new(s.as_ref());
        // The unit rows are passed in place of the points.
        self.each_of(unit, &rows.weights, &mut [], |part| {
            run_fused(FourthRun { part, dim, factor: &factor });
        });
        self.gather(dim as f64 / rows.total)
    }

    /// The sum over the blocks times `share`, with the lower half copied to the upper half.
    fn gather(&mut self, share: f64) -> Mat<f64> {
        let (dim, width) = (self.dim, padded(self.dim));
        let sum = tree_sum_rows(self.blocks.iter_mut().map(|block| &mut block.moment[..]));
        Mat::from_fn(dim, dim, |i, j| share * sum[i.max(j) * width + i.min(j)])
    }

    fn each(&mut self, rows: &Rows<'_>, out: &mut [f64], run: impl Fn(Part<'_>) + Sync) {
        self.each_of(&rows.values, &rows.weights, out, run);
    }

    /// Runs over all rows, block by block.
    fn each_of(
        &mut self,
        values: &[f64],
        weights: &[f64],
        out: &mut [f64],
        run: impl Fn(Part<'_>) + Sync,
    ) {
        for block in &mut self.blocks {
            block.moment.fill(0.0);
            block.log_norms = 0.0;
            block.vanished = false;
        }
        let size = self.block_rows * self.dim;
        assert_eq!(values.len(), weights.len() * self.dim, "a row has one weight");
        assert_eq!(
            weights.len().div_ceil(self.block_rows),
            self.blocks.len(),
            "the pass was created for other rows"
        );
        assert!(
            out.is_empty() || out.len() == values.len(),
            "the output has as many rows as the input, or none"
        );
        let mut out = out.chunks_mut(size);
        let blocks = self.blocks.iter_mut().zip(values.chunks(size));
        let parts: Vec<Part<'_>> = blocks
            .zip(weights.chunks(self.block_rows))
            .map(|((block, values), weights)| {
                // Empty if no rows are requested.
                let out = out.next().unwrap_or_default();
                Part { block, values, weights, out }
            })
            .collect();
        self.threads.map_with(parts.into_iter(), || (), |(), part| run(part));
    }
}

/// The sum of a number per block, halves first, in an order that depends only on the number of blocks.
pub(crate) fn tree_sum<B>(blocks: &[B], number: impl Fn(&B) -> f64 + Copy) -> f64 {
    match blocks {
        [] => 0.0,
        [block] => number(block),
        _ => {
            let (first, second) = blocks.split_at(blocks.len() / 2);
            tree_sum(first, number) + tree_sum(second, number)
        }
    }
}

/// [`tree_sum`] of every column of some rows, in the first row; the other rows are overwritten.
pub(crate) fn tree_sum_rows<'a>(rows: impl Iterator<Item = &'a mut [f64]>) -> &'a [f64] {
    fn add_up(rows: &mut [&mut [f64]]) {
        if rows.len() > 1 {
            let (first, second) = rows.split_at_mut(rows.len() / 2);
            add_up(first);
            add_up(second);
            first[0].iter_mut().zip(&*second[0]).for_each(|(sum, other)| *sum += other);
        }
    }
    let mut rows: Vec<&mut [f64]> = rows.collect();
    add_up(&mut rows);
    rows.into_iter().next().unwrap_or_default()
}

/// [`Pass::moments`] over some of the rows.
struct MomentRun<'a, 'b> {
    part: Part<'a>,
    dim: usize,
    factor: Option<&'b Factor>,
}

impl FusedLoop for MomentRun<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<F: Fused>(self, f: F) {
        let MomentRun { part, dim, factor } = self;
        let (block, width) = (tile::tile_rows(dim), padded(dim));
        let Block { tile, moment, log_norms, vanished } = part.block;
        let mut scales = [0.0; tile::MAX_ROWS];
        for (x, weights) in part.values.chunks(block * dim).zip(part.weights.chunks(block)) {
            let u = &mut tile[..weights.len() * width];
            let scales = &mut scales[..weights.len()];
            let scaled = product_and_scales(f, x, factor, dim, u, weights, scales);
            add_gram(f, u, scales, dim, moment);
            *log_norms += scaled.log_norms;
            *vanished |= scaled.vanished;
        }
    }
}

/// [`Pass::unit_rows`] over some of the rows.
struct UnitRun<'a, 'b> {
    part: Part<'a>,
    dim: usize,
    factor: &'b Factor,
}

impl FusedLoop for UnitRun<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<F: Fused>(self, f: F) {
        let UnitRun { part, dim, factor } = self;
        let (block, width) = (tile::tile_rows(dim), padded(dim));
        for (x, out) in part.values.chunks(block * dim).zip(part.out.chunks_mut(block * dim)) {
            let u = &mut part.block.tile[..x.len() / dim * width];
            tile::product(f, x, factor, u);
            unit_or_zero_rows(f, u, dim);
            let rows = out.chunks_exact_mut(dim).zip(u.chunks_exact(width));
            rows.for_each(|(out, u)| out.copy_from_slice(&u[..dim]));
        }
    }
}

/// [`Pass::fourth_moment`] over some of the unit rows.
struct FourthRun<'a, 'b> {
    part: Part<'a>,
    dim: usize,
    factor: &'b Factor,
}

impl FusedLoop for FourthRun<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<F: Fused>(self, f: F) {
        let FourthRun { part, dim, factor } = self;
        let (block, width) = (tile::tile_rows(dim), padded(dim));
        let Block { tile, moment, .. } = part.block;
        let mut scales = [0.0; tile::MAX_ROWS];
        for (u, weights) in part.values.chunks(block * dim).zip(part.weights.chunks(block)) {
            let t = &mut tile[..weights.len() * width];
            tile::product(f, u, factor, t);
            let rows = t.chunks_exact_mut(width).zip(u.chunks_exact(dim)).zip(weights);
            let scales = &mut scales[..weights.len()];
            for (((t, u), weight), scale) in rows.zip(&mut *scales) {
                *scale = weight * lanes_dot(t, u);
                t[..dim].copy_from_slice(u);
            }
            add_gram(f, t, scales, dim, moment);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dense::lower_factor;
    use halfspaces_data::{Gaussian, Marginal};

    #[test]
    fn columns_are_summed_in_the_order_of_one() {
        for count in [0, 1, 2, 3, 5, 8, 25] {
            let mut rows: Vec<Vec<f64>> = (0..count)
                .map(|i| (0..3).map(|j| (i as f64 + 0.1).exp() / (j as f64 + 3.0)).collect())
                .collect();
            let plain: Vec<f64> = (0..3).map(|j| tree_sum(&rows, |row| row[j])).collect();
            let sums = tree_sum_rows(rows.iter_mut().map(|row| &mut row[..]));
            assert_eq!(sums, if count == 0 { &[] } else { &plain[..] });
        }
    }

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

    /// The reference: row by row, with full sums.
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

    /// Several blocks, the last of which is shorter.
    #[test]
    fn threads_change_no_bit() {
        let (n, dim) = (3 * MIN_BLOCK + 700, 5);
        let rows = rows(n, dim, true);
        let (a, s) = (lower(dim), Mat::from_fn(dim, dim, |i, j| ((i + j) % 5) as f64 - 2.0));
        let bits = |m: &Mat<f64>| -> Vec<u64> {
            m.col_iter().flat_map(|c| c.iter().map(|v| v.to_bits()).collect::<Vec<_>>()).collect()
        };
        let all = |threads| {
            let mut pass = Pass::new(&rows, Threads::new(threads).unwrap()).unwrap();
            assert_eq!(pass.blocks.len(), 4);
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

    #[test]
    fn blocks_depend_on_the_number_of_rows_alone_and_are_few() {
        for (n, expected) in [(1, 1), (MIN_BLOCK, 1), (MIN_BLOCK + 700, 2), (100 * MIN_BLOCK, 62)] {
            let rows = rows(n, 1, false);
            for threads in [1, 3] {
                let pass = Pass::new(&rows, Threads::new(threads).unwrap()).unwrap();
                assert!(pass.blocks.len().abs_diff(expected) <= 1, "{}", pass.blocks.len());
                assert!(pass.blocks.len() <= MAX_BLOCKS);
            }
        }
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
