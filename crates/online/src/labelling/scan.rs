//! Scans of a whole pool. Part of the model of `LabellingSession`. Claims: S10, S10n, S10s, S10c.

use super::change::Change;
use super::features::Features;
use halfspaces_linalg::Threads;
use halfspaces_linalg::kernels::{Wide, run_wide};

/// Number of points that a thread processes at a time.
const BLOCK: usize = 2048;
const LANES: usize = 8;

/// The inner product of `f32` and `f64` values, computed in running sums that are added in a fixed order.
#[inline(always)]
fn dot(row: &[f32], w: &[f64]) -> f64 {
    let n = row.len().min(w.len());
    let (a, a_rest) = row[..n].as_chunks::<LANES>();
    let (b, b_rest) = w[..n].as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for (x, y) in a.iter().zip(b) {
        for ((s, x), y) in sums.iter_mut().zip(x).zip(y) {
            *s += f64::from(*x) * y;
        }
    }
    for ((s, x), y) in sums.iter_mut().zip(a_rest).zip(b_rest) {
        *s += f64::from(*x) * y;
    }
    ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]))
}

struct Products<'a> {
    rows: &'a [f32],
    width: usize,
    changes: &'a [(&'a Change, Option<(usize, usize)>)],
    out: &'a mut [f64],
}

impl Wide for Products<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let rows = self.rows.chunks_exact(self.width);
        for (row, out) in rows.zip(self.out.chunks_exact_mut(self.changes.len())) {
            for ((change, block), out) in self.changes.iter().zip(out) {
                *out = dot(row, &change.head);
                if let (Some((begin, end)), Some((_, w))) = (block, &change.kernel) {
                    *out += dot(&row[*begin..*end], w);
                }
            }
        }
    }
}

/// Computes φ · Σφ_x of every point for every change, point by point. The result is the same, bit for bit, for any
/// number of threads.
pub(super) fn products(features: &Features, changes: &[Change], threads: Threads) -> Vec<f64> {
    let width = features.width();
    let changes: Vec<_> = changes
        .iter()
        .map(|change| (change, change.kernel.as_ref().map(|(k, _)| features.block(*k))))
        .collect();
    let mut out = vec![0.0; features.len() * changes.len()];
    let tasks = features.rows().chunks(BLOCK * width).zip(out.chunks_mut(BLOCK * changes.len()));
    threads.map_with(
        tasks,
        || (),
        |(), (rows, out)| run_wide(Products { rows, width, changes: &changes, out }),
    );
    out
}
