//! The inner loop of every map: for each row x and each column z of a matrix, a sum over coordinates.
//!
//! Every sum is taken in the order of the coordinates, without fused multiply-adds, whatever the size of
//! the block: a row gives the same bits alone and among others, dense and sparse (a zero adds nothing),
//! and at every vector width.

use halfspaces_linalg::kernels::{Wide, run_wide};
use halfspaces_linalg::{PointSet, RowView};
use std::ops::Range;

/// Rows and columns of a tile, whose sums stay in registers.
const ROWS: usize = 4;
const COLUMNS: usize = 8;

/// What is summed for coordinates x_i and z_i; nothing for x_i = 0.
pub(crate) trait Term: Copy + Sync {
    fn term(x: f64, z: f64) -> f64;
}

/// x · z.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Product;

impl Term for Product {
    #[inline(always)]
    fn term(x: f64, z: f64) -> f64 {
        x * z
    }
}

/// ‖x - z‖₁ - ‖z‖₁.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AbsoluteDifference;

impl Term for AbsoluteDifference {
    #[inline(always)]
    fn term(x: f64, z: f64) -> f64 {
        (x - z).abs() - z.abs()
    }
}

/// Columns z, stored by coordinate and filled up with zeros to whole tiles.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Columns {
    values: Vec<f64>,
    count: usize,
    stride: usize,
}

impl Columns {
    /// From the coordinates of one column after the other.
    pub(crate) fn from_rows(rows: &[f64], dim: usize) -> Columns {
        let count = rows.len() / dim;
        let stride = count.next_multiple_of(COLUMNS);
        let mut values = vec![0.0; dim * stride];
        for (k, z) in rows.chunks_exact(dim).enumerate() {
            for (i, v) in z.iter().enumerate() {
                values[i * stride + k] = *v;
            }
        }
        Columns { values, count, stride }
    }

    /// Number of coordinates.
    pub(crate) fn dim(&self) -> usize {
        self.values.len() / self.stride
    }

    /// Number of columns.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Σ_i term(x_i, z_i) for one row and every column.
    pub(crate) fn sums<T: Term, R: RowView>(&self, x: R, out: &mut [f64]) {
        assert_eq!(out.len(), self.count, "one sum per column");
        out.fill(0.0);
        for (i, x_i) in x.entries() {
            let column = &self.values[i * self.stride..][..self.count];
            for (out, z_i) in out.iter_mut().zip(column) {
                *out += T::term(x_i, *z_i);
            }
        }
    }

    /// The same for the points `rows` of a collection, row after row.
    pub(crate) fn sums_of_rows<T: Term, P: PointSet>(
        &self,
        points: &P,
        rows: Range<usize>,
        out: &mut [f64],
    ) {
        assert_eq!(out.len(), rows.len() * self.count, "one sum per row and column");
        let dim = points.dim();
        if let Some(dense) = points.as_dense() {
            self.sums_of_block::<T>(&dense.as_slice()[rows.start * dim..rows.end * dim], out);
            return;
        }
        for (row, out) in rows.zip(out.chunks_exact_mut(self.count)) {
            #[expect(clippy::expect_used, reason = "callers check the range")]
            self.sums::<T, _>(points.row(row).expect("a row of the collection"), out);
        }
    }

    /// The same for rows of as many coordinates as the columns have.
    pub(crate) fn sums_of_block<T: Term>(&self, rows: &[f64], out: &mut [f64]) {
        run_wide(Block { columns: self, rows, out, term: T::term });
    }

    /// The sums of R rows with the columns from `first` on.
    #[inline(always)]
    fn tile<const R: usize>(
        &self,
        rows: &[f64],
        first: usize,
        term: &impl Fn(f64, f64) -> f64,
    ) -> [[f64; COLUMNS]; R] {
        let dim = rows.len() / R;
        let rows: [&[f64]; R] = std::array::from_fn(|r| &rows[r * dim..][..dim]);
        let mut sums = [[0.0; COLUMNS]; R];
        for i in 0..dim {
            let z = &self.values[i * self.stride + first..][..COLUMNS];
            for (sums, x) in sums.iter_mut().zip(rows) {
                for (sum, z_i) in sums.iter_mut().zip(z) {
                    *sum += term(x[i], *z_i);
                }
            }
        }
        sums
    }
}

/// Compiled for the vector instructions that the processor turns out to have.
struct Block<'a, F> {
    columns: &'a Columns,
    rows: &'a [f64],
    out: &'a mut [f64],
    term: F,
}

impl<F: Fn(f64, f64) -> f64> Wide for Block<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Block { columns, rows, out, term } = self;
        let (count, dim) = (columns.count, columns.dim());
        for (rows, out) in rows.chunks(ROWS * dim).zip(out.chunks_mut(ROWS * count)) {
            for first in (0..count).step_by(COLUMNS) {
                let width = COLUMNS.min(count - first);
                let mut store = |row: usize, sums: [f64; COLUMNS]| {
                    out[row * count + first..][..width].copy_from_slice(&sums[..width]);
                };
                if rows.len() == ROWS * dim {
                    let sums = columns.tile::<ROWS>(rows, first, &term);
                    sums.into_iter().enumerate().for_each(|(row, sums)| store(row, sums));
                } else {
                    for (row, x) in rows.chunks_exact(dim).enumerate() {
                        let [sums] = columns.tile::<1>(x, first, &term);
                        store(row, sums);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_linalg::{Points, SparsePoints};
    use proptest::prelude::*;

    fn plain<T: Term>(x: &[f64], z: &[f64]) -> f64 {
        let mut sum = 0.0;
        for (x_i, z_i) in x.iter().zip(z) {
            sum += T::term(*x_i, *z_i);
        }
        sum
    }

    proptest! {
        #[test]
        fn every_way_is_the_plain_loop_to_the_bit(
            values in prop::collection::vec((any::<bool>(), -9.0..9.0f64), 3 * 11),
            others in prop::collection::vec(-9.0..9.0f64, 3 * 19),
        ) {
            let values = values.into_iter().map(|(keep, v)| if keep { v } else { 0.0 }).collect();
            let points = Points::new(values, 3).unwrap();
            let sparse = SparsePoints::from_dense(&points).unwrap();
            let columns = Columns::from_rows(&others, 3);
            fn check<T: Term>(points: &Points, sparse: &SparsePoints, columns: &Columns, z: &[f64]) {
                let expected: Vec<f64> = points
                    .rows()
                    .flat_map(|x| z.chunks(3).map(move |z| plain::<T>(x.as_slice(), z)))
                    .collect();
                for range in [0..11, 2..9, 4..5] {
                    let mut out = vec![f64::NAN; range.len() * 19];
                    let expected = &expected[range.start * 19..range.end * 19];
                    columns.sums_of_rows::<T, _>(points, range.clone(), &mut out);
                    assert_eq!(out, expected);
                    columns.sums_of_rows::<T, _>(sparse, range, &mut out);
                    assert_eq!(out, expected);
                }
                let mut out = vec![0.0; 19];
                for (x, expected) in points.rows().zip(expected.chunks(19)) {
                    columns.sums::<T, _>(x, &mut out);
                    assert_eq!(out, expected);
                }
            }
            check::<Product>(&points, &sparse, &columns, &others);
            check::<AbsoluteDifference>(&points, &sparse, &columns, &others);
        }
    }
}
