//! One pass over the points: U = XA with rows scaled to norm 1, and M = (k/W) Σ w u uᵀ.
//!
//! This is where the time goes, so rows are taken in blocks that stay in the cache and each is read
//! once. A is lower triangular (a rotation of it changes neither norms nor eigenvalues), so a panel
//! of columns of U needs only the columns of X from its first on, and of M only the lower half is
//! added up: together about the work of one XᵀX. Nothing is allocated after [`Pass::new`].
//!
//! With `Par::Rayon(t)` the rows are cut into t runs, each with its own sums, added in order: the
//! result depends on t but not on the threads that happen to run.

use faer::linalg::matmul::matmul;
use faer::prelude::ReborrowMut;
use faer::traits::pulp::{Arch, Simd, WithSimd};
use faer::{Accum, Mat, MatMut, MatRef, Par};
use halfspaces_linalg::{InputError, kernels, zeros};
use rayon::prelude::*;
use std::cmp::Ordering;

/// Numbers in a block of rows: 256 kB, so that a block of X and one of U share a second-level cache.
const BLOCK_VALUES: usize = 32_768;
/// Columns in a panel of a triangular product. Narrow panels save the most work, and faer's product is
/// as fast on them: eight numbers fill one vector register.
const PANEL: usize = 8;
/// Columns taken side by side: a row of a tile is as long as its dimension rounded up to a multiple.
const LANES: usize = kernels::LANES;
/// Rows whose lengths are found before they are scaled: together they stay in the nearest cache.
const GROUP: usize = 64;

/// Points of one level: rows (row-major) whose norms lie within a factor √d of each other, with weights.
#[derive(Debug, Clone)]
pub(crate) struct Rows {
    pub(crate) values: Vec<f64>,
    pub(crate) dim: usize,
    pub(crate) weights: Vec<f64>,
    /// Σ of the weights.
    pub(crate) total: f64,
}

impl Rows {
    pub(crate) fn len(&self) -> usize {
        self.weights.len()
    }

    pub(crate) fn as_mat(&self) -> MatRef<'_, f64> {
        MatRef::from_row_major_slice(&self.values, self.len(), self.dim)
    }

    /// Row `i`; empty beyond the last.
    pub(crate) fn row(&self, i: usize) -> &[f64] {
        self.values.get(i * self.dim..(i + 1) * self.dim).unwrap_or_default()
    }
}

/// M and what the same pass gives for nothing.
#[derive(Debug, Clone)]
pub(crate) struct Moments {
    /// M, both halves.
    pub(crate) moment: Mat<f64>,
    /// (k/W) Σ w ln‖Aᵀx‖².
    pub(crate) log_norms: f64,
}

/// The buffers of a run over some of the rows.
#[derive(Debug)]
struct Worker {
    tile: Vec<f64>,
    moment: Mat<f64>,
    log_norms: f64,
    vanished: bool,
}

/// The workspace of all passes of a level.
#[derive(Debug)]
pub(crate) struct Pass {
    workers: Vec<Worker>,
    dim: usize,
    block: usize,
}

/// What one worker reads, and the rows it writes (none unless asked for).
struct Part<'a> {
    worker: &'a mut Worker,
    values: &'a [f64],
    weights: &'a [f64],
    out: &'a mut [f64],
}

impl Pass {
    pub(crate) fn new(rows: &Rows, par: Par) -> Result<Pass, InputError> {
        let (n, dim) = (rows.len(), rows.dim);
        let block = (BLOCK_VALUES / dim).max(dim.min(64)).max(16).min(n.max(1));
        let degree = par.degree().clamp(1, n.div_ceil(block).max(1));
        let mut workers = Vec::with_capacity(degree);
        for _ in 0..degree {
            zeros(dim, dim)?;
            let moment = Mat::zeros(dim, dim);
            workers.push(Worker {
                tile: zeros(block, padded(dim))?,
                moment,
                log_norms: 0.0,
                vanished: false,
            });
        }
        Ok(Pass { workers, dim, block })
    }

