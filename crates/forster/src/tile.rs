//! The inner loops over a tile, which is a block of rows that stays in the first-level cache. For a tile X, they
//! compute U = XA, the lengths of the rows u of U, and Σ s u uᵀ with a scale s for each row.
//!
//! The rows of a tile are padded to a multiple of [`LANES`]; the padding is zero and stays zero. If A is lower
//! triangular, row l of A affects only the first l + 1 columns of U. Only the lower half of the symmetric sum is
//! computed. Several rows of X are multiplied by the vectors of a panel of A at the same time, and several coordinates
//! of u by a vector of u. The registers for the sums limit the numbers of these rows and coordinates.
//!
//! All loops are generic over the vector instructions and are compiled for those of the processor. Every sum is
//! computed in one fixed order, and in each loop either all multiplications are fused with their additions or none are.
//! The choice of instructions therefore does not change a single bit of a result.

use faer::MatRef;
use halfspaces_linalg::kernels::{self, Aligned, Fused, FusedLoop, prefetch_ahead, run_fused};

/// Number of columns processed together in sums along a row.
pub(crate) const LANES: usize = kernels::LANES;
/// Number of rows whose logarithms are computed together; a multiple of [`LANES`].
pub(crate) const GROUP: usize = 48;
/// Approximate number of values in a tile: a tile and the data read with it share a first-level cache of 32 kB.
const TILE_VALUES: usize = 2_400;
/// Squared lengths in this range are correct up to rounding: no relevant square has overflowed or underflowed.
pub(crate) const SAFE: std::ops::RangeInclusive<f64> = 1e-280..=1e280;

/// Length of a row of a tile, including its padding.
pub(crate) fn padded(dim: usize) -> usize {
    dim.next_multiple_of(LANES)
}

/// Maximum number of rows of a tile.
pub(crate) const MAX_ROWS: usize = 4 * GROUP;

/// Number of rows of a tile.
pub(crate) fn tile_rows(dim: usize) -> usize {
    (TILE_VALUES / padded(dim) / GROUP * GROUP).clamp(GROUP, MAX_ROWS)
}

/// A matrix that is split into panels of columns. Its numbers are stored in the order in which they are read.
#[derive(Debug)]
pub(crate) struct Factor {
    values: Aligned<f64>,
    rows: usize,
    columns: usize,
    /// Whether the matrix is lower triangular. If it is, each panel stores only the rows whose index is at least that
    /// of its first column. If a vector has s numbers, the first s of these rows store one vector each, the next s rows
    /// store two vectors each, and so on.
    lower: bool,
}

impl Factor {
    pub(crate) fn new(a: MatRef<'_, f64>) -> Factor {
        Factor::for_lanes(a, run_fused(Lanes))
    }

    fn for_lanes(a: MatRef<'_, f64>, lanes: usize) -> Factor {
        let (rows, columns) = a.shape();
        let vanishes = |i: usize, j: usize| a[(i, j)].abs() <= 0.0;
        let lower = rows == columns && (0..columns).all(|j| (0..j).all(|i| vanishes(i, j)));
        let mut values = Vec::with_capacity(rows * columns.next_multiple_of(lanes));
        for (first, vectors) in panels_of(columns, lanes) {
            for i in if lower { first } else { 0 }..rows {
                let vectors = if lower { vectors.min((i - first) / lanes + 1) } else { vectors };
                let columns_here = first..first + vectors * lanes;
                values.extend(columns_here.map(|j| if j < columns { a[(i, j)] } else { 0.0 }));
            }
        }
        Factor { values: Aligned::from(values.as_slice()), rows, columns, lower }
    }

    /// Number of rows of the matrix, which is the number of columns of X.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }
}

/// Maximum width of a panel, in vectors. The sums for six rows and one row of the panel must fit in the registers, of
/// which there are 32 if vectors have [`LANES`] numbers and 16 otherwise.
const fn panel_vectors(lanes: usize) -> usize {
    if lanes == LANES { 4 } else { 2 }
}

