//! The Forster transform of points that do not fit on one machine: a fit that requests one pass at a time.
//!
//! A pass is a value ([`ForsterPass`]) that is sent to the processes that hold blocks of rows. Each of these workers
//! computes the sums over its blocks ([`ForsterPass::partial`]). The partial results are joined in any order
//! ([`halfspaces_linalg::Partial`]), and the total ([`MomentSum`]) is returned to the fit. The iteration, the kernels
//! and the blocks are those of [`Forster::fit`](crate::Forster::fit). If no point is zero or repeated and all lengths
//! are in [1e-100, 1e100], both fits return bit-for-bit identical results.
//!
//! *Cost.* Each pass over n × d points reads the points once, sends d² numbers to each worker and receives d²/2 numbers
//! from each worker.
//!
//! *Limits.* There is no search for a heavy subspace, because it would need all points on one machine. A fit that
//! requires the search ends with [`Reason::SubspaceUnknown`].

use crate::dense::{eigenvalues, extremes};
use crate::error::ForsterError;
use crate::forster::{Forster, rows_of};
use crate::heavy::{Found, Spectrum};
use crate::isotropy::Isotropy;
use crate::iterate::Iterate;
use crate::level::{self, End};
use crate::level_passes::LevelPasses;
use crate::pass::{Buffers, MomentSum, Moments, form_of};
use crate::prepare::{is_moderate, largest_size, rescale};
use crate::report::{Level, LevelEnd, Reason};
use crate::survey::{Start, whitening_of};
use crate::tile::Factor;
use crate::transform::ForsterTransform;
use faer::{Mat, MatRef};
use halfspaces_linalg::{
    DensePoints, InputError, Partial, PointSet, Points, Threads, getters, zeros,
};
use std::borrow::Cow;

/// One pass over all blocks, to be sent to the processes that hold them.
///
/// ```
/// use halfspaces_forster::ForsterPass;
/// use halfspaces_linalg::{Points, Threads};
/// let block = Points::from_rows(&[[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]])?;
/// let partial = ForsterPass::of_unchanged_rows().partial(0, &block, Threads::ONE)?;
/// let sum = partial.finish(1)?.unwrap();
/// assert_eq!(sum.rows(), 2); // zero rows do not count
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ForsterPass {
    /// The rows of A; `None` for a pass over the unchanged rows.
    factor: Option<Points>,
    /// The rows of a symmetric S. If they are given, the pass computes Σ u uᵀ (uᵀ S u) over the unit rows u of XA
    /// instead of Σ u uᵀ.
    form: Option<Points>,
}

impl ForsterPass {
    /// The first pass of every fit, over the rows scaled to norm 1.
    #[must_use]
    pub fn of_unchanged_rows() -> ForsterPass {
        ForsterPass { factor: None, form: None }
    }

