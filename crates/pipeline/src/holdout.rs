//! The hold-out rule, which splits a table into rows to fit and held-out rows, on which the error is measured.

use crate::streams;
use halfspaces_linalg::rand::seq::SliceRandom;
use halfspaces_linalg::rng_for;
use halfspaces_tables::default_hold_out;

/// Splits row numbers at random into rows to fit and held-out rows, each in ascending order.
///
/// Without a `share`, a twentieth of the rows is held out. If there are at least 5000 rows, a tenth is held out, but at
/// least 1500 and at most 20 000 rows. At least one row is left to fit.
///
/// ```
/// let (learn, held_out) = halfspaces_pipeline::split(100, None, 1);
/// assert_eq!((learn.len(), held_out.len()), (95, 5));
/// ```
#[must_use]
pub fn split(rows: usize, share: Option<f64>, seed: u64) -> (Vec<usize>, Vec<usize>) {
    let held_out = match share {
        Some(share) => (share * rows as f64).round() as usize,
        None => default_hold_out(rows),
    };
    let mut order: Vec<usize> = (0..rows).collect();
    order.shuffle(&mut rng_for(streams::HOLD_OUT, seed));
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
            (4999, None, 249),
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
