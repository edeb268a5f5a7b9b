//! Decides whether a pool is wide, and chooses the kernel of a wide pool. Part of `LabellingSession`. Claims: none.

use super::super::features::MAX_COLUMNS;
use super::cosine::CosineKernel;
use super::text::TextKernel;
use halfspaces_linalg::{InputError, PointSet, RowView, Threads};

/// The number of columns beyond which a pool is wide if its rows have norm 1. Other pools are wide if they have more
/// than [`MAX_COLUMNS`] columns.
const MIN_COLUMNS: usize = 100;
/// A row counts as having unit length if its norm differs from 1 by at most this value. The limit is not 0, because
/// embeddings may be stored with a precision of ten bits.
const UNIT: f64 = 0.02;
/// A pool is sparse if at most this fraction of its entries is non-zero.
const SPARSE: f64 = 0.1;
/// The number of rows that are inspected to classify a pool.
const INSPECTED: usize = 1000;

/// A kernel on a pool.
#[derive(Debug, Clone)]
pub(super) enum Kernel {
    Text(TextKernel),
    Cosine(CosineKernel),
}

impl Kernel {
    /// The kernel of a wide pool. The choice depends on the contents of the pool and not on its storage format. Returns
    /// `None` if the pool is narrow.
    pub(super) fn fit<P: PointSet>(
        points: &P,
        threads: Threads,
    ) -> Result<Option<Kernel>, InputError> {
        let dim = points.dim();
        if dim <= MIN_COLUMNS || points.is_empty() {
            return Ok(None);
        }
        let step = points.len().div_ceil(INSPECTED);
        let (mut inspected, mut stored, mut unit) = (0usize, 0usize, true);
        for row in (0..points.len()).step_by(step).filter_map(|index| points.row(index)) {
            inspected += 1;
            stored += row.entries().filter(|(_, v)| *v != 0.0).count();
            unit &= (row.norm_sq().sqrt() - 1.0).abs() <= UNIT;
        }
        if dim <= MAX_COLUMNS && !unit {
            return Ok(None);
        }
        let kernel = if stored as f64 <= SPARSE * inspected as f64 * dim as f64 {
            Kernel::Text(TextKernel::fit(points, threads)?)
        } else {
            Kernel::Cosine(CosineKernel::fit(points, unit, threads)?)
        };
        Ok(Some(kernel))
    }

    pub(super) fn append<P: PointSet>(
        &mut self,
        points: &P,
        threads: Threads,
    ) -> Result<(), InputError> {
        match self {
            Kernel::Text(kernel) => kernel.append(points, threads),
            Kernel::Cosine(kernel) => kernel.append(points, threads),
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Kernel::Text(kernel) => kernel.len(),
            Kernel::Cosine(kernel) => kernel.len(),
        }
    }

    /// Drops all points except the first `len`.
    pub(super) fn truncate(&mut self, len: usize) {
        match self {
            Kernel::Text(kernel) => kernel.truncate(len),
            Kernel::Cosine(kernel) => kernel.truncate(len),
        }
    }

    /// The mean number of multiplications per value of the kernel.
    pub(super) fn work(&self) -> usize {
        match self {
            Kernel::Text(kernel) => kernel.work(),
            Kernel::Cosine(kernel) => kernel.work(),
        }
    }

    /// K(x, a) for the points x in `others`.
    pub(super) fn between(&self, a: usize, others: &[usize]) -> Vec<f64> {
        match self {
            Kernel::Text(kernel) => kernel.between(a, others),
            Kernel::Cosine(kernel) => kernel.between(a, others),
        }
    }

    /// K(x, x).
    pub(super) fn own(&self, index: usize) -> f64 {
        match self {
            Kernel::Text(kernel) => kernel.own(index),
            Kernel::Cosine(kernel) => kernel.own(index),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_linalg::{Points, SparsePoints};

    fn kind(points: &Points) -> &'static str {
        let sparse = SparsePoints::from_dense(points).unwrap();
        let name = |kernel| match kernel {
            None => "narrow",
            Some(Kernel::Text(_)) => "text",
            Some(Kernel::Cosine(_)) => "cosine",
        };
        let of_dense = name(Kernel::fit(points, Threads::ONE).unwrap());
        assert_eq!(name(Kernel::fit(&sparse, Threads::ONE).unwrap()), of_dense);
        of_dense
    }

    /// Rows with the given norm, in which only the first `stored` of `dim` entries are not 0.
    fn rows(dim: usize, stored: usize, norm: f64) -> Points {
        let value = |i: usize, j: usize| if j < stored { 1.0 + ((i + j) % 3) as f64 } else { 0.0 };
        let values = (0..30).flat_map(|i| (0..dim).map(move |j| value(i, j))).collect();
        let unit = Points::new(values, dim).unwrap().normalised().unwrap();
        Points::new(unit.into_vec().into_iter().map(|v| v * norm).collect(), dim).unwrap()
    }

    /// A pool is wide if it has more than 256 columns, or more than 100 columns and rows whose norms differ from 1 by
    /// at most 0.02. It is sparse if at most one entry in ten is not zero.
    #[test]
    fn wide_pools_are_recognised_by_their_contents() {
        for (dim, stored, norm, expected) in [
            (100, 100, 1.0, "narrow"),
            (101, 101, 1.0, "cosine"),
            (101, 101, 1.019, "cosine"),
            (101, 101, 0.979, "narrow"),
            (256, 256, 2.0, "narrow"),
            (257, 257, 2.0, "cosine"),
            (100, 3, 1.0, "narrow"),
            (110, 11, 1.0, "text"),
            (110, 12, 1.0, "cosine"),
            (256, 3, 2.0, "narrow"),
            (257, 3, 2.0, "text"),
        ] {
            assert_eq!(kind(&rows(dim, stored, norm)), expected, "{dim} {stored} {norm}");
        }
    }
}
