//! Weighted sums of consecutive rows.

use crate::dispatch::dispatch;
use crate::plain::LANES;
use crate::vectors::{Blocks, Kernel, Vectors};

/// Number of blocks of the sum that are kept in registers.
const REGISTER_BLOCKS: usize = 8;

/// Computes `out += factors[i] x` for each row x in order, over the first `out.len()` coordinates of the row. Row i
/// begins at index `i * width` of `rows`.
///
/// # Panics
/// Panics if a row is shorter than `out`, or if there are fewer rows than factors.
///
/// ```
/// let mut sum = [1.0, 0.0];
/// halfspaces_kernels::add_rows(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 3, &[1.0, -1.0], &mut sum);
/// assert_eq!(sum, [-2.0, -3.0]);
/// ```
#[inline]
pub fn add_rows(rows: &[f64], width: usize, factors: &[f64], out: &mut [f64]) {
    assert!(out.len() <= width, "a row has at least as many coordinates as the sum");
    assert!(factors.len() * width <= rows.len(), "one row for each factor");
    if !out.is_empty() && !factors.is_empty() {
        dispatch(AddRows { rows, width, factors, out });
    }
}

struct AddRows<'a> {
    rows: &'a [f64],
    width: usize,
    factors: &'a [f64],
    out: &'a mut [f64],
}

impl Kernel for AddRows<'_> {
    type Output = ();

    /// Computes the sum in parts that fit into registers. Each part requires a pass over all rows.
    #[inline(always)]
    fn run<V: Vectors>(self, v: V) {
        let AddRows { rows, width, factors, out } = self;
        for (part, out) in out.chunks_mut(REGISTER_BLOCKS * LANES).enumerate() {
            // A row has at least as many coordinates as `out`, so the first row reaches beyond the start of this part.
            let rows = factors.iter().zip(rows[part * REGISTER_BLOCKS * LANES..].chunks(width));
            let len = out.len();
            match len.div_ceil(LANES) {
                1 => in_registers::<V, 1>(v, rows, len, out),
                2 => in_registers::<V, 2>(v, rows, len, out),
                3 => in_registers::<V, 3>(v, rows, len, out),
                4 => in_registers::<V, 4>(v, rows, len, out),
                5 => in_registers::<V, 5>(v, rows, len, out),
                6 => in_registers::<V, 6>(v, rows, len, out),
                7 => in_registers::<V, 7>(v, rows, len, out),
                _ => in_registers::<V, REGISTER_BLOCKS>(v, rows, len, out),
            }
        }
    }
}

/// Adds all rows to one part, which has `BLOCKS` blocks. The last block may be padded.
#[inline(always)]
fn in_registers<'a, V: Vectors, const BLOCKS: usize>(
    v: V,
    rows: impl Iterator<Item = (&'a f64, &'a [f64])>,
    len: usize,
    out: &mut [f64],
) {
    let mut sums = v.hold::<BLOCKS>(out);
    for (c, row) in rows {
        let c = v.splat(*c);
        for (sum, x) in sums.iter_mut().zip(v.hold::<BLOCKS>(&row[..len])) {
            *sum = v.add_product(*sum, c, x);
        }
    }
    v.release(sums, out);
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
        #[test]
        fn sums_are_those_of_the_plain_loop(
            width in prop_oneof![1..80usize, 1..300usize],
            share in 0.0..=1.0f64,
            begins in 0..9usize,
            values in numbers(3000),
            factors in numbers(40),
            sum in numbers(320),
        ) {
            let (rows, len) = (&values[begins..], (share * width as f64) as usize);
            let factors = &factors[..factors.len().min(rows.len() / width)];
            let mut expected = sum.clone();
            for (c, row) in factors.iter().zip(rows.chunks_exact(width)) {
                expected[begins..][..len].iter_mut().zip(row).for_each(|(sum, x)| *sum += c * x);
            }
            let ends = on_all(|set| {
                // Values before and after the sum must stay unchanged.
                let mut sum = sum.clone();
                if len > 0 && !factors.is_empty() {
                    set.run(AddRows { rows, width, factors, out: &mut sum[begins..][..len] });
                }
                bits(&sum)
            });
            prop_assert!(ends.iter().all(|end| *end == bits(&expected)));
            let mut whole = sum.clone();
            add_rows(rows, width, factors, &mut whole[begins..][..len]);
            prop_assert_eq!(bits(&whole), bits(&expected));
        }
    }

    #[test]
    #[should_panic(expected = "as many coordinates")]
    fn a_sum_longer_than_its_rows_is_refused() {
        add_rows(&[1.0; 4], 2, &[1.0], &mut [0.0; 3]);
    }

    #[test]
    #[should_panic(expected = "one row for each factor")]
    fn a_factor_without_a_row_is_refused() {
        add_rows(&[1.0; 3], 2, &[1.0, 1.0], &mut [0.0; 2]);
    }
}