    /// The pass with U = XA, A lower triangular; X itself without an A. `None` if a row vanishes:
    /// A is numerically singular.
    pub(crate) fn moments(&mut self, rows: &Rows, a: Option<MatRef<'_, f64>>) -> Option<Moments> {
        let (dim, block) = (self.dim, self.block);
        self.each(rows, &mut [], |part| {
            let Worker { tile, moment, log_norms, vanished } = part.worker;
            for (x, weights) in part.values.chunks(block * dim).zip(part.weights.chunks(block)) {
                let u = &mut tile[..weights.len() * padded(dim)];
                match a {
                    Some(a) => times_lower(u, x, a),
                    None => tile_mut(u, dim).copy_from(MatRef::from_row_major_slice(
                        x,
                        weights.len(),
                        dim,
                    )),
                }
                let scaled = Arch::new().dispatch(ScaleRows { u, dim, weights });
                *log_norms += scaled.log_norms;
                *vanished |= scaled.vanished;
                let u = tile_ref(u, dim);
                add_product_lower(moment.as_mut(), u, u);
            }
        });
        let share = dim as f64 / rows.total;
        let log_norms = share * self.workers.iter().map(|w| w.log_norms).sum::<f64>();
        if self.workers.iter().any(|w| w.vanished) || !log_norms.is_finite() {
            return None;
        }
        Some(Moments { moment: self.gather(share), log_norms })
    }

    /// The rows of U, scaled to norm 1, into `out`.
    pub(crate) fn unit_rows(&mut self, rows: &Rows, a: MatRef<'_, f64>, out: &mut [f64]) {
        let (dim, block) = (self.dim, self.block);
        self.each(rows, out, |part| {
            let tile = &mut part.worker.tile;
            for (x, out) in part.values.chunks(block * dim).zip(part.out.chunks_mut(block * dim)) {
                let u = &mut tile[..x.len() / dim * padded(dim)];
                times_lower(u, x, a);
                Arch::new().dispatch(UnitRows { u, dim, out });
            }
        });
    }

    /// (k/W) Σ w u uᵀ (uᵀ S u) over given unit rows, S symmetric.
    pub(crate) fn fourth_moment(
        &mut self,
        rows: &Rows,
        unit: &[f64],
        s: MatRef<'_, f64>,
    ) -> Mat<f64> {
        let (dim, block) = (self.dim, self.block);
        // A lower triangle with the same quadratic form.
        let s = Mat::from_fn(dim, dim, |i, j| match i.cmp(&j) {
            Ordering::Less => 0.0,
            Ordering::Equal => s[(i, j)],
            Ordering::Greater => 2.0 * s[(i, j)],
        });
        // The unit rows stand where the points stood.
        self.each_of(unit, &rows.weights, &mut [], |part| {
            let Worker { tile, moment, .. } = part.worker;
            for (u, weights) in part.values.chunks(block * dim).zip(part.weights.chunks(block)) {
                let t = &mut tile[..weights.len() * padded(dim)];
                times_lower(t, u, s.as_ref());
                Arch::new().dispatch(WeighRows { t, dim, u, weights });
                let u = MatRef::from_row_major_slice(u, weights.len(), dim);
                add_product_lower(moment.as_mut(), u, tile_ref(t, dim));
            }
        });
        self.gather(dim as f64 / rows.total)
    }

    /// The workers' sums times `share`, lower half mirrored.
    fn gather(&self, share: f64) -> Mat<f64> {
        let dim = self.dim;
        let mut sum = Mat::<f64>::zeros(dim, dim);
        for worker in &self.workers {
            sum += &worker.moment;
        }
        Mat::from_fn(dim, dim, |i, j| share * sum[(i.max(j), i.min(j))])
    }

    fn each(&mut self, rows: &Rows, out: &mut [f64], run: impl Fn(Part<'_>) + Sync + Send) {
        self.each_of(&rows.values, &rows.weights, out, run);
    }

    /// Runs over all rows, one run of rows a worker.
    fn each_of(
        &mut self,
        values: &[f64],
        weights: &[f64],
        out: &mut [f64],
        run: impl Fn(Part<'_>) + Sync + Send,
    ) {
        for worker in &mut self.workers {
            worker.moment.fill(0.0);
            worker.log_norms = 0.0;
            worker.vanished = false;
        }
        let length = weights.len().div_ceil(self.workers.len()).max(1);
        let size = length * self.dim;
        let mut out = out.chunks_mut(size);
        let parts = self.workers.iter_mut().zip(values.chunks(size)).zip(weights.chunks(length));
        let mut parts: Vec<Part<'_>> = parts
            .map(|((worker, values), weights)| Part {
                worker,
                values,
                weights,
                out: out.next().unwrap_or_default(),
            })
            .collect();
        if parts.len() == 1 {
            parts.drain(..).for_each(run);
        } else {
            parts.into_par_iter().for_each(run);
        }
    }
}

/// Length of a row of a tile. What it has beyond the dimension is zero and stays so.
fn padded(dim: usize) -> usize {
    dim.next_multiple_of(LANES)
}

fn tile_ref(u: &[f64], dim: usize) -> MatRef<'_, f64> {
    let width = padded(dim);
    MatRef::from_row_major_slice(u, u.len() / width, width).subcols(0, dim)
}

fn tile_mut(u: &mut [f64], dim: usize) -> MatMut<'_, f64> {
    let (width, n) = (padded(dim), u.len() / padded(dim));
    MatMut::from_row_major_slice_mut(u, n, width).subcols_mut(0, dim)
}

