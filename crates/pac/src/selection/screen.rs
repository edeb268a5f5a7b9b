//! Counts errors in single precision. Signs in doubt are computed again in double precision.

use super::mask::{ErrorMask, LANES, set};
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use halfspaces_linalg::kernels::{Wide, run_wide};
use halfspaces_linalg::{Label, Threads, kernels};

/// The number of candidates that are multiplied at once. Their product with a block of examples fits in the cache.
const TILE: usize = 256;

/// The smallest ‖w‖² for which the plain computation of 1/‖w‖ loses no precision. The largest such ‖w‖² is the
/// reciprocal of this number.
const MIN_PLAIN_NORM_SQ: f64 = 1e-200;

/// Scratch memory for values computed from the candidates, and the number of threads.
#[derive(Debug, Clone, Default)]
pub(super) struct Scratch {
    /// The candidates as unit vectors in single precision.
    unit_rows: Vec<f32>,
    pub(super) threads: Threads,
}

/// A tile of candidates and their products with a block of examples.
#[derive(Debug, Default)]
struct Tile {
    rows: Vec<f32>,
    product: Vec<f32>,
}

/// Scratch memory does not affect the equality of selectors.
impl PartialEq for Scratch {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// A block of examples (x, y): the rows y x and the labels y.
#[derive(Clone, Copy)]
pub(super) struct Block<'a> {
    pub(super) folded: &'a [f64],
    pub(super) labels: &'a [Label],
    pub(super) dim: usize,
}

impl Scratch {
    /// Adds the errors of the candidates `ids` on a block of examples to their counts and masks.
    pub(super) fn count(
        &mut self,
        candidates: &[f64],
        ids: &[usize],
        Block { folded, labels, dim }: Block<'_>,
        errors: &mut [u64],
        masks: Option<&mut [ErrorMask]>,
    ) {
        let block: Vec<f32> = folded.iter().map(|&v| v as f32).collect();
        // If there were fewer masks than candidates, the errors of the last candidates would not be counted.
        assert!(
            masks.as_ref().is_none_or(|masks| masks.len() == ids.len()),
            "one mask per candidate"
        );
        let Scratch { unit_rows, threads } = self;
        if unit_rows.len() != candidates.len() {
            unit_rows.clear();
            unit_rows.reserve(candidates.len());
            run_wide(UnitRows { candidates, dim, unit_rows });
        }
        type Masks<'m> = Option<&'m mut [ErrorMask]>;
        let of_tile = |tile: &mut Tile, (ids, masks): (&[usize], Masks<'_>)| -> Vec<u64> {
            tile.multiply(unit_rows, ids, &block, dim);
            let block = Block { folded, labels, dim };
            let row_of = |c: &usize| &candidates[c * dim..][..dim];
            let values = tile.product.chunks_exact(labels.len()).zip(ids.iter().map(row_of));
            match masks {
                Some(masks) => {
                    let values = values.zip(masks);
                    values.map(|((v, w), mask)| count_one(v, w, block, mask)).collect()
                }
                None => {
                    let mut unused = ErrorMask::default();
                    values.map(|(v, w)| count_one(v, w, block, &mut unused)).collect()
                }
            }
        };
        let size = tile_of(ids.len(), *threads);
        let tiles: Vec<(&[usize], Masks<'_>)> = match masks {
            Some(masks) => ids.chunks(size).zip(masks.chunks_mut(size).map(Some)).collect(),
            None => ids.chunks(size).map(|ids| (ids, None)).collect(),
        };
        let tiles = tiles.into_iter();
        let wrong = threads.map_with(tiles, Tile::default, of_tile);
        for (wrong, &c) in wrong.iter().flatten().zip(ids) {
            errors[c] += wrong;
        }
    }
}

/// The number of candidates per tile: at most [`TILE`], with the same number of tiles for each thread.
fn tile_of(count: usize, threads: Threads) -> usize {
    let tiles = count.div_ceil(TILE).next_multiple_of(threads.count()).max(1);
    count.div_ceil(tiles).max(TILE / 4)
}

