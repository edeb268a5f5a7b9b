//! Steps along consecutive rows.

use crate::dispatch::dispatch;
use crate::plain::LANES;
use crate::vectors::{Blocks, Kernel, Vectors, by_blocks};

/// Computes `w += c x` for each row x of `rows`, in order. Rows have the length of w, and c = `factor`(i, w · x, x · x)
/// for row i, counted from 0. Both products are computed by [`dot`](crate::dot). Stops before the first row for which
/// `factor` returns `None` or a number that is not finite. Returns the number of rows used.
///
/// # Panics
/// Panics if `w` is empty.
///
/// ```
/// // Kaczmarz's method: project onto the plane x · w = 1 of each row.
/// let mut w = [0.0; 2];
/// let taken = halfspaces_kernels::descend(&[2.0, 0.0, 0.0, 4.0], &mut w, |_, value, norm_sq| {
///     Some((1.0 - value) / norm_sq)
/// });
/// assert_eq!((taken, w), (2, [0.5, 0.25]));
/// ```
#[inline]
pub fn descend(
    rows: &[f64],
    w: &mut [f64],
    factor: impl FnMut(usize, f64, f64) -> Option<f64>,
) -> usize {
    assert!(!w.is_empty(), "rows have at least one coordinate");
    dispatch(Descend { rows, w, factor })
}

struct Descend<'a, F> {
    rows: &'a [f64],
    w: &'a mut [f64],
    factor: F,
}

impl<F: FnMut(usize, f64, f64) -> Option<f64>> Descend<'_, F> {
    /// The factor of row `i` if it is finite, otherwise `None`. An infinite factor would turn the padding zeros of a
    /// block into NaNs.
    #[inline(always)]
    fn finite_factor(&mut self, i: usize, value: f64, norm_sq: f64) -> Option<f64> {
        match (self.factor)(i, value, norm_sq) {
            Some(c) if c.is_finite() => Some(c),
            _ => None,
        }
    }
}

impl<F: FnMut(usize, f64, f64) -> Option<f64>> Kernel for Descend<'_, F> {
    type Output = usize;

    #[inline(always)]
    fn run<V: Vectors>(self, v: V) -> usize {
        by_blocks!(self.w.len(), in_registers, in_memory, v, self)
    }
}

/// The loop for a w that fits in registers. w has `BLOCKS` blocks, and the last block may be padded.
#[inline(always)]
fn in_registers<V: Vectors, F: FnMut(usize, f64, f64) -> Option<f64>, const BLOCKS: usize>(
    v: V,
    mut kernel: Descend<'_, F>,
) -> usize {
    let d = kernel.w.len();
    let mut w = v.hold::<BLOCKS>(kernel.w);
    let mut taken = 0;
    for row in kernel.rows.chunks_exact(d) {
        v.prefetch_row_ahead::<BLOCKS>(row);
        let x = v.hold(row);
        let (value, norm_sq) = (v.dot_of_blocks(&x, &w), v.dot_of_blocks(&x, &x));
        let Some(c) = kernel.finite_factor(taken, value, norm_sq) else { break };
        let c = v.splat(c);
        for (w, x) in w.iter_mut().zip(x) {
            *w = v.add_product(*w, c, x);
        }
        taken += 1;
    }
    v.release(w, kernel.w);
    taken
}

/// The loop that keeps the whole blocks of w in memory, but the remainder of w in a register. If the remainder were in
/// memory, a masked load would wait for the preceding masked store.
#[inline(always)]
fn in_memory<V: Vectors, F: FnMut(usize, f64, f64) -> Option<f64>>(
    v: V,
    mut kernel: Descend<'_, F>,
) -> usize {
    let d = kernel.w.len();
    let whole = d - d % LANES;
    let mut w_rest = v.load_part(&kernel.w[whole..]);
    let mut taken = 0;
    for row in kernel.rows.chunks_exact(d) {
        let (blocks, rest) = row.as_chunks::<LANES>();
        let (mut sums, mut squares) = (v.splat(0.0), v.splat(0.0));
        for (x, w) in blocks.iter().zip(kernel.w.as_chunks::<LANES>().0) {
            let x = v.load_and_prefetch(x);
            sums = v.add_product(sums, x, v.load(w));
            squares = v.add_product(squares, x, x);
        }
        let rest = v.load_part_and_prefetch(rest);
        sums = v.add_product(sums, rest, w_rest);
        squares = v.add_product(squares, rest, rest);
        let Some(c) = kernel.finite_factor(taken, v.total(sums), v.total(squares)) else { break };
        let c = v.splat(c);
        for (x, w) in blocks.iter().zip(kernel.w.as_chunks_mut::<LANES>().0) {
            v.store(v.add_product(v.load(w), c, v.load(x)), w);
        }
        w_rest = v.add_product(w_rest, c, rest);
        taken += 1;
    }
    v.store_part(w_rest, &mut kernel.w[whole..]);
    taken
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::tests::{numbers, on_all};
    use crate::dot;
    use proptest::prelude::*;

    /// A factor that depends on both products; the loop stops at row `stop`.
    fn factor(stop: usize) -> impl FnMut(usize, f64, f64) -> Option<f64> {
        move |i, value, norm_sq| {
            (i != stop).then(|| if value > 0.0 { -0.3 / (norm_sq + value) } else { 0.5 })
        }
    }

    /// The reference implementation, which works row by row and coordinate by coordinate.
    fn plain(rows: &[f64], w: &mut [f64], stop: usize) -> usize {
        let mut factor = factor(stop);
        for (i, row) in rows.chunks_exact(w.len()).enumerate() {
            let Some(c) = factor(i, dot(row, w), dot(row, row)) else { return i };
            w.iter_mut().zip(row).for_each(|(w, x)| *w += c * x);
        }
        rows.len() / w.len()
    }

    fn bits(values: &[f64]) -> Vec<u64> {
        values.iter().map(|v| v.to_bits()).collect()
    }

    proptest! {
        #[test]
        fn steps_are_those_of_the_plain_loop(
            d in prop_oneof![1..80usize, 1..600usize],
            begins in 0..9usize,
            values in numbers(3000),
            w in numbers(600),
            stop in 0..200usize,
        ) {
            let (rows, begin) = (&values[begins..], begins.min(600 - d));
            let mut expected = w.clone();
            let taken = plain(rows, &mut expected[begin..][..d], stop);
            let ends = on_all(|set| {
                // Values before and after w must stay unchanged.
                let mut w = w.clone();
                let here = &mut w[begin..][..d];
                let kernel = Descend { rows, w: here, factor: factor(stop) };
                assert_eq!(set.run(kernel), taken);
                bits(&w)
            });
            prop_assert!(ends.iter().all(|end| *end == bits(&expected)));
        }
    }

    #[test]
    fn a_factor_that_is_not_finite_ends_before_its_row() {
        for d in [3, 70] {
            for c in [f64::INFINITY, f64::NAN] {
                let rows = vec![1.0; 3 * d];
                let mut w = vec![0.0; d];
                let factor = |i, _, _| Some(if i == 1 { c } else { 2.0 });
                assert_eq!(descend(&rows, &mut w, factor), 1);
                assert_eq!(w, vec![2.0; d]);
            }
        }
    }

    #[test]
    #[should_panic(expected = "at least one coordinate")]
    fn no_coordinates_are_refused() {
        descend(&[1.0], &mut [], |_, _, _| None);
    }
}
