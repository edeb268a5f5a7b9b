//! Conversion of points to rows, without zero and repeated points.
//!
//! Points that are multiples of the same point, including negative multiples, are merged, and their weights are added.
//! Multiples are detected exactly, up to the rounding error of dividing x by its largest entry. Merging changes only
//! the running time, not the result. If there are no multiples, no zeros, and no lengths outside [1e-100, 1e100], the
//! points are read in place; otherwise they are copied. Lengths are changed only by powers of two, so no bit of a
//! direction changes.

use crate::error::ForsterError;
use crate::pass::Rows;
use crate::tile::LANES;
use halfspaces_linalg::kernels::{Wide, run_wide};
use halfspaces_linalg::{DensePoints, InputError, PointSet, Threads, zeros};
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rustc_hash::FxBuildHasher;
use std::borrow::Cow;
use std::hash::BuildHasher;

/// Range of a weight: wide, but narrow enough that sums of weights and their products with dimensions stay finite.
pub(crate) const WEIGHT_RANGE: std::ops::RangeInclusive<f64> = 1e-100..=1e100;
/// Range of the largest entry of a row that is not rescaled.
const MODERATE: std::ops::RangeInclusive<f64> = 1e-100..=1e100;
/// Rows outside the range [`MODERATE`] are multiplied or divided by this number, 2^300, until they are within it.
const RESCALE: f64 = 2.037_035_976_334_486e90;

/// Number of rows that a thread processes at a time.
const SURVEYED: usize = 4096;
/// Number of hash tables that are searched for equal directions. One thread fills each table.
const SHARDS: usize = 4;

/// The distinct directions of a set of points.
#[derive(Debug)]
pub(crate) struct Prepared<'a> {
    pub(crate) rows: Rows<'a>,
    /// For every point, the index of its row; `None` for a zero point.
    pub(crate) row_of: Vec<Option<usize>>,
}

impl<'a> Prepared<'a> {
    pub(crate) fn new(
        points: &'a DensePoints<'_>,
        weights: Option<&[f64]>,
        threads: Threads,
    ) -> Result<Prepared<'a>, ForsterError> {
        let (n, dim) = (points.len(), points.dim());
        if n == 0 {
            return Err(InputError::Empty.into());
        }
        check_weights(n, weights)?;
        let x = points.as_slice();
        let mix = mixture(dim);
        let mut signatures = vec![Signature { key: 0, largest: 0.0 }; n];
        let moderate = threads.map_with(
            x.chunks(SURVEYED * dim).zip(signatures.chunks_mut(SURVEYED)),
            || (),
            |(), (x, signatures)| run_wide(Survey { x, mix: &mix, signatures }),
        );
        let moderate = moderate.into_iter().all(|moderate| moderate);

        let shards =
            threads.map_with(0..SHARDS, || (), |(), shard| repetitions(x, dim, &signatures, shard));
        let mut repeated = shards.concat();
        repeated.sort_unstable();
        let mut repeated = repeated.into_iter().peekable();
        // Rows keep the order of their first appearance.
        let mut row_of = Vec::with_capacity(n);
        let (mut firsts, mut merged) = (Vec::with_capacity(n), Vec::with_capacity(n));
        for (i, signature) in signatures.iter().enumerate() {
            if signature.largest <= 0.0 {
                row_of.push(None);
                continue;
            }
            let weight = weights.map_or(1.0, |weights| weights[i]);
            let place = match repeated.next_if(|(point, _)| *point == i) {
                Some((_, first)) => {
                    let Some(place) = row_of[first] else {
                        unreachable!(
                            "a repeated point and the first point that it repeats are non-zero"
                        )
                    };
                    merged[place] += weight;
                    place
                }
                None => {
                    firsts.push(i);
                    merged.push(weight);
                    firsts.len() - 1
                }
            };
            row_of.push(Some(place));
        }
        if firsts.is_empty() {
            return Err(ForsterError::NoDirection { points: n });
        }
        let values = if firsts.len() == n && moderate {
            Cow::Borrowed(x)
        } else {
            let mut values = zeros(firsts.len(), dim)?;
            for (row, &first) in values.chunks_exact_mut(dim).zip(&firsts) {
                row.copy_from_slice(&x[first * dim..(first + 1) * dim]);
                rescale(row);
            }
            Cow::Owned(values)
        };
        let total = merged.iter().sum();
        Ok(Prepared { rows: Rows { values, dim, weights: merged, total }, row_of })
    }

    /// The indices of the zero points.
    pub(crate) fn zero_rows(&self) -> Vec<usize> {
        self.row_of.iter().zip(0..).filter(|(row, _)| row.is_none()).map(|(_, i)| i).collect()
    }
}

