//! Rows of features in single precision: half as much to wait for, as fits go over them again and again.

use faer::MatMut;
use halfspaces_kernels::{Aligned, BlockLoop, BlockOps, SINGLE_LANES, run_blocks};
use halfspaces_linalg::{InputError, aligned_zeros, zeros};
use std::ops::Range;

/// Rows computed together, in double precision; they do not depend on it.
const BLOCK: usize = 256;

/// Rows of `dim` features, filled up with zeros to whole blocks.
pub(crate) struct SingleRows {
    values: Aligned<f32>,
    dim: usize,
}

impl SingleRows {
    /// As many rows, which `write` writes some at a time.
    pub(crate) fn new(
        rows: usize,
        dim: usize,
        mut write: impl FnMut(Range<usize>, &mut [f64]) -> Result<(), InputError>,
    ) -> Result<SingleRows, InputError> {
        let width = dim.next_multiple_of(SINGLE_LANES);
        let mut values = aligned_zeros(rows, width)?;
        let mut written = zeros(BLOCK.min(rows), dim)?;
        for (block, out) in values.chunks_mut(BLOCK * width).enumerate() {
            let (first, count) = (block * BLOCK, out.len() / width);
            let written = &mut written[..count * dim];
            write(first..first + count, written)?;
            for (row, out) in written.chunks_exact(dim).zip(out.chunks_exact_mut(width)) {
                out.iter_mut().zip(row).for_each(|(out, v)| *out = *v as f32);
            }
        }
        Ok(SingleRows { values, dim })
    }

    pub(crate) fn dim(&self) -> usize {
        self.dim
    }

    pub(crate) fn len(&self) -> usize {
        self.values.len() / self.dim.next_multiple_of(SINGLE_LANES)
    }

    /// Some rows at a time, each a column of a matrix.
    pub(crate) fn blocks_mut(&mut self) -> impl Iterator<Item = MatMut<'_, f32>> {
        let (dim, width) = (self.dim, self.dim.next_multiple_of(SINGLE_LANES));
        self.values.chunks_mut(BLOCK * width).map(move |values| {
            let rows = values.len() / width;
            MatMut::from_column_major_slice_with_stride_mut(values, dim, rows, width)
        })
    }

    #[inline(always)]
    pub(crate) fn row(&self, row: usize) -> &[[f32; SINGLE_LANES]] {
        let width = self.dim.next_multiple_of(SINGLE_LANES);
        self.values[row * width..][..width].as_chunks().0
    }

    /// The product of each of these rows with `weights`.
    pub(crate) fn products(&self, rows: &[usize], weights: &[f64]) -> Vec<f64> {
        run_blocks(Products { of: self, rows, weights: &in_blocks(weights) })
    }
}

/// Rounded to single precision, and filled up with zeros to whole blocks.
pub(crate) fn in_blocks(values: &[f64]) -> Vec<[f32; SINGLE_LANES]> {
    let block = |values: &[f64]| {
        let mut block = [0.0; SINGLE_LANES];
        block.iter_mut().zip(values).for_each(|(out, v)| *out = *v as f32);
        block
    };
    values.chunks(SINGLE_LANES).map(block).collect()
}

struct Products<'a> {
    of: &'a SingleRows,
    rows: &'a [usize],
    weights: &'a [[f32; SINGLE_LANES]],
}

impl BlockLoop for Products<'_> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn run<B: BlockOps>(self, ops: B) -> Vec<f64> {
        let mut products = Vec::with_capacity(self.rows.len());
        for &row in self.rows {
            products.push(f64::from(ops.dot_single(self.of.row(row), self.weights)));
        }
        products
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_filled_up_and_rounded() {
        for (rows, dim) in [(0, 3), (1, 1), (2, 8), (300, 9), (600, 21)] {
            let value = |i: usize, j: usize| (i * dim + j) as f64 / 3.0 - 10.0;
            let mut seen = 0;
            let single = SingleRows::new(rows, dim, |range, out| {
                assert_eq!((range.start, range.len() * dim), (seen, out.len()));
                seen = range.end;
                for (i, out) in range.zip(out.chunks_exact_mut(dim)) {
                    out.iter_mut().enumerate().for_each(|(j, out)| *out = value(i, j));
                }
                Ok(())
            });
            let single = single.unwrap();
            assert_eq!((single.len(), single.dim(), seen), (rows, dim, rows));
            let weights: Vec<f64> = (0..dim).map(|j| (j as f64).sin()).collect();
            let order: Vec<usize> = (0..rows).rev().collect();
            for (i, product) in order.iter().zip(single.products(&order, &weights)) {
                let row = single.row(*i).as_flattened();
                assert_eq!(row.len(), dim.next_multiple_of(SINGLE_LANES));
                let (mut expected, mut scale) = (0.0, 0.0);
                for (j, x) in row.iter().enumerate() {
                    assert_eq!(*x, if j < dim { value(*i, j) as f32 } else { 0.0 });
                    let term = f64::from(*x) * weights.get(j).copied().unwrap_or(0.0);
                    expected += term;
                    scale += term.abs();
                }
                assert!((product - expected).abs() <= 1e-6 * scale, "{product} {expected}");
            }
        }
    }

    #[test]
    fn every_row_is_a_column_once() {
        for (rows, dim) in [(1, 1), (256, 8), (257, 9), (600, 21)] {
            let single = SingleRows::new(rows, dim, |range, out| {
                let first = range.start * dim;
                out.iter_mut().enumerate().for_each(|(k, out)| *out = (first + k) as f64);
                Ok(())
            });
            let mut single = single.unwrap();
            let mut next = 0;
            for mut block in single.blocks_mut() {
                for j in 0..block.ncols() {
                    for i in 0..block.nrows() {
                        assert_eq!(block[(i, j)], next as f32);
                        block[(i, j)] = -block[(i, j)];
                        next += 1;
                    }
                }
            }
            assert_eq!(next, rows * dim);
            let last = single.row(rows - 1).as_flattened();
            assert_eq!(last[dim - 1], -((rows * dim - 1) as f32));
            assert!(last[dim..].iter().all(|v| *v == 0.0));
        }
    }

    #[test]
    fn rows_that_cannot_be_held_are_refused() {
        let found = SingleRows::new(usize::MAX, 9, |_, _| Ok(()));
        assert_eq!(found.err(), Some(InputError::TooLarge { values: usize::MAX }));
    }

    #[test]
    fn what_goes_wrong_with_a_row_comes_back() {
        let wrong = InputError::Overflow { row: 3 };
        assert_eq!(SingleRows::new(5, 2, |_, _| Err(wrong.clone())).err(), Some(wrong));
    }
}
