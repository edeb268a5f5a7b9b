//! The Forster transform of points that do not fit on one machine: a fit that requests one pass at a time.
//!
//! A pass is a value ([`ForsterPass`]) that is sent to the processes that hold blocks of rows. Each of these workers
//! computes the sums over its blocks ([`ForsterPass::partial`]). The partial results are joined in any order
//! ([`halfspaces_linalg::Partial`]), and the total ([`ForsterSum`]) is returned to the fit. The iteration, the search
//! for heavy subspaces, the kernels and the blocks are those of [`Forster::fit`](crate::Forster::fit). If no point is
//! zero or repeated, all lengths are in [1e-100, 1e100], and the points are brought into position on the whole space,
//! both fits return bit-for-bit identical results. Otherwise, they differ by rounding errors.
//!
//! *Subspaces.* A level inside a subspace needs no copy of the points: each pass names the subspaces, and a worker
//! selects and projects the rows of a block before it sums them. At the end, one more pass computes the certificates
//! from the points as given.
//!
//! *Cost.* Each pass over n × d points reads the points once, sends d² numbers to each worker and receives d²/2 numbers
//! from each worker. A search for a heavy subspace takes up to five passes, with a few times as many numbers.

use crate::dense::rows_of;
use crate::descent::{Descent, descend};
use crate::error::ForsterError;
use crate::forster::{Forster, unresolved};
use crate::isotropy::Isotropy;
use crate::level_passes::LevelPasses;
use crate::member_pass::{MemberCount, MemberPass, MemberSum};
use crate::pass::{Buffers, MomentSum, Moments, form_of};
use crate::prepare::{is_moderate, largest_size, rescale};
use crate::report::{Level, LevelEnd};
use crate::search::{Narrowing, Search, SearchPass, SearchSum, narrowed};
use crate::subspace::compare_mass;
use crate::tile::Factor;
use crate::transform::ForsterTransform;
use faer::{Mat, MatRef};
use halfspaces_linalg::{
    DensePoints, InputError, Partial, PointSet, Points, Sum, Threads, getters, zeros,
};
use std::borrow::Cow;
use std::cmp::Ordering;

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
    /// The steps from the points to the rows of the current level.
    steps: Vec<Narrowing>,
    work: Work,
}

/// What a pass computes.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Work {
    /// The sum Σ u uᵀ over the unit rows u of XA; without the rows of A, over the unchanged rows.
    Moments(Option<Points>),
    /// The sum Σ u uᵀ (uᵀ S u) over the unit rows u of XA, given the rows of A and of a symmetric S.
    Fourth(Points, Points),
    Search(SearchPass),
    /// The certificates, computed from the points.
    Members(MemberPass),
}

/// The sums over one or several blocks of rows, computed by [`ForsterPass::partial`].
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ForsterSum(Total);

#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Total {
    Moments(MomentSum),
    Search(SearchSum),
    Members(MemberSum),
}

impl Sum for ForsterSum {
    fn fits(&self, other: &ForsterSum) -> bool {
        match (&self.0, &other.0) {
            (Total::Moments(sum), Total::Moments(other)) => sum.fits(other),
            (Total::Search(sum), Total::Search(other)) => sum.fits(other),
            (Total::Members(sum), Total::Members(other)) => sum.fits(other),
            _ => false,
        }
    }

    fn add(&mut self, later: ForsterSum) {
        match (&mut self.0, later.0) {
            (Total::Moments(sum), Total::Moments(later)) => sum.add(later),
            (Total::Search(sum), Total::Search(later)) => sum.add(later),
            (Total::Members(sum), Total::Members(later)) => sum.add(later),
            _ => unreachable!("sums are added only if they fit"),
        }
    }
}

impl ForsterSum {
    /// The number of rows that the pass has used: those that are not zero and, within a subspace, lie in it.
    #[must_use]
    pub fn rows(&self) -> u64 {
        match &self.0 {
            Total::Moments(sum) => sum.rows(),
            Total::Search(sum) => sum.rows,
            Total::Members(sum) => sum.members.rows,
        }
    }
}

