//! The inner loops: `dot`, `axpy` and squared norms over slices.
//!
//! A dense product keeps [`LANES`] running sums, coordinate `j` going to sum `j mod LANES`; the
//! sums are then added in one fixed order. Sparse rows put each stored value into the sum of *its*
//! coordinate, so the terms they skip are exactly the `+ 0.0` terms of the dense product and both
//! forms round identically. That is what makes dense and sparse runs of a learner comparable
//! mistake for mistake, even where a margin is exactly zero.

use faer::traits::pulp::{Arch, Simd, WithSimd};

/// Number of independent running sums. Eight doubles fill one AVX-512, two AVX or four SSE
/// registers, and break the chain of dependent additions.
pub const LANES: usize = 8;

/// The fixed order in which the running sums are added.
#[inline]
pub(crate) fn add_lanes(s: [f64; LANES]) -> f64 {
    ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
}

/// Inner product of two slices. Where the lengths differ the longer one is cut: callers that take
/// input from outside compare dimensions first.
///
/// ```
/// assert_eq!(halfspaces_linalg::kernels::dot(&[1.0, 2.0], &[3.0, 4.0]), 11.0);
/// ```
// Always: a loop that is compiled for wider vectors than the rest takes its products along.
#[inline(always)]
#[must_use]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    let n = a.len().min(b.len());
    if n >= WIDE {
        return wide_dot(&a[..n], &b[..n]);
    }
    running_sums(&a[..n], &b[..n])
}

/// From this length on, a product gains by the vector instructions that the processor turns out to have
/// more than it takes to choose them.
const WIDE: usize = 192;

/// Up to this length a row is copied in a few instructions.
const NARROW: usize = 64;

#[inline(never)]
fn wide_dot(a: &[f64], b: &[f64]) -> f64 {
    Arch::new().dispatch(RunningSums(a, b))
}

/// [`running_sums`], to be compiled for several vector instructions. As it fuses no multiplication with
/// an addition, they do not change the result.
struct RunningSums<'a>(&'a [f64], &'a [f64]);

impl WithSimd for RunningSums<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> f64 {
        running_sums(self.0, self.1)
    }
}

/// [`dot`] of slices of one length.
#[inline(always)]
fn running_sums(a: &[f64], b: &[f64]) -> f64 {
    let (a_blocks, a_rest) = a.as_chunks::<LANES>();
    let (b_blocks, b_rest) = b.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for (x, y) in a_blocks.iter().zip(b_blocks) {
        for ((s, x), y) in sums.iter_mut().zip(x).zip(y) {
            *s += x * y;
        }
    }
    for ((s, x), y) in sums.iter_mut().zip(a_rest).zip(b_rest) {
        *s += x * y;
    }
    add_lanes(sums)
}

/// [`dot`] of `w` with each of the rows of `w`'s length that begin `rows`, one for each place of `out`.
/// `rows` must hold them, may go on behind them, and holds finite values only.
pub(crate) fn dot_rows(rows: &[f64], w: &[f64], out: &mut [f64]) {
    Arch::new().dispatch(DotRows { rows, w, out });
}

/// [`running_sums`] row by row, the rest of a row as a block like the others: what stands behind the row
/// meets zeros, and adding ± 0 changes no running sum, as none is -0.
struct DotRows<'a> {
    rows: &'a [f64],
    w: &'a [f64],
    out: &'a mut [f64],
}

impl WithSimd for DotRows<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        if self.w.len() >= WIDE {
            for (row, out) in self.rows.chunks_exact(self.w.len()).zip(self.out) {
                *out = running_sums(row, self.w);
            }
            return;
        }
        if self.w.len() <= NARROW {
            self.with::<S, NARROW>(simd)
        } else {
            self.with::<S, WIDE>(simd)
        }
    }
}

impl DotRows<'_> {
    /// With room for `ROOM` coordinates.
    #[inline(always)]
    fn with<S: Simd, const ROOM: usize>(self, simd: S) {
        match S::F64_LANES {
            2 => self.in_vectors::<S, ROOM, 4>(simd),
            4 => self.in_vectors::<S, ROOM, 2>(simd),
            8 => self.in_vectors::<S, ROOM, 1>(simd),
            _ => self.in_vectors::<S, ROOM, 8>(simd),
        }
    }

    /// With running sums in `V` vectors.
    #[inline(always)]
    fn in_vectors<S: Simd, const ROOM: usize, const V: usize>(self, simd: S) {
        let d = self.w.len();
        let mut padded = [0.0; ROOM];
        padded[..d].copy_from_slice(self.w);
        let width = d.next_multiple_of(LANES);
        let w = as_vectors::<S, V>(&padded[..width]);
        for (i, out) in self.out.iter_mut().enumerate() {
            let row = &self.rows[i * d..];
            let Some(row) = row.get(..width) else {
                *out = running_sums(row, self.w);
                continue;
            };
            let mut sums = [simd.splat_f64s(0.0); V];
            for (x, w) in as_vectors::<S, V>(row).iter().zip(w) {
                for ((s, x), w) in sums.iter_mut().zip(x).zip(w) {
                    *s = simd.add_f64s(*s, simd.mul_f64s(*x, *w));
                }
            }
            let mut lanes = [0.0; LANES];
            S::as_mut_simd_f64s(&mut lanes).0.copy_from_slice(&sums);
            *out = add_lanes(lanes);
        }
    }
}

