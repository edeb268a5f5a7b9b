//! The inner loops over a tile, a block of rows that stays in the nearest cache: U = XA, the scaling of
//! its rows, and UᵀV.
//!
//! A tile has rows as long as their dimension rounded up to a multiple of [`LANES`]; what is beyond
//! the dimension is zero and stays so. Of a lower triangular A, columns from j on meet only the rows
//! of A from j on; of a symmetric product only the lower half is added up. Six rows of one factor and
//! one or two vectors of the other are multiplied at a time, which keeps six or twelve sums in registers.
//!
//! All loops are generic in the vector instructions and compiled for those that the processor turns
//! out to have. Every sum is taken in one fixed order, and every product is fused with its addition or
//! none is, so the instructions change no bit of a result.

use faer::MatRef;
use halfspaces_linalg::kernels::{self, Fused, FusedLoop, run_fused};

/// Columns taken side by side in sums along a row.
pub(crate) const LANES: usize = kernels::LANES;
/// Rows of one factor that are multiplied with two vectors of the other at a time.
const ROWS: usize = 6;
/// Rows whose lengths are found before they are scaled: a multiple of [`ROWS`] and of [`LANES`].
pub(crate) const GROUP: usize = 48;
/// Numbers in a tile, about: a tile and what is read with it share a first-level cache of 32 kB.
const TILE_VALUES: usize = 2_400;
/// Columns at most of which narrow panels are faster.
const FEW_COLUMNS: usize = 32;
/// Numbers in a line of the cache.
const LINE: usize = 8;
/// Squared lengths between these are right to rounding: no square that matters has over- or
/// underflown.
pub(crate) const SAFE: std::ops::RangeInclusive<f64> = 1e-280..=1e280;

/// Length of a row of a tile.
pub(crate) fn padded(dim: usize) -> usize {
    dim.next_multiple_of(LANES)
}

/// Rows of a tile at most.
pub(crate) const MAX_ROWS: usize = 4 * GROUP;

/// Rows of a tile.
pub(crate) fn tile_rows(dim: usize) -> usize {
    (TILE_VALUES / padded(dim) / GROUP * GROUP).clamp(GROUP, MAX_ROWS)
}

/// A matrix cut into panels of columns, one or two vectors wide, that are read from one end to the other.
#[derive(Debug)]
pub(crate) struct Factor {
    panels: Vec<f64>,
    rows: usize,
    columns: usize,
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
        let mut panels = Vec::with_capacity(rows * columns.next_multiple_of(lanes));
        for (first, vectors) in panels_of(columns, lanes) {
            for i in if lower { first } else { 0 }..rows {
                let columns_here = first..first + vectors * lanes;
                panels.extend(columns_here.map(|j| if j < columns { a[(i, j)] } else { 0.0 }));
            }
        }
        Factor { panels, rows, columns, lower }
    }

    /// Number of columns of X.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }
}

/// First columns of the panels with their widths in vectors: two, but one of eight numbers where there are few
/// columns, as more of a triangle lies outside narrow panels.
#[inline(always)]
fn panels_of(columns: usize, lanes: usize) -> impl Iterator<Item = (usize, usize)> {
    let width = if lanes == LANES && columns <= FEW_COLUMNS { lanes } else { 2 * lanes };
    let vectors = move |first: usize| if width.min(columns - first) > lanes { 2 } else { 1 };
    (0..columns.div_ceil(width)).map(move |p| (p * width, vectors(p * width)))
}

/// How many numbers a vector holds.
struct Lanes;

impl FusedLoop for Lanes {
    type Output = usize;

    #[inline(always)]
    fn run<F: Fused>(self, _: F) -> usize {
        F::LANES
    }
}

/// Reads one number of every cache line: rows that are about to be multiplied then come from memory all
/// at once, which the processor does not foresee from six rows read side by side.
#[inline(always)]
pub(crate) fn touch(x: &[f64]) {
    let lines = x.as_chunks::<LINE>().0;
    let bits = lines.iter().fold(0, |bits, line| bits ^ line[0].to_bits());
    std::hint::black_box(bits);
}