/// The first column of each panel, with the width of the panel in vectors.
#[inline(always)]
fn panels_of(columns: usize, lanes: usize) -> impl Iterator<Item = (usize, usize)> {
    let (most, all) = (panel_vectors(lanes), columns.div_ceil(lanes));
    (0..all).step_by(most).map(move |v| (v * lanes, most.min(all - v)))
}

/// Number of rows of X that are multiplied together.
const fn rows_together(columns: usize, lanes: usize) -> usize {
    if lanes == LANES && columns <= 3 * LANES { 8 } else { 6 }
}

/// Determines the number of values in a vector.
struct Lanes;

impl FusedLoop for Lanes {
    type Output = usize;

    #[inline(always)]
    fn run<F: Fused>(self, _: F) -> usize {
        F::LANES
    }
}

/// Computes the tile U = XA for all rows X.
#[inline(always)]
pub(crate) fn product<F: Fused>(f: F, x: &[f64], factor: &Factor, u: &mut [f64]) {
    let (dim, stride) = (factor.rows, padded(factor.columns));
    assert_eq!(x.len() / dim, u.len() / stride, "a tile has one row per point");
    match rows_together(factor.columns, F::LANES) {
        8 => product_by::<F, 8>(f, x, factor, u),
        _ => product_by::<F, 6>(f, x, factor, u),
    }
}

/// Same as [`product`], with R rows at a time.
#[inline(always)]
fn product_by<F: Fused, const R: usize>(f: F, x: &[f64], factor: &Factor, u: &mut [f64]) {
    let (dim, stride) = (factor.rows, padded(factor.columns));
    for (x, u) in x.chunks(R * dim).zip(u.chunks_mut(R * stride)) {
        // The processor's own prefetcher does not predict reads that alternate between several rows.
        prefetch_ahead(x);
        if x.len() == R * dim {
            product_rows::<F, R>(f, x, factor, u);
        } else {
            for (x, u) in x.chunks_exact(dim).zip(u.chunks_exact_mut(stride)) {
                product_rows::<F, 1>(f, x, factor, u);
            }
        }
    }
}

/// Multiplies R rows of X by A.
#[inline(always)]
fn product_rows<F: Fused, const R: usize>(f: F, x: &[f64], factor: &Factor, u: &mut [f64]) {
    let mut rows = [x; R];
    for (r, row) in rows.iter_mut().enumerate() {
        *row = &x[r * factor.rows..][..factor.rows];
    }
    let mut values = &*factor.values;
    for (first, vectors) in panels_of(factor.columns, F::LANES) {
        let at = factor.lower.then_some(first);
        let u = &mut u[first..];
        let stride = padded(factor.columns);
        values = match vectors {
            1 => product_panel::<F, R, 1>(f, &rows, values, at, u, stride),
            2 => product_panel::<F, R, 2>(f, &rows, values, at, u, stride),
            3 => product_panel::<F, R, 3>(f, &rows, values, at, u, stride),
            _ => product_panel::<F, R, 4>(f, &rows, values, at, u, stride),
        };
    }
}

/// Multiplies R rows of X by a panel of V vectors. If A is a triangle, `at` is the index at which the diagonal of the
/// panel begins. Returns the values of A that follow the panel.
#[inline(always)]
fn product_panel<'a, F: Fused, const R: usize, const V: usize>(
    f: F,
    rows: &[&[f64]; R],
    a: &'a [f64],
    at: Option<usize>,
    u: &mut [f64],
    stride: usize,
) -> &'a [f64] {
    let mut sums = [[f.splat(0.0); V]; R];
    let rest = match at {
        None => add_products::<F, R, V, V>(f, rows, 0, usize::MAX, a, &mut sums),
        Some(at) => {
            let stage = |s| at + s * F::LANES;
            let a = add_products::<F, R, V, 1>(f, rows, at, stage(1), a, &mut sums);
            let a = add_products::<F, R, V, 2>(f, rows, stage(1), stage(2), a, &mut sums);
            let a = add_products::<F, R, V, 3>(f, rows, stage(2), stage(3), a, &mut sums);
            let a = add_products::<F, R, V, 4>(f, rows, stage(3), stage(4), a, &mut sums);
            add_products::<F, R, V, V>(f, rows, stage(V), usize::MAX, a, &mut sums)
        }
    };
    for (r, sums) in sums.iter().enumerate() {
        let u = &mut u[r * stride..][..V * F::LANES];
        for (v, sum) in sums.iter().enumerate() {
            f.store(*sum, &mut u[v * F::LANES..]);
        }
    }
    rest
}