impl Tile {
    /// Computes the products of the candidates `ids` with every example of a block, candidate by candidate.
    fn multiply(&mut self, unit_rows: &[f32], ids: &[usize], block: &[f32], dim: usize) {
        let examples = block.len() / dim;
        let consecutive = ids.windows(2).all(|pair| pair[1] == pair[0] + 1);
        let rows_of = if consecutive {
            let first = ids[0];
            &unit_rows[first * dim..(first + ids.len()) * dim]
        } else {
            self.rows.clear();
            ids.iter().for_each(|&c| self.rows.extend_from_slice(&unit_rows[c * dim..][..dim]));
            &self.rows
        };
        let z = MatRef::from_row_major_slice(block, examples, dim);
        let w = MatRef::from_row_major_slice(rows_of, ids.len(), dim);
        self.product.resize(examples * ids.len(), 0.0);
        let into = MatMut::from_column_major_slice_mut(&mut self.product, examples, ids.len());
        matmul(into, Accum::Replace, z, w.transpose(), 1.0, Par::Seq);
    }
}

/// Counts the errors of the candidate w from its single-precision products with a block of examples. Signs in doubt are
/// computed again in double precision.
fn count_one(
    values: &[f32],
    w: &[f64],
    Block { folded, labels, dim }: Block<'_>,
    mask: &mut ErrorMask,
) -> u64 {
    let doubt = single_precision_error(dim);
    let (mut wrong, doubtful) = run_wide(Screen { values, doubt, mask: &mut *mask });
    if doubtful {
        let exact = values.iter().zip(folded.chunks_exact(dim)).zip(labels);
        for (place, ((v, z), y)) in exact.enumerate() {
            if !is_clear(*v, doubt) && folded_is_wrong(kernels::dot(z, w), *y) {
                wrong += 1;
                set(mask, place, labels.len());
            }
        }
    }
    wrong
}

/// Whether a point with label y is misclassified, given the value y (w·x). The sign of 0 is +1.
fn folded_is_wrong(value: f64, y: Label) -> bool {
    match y {
        // Products that overflow may be NaN; sign(NaN) is -1.
        Label::Positive => value.is_nan() || value < 0.0,
        Label::Negative => value <= 0.0,
    }
}

/// Whether the sign of a value is certain. The sign of NaN is never certain.
#[inline(always)]
fn is_clear(value: f32, doubt: f32) -> bool {
    value.abs() > doubt
}

/// Scales rows to norm 1. The loop is compiled in the same way as [`Screen`].
struct UnitRows<'a> {
    candidates: &'a [f64],
    dim: usize,
    unit_rows: &'a mut Vec<f32>,
}

impl Wide for UnitRows<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for w in self.candidates.chunks_exact(self.dim) {
            let norm_sq = kernels::dot(w, w);
            if (MIN_PLAIN_NORM_SQ..1.0 / MIN_PLAIN_NORM_SQ).contains(&norm_sq) {
                let scale = norm_sq.sqrt().recip();
                self.unit_rows.extend(w.iter().map(|v| (v * scale) as f32));
            } else {
                let largest = w.iter().fold(0.0f64, |m, v| m.max(v.abs()));
                let scaled_norm = w.iter().map(|v| (v / largest).powi(2)).sum::<f64>().sqrt();
                let unit = |v: &f64| (v / largest / scaled_norm) as f32;
                // The zero vector becomes NaN, whose sign is always in doubt.
                self.unit_rows.extend(w.iter().map(unit));
            }
        }
    }
}

/// Counts the values that are certainly negative, and returns whether any other value is too close to 0. For each value
/// that is certainly negative, sets a bit in the mask. These bits have lower positions than the bits of earlier blocks.
struct Screen<'a> {
    values: &'a [f32],
    /// The largest absolute value at which the sign of a value is uncertain. It is at least 0.
    doubt: f32,
    mask: &'a mut ErrorMask,
}