/// The tile U = XA for rows X; as many as there are.
#[inline(always)]
pub(crate) fn product<F: Fused>(f: F, x: &[f64], factor: &Factor, u: &mut [f64]) {
    let (dim, stride) = (factor.rows, padded(factor.columns));
    assert_eq!(x.len() / dim, u.len() / stride, "a tile has one row per point");
    for (x, u) in x.chunks(ROWS * dim).zip(u.chunks_mut(ROWS * stride)) {
        let mut panels = factor.panels.as_slice();
        for (first, vectors) in panels_of(factor.columns, F::LANES) {
            let from = if factor.lower { first } else { 0 };
            let (panel, rest) = panels.split_at((dim - from) * vectors * F::LANES);
            panels = rest;
            match (vectors, x.len() == ROWS * dim) {
                (2, true) => product_rows::<F, 2>(f, x, from, panel, u, first),
                (_, true) => product_rows::<F, 1>(f, x, from, panel, u, first),
                (vectors, _) => {
                    for (x, u) in x.chunks_exact(dim).zip(u.chunks_exact_mut(stride)) {
                        if vectors == 2 {
                            product_row::<F, 2>(f, &x[from..], panel, &mut u[first..]);
                        } else {
                            product_row::<F, 1>(f, &x[from..], panel, &mut u[first..]);
                        }
                    }
                }
            }
        }
    }
}

/// Six rows of X, from a column on, times a panel of V vectors.
#[inline(always)]
fn product_rows<F: Fused, const V: usize>(
    f: F,
    x: &[f64],
    from: usize,
    panel: &[f64],
    u: &mut [f64],
    first: usize,
) {
    let panel = panel.chunks_exact(V * F::LANES);
    let (dim, stride) = (x.len() / ROWS, u.len() / ROWS);
    let row = |r: usize| &x[r * dim + from..(r + 1) * dim];
    let (x0, x1, x2) = (row(0).iter(), row(1).iter(), row(2).iter());
    let (x3, x4, x5) = (row(3).iter(), row(4).iter(), row(5).iter());
    let mut sums = [[f.splat(0.0); V]; ROWS];
    for ((((((a, x0), x1), x2), x3), x4), x5) in
        panel.zip(x0).zip(x1).zip(x2).zip(x3).zip(x4).zip(x5)
    {
        let a = load(f, a);
        add_multiple(f, &mut sums[0], *x0, &a);
        add_multiple(f, &mut sums[1], *x1, &a);
        add_multiple(f, &mut sums[2], *x2, &a);
        add_multiple(f, &mut sums[3], *x3, &a);
        add_multiple(f, &mut sums[4], *x4, &a);
        add_multiple(f, &mut sums[5], *x5, &a);
    }
    for (u, sums) in u.chunks_exact_mut(stride).zip(&sums) {
        store(f, sums, &mut u[first..]);
    }
}

/// One row likewise.
#[inline(always)]
fn product_row<F: Fused, const V: usize>(f: F, x: &[f64], panel: &[f64], u: &mut [f64]) {
    let mut sums = [f.splat(0.0); V];
    for (a, x) in panel.chunks_exact(V * F::LANES).zip(x) {
        add_multiple(f, &mut sums, *x, &load(f, a));
    }
    store(f, &sums, u);
}

/// The first V vectors of `values`.
#[inline(always)]
fn load<F: Fused, const V: usize>(f: F, values: &[f64]) -> [F::Vector; V] {
    let mut vectors = [f.splat(0.0); V];
    for (vector, values) in vectors.iter_mut().zip(values[..V * F::LANES].chunks_exact(F::LANES)) {
        *vector = f.load(values);
    }
    vectors
}

