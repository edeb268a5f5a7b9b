//! The inner loop of the maps in double precision. For each row x and each column z of a matrix, the loop computes a
//! sum over the coordinates.
//!
//! Every sum adds the terms in the order of the coordinates, without fused multiply-adds, for every block size. The
//! sums of a row are therefore identical bit for bit whether the row is processed alone or with others, whether it is
//! dense or sparse (a zero adds nothing), and at every vector width. `single_kernel.rs` has its own loop. In single
//! precision, sums of products cannot resolve small distances. The loop in that file therefore sums differences, and it
//! supports only dense rows.

use halfspaces_linalg::kernels::{Wide, run_wide};
use halfspaces_linalg::{PointSet, RowView};
use std::ops::Range;

/// The number of columns in a strip. A tile is as wide as a strip.
const COLUMNS: usize = 8;
/// The number of rows in a tile. The sums of a tile fit into the registers.
const ROWS: usize = 4;
/// The number of strips processed together for a single row. This gives a single row the same number of independent
/// sums as a tile of several rows.
const STRIPS: usize = 4;
/// The number of rows multiplied by a strip before the next strip is read. With 500 coordinates, these rows take 250
/// KB.
const ROW_BLOCK: usize = 64;

/// The term that the coordinates x_i and z_i add to a sum. The term must be 0 if x_i = 0.
pub(crate) trait Term: Copy + Sync {
    fn term(x: f64, z: f64) -> f64;
}

/// The sum over the coordinates is x · z.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Product;

impl Term for Product {
    #[inline(always)]
    fn term(x: f64, z: f64) -> f64 {
        x * z
    }
}

/// The sum over the coordinates is ‖x - z‖₁ - ‖z‖₁.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AbsoluteDifference;

impl Term for AbsoluteDifference {
    #[inline(always)]
    fn term(x: f64, z: f64) -> f64 {
        (x - z).abs() - z.abs()
    }
}

/// The columns z of a matrix, grouped in strips of eight. A strip stores its eight columns coordinate by coordinate.
/// The last strip is padded with zeros.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Columns {
    strips: Vec<f64>,
    /// For each strip, the number of leading coordinates over which the sums run.
    lengths: Vec<usize>,
    count: usize,
    dim: usize,
}

impl Columns {
    /// Creates the columns from `rows`. Each row of length `dim` holds the coordinates of one column.
    pub(crate) fn from_rows(rows: &[f64], dim: usize) -> Columns {
        let count = rows.len() / dim;
        let mut strips = vec![0.0; dim * count.next_multiple_of(COLUMNS)];
        for (strip, rows) in strips.chunks_exact_mut(dim * COLUMNS).zip(rows.chunks(COLUMNS * dim))
        {
            for (k, z) in rows.chunks_exact(dim).enumerate() {
                for (values, v) in strip.chunks_exact_mut(COLUMNS).zip(z) {
                    values[k] = *v;
                }
            }
        }
        Columns { strips, lengths: vec![dim; count.div_ceil(COLUMNS)], count, dim }
    }

    /// Skips the trailing coordinates that are zero in all columns of a strip, which halves the work for a triangular
    /// matrix. Call this only before sums of [`Product`], where a zero adds nothing.
    pub(crate) fn without_trailing_zeros(mut self) -> Columns {
        let strips = self.strips.chunks_exact(self.dim * COLUMNS);
        for (length, strip) in self.lengths.iter_mut().zip(strips) {
            let last = strip.iter().rposition(|z| *z != 0.0);
            *length = last.map_or(0, |at| at / COLUMNS + 1);
        }
        self
    }

    /// The number of columns.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Computes Σ_i term(x_i, z_i) for one row and every column.
    pub(crate) fn sums<T: Term, R: RowView>(&self, x: R, out: &mut [f64]) {
        assert_eq!(out.len(), self.count, "one sum per column");
        out.fill(0.0);
        for (i, x_i) in x.entries() {
            let strips = self.strips.chunks_exact(self.dim * COLUMNS);
            for (out, strip) in out.chunks_mut(COLUMNS).zip(strips) {
                for (out, z_i) in out.iter_mut().zip(&strip[i * COLUMNS..]) {
                    *out += T::term(x_i, *z_i);
                }
            }
        }
    }

    /// Computes the sums of the points with indices `rows`, row by row.
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

    /// Computes the sums of dense rows, which have the length of a column.
    pub(crate) fn sums_of_block<T: Term>(&self, rows: &[f64], out: &mut [f64]) {
        run_wide(Block { columns: self, rows, out, term: T::term });
    }
}

/// Computes the sums of R rows and S strips over the first `len` coordinates.
#[inline(always)]
fn tile<const R: usize, const S: usize>(
    rows: &[f64],
    strips: &[f64],
    len: usize,
    term: &impl Fn(f64, f64) -> f64,
) -> [[[f64; COLUMNS]; S]; R] {
    let dim = rows.len() / R;
    let rows: [&[f64]; R] = std::array::from_fn(|r| &rows[r * dim..][..len]);
    let strips: [&[f64]; S] =
        std::array::from_fn(|s| &strips[s * dim * COLUMNS..][..len * COLUMNS]);
    let mut sums = [[[0.0; COLUMNS]; S]; R];
    for i in 0..len {
        for (s, strip) in strips.iter().enumerate() {
            let z = &strip[i * COLUMNS..][..COLUMNS];
            for (sums, x) in sums.iter_mut().zip(rows) {
                for (sum, z_i) in sums[s].iter_mut().zip(z) {
                    *sum += term(x[i], *z_i);
                }
            }
        }
    }
    sums
}