/// Scales the rows of a tile to norm √w; Σ w ln‖u‖² of the rows as they were.
///
/// This and the next two are [`WithSimd`] so as to be compiled for the vector instructions that the
/// processor turns out to have; they fuse no multiplication with an addition and sum in one fixed
/// order, so the instructions do not change the result.
struct ScaleRows<'a> {
    u: &'a mut [f64],
    dim: usize,
    weights: &'a [f64],
}

struct Scaled {
    log_norms: f64,
    /// A row's squared length is no positive normal number; that row is now zero.
    vanished: bool,
}

impl WithSimd for ScaleRows<'_> {
    type Output = Scaled;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Scaled {
        let stride = padded(self.dim);
        let mut scaled = Scaled { log_norms: 0.0, vanished: false };
        for (u, weights) in self.u.chunks_mut(GROUP * stride).zip(self.weights.chunks(GROUP)) {
            let mut norms_sq = [1.0; GROUP];
            for (norm_sq, u) in norms_sq.iter_mut().zip(u.chunks_exact(stride)) {
                *norm_sq = lanes_norm_sq(u);
            }
            scaled.log_norms += weighted_logs(&norms_sq, weights);
            let mut scales = [0.0; GROUP];
            for ((scale, norm_sq), weight) in scales.iter_mut().zip(&norms_sq).zip(weights) {
                let normal = (f64::MIN_POSITIVE..=f64::MAX).contains(norm_sq);
                *scale = if normal { (weight / norm_sq).sqrt() } else { 0.0 };
                scaled.vanished |= !normal;
            }
            for (u, scale) in u.chunks_exact_mut(stride).zip(scales) {
                for u in u.as_chunks_mut::<LANES>().0 {
                    u.iter_mut().for_each(|v| *v *= scale);
                }
            }
        }
        scaled
    }
}

/// Copies the rows of a tile, scaled to norm 1.
struct UnitRows<'a> {
    u: &'a [f64],
    dim: usize,
    out: &'a mut [f64],
}

impl WithSimd for UnitRows<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let rows = self.u.chunks_exact(padded(self.dim));
        for (out, u) in self.out.chunks_exact_mut(self.dim).zip(rows) {
            let scale = lanes_norm_sq(u).sqrt().recip();
            out.iter_mut().zip(u).for_each(|(out, u)| *out = u * scale);
        }
    }
}

/// t <- w (t·u) u, row by row; the rows t are those of a tile.
struct WeighRows<'a> {
    t: &'a mut [f64],
    dim: usize,
    u: &'a [f64],
    weights: &'a [f64],
}

impl WithSimd for WeighRows<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let rows = self.t.chunks_exact_mut(padded(self.dim)).zip(self.u.chunks_exact(self.dim));
        for ((t, u), weight) in rows.zip(self.weights) {
            let q = weight * lanes_dot(t, u);
            t.iter_mut().zip(u).for_each(|(t, u)| *t = q * u);
        }
    }
}

/// ‖u‖² of a row of a tile: column j goes into sum j mod [`LANES`].
#[inline(always)]
fn lanes_norm_sq(u: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    for u in u.as_chunks::<LANES>().0 {
        sums.iter_mut().zip(u).for_each(|(sum, u)| *sum += u * u);
    }
    sum_of_lanes(sums)
}

/// Inner product of a row with one of a tile or one as long.
#[inline(always)]
pub(crate) fn lanes_dot(t: &[f64], u: &[f64]) -> f64 {
    let ((t, t_rest), (u, u_rest)) = (t[..u.len()].as_chunks::<LANES>(), u.as_chunks::<LANES>());
    let mut sums = [0.0; LANES];
    for (t, u) in t.iter().zip(u) {
        sums.iter_mut().zip(t).zip(u).for_each(|((sum, t), u)| *sum += t * u);
    }
    let rest: f64 = t_rest.iter().zip(u_rest).map(|(t, u)| t * u).sum();
    sum_of_lanes(sums) + rest
}

#[inline(always)]
fn sum_of_lanes(s: [f64; LANES]) -> f64 {
    ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
}

