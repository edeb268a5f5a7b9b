//! The plain inner product, whose rounding is the reference for all other loops.

/// Number of independent running sums. Eight doubles fill one AVX-512, two AVX or four SSE registers, and eight
/// independent sums break the chain of dependent additions.
pub const LANES: usize = 8;

/// Number of single-precision values that fill the same number of bytes as [`LANES`] doubles.
pub const SINGLE_LANES: usize = 2 * LANES;

/// Adds the running sums in their fixed order.
#[inline(always)]
#[must_use]
pub fn add_lanes(s: [f64; LANES]) -> f64 {
    ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
}

/// Inner product of two slices. If the lengths differ, the longer slice is truncated.
///
/// ```
/// assert_eq!(halfspaces_kernels::dot(&[1.0, 2.0], &[3.0, 4.0]), 11.0);
/// ```
// Always inlined, so that the product uses wide vectors if the caller is compiled for them.
#[inline(always)]
#[must_use]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    let n = a.len().min(b.len());
    let (a_blocks, a_rest) = a[..n].as_chunks::<LANES>();
    let (b_blocks, b_rest) = b[..n].as_chunks::<LANES>();
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