    /// The sums over the blocks of `points`, whose first row is the first row of block `first`. All blocks must be
    /// complete, except the last one of the whole data set.
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`] if the pass was made for rows of a different length; [`InputError::TooLarge`].
    pub fn partial(
        &self,
        first: u64,
        points: &DensePoints<'_>,
        threads: Threads,
    ) -> Result<Partial<MomentSum>, InputError> {
        let dim = points.dim();
        for square in [&self.factor, &self.form].into_iter().flatten() {
            InputError::check_dim(square.dim(), dim)?;
            InputError::check_dim(square.len(), dim)?;
        }
        let factor = self.factor.as_ref().map(|a| Factor::new(a.as_mat()));
        let form = self.form.as_ref().map(|s| form_of(s.as_mat()));
        let groups = Partial::<MomentSum>::groups(first, points.len()).len();
        let buffers = (0..groups).map(|_| Ok((Buffers::new(dim)?, Vec::new())));
        let mut buffers: Vec<_> = buffers.collect::<Result<_, InputError>>()?;
        threads.sum_blocks(first, points.len(), &mut buffers, |(buffers, unit), rows| {
            let values = regular(&points.as_slice()[rows.start * dim..rows.end * dim], dim);
            let weights = vec![1.0; values.len() / dim];
            let (Some(factor), Some(form)) = (&factor, &form) else {
                return Ok(buffers.moments(&values, &weights, factor.as_ref()));
            };
            *unit = zeros(weights.len(), dim)?;
            buffers.unit_rows(&values, factor, unit);
            Ok(buffers.fourth(unit, &weights, form))
        })
    }
}

/// The rows that are not zero, rescaled so that no length is huge or tiny.
fn regular(values: &[f64], dim: usize) -> Cow<'_, [f64]> {
    if values.chunks_exact(dim).all(is_moderate) {
        return Cow::Borrowed(values);
    }
    let mut kept = Vec::with_capacity(values.len());
    for row in values.chunks_exact(dim).filter(|row| largest_size(row) > 0.0) {
        let start = kept.len();
        kept.extend_from_slice(row);
        rescale(&mut kept[start..]);
    }
    Cow::Owned(kept)
}

/// The result of [`Forster::fit_blocks`].
///
/// ```
/// use halfspaces_data::{Marginal, StudentT};
/// use halfspaces_forster::{ForsterTransform, LevelEnd};
/// use halfspaces_linalg::{Params, Threads};
/// let points = StudentT::new(4, 2.0, 50.0)?.sample(10_000, 1)?;
/// let solver = ForsterTransform::params().check()?;
/// let fit = solver.fit_blocks(4, |pass| {
///     let partial = pass.partial(0, &points, Threads::ONE).ok()?;
///     partial.finish(3).ok().flatten() // 10 000 rows are 3 blocks
/// })?;
/// assert_eq!((fit.end(), fit.rows()), (LevelEnd::Isotropic, 10_000));
/// // A fit in memory gives the same bits.
/// assert_eq!(fit.transform(), solver.fit(&points)?.transform());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct BlocksFit {
    transform: ForsterTransform,
    certificate: Isotropy,
    rows: u64,
    level: Level,
}

impl BlocksFit {
    getters! {
        /// The last transform reached.
        transform: &ForsterTransform,

        /// The eigenvalues of M at this transform, from the last pass over the points.
        certificate: Isotropy,

        /// Number of rows that are not zero.
        rows: u64,

        /// The work done by the fit.
        level: &Level,
    }

    /// How the fit ended: with [`LevelEnd::Isotropic`] or without an answer.
    #[must_use]
    pub fn end(&self) -> LevelEnd {
        self.level.end
    }
}

/// Points that are accessible only through passes.
struct Remote<F> {
    run: F,
    dim: usize,
    /// Number of rows that are not zero; 0 before the first pass.
    rows: u64,
    /// The factor A that was chosen for passes over the unit rows of XA.
    units: Option<Points>,
    /// Whether the level has requested the search for a heavy subspace.
    searched: bool,
}

impl<F: FnMut(&ForsterPass) -> Option<MomentSum>> Remote<F> {
    fn pass(&mut self, pass: &ForsterPass) -> Result<MomentSum, ForsterError> {
        let sum = (self.run)(pass).ok_or(ForsterError::PassFailed)?;
        let expected = self.rows;
        if !sum.is_of_dim(self.dim) || (expected > 0 && sum.rows() != expected) {
            let found = sum.rows();
            return Err(ForsterError::RowsChanged { expected, found });
        }
        self.rows = sum.rows();
        Ok(sum)
    }
}

