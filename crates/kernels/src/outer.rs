//! Weighted sums of outer products of rows.

use crate::aligned::Aligned;
use crate::dispatch::run_fused;
use crate::fused::{Fused, FusedLoop};
use crate::prefetch::prefetch;

/// Number of rows per pass, which is small enough for the rows to stay in the cache.
const BLOCK: usize = 32;
/// Number of rows of the sum that are kept in registers.
const REGISTER_ROWS: usize = 4;
/// Rows are padded to whole vectors, which have 2, 4 or 8 numbers.
const WIDEST: usize = 8;

/// Computes the lower half of `out += factors[i] x x'` for each row x in order. The `rows` have length `dim`. Row i of
/// the sum begins at index `i * stride` of `out`. Each entry is summed independently of the others: (factor x_i) x_j is
/// added row by row, with a single rounding for the product and the sum.
///
/// # Panics
/// Panics if the number of factors differs from the number of rows, or if `out` is too short.
///
/// ```
/// let mut sum = [0.0, 9.0, 1.0, 0.0];
/// halfspaces_kernels::add_outer(&[1.0, 2.0, 3.0, 4.0], 2, &[1.0, -1.0], &mut sum, 2);
/// assert_eq!(sum, [-8.0, 9.0, -9.0, -12.0]);
/// ```
pub fn add_outer(rows: &[f64], dim: usize, factors: &[f64], out: &mut [f64], stride: usize) {
    assert_eq!(rows.len(), factors.len() * dim, "a row has one factor");
    assert!(dim <= stride && dim * stride <= out.len(), "a row of the sum for each coordinate");
    if dim == 0 {
        return;
    }
    let width = dim.next_multiple_of(WIDEST);
    // A row of the sum consists of whole vectors, so it has entries beyond the diagonal, which are not used.
    let mut sum = vec![0.0; dim * width];
    for (i, (sum, out)) in sum.chunks_exact_mut(width).zip(out.chunks(stride)).enumerate() {
        sum[..=i].copy_from_slice(&out[..=i]);
    }
    let sum = run_fused(AddOuter { rows, dim, factors, sum });
    for (i, (sum, out)) in sum.chunks_exact(width).zip(out.chunks_mut(stride)).enumerate() {
        out[..=i].copy_from_slice(&sum[..=i]);
    }
}

struct AddOuter<'a> {
    rows: &'a [f64],
    dim: usize,
    factors: &'a [f64],
    /// The padded rows of the sum.
    sum: Vec<f64>,
}

impl FusedLoop for AddOuter<'_> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn run<F: Fused>(self, f: F) -> Vec<f64> {
        let AddOuter { rows, dim, factors, mut sum } = self;
        let width = dim.next_multiple_of(WIDEST);
        let mut filled = Aligned::from(vec![0.0; BLOCK * width].as_slice());
        let mut scaled = Aligned::from(&*filled);
        // The sums occupy all but a few registers.
        let most = if F::LANES == WIDEST { 4 } else { 2 };
        let mut coming = rows.chunks(BLOCK * dim).skip(1);
        for (rows, factors) in rows.chunks(BLOCK * dim).zip(factors.chunks(BLOCK)) {
            for (filled, x) in filled.chunks_exact_mut(width).zip(rows.chunks_exact(dim)) {
                filled[..dim].copy_from_slice(x);
            }
            // This is a separate loop, because a vector can be read only after all of its separately written parts have
            // reached the cache.
            let to = filled.chunks_exact(width).zip(scaled.chunks_exact_mut(width));
            for ((filled, scaled), factor) in to.zip(factors) {
                let factor = f.splat(*factor);
                let vectors = filled.chunks_exact(F::LANES).zip(scaled.chunks_exact_mut(F::LANES));
                for (x, scaled) in vectors {
                    f.store(f.mul(factor, f.load(x)), scaled);
                }
            }
            let end = factors.len() * width;
            // Prefetches the next rows in small parts during these additions.
            let mut coming = coming.next().unwrap_or_default().chunks(REGISTER_ROWS * BLOCK);
            for (first, sum) in
                (0..dim).step_by(REGISTER_ROWS).zip(sum.chunks_mut(REGISTER_ROWS * width))
            {
                prefetch(coming.next().unwrap_or_default());
                let pass = Pass { filled: &filled[..end], scaled: &scaled[first..end], width };
                // Includes the vectors up to the diagonal entry in the last of these rows.
                let vectors = (first + sum.len() / width).div_ceil(F::LANES);
                for vector in (0..vectors).step_by(most) {
                    let column = vector * F::LANES;
                    match most.min(vectors - vector) {
                        1 => pass.over::<F, 1>(f, column, sum),
                        2 => pass.over::<F, 2>(f, column, sum),
                        3 => pass.over::<F, 3>(f, column, sum),
                        _ => pass.over::<F, 4>(f, column, sum),
                    }
                }
            }
        }
        sum
    }
}