/// Σ w ln t for positive normal numbers t, 1 where there is no weight. With weights 1 by a single
/// logarithm: mantissas are multiplied, exponents added.
#[inline(always)]
fn weighted_logs(values: &[f64; GROUP], weights: &[f64]) -> f64 {
    if weights.iter().any(|weight| weight.total_cmp(&1.0).is_ne()) {
        return values.iter().zip(weights).map(|(value, weight)| weight * value.ln()).sum();
    }
    const MANTISSA: u32 = f64::MANTISSA_DIGITS - 1;
    let (mut products, mut exponents) = ([1.0; LANES], [0; LANES]);
    for values in values.as_chunks::<LANES>().0 {
        for ((product, exponent), value) in products.iter_mut().zip(&mut exponents).zip(values) {
            let bits = value.to_bits();
            *exponent += bits >> MANTISSA;
            *product *= f64::from_bits(bits & ((1 << MANTISSA) - 1) | 1f64.to_bits());
        }
    }
    // Mantissas are below 2, so their product stays below 2^64.
    let product = products.into_iter().product::<f64>();
    let bias = GROUP as f64 * (f64::MAX_EXP - 1) as f64;
    let exponent = exponents.into_iter().sum::<u64>() as f64 - bias;
    product.ln() + exponent * std::f64::consts::LN_2
}

/// u = x A for A lower triangular, u a tile: columns from j on need the rows of A from j on, no others.
fn times_lower(u: &mut [f64], x: &[f64], a: MatRef<'_, f64>) {
    let dim = a.nrows();
    let x = MatRef::from_row_major_slice(x, x.len() / dim, dim);
    let mut u = tile_mut(u, dim);
    for (from, to) in panels(dim) {
        matmul(
            u.rb_mut().subcols_mut(from, to - from),
            Accum::Replace,
            x.subcols(from, dim - from),
            a.submatrix(from, from, dim - from, to - from),
            1.0,
            Par::Seq,
        );
    }
}

/// The lower half of m += uᵀ v (with parts of the upper), for a product known to be symmetric.
pub(crate) fn add_product_lower(m: MatMut<'_, f64>, u: MatRef<'_, f64>, v: MatRef<'_, f64>) {
    let mut upper = m.transpose_mut();
    for (from, to) in panels(upper.ncols()) {
        matmul(
            upper.rb_mut().submatrix_mut(0, from, to, to - from),
            Accum::Add,
            u.subcols(0, to).transpose(),
            v.subcols(from, to - from),
            1.0,
            Par::Seq,
        );
    }
}

/// Columns in panels of [`PANEL`], the last one wider rather than narrow.
fn panels(dim: usize) -> impl Iterator<Item = (usize, usize)> {
    let count = (dim / PANEL).max(1);
    (0..count).map(move |p| (p * PANEL, if p + 1 == count { dim } else { (p + 1) * PANEL }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dense::lower_factor;
    use halfspaces_data::{Gaussian, Marginal};

    fn rows(n: usize, dim: usize, weighted: bool) -> Rows {
        let values = Gaussian::new(dim, 10.0).unwrap().sample(n, 1).unwrap().into_vec();
        let weights: Vec<f64> =
            (0..n).map(|i| if weighted { 0.5 + (i % 3) as f64 } else { 1.0 }).collect();
        let total = weights.iter().sum();
        Rows { values, dim, weights, total }
    }

    fn lower(dim: usize) -> Mat<f64> {
        let m = Gaussian::new(dim, 1.0).unwrap().sample(dim, 2).unwrap();
        lower_factor(m.as_mat())
    }

    /// The plain version: one row after the other, full sums.
    fn plain(rows: &Rows, a: Option<&Mat<f64>>) -> (Vec<f64>, Mat<f64>, f64) {
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
        for (n, dim) in [(1, 1), (700, 3), (900, 24), (1500, 50), (400, 75)] {
            for weighted in [false, true] {
                let rows = rows(n, dim, weighted);
                let a = lower(dim);
                for par in [Par::Seq, Par::rayon(3)] {
                    let mut pass = Pass::new(&rows, par).unwrap();
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
        for par in [Par::Seq, Par::rayon(2)] {
            let mut pass = Pass::new(&rows, par).unwrap();
            let fast = pass.fourth_moment(&rows, &unit, s.as_ref());
            assert!((&fast - &expected).norm_max() < 1e-11);
        }
    }

    #[test]
    fn a_singular_factor_is_noticed() {
        let rows = rows(10, 2, false);
        let mut pass = Pass::new(&rows, Par::Seq).unwrap();
        assert!(pass.moments(&rows, Some(Mat::zeros(2, 2).as_ref())).is_none());
        // And leaves nothing behind.
        assert!(pass.moments(&rows, None).is_some());
    }

    #[test]
    fn panels_cover_all_columns() {
        for dim in 1..200 {
            let panels: Vec<(usize, usize)> = panels(dim).collect();
            assert!(panels[0].0 == 0 && panels[panels.len() - 1].1 == dim);
            assert!(panels.windows(2).all(|w| w[0].1 == w[1].0));
        }
    }
}
