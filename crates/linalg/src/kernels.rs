//! The inner loops: `dot`, `axpy` and squared norms over slices.
//!
//! A dense product has [`LANES`] running sums. Coordinate `j` is added to sum `j mod LANES`, and the sums are added in
//! one fixed order. A sparse product adds each stored value to the sum of *its* coordinate. The terms that a sparse
//! product skips are exactly the `+ 0.0` terms of the dense product, so both forms round identically. A learner
//! therefore makes the same mistakes on dense and sparse data, even if a margin is exactly zero.

pub(crate) use halfspaces_kernels::add_lanes;
pub use halfspaces_kernels::{
    Aligned, Fused, FusedLoop, LANES, Pair, Wide, prefetch_ahead, run_fused, run_wide,
};

/// Inner product of two slices. If the lengths differ, the longer slice is truncated; callers with external input
/// compare dimensions first.
///
/// ```
/// assert_eq!(halfspaces_linalg::kernels::dot(&[1.0, 2.0], &[3.0, 4.0]), 11.0);
/// ```
// Always inlined, so that the product uses wide vectors if the caller is compiled for them.
#[inline(always)]
#[must_use]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    let n = a.len().min(b.len());
    if n >= WIDE {
        return wide_dot(&a[..n], &b[..n]);
    }
    halfspaces_kernels::dot(a, b)
}

/// Minimum length at which wide vectors save more time than run-time dispatch costs.
const WIDE: usize = 192;

#[inline(never)]
fn wide_dot(a: &[f64], b: &[f64]) -> f64 {
    run_wide(RunningSums(a, b))
}

/// The plain product, compiled for several vector instruction sets. No multiplication is fused with an addition, so the
/// instruction set does not change the result.
struct RunningSums<'a>(&'a [f64], &'a [f64]);

impl Wide for RunningSums<'_> {
    type Output = f64;

    #[inline(always)]
    fn run(self) -> f64 {
        halfspaces_kernels::dot(self.0, self.1)
    }
}

/// Computes `y += a x`. If the lengths differ, the longer slice is truncated, as in [`dot`].
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

/// Squared Euclidean norm, rounded in the same way as `dot(a, a)`. The result overflows for entries beyond about 1e154,
/// unlike that of [`crate::norm`].
#[inline]
#[must_use]
pub fn norm_sq(a: &[f64]) -> f64 {
    dot(a, a)
}

/// [`dot`] of a sparse row with a dense vector. The `columns` must increase strictly, and each must have one value.
/// Columns beyond the length of `w` are skipped.
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

/// A number that has the sign of [`sparse_dot`] and is finite if [`sparse_dot`] is. This function sums in a different
/// order, unless the order of summation could change the sign.
///
/// The running sums of [`sparse_dot`] are in memory, because the column of each value selects its running sum. The sums
/// of this function stay in registers.
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
    // For any order of summation, the error of the sum is at most about n u times the sum of the absolute values, where
    // u is the unit roundoff. The limit used here is eight times this bound for both sums together, plus an allowance
    // for underflow.
    let doubt = (n as f64 + 8.0) * 8.0 * f64::EPSILON * size + f64::MIN_POSITIVE;
    if sum.abs() > doubt && size < f64::MAX / 2.0 { sum } else { sparse_dot(columns, values, w) }
}

/// [`axpy`] of a sparse row into a dense vector. Columns beyond the length of `y` are skipped.
#[inline]
pub fn sparse_axpy(a: f64, columns: &[u32], values: &[f64], y: &mut [f64]) {
    for (&j, &v) in columns.iter().zip(values) {
        if let Some(y_j) = y.get_mut(j as usize) {
            *y_j += a * v;
        }
    }
}

/// [`norm_sq`] of a sparse row, rounded like its dense form.
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
    use proptest::prelude::*;

    /// The plain reference implementation for the lane-wise kernel.
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
            prop_assert_eq!(dot(&a, &b).to_bits(), halfspaces_kernels::dot(&a, &b).to_bits());
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
            // The other terms cancel the first one up to rounding, so the sign depends on the order of summation, which
            // must be that of `sparse_dot`.
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
        // 1e16 + 1 - 1e16 is 0 or 1, depending on the order of summation.
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