/// Adds the products of the columns `from..to` of X with rows of A that are S vectors long. Adds nothing if S exceeds
/// V. Returns the values of A that follow these rows.
#[inline(always)]
fn add_products<'a, F: Fused, const R: usize, const V: usize, const S: usize>(
    f: F,
    rows: &[&[f64]; R],
    from: usize,
    to: usize,
    a: &'a [f64],
    sums: &mut [[F::Vector; V]; R],
) -> &'a [f64] {
    let to = to.min(rows[0].len());
    if S > V || from >= to {
        return a;
    }
    let (a, rest) = a.split_at((to - from) * S * F::LANES);
    for (l, a) in (from..to).zip(a.chunks_exact(S * F::LANES)) {
        let mut vectors = [f.splat(0.0); S];
        for (v, vector) in vectors.iter_mut().enumerate() {
            *vector = f.load(&a[v * F::LANES..]);
        }
        for (sums, row) in sums.iter_mut().zip(rows) {
            let x = f.splat(row[l]);
            for (sum, a) in sums.iter_mut().zip(&vectors) {
                *sum = f.mul_add(x, *a, *sum);
            }
        }
    }
    rest
}

/// The result of [`product_and_scales`].
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Scaled {
    /// The sum Σ w ln‖u‖² of the rows.
    pub(crate) log_norms: f64,
    /// Whether the squared length of a row was not a positive, normal floating-point number. The scale of such a row is
    /// zero.
    pub(crate) vanished: bool,
}

/// Computes the tile U = XA (or U = X if there is no A), and w/‖u‖² of each row.
#[inline(always)]
pub(crate) fn product_and_scales<F: Fused>(
    f: F,
    x: &[f64],
    factor: Option<&Factor>,
    dim: usize,
    u: &mut [f64],
    weights: &[f64],
    scales: &mut [f64],
) -> Scaled {
    let (stride, together) = (padded(dim), rows_together(dim, F::LANES));
    assert_eq!(u.len() / stride, weights.len(), "a row has one weight");
    let mut norms_sq = [1.0; MAX_ROWS];
    let rows = x.chunks(together * dim).zip(u.chunks_mut(together * stride));
    for ((x, u), norms_sq) in rows.zip(norms_sq.chunks_mut(together)) {
        match factor {
            Some(factor) => product(f, x, factor, u),
            None => {
                let rows = u.chunks_exact_mut(stride).zip(x.chunks_exact(dim));
                rows.for_each(|(u, x)| u[..dim].copy_from_slice(x));
            }
        }
        // The norms are computed immediately, because the processor can multiply the next rows at the same time.
        match stride / LANES {
            1 => few_norms_sq::<F, 1>(f, u, norms_sq),
            2 => few_norms_sq::<F, 2>(f, u, norms_sq),
            3 => few_norms_sq::<F, 3>(f, u, norms_sq),
            4 => few_norms_sq::<F, 4>(f, u, norms_sq),
            _ => {
                for (norm_sq, u) in norms_sq.iter_mut().zip(u.chunks_exact(stride)) {
                    *norm_sq = norm_sq_of(f, u);
                }
            }
        }
    }
    let mut scaled = Scaled::default();
    let groups = norms_sq.as_chunks::<GROUP>().0.iter().zip(weights.chunks(GROUP));
    for ((norms_sq, weights), scales) in groups.zip(scales.chunks_mut(GROUP)) {
        scaled.log_norms += weighted_logs(norms_sq, weights);
        for ((scale, norm_sq), weight) in scales.iter_mut().zip(norms_sq).zip(weights) {
            let normal = (f64::MIN_POSITIVE..=f64::MAX).contains(norm_sq);
            *scale = if normal { weight / norm_sq } else { 0.0 };
            scaled.vanished |= !normal;
        }
    }
    scaled
}