/// A block of rows that is added to a few rows of the sum.
struct Pass<'a> {
    filled: &'a [f64],
    /// The rows multiplied by their factors, starting at the coordinate of the first row of the sum.
    scaled: &'a [f64],
    width: usize,
}

impl Pass<'_> {
    /// Adds the block to `N` vectors of columns, starting at column `from`.
    #[inline(always)]
    fn over<F: Fused, const N: usize>(&self, f: F, from: usize, sum: &mut [f64]) {
        let mut sums = [[f.splat(0.0); N]; REGISTER_ROWS];
        for (registers, row) in sums.iter_mut().zip(sum.chunks_exact(self.width)) {
            *registers = vectors(f, &row[from..]);
        }
        let scaled = self.scaled.chunks(self.width);
        for (x, scaled) in self.filled.chunks_exact(self.width).zip(scaled) {
            let columns: [_; N] = vectors(f, &x[from..]);
            for (sums, scaled) in sums.iter_mut().zip(&scaled[..REGISTER_ROWS]) {
                let scaled = f.splat(*scaled);
                for (sum, x) in sums.iter_mut().zip(columns) {
                    *sum = f.mul_add(scaled, x, *sum);
                }
            }
        }
        for (registers, row) in sums.iter().zip(sum.chunks_exact_mut(self.width)) {
            for (vector, to) in registers.iter().zip(row[from..].chunks_exact_mut(F::LANES)) {
                f.store(*vector, to);
            }
        }
    }
}

/// The first `N` vectors of `values`.
#[inline(always)]
fn vectors<F: Fused, const N: usize>(f: F, values: &[f64]) -> [F::Vector; N] {
    let values = &values[..N * F::LANES];
    let mut vectors = [f.splat(0.0); N];
    for (vector, values) in vectors.iter_mut().zip(values.chunks_exact(F::LANES)) {
        *vector = f.load(values);
    }
    vectors
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::tests::{fused_on_all, numbers};
    use proptest::prelude::*;

    fn bits(values: &[f64]) -> Vec<u64> {
        values.iter().map(|v| v.to_bits()).collect()
    }

    proptest! {
        /// Every entry is compared. Values above the diagonal, between the rows and past the end of the sum stay
        /// unchanged.
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
                    (0..=i).for_each(|j| {
                        let entry = &mut expected[i * stride + j];
                        *entry = (factor * x[i]).mul_add(x[j], *entry);
                    });
                }
            }
            // Pads the rows of the sum, as the loops expect.
            let width = dim.next_multiple_of(WIDEST);
            let mut filled = vec![0.0; dim * width];
            for (to, row) in filled.chunks_exact_mut(width).zip(sum.chunks(stride)) {
                to[..dim].copy_from_slice(&row[..dim]);
            }
            for sum in fused_on_all(|| AddOuter { rows, dim, factors, sum: filled.clone() }) {
                for i in 0..dim {
                    let expected = &expected[i * stride..=i * stride + i];
                    prop_assert_eq!(bits(&sum[i * width..=i * width + i]), bits(expected));
                }
            }
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
