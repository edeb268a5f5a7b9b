//! Which landmarks are needed, and the factor of their kernel matrix. Part of `TableClassifier`.
//!
//! *Source.* Fine and Scheinberg 2001.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use halfspaces_kernels::{SINGLE_LANES, Wide, run_wide};

/// A landmark is left out if the others give its features up to this squared length, of about 1.
pub(crate) const TOLERANCE: f32 = 1e-5;
/// Columns of the factor between two products with all that is left; it changes rounding alone.
const BLOCK: usize = 32;

/// Of a kernel matrix `k` of `m` points: those chosen, each the one of which the features before it leave the most, as
/// long as that is more than [`TOLERANCE`]; and the upper factor U of their kernel matrix UᵀU.
pub(crate) fn pivoted_cholesky(k: Vec<f32>, m: usize) -> (Vec<usize>, Mat<f32>) {
    let mut left = vec![0.0; m.next_multiple_of(SINGLE_LANES)];
    (0..m).for_each(|i| left[i] = k[i * m + i]);
    let candidates = (0..m).collect();
    let mut work = Work { m, candidates, left, rest: k, factor: vec![0.0; m * m] };
    let mut chosen = Vec::with_capacity(m);
    while work.choose_block(&mut chosen) {}
    let mut factor = Mat::zeros(chosen.len(), chosen.len());
    for (rank, point) in chosen.iter().enumerate() {
        let row = &work.factor[point * m..][..=rank];
        factor.col_as_slice_mut(rank)[..=rank].copy_from_slice(row);
    }
    (chosen, factor)
}

/// Candidates are whoever was not chosen in a block before. All but `factor` is by their places, which change.
struct Work {
    m: usize,
    candidates: Vec<usize>,
    /// What the features so far leave of each one's squared length; 0 for those chosen and up to whole vectors.
    left: Vec<f32>,
    /// What the blocks before leave of the kernel matrix, `m` numbers from one column to the next.
    rest: Vec<f32>,
    /// A column of the factor for each of the points, chosen or not.
    factor: Vec<f32>,
}

impl Work {
    /// Chooses a block of candidates; whether there may be more.
    fn choose_block(&mut self, chosen: &mut Vec<usize>) -> bool {
        let (count, first) = (self.candidates.len(), chosen.len());
        let width = count.next_multiple_of(SINGLE_LANES);
        let left = &mut self.left[..width];
        let mut columns = vec![0.0; width * BLOCK.min(count)];
        let mut places = Vec::with_capacity(BLOCK);
        for rank in 0..BLOCK.min(count) {
            let pivot = run_wide(FirstMost(left));
            if left[pivot] <= TOLERANCE {
                break;
            }
            let (known, new) = columns.split_at_mut(rank * width);
            let new = &mut new[..width];
            new[..count].copy_from_slice(&self.rest[pivot * self.m..][..count]);
            run_wide(NewColumn { known, pivot, new, left });
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
        self.take_out(places, &mut columns, width);
        let left = self.candidates.len();
        let rest =
            MatMut::from_column_major_slice_with_stride_mut(&mut self.rest, left, left, self.m);
        let columns = MatRef::from_column_major_slice_with_stride(&columns, left, BLOCK, width);
        matmul(rest, Accum::Add, columns, columns.transpose(), -1.0, Par::Seq);
        true
    }

    /// The last candidates take the places of those chosen, from the last one on.
    fn take_out(&mut self, mut places: Vec<usize>, columns: &mut [f32], width: usize) {
        places.sort_unstable_by(|a, b| b.cmp(a));
        let count = self.candidates.len();
        let moves: Vec<(usize, usize)> =
            places.into_iter().enumerate().map(|(out, place)| (place, count - 1 - out)).collect();
        for &(place, last) in &moves {
            self.candidates.swap_remove(place);
            self.left[place] = self.left[last];
            self.left[last] = 0.0;
            self.rest.copy_within(last * self.m..last * self.m + count, place * self.m);
        }
        let rest = self.rest.chunks_exact_mut(self.m).take(self.candidates.len());
        for column in rest.chain(columns.chunks_exact_mut(width)) {
            moves.iter().for_each(|&(place, last)| column[place] = column[last]);
        }
    }
}

/// The place of the largest number, of equal ones the first.
struct FirstMost<'a>(&'a [f32]);

