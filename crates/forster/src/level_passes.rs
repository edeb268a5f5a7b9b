//! The operations of a level on its points, all of which are passes. The points are either in memory or in blocks that
//! other processes read ([`crate::blocks`]).

use crate::error::ForsterError;
use crate::pass::{Moments, Pass, Rows};
use crate::search::{Narrowing, Search, SearchPass, SearchSum};
use faer::{Mat, MatRef};
use halfspaces_linalg::{BLOCK_ROWS, InputError, PointSet, Threads, zeros};

/// The points of a level.
pub(crate) trait LevelPasses {
    /// Number of rows.
    fn rows(&self) -> usize;

    /// Sum of the weights of the rows.
    fn total(&self) -> f64;

    /// Dimension of the rows.
    fn dim(&self) -> usize;

    /// Makes a pass with U = XA for a lower triangular A, or with U = X if there is no A. Returns `None` if a row
    /// vanishes, which means that A is numerically singular.
    fn moments(&mut self, a: Option<MatRef<'_, f64>>) -> Result<Option<Moments>, ForsterError>;

    /// Chooses the unit rows of XA as the rows for [`LevelPasses::fourth_moment`].
    fn set_units(&mut self, a: MatRef<'_, f64>) -> Result<(), ForsterError>;

    /// The sum (k/W) Σ w u uᵀ (uᵀ S u) over the unit rows, for a symmetric S.
    fn fourth_moment(&mut self, s: MatRef<'_, f64>) -> Result<Mat<f64>, ForsterError>;

    /// Makes a pass of the search for a heavy subspace ([`crate::heavy`]).
    fn search(&mut self, pass: &SearchPass) -> Result<SearchSum, ForsterError>;

    /// Goes to the next level, the rows near a subspace.
    fn narrow(&mut self, to: Narrowing) -> Result<(), ForsterError>;
}

/// Rows in memory.
#[derive(Debug)]
pub(crate) struct InMemory<'a> {
    rows: Rows<'a>,
    /// For every row, its index among the rows of the first level.
    held: Vec<usize>,
    pass: Pass,
    threads: Threads,
    /// The unit rows, in a buffer allocated on first use.
    unit: Vec<f64>,
}

impl<'a> InMemory<'a> {
    pub(crate) fn new(rows: Rows<'a>, threads: Threads) -> Result<InMemory<'a>, InputError> {
        let (pass, held) = (Pass::new(&rows, threads)?, (0..rows.len()).collect());
        Ok(InMemory { rows, held, pass, threads, unit: Vec::new() })
    }

    /// For every row, its index among the rows of the first level.
    pub(crate) fn held(&self) -> &[usize] {
        &self.held
    }
}

impl LevelPasses for InMemory<'_> {
    fn rows(&self) -> usize {
        self.rows.len()
    }

    fn total(&self) -> f64 {
        self.rows.total
    }

    fn dim(&self) -> usize {
        self.rows.dim
    }

    fn moments(&mut self, a: Option<MatRef<'_, f64>>) -> Result<Option<Moments>, ForsterError> {
        Ok(self.pass.moments(&self.rows, a))
    }

    fn set_units(&mut self, a: MatRef<'_, f64>) -> Result<(), ForsterError> {
        if self.unit.is_empty() {
            self.unit = zeros(self.rows.len(), self.rows.dim)?;
        }
        self.pass.unit_rows(&self.rows, a, &mut self.unit);
        Ok(())
    }

    fn fourth_moment(&mut self, s: MatRef<'_, f64>) -> Result<Mat<f64>, ForsterError> {
        Ok(self.pass.fourth_moment(&self.rows, &self.unit, s))
    }

    fn search(&mut self, pass: &SearchPass) -> Result<SearchSum, ForsterError> {
        let (search, dim) = (Search::new(pass), self.rows.dim);
        Ok(self.pass.sum(&self.rows.values, &self.rows.weights, |buffers, values, weights| {
            search.of_block(buffers, values, weights, dim)
        })?)
    }

    fn narrow(&mut self, to: Narrowing) -> Result<(), ForsterError> {
        let dim = self.rows.dim;
        let parts = self.threads.map_blocks(self.rows.len(), BLOCK_ROWS, |block| {
            to.apply(&self.rows.values[block.start * dim..block.end * dim])
        });
        let (mut values, mut weights, mut held) = (Vec::new(), Vec::new(), Vec::new());
        for (part, first) in parts.into_iter().zip((0..).step_by(BLOCK_ROWS)) {
            let (kept, projected) = part?;
            values.extend(projected);
            weights.extend(kept.iter().map(|i| self.rows.weights[first + i]));
            held.extend(kept.iter().map(|i| self.held[first + i]));
        }
        let total = weights.iter().sum();
        let rows = Rows { values: values.into(), dim: to.basis.dim(), weights, total };
        *self = InMemory { held, ..InMemory::new(rows, self.threads)? };
        Ok(())
    }
}
