//! Pivoted Cholesky factorisation of a kernel matrix in single precision.
//!
//! *Source.* Fine and Scheinberg 2001.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use halfspaces_kernels::SINGLE_LANES;
use halfspaces_linalg::kernels::{Wide, run_wide};

/// The remainder of a landmark is the part of its features that the other landmarks do not explain. A landmark is
/// dropped if the squared length of its remainder is at most this number. The squared length of all its features is
/// about 1.
pub(crate) const TOLERANCE: f32 = 1e-5;
/// The number of factor columns computed between two updates of the remaining matrix. This number affects only the
/// rounding.
const BLOCK: usize = 32;

/// Factorises the kernel matrix `k` of `m` points. Returns the chosen points and the upper triangular factor U, where
/// UᵀU is the kernel matrix of the chosen points. Each step chooses the point with the largest squared remainder, given
/// the points chosen before. The factorisation stops when no squared remainder exceeds [`TOLERANCE`].
pub(crate) fn pivoted_cholesky(k: Vec<f32>, m: usize) -> (Vec<usize>, Mat<f32>) {
    let mut remainders = vec![0.0; m.next_multiple_of(SINGLE_LANES)];
    (0..m).for_each(|i| remainders[i] = k[i * m + i]);
    let candidates = (0..m).collect();
    let mut work = Work { m, candidates, remainders, complement: k, factor: vec![0.0; m * m] };
    let mut chosen = Vec::with_capacity(m);
    while work.choose_block(&mut chosen) {}
    let mut factor = Mat::zeros(chosen.len(), chosen.len());
    for (rank, point) in chosen.iter().enumerate() {
        let row = &work.factor[point * m..][..=rank];
        factor.col_as_slice_mut(rank)[..=rank].copy_from_slice(row);
    }
    (chosen, factor)
}

/// The state of the factorisation. All arrays except `factor` are indexed by the position of a candidate in
/// `candidates`, and this position changes as candidates are removed.
struct Work {
    m: usize,
    /// The points that have not been chosen in earlier blocks.
    candidates: Vec<usize>,
    /// The squared remainder of each candidate. Chosen points and the padding to whole vectors have the value 0.
    remainders: Vec<f32>,
    /// The Schur complement, which is the kernel matrix of the candidates minus the contribution of earlier blocks.
    /// Each column starts `m` numbers after the previous one.
    complement: Vec<f32>,
    /// One column of the factor per point, whether or not the point is chosen.
    factor: Vec<f32>,
}

impl Work {
    /// Chooses a block of candidates and appends them to `chosen`. Returns whether more candidates may be chosen.
    fn choose_block(&mut self, chosen: &mut Vec<usize>) -> bool {
        let (count, first) = (self.candidates.len(), chosen.len());
        let width = count.next_multiple_of(SINGLE_LANES);
        let remainders = &mut self.remainders[..width];
        let mut columns = vec![0.0; width * BLOCK.min(count)];
        let mut places = Vec::with_capacity(BLOCK);
        for rank in 0..BLOCK.min(count) {
            let pivot = run_wide(FirstLargest(remainders));
            if remainders[pivot] <= TOLERANCE {
                break;
            }
            let (known, new) = columns.split_at_mut(rank * width);
            let new = &mut new[..width];
            new[..count].copy_from_slice(&self.complement[pivot * self.m..][..count]);
            run_wide(NewColumn { known, pivot, new, remainders });
            chosen.push(self.candidates[pivot]);
            places.push(pivot);
        }
        for (place, candidate) in self.candidates.iter().enumerate() {
            let entries = self.factor[candidate * self.m + first..].iter_mut().take(places.len());
            for (entry, column) in entries.zip(columns.chunks_exact(width)) {
                *entry = column[place];
            }
        }
        if places.len() < BLOCK {
            return false;
        }
        self.remove(places, &mut columns, width);
        let (count, m) = (self.candidates.len(), self.m);
        let complement = &mut self.complement;
        let complement =
            MatMut::from_column_major_slice_with_stride_mut(complement, count, count, m);
        let columns = MatRef::from_column_major_slice_with_stride(&columns, count, BLOCK, width);
        matmul(complement, Accum::Add, columns, columns.transpose(), -1.0, Par::Seq);
        true
    }

    /// Removes the chosen candidates and moves the last candidates to their positions.
    fn remove(&mut self, mut places: Vec<usize>, columns: &mut [f32], width: usize) {
        places.sort_unstable_by(|a, b| b.cmp(a));
        let count = self.candidates.len();
        let moves: Vec<(usize, usize)> =
            places.into_iter().enumerate().map(|(k, place)| (place, count - 1 - k)).collect();
        for &(place, last) in &moves {
            self.candidates.swap_remove(place);
            self.remainders[place] = self.remainders[last];
            self.remainders[last] = 0.0;
            self.complement.copy_within(last * self.m..last * self.m + count, place * self.m);
        }
        let complement = self.complement.chunks_exact_mut(self.m).take(self.candidates.len());
        for column in complement.chain(columns.chunks_exact_mut(width)) {
            moves.iter().for_each(|&(place, last)| column[place] = column[last]);
        }
    }
}

/// Finds the position of the largest number, or the first such position in case of a tie.
struct FirstLargest<'a>(&'a [f32]);

