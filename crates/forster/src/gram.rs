//! The weighted sum Σ s u uᵀ over the rows u of a tile ([`crate::tile`]), each with a scale s.
//!
//! Each vector of u is multiplied by s once, and then by several coordinates of u. The number of these coordinates is
//! limited by the registers that hold the sums.

use crate::tile::{LANES, padded};
use halfspaces_linalg::kernels::{Fused, FusedLoop};

/// Maximum number of coordinates that are multiplied by one vector if vectors have [`LANES`] numbers and there are 32
/// registers. If there are fewer coordinates, their number is rounded up to a multiple of four.
const MANY: usize = 24;
/// Maximum number of coordinates that are multiplied by two vectors if vectors are shorter and there are 16 registers.
/// If there are fewer coordinates, their number is rounded up to a multiple of two.
const FEW: usize = 6;

/// Adds the lower half of Σ s u uᵀ (and parts of the upper half) to `m`, whose rows are as long as those of a tile.
#[inline(always)]
pub(crate) fn add_gram<F: Fused>(f: F, u: &[f64], scales: &[f64], dim: usize, m: &mut [f64]) {
    assert_eq!(u.len() / padded(dim), scales.len(), "a row has one scale");
    if F::LANES == LANES {
        for first in (0..dim).step_by(LANES) {
            for top in (first..dim).step_by(MANY) {
                let at = Corner { dim, top, first };
                match MANY.min(dim - top).div_ceil(4) {
                    1 => add_block::<F, 4, 1>(f, u, scales, at, m),
                    2 => add_block::<F, 8, 1>(f, u, scales, at, m),
                    3 => add_block::<F, 12, 1>(f, u, scales, at, m),
                    4 => add_block::<F, 16, 1>(f, u, scales, at, m),
                    5 => add_block::<F, 20, 1>(f, u, scales, at, m),
                    _ => add_block::<F, MANY, 1>(f, u, scales, at, m),
                }
            }
        }
    } else {
        for first in (0..dim).step_by(2 * F::LANES) {
            for top in (first..dim).step_by(FEW) {
                let at = Corner { dim, top, first };
                match (FEW.min(dim - top).div_ceil(2), dim - first > F::LANES) {
                    (1, true) => add_block::<F, 2, 2>(f, u, scales, at, m),
                    (2, true) => add_block::<F, 4, 2>(f, u, scales, at, m),
                    (_, true) => add_block::<F, FEW, 2>(f, u, scales, at, m),
                    (1, false) => add_block::<F, 2, 1>(f, u, scales, at, m),
                    (_, false) => add_block::<F, 4, 1>(f, u, scales, at, m),
                }
            }
        }
    }
}

/// The position of a block in the sum.
#[derive(Clone, Copy)]
struct Corner {
    dim: usize,
    top: usize,
    first: usize,
}

/// Multiplies R coordinates of u, starting with coordinate `top`, by V vectors of u, starting with column `first`, and
/// adds the sums to `m`.
#[inline(always)]
fn add_block<F: Fused, const R: usize, const V: usize>(
    f: F,
    u: &[f64],
    scales: &[f64],
    at: Corner,
    m: &mut [f64],
) {
    let Corner { dim, top, first } = at;
    let (stride, width) = (padded(dim), V * F::LANES);
    let mut sums = [[f.splat(0.0); V]; R];
    for (u, scale) in u.chunks_exact(stride).zip(scales) {
        let scale = f.splat(*scale);
        let (columns, coordinates) = (&u[first..first + width], &u[top..top + R]);
        let mut vectors = [scale; V];
        for (v, vector) in vectors.iter_mut().enumerate() {
            *vector = f.mul(scale, f.load(&columns[v * F::LANES..]));
        }
        for (sums, coordinate) in sums.iter_mut().zip(coordinates) {
            let coordinate = f.splat(*coordinate);
            for (sum, vector) in sums.iter_mut().zip(&vectors) {
                *sum = f.mul_add(coordinate, *vector, *sum);
            }
        }
    }
    for (r, sums) in sums.iter().enumerate() {
        // The coordinates beyond the dimension are zero, and the sum has no rows for them.
        if top + r < dim {
            let m = &mut m[(top + r) * stride + first..][..width];
            for (v, sum) in sums.iter().enumerate() {
                let m = &mut m[v * F::LANES..];
                f.store(f.add(f.load(m), *sum), m);
            }
        }
    }
}

/// Runs [`add_gram`] as a separate loop.
pub(crate) struct AddGram<'a> {
    pub(crate) u: &'a [f64],
    pub(crate) scales: &'a [f64],
    pub(crate) dim: usize,
    pub(crate) m: &'a mut [f64],
}

impl FusedLoop for AddGram<'_> {
    type Output = ();

    #[inline(always)]
    fn run<F: Fused>(self, f: F) {
        add_gram(f, self.u, self.scales, self.dim, self.m);
    }
}