impl ForsterPass {
    /// The first pass of every fit, over the rows scaled to norm 1.
    #[must_use]
    pub fn of_unchanged_rows() -> ForsterPass {
        ForsterPass { steps: Vec::new(), work: Work::Moments(None) }
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
    ) -> Result<Partial<ForsterSum>, InputError> {
        let dim = points.dim();
        let level_dim = self.level_dim(dim)?;
        let ready = Ready::new(&self.work);
        let groups = Partial::<ForsterSum>::groups(first, points.len()).len();
        let buffers = (0..groups).map(|_| Buffers::new(level_dim));
        let mut buffers: Vec<_> = buffers.collect::<Result<_, InputError>>()?;
        threads.sum_blocks(first, points.len(), &mut buffers, |buffers, rows| {
            let values = regular(&points.as_slice()[rows.start * dim..rows.end * dim], dim);
            let level = narrowed(&self.steps, &values, dim)?;
            let weights = vec![1.0; level.1.len() / level_dim];
            Ok(ForsterSum(match &ready {
                Ready::Moments(a) => {
                    Total::Moments(buffers.moments(&level.1, &weights, a.as_ref()))
                }
                Ready::Fourth(a, form) => {
                    let mut unit = zeros(weights.len(), level_dim)?;
                    buffers.unit_rows(&level.1, a, &mut unit);
                    Total::Moments(buffers.fourth(&unit, &weights, form))
                }
                Ready::Search(search) => {
                    Total::Search(search.of_block(buffers, &level.1, &weights, level_dim)?)
                }
                Ready::Members(pass, factor) => {
                    Total::Members(pass.of_block(factor, buffers, &level.0, &values)?)
                }
            }))
        })
    }

    /// The dimension of the rows of the level, for points of dimension `dim`.
    fn level_dim(&self, dim: usize) -> Result<usize, InputError> {
        let mut level_dim = dim;
        for step in &self.steps {
            InputError::check_dim(step.basis.len(), level_dim)?;
            level_dim = step.basis.dim();
        }
        let squares = match &self.work {
            Work::Moments(a) => [a.as_ref(), None],
            Work::Fourth(a, s) => [Some(a), Some(s)],
            Work::Search(pass) => [pass.directions.as_ref().map(|d| d.columns()), None],
            Work::Members(pass) => {
                pass.check_dims(dim, level_dim)?;
                [None, None]
            }
        };
        for square in squares.into_iter().flatten() {
            InputError::check_dim(square.dim(), level_dim)?;
            InputError::check_dim(square.len(), level_dim)?;
        }
        Ok(level_dim)
    }
}

