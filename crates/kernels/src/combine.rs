//! Weighted sums of consecutive rows, where the weight of each row depends on its product with a vector.

use crate::dispatch::dispatch;
use crate::plain::LANES;
use crate::vectors::{Blocks, Kernel, Vectors, by_blocks};

/// Computes `out += c x` for each row x in `rows`. Rows have the length of w, and c = `factor`(i, w · x) for row i,
/// counted from 0. The product w · x is computed by [`dot`](crate::dot). Rows for which `factor` returns `None` are
/// skipped; values after the last whole row are ignored.
///
/// # Panics
/// Panics if `w` is empty, or if `out` does not have the length of `w`.
///
/// ```
/// // The sum of the rows on the positive side of w.
/// let mut sum = [0.0; 2];
/// halfspaces_kernels::combine(&[1.0, 2.0, -3.0, 4.0, 5.0, 6.0], &[1.0, 0.0], &mut sum, |_, value| {
///     (value > 0.0).then_some(1.0)
/// });
/// assert_eq!(sum, [6.0, 8.0]);
/// ```
#[inline]
pub fn combine(
    rows: &[f64],
    w: &[f64],
    out: &mut [f64],
    factor: impl FnMut(usize, f64) -> Option<f64>,
) {
    assert!(!w.is_empty(), "rows have at least one coordinate");
    assert_eq!(w.len(), out.len(), "the sum and the rows have the same length");
    dispatch(Combine { rows, w, out, factor });
}

struct Combine<'a, F> {
    rows: &'a [f64],
    w: &'a [f64],
    out: &'a mut [f64],
    factor: F,
}

impl<F: FnMut(usize, f64) -> Option<f64>> Kernel for Combine<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vectors>(self, v: V) {
        by_blocks!(self.w.len(), in_registers, in_memory, v, self)
    }
}

/// The loop for a w and a sum that fit in registers. Both have `BLOCKS` blocks, and the last block may be padded.
#[inline(always)]
fn in_registers<V: Vectors, F: FnMut(usize, f64) -> Option<f64>, const BLOCKS: usize>(
    v: V,
    mut kernel: Combine<'_, F>,
) {
    let w = v.hold::<BLOCKS>(kernel.w);
    let mut out = v.hold::<BLOCKS>(kernel.out);
    for (i, row) in kernel.rows.chunks_exact(kernel.w.len()).enumerate() {
        v.prefetch_row_ahead::<BLOCKS>(row);
        let x = v.hold(row);
        if let Some(c) = (kernel.factor)(i, v.dot_of_blocks(&x, &w)) {
            let c = v.splat(c);
            for (sum, x) in out.iter_mut().zip(x) {
                *sum = v.add_product(*sum, c, x);
            }
        }
    }
    v.release(out, kernel.out);
}

/// The loop that keeps the whole blocks in memory, but the remainders of w and of the sum in registers. If the
/// remainders were in memory, a masked load would wait for the preceding masked store.
#[inline(always)]
fn in_memory<V: Vectors, F: FnMut(usize, f64) -> Option<f64>>(v: V, mut kernel: Combine<'_, F>) {
    let d = kernel.w.len();
    let whole = d - d % LANES;
    let (w_blocks, w_rest) = kernel.w.as_chunks::<LANES>();
    let w_rest = v.load_part(w_rest);
    let mut out_rest = v.load_part(&kernel.out[whole..]);
    for (i, row) in kernel.rows.chunks_exact(d).enumerate() {
        let (blocks, rest) = row.as_chunks::<LANES>();
        let mut sums = v.splat(0.0);
        for (x, w) in blocks.iter().zip(w_blocks) {
            sums = v.add_product(sums, v.load_and_prefetch(x), v.load(w));
        }
        let rest = v.load_part_and_prefetch(rest);
        sums = v.add_product(sums, rest, w_rest);
        if let Some(c) = (kernel.factor)(i, v.total(sums)) {
            let c = v.splat(c);
            for (x, sum) in blocks.iter().zip(kernel.out.as_chunks_mut::<LANES>().0) {
                v.store(v.add_product(v.load(sum), c, v.load(x)), sum);
            }
            out_rest = v.add_product(out_rest, c, rest);
        }
    }
    v.store_part(out_rest, &mut kernel.out[whole..]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::tests::{numbers, on_all};
    use crate::dot;
    use proptest::prelude::*;

    /// A factor that depends on the index of a row and on the sign and size of its product. It is `None` for one row in
    /// five.
    fn factor(i: usize, value: f64) -> Option<f64> {
        (i % 5 != 3).then(|| if value > 0.0 { -0.3 / (1.0 + value) } else { 0.5 })
    }

    fn bits(values: &[f64]) -> Vec<u64> {
        values.iter().map(|v| v.to_bits()).collect()
    }

    proptest! {
        #[test]
        fn sums_are_those_of_the_plain_loop(
            d in prop_oneof![1..80usize, 1..600usize],
            begins in 0..9usize,
            values in numbers(3000),
            w in numbers(600),
            sum in numbers(600),
        ) {
            let (rows, begin) = (&values[begins..], begins.min(600 - d));
            let w = &w[begin..][..d];
            let mut expected = sum.clone();
            for (i, row) in rows.chunks_exact(d).enumerate() {
                let Some(c) = factor(i, dot(row, w)) else { continue };
                expected[begin..][..d].iter_mut().zip(row).for_each(|(sum, x)| *sum += c * x);
            }
            let ends = on_all(|set| {
                // Values before and after the sum must stay unchanged.
                let mut sum = sum.clone();
                set.run(Combine { rows, w, out: &mut sum[begin..][..d], factor });
                bits(&sum)
            });
            prop_assert!(ends.iter().all(|end| *end == bits(&expected)));
        }
    }

    #[test]
    #[should_panic(expected = "the same length")]
    fn a_sum_of_another_length_is_refused() {
        combine(&[1.0], &[1.0], &mut [0.0; 2], |_, _| None);
    }

    #[test]
    #[should_panic(expected = "at least one coordinate")]
    fn no_coordinates_are_refused() {
        combine(&[1.0], &[], &mut [], |_, _| None);
    }
}