/// The points of a shard that are multiples of an earlier point, each with the index of the first such point. Equal
/// directions are in the same shard.
fn repetitions(
    x: &[f64],
    dim: usize,
    signatures: &[Signature],
    shard: usize,
) -> Vec<(usize, usize)> {
    let mut firsts: HashTable<usize> = HashTable::with_capacity(signatures.len() / SHARDS);
    let mut repeated = Vec::new();
    for (i, signature) in signatures.iter().enumerate() {
        let hash = signature.hash();
        // The shard depends on bits of the hash that the table does not use to choose its slots.
        if (hash >> 32) as usize % SHARDS != shard || signature.largest <= 0.0 {
            continue;
        }
        let same = |first: &usize| is_multiple(x, dim, signatures, i, *first);
        match firsts.entry(hash, same, |first| signatures[*first].hash()) {
            Entry::Occupied(first) => repeated.push((i, *first.get())),
            Entry::Vacant(new) => {
                new.insert(i);
            }
        }
    }
    repeated
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

/// Multiplies a row by powers of two until its largest entry is neither huge nor tiny. Entries that underflow are
/// smaller than the rounding error of the row.
pub(crate) fn rescale(row: &mut [f64]) {
    loop {
        let largest = largest_size(row);
        if MODERATE.contains(&largest) || largest <= 0.0 {
            return;
        }
        let scale = if largest > 1.0 { RESCALE.recip() } else { RESCALE };
        row.iter_mut().for_each(|v| *v *= scale);
    }
}

/// Whether the length of a row is neither huge nor tiny.
pub(crate) fn is_moderate(row: &[f64]) -> bool {
    MODERATE.contains(&largest_size(row))
}

/// The largest absolute value |x_j|, computed for eight columns at a time.
#[inline(always)]
pub(crate) fn largest_size(x: &[f64]) -> f64 {
    let (blocks, rest) = x.as_chunks::<LANES>();
    let mut sizes = [0.0f64; LANES];
    let raise = |size: &mut f64, v: &f64| *size = if v.abs() > *size { v.abs() } else { *size };
    for block in blocks {
        sizes.iter_mut().zip(block).for_each(|(size, v)| raise(size, v));
    }
    sizes.iter_mut().zip(rest).for_each(|(size, v)| raise(size, v));
    sizes.into_iter().fold(0.0, f64::max)
}

/// A key that all multiples of a point share, and the largest absolute entry of the point.
#[derive(Debug, Clone, Copy)]
struct Signature {
    /// The bits of |Σ m_j x_j/max|x||, which is rounded identically for all multiples of a point.
    key: u64,
    /// max|x|; 0 for a zero point.
    largest: f64,
}

impl Signature {
    fn hash(self) -> u64 {
        FxBuildHasher.hash_one(self.key)
    }
}

/// Computes the signatures of all rows, and determines whether all lengths are neither huge nor tiny. Like the loops
/// over a tile, this loop is compiled for several vector instruction sets, with the same result.
struct Survey<'a> {
    x: &'a [f64],
    mix: &'a [f64],
    signatures: &'a mut [Signature],
}

impl Wide for Survey<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let (mix, mix_rest) = self.mix.as_chunks::<LANES>();
        let mut moderate = true;
        for (x, signature) in self.x.chunks_exact(self.mix.len()).zip(self.signatures) {
            let largest = largest_size(x);
            moderate &= MODERATE.contains(&largest);
            let mut sums = [0.0; LANES];
            let (x, x_rest) = x.as_chunks::<LANES>();
            for (x, mix) in x.iter().zip(mix) {
                let terms = x.iter().zip(mix).map(|(x, m)| x / largest * m);
                sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
            }
            let rest: f64 = x_rest.iter().zip(mix_rest).map(|(x, m)| x / largest * m).sum();
            let key = (sums.into_iter().sum::<f64>() + rest).abs().to_bits();
            *signature = Signature { key, largest };
        }
        moderate
    }
}

/// Pseudo-random numbers in [1, 2) from SplitMix64. Sums weighted by these numbers hardly ever coincide.
fn mixture(dim: usize) -> Vec<f64> {
    let mut state = 0u64;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        f64::from_bits((z ^ (z >> 31)) >> 12 | 1f64.to_bits())
    };
    (0..dim).map(|_| next()).collect()
}

