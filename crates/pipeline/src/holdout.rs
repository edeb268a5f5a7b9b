//! The hold-out rule: which rows are learned from, and which measure the error.

use halfspaces_linalg::rand::seq::SliceRandom;
use halfspaces_linalg::{RngStream, rng_for};

/// From this many rows on a tenth is held out, within the bounds below; of fewer rows a twentieth.
const LARGE: usize = 5000;
const LARGE_SHARE: f64 = 0.1;
const SMALL_SHARE: f64 = 0.05;
const MIN_LARGE: usize = 1500;
const MAX_HELD_OUT: usize = 20_000;

/// Rows learned from and rows held out, at random, each in their order. Without a share a twentieth is held out; from
/// 5000 rows on a tenth, at least 1500 rows and at most 20 000. At least one row is learned from.
///
/// ```
/// let (learn, held_out) = halfspaces_pipeline::split(100, None, 1);
/// assert_eq!((learn.len(), held_out.len()), (95, 5));
/// ```
#[must_use]
pub fn split(rows: usize, share: Option<f64>, seed: u64) -> (Vec<usize>, Vec<usize>) {
    let held_out = match share {
        Some(share) => (share * rows as f64).round() as usize,
        None if rows < LARGE => (SMALL_SHARE * rows as f64).round() as usize,
        None => ((LARGE_SHARE * rows as f64).round() as usize).clamp(MIN_LARGE, MAX_HELD_OUT),
    };
    let mut order: Vec<usize> = (0..rows).collect();
    order.shuffle(&mut rng_for(RngStream::TableRows, seed));
    let mut learn = order.split_off(held_out.min(rows.saturating_sub(1)));
    learn.sort_unstable();
    order.sort_unstable();
    (learn, order)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_split_by_the_stated_shares() {
        for (rows, share, held_out) in [
            (100, None, 5),
            (4999, None, 250),
            (5000, None, 1500),
            (30_000, None, 3000),
            (1_000_000, None, 20_000),
            (10, Some(0.25), 3),
            (10, Some(0.0), 0),
            (2, Some(0.99), 1),
        ] {
            let (learn, held) = split(rows, share, 1);
            assert_eq!(held.len(), held_out, "{rows}");
            let mut all = [learn, held].concat();
            all.sort_unstable();
            assert!(all.into_iter().eq(0..rows));
        }
        assert_ne!(split(100, None, 1), split(100, None, 2));
    }
}