/// The work of a pass, with its matrices in the layout used to multiply tiles.
enum Ready<'a> {
    Moments(Option<Factor>),
    Fourth(Factor, Factor),
    Search(Search<'a>),
    Members(&'a MemberPass, Factor),
}

impl<'a> Ready<'a> {
    fn new(work: &'a Work) -> Ready<'a> {
        match work {
            Work::Moments(a) => Ready::Moments(a.as_ref().map(|a| Factor::new(a.as_mat()))),
            Work::Fourth(a, s) => Ready::Fourth(Factor::new(a.as_mat()), form_of(s.as_mat())),
            Work::Search(pass) => Ready::Search(Search::new(pass)),
            Work::Members(pass) => Ready::Members(pass, Factor::new(pass.matrix.as_mat())),
        }
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
    end: LevelEnd,
    span_dim: usize,
    members: MemberCount,
    levels: Vec<Level>,
    passes: usize,
}

impl BlocksFit {
    getters! {
        /// The last transform reached. Its basis is that of the subspace.
        transform: &ForsterTransform,

        /// The eigenvalues of M over the rows in the subspace, at this transform.
        certificate: Isotropy,

        /// How the fit ended: [`LevelEnd::Isotropic`] if the rows are in radially isotropic position on their whole
        /// span; [`LevelEnd::Heavy`] if a subspace contains at least its share of the rows, and these rows are in
        /// radially isotropic position inside it; or [`LevelEnd::Unresolved`].
        end: LevelEnd,

        /// Dimension d of the span of all rows.
        span_dim: usize,

        /// The work on each level, in order.
        levels: &[Level],

        /// Number of passes over the points.
        passes: usize,
    }

    /// Number of rows that are not zero.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.members.rows
    }

    /// Number of rows in the subspace.
    #[must_use]
    pub fn members(&self) -> u64 {
        self.members.inside
    }

    /// Largest residual ‖x - Px‖/‖x‖ of a row in the subspace, for the orthogonal projection P onto it.
    #[must_use]
    pub fn largest_inside(&self) -> f64 {
        self.members.largest_inside
    }

    /// Smallest residual of a row outside the subspace; `None` if there is no such row.
    #[must_use]
    pub fn smallest_outside(&self) -> Option<f64> {
        self.members.smallest_outside
    }
}

/// Points that are accessible only through passes.
struct Remote<F> {
    run: F,
    /// The steps from the points to the rows of the current level.
    steps: Vec<Narrowing>,
    /// Dimension of the level.
    dim: usize,
    /// Number of rows of the level; 0 before its first pass.
    rows: u64,
    /// Number of rows that are not zero; 0 before the first pass.
    all_rows: u64,
    /// The factor A that was chosen for passes over the unit rows of XA.
    units: Option<Points>,
    passes: usize,
}

impl<F: FnMut(&ForsterPass) -> Option<ForsterSum>> Remote<F> {
    /// Makes a pass over the rows of the level.
    fn pass(&mut self, work: Work) -> Result<Total, ForsterError> {
        self.passes += 1;
        let pass = ForsterPass { steps: self.steps.clone(), work };
        let sum = (self.run)(&pass).ok_or(ForsterError::PassFailed)?;
        let found = sum.rows();
        let of_level = !matches!(sum.0, Total::Members(_));
        let expected = if of_level { self.rows } else { self.all_rows };
        if expected == 0 && found == 0 && self.all_rows == 0 {
            return Err(ForsterError::NoDirection { points: 0 });
        }
        // A level inside a subspace has at least one row.
        if found == 0 || (expected > 0 && found != expected) {
            let expected = if expected > 0 { expected } else { self.all_rows };
            return Err(ForsterError::RowsChanged { expected, found });
        }
        if of_level {
            self.rows = found;
            self.all_rows = self.all_rows.max(found);
        }
        Ok(sum.0)
    }

    fn moment_sum(&mut self, work: Work) -> Result<MomentSum, ForsterError> {
        match self.pass(work)? {
            Total::Moments(sum) if sum.is_of_dim(self.dim) => Ok(sum),
            _ => Err(ForsterError::PassFailed),
        }
    }

    /// The certificates of a transform.
    fn members(&mut self, pass: MemberPass) -> Result<MemberSum, ForsterError> {
        let k = pass.basis.len();
        match self.pass(Work::Members(pass))? {
            Total::Members(sum) if sum.moments.is_of_dim(k) => Ok(sum),
            _ => Err(ForsterError::PassFailed),
        }
    }
}

impl<F: FnMut(&ForsterPass) -> Option<ForsterSum>> LevelPasses for Remote<F> {
    fn rows(&self) -> usize {
        self.rows as usize
    }

    fn total(&self) -> f64 {
        self.rows as f64
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn moments(&mut self, a: Option<MatRef<'_, f64>>) -> Result<Option<Moments>, ForsterError> {
        let sum = self.moment_sum(Work::Moments(a.map(rows_of).transpose()?))?;
        Ok(sum.moments(self.dim, sum.weight()))
    }

    fn set_units(&mut self, a: MatRef<'_, f64>) -> Result<(), ForsterError> {
        self.units = Some(rows_of(a)?);
        Ok(())
    }

    fn fourth_moment(&mut self, s: MatRef<'_, f64>) -> Result<Mat<f64>, ForsterError> {
        let Some(units) = self.units.clone() else {
            unreachable!("the unit rows are chosen first")
        };
        let sum = self.moment_sum(Work::Fourth(units, rows_of(s)?))?;
        Ok(sum.matrix(self.dim, sum.weight()))
    }

    fn search(&mut self, pass: &SearchPass) -> Result<SearchSum, ForsterError> {
        match self.pass(Work::Search(pass.clone()))? {
            Total::Search(sum) if sum.is_of(pass, self.dim) => Ok(sum),
            _ => Err(ForsterError::PassFailed),
        }
    }

    fn narrow(&mut self, to: Narrowing) -> Result<(), ForsterError> {
        (self.dim, self.units) = (to.basis.dim(), None);
        if to.tolerance.is_some() {
            self.rows = 0;
        }
        self.steps.push(to);
        Ok(())
    }
}

impl Forster {
    /// Brings points into radially isotropic position. The points are in R^`dim`, and other processes hold them in
    /// blocks. `run` performs a pass: every worker computes the sums over its blocks ([`ForsterPass::partial`]), and
    /// `run` joins the partial results. It returns the total, or `None` if the pass failed. Zero points are dropped.
    /// Repeated points are not merged.
    ///
    /// # Errors
    /// [`ForsterError::PassFailed`] if `run` returns `None` or the result of another pass;
    /// [`ForsterError::RowsChanged`] if two passes count different numbers of rows; [`ForsterError::NoDirection`];
    /// [`ForsterError::NoConvergence`].
    pub fn fit_blocks(
        &self,
        dim: usize,
        run: impl FnMut(&ForsterPass) -> Option<ForsterSum>,
    ) -> Result<BlocksFit, ForsterError> {
        if dim == 0 {
            return Err(InputError::ZeroDimension.into());
        }
        let (steps, units) = (Vec::new(), None);
        let mut points = Remote { run, steps, dim, rows: 0, all_rows: 0, units, passes: 0 };
        let Descent { levels, transform, extremes, proper, reason } =
            descend(self.params(), &mut points, None)?;
        let (all, k, span_dim) = (points.all_rows, transform.inner_dim(), levels[0].dim);
        // On the whole space, the last pass has already computed the certificate from the points.
        let mut certificate = Isotropy::of_extremes(extremes.0, extremes.1);
        let mut members = MemberCount::all(all);
        if proper {
            let sum = points.members(MemberPass::new(&transform, self.params().membership)?)?;
            members = sum.members;
            certificate = Isotropy::of_sum(&sum.moments, k)?;
        }
        let mass = compare_mass(members.inside as f64, k, all as f64, span_dim);
        let agree = members.disagreeing == 0;
        let reached = self.params().accuracy.is_reached_by(certificate);
        let sound = agree && reached && (k == span_dim || mass != Ordering::Less);
        let end = match unresolved(reason, sound) {
            Some(reason) => LevelEnd::Unresolved(reason),
            None if k == span_dim => LevelEnd::Isotropic,
            None => LevelEnd::Heavy(k),
        };
        let passes = points.passes;
        Ok(BlocksFit { transform, certificate, end, span_dim, members, levels, passes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Step;
    use crate::{Accuracy, Outcome, Position, Subspace};
    use halfspaces_data::{Excess, Gaussian, HeavyCase, HeavyKind, Marginal, StudentT};
    use halfspaces_linalg::{BLOCK_ROWS, Params};

    /// Runs a pass on `workers` workers. Each of them sums every `workers`th block, and the last worker also sums the
    /// first block again.
    fn shared(points: &DensePoints<'_>, workers: usize, pass: &ForsterPass) -> Option<ForsterSum> {
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
                assert_eq!(fit.levels(), alone.levels());
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

    /// Checks that all workers find the same, and that it is what a fit in memory finds. Sums over a subspace are in
    /// another order than in memory, so they differ by rounding.
    fn as_in_memory(points: &Points, what: &str) -> BlocksFit {
        as_in_memory_within(1e-6, points, what)
    }

    fn as_in_memory_within(delta: f64, points: &Points, what: &str) -> BlocksFit {
        let params = ForsterTransform::params().accuracy(Accuracy::TwoSided(delta));
        let solver = params.check().unwrap();
        let alone = solver.fit(points).unwrap();
        let dim = points.dim();
        let fit = solver.fit_blocks(dim, |pass| shared(points, 1, pass)).unwrap();
        for workers in [2, 3] {
            let again = solver.fit_blocks(dim, |pass| shared(points, workers, pass)).unwrap();
            assert_eq!(again, fit, "{what}");
        }
        let Position { subspace, certificate, .. } = alone.position();
        let end = match alone.outcome() {
            Outcome::RadiallyIsotropic(_) => LevelEnd::Isotropic,
            Outcome::HeavySubspace(_) => LevelEnd::Heavy(subspace.dim()),
            Outcome::Unresolved { reason, .. } => LevelEnd::Unresolved(*reason),
        };
        assert_eq!(fit.end(), end, "{what}");
        let counts = (fit.members(), fit.rows(), fit.span_dim(), fit.transform().inner_dim());
        let (inside, rows) = (subspace.members().len() as u64, subspace.weight() as u64);
        assert_eq!(counts, (inside, rows, subspace.span_dim(), subspace.dim()), "{what}");
        let ends = |levels: &[Level]| levels.iter().map(|level| level.end).collect::<Vec<_>>();
        assert_eq!(ends(fit.levels()), ends(alone.levels()), "{what}");
        assert!((fit.certificate().residual() - certificate.residual()).abs() < 1e-9, "{what}");
        let basis = fit.transform().basis().clone();
        let again = Subspace::certify(points, None, basis, fit.span_dim(), 1e-10).unwrap();
        assert_eq!(again.members(), subspace.members(), "{what}");
        assert_eq!(fit.largest_inside(), again.largest_inside(), "{what}");
        assert_eq!(fit.smallest_outside(), again.smallest_outside(), "{what}");
        fit
    }

    /// The subspaces contain one point more than their share, exactly their share, or one point fewer.
    #[test]
    fn planted_subspaces_are_found_as_in_memory() {
        let n = BLOCK_ROWS + 392; // a multiple of the dimension
        let whole = [1, 0, -1].map(|more| (HeavyKind::Gaussian, more));
        for (kind, more) in whole.into_iter().chain([(HeavyKind::Clustered, 1)]) {
            for (dim, k) in [(5, 1), (5, 4)] {
                let what = format!("{kind:?} {dim} {k} {more}");
                let case = HeavyCase::new(kind, dim, k, n, Excess::OnePoint, 4).unwrap();
                let members = &case.planted()[0].members;
                assert_eq!(members.len(), n * k / dim + 1);
                // Some points of the subspace are moved off it.
                let mut values = case.points().as_slice().to_vec();
                for i in &members[..(1 - more) as usize] {
                    let row = &mut values[i * dim..(i + 1) * dim];
                    row.iter_mut().zip(1..).for_each(|(v, j)| *v += f64::from(j * j));
                }
                let points = Points::new(values, dim).unwrap();
                // With exactly the share, the subspace is the answer only if rounding ends the iteration.
                let delta = if more == 0 { 1e-11 } else { 1e-6 };
                let fit = as_in_memory_within(delta, &points, &what);
                let end = if more < 0 { LevelEnd::Isotropic } else { LevelEnd::Heavy(k) };
                assert_eq!(fit.end(), end, "{what}");
            }
        }
    }

    #[test]
    fn points_of_a_proper_subspace_are_solved_in_their_span() {
        let case = HeavyCase::new(HeavyKind::Gaussian, 4, 2, 6000, Excess::Share(0.5), 4).unwrap();
        assert_eq!(as_in_memory(case.points(), "whole").end(), LevelEnd::Heavy(2));
        // The fifth and the sixth column depend on the others, so the points lie in four of six dimensions.
        let lifted = |points: &DensePoints<'_>| {
            let rows = points.as_slice().chunks(4);
            Points::new(rows.flat_map(|x| [x[0], x[1], x[2], x[3], x[0] - x[1], 3.0]).collect(), 6)
        };
        let lift = |x: &[f64]| [x[0], x[1], x[2], x[3], x[0] - x[1], x[2] + 2.0 * x[3]];
        let flat = case.points().as_slice().chunks(4).flat_map(lift).collect();
        let fit = as_in_memory(&Points::new(flat, 6).unwrap(), "heavy and flat");
        assert_eq!((fit.end(), fit.span_dim()), (LevelEnd::Heavy(2), 4));
        let round = StudentT::new(4, 2.0, 10.0).unwrap().sample(6000, 1).unwrap();
        let fit = as_in_memory(&lifted(&round).unwrap(), "constant column");
        assert_eq!((fit.end(), fit.span_dim(), fit.members()), (LevelEnd::Isotropic, 5, 6000));
        assert_eq!(fit.smallest_outside(), None);
        // All points but one lie on a line.
        let mut line: Vec<f64> = (1..=300).flat_map(|i| [f64::from(i), 0.0]).collect();
        line[1] = 1.0;
        let fit = as_in_memory(&Points::new(line, 2).unwrap(), "line");
        assert_eq!((fit.end(), fit.members()), (LevelEnd::Heavy(1), 299));
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
        let wrong = ForsterPass { steps: vec![], work: Work::Moments(Some(zeros)) };
        assert!(wrong.partial(0, &points, Threads::ONE).is_err());
    }

    /// More than half of the points are within 3e-6 of a line, but none of them is on it.
    #[test]
    fn points_next_to_a_line_are_not_on_it() {
        let mut rows: Vec<[f64; 2]> = (0..6).map(|k| [1.0, 1e-6 * (f64::from(k) - 2.5)]).collect();
        rows.extend([[0.0, 1.0], [1.0, 1.0], [1.0, -1.0], [0.3, 1.0]]);
        let fit = as_in_memory(&Points::from_rows(&rows).unwrap(), "next to a line");
        assert_eq!(fit.end(), LevelEnd::Isotropic);
    }
}