/// Whether rows `i` and `j`, divided by their largest entries, are equal or opposite.
fn is_multiple(x: &[f64], dim: usize, signatures: &[Signature], i: usize, j: usize) -> bool {
    let (a, b) = (signatures[i], signatures[j]);
    if a.key != b.key {
        return false;
    }
    let over = |i: usize, size: f64| x[i * dim..(i + 1) * dim].iter().map(move |v| v / size);
    let differ = |sign: f64| {
        let pairs = over(i, a.largest).zip(over(j, b.largest));
        pairs.into_iter().any(|(a, b)| (a - sign * b).abs() > 0.0)
    };
    !differ(1.0) || !differ(-1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_linalg::Points;

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
        let prepared = Prepared::new(&points, Some(&weights), Threads::ONE).unwrap();
        assert_eq!(prepared.row_of, [Some(0), None, Some(0), Some(1), Some(0), Some(1)]);
        assert_eq!(prepared.zero_rows(), [1]);
        assert_eq!(prepared.rows.weights, [11.0, 4.5]);
        assert_eq!(prepared.rows.total, 15.5);
        assert_eq!(
            (prepared.rows.row(0), prepared.rows.row(1)),
            (&[1.0, 3.0][..], &[0.0, -2.0][..])
        );
    }

    #[test]
    fn rows_are_read_where_they_are_unless_huge_or_repeated() {
        let plain = Points::from_rows(&[[1.0, 3.0], [1e90, 2.0], [-3.0, 1.0]]).unwrap();
        let prepared = Prepared::new(&plain, None, Threads::ONE).unwrap();
        assert!(matches!(prepared.rows.values, Cow::Borrowed(_)));
        // Multiplication by powers of two is exact.
        let wild = Points::from_rows(&[[2f64.powi(500), -3.0], [3e-320, 2e-320]]).unwrap();
        let prepared = Prepared::new(&wild, None, Threads::ONE).unwrap();
        assert_eq!(prepared.rows.row(0), [2f64.powi(200), -3.0 * 2f64.powi(-300)]);
        assert_eq!(prepared.rows.row(1), [3e-320 * 2f64.powi(900), 2e-320 * 2f64.powi(900)]);
        assert_eq!(RESCALE, 2f64.powi(300));
    }

    /// Several parts give the same rows as one part. The last part has fewer rows, and only the first part contains a
    /// row of huge norm. Either all rows differ, or pairs of rows are equal.
    #[test]
    fn threads_survey_as_one() {
        let n = 2 * SURVEYED + 5;
        for alike in [1, 2] {
            let row = |i: usize| i / (2 * alike) * 2 + i % 2;
            let mut values: Vec<f64> = (0..2 * n).map(|i| (row(i) as f64 + 1.0).sin()).collect();
            values[0] = 1e200;
            let points = Points::new(values, 2).unwrap();
            let prepared = |threads| {
                let prepared = Prepared::new(&points, None, Threads::new(threads).unwrap());
                let Prepared { rows, row_of } = prepared.unwrap();
                (rows.values.into_owned(), rows.weights, row_of)
            };
            let one = prepared(1);
            assert!((one.1.len() < n) == (alike == 2) && one.0[0] < 1e100);
            assert!([2, 3].into_iter().all(|threads| prepared(threads) == one));
        }
    }

    #[test]
    fn vector_instructions_change_no_bit() {
        for dim in [1, 3, 8, 21] {
            let x: Vec<f64> = (0..9 * dim).map(|i| ((i * i) as f64).sin()).collect();
            let mix = mixture(dim);
            let none = Signature { key: 0, largest: 0.0 };
            let (mut dispatched, mut plain) = (vec![none; 9], vec![none; 9]);
            run_wide(Survey { x: &x, mix: &mix, signatures: &mut dispatched });
            Survey { x: &x, mix: &mix, signatures: &mut plain }.run();
            let bits = |s: &Signature| (s.key, s.largest.to_bits());
            assert!(dispatched.iter().map(bits).eq(plain.iter().map(bits)), "{dim}");
        }
    }

    #[test]
    fn keys_of_opposite_and_longer_rows_agree_and_equal_keys_decide_nothing() {
        let rows: Vec<f64> = (0..11).map(|j| (j as f64 * 0.7).sin()).collect();
        let opposite = rows.iter().map(|v| v * -4.0);
        let points = Points::new(rows.iter().copied().chain(opposite).collect(), 11).unwrap();
        assert_eq!(Prepared::new(&points, None, Threads::ONE).unwrap().row_of, [Some(0), Some(0)]);
        // Different rows that are given the same key do not count as multiples.
        let x = [1.0, 2.0, 1.0, 3.0];
        let signatures = [Signature { key: 7, largest: 2.0 }, Signature { key: 7, largest: 3.0 }];
        assert!(!is_multiple(&x, 2, &signatures, 0, 1) && is_multiple(&x, 2, &signatures, 1, 1));
    }

    #[test]
    fn bad_input_is_typed() {
        let none = Points::new(vec![], 2).unwrap();
        assert!(matches!(
            Prepared::new(&none, None, Threads::ONE),
            Err(ForsterError::Input(InputError::Empty))
        ));
        let zeros = Points::new(vec![0.0; 4], 2).unwrap();
        let error = Prepared::new(&zeros, None, Threads::ONE).unwrap_err();
        assert_eq!(error, ForsterError::NoDirection { points: 2 });
        let one = Points::new(vec![1.0, 2.0], 1).unwrap();
        let error = Prepared::new(&one, Some(&[1.0]), Threads::ONE).unwrap_err();
        assert_eq!(error, ForsterError::WeightCount { points: 2, weights: 1 });
        for weight in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e101] {
            let error = Prepared::new(&one, Some(&[1.0, weight]), Threads::ONE).unwrap_err();
            assert!(matches!(error, ForsterError::Weight { row: 1, .. }));
        }
    }
}
