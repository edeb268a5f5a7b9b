//! Rows of features, which are stored compactly because fits make many passes over them.

use faer::Mat;
use halfspaces_kernels::{Aligned, BlockLoop, BlockOps, SINGLE_LANES, Wide, run_blocks, run_wide};
use halfspaces_linalg::{
    InputError, aligned_with_capacity, aligned_zeros, checkpoint, checkpoint_at,
};
use std::ops::Range;

/// Number of rows whose features are computed together. The features do not depend on this number.
const BLOCK: usize = 256;

/// A number type in which features are stored, as multiples of [`Entry::UNIT`].
pub(crate) trait Entry: Copy + Default + Into<f64> {
    const UNIT: f32;

    /// Rounds a feature to the nearest stored value.
    fn of(feature: f32) -> Self;

    /// Whether the feature is in the range of the type, so that [`Entry::of`] stores it with a small error.
    fn is_in_range(feature: f32) -> bool;

    /// The product of a row of features and w.
    fn dot<B: BlockOps>(ops: B, x: &[[Self; SINGLE_LANES]], w: &[[f32; SINGLE_LANES]]) -> f32;

    /// Adds a multiple of a row of features to w, with the factor a.
    fn axpy<B: BlockOps>(ops: B, a: f32, x: &[[Self; SINGLE_LANES]], w: &mut [[f32; SINGLE_LANES]]);
}

/// Stores features of any size.
impl Entry for f32 {
    const UNIT: f32 = 1.0;

    #[inline(always)]
    fn of(feature: f32) -> f32 {
        feature
    }

    #[inline(always)]
    fn is_in_range(_: f32) -> bool {
        true
    }

    #[inline(always)]
    fn dot<B: BlockOps>(ops: B, x: &[[f32; SINGLE_LANES]], w: &[[f32; SINGLE_LANES]]) -> f32 {
        ops.dot_single(x, w)
    }

    #[inline(always)]
    fn axpy<B: BlockOps>(ops: B, a: f32, x: &[[f32; SINGLE_LANES]], w: &mut [[f32; SINGLE_LANES]]) {
        ops.axpy_single(a, x, w);
    }
}

/// Stores features between -1 and 1, with errors of up to 1.6e-5.
impl Entry for i16 {
    const UNIT: f32 = 1.0 / 32767.0;

    #[inline(always)]
    fn of(feature: f32) -> i16 {
        /// A number above 2²³, where single precision represents only whole numbers. The last bits of this number are
        /// 0.
        const WHOLE: f32 = (3 << 22) as f32;
        // Features outside the range become ±32767.
        let units = (32767.0 * feature).clamp(-32767.0, 32767.0);
        // The sum is rounded to a whole number, whose last bits are those of the result.
        (units + WHOLE).to_bits() as i16
    }

    /// Accepts features that exceed 1 because of rounding errors.
    #[inline(always)]
    fn is_in_range(feature: f32) -> bool {
        feature.abs() <= 1.001
    }

    #[inline(always)]
    fn dot<B: BlockOps>(ops: B, x: &[[i16; SINGLE_LANES]], w: &[[f32; SINGLE_LANES]]) -> f32 {
        ops.dot_short(x, w) * Self::UNIT
    }

    #[inline(always)]
    fn axpy<B: BlockOps>(ops: B, a: f32, x: &[[i16; SINGLE_LANES]], w: &mut [[f32; SINGLE_LANES]]) {
        ops.axpy_short(a * Self::UNIT, x, w);
    }
}

/// Rows of `dim` features, padded with zeros to whole blocks, and their squared norms.
pub(crate) struct FeatureRows<T> {
    values: Aligned<T>,
    dim: usize,
    norms_sq: Vec<f64>,
}

impl<T: Entry> FeatureRows<T> {
    /// Builds `rows` rows by calling `write` on blocks of padded rows. Returns `None` if a feature is outside the range
    /// of the storage type.
    pub(crate) fn new(
        rows: usize,
        dim: usize,
        mut write: impl FnMut(Range<usize>, &mut [f32]) -> Result<(), InputError>,
    ) -> Result<Option<FeatureRows<T>>, InputError> {
        let width = dim.next_multiple_of(SINGLE_LANES);
        let mut values = aligned_with_capacity(rows, width)?;
        let mut written = aligned_zeros(BLOCK.min(rows), width)?;
        let mut stored = aligned_zeros(BLOCK.min(rows), width)?;
        let mut norms_sq = Vec::with_capacity(rows);
        for first in (0..rows).step_by(BLOCK) {
            checkpoint();
            let count = BLOCK.min(rows - first);
            let (written, stored) = (&mut written[..count * width], &mut stored[..count * width]);
            write(first..first + count, written)?;
            if !run_wide(Store { features: written, out: stored }) {
                return Ok(None);
            }
            norms_sq.extend(stored.chunks_exact(width).map(|row| run_wide(SquaredNorm(row))));
            values.extend_from_slice(stored);
        }
        Ok(Some(FeatureRows { values, dim, norms_sq }))
    }