impl Wide for Screen<'_> {
    type Output = (u64, bool);

    #[inline(always)]
    fn run(self) -> (u64, bool) {
        let Screen { values, doubt, mask } = self;
        // Non-negative floating-point numbers are ordered by their bits, so values with certain signs begin at `first`
        // and end at infinity. NaN comes after infinity. Values closer to 0 wrap around to positions after infinity.
        let first = doubt.to_bits() + 1;
        let last = f32::INFINITY.to_bits() - first;
        let (mut bits, mut furthest) = (ErrorMask::default(), [0; LANES]);
        let (chunks, rest) = values.as_chunks::<LANES>();
        // There are two loops, because the compiler does not vectorise both updates in one loop.
        for chunk in chunks {
            for (bits, v) in bits.iter_mut().zip(chunk) {
                *bits = *bits << 1 | u32::from(*v < -doubt);
            }
            for (furthest, v) in furthest.iter_mut().zip(chunk) {
                *furthest = v.abs().to_bits().wrapping_sub(first).max(*furthest);
            }
        }
        if !rest.is_empty() {
            bits.iter_mut().for_each(|lane| *lane <<= 1);
        }
        for ((bits, furthest), v) in bits.iter_mut().zip(&mut furthest).zip(rest) {
            *bits |= u32::from(*v < -doubt);
            *furthest = v.abs().to_bits().wrapping_sub(first).max(*furthest);
        }
        let depth = chunks.len() as u32 + u32::from(!rest.is_empty());
        for (kept, new) in mask.iter_mut().zip(bits) {
            *kept = kept.unbounded_shl(depth) | new;
        }
        let wrong: u32 = bits.iter().map(|lane| lane.count_ones()).sum();
        (u64::from(wrong), furthest.iter().any(|lane| *lane > last))
    }
}

/// A bound on the error of the product of a unit vector and a vector of the unit ball, if both are rounded to single
/// precision. It holds for any order of summation. It is (d + 8) 2⁻²⁴ for d products and the rounding of both factors,
/// plus the effect of underflow.
pub(super) fn single_precision_error(dim: usize) -> f32 {
    (dim + 8) as f32 * f32::EPSILON * 0.5 * 1.05 + dim as f32 * 1e-37
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Every thread has the same number of tiles.
    #[test]
    fn each_thread_has_as_many_tiles() {
        let tile = |count, threads| tile_of(count, Threads::new(threads).unwrap());
        // There are 7 tiles of at most 256 candidates on one thread, 8 tiles on two threads, and 9 on three.
        assert_eq!((tile(1782, 1), tile(1782, 2), tile(1782, 3)), (255, 223, 198));
        assert_eq!((tile(256, 1), tile(257, 1), tile(257, 2)), (256, 129, 129));
        // Tiles do not become tiny just to use all threads.
        assert_eq!((tile(1, 1), tile(100, 4), tile(0, 2)), (64, 64, 64));
    }

    /// Values that include all edge cases of a comparison.
    fn value(doubt: f32) -> impl Strategy<Value = f32> {
        let edges = [doubt, doubt.next_up(), doubt.next_down().max(0.0), 0.0, 1.0, f32::MAX];
        let size = prop_oneof![
            1 => prop::sample::select(edges.to_vec()),
            400 => doubt * 1.5..1.0f32,
            1 => Just(f32::INFINITY),
            1 => Just(f32::NAN),
        ];
        (size, any::<bool>()).prop_map(|(v, negative)| if negative { -v } else { v })
    }

    proptest! {
        /// Compares the screen with a value-by-value count, for all vector instructions and any previous mask.
        #[test]
        fn screening_is_comparing_one_by_one(
            (doubt, values) in prop::sample::select(vec![0.0f32, 1e-6, 3e-3]).prop_flat_map(|doubt| {
                (Just(doubt), prop::collection::vec(value(doubt), 0..=512))
            }),
            before in any::<ErrorMask>(),
        ) {
            let wrong = values.iter().filter(|v| **v < -doubt).count() as u64;
            let doubtful = values.iter().any(|v| !is_clear(*v, doubt));
            let depth = values.len().div_ceil(LANES) as u32;
            let mut expected = before.map(|lane| lane.unbounded_shl(depth));
            for (place, v) in values.iter().enumerate() {
                if *v < -doubt {
                    set(&mut expected, place, values.len());
                }
            }
            for wide in [false, true] {
                let mut mask = before;
                let screen = Screen { values: &values, doubt, mask: &mut mask };
                let counted = if wide { run_wide(screen) } else { screen.run() };
                prop_assert_eq!(counted, (wrong, doubtful));
                prop_assert_eq!(mask, expected);
            }
        }
    }
}