impl Wide for FirstLargest<'_> {
    type Output = usize;

    #[inline(always)]
    fn run(self) -> usize {
        let mut lanes = [f32::NEG_INFINITY; SINGLE_LANES];
        for block in self.0.as_chunks::<SINGLE_LANES>().0 {
            for (largest, value) in lanes.iter_mut().zip(block) {
                *largest = if *value > *largest { *value } else { *largest };
            }
        }
        let largest = lanes.into_iter().fold(f32::NEG_INFINITY, f32::max);
        let Some(place) = self.0.iter().position(|value| *value >= largest) else {
            unreachable!("the largest number is in the slice, which has no NaN")
        };
        place
    }
}

/// Computes the factor column of the pivot from the Schur complement and the columns already known in the current
/// block.
struct NewColumn<'a> {
    known: &'a [f32],
    pivot: usize,
    new: &'a mut [f32],
    remainders: &'a mut [f32],
}

impl Wide for NewColumn<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let NewColumn { known, pivot, new, remainders } = self;
        let width = new.len();
        let root = remainders[pivot].sqrt();
        let mut pivot_row = [0.0; BLOCK];
        for (entry, column) in pivot_row.iter_mut().zip(known.chunks_exact(width)) {
            *entry = column[pivot];
        }
        let (blocks, remainder_blocks) =
            (new.as_chunks_mut::<SINGLE_LANES>().0, remainders.as_chunks_mut::<SINGLE_LANES>().0);
        for (block, (new, remainders)) in blocks.iter_mut().zip(remainder_blocks).enumerate() {
            let mut sums = *new;
            for (pivot_entry, column) in pivot_row.iter().zip(known.chunks_exact(width)) {
                let column = &column.as_chunks::<SINGLE_LANES>().0[block];
                for (sum, entry) in sums.iter_mut().zip(column) {
                    *sum -= pivot_entry * entry;
                }
            }
            for ((new, sum), remainder) in new.iter_mut().zip(sums).zip(remainders) {
                *new = sum / root;
                *remainder -= *new * *new;
            }
        }
        new[pivot] = root;
        remainders[pivot] = 0.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FeatureMap, KernelValues, RadialKernel};
    use halfspaces_linalg::{PointSet, Points};

    /// Checks with a plain loop that each chosen point has the largest remainder, up to rounding, and that no remainder
    /// exceeds the tolerance after the last choice.
    fn assert_greedy(k: &[f32], m: usize, chosen: &[usize]) {
        const ROUNDING: f64 = 3e-7;
        let tolerance = f64::from(TOLERANCE);
        let mut rest: Vec<f64> = k.iter().map(|v| f64::from(*v)).collect();
        let largest = |rest: &[f64]| (0..m).map(|i| rest[i * m + i]).fold(0.0, f64::max);
        for &p in chosen {
            let pivot = rest[p * m + p];
            assert!(pivot > tolerance - ROUNDING && pivot > largest(&rest) - ROUNDING, "{pivot}");
            let column: Vec<f64> = (0..m).map(|i| rest[i * m + p]).collect();
            for i in 0..m {
                for j in 0..m {
                    rest[i * m + j] -= column[i] * column[j] / pivot;
                }
            }
        }
        assert!(largest(&rest) <= tolerance + ROUNDING, "{}", largest(&rest));
    }

    #[test]
    fn blocks_choose_as_a_plain_loop_does() {
        let draw =
            |i: i32, j: i32| (f64::from(i) * 12.9898 + f64::from(j) * 78.233).sin() * 43_758.5;
        for (m, scale, some_dropped) in [
            (1, 1.0, false),
            (31, 0.01, false),
            (32, 0.01, false),
            (33, 0.01, false),
            (100, 0.001, false),
            (200, 0.01, false),
            (100, 3.0, true),
            (200, 0.3, true),
        ] {
            let row = |i: i32| [draw(i, 0).fract(), draw(i, 1).fract(), draw(i, 2).fract()];
            let points = Points::from_rows(&(0..m).map(row).collect::<Vec<_>>()).unwrap();
            let kernel = RadialKernel::gaussian(scale).unwrap();
            let k = KernelValues::new(points.clone(), kernel).unwrap().apply(&points).unwrap();
            let k: Vec<f32> = k.as_slice().iter().map(|v| *v as f32).collect();
            let m = points.len();
            let (chosen, factor) = pivoted_cholesky(k.clone(), m);
            assert_greedy(&k, m, &chosen);
            assert_eq!(chosen.len() < m, some_dropped, "{m} {scale}");
            assert_eq!(factor.shape(), (chosen.len(), chosen.len()));
            for (i, row) in chosen.iter().enumerate() {
                for (j, column) in chosen.iter().enumerate() {
                    assert!(i <= j || factor[(i, j)] == 0.0);
                    let product = |l| f64::from(factor[(l, i)]) * f64::from(factor[(l, j)]);
                    let product: f64 = (0..=i.min(j)).map(product).sum();
                    assert!((product - f64::from(k[row * m + column])).abs() < 3e-7, "{product}");
                }
            }
        }
    }

    /// If all points are equal, one of them suffices.
    #[test]
    fn the_first_of_equal_points_is_chosen() {
        let (chosen, factor) = pivoted_cholesky(vec![1.0; 50 * 50], 50);
        assert_eq!((chosen, factor[(0, 0)]), (vec![0], 1.0));
    }

    /// The squared remainder of the second point is 1 - k².
    #[test]
    fn points_with_a_remainder_up_to_the_tolerance_are_dropped() {
        for (remainder, kept) in [(0.9e-5, 1), (1.1e-5, 2)] {
            let k = f64::sqrt(1.0 - remainder) as f32;
            assert_eq!(pivoted_cholesky(vec![1.0, k, k, 1.0], 2).0.len(), kept, "{remainder}");
        }
    }
}