/// Over the first of `values`.
#[inline(always)]
fn store<F: Fused, const V: usize>(f: F, vectors: &[F::Vector; V], values: &mut [f64]) {
    let values = values[..V * F::LANES].chunks_exact_mut(F::LANES);
    for (vector, values) in vectors.iter().zip(values) {
        f.store(*vector, values);
    }
}

/// sums += x a.
#[inline(always)]
fn add_multiple<F: Fused, const V: usize>(
    f: F,
    sums: &mut [F::Vector; V],
    x: f64,
    a: &[F::Vector; V],
) {
    let x = f.splat(x);
    for (sum, a) in sums.iter_mut().zip(a) {
        *sum = f.mul_add(x, *a, *sum);
    }
}

/// Adds the lower half of UᵀV (and parts of the upper) to `m`, whose rows are those of a tile; for a
/// product known to be symmetric. Rows of `u` are `stride` long, those of the tile `v` padded.
#[inline(always)]
pub(crate) fn add_gram<F: Fused>(
    f: F,
    u: &[f64],
    stride: usize,
    v: &[f64],
    dim: usize,
    m: &mut [f64],
) {
    assert_eq!(u.len() / stride, v.len() / padded(dim), "both factors have the same rows");
    for (first, vectors) in panels_of(dim, F::LANES) {
        for top in (first..dim).step_by(ROWS) {
            let at = Corner { stride, dim, top, first };
            match (vectors, dim - top) {
                (2, 1) => gram_panel::<F, 1, 2>(f, u, v, at, m),
                (2, 2) => gram_panel::<F, 2, 2>(f, u, v, at, m),
                (2, 3) => gram_panel::<F, 3, 2>(f, u, v, at, m),
                (2, 4) => gram_panel::<F, 4, 2>(f, u, v, at, m),
                (2, 5) => gram_panel::<F, 5, 2>(f, u, v, at, m),
                (2, _) => gram_panel::<F, ROWS, 2>(f, u, v, at, m),
                (_, 1) => gram_panel::<F, 1, 1>(f, u, v, at, m),
                (_, 2) => gram_panel::<F, 2, 1>(f, u, v, at, m),
                (_, 3) => gram_panel::<F, 3, 1>(f, u, v, at, m),
                (_, 4) => gram_panel::<F, 4, 1>(f, u, v, at, m),
                (_, 5) => gram_panel::<F, 5, 1>(f, u, v, at, m),
                (_, _) => gram_panel::<F, ROWS, 1>(f, u, v, at, m),
            }
        }
    }
}

/// Where in the product a register block lies, and how long rows are.
#[derive(Clone, Copy)]
struct Corner {
    stride: usize,
    dim: usize,
    top: usize,
    first: usize,
}

/// Rows `top` .. `top` + R and V vectors of columns from `first` on of UᵀV, added to `m`.
#[inline(always)]
fn gram_panel<F: Fused, const R: usize, const V: usize>(
    f: F,
    u: &[f64],
    v: &[f64],
    at: Corner,
    m: &mut [f64],
) {
    let (width, lanes) = (padded(at.dim), F::LANES);
    let (rows, columns) = (at.top..at.top + R, at.first..at.first + V * lanes);
    let mut sums = [[f.splat(0.0); V]; R];
    for (u, v) in u.chunks_exact(at.stride).zip(v.chunks_exact(width)) {
        let v = load(f, &v[columns.clone()]);
        for (sums, u) in sums.iter_mut().zip(&u[rows.clone()]) {
            add_multiple(f, sums, *u, &v);
        }
    }
    for (m, sums) in m.chunks_exact_mut(width).skip(at.top).zip(&sums) {
        for (m, sum) in m[columns.clone()].chunks_exact_mut(lanes).zip(sums) {
            f.store(f.add(f.load(m), *sum), m);
        }
    }
}

