//! Inner products of consecutive rows with one vector.

use crate::dispatch::dispatch;
use crate::plain::LANES;
use crate::vectors::Blocks;
use crate::vectors::{Kernel, Vectors, by_blocks};

/// Writes the [`dot`](crate::dot) of `w` with each of the first `out.len()` rows of `rows` to `out`. Rows have the
/// length of `w`; `rows` may be longer.
///
/// # Panics
/// Panics if `w` is empty, or if `rows` has fewer rows than `out` has elements.
///
/// ```
/// let mut values = [0.0; 2];
/// halfspaces_kernels::products(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[1.0, -2.0], &mut values);
/// assert_eq!(values, [-3.0, -5.0]);
/// ```
#[inline]
pub fn products(rows: &[f64], w: &[f64], out: &mut [f64]) {
    let rows = &rows[..out.len() * w.len()];
    products_while(
        rows,
        w,
        #[inline(always)]
        |i, value| {
            out[i] = value;
            true
        },
    );
}

/// Calls `goes_on` for each row of `rows` with the row's index, counted from 0, and the [`dot`](crate::dot) of `w` with
/// the row. Stops at the first row for which `goes_on` returns false. Returns the number of rows before that row, or
/// the number of all rows if there is no such row. An incomplete last row is ignored.
///
/// # Panics
/// Panics if `w` is empty.
///
/// ```
/// // The first row with sign(w · x) different from the label.
/// let (rows, labels) = ([1.0, 2.0, 3.0, 4.0, 5.0, -6.0], [1.0, 1.0, 1.0]);
/// let correct = |i: usize, value: f64| value * labels[i] > 0.0;
/// assert_eq!(halfspaces_kernels::products_while(&rows, &[1.0, 1.0], correct), 2);
/// ```
#[inline]
pub fn products_while(rows: &[f64], w: &[f64], goes_on: impl FnMut(usize, f64) -> bool) -> usize {
    assert!(!w.is_empty(), "rows have at least one coordinate");
    dispatch(ProductsWhile { rows, w, goes_on })
}

struct ProductsWhile<'a, F> {
    rows: &'a [f64],
    w: &'a [f64],
    goes_on: F,
}

impl<F: FnMut(usize, f64) -> bool> Kernel for ProductsWhile<'_, F> {
    type Output = usize;

    #[inline(always)]
    fn run<V: Vectors>(self, v: V) -> usize {
        by_blocks!(self.w.len(), in_registers, in_memory, v, self)
    }
}

/// The loop for a w that fits in registers. w has `BLOCKS` blocks, and the last block may be padded.
#[inline(always)]
fn in_registers<V: Vectors, F: FnMut(usize, f64) -> bool, const BLOCKS: usize>(
    v: V,
    mut kernel: ProductsWhile<'_, F>,
) -> usize {
    let d = kernel.w.len();
    let w = v.hold::<BLOCKS>(kernel.w);
    for (i, row) in kernel.rows.chunks_exact(d).enumerate() {
        v.prefetch_row_ahead::<BLOCKS>(row);
        if !(kernel.goes_on)(i, v.dot_of_blocks(&v.hold(row), &w)) {
            return i;
        }
    }
    kernel.rows.len() / d
}

/// The loop that keeps w in memory.
#[inline(always)]
fn in_memory<V: Vectors, F: FnMut(usize, f64) -> bool>(
    v: V,
    mut kernel: ProductsWhile<'_, F>,
) -> usize {
    let d = kernel.w.len();
    let (w_blocks, w_rest) = kernel.w.as_chunks::<LANES>();
    let w_rest = v.load_part(w_rest);
    for (i, row) in kernel.rows.chunks_exact(d).enumerate() {
        let (blocks, rest) = row.as_chunks::<LANES>();
        let mut sums = v.splat(0.0);
        for (x, w) in blocks.iter().zip(w_blocks) {
            sums = v.add_product(sums, v.load_and_prefetch(x), v.load(w));
        }
        sums = v.add_product(sums, v.load_part_and_prefetch(rest), w_rest);
        if !(kernel.goes_on)(i, v.total(sums)) {
            return i;
        }
    }
    kernel.rows.len() / d
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::tests::{numbers, on_all};
    use crate::dot;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rows_at_once_round_as_one_by_one(
            d in prop_oneof![1..80usize, 1..600usize],
            begins in 0..9usize,
            values in numbers(3000),
            w in numbers(600),
            stop in 0..200usize,
        ) {
            let (rows, w) = (&values[begins..], &w[begins.min(600 - d)..][..d]);
            let expected: Vec<u64> =
                rows.chunks_exact(d).take(stop + 1).map(|row| dot(row, w).to_bits()).collect();
            let all = rows.len() / d;
            let seen = on_all(|set| {
                let mut seen = Vec::new();
                let goes_on = |i: usize, value: f64| {
                    assert_eq!(i, seen.len());
                    seen.push(value.to_bits());
                    i != stop
                };
                let count = set.run(ProductsWhile { rows, w, goes_on });
                assert_eq!(count, stop.min(all));
                seen
            });
            prop_assert!(seen.iter().all(|seen| *seen == expected));

            let mut out = vec![f64::NAN; all.min(stop)];
            products(rows, w, &mut out);
            let exact = expected.iter().zip(&out).all(|(bits, value)| *bits == value.to_bits());
            prop_assert!(exact);
        }
    }

    #[test]
    #[should_panic(expected = "out of range")]
    fn rows_that_are_not_there_are_refused() {
        products(&[1.0; 5], &[1.0, 2.0], &mut [0.0; 3]);
    }

    #[test]
    #[should_panic(expected = "at least one coordinate")]
    fn no_coordinates_are_refused() {
        products_while(&[1.0], &[], |_, _| true);
    }

    #[test]
    fn overflows_come_out_as_in_the_plain_product() {
        let far = [1e200, -1e200, 3.0];
        let values = |w: &[f64]| {
            let mut out = [0.0; 1];
            products(&far, w, &mut out);
            (out[0], dot(&far, w))
        };
        let (ours, plain) = values(&[1e200, 1e200, 1.0]);
        assert!(ours.is_nan() && plain.is_nan());
        assert_eq!(values(&[1e200, 0.0, 1.0]), (f64::INFINITY, f64::INFINITY));
    }
}
