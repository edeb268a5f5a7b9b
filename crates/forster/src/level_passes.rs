//! The operations of a level on its points: passes, and the search for a heavy subspace. The points are either in
//! memory or in blocks that other processes read ([`crate::blocks`]).

use crate::error::ForsterError;
use crate::heavy::{self, Found, Spectrum};
use crate::pass::{Moments, Pass, Rows};
use faer::{Mat, MatRef};
use halfspaces_linalg::{InputError, Threads, zeros};

/// The points of a level.
pub(crate) trait LevelPasses {
    /// Number of rows.
    fn rows(&self) -> usize;

    /// Dimension of the rows.
    fn dim(&self) -> usize;

    /// Makes a pass with U = XA for a lower triangular A, or with U = X if there is no A. Returns `None` if a row
    /// vanishes, which means that A is numerically singular.
    fn moments(&mut self, a: Option<MatRef<'_, f64>>) -> Result<Option<Moments>, ForsterError>;

    /// Chooses the unit rows of XA as the rows for [`LevelPasses::fourth_moment`] and [`LevelPasses::heavy_subspace`].
    fn set_units(&mut self, a: MatRef<'_, f64>) -> Result<(), ForsterError>;

    /// The sum (k/W) Σ w u uᵀ (uᵀ S u) over the unit rows, for a symmetric S.
    fn fourth_moment(&mut self, s: MatRef<'_, f64>) -> Result<Mat<f64>, ForsterError>;

    /// The best of the heavy subspaces at the gaps of `spectrum` ([`heavy::find`]).
    fn heavy_subspace(
        &mut self,
        spectrum: &Spectrum,
        tolerance: f64,
        equality: bool,
    ) -> Result<Option<Found>, ForsterError>;
}

/// Rows in memory.
#[derive(Debug)]
pub(crate) struct InMemory<'a> {
    rows: &'a Rows<'a>,
    pass: Pass,
    /// The unit rows, in a buffer allocated on first use.
    unit: Vec<f64>,
}

impl<'a> InMemory<'a> {
    pub(crate) fn new(rows: &'a Rows<'a>, threads: Threads) -> Result<InMemory<'a>, InputError> {
        Ok(InMemory { rows, pass: Pass::new(rows, threads)?, unit: Vec::new() })
    }
}

impl LevelPasses for InMemory<'_> {
    fn rows(&self) -> usize {
        self.rows.len()
    }

    fn dim(&self) -> usize {
        self.rows.dim
    }

    fn moments(&mut self, a: Option<MatRef<'_, f64>>) -> Result<Option<Moments>, ForsterError> {
        Ok(self.pass.moments(self.rows, a))
    }

    fn set_units(&mut self, a: MatRef<'_, f64>) -> Result<(), ForsterError> {
        if self.unit.is_empty() {
            self.unit = zeros(self.rows.len(), self.rows.dim)?;
        }
        self.pass.unit_rows(self.rows, a, &mut self.unit);
        Ok(())
    }

    fn fourth_moment(&mut self, s: MatRef<'_, f64>) -> Result<Mat<f64>, ForsterError> {
        Ok(self.pass.fourth_moment(self.rows, &self.unit, s))
    }

    fn heavy_subspace(
        &mut self,
        spectrum: &Spectrum,
        tolerance: f64,
        equality: bool,
    ) -> Result<Option<Found>, ForsterError> {
        heavy::find(self.rows, &self.unit, spectrum, tolerance, equality)
    }
}