impl Wide for FirstMost<'_> {
    type Output = usize;

    #[inline(always)]
    fn run(self) -> usize {
        let mut lanes = [f32::NEG_INFINITY; SINGLE_LANES];
        for block in self.0.as_chunks::<SINGLE_LANES>().0 {
            for (most, value) in lanes.iter_mut().zip(block) {
                *most = if *value > *most { *value } else { *most };
            }
        }
        let most = lanes.into_iter().fold(f32::NEG_INFINITY, f32::max);
        let Some(place) = self.0.iter().position(|value| *value >= most) else {
            unreachable!("the largest is one of them, as none is not a number")
        };
        place
    }
}

/// The pivot's column of the factor, from what the blocks before leave and the columns known of this one.
struct NewColumn<'a> {
    known: &'a [f32],
    pivot: usize,
    new: &'a mut [f32],
    left: &'a mut [f32],
}

impl Wide for NewColumn<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let NewColumn { known, pivot, new, left } = self;
        let width = new.len();
        let root = left[pivot].sqrt();
        let mut of_pivot = [0.0; BLOCK];
        for (of_pivot, column) in of_pivot.iter_mut().zip(known.chunks_exact(width)) {
            *of_pivot = column[pivot];
        }
        let (blocks, left_blocks) =
            (new.as_chunks_mut::<SINGLE_LANES>().0, left.as_chunks_mut::<SINGLE_LANES>().0);
        for (block, (new, left)) in blocks.iter_mut().zip(left_blocks).enumerate() {
            let mut sums = *new;
            for (of_pivot, column) in of_pivot.iter().zip(known.chunks_exact(width)) {
                let column = &column.as_chunks::<SINGLE_LANES>().0[block];
                for (sum, entry) in sums.iter_mut().zip(column) {
                    *sum -= of_pivot * entry;
                }
            }
            for ((new, sum), left) in new.iter_mut().zip(sums).zip(left) {
                *new = sum / root;
                *left -= *new * *new;
            }
        }
        new[pivot] = root;
        left[pivot] = 0.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_features::{FeatureMap, KernelValues, RadialKernel};
    use halfspaces_linalg::{PointSet, Points};

    /// Without blocks or exchanges, one number after the other: that each of those chosen has the most of what the ones
    /// before leave of every product, up to rounding, and that after the last nothing is left above the tolerance.
    fn assert_greedy(k: &[f32], m: usize, chosen: &[usize]) {
        const ROUNDING: f64 = 3e-7;
        let tolerance = f64::from(TOLERANCE);
        let mut rest: Vec<f64> = k.iter().map(|v| f64::from(*v)).collect();
        let most = |rest: &[f64]| (0..m).map(|i| rest[i * m + i]).fold(0.0, f64::max);
        for &p in chosen {
            let pivot = rest[p * m + p];
            assert!(pivot > tolerance - ROUNDING && pivot > most(&rest) - ROUNDING, "{pivot}");
            let column: Vec<f64> = (0..m).map(|i| rest[i * m + p]).collect();
            for i in 0..m {
                for j in 0..m {
                    rest[i * m + j] -= column[i] * column[j] / pivot;
                }
            }
        }
        assert!(most(&rest) <= tolerance + ROUNDING, "{}", most(&rest));
    }

    #[test]
    fn blocks_choose_as_a_plain_loop_does() {
        let draw =
            |i: i32, j: i32| (f64::from(i) * 12.9898 + f64::from(j) * 78.233).sin() * 43_758.5;
        for (m, scale, some_left_out) in [
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
            assert_eq!(chosen.len() < m, some_left_out, "{m} {scale}");
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

    /// Equal points, of which one is enough: the first.
    #[test]
    fn of_equals_the_first_is_chosen() {
        let (chosen, factor) = pivoted_cholesky(vec![1.0; 50 * 50], 50);
        assert_eq!((chosen, factor[(0, 0)]), (vec![0], 1.0));
    }

    /// What is left of a second point is 1 - k².
    #[test]
    fn what_adds_no_more_than_the_tolerance_is_left_out() {
        for (left, kept) in [(0.9e-5, 1), (1.1e-5, 2)] {
            let k = f64::sqrt(1.0 - left) as f32;
            assert_eq!(pivoted_cholesky(vec![1.0, k, k, 1.0], 2).0.len(), kept, "{left}");
        }
    }
}
