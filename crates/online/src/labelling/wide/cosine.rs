//! The kernel of dense rows. Part of `LabellingSession`. Claims: none.
//!
//! K(x, z) = exp((c - 1)/½), where c is the cosine of the two centred rows. This is the Gaussian kernel of the
//! directions of the rows. Rows of unit length, such as embeddings of texts, are only centred, because all their
//! columns have the same scale. The columns of other rows are standardised first.

use super::rows::dense_dot;
use halfspaces_features::{FeatureMap, ZScore};
use halfspaces_linalg::kernels::{Wide, run_wide};
use halfspaces_linalg::{InputError, PointSet, RowView, Threads, exp_neg, reserve};

/// The squared width of the Gaussian kernel of the directions, whose squared distances are 2 - 2c.
const WIDTH: f64 = 0.5;
/// Number of points that a thread processes at a time.
const BLOCK: usize = 2048;

/// The directions of the rows of a pool.
#[derive(Debug, Clone)]
pub(super) struct CosineKernel {
    map: Map,
    dim: usize,
    /// Centred rows of norm 1, or 0 for a row at the centre.
    rows: Vec<f32>,
}

#[derive(Debug, Clone)]
enum Map {
    /// The means of the columns.
    Centre(Vec<f64>),
    Standardise(ZScore),
}

impl CosineKernel {
    /// Fits the map to the given points. `unit` states whether all rows have norm 1.
    pub(super) fn fit<P: PointSet>(
        points: &P,
        unit: bool,
        threads: Threads,
    ) -> Result<Self, InputError> {
        let map = if unit {
            let mut means = vec![0.0; points.dim()];
            points.rows().for_each(|row| row.add_scaled_to(1.0, &mut means));
            means.iter_mut().for_each(|v| *v /= points.len() as f64);
            Map::Centre(means)
        } else {
            Map::Standardise(ZScore::fit(points)?)
        };
        let mut kernel = CosineKernel { map, dim: points.dim(), rows: Vec::new() };
        kernel.append(points, threads)?;
        Ok(kernel)
    }

    /// Appends points. The map that was computed from the first points is kept.
    pub(super) fn append<P: PointSet>(
        &mut self,
        points: &P,
        threads: Threads,
    ) -> Result<(), InputError> {
        /// Number of points mapped at a time.
        const TOGETHER: usize = 1024;
        InputError::check_dim(self.dim, points.dim())?;
        reserve(&mut self.rows, points.len().saturating_mul(self.dim))?;
        let before = self.rows.len();
        let indices: Vec<usize> = (0..points.len()).collect();
        for block in indices.chunks(TOGETHER) {
            if let Err(error) = self.append_block(&points.select(block)?, threads) {
                self.rows.truncate(before);
                return Err(error.at_row(block[0]));
            }
        }
        Ok(())
    }

    fn append_block<P: PointSet>(&mut self, block: &P, threads: Threads) -> Result<(), InputError> {
        match &self.map {
            Map::Centre(means) => {
                let mut centred = vec![0.0; self.dim];
                for row in block.rows() {
                    centred.iter_mut().zip(means).for_each(|(c, mean)| *c = -mean);
                    row.add_scaled_to(1.0, &mut centred);
                    push_unit(&mut self.rows, &centred);
                }
            }
            Map::Standardise(scale) => {
                let scaled = scale.apply_on(block, threads)?;
                let rows = scaled.as_slice().chunks_exact(self.dim);
                rows.for_each(|row| push_unit(&mut self.rows, row));
            }
        }
        Ok(())
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len() / self.dim
    }

    /// Drops all points except the first `len`.
    pub(super) fn truncate(&mut self, len: usize) {
        self.rows.truncate(len * self.dim);
    }

    pub(super) fn work(&self) -> usize {
        self.dim
    }

    #[inline(always)]
    fn row(&self, index: usize) -> &[f32] {
        &self.rows[index * self.dim..][..self.dim]
    }

    /// K(x, a) for the points x in `others`.
    pub(super) fn between(&self, a: usize, others: &[usize]) -> Vec<f64> {
        let mut out = vec![0.0; others.len()];
        let points = others.iter().copied();
        run_wide(Values { kernel: self, a: self.row(a), points, out: &mut out });
        out
    }

    /// K(x, x).
    pub(super) fn own(&self, index: usize) -> f64 {
        self.between(index, &[index])[0]
    }

