//! From points as given to rows of common size, without zeros and without repetitions.
//!
//! A row is divided by its entry of largest size, sign included: norms of 1e±150 lose nothing, and
//! exact multiples of one point, negative ones too, become the same row to the bit. Such rows are
//! merged and their weights added; no result depends on it but the time.

use crate::error::ForsterError;
use crate::pass::Rows;
use faer::traits::pulp::{Arch, Simd, WithSimd};
use halfspaces_linalg::{InputError, PointSet, Points, zeros};

/// Range of a weight: wide, and sums and products of weights with dimensions stay finite.
const WEIGHT_RANGE: std::ops::RangeInclusive<f64> = 1e-100..=1e100;

/// The distinct directions among some points.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) rows: Rows,
    /// For every point the row it became; `None` for a zero point.
    pub(crate) row_of: Vec<Option<usize>>,
}

impl Prepared {
    pub(crate) fn new(points: &Points, weights: Option<&[f64]>) -> Result<Prepared, ForsterError> {
        let (n, dim) = (points.len(), points.dim());
        if n == 0 {
            return Err(InputError::Empty.into());
        }
        check_weights(n, weights)?;
        let mut values = zeros(n, dim)?;
        let mut keys = Vec::with_capacity(n);
        let rows = values.chunks_exact_mut(dim).zip(points.as_slice().chunks_exact(dim));
        for (i, (row, x)) in rows.enumerate() {
            if let Some(hash) = canonical(x, row) {
                keys.push((hash, i));
            }
        }
        if keys.is_empty() {
            return Err(ForsterError::NoDirection { points: n });
        }
        let representative = representatives(n, &mut keys, &values, dim);

        // Rows keep the order of their first appearance; each moves up to its place.
        let mut row_of = vec![None; n];
        let mut merged: Vec<f64> = Vec::with_capacity(keys.len());
        for (i, first) in representative.iter().enumerate() {
            let Some(first) = *first else { continue };
            let weight = weights.and_then(|w| w.get(i)).copied().unwrap_or(1.0);
            let known = row_of.get(first).copied().flatten();
            let place = known.unwrap_or(merged.len());
            row_of[i] = Some(place);
            match merged.get_mut(place) {
                Some(sum) => *sum += weight,
                None => {
                    merged.push(weight);
                    if place != i {
                        values.copy_within(i * dim..(i + 1) * dim, place * dim);
                    }
                }
            }
        }
        values.truncate(merged.len() * dim);
        let total = merged.iter().sum();
        Ok(Prepared { rows: Rows { values, dim, weights: merged, total }, row_of })
    }

    /// The zero points.
    pub(crate) fn zero_rows(&self) -> Vec<usize> {
        self.row_of.iter().zip(0..).filter(|(row, _)| row.is_none()).map(|(_, i)| i).collect()
    }
}

pub(crate) fn check_weights(n: usize, weights: Option<&[f64]>) -> Result<(), ForsterError> {
    let Some(weights) = weights else { return Ok(()) };
    if weights.len() != n {
        return Err(ForsterError::WeightCount { points: n, weights: weights.len() });
    }
    match weights.iter().position(|w| !WEIGHT_RANGE.contains(w)) {
        Some(row) => Err(ForsterError::Weight { row, weight: weights[row] }),
        None => Ok(()),
    }
}

/// Writes x over the size of its largest entry; that size, 0 for a zero point, for which nothing is
/// written. As the loops of a pass it is compiled for several vector instructions, with the same result.
pub(crate) struct OverLargest<'a> {
    pub(crate) x: &'a [f64],
    pub(crate) out: &'a mut [f64],
}

impl WithSimd for OverLargest<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> f64 {
        let largest = largest_size(self.x);
        if largest > 0.0 {
            self.out.iter_mut().zip(self.x).for_each(|(out, x)| *out = x / largest);
        }
        largest
    }
}

/// max |x_j|, eight columns side by side.
#[inline(always)]
fn largest_size(x: &[f64]) -> f64 {
    let (blocks, rest) = x.as_chunks::<8>();
    let mut sizes = [0.0f64; 8];
    let raise = |size: &mut f64, v: &f64| *size = if v.abs() > *size { v.abs() } else { *size };
    for block in blocks {
        sizes.iter_mut().zip(block).for_each(|(size, v)| raise(size, v));
    }
    sizes.iter_mut().zip(rest).for_each(|(size, v)| raise(size, v));
    sizes.into_iter().fold(0.0, f64::max)
}