/// Computes the sums of a block of rows, compiled for the vector instructions that the processor supports.
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
        let Block { columns: Columns { strips, lengths, count, dim }, rows, out, term } = self;
        let (count, dim) = (*count, *dim);
        for (rows, out) in rows.chunks(ROW_BLOCK * dim).zip(out.chunks_mut(ROW_BLOCK * count)) {
            let remainder = rows.len() / dim % ROWS;
            let (tiles, single) = rows.split_at(rows.len() - remainder * dim);
            let (out, out_single) = out.split_at_mut(tiles.len() / dim * count);
            let strips_and_lengths = strips.chunks_exact(dim * COLUMNS).zip(lengths);
            for (k, (strip, len)) in strips_and_lengths.enumerate() {
                let columns = k * COLUMNS..count.min((k + 1) * COLUMNS);
                let tiles = tiles.chunks_exact(ROWS * dim).zip(out.chunks_exact_mut(ROWS * count));
                for (rows, out) in tiles {
                    let sums = tile::<ROWS, 1>(rows, strip, *len, &term);
                    for ([sums], out) in sums.iter().zip(out.chunks_exact_mut(count)) {
                        store(&mut out[columns.clone()], sums);
                    }
                }
            }
            for (x, out) in single.chunks_exact(dim).zip(out_single.chunks_exact_mut(count)) {
                let strips = strips.chunks(STRIPS * dim * COLUMNS).zip(lengths.chunks(STRIPS));
                for ((strips, lengths), out) in strips.zip(out.chunks_mut(STRIPS * COLUMNS)) {
                    if let [a, b, c, d] = *lengths {
                        let len = a.max(b).max(c).max(d);
                        let [sums] = tile::<1, STRIPS>(x, strips, len, &term);
                        let out = out.chunks_mut(COLUMNS);
                        sums.iter().zip(out).for_each(|(sums, out)| store(out, sums));
                    } else {
                        let strips = strips.chunks_exact(dim * COLUMNS).zip(lengths);
                        for ((strip, len), out) in strips.zip(out.chunks_mut(COLUMNS)) {
                            let [[sums]] = tile::<1, 1>(x, strip, *len, &term);
                            store(out, &sums);
                        }
                    }
                }
            }
        }
    }
}

/// Stores the sums of a strip, except the sums of the padding.
#[inline(always)]
fn store(out: &mut [f64], sums: &[f64; COLUMNS]) {
    out.copy_from_slice(&sums[..out.len()]);
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

    /// This number of rows gives more than one block, and a remainder that does not fill a tile.
    const ROWS_OF_TEST: usize = ROW_BLOCK + 11;
    /// This number of columns gives a full group of strips for a single row, further strips, and a strip that is not
    /// full.
    const COLUMNS_OF_TEST: usize = (STRIPS + 2) * COLUMNS + 3;

    proptest! {
        #[test]
        fn every_route_equals_the_plain_loop_to_the_bit(
            values in prop::collection::vec((any::<bool>(), -9.0..9.0f64), 3 * ROWS_OF_TEST),
            others in prop::collection::vec(-9.0..9.0f64, 3 * COLUMNS_OF_TEST),
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
                for range in [0..ROWS_OF_TEST, 2..9, 4..5] {
                    let mut out = vec![f64::NAN; range.len() * COLUMNS_OF_TEST];
                    let expected = &expected[range.start * COLUMNS_OF_TEST..range.end * COLUMNS_OF_TEST];
                    columns.sums_of_rows::<T, _>(points, range.clone(), &mut out);
                    assert_eq!(out, expected);
                    columns.sums_of_rows::<T, _>(sparse, range, &mut out);
                    assert_eq!(out, expected);
                }
                let mut out = vec![0.0; COLUMNS_OF_TEST];
                for (x, expected) in points.rows().zip(expected.chunks(COLUMNS_OF_TEST)) {
                    columns.sums::<T, _>(x, &mut out);
                    assert_eq!(out, expected);
                }
            }
            check::<Product>(&points, &sparse, &columns, &others);
            check::<AbsoluteDifference>(&points, &sparse, &columns, &others);
        }
    }

    /// The matrix is a triangle of 51 columns. The sums of each strip run over the length of its longest column.
    #[test]
    fn trailing_zeros_are_skipped() {
        let size = COLUMNS_OF_TEST;
        let entry = |k: usize, i: usize| if i <= k { (1 + k * 7 % 5 + i) as f64 } else { 0.0 };
        let rows: Vec<f64> = (0..size).flat_map(|k| (0..size).map(move |i| entry(k, i))).collect();
        let full = Columns::from_rows(&rows, size);
        let short = full.clone().without_trailing_zeros();
        let lengths: Vec<usize> =
            (1..=size.div_ceil(COLUMNS)).map(|k| size.min(k * COLUMNS)).collect();
        assert_eq!(short.lengths, lengths);
        for count in [1, ROWS, ROWS + 3] {
            let x: Vec<f64> = (0..count * size).map(|i| (i as f64 * 0.7).sin()).collect();
            let sums = |columns: &Columns| {
                let mut out = vec![f64::NAN; count * size];
                columns.sums_of_block::<Product>(&x, &mut out);
                out
            };
            assert_eq!(sums(&short), sums(&full), "{count}");
        }
        let none = Columns::from_rows(&[0.0; 6], 3).without_trailing_zeros();
        assert_eq!(none.lengths, [0]);
    }
}