/// What [`scale_rows`] met.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Scaled {
    /// Σ w ln‖u‖² of the rows as they were.
    pub(crate) log_norms: f64,
    /// A row's squared length was no positive normal number; that row is now zero.
    pub(crate) vanished: bool,
}

/// Scales the rows of a tile to norm √w.
#[inline(always)]
pub(crate) fn scale_rows(u: &mut [f64], dim: usize, weights: &[f64]) -> Scaled {
    let stride = padded(dim);
    assert_eq!(u.len() / stride, weights.len(), "a row has one weight");
    let mut scaled = Scaled::default();
    for (u, weights) in u.chunks_mut(GROUP * stride).zip(weights.chunks(GROUP)) {
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

/// Scales the rows of a tile to norm 1; the first one whose length is not safe to compute is left with
/// those after it, and its index is the error.
#[inline(always)]
pub(crate) fn unit_rows(u: &mut [f64], dim: usize) -> Result<(), usize> {
    for (row, u) in u.chunks_exact_mut(padded(dim)).enumerate() {
        let norm_sq = lanes_norm_sq(u);
        if !SAFE.contains(&norm_sq) {
            return Err(row);
        }
        let scale = (1.0 / norm_sq).sqrt();
        for u in u.as_chunks_mut::<LANES>().0 {
            u.iter_mut().for_each(|v| *v *= scale);
        }
    }
    Ok(())
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
    // Mantissas are below 2, so their product stays below 2^48.
    let product = products.into_iter().product::<f64>();
    let bias = GROUP as f64 * (f64::MAX_EXP - 1) as f64;
    let exponent = exponents.into_iter().sum::<u64>() as f64 - bias;
    product.ln() + exponent * std::f64::consts::LN_2
}

/// The tile of unit rows of XA; the index of the first row that is not safe to scale as error.
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
        unit_rows(self.u, self.factor.columns)
    }
}

/// [`add_gram`] of a tile with itself.
pub(crate) struct AddGram<'a> {
    pub(crate) u: &'a [f64],
    pub(crate) dim: usize,
    pub(crate) m: &'a mut [f64],
}

impl FusedLoop for AddGram<'_> {
    type Output = ();

    #[inline(always)]
    fn run<F: Fused>(self, f: F) {
        add_gram(f, self.u, padded(self.dim), self.u, self.dim, self.m);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;
    use halfspaces_linalg::kernels::Pair;

    /// All loops over one tile, with sums of everything they leave behind.
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
            assert_eq!(unit_rows(&mut unit, dim), Ok(()));
            let scaled = scale_rows(&mut u, dim, self.weights);
            assert!(!scaled.vanished);
            let mut m = vec![0.0; dim * padded(dim)];
            add_gram(f, &u, padded(dim), &u, dim, &mut m);
            let mut fourth = vec![0.0; dim * padded(dim)];
            add_gram(f, self.x, factor.rows, &unit, dim.min(factor.rows), &mut fourth);
            // Above the diagonal a sum may be taken or not.
            let lower = |m: Vec<f64>| {
                let entry = move |at: usize| {
                    let (i, j) = (at / padded(dim), at % padded(dim));
                    if j <= i { m[at] } else { 0.0 }
                };
                (0..dim * padded(dim)).map(entry).collect::<Vec<f64>>()
            };
            [vec![scaled.log_norms], u, unit, lower(m), lower(fourth)].concat()
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

    const SHAPES: [(usize, usize, usize); 8] = [
        (1, 1, 1),
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
                run_fused(AddGram { u: &u, dim: columns, m: &mut m });
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
        let mut u = vec![0.0; 3 * LANES];
        (u[0], u[LANES], u[2 * LANES]) = (3.0, 1e-150, 1.0);
        assert_eq!(unit_rows(&mut u, 2), Err(1));
        assert_eq!(u[0], 1.0);
        let scaled = scale_rows(&mut [f64::INFINITY; LANES], 2, &[1.0]);
        assert!(scaled.vanished);
    }
}