/// Whole blocks of [`LANES`] as `V` vectors each.
#[inline(always)]
fn as_vectors<S: Simd, const V: usize>(values: &[f64]) -> &[[S::f64s; V]] {
    S::as_simd_f64s(values).0.as_chunks::<V>().0
}

/// `y += a x`. Where the lengths differ the longer one is cut, as in [`dot`].
///
/// ```
/// let mut y = [1.0, 1.0];
/// halfspaces_linalg::kernels::axpy(2.0, &[1.0, 3.0], &mut y);
/// assert_eq!(y, [3.0, 7.0]);
/// ```
#[inline]
pub fn axpy(a: f64, x: &[f64], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += a * x;
    }
}

/// Squared Euclidean norm, rounded as `dot(a, a)`. It overflows for entries beyond about 1e154;
/// [`crate::norm`] does not.
#[inline]
#[must_use]
pub fn norm_sq(a: &[f64]) -> f64 {
    dot(a, a)
}

/// [`dot`] of a sparse row (`columns` strictly increasing, one value each) with a dense vector.
/// Columns beyond `w` are skipped.
#[inline]
#[must_use]
pub fn sparse_dot(columns: &[u32], values: &[f64], w: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    for (&j, &v) in columns.iter().zip(values) {
        if let Some(&w_j) = w.get(j as usize) {
            sums[j as usize % LANES] += v * w_j;
        }
    }
    add_lanes(sums)
}

/// A number of the sign of [`sparse_dot`], and not finite only where that is not: the sum in another order,
/// wherever no order of summation can change its sign.
///
/// The running sums of [`sparse_dot`] lie in memory, as each value's place decides which of them it
/// belongs to; these stay in registers.
#[inline]
#[must_use]
pub fn sparse_sign(columns: &[u32], values: &[f64], w: &[f64]) -> f64 {
    let (mut sums, mut sizes) = ([0.0; 4], [0.0; 4]);
    let mut add = |lane: usize, j: u32, v: f64| {
        if let Some(&w_j) = w.get(j as usize) {
            sums[lane] += v * w_j;
            sizes[lane] += (v * w_j).abs();
        }
    };
    let n = columns.len().min(values.len());
    let (columns_of_4, more_columns) = columns[..n].as_chunks::<4>();
    let (values_of_4, more_values) = values[..n].as_chunks::<4>();
    for (j, v) in columns_of_4.iter().zip(values_of_4) {
        for lane in 0..4 {
            add(lane, j[lane], v[lane]);
        }
    }
    for (j, v) in more_columns.iter().zip(more_values) {
        add(0, *j, *v);
    }
    let sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    let size = (sizes[0] + sizes[1]) + (sizes[2] + sizes[3]);
    // Any order errs by at most about n u times the sizes' sum: this is eight times both together, and
    // what underflow may take.
    let doubt = (n as f64 + 8.0) * 8.0 * f64::EPSILON * size + f64::MIN_POSITIVE;
    if sum.abs() > doubt && size < f64::MAX / 2.0 { sum } else { sparse_dot(columns, values, w) }
}

/// [`axpy`] of a sparse row into a dense vector. Columns beyond `y` are skipped.
#[inline]
pub fn sparse_axpy(a: f64, columns: &[u32], values: &[f64], y: &mut [f64]) {
    for (&j, &v) in columns.iter().zip(values) {
        if let Some(y_j) = y.get_mut(j as usize) {
            *y_j += a * v;
        }
    }
}

