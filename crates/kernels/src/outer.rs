//! Outer products of rows, weighted and added.

use crate::dispatch::dispatch;
use crate::plain::LANES;
use crate::vectors::{Blocks, Kernel, Vectors};

/// Rows that pass at a time, few enough to stay near.
const BLOCK: usize = 64;
/// Rows of the sum in registers.
const HELD: usize = 4;

/// The lower half of `out += factors[i] x x'` for each row x in order: `rows` are of length `dim`, row i of the sum begins
/// at `i * stride` of `out`. An entry of the sum is added to as if by itself, (factor x_i) x_j row by row.
///
/// # Panics
/// If there is not a factor for each row, or no room for the sum.
///
/// ```
/// let mut sum = [0.0, 9.0, 1.0, 0.0];
/// halfspaces_kernels::add_outer(&[1.0, 2.0, 3.0, 4.0], 2, &[1.0, -1.0], &mut sum, 2);
/// assert_eq!(sum, [-8.0, 9.0, -9.0, -12.0]);
/// ```
pub fn add_outer(rows: &[f64], dim: usize, factors: &[f64], out: &mut [f64], stride: usize) {
    assert_eq!(rows.len(), factors.len() * dim, "a row has one factor");
    assert!(dim <= stride && dim * stride <= out.len(), "a row of the sum for each coordinate");
    if dim > 0 {
        dispatch(AddOuter { rows, dim, factors, out, stride });
    }
}

struct AddOuter<'a> {
    rows: &'a [f64],
    dim: usize,
    factors: &'a [f64],
    out: &'a mut [f64],
    stride: usize,
}

impl Kernel for AddOuter<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vectors>(self, v: V) {
        let AddOuter { rows, dim, factors, out, stride } = self;
        // Rows filled up with zeros.
        let width = dim.next_multiple_of(LANES);
        let mut filled = vec![0.0; BLOCK * width];
        let mut scaled = [[0.0; HELD]; BLOCK];
        for (rows, factors) in rows.chunks(BLOCK * dim).zip(factors.chunks(BLOCK)) {
            for (to, x) in filled.chunks_exact_mut(width).zip(rows.chunks_exact(dim)) {
                to[..dim].copy_from_slice(x);
            }
            let filled = &filled[..factors.len() * width];
            // The next rows are asked for bit by bit while these are added.
            let mut coming = rows.chunks((HELD * BLOCK).next_multiple_of(LANES));
            for first in (0..dim).step_by(HELD) {
                for line in coming.next().into_iter().flat_map(|part| part.chunks(LANES)) {
                    v.fetch(line, size_of_val(rows));
                }
                let held = HELD.min(dim - first);
                let added = filled.chunks_exact(width).zip(factors);
                for (scaled, (x, factor)) in scaled.iter_mut().zip(added) {
                    for (scaled, x) in scaled.iter_mut().zip(&x[first..first + held]) {
                        *scaled = factor * x;
                    }
                }
                let pass = Pass { filled, width, scaled: &scaled[..factors.len()], first, held };
                // Up to the column of the last row held.
                let blocks = (first + held).div_ceil(LANES);
                for block in (0..blocks).step_by(2) {
                    let out = &mut out[first * stride..];
                    match blocks - block {
                        1 => pass.over::<V, 1>(v, block * LANES, out, stride),
                        _ => pass.over::<V, 2>(v, block * LANES, out, stride),
                    }
                }
            }
        }
    }
}

/// A block of rows to be added to a few rows of the sum.
struct Pass<'a> {
    filled: &'a [f64],
    width: usize,
    /// The coordinates `first..first + held` of each row times its factor.
    scaled: &'a [[f64; HELD]],
    first: usize,
    held: usize,
}

impl Pass<'_> {
    /// Adds to `N` blocks of columns, the first of them at column `from`.
    #[inline(always)]
    fn over<V: Vectors, const N: usize>(&self, v: V, from: usize, out: &mut [f64], stride: usize) {
        // The columns in row `row` of those held, up to the diagonal.
        let columns = |row: usize| {
            let end = (self.first + row + 1).clamp(from, from + N * LANES);
            row * stride + from..row * stride + end
        };
        let mut sums = [[v.splat(0.0); N]; HELD];
        for (row, sums) in sums.iter_mut().enumerate().take(self.held) {
            *sums = v.hold::<N>(&out[columns(row)]);
        }
        for (x, scaled) in self.filled[from..].chunks(self.width).zip(self.scaled) {
            let x = v.hold::<N>(&x[..N * LANES]);
            for (sums, scaled) in sums.iter_mut().zip(scaled) {
                let scaled = v.splat(*scaled);
                for (sum, x) in sums.iter_mut().zip(x) {
                    *sum = v.add_product(*sum, scaled, x);
                }
            }
        }
        for (row, sums) in sums.into_iter().enumerate().take(self.held) {
            v.release(sums, &mut out[columns(row)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::tests::{numbers, on_all};
    use proptest::prelude::*;

    fn bits(values: &[f64]) -> Vec<u64> {
        values.iter().map(|v| v.to_bits()).collect()
    }

    proptest! {
        /// Entry by entry; nothing above the diagonal, between the rows or behind the sum is touched.
        #[test]
        fn sums_are_those_of_the_plain_loop(
            dim in 1..40usize,
            more in 0..3usize,
            rows in 0..140usize,
            values in numbers(140 * 40),
            factors in numbers(140),
            sum in numbers(40 * 43),
        ) {
            let (rows, factors) = (&values[..rows * dim], &factors[..rows]);
            let stride = dim + more;
            let mut expected = sum.clone();
            for (x, factor) in rows.chunks_exact(dim).zip(factors) {
                for i in 0..dim {
                    (0..=i).for_each(|j| expected[i * stride + j] += factor * x[i] * x[j]);
                }
            }
            let ends = on_all(|set| {
                let mut sum = sum.clone();
                set.run(AddOuter { rows, dim, factors, out: &mut sum, stride });
                bits(&sum)
            });
            prop_assert!(ends.iter().all(|end| *end == bits(&expected)));
            let mut whole = sum.clone();
            add_outer(rows, dim, factors, &mut whole, stride);
            prop_assert_eq!(bits(&whole), bits(&expected));
        }
    }

    #[test]
    #[should_panic(expected = "one factor")]
    fn a_row_without_a_factor_is_refused() {
        add_outer(&[1.0; 4], 2, &[1.0], &mut [0.0; 4], 2);
    }

    #[test]
    #[should_panic(expected = "for each coordinate")]
    fn a_sum_without_room_is_refused() {
        add_outer(&[1.0; 4], 2, &[1.0, 1.0], &mut [0.0; 3], 2);
    }
}