    pub(crate) fn dim(&self) -> usize {
        self.dim
    }

    pub(crate) fn len(&self) -> usize {
        self.norms_sq.len()
    }

    #[inline(always)]
    pub(crate) fn row(&self, row: usize) -> &[[T; SINGLE_LANES]] {
        let width = self.dim.next_multiple_of(SINGLE_LANES);
        self.values[row * width..][..width].as_chunks().0
    }

    /// The rows whose indices are in `rows`, as the columns of a matrix.
    pub(crate) fn columns(&self, rows: &[usize]) -> Mat<f64> {
        let mut columns = Mat::zeros(self.dim, rows.len());
        for (&row, column) in rows.iter().zip(columns.col_iter_mut()) {
            let stored = self.row(row).as_flattened()[..self.dim].iter();
            column
                .iter_mut()
                .zip(stored)
                .for_each(|(out, x)| *out = f64::from(T::UNIT) * (*x).into());
        }
        columns
    }

    /// The dot product of `weights` with each row whose index is in `rows`.
    pub(crate) fn products(&self, rows: &[usize], weights: &[f64]) -> Vec<f64> {
        run_blocks(Products { of: self, rows, weights: &in_blocks(weights) })
    }

    /// The squared norm of a row.
    #[inline(always)]
    pub(crate) fn norm_sq(&self, row: usize) -> f64 {
        self.norms_sq[row]
    }
}

/// Stores features. Returns whether all features are in range.
struct Store<'a, T> {
    features: &'a [f32],
    out: &'a mut [T],
}

impl<T: Entry> Wide for Store<'_, T> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let mut in_range = true;
        for (out, feature) in self.out.iter_mut().zip(self.features) {
            *out = T::of(*feature);
            in_range &= T::is_in_range(*feature);
        }
        in_range
    }
}

/// The squared norm of a stored row.
struct SquaredNorm<'a, T>(&'a [T]);

impl<T: Entry> Wide for SquaredNorm<'_, T> {
    type Output = f64;

    #[inline(always)]
    fn run(self) -> f64 {
        let mut sums = [0.0; SINGLE_LANES];
        for block in self.0.as_chunks::<SINGLE_LANES>().0 {
            for (sum, x) in sums.iter_mut().zip(block) {
                let x: f64 = (*x).into();
                *sum += x * x;
            }
        }
        let unit = f64::from(T::UNIT);
        sums.iter().sum::<f64>() * (unit * unit)
    }
}

/// Copies rows of `dim` numbers, rounded to single precision, to padded rows.
pub(crate) fn copy_rounded(rows: &[f64], dim: usize, out: &mut [f32]) {
    let width = dim.next_multiple_of(SINGLE_LANES);
    for (row, out) in rows.chunks_exact(dim).zip(out.chunks_exact_mut(width)) {
        out.iter_mut().zip(row).for_each(|(out, v)| *out = *v as f32);
    }
}

/// Rounds numbers to single precision and pads them with zeros to whole blocks.
pub(crate) fn in_blocks(values: &[f64]) -> Vec<[f32; SINGLE_LANES]> {
    let block = |values: &[f64]| {
        let mut block = [0.0; SINGLE_LANES];
        block.iter_mut().zip(values).for_each(|(out, v)| *out = *v as f32);
        block
    };
    values.chunks(SINGLE_LANES).map(block).collect()
}

/// Computes the dot products of `weights` with some rows.
struct Products<'a, T> {
    of: &'a FeatureRows<T>,
    rows: &'a [usize],
    weights: &'a [[f32; SINGLE_LANES]],
}