/// Scales the rows of a tile to norm 1. If the length of a row cannot be computed safely, that row and the following
/// ones are left unchanged, and the error is the index of that row.
#[inline(always)]
pub(crate) fn unit_rows<F: Fused>(f: F, u: &mut [f64], dim: usize) -> Result<(), usize> {
    for (row, u) in u.chunks_exact_mut(padded(dim)).enumerate() {
        let norm_sq = norm_sq_of(f, u);
        if !SAFE.contains(&norm_sq) {
            return Err(row);
        }
        scale_row(u, (1.0 / norm_sq).sqrt());
    }
    Ok(())
}

/// Same as [`unit_rows`], but a row whose squared length is not a positive, normal floating-point number becomes zero.
#[inline(always)]
pub(crate) fn unit_or_zero_rows<F: Fused>(f: F, u: &mut [f64], dim: usize) {
    for u in u.chunks_exact_mut(padded(dim)) {
        let norm_sq = norm_sq_of(f, u);
        let normal = (f64::MIN_POSITIVE..=f64::MAX).contains(&norm_sq);
        scale_row(u, if normal { (1.0 / norm_sq).sqrt() } else { 0.0 });
    }
}

#[inline(always)]
fn scale_row(u: &mut [f64], scale: f64) {
    for u in u.as_chunks_mut::<LANES>().0 {
        u.iter_mut().for_each(|v| *v *= scale);
    }
}

/// The squared norms of rows that have V times [`LANES`] numbers.
#[inline(always)]
fn few_norms_sq<F: Fused, const V: usize>(f: F, u: &[f64], norms_sq: &mut [f64]) {
    for (norm_sq, u) in norms_sq.iter_mut().zip(u.as_chunks::<LANES>().0.as_chunks::<V>().0) {
        *norm_sq = norm_sq_of(f, u.as_flattened());
    }
}

/// The squared norm of a row of a tile. The square in column j is added to sum j mod [`LANES`].
#[inline(always)]
fn norm_sq_of<F: Fused>(f: F, u: &[f64]) -> f64 {
    let mut lanes = [0.0; LANES];
    for j in (0..LANES).step_by(F::LANES) {
        let mut sum = f.splat(0.0);
        for u in u.as_chunks::<LANES>().0 {
            let u = f.load(&u[j..]);
            sum = f.mul_add(u, u, sum);
        }
        f.store(sum, &mut lanes[j..]);
    }
    sum_of_lanes(lanes)
}

/// The inner product of a row `u` and a row `t`, which either has the same length or is a row of a tile.
#[inline(always)]
pub(crate) fn lanes_dot(t: &[f64], u: &[f64]) -> f64 {
    let ((t, t_tail), (u, u_tail)) = (t[..u.len()].as_chunks::<LANES>(), u.as_chunks::<LANES>());
    let mut sums = [0.0; LANES];
    for (t, u) in t.iter().zip(u) {
        sums.iter_mut().zip(t).zip(u).for_each(|((sum, t), u)| *sum += t * u);
    }
    let tail: f64 = t_tail.iter().zip(u_tail).map(|(t, u)| t * u).sum();
    sum_of_lanes(sums) + tail
}

#[inline(always)]
fn sum_of_lanes(s: [f64; LANES]) -> f64 {
    ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
}