/// Writes x over its entry of largest size, sign included, into `row`; a hash of it, or `None` for a
/// zero point.
fn canonical(x: &[f64], row: &mut [f64]) -> Option<u64> {
    if Arch::new().dispatch(OverLargest { x, out: row }) == 0.0 {
        return None;
    }
    // The entry of largest size is now 1 or -1.
    let sign = row.iter().find(|v| v.abs() >= 1.0).copied()?;
    row.iter_mut().for_each(|v| *v = *v * sign + 0.0); // -0.0 becomes 0.0
    // Four hashes side by side, so that one multiplication need not wait for the last.
    let mut hashes = [1u64, 2, 3, 4];
    let mix = |hash: &mut u64, v: &f64| {
        *hash = (hash.rotate_left(5) ^ v.to_bits()).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    };
    let (blocks, rest) = row.as_chunks::<4>();
    for block in blocks {
        hashes.iter_mut().zip(block).for_each(|(hash, v)| mix(hash, v));
    }
    hashes.iter_mut().zip(rest).for_each(|(hash, v)| mix(hash, v));
    let join = |a: u64, b: &u64| (a.rotate_left(17) ^ b).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    Some(hashes.iter().fold(0, join))
}

/// For every point the first one with the same canonical row.
fn representatives(
    n: usize,
    keys: &mut [(u64, usize)],
    values: &[f64],
    dim: usize,
) -> Vec<Option<usize>> {
    let row = |i: usize| &values[i * dim..(i + 1) * dim];
    let mut representative = vec![None; n];
    keys.sort_unstable();
    for group in keys.chunk_by(|a, b| a.0 == b.0) {
        // Rows of one hash are nearly always one row; those that are not are told apart.
        let mut firsts: Vec<usize> = Vec::new();
        for &(_, i) in group {
            let found = firsts.iter().copied().find(|first| row(*first) == row(i));
            let first = found.unwrap_or(i);
            if found.is_none() {
                firsts.push(i);
            }
            representative[i] = Some(first);
        }
    }
    representative
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multiples_merge_and_zeros_go() {
        let points = Points::from_rows(&[
            [1.0, 3.0],
            [0.0, 0.0],
            [-1e150, -3e150],
            [0.0, -2.0],
            [0.5, 1.5],
            [0.0, 1e-320],
        ])
        .unwrap();
        let weights = [1.0, 9.0, 2.0, 4.0, 8.0, 0.5];
        let prepared = Prepared::new(&points, Some(&weights)).unwrap();
        assert_eq!(prepared.row_of, [Some(0), None, Some(0), Some(1), Some(0), Some(1)]);
        assert_eq!(prepared.zero_rows(), [1]);
        assert_eq!(prepared.rows.weights, [11.0, 4.5]);
        assert_eq!(prepared.rows.total, 15.5);
        assert_eq!(prepared.rows.row(1), [0.0, 1.0]);
        assert_eq!(prepared.rows.row(0), [1.0 / 3.0, 1.0]);
    }

    #[test]
    fn rows_of_one_hash_are_told_apart() {
        let values = [1.0, 0.0, 0.5, 1.0, 1.0, 0.0];
        let found = representatives(3, &mut [(7, 0), (7, 1), (7, 2)], &values, 2);
        assert_eq!(found, [Some(0), Some(1), Some(0)]);
    }

    #[test]
    fn bad_input_is_typed() {
        let none = Points::new(vec![], 2).unwrap();
        assert!(matches!(Prepared::new(&none, None), Err(ForsterError::Input(InputError::Empty))));
        let zeros = Points::new(vec![0.0; 4], 2).unwrap();
        let error = Prepared::new(&zeros, None).unwrap_err();
        assert_eq!(error, ForsterError::NoDirection { points: 2 });
        let one = Points::new(vec![1.0, 2.0], 1).unwrap();
        let error = Prepared::new(&one, Some(&[1.0])).unwrap_err();
        assert_eq!(error, ForsterError::WeightCount { points: 2, weights: 1 });
        for weight in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e101] {
            let error = Prepared::new(&one, Some(&[1.0, weight])).unwrap_err();
            assert!(matches!(error, ForsterError::Weight { row: 1, .. }));
        }
    }
}
