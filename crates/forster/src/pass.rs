//! One pass over the points: U = XA with rows scaled to norm 1, and M = (k/W) Σ w u uᵀ.
//!
//! This is where the time goes, so rows are taken in tiles that stay in the nearest cache
//! ([`crate::tile`]) and each is read once. A is lower triangular (a rotation of it changes neither
//! norms nor eigenvalues), so only half of the products are needed, and of M only the lower half is
//! added up: together the work of one XᵀX. Nothing is allocated after [`Pass::new`] but the d²
//! numbers of A and M.
//!
//! With t threads the rows are cut into t runs, each with its own sums, added in order: the
//! result depends on t but not on the threads that happen to run.

use crate::tile::{self, Factor, add_gram, lanes_dot, padded, scale_rows};
use faer::traits::pulp::{Arch, Simd, WithSimd};
use faer::{Mat, MatRef};
use halfspaces_linalg::{InputError, Threads, zeros};
use rayon::prelude::*;
use std::borrow::Cow;
use std::cmp::Ordering;

/// Points of one level: rows (row-major) of norms whose squares neither over- nor underflow, with weights.
#[derive(Debug, Clone)]
pub(crate) struct Rows<'a> {
    pub(crate) values: Cow<'a, [f64]>,
    pub(crate) dim: usize,
    pub(crate) weights: Vec<f64>,
    /// Σ of the weights.
    pub(crate) total: f64,
}

impl Rows<'_> {
    pub(crate) fn len(&self) -> usize {
        self.weights.len()
    }

    /// Row `i`, which must be one of them.
    pub(crate) fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.dim..(i + 1) * self.dim]
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
    /// The lower half of Σ w u uᵀ, in rows of padded length.
    moment: Vec<f64>,
    log_norms: f64,
    vanished: bool,
}

/// The workspace of all passes of a level.
#[derive(Debug)]
pub(crate) struct Pass {
    workers: Vec<Worker>,
    dim: usize,
}

/// What one worker reads, and the rows it writes (none unless asked for).
struct Part<'a> {
    worker: &'a mut Worker,
    values: &'a [f64],
    weights: &'a [f64],
    out: &'a mut [f64],
}

impl Pass {
    pub(crate) fn new(rows: &Rows<'_>, threads: Threads) -> Result<Pass, InputError> {
        let (n, dim) = (rows.len(), rows.dim);
        let block = tile::tile_rows(dim);
        let degree = threads.count().clamp(1, n.div_ceil(block).max(1));
        let mut workers = Vec::with_capacity(degree);
        for _ in 0..degree {
            let (tile, moment) = (zeros(block, padded(dim))?, zeros(dim, padded(dim))?);
            workers.push(Worker { tile, moment, log_norms: 0.0, vanished: false });
        }
        Ok(Pass { workers, dim })
    }

    /// The pass with U = XA, A lower triangular; X itself without an A. `None` if a row vanishes:
    /// A is numerically singular.
    pub(crate) fn moments(
        &mut self,
        rows: &Rows<'_>,
        a: Option<MatRef<'_, f64>>,
    ) -> Option<Moments> {
        let dim = self.dim;
        let factor = a.map(Factor::new);
        self.each(rows, &mut [], |part| {
            Arch::new().dispatch(MomentRun { part, dim, factor: factor.as_ref() });
        });
        let share = dim as f64 / rows.total;
        let log_norms = share * self.workers.iter().map(|w| w.log_norms).sum::<f64>();
        if self.workers.iter().any(|w| w.vanished) || !log_norms.is_finite() {
            return None;
        }
        Some(Moments { moment: self.gather(share), log_norms })
    }

    /// The rows of U, scaled to norm 1, into `out`.
    pub(crate) fn unit_rows(&mut self, rows: &Rows<'_>, a: MatRef<'_, f64>, out: &mut [f64]) {
        let dim = self.dim;
        let factor = Factor::new(a);
        self.each(rows, out, |part| {
            Arch::new().dispatch(UnitRun { part, dim, factor: &factor });
        });
    }