    /// K(x, a) for every point x of the pool.
    pub(super) fn column(&self, a: usize, threads: Threads) -> Vec<f64> {
        let a = self.row(a);
        let mut out = vec![0.0; self.len()];
        threads.map_with(
            out.chunks_mut(BLOCK).enumerate(),
            || (),
            |(), (block, out)| run_wide(Values { kernel: self, a, points: block * BLOCK.., out }),
        );
        out
    }
}

/// Appends a row that is scaled to norm 1. A row that equals the centre up to rounding is appended as 0.
fn push_unit(rows: &mut Vec<f32>, row: &[f64]) {
    /// A row whose norm is below this value has no direction.
    const MIN_NORM: f64 = 1e-9;
    let most = row.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
    let norm = most * row.iter().map(|v| (v / most).powi(2)).sum::<f64>().sqrt();
    let factor = if norm > MIN_NORM { 1.0 / norm } else { 0.0 };
    rows.extend(row.iter().map(|v| (v * factor) as f32));
}

/// Computes the kernel between a row and some points. The loops are written out because code that is not inlined is
/// compiled without the wide vector instructions.
struct Values<'a, I> {
    kernel: &'a CosineKernel,
    a: &'a [f32],
    points: I,
    out: &'a mut [f64],
}

impl<I: Iterator<Item = usize>> Wide for Values<'_, I> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Values { kernel, a, points, out } = self;
        for (out, index) in out.iter_mut().zip(points) {
            let cosine = f64::from(dense_dot(kernel.row(index), a));
            *out = exp_neg((1.0 - cosine).max(0.0) / WIDTH);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::embeddings;
    use super::*;
    use halfspaces_linalg::{Points, kernels};

    /// Compares the kernel with exp(2 (c - 1)), where c is the cosine of the rows. The rows are centred, and they are
    /// standardised unless they have norm 1.
    #[test]
    fn the_kernel_is_that_of_its_definition() {
        let (n, dim) = (40, 120);
        let (points, _) = embeddings(n, dim, 3);
        for unit in [true, false] {
            let kernel = CosineKernel::fit(&points, unit, Threads::ONE).unwrap();
            let column = |j: usize| points.as_slice().iter().skip(j).step_by(dim);
            let mean: Vec<f64> = (0..dim).map(|j| column(j).sum::<f64>() / n as f64).collect();
            let scale = |j: usize| {
                let square = column(j).map(|v| (v - mean[j]).powi(2)).sum::<f64>() / n as f64;
                if unit { 1.0 } else { square.sqrt() }
            };
            let scales: Vec<f64> = (0..dim).map(scale).collect();
            let row = |i: usize| -> Vec<f64> {
                (0..dim).map(|j| (points.as_slice()[i * dim + j] - mean[j]) / scales[j]).collect()
            };
            for i in 0..n {
                let column = kernel.column(i, Threads::ONE);
                for (j, value) in column.iter().enumerate() {
                    let (x, z) = (row(i), row(j));
                    let size = (kernels::norm_sq(&x) * kernels::norm_sq(&z)).sqrt();
                    let expected = (2.0 * (kernels::dot(&x, &z) / size - 1.0)).exp();
                    assert!((value - expected).abs() < 1e-5, "{value} {expected}");
                }
                assert_eq!(kernel.between(i, &[5, 2]), [column[5], column[2]]);
                assert!((kernel.own(i) - 1.0).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn a_row_at_the_centre_has_no_direction() {
        let points = Points::from_rows(&[[1.0, 0.0], [-1.0, 0.0], [0.0, 0.0]]).unwrap();
        let kernel = CosineKernel::fit(&points, true, Threads::ONE).unwrap();
        assert_eq!(kernel.row(2), [0.0, 0.0]);
        assert!((kernel.own(2) - (-2f64).exp()).abs() < 1e-12);
    }

    /// The values of all rows, computed in blocks, are those computed row by row.
    #[test]
    fn columns_of_several_blocks_have_the_values_of_their_rows() {
        let (points, _) = embeddings(40, 8, 3);
        let mut kernel = CosineKernel::fit(&points, true, Threads::ONE).unwrap();
        let more: Vec<usize> = (0..BLOCK + 7).map(|i| i % 37).collect();
        kernel.append(&points.select(&more).unwrap(), Threads::ONE).unwrap();
        let n = kernel.len();
        assert_eq!(n, 40 + more.len());
        let column = kernel.column(5, Threads::ONE);
        assert_eq!(column, kernel.between(5, &(0..n).collect::<Vec<_>>()));
        kernel.truncate(41);
        assert_eq!((kernel.len(), kernel.column(5, Threads::ONE)), (41, column[..41].to_vec()));
    }
}