impl<T: Entry> BlockLoop for Products<'_, T> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn run<B: BlockOps>(self, ops: B) -> Vec<f64> {
        let mut products = Vec::with_capacity(self.rows.len());
        for (at, &row) in self.rows.iter().enumerate() {
            checkpoint_at(at);
            products.push(f64::from(T::dot(ops, self.of.row(row), self.weights)));
        }
        products
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_linalg::Monitor;

    /// Creates features that are counted row by row from 0: feature number k has the value k · `size` - 0.5.
    fn numbered<T: Entry>(rows: usize, dim: usize, size: f32) -> FeatureRows<T> {
        let mut seen = 0;
        let width = dim.next_multiple_of(SINGLE_LANES);
        let kept = FeatureRows::new(rows, dim, |range, out| {
            assert_eq!((range.start, range.len() * width), (seen, out.len()));
            seen = range.end;
            for (i, out) in range.zip(out.chunks_exact_mut(width)) {
                for (j, out) in out[..dim].iter_mut().enumerate() {
                    *out = (i * dim + j) as f32 * size - 0.5;
                }
            }
            Ok(())
        });
        assert_eq!(seen, rows);
        kept.unwrap().unwrap()
    }

    /// Checks that rows are correct up to the errors of the storage type and of single precision.
    fn assert_rows<T: Entry>(rounding: f64) {
        for (rows, dim) in [(0, 3), (1, 1), (2, 8), (256, 8), (300, 9), (600, 21)] {
            let size = 1.0 / (rows * dim).max(1) as f32;
            let kept = numbered::<T>(rows, dim, size);
            assert_eq!((kept.len(), kept.dim()), (rows, dim));
            let weights: Vec<f64> = (0..dim).map(|j| (j as f64).sin()).collect();
            let order: Vec<usize> = (0..rows).rev().collect();
            let products = kept.products(&order, &weights);
            for (i, product) in order.iter().zip(products) {
                let row = kept.row(*i).as_flattened();
                assert_eq!(row.len(), dim.next_multiple_of(SINGLE_LANES));
                let (mut expected, mut scale, mut norm_sq) = (0.0, 0.0, 0.0);
                for (j, x) in row.iter().enumerate() {
                    let x = (*x).into() * f64::from(T::UNIT);
                    let value = f64::from((i * dim + j) as f32 * size - 0.5);
                    assert!(
                        (x - if j < dim { value } else { 0.0 }).abs() <= rounding,
                        "{x} {value}"
                    );
                    let term = x * weights.get(j).copied().unwrap_or(0.0);
                    expected += term;
                    scale += term.abs();
                    norm_sq += x * x;
                }
                assert!((product - expected).abs() <= 1e-6 * scale, "{product} {expected}");
                assert!((kept.norm_sq(*i) - norm_sq).abs() <= 1e-12 * norm_sq);
            }
        }
    }

    #[test]
    fn rows_are_padded_and_rounded() {
        assert_rows::<f32>(0.0);
        assert_rows::<i16>(0.501 / 32767.0);
    }

    /// Features outside the 16-bit range become the largest or the smallest number in this range.
    #[test]
    fn features_become_the_nearest_number_of_units() {
        let unit = 1.0 / 32767.0;
        for (feature, units) in [
            (0.0, 0),
            (0.49 * unit, 0),
            (0.51 * unit, 1),
            (-0.51 * unit, -1),
            (0.25, 8192),
            (-1.0, -32767),
            (1.0, 32767),
            (2.0, 32767),
            (-2.0, -32767),
        ] {
            assert_eq!(i16::of(feature), units, "{feature}");
            assert_eq!(f32::of(feature), feature);
        }
    }

    #[test]
    fn large_features_are_stored_only_in_single_precision() {
        for feature in [1.0, 1.0009, -1.0009, 1.0011, -1.0011, f32::NAN] {
            let write = |_, out: &mut [f32]| {
                out[2] = feature;
                Ok(())
            };
            let short = FeatureRows::<i16>::new(1, 3, write).unwrap();
            assert_eq!(short.is_some(), feature.abs() < 1.001, "{feature}");
            assert!(FeatureRows::<f32>::new(1, 3, write).unwrap().is_some());
        }
    }

    #[test]
    fn too_many_rows_are_refused() {
        let found = FeatureRows::<i16>::new(usize::MAX, 9, |_, _| Ok(()));
        assert_eq!(found.err(), Some(InputError::TooLarge { values: usize::MAX }));
    }

    #[test]
    fn errors_of_write_are_returned() {
        let wrong = InputError::Overflow { row: 3 };
        let found = FeatureRows::<f32>::new(5, 2, |_, _| Err(wrong.clone()));
        assert_eq!(found.err(), Some(wrong));
    }

    #[test]
    fn a_stop_ends_features_and_products() {
        let (monitor, mut blocks) = (Monitor::default(), 0);
        let stopped = monitor.run(|| {
            let write = |_, _: &mut [f32]| {
                blocks += 1;
                monitor.stop();
                Ok(())
            };
            FeatureRows::<f32>::new(3 * BLOCK, 2, write).is_ok()
        });
        assert_eq!((stopped, blocks), (None, 1));
        let rows = numbered::<f32>(3, 2, 0.1);
        assert_eq!(monitor.run(|| rows.products(&[0], &[1.0, 1.0])), None);
    }
}