/// [`norm_sq`] of a sparse row, rounded as its dense form.
#[inline]
#[must_use]
pub fn sparse_norm_sq(columns: &[u32], values: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    for (&j, &v) in columns.iter().zip(values) {
        sums[j as usize % LANES] += v * v;
    }
    add_lanes(sums)
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::traits::pulp::Scalar;
    use proptest::prelude::*;

    /// The plain version that the lane-wise kernel is held against.
    fn plain_dot(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(x, y)| x * y).sum()
    }

    fn sparse_of(dense: &[f64]) -> (Vec<u32>, Vec<f64>) {
        dense.iter().enumerate().filter(|(_, v)| **v != 0.0).map(|(j, v)| (j as u32, *v)).unzip()
    }

    proptest! {
        #[test]
        fn lanes_agree_with_the_plain_sum(
            pairs in prop::collection::vec((-1e3..1e3f64, -1e3..1e3f64), 0..70),
        ) {
            let (a, b): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
            let scale: f64 = a.iter().zip(&b).map(|(x, y)| (x * y).abs()).sum();
            prop_assert!((dot(&a, &b) - plain_dot(&a, &b)).abs() <= 1e-14 * scale.max(1.0));
        }

        #[test]
        fn wide_products_round_as_narrow_ones(
            pairs in prop::collection::vec((-1e3..1e3f64, -1e3..1e3f64), WIDE..3 * WIDE),
        ) {
            let (a, b): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
            prop_assert_eq!(dot(&a, &b).to_bits(), running_sums(&a, &b).to_bits());
        }

        #[test]
        fn rows_at_once_round_as_one_by_one(
            d in 1..WIDE + 20,
            values in prop::collection::vec(prop_oneof![-1e3..1e3f64, Just(0.0), Just(-0.0)], 0..2000),
            w in prop::collection::vec(prop_oneof![9 => -1e3..1e3f64, 1 => Just(-0.0)], WIDE + 20),
            wanted in 0..300usize,
        ) {
            let (d, w) = if values.len() % 2 == 0 { (d % 20 + 1, &w[..d % 20 + 1]) } else { (d, &w[..d]) };
            let mut out = vec![f64::NAN; wanted.min(values.len() / d)];
            dot_rows(&values, w, &mut out);
            for (row, value) in values.chunks_exact(d).zip(&out) {
                prop_assert_eq!(value.to_bits(), running_sums(row, w).to_bits());
            }
            let mut scalar = vec![f64::NAN; out.len()];
            DotRows { rows: &values, w, out: &mut scalar }.with_simd(Scalar);
            prop_assert!(out.iter().zip(&scalar).all(|(a, b)| a.to_bits() == b.to_bits()));
        }

        #[test]
        fn sparse_rounds_exactly_as_dense(
            entries in prop::collection::vec((any::<bool>(), -1e3..1e3f64, -1e3..1e3f64), 1..70),
            a in -2.0..2.0f64,
        ) {
            let row: Vec<f64> = entries.iter().map(|(keep, v, _)| if *keep { *v } else { 0.0 }).collect();
            let w: Vec<f64> = entries.iter().map(|(_, _, w)| *w).collect();
            let (columns, values) = sparse_of(&row);
            prop_assert_eq!(dot(&row, &w).to_bits(), sparse_dot(&columns, &values, &w).to_bits());
            prop_assert_eq!(norm_sq(&row).to_bits(), sparse_norm_sq(&columns, &values).to_bits());
            let sign = sparse_sign(&columns, &values, &w);
            prop_assert_eq!(sign >= 0.0, dot(&row, &w) >= 0.0);
            // All terms but the first cancel it up to rounding: only one order may be trusted.
            if let (Some(first), Some(v)) = (columns.first(), values.first()) {
                let mut nearly = w.clone();
                nearly[*first as usize] = 0.0;
                nearly[*first as usize] = -dot(&row, &nearly) / v;
                let (exact, sign) = (dot(&row, &nearly), sparse_sign(&columns, &values, &nearly));
                prop_assert_eq!(sign >= 0.0, exact >= 0.0);
            }
            let (mut dense, mut sparse) = (w.clone(), w);
            axpy(a, &row, &mut dense);
            sparse_axpy(a, &columns, &values, &mut sparse);
            prop_assert_eq!(dense, sparse);
        }
    }

    #[test]
    fn mismatched_lengths_are_cut_not_read_past() {
        assert_eq!(dot(&[1.0, 2.0, 3.0], &[1.0]), 1.0);
        assert_eq!(sparse_dot(&[0, 9], &[2.0, 5.0], &[1.0, 1.0]), 2.0);
        assert_eq!(sparse_sign(&[0, 9], &[2.0, 5.0], &[1.0, 1.0]), 2.0);
        let mut y = [0.0];
        sparse_axpy(1.0, &[0, 9], &[2.0, 5.0], &mut y);
        assert_eq!(y, [2.0]);
    }

    #[test]
    fn a_sign_is_that_of_the_product_where_orders_differ_or_overflow() {
        let columns: Vec<u32> = (0..9).collect();
        // 1e16 + 1 - 1e16 is 0 or 1 by the order.
        let w = [1e16, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, -1e16];
        let values = [1.0; 9];
        let (exact, sign) = (sparse_dot(&columns, &values, &w), sparse_sign(&columns, &values, &w));
        assert_eq!(sign.to_bits(), exact.to_bits());
        for w in [[1e308; 9], [-1e308; 9]] {
            assert!(!sparse_dot(&columns, &values, &w).is_finite());
            assert!(!sparse_sign(&columns, &values, &w).is_finite());
        }
        assert_eq!(sparse_sign(&columns, &values, &[0.0; 9]), 0.0);
        assert_eq!(sparse_sign(&[], &[], &[1.0]), 0.0);
    }
}