    /// (k/W) Σ w u uᵀ (uᵀ S u) over given unit rows, S symmetric.
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
        // The unit rows stand where the points stood.
        self.each_of(unit, &rows.weights, &mut [], |part| {
            Arch::new().dispatch(FourthRun { part, dim, factor: &factor });
        });
        self.gather(dim as f64 / rows.total)
    }

    /// The workers' sums times `share`, lower half mirrored.
    fn gather(&self, share: f64) -> Mat<f64> {
        let (dim, width) = (self.dim, padded(self.dim));
        let sum = |at: usize| self.workers.iter().map(|worker| worker.moment[at]).sum::<f64>();
        Mat::from_fn(dim, dim, |i, j| share * sum(i.max(j) * width + i.min(j)))
    }

    fn each(&mut self, rows: &Rows<'_>, out: &mut [f64], run: impl Fn(Part<'_>) + Sync + Send) {
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

/// [`Pass::moments`] over some of the rows.
struct MomentRun<'a, 'b> {
    part: Part<'a>,
    dim: usize,
    factor: Option<&'b Factor>,
}

impl WithSimd for MomentRun<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let MomentRun { part, dim, factor } = self;
        let (block, width) = (tile::tile_rows(dim), padded(dim));
        let Worker { tile, moment, log_norms, vanished } = part.worker;
        let mut blocks = part.values.chunks(block * dim).zip(part.weights.chunks(block)).peekable();
        while let Some((x, weights)) = blocks.next() {
            blocks.peek().iter().for_each(|(next, _)| tile::touch(next));
            let u = &mut tile[..weights.len() * width];
            match factor {
                Some(factor) => tile::product(simd, x, factor, u),
                None => {
                    let rows = u.chunks_exact_mut(width).zip(x.chunks_exact(dim));
                    rows.for_each(|(u, x)| u[..dim].copy_from_slice(x));
                }
            }
            let scaled = scale_rows(u, dim, weights);
            *log_norms += scaled.log_norms;
            *vanished |= scaled.vanished;
            add_gram(simd, u, width, u, dim, moment);
        }
    }
}

/// [`Pass::unit_rows`] over some of the rows.
struct UnitRun<'a, 'b> {
    part: Part<'a>,
    dim: usize,
    factor: &'b Factor,
}

impl WithSimd for UnitRun<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let UnitRun { part, dim, factor } = self;
        let (block, width) = (tile::tile_rows(dim), padded(dim));
        let ones = [1.0; tile::MAX_ROWS];
        for (x, out) in part.values.chunks(block * dim).zip(part.out.chunks_mut(block * dim)) {
            let u = &mut part.worker.tile[..x.len() / dim * width];
            tile::product(simd, x, factor, u);
            scale_rows(u, dim, &ones[..x.len() / dim]);
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

impl WithSimd for FourthRun<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let FourthRun { part, dim, factor } = self;
        let (block, width) = (tile::tile_rows(dim), padded(dim));
        let Worker { tile, moment, .. } = part.worker;
        for (u, weights) in part.values.chunks(block * dim).zip(part.weights.chunks(block)) {
            let t = &mut tile[..weights.len() * width];
            tile::product(simd, u, factor, t);
            let rows = t.chunks_exact_mut(width).zip(u.chunks_exact(dim));
            for ((t, u), weight) in rows.zip(weights) {
                // t <- w (t·u) u
                let q = weight * lanes_dot(t, u);
                t.iter_mut().zip(u).for_each(|(t, u)| *t = q * u);
            }
            add_gram(simd, u, dim, t, dim, moment);
        }
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

    /// The plain version: one row after the other, full sums.
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
        for (n, dim) in [(1, 1), (700, 3), (900, 24), (1500, 50), (400, 75)] {
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
        // And leaves nothing behind.
        assert!(pass.moments(&rows, None).is_some());
    }
}