impl<F: FnMut(&ForsterPass) -> Option<MomentSum>> LevelPasses for Remote<F> {
    fn rows(&self) -> usize {
        self.rows as usize
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn moments(&mut self, a: Option<MatRef<'_, f64>>) -> Result<Option<Moments>, ForsterError> {
        let factor = a.map(rows_of).transpose()?;
        let sum = self.pass(&ForsterPass { factor, form: None })?;
        Ok(sum.moments(self.dim, sum.weight()))
    }

    fn set_units(&mut self, a: MatRef<'_, f64>) -> Result<(), ForsterError> {
        self.units = Some(rows_of(a)?);
        Ok(())
    }

    fn fourth_moment(&mut self, s: MatRef<'_, f64>) -> Result<Mat<f64>, ForsterError> {
        let (factor, form) = (self.units.clone(), Some(rows_of(s)?));
        let sum = self.pass(&ForsterPass { factor, form })?;
        Ok(sum.matrix(self.dim, sum.weight()))
    }

    fn heavy_subspace(
        &mut self,
        _: &Spectrum,
        _: f64,
        _: bool,
    ) -> Result<Option<Found>, ForsterError> {
        self.searched = true;
        Ok(None)
    }
}

impl Forster {
    /// Brings points into radially isotropic position. The points are in R^`dim`, and other processes hold them in
    /// blocks. `run` performs a pass: every worker computes the sums over its blocks ([`ForsterPass::partial`]), and
    /// `run` joins the partial results. It returns the total, or `None` if the pass failed. Zero points are dropped.
    /// Repeated points are not merged.
    ///
    /// # Errors
    /// [`ForsterError::PassFailed`] if `run` returns `None`; [`ForsterError::RowsChanged`] if two passes count
    /// different numbers of rows; [`ForsterError::NoDirection`]; [`ForsterError::NearlyFlat`] if the points lie near a
    /// proper subspace; [`ForsterError::NoConvergence`].
    pub fn fit_blocks(
        &self,
        dim: usize,
        run: impl FnMut(&ForsterPass) -> Option<MomentSum>,
    ) -> Result<BlocksFit, ForsterError> {
        if dim == 0 {
            return Err(InputError::ZeroDimension.into());
        }
        let mut points = Remote { run, dim, rows: 0, units: None, searched: false };
        let failure = ForsterError::NoConvergence { dim };
        let moments = points.moments(None)?;
        if points.rows == 0 {
            return Err(ForsterError::NoDirection { points: 0 });
        }
        let moments = moments.ok_or(failure)?;
        let values = eigenvalues(moments.moment.as_ref())?;
        let Some(whitening) = whitening_of(&moments, &values) else {
            let (least, largest) = extremes(&values);
            return Err(ForsterError::NearlyFlat { ratio: least / largest });
        };
        let iterate = Iterate::identity(dim, moments, &values);
        let start = Start { iterate, whitening };
        let (mut level, last, end) = level::solve(self.params(), &mut points, start, 0)?;
        let (least, largest) = last.extremes;
        let certificate = Isotropy::of_extremes(least, largest);
        level.end = match end {
            // The level requested the search because rounding could hide a subspace, or because A degenerates.
            End::Isotropic if points.searched => LevelEnd::Unresolved(Reason::SubspaceUnknown),
            End::Unresolved(Reason::ConditionCap) if points.searched => {
                LevelEnd::Unresolved(Reason::SubspaceUnknown)
            }
            End::Isotropic => LevelEnd::Isotropic,
            End::Unresolved(reason) => LevelEnd::Unresolved(reason),
            End::Heavy(_) => unreachable!("no subspace was searched for"),
        };
        let identity = rows_of(Mat::<f64>::identity(dim, dim).as_ref())?;
        let transform = ForsterTransform::new(identity, last.a)?;
        Ok(BlocksFit { transform, certificate, rows: points.rows, level })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Step;
    use crate::{Accuracy, Outcome};
    use halfspaces_data::{Excess, Gaussian, HeavyCase, HeavyKind, Marginal, StudentT};
    use halfspaces_linalg::{BLOCK_ROWS, Params};

    /// Runs a pass on `workers` workers. Each of them sums every `workers`th block, and the last worker also sums the
    /// first block again.
    fn shared(points: &DensePoints<'_>, workers: usize, pass: &ForsterPass) -> Option<MomentSum> {
        let (n, dim) = (points.len(), points.dim());
        let blocks = n.div_ceil(BLOCK_ROWS);
        let mut all = Partial::default();
        for worker in (0..workers).rev() {
            let extra = (worker + 1 == workers).then_some(0);
            for block in (worker..blocks).step_by(workers).chain(extra) {
                let rows = block * BLOCK_ROWS..n.min((block + 1) * BLOCK_ROWS);
                let values = points.as_slice()[rows.start * dim..rows.end * dim].to_vec();
                let values = Points::new(values, dim).unwrap();
                all.merge(pass.partial(block as u64, &values, Threads::ONE).unwrap()).unwrap();
            }
        }
        all.finish(blocks as u64).unwrap()
    }

    #[test]
    fn workers_and_machines_find_the_same_bits_as_a_fit_in_memory() {
        let points = StudentT::new(6, 2.0, 1e3).unwrap().sample(5 * BLOCK_ROWS + 70, 1).unwrap();
        for step in [Step::Automatic, Step::Newton] {
            let params = ForsterTransform::params().accuracy(Accuracy::TwoSided(1e-9)).step(step);
            let alone = params.threads(Threads::all()).check().unwrap().fit(&points).unwrap();
            assert!(matches!(alone.outcome(), Outcome::RadiallyIsotropic(_)));
            let solver = params.check().unwrap();
            for workers in [1, 2, 3, 8] {
                let fit = solver.fit_blocks(6, |pass| shared(&points, workers, pass)).unwrap();
                assert_eq!(fit.end(), LevelEnd::Isotropic);
                assert_eq!(fit.transform(), alone.transform(), "{step:?} {workers}");
                assert_eq!(fit.level(), &alone.levels()[0]);
                assert!(fit.certificate().residual() <= 1e-9);
            }
        }
    }

    #[test]
    fn zero_and_huge_rows_are_treated_as_in_memory() {
        let mut values = Gaussian::new(3, 5.0).unwrap().sample(500, 1).unwrap().into_vec();
        values[30..33].fill(0.0);
        values[60..63].iter_mut().for_each(|v| *v *= 1e200);
        let points = Points::new(values, 3).unwrap();
        let solver = ForsterTransform::params().check().unwrap();
        let fit = solver.fit_blocks(3, |pass| shared(&points, 1, pass)).unwrap();
        let alone = solver.fit(&points).unwrap();
        assert_eq!((fit.rows(), alone.zero_rows()), (499, &[10][..]));
        assert_eq!(fit.transform(), alone.transform());
    }

    #[test]
    fn what_needs_all_points_is_not_claimed() {
        let case = HeavyCase::new(HeavyKind::Gaussian, 4, 2, 400, Excess::Share(0.5), 4).unwrap();
        let solver = ForsterTransform::params().check().unwrap();
        let fit = solver.fit_blocks(4, |pass| shared(case.points(), 1, pass)).unwrap();
        assert_eq!(fit.end(), LevelEnd::Unresolved(Reason::SubspaceUnknown));
        // These points lie in a plane.
        let flat: Vec<f64> =
            case.points().as_slice().chunks(4).flat_map(|x| [x[0], x[1], x[0] - x[1]]).collect();
        let flat = Points::new(flat, 3).unwrap();
        let fault = solver.fit_blocks(3, |pass| shared(&flat, 1, pass));
        assert!(matches!(fault, Err(ForsterError::NearlyFlat { .. })), "{fault:?}");
    }

    #[test]
    fn failed_and_changed_passes_are_told() {
        let solver = ForsterTransform::params().check().unwrap();
        assert_eq!(solver.fit_blocks(2, |_| None), Err(ForsterError::PassFailed));
        let points = StudentT::new(2, 2.0, 50.0).unwrap().sample(100, 1).unwrap();
        let mut passes = 0;
        let fault = solver.fit_blocks(2, |pass| {
            passes += 1;
            let rows = Points::new(points.as_slice()[..200 - 2 * passes].to_vec(), 2).unwrap();
            shared(&rows, 1, pass)
        });
        assert_eq!(fault, Err(ForsterError::RowsChanged { expected: 99, found: 98 }));
        let zeros = Points::from_rows(&[[0.0, 0.0]]).unwrap();
        let fault = solver.fit_blocks(2, |pass| shared(&zeros, 1, pass));
        assert_eq!(fault, Err(ForsterError::NoDirection { points: 0 }));
        let wrong = ForsterPass { factor: Some(zeros), form: None };
        assert!(wrong.partial(0, &points, Threads::ONE).is_err());
    }

    /// More than half of the points are within 3e-6 of a line. A fit in memory finds that none of them is on it, but
    /// passes over blocks cannot decide this.
    #[test]
    fn a_position_next_to_a_heavy_line_is_not_claimed() {
        let mut rows: Vec<[f64; 2]> = (0..6).map(|k| [1.0, 1e-6 * (f64::from(k) - 2.5)]).collect();
        rows.extend([[0.0, 1.0], [1.0, 1.0], [1.0, -1.0], [0.3, 1.0]]);
        let points = Points::from_rows(&rows).unwrap();
        let solver = ForsterTransform::params().check().unwrap();
        let fit = solver.fit_blocks(2, |pass| shared(&points, 1, pass)).unwrap();
        assert!(fit.certificate().holds_within(1e-6));
        assert_eq!(fit.end(), LevelEnd::Unresolved(Reason::SubspaceUnknown));
        let alone = solver.fit(&points).unwrap();
        assert!(matches!(alone.outcome(), Outcome::RadiallyIsotropic(_)));
    }
}