/// The sum Σ w ln t for positive, normal floating-point numbers t; t is 1 where the weight is 0. If all weights are 1,
/// a single logarithm suffices, because the mantissas can be multiplied and the exponents added.
#[inline(always)]
fn weighted_logs(values: &[f64; GROUP], weights: &[f64]) -> f64 {
    // Checks all weights, eight at once, instead of stopping at the first weight that is not 1.
    if weights.iter().fold(false, |any, weight| any | (weight.to_bits() != 1f64.to_bits())) {
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
    // Mantissas are below 2, so their product stays below 2^48.
    let product = products.into_iter().product::<f64>();
    let bias = GROUP as f64 * (f64::MAX_EXP - 1) as f64;
    let exponent = exponents.into_iter().sum::<u64>() as f64 - bias;
    product.ln() + exponent * std::f64::consts::LN_2
}

/// The tile of unit rows of XA; the error is the index of the first row that cannot be scaled safely.
pub(crate) struct UnitProduct<'a> {
    pub(crate) x: &'a [f64],
    pub(crate) factor: &'a Factor,
    pub(crate) u: &'a mut [f64],
}

impl FusedLoop for UnitProduct<'_> {
    type Output = Result<(), usize>;

    #[inline(always)]
    fn run<F: Fused>(self, f: F) -> Result<(), usize> {
        product(f, self.x, self.factor, self.u);
        unit_rows(f, self.u, self.factor.columns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gram::{AddGram, add_gram};
    use faer::Mat;
    use halfspaces_linalg::kernels::Pair;

    /// All loops over one tile, with sums of all their results.
    struct AllLoops<'a> {
        x: &'a [f64],
        a: &'a Mat<f64>,
        weights: &'a [f64],
    }

    impl FusedLoop for AllLoops<'_> {
        type Output = Vec<f64>;

        #[inline(always)]
        fn run<F: Fused>(self, f: F) -> Vec<f64> {
            let factor = Factor::for_lanes(self.a.as_ref(), F::LANES);
            let (dim, n) = (factor.columns, self.weights.len());
            let mut u = vec![0.0; n * padded(dim)];
            product(f, self.x, &factor, &mut u);
            let mut unit = u.clone();
            assert_eq!(unit_rows(f, &mut unit, dim), Ok(()));
            let mut all = [u, unit].concat();
            let square = (dim == factor.rows).then_some(None);
            for factor in [Some(Some(&factor)), square].into_iter().flatten() {
                let dim = factor.map_or(dim, |factor| factor.rows);
                if factor.is_some_and(|factor| factor.rows != factor.columns) {
                    continue;
                }
                let (mut u, mut scales) = (vec![0.0; n * padded(dim)], vec![0.0; n]);
                for (tile, u) in u.chunks_mut(MAX_ROWS * padded(dim)).enumerate() {
                    let rows = tile * MAX_ROWS..tile * MAX_ROWS + u.len() / padded(dim);
                    let x = &self.x[rows.start * dim..rows.end * dim];
                    let (weights, scales) = (&self.weights[rows.clone()], &mut scales[rows]);
                    let scaled = product_and_scales(f, x, factor, dim, u, weights, scales);
                    assert!(!scaled.vanished);
                    all.push(scaled.log_norms);
                }
                let mut m = vec![0.0; dim * padded(dim)];
                add_gram(f, &u, &scales, dim, &mut m);
                // The sums above the diagonal may or may not be computed, so they are ignored.
                let entry = |at: usize| {
                    let (i, j) = (at / padded(dim), at % padded(dim));
                    if j <= i { m[at] } else { 0.0 }
                };
                all.extend([u, scales].concat());
                all.extend((0..dim * padded(dim)).map(entry));
            }
            all
        }
    }

    fn example(rows: usize, columns: usize, lower: bool) -> Mat<f64> {
        Mat::from_fn(rows, columns, |i, j| {
            let value = ((7 * i + 3 * j * j + 1) as f64).sin() + f64::from(u8::from(i == j));
            if lower && j > i { 0.0 } else { value }
        })
    }

    fn points(n: usize, dim: usize) -> Vec<f64> {
        (0..n * dim).map(|i| ((i * i + 5) as f64).sin() + 0.1).collect()
    }

    const SHAPES: [(usize, usize, usize); 10] = [
        (1, 1, 1),
        (50, 8, 8),
        (77, 32, 32),
        (7, 3, 3),
        (13, 5, 2),
        (50, 9, 9),
        (96, 17, 17),
        (100, 24, 24),
        (48, 30, 11),
        (55, 50, 50),
    ];

    #[test]
    fn vector_instructions_change_no_bit() {
        for (n, dim, columns) in SHAPES {
            let (x, a) = (points(n, dim), example(dim, columns, dim == columns));
            for weighted in [false, true] {
                let weight = |i: usize| if weighted { 0.5 + (i % 4) as f64 } else { 1.0 };
                let weights: Vec<f64> = (0..n).map(weight).collect();
                let loops = || AllLoops { x: &x, a: &a, weights: &weights };
                let bits = |v: Vec<f64>| v.into_iter().map(f64::to_bits).collect::<Vec<u64>>();
                let dispatched = bits(run_fused(loops()));
                assert!(dispatched == bits(loops().run(Pair)), "{n} × {dim} × {columns}");
            }
        }
    }

    #[test]
    fn products_are_products() {
        for (n, dim, columns) in SHAPES {
            for lower in [dim == columns, false] {
                let (x, a) = (points(n, dim), example(dim, columns, lower));
                let factor = Factor::new(a.as_ref());
                let mut u = vec![0.0; n * padded(columns)];
                struct Product<'a>(&'a [f64], &'a Factor, &'a mut [f64]);
                impl FusedLoop for Product<'_> {
                    type Output = ();
                    #[inline(always)]
                    fn run<F: Fused>(self, f: F) {
                        product(f, self.0, self.1, self.2);
                    }
                }
                run_fused(Product(&x, &factor, &mut u));
                let mut m = vec![0.0; columns * padded(columns)];
                let ones = vec![1.0; n];
                run_fused(AddGram { u: &u, scales: &ones, dim: columns, m: &mut m });
                let plain = |r: usize, j: usize| -> f64 {
                    (0..dim).map(|l| x[r * dim + l] * a[(l, j)]).sum()
                };
                for (r, u) in u.chunks_exact(padded(columns)).enumerate() {
                    assert!((0..columns).all(|j| (u[j] - plain(r, j)).abs() < 1e-13 * dim as f64));
                    assert!(u[columns..].iter().all(|v| *v == 0.0));
                }
                for i in 0..columns {
                    for j in 0..=i {
                        let sum: f64 = (0..n).map(|r| plain(r, i) * plain(r, j)).sum();
                        let close = (m[i * padded(columns) + j] - sum).abs();
                        assert!(close < 1e-12 * (n * dim) as f64, "{n} × {dim}: {i} {j}");
                    }
                }
            }
        }
    }

    #[test]
    fn lengths_that_over_or_underflow_are_told() {
        struct Lengths<'a>(&'a mut [f64]);
        impl FusedLoop for Lengths<'_> {
            type Output = (Result<(), usize>, Vec<f64>, Scaled);
            #[inline(always)]
            fn run<F: Fused>(self, f: F) -> Self::Output {
                let safe = unit_rows(f, self.0, 2);
                let (mut u, mut scales) = ([1.0; 2 * LANES], [7.0; 2]);
                let x = [f64::INFINITY, 0.0, 2.0, 0.0];
                let scaled = product_and_scales(f, &x, None, 2, &mut u, &[1.0; 2], &mut scales);
                let mut all = scales.to_vec();
                unit_or_zero_rows(f, &mut u[LANES..], 2);
                all.extend(&u[LANES..]);
                (safe, all, scaled)
            }
        }
        let mut u = vec![0.0; 3 * LANES];
        (u[0], u[LANES], u[2 * LANES]) = (3.0, 1e-150, 1.0);
        let (safe, all, scaled) = run_fused(Lengths(&mut u));
        assert_eq!((safe, u[0]), (Err(1), 1.0));
        assert!(scaled.vanished);
        assert_eq!(all[..2], [0.0, 1.0 / (4.0 + 6.0)]);
    }
}
