//! The solver: brings points into radially isotropic position, or finds the subspace that forbids it.
//!
//! Wanted is a linear A such that u_i = Aᵀx_i/‖Aᵀx_i‖ have M = (d/n) Σ u_i u_iᵀ ≈ I. It exists, for
//! every accuracy, exactly when no proper subspace of dimension k of the span (dimension d) holds more
//! than a k/d fraction of the points; otherwise such a subspace is returned with a transform inside it
//! (DKTZ23 §3; Diakonikolas, Tzamos and Kane 2023; A is the root of Tyler's M-estimator).
//!
//! On each level (the span; then, inside, each heavy subspace found):
//!
//! ```text
//! A <- a whitening of the rows
//! repeat
//!     U <- XA with unit rows,  M <- (k/W) Σ w u uᵀ             (one pass)
//!     in position?                                              return A
//!     a gap among the singular values of A has opened?          try the subspaces it points to
//!     A <- A C, CCᵀ = M⁻¹                                       (fixed point; near a position several
//!                                                                steps mixed), or where that is slow
//!     A <- A e^(-tS/2), S the Newton direction, t by halving    (Newton)
//! ```
//!
//! The fixed point and Newton lower f(A) = (k/W) Σ w ln‖Aᵀx‖² - 2 ln|det A|. The factor A is kept, never AAᵀ, whose
//! condition is the square.
//!
//! A subspace with exactly its share, N d = k n, is an answer only where rounding ends the iteration: at
//! the cap on the condition, or where for [`PATIENCE`] steps neither the residual nor the condition has
//! moved, which on ill-conditioned points happens long before the cap. Never at the cap on steps, where
//! more of them might still reach position on the whole span, and never on the way, where a
//! complement with the rest of the points may make position exact. The answer is true whenever it is
//! given: membership is certified and the equality is one of integers (DKTZ23 §3 asks for no more).
//!
//! *Guarantee.* None on the number of steps, all on the result: both kinds of outcome are returned
//! only with certificates recomputed from the points as given ([`crate::Subspace`],
//! [`crate::Isotropy`]), and whatever cannot be certified is [`Outcome::Unresolved`]. On elliptical
//! data the fixed point contracts by about 2/(d+2) a step, and mixing doubles that rate or nearly so;
//! on the exact boundary only Newton's steps get anywhere.

use crate::dense::{
    eigen, eigenvalues, inverse_lower_factor, lower_factor, product, scale_to_unit, spectral, svd,
};
use crate::error::ForsterError;
use crate::heavy::{self, Found, Spectrum};
use crate::isotropy::Isotropy;
use crate::mixing::{self, Mixing};
use crate::newton::{self, CAP};
use crate::pass::{Pass, Rows};
use crate::prepare::Prepared;
use crate::report::{Fit, Level, LevelEnd, Outcome, Position, Reason};
use crate::subspace::Subspace;
use crate::transform::ForsterTransform;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use halfspaces_linalg::{InputError, Points, zeros};
use tracing::debug;

/// Share of δ that the iteration aims at: the certificate is summed in another order.
const AIM: f64 = 0.9;
/// λmin/λmax of the second moment, itself rounded to 1e-16, above which the rows surely span the space
/// and its root whitens them within a few per cent.
const WELL_CONDITIONED: f64 = 1e-13;
/// Steps of the fixed point before its rate is judged.
const FIRST_STEPS: usize = 2;
/// λmin(M) from which Cholesky's factor stands in for its root.
const DEFINITE: f64 = 1e-4;
/// A residual that shrinks by less than this factor a step calls for Newton.
const SLOW: f64 = 0.6;
/// Share of the slope that a step must achieve (Armijo's rule).
const SUFFICIENT: f64 = 1e-4;
/// Halvings of a Newton step before the fixed point takes its place.
const HALVINGS: usize = 12;
/// Decades of a gap from which heavy subspaces are looked for, and by which it must grow between tries.
const FIRST_GAP: f64 = 1.5;
const NEXT_GAP: f64 = 1.0;
/// Steps within which the residual must shrink by [`STALLED`] or the condition grow tenfold.
const PATIENCE: usize = 12;
/// Factor by which the residual shrinks in that many steps at least where there is progress.
const STALLED: f64 = 0.9;
/// Condition from which rounding could hide a heavy subspace: it is ruled out before acceptance.
const DOUBTFUL: f64 = 1e8;

/// The accuracy asked for. δ is relative: k times the absolute δ of DKTZ23 §3.
///
/// ```
/// use halfspaces_forster::{Accuracy, Isotropy};
/// use halfspaces_linalg::Points;
/// // Three of four points on one axis: the eigenvalues are 1/2 and 3/2.
/// let certificate = Isotropy::measure(&Points::from_rows(&[[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [-1.0, 0.0]])?)?;
/// assert!(Accuracy::OneSided(0.5).is_reached_by(certificate));
/// assert!(Accuracy::TwoSided(0.5).is_reached_by(certificate));
/// assert!(!Accuracy::OneSided(0.4).is_reached_by(certificate));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Accuracy {
    /// λmin(M) >= 1 - δ: all that the weak learner of DKTZ23 §3 needs, with δ = 1/2.
    OneSided(f64),
    /// λmin(M) >= 1 - δ and λmax(M) <= 1 + δ.
    TwoSided(f64),
}

impl Accuracy {
    /// δ.
    #[must_use]
    pub fn delta(self) -> f64 {
        match self {
            Accuracy::OneSided(delta) | Accuracy::TwoSided(delta) => delta,
        }
    }

    /// Whether a certificate reaches it.
    #[must_use]
    pub fn is_reached_by(self, certificate: Isotropy) -> bool {
        self.accepts(certificate.least(), certificate.largest(), 1.0)
    }

    fn accepts(self, least: f64, largest: f64, share: f64) -> bool {
        match self {
            Accuracy::OneSided(delta) => least >= 1.0 - share * delta,
            Accuracy::TwoSided(delta) => {
                least >= 1.0 - share * delta && largest <= 1.0 + share * delta
            }
        }
    }
}

/// How A is improved.
///
/// ```
/// use halfspaces_data::{Gaussian, Marginal};
/// use halfspaces_forster::{ForsterTransform, Step};
/// let points = Gaussian::new(3, 100.0)?.sample(200, 1)?;
/// let steps = |step| -> Result<(usize, usize), Box<dyn std::error::Error>> {
///     let fit = ForsterTransform::params().step(step).check()?.fit(&points)?;
///     assert!(fit.is_resolved());
///     let level = &fit.levels()[0];
///     Ok((level.fixed_point_steps, level.newton_steps))
/// };
/// assert_eq!(steps(Step::FixedPoint)?.1, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Step {
    /// The fixed point, its last few steps mixed once the residual is below 1/2, and Newton where the
    /// residual shrinks by less than 0.6 a step.
    #[default]
    Automatic,
    /// A <- A M^(-1/2) up to rotation, always.
    FixedPoint,
    /// Damped Newton, always; a fixed-point step stands in where no step along the direction helps.
    Newton,
}

/// Parameters of the solver, unchecked.
///
/// ```
/// use halfspaces_forster::{Accuracy, ForsterTransform, Step};
/// let params = ForsterTransform::params()
///     .accuracy(Accuracy::OneSided(0.5))
///     .step(Step::FixedPoint)
///     .max_iterations(500);
/// assert!(params.check().is_ok());
/// assert!(ForsterTransform::params().accuracy(Accuracy::TwoSided(0.0)).check().is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ForsterParams {
    accuracy: Accuracy,
    membership: f64,
    step: Step,
    max_iterations: usize,
    max_condition: f64,
    par: Par,
}

impl ForsterParams {
    /// Accuracy. Default: two-sided 1e-6.
    #[must_use]
    pub fn accuracy(mut self, accuracy: Accuracy) -> Self {
        self.accuracy = accuracy;
        self
    }

    /// Residual ‖x - Px‖/‖x‖ up to which x counts as inside a subspace, 1e-12 to 1e-8; 1e-10 unless
    /// told otherwise.
    #[must_use]
    pub fn membership(mut self, tolerance: f64) -> Self {
        self.membership = tolerance;
        self
    }

    /// Kind of step. Default: automatic.
    #[must_use]
    pub fn step(mut self, step: Step) -> Self {
        self.step = step;
        self
    }

    /// Steps on one level at most. Default: 200.
    #[must_use]
    pub fn max_iterations(mut self, steps: usize) -> Self {
        self.max_iterations = steps;
        self
    }

    /// Condition of A, relative to the first whitening, at which the iteration stops; 1e13 unless told
    /// otherwise.
    #[must_use]
    pub fn max_condition(mut self, condition: f64) -> Self {
        self.max_condition = condition;
        self
    }

    /// Parallelism of the passes over the points. Default: sequential. Results depend
    /// on the degree, in the last digits, but not on the threads.
    #[must_use]
    pub fn par(mut self, par: Par) -> Self {
        self.par = par;
        self
    }

    /// The solver, if the parameters are in range.
    ///
    /// # Errors
    /// [`InputError::ParameterOutOfRange`] for δ not in [1e-11, 1), a membership tolerance not in
    /// [1e-12, 1e-8], no iterations, or a condition not in [1e3, 1e15].
    pub fn check(self) -> Result<Forster, InputError> {
        let check = InputError::check_parameter;
        let delta = self.accuracy.delta();
        check("delta", delta, (1e-11..1.0).contains(&delta), "at least 1e-11 and below 1")?;
        let in_range = (1e-12..=1e-8).contains(&self.membership);
        check("membership", self.membership, in_range, "between 1e-12 and 1e-8")?;
        let steps = self.max_iterations as f64;
        check("max_iterations", steps, self.max_iterations > 0, "at least 1")?;
        let in_range = (1e3..=1e15).contains(&self.max_condition);
        check("max_condition", self.max_condition, in_range, "between 1e3 and 1e15")?;
        Ok(Forster { params: self })
    }
}

impl ForsterTransform {
    /// Parameters of the solver: two-sided accuracy 1e-6, membership tolerance 1e-10, automatic steps.
    #[must_use]
    pub fn params() -> ForsterParams {
        ForsterParams {
            accuracy: Accuracy::TwoSided(1e-6),
            membership: 1e-10,
            step: Step::Automatic,
            max_iterations: 200,
            max_condition: 1e13,
            par: Par::Seq,
        }
    }
}

/// The solver with checked parameters.
///
/// ```
/// use halfspaces_forster::{Accuracy, ForsterTransform, Outcome};
/// use halfspaces_linalg::Points;
/// let solver = ForsterTransform::params().accuracy(Accuracy::TwoSided(1e-9)).check()?;
/// let points = Points::from_rows(&[[1e9, 1.0], [1e9, 2.0], [1e9, 4.0]])?;
/// let fit = solver.fit(&points)?;
/// let Outcome::RadiallyIsotropic(position) = fit.outcome() else { panic!() };
/// assert!(position.certificate.residual() <= 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Forster {
    params: ForsterParams,
}

/// Where the iteration stands.
#[derive(Debug)]
struct State {
    /// The factor relative to the first whitening W, lower triangular: A = WB.
    b: Mat<f64>,
    /// A, lower triangular.
    a: Mat<f64>,
    f: f64,
    moment: Mat<f64>,
    values: Vec<f64>,
}

impl State {
    /// The pass at A = WB; `None` if A is numerically singular.
    fn at(
        pass: &mut Pass,
        rows: &Rows<'_>,
        whitening: &Mat<f64>,
        mut b: Mat<f64>,
    ) -> Result<Option<State>, ForsterError> {
        scale_to_unit(&mut b);
        let mut a = product(whitening.as_ref(), b.as_ref());
        scale_to_unit(&mut a);
        let Some(moments) = pass.moments(rows, Some(a.as_ref())) else { return Ok(None) };
        let log_det: f64 = (0..rows.dim).map(|i| a[(i, i)].abs().ln()).sum();
        let f = moments.log_norms - 2.0 * log_det;
        if !f.is_finite() {
            return Ok(None);
        }
        let values = eigenvalues(moments.moment.as_ref())?;
        Ok(Some(State { b, a, f, moment: moments.moment, values }))
    }

    fn least(&self) -> f64 {
        self.values.first().copied().unwrap_or(0.0)
    }

    fn largest(&self) -> f64 {
        self.values.last().copied().unwrap_or(f64::INFINITY)
    }

    fn residual(&self) -> f64 {
        (1.0 - self.least()).max(self.largest() - 1.0)
    }

    /// B C for some C with CCᵀ = M⁻¹, eigenvalues beyond the cap cut, and ln of its condition.
    fn fixed_point(&self) -> Result<(Mat<f64>, f64), ForsterError> {
        let root = |value: f64| value.max((-CAP).exp()).sqrt().recip();
        let growth = root(self.least()).ln() - root(self.largest()).ln();
        let factors = inverse_lower_factor(self.moment.as_ref());
        if let (true, Some((_, c))) = (self.least() >= DEFINITE, factors) {
            return Ok((product(self.b.as_ref(), c.as_ref()), growth));
        }
        let (values, vectors) = eigen(self.moment.as_ref())?;
        let c = spectral(&values, vectors.as_ref(), root);
        Ok((self.moved(c.as_ref()), growth))
    }

    /// B C as a lower triangle.
    fn moved(&self, c: MatRef<'_, f64>) -> Mat<f64> {
        lower_factor(product(self.b.as_ref(), c).as_ref())
    }
}

/// Where a level starts.
struct Start {
    pass: Pass,
    /// The rows as they are.
    state: State,
    /// A lower triangle W for which the rows of XW have about the same second moment everywhere.
    whitening: Mat<f64>,
}

/// Whether rows span their space.
enum Survey {
    Spanning(Box<Start>),
    /// They lie in the span of these orthonormal columns.
    Within(Mat<f64>),
}

/// How a level ended, with what it found.
enum End {
    Isotropic(Mat<f64>),
    Heavy(Found),
    Unresolved(Mat<f64>, Reason),
}

impl Forster {
    /// The parameters.
    #[must_use]
    pub fn params(&self) -> ForsterParams {
        self.params
    }

    /// Brings n × d `points` into position, every point counting once.
    ///
    /// # Errors
    /// [`ForsterError::Input`] for no points or too many to copy; [`ForsterError::NoDirection`] if all
    /// are zero; [`ForsterError::NoConvergence`].
    pub fn fit(&self, points: &Points) -> Result<Fit, ForsterError> {
        self.fit_with(points, None)
    }

    /// As [`Forster::fit`], point i counting `weights[i]` times: whole weights mean the same as
    /// repeated points.
    ///
    /// # Errors
    /// As [`Forster::fit`]; [`ForsterError::WeightCount`]; [`ForsterError::Weight`] for one outside
    /// [1e-100, 1e100].
    pub fn fit_weighted(&self, points: &Points, weights: &[f64]) -> Result<Fit, ForsterError> {
        self.fit_with(points, Some(weights))
    }

    pub(crate) fn fit_with(
        &self,
        points: &Points,
        weights: Option<&[f64]>,
    ) -> Result<Fit, ForsterError> {
        let prepared = Prepared::new(points, weights)?;
        let zero_rows = prepared.zero_rows();
        let Prepared { mut rows, row_of } = prepared;
        let distinct = rows.len();
        // Which distinct rows the present level holds, and an orthonormal basis of its space.
        let mut held: Vec<usize> = (0..distinct).collect();
        let mut basis: Option<Mat<f64>> = None;
        let mut levels = Vec::new();
        let mut span_dim = None;

        let (factor, reason) = loop {
            let start = match self.survey(&rows)? {
                Survey::Spanning(start) => start,
                Survey::Within(span) => {
                    rows = project(&rows, None, span.as_ref())?;
                    basis = Some(composed(basis, span));
                    continue;
                }
            };
            span_dim = span_dim.or(Some(rows.dim));
            let (level, end) = self.solve(&rows, *start, levels.len())?;
            levels.push(level);
            match end {
                End::Isotropic(factor) => break (factor, None),
                End::Unresolved(factor, reason) => break (factor, Some(reason)),
                End::Heavy(found) => {
                    rows = project(&rows, Some(&found.members), found.basis.as_ref())?;
                    held = found.members.iter().map(|i| held[*i]).collect();
                    basis = Some(composed(basis, found.basis));
                }
            }
        };

        let basis = match basis {
            Some(basis) => rows_of(basis.transpose())?,
            None => rows_of(Mat::<f64>::identity(rows.dim, rows.dim).as_ref())?,
        };
        let transform = ForsterTransform::new(basis.clone(), factor)?;
        let span_dim = span_dim.unwrap_or(rows.dim);
        let tolerance = self.params.membership;
        let subspace = Subspace::certify(points, weights, basis, span_dim, tolerance)?;
        let certificate =
            Isotropy::measure_transformed(&transform, points, subspace.members(), weights)?;

        // The same members by the certificate as by the search?
        let mut inside = vec![false; distinct];
        held.iter().for_each(|i| inside[*i] = true);
        let expected = row_of.iter().zip(0..).filter(|(row, _)| row.is_some_and(|r| inside[r]));
        let agree = expected.map(|(_, i)| i).eq(subspace.members().iter().copied());
        let whole = subspace.dim() == span_dim;
        let heavy = subspace.is_heavy() || subspace.is_boundary();
        let sound = agree && self.params.accuracy.is_reached_by(certificate) && (heavy || whole);
        let position = Position { subspace, transform, certificate };
        let outcome = match reason {
            Some(reason) => Outcome::Unresolved { position, reason },
            None if !sound => Outcome::Unresolved { position, reason: Reason::CertificateMissed },
            None if whole => Outcome::RadiallyIsotropic(position),
            None => Outcome::HeavySubspace(position),
        };
        Ok(Fit { outcome, zero_rows, distinct, levels })
    }

    /// Whether the rows span their space, and from where to start if they do. A direction counts as
    /// missing if it is zero relative to the largest singular value and every row lies within the
    /// membership tolerance of the rest.
    fn survey(&self, rows: &Rows) -> Result<Survey, ForsterError> {
        let dim = rows.dim;
        if rows.len() < dim {
            let all: Vec<usize> = (0..rows.len()).collect();
            let (values, right) = svd(heavy::triangle_of(rows, &all).as_ref())?;
            let rank = heavy::rank_of(&values);
            return Ok(Survey::Within(right.subcols(0, rank).to_owned()));
        }
        let failure = ForsterError::NoConvergence { dim };
        zeros(dim, dim)?;
        let mut pass = Pass::new(rows, self.params.par)?;
        let moments = pass.moments(rows, None).ok_or(failure)?;
        let values = eigenvalues(moments.moment.as_ref())?;
        let factors = inverse_lower_factor(moments.moment.as_ref());
        let whitening = if let (true, Some((_, whitening))) = (well_conditioned(&values), factors) {
            whitening
        } else {
            let all: Vec<usize> = (0..rows.len()).collect();
            let (values, mut right) = svd(heavy::triangle_of(rows, &all).as_ref())?;
            for rank in heavy::rank_of(&values)..dim {
                let basis = right.subcols(0, rank).to_owned();
                let residuals = heavy::residuals(rows, basis.as_ref())?;
                if residuals.into_iter().fold(0.0, f64::max) <= self.params.membership {
                    return Ok(Survey::Within(basis));
                }
            }
            let floor = values.first().map_or(0.0, |largest| f64::EPSILON * largest);
            for (j, value) in values.iter().enumerate() {
                let scale = value.max(floor).recip();
                right.col_mut(j).iter_mut().for_each(|v| *v *= scale);
            }
            lower_factor(right.as_ref())
        };
        let identity = Mat::identity(dim, dim);
        let (b, f) = (identity.clone(), moments.log_norms);
        let state = State { b, a: identity, f, moment: moments.moment, values };
        Ok(Survey::Spanning(Box::new(Start { pass, state, whitening })))
    }

    /// One level: rows that span their space.
    fn solve(
        &self,
        rows: &Rows<'_>,
        start: Start,
        depth: usize,
    ) -> Result<(Level, End), ForsterError> {
        let ForsterParams { accuracy, membership, step, max_iterations, max_condition, .. } =
            self.params;
        let dim = rows.dim;
        let Start { mut pass, mut state, whitening } = start;
        let mut level = Level {
            rows: rows.len(),
            dim,
            fixed_point_steps: 0,
            newton_steps: 0,
            passes: 1,
            products: 0,
            residuals: vec![state.residual()],
            condition: 1.0,
            end: LevelEnd::Isotropic,
        };
        // Rows that are in position as they are stay as they are.
        if accuracy.accepts(state.least(), state.largest(), AIM) {
            return Ok((level, End::Isotropic(state.a)));
        }
        level.passes += 1;
        match State::at(&mut pass, rows, &whitening, Mat::identity(dim, dim))? {
            Some(whitened) => state = whitened,
            None => {
                level.end = LevelEnd::Unresolved(Reason::ConditionCap);
                return Ok((level, End::Unresolved(state.a, Reason::ConditionCap)));
            }
        }
        level.residuals.push(state.residual());

        let mut unit: Vec<f64> = Vec::new();
        // ln of how much the condition may have grown since it was last computed.
        let mut drift = 0.0;
        let mut known_condition = 1.0;
        let mut tried_gap = FIRST_GAP - NEXT_GAP;
        let mut slow = false;
        let mut mixing: Option<Mixing> = None;
        let mut singular = false;
        // Where progress was last seen: step, residual, condition.
        let mut progress = (0, state.residual(), 1.0);
        let end = loop {
            level.condition = known_condition * f64::exp(drift);
            let steps = level.fixed_point_steps + level.newton_steps;
            if state.residual() < STALLED * progress.1 || level.condition > 10.0 * progress.2 {
                progress = (steps, state.residual().min(progress.1), level.condition);
            }
            let stalled = step != Step::FixedPoint && steps >= progress.0 + PATIENCE;
            let done = accuracy.accepts(state.least(), state.largest(), AIM);
            let spent = steps >= max_iterations;
            // Is there a heavy subspace?
            if drift >= NEXT_GAP * std::f64::consts::LN_10
                || spent
                || stalled
                || singular
                || (done && level.condition >= DOUBTFUL)
            {
                let spectrum = Spectrum::decompose(state.b.as_ref())?;
                (known_condition, drift) = (spectrum.condition(), 0.0);
                level.condition = known_condition;
                let gap = spectrum.widest_gap();
                let at_cap = known_condition >= max_condition || singular;
                if gap >= tried_gap + NEXT_GAP || spent || stalled || at_cap || done {
                    tried_gap = tried_gap.max(gap);
                    fill_unit(&mut unit, &mut pass, rows, &state)?;
                    let equality = (at_cap || stalled) && !done;
                    let found = heavy::find(rows, &unit, &spectrum, membership, equality)?;
                    debug!(depth, dim, gap, found = found.is_some(), "looked for a heavy subspace");
                    if let Some(found) = found {
                        break End::Heavy(found);
                    }
                }
                if at_cap && !done {
                    break End::Unresolved(state.a, Reason::ConditionCap);
                }
            }
            if done {
                break End::Isotropic(state.a);
            }
            if spent || stalled {
                let reason = if spent { Reason::IterationCap } else { Reason::Stalled };
                break End::Unresolved(state.a, reason);
            }

            let newton = match step {
                Step::FixedPoint => false,
                Step::Newton => true,
                Step::Automatic => slow,
            };
            let mut next_state = None;
            if newton {
                fill_unit(&mut unit, &mut pass, rows, &state)?;
                next_state = newton_step(&mut pass, rows, &whitening, &state, &unit, &mut level)?;
                level.newton_steps += usize::from(next_state.is_some());
                mixing = None;
            }
            if next_state.is_none() {
                let mut next = None;
                if step == Step::Automatic && !newton && state.residual() <= mixing::NEAR {
                    let begun = mixing.is_some();
                    let from = mixing.get_or_insert_with(|| Mixing::new(state.b.clone()));
                    let growth = if begun { 0.0 } else { Mixing::growth() };
                    next = from.next(&state.moment).map(|b| (b, growth));
                }
                let (b, growth) = match next {
                    Some(next) => next,
                    None => {
                        mixing = None;
                        state.fixed_point()?
                    }
                };
                next_state = State::at(&mut pass, rows, &whitening, b)?.map(|s| (s, growth));
                level.passes += 1;
                level.fixed_point_steps += 1;
            }
            let Some((moved, growth)) = next_state else {
                singular = true;
                continue;
            };
            slow |= steps >= FIRST_STEPS && moved.residual() > SLOW * state.residual();
            drift += growth;
            state = moved;
            level.residuals.push(state.residual());
            debug!(depth, dim, steps, newton, residual = state.residual(), f = state.f, "step");
        };
        level.end = match &end {
            End::Isotropic(_) => LevelEnd::Isotropic,
            End::Heavy(found) => LevelEnd::Heavy(found.basis.ncols()),
            End::Unresolved(_, reason) => LevelEnd::Unresolved(*reason),
        };
        debug!(depth, dim, rows = rows.len(), ?level.end, level.condition, "level ended");
        Ok((level, end))
    }
}

/// A <- A e^(-tS/2) for the largest t = 1, 1/2, ... that lowers f enough, with the growth of the
/// condition; `None` if none does.
fn newton_step(
    pass: &mut Pass,
    rows: &Rows<'_>,
    whitening: &Mat<f64>,
    state: &State,
    unit: &[f64],
    level: &mut Level,
) -> Result<Option<(State, f64)>, ForsterError> {
    let direction = newton::direction(pass, rows, unit, &state.moment)?;
    level.products += direction.products;
    let mut t = 1.0;
    for _ in 0..HALVINGS {
        let c = spectral(&direction.values, direction.vectors.as_ref(), |v| (-0.5 * t * v).exp());
        let moved = State::at(pass, rows, whitening, state.moved(c.as_ref()))?;
        level.passes += 1;
        if let Some(moved) = moved {
            let enough = moved.f <= state.f + SUFFICIENT * t * direction.slope;
            // Near the end f changes by less than its rounding; the residual still tells.
            if enough || moved.residual() <= SLOW * state.residual() {
                let span = direction.values.last().zip(direction.values.first());
                let growth = span.map_or(0.0, |(most, least)| 0.5 * t * (most - least));
                return Ok(Some((moved, growth)));
            }
        }
        t *= 0.5;
    }
    Ok(None)
}

/// The unit rows of XA into a buffer that is made once.
fn fill_unit(
    unit: &mut Vec<f64>,
    pass: &mut Pass,
    rows: &Rows<'_>,
    state: &State,
) -> Result<(), InputError> {
    if unit.is_empty() {
        *unit = zeros(rows.len(), rows.dim)?;
    }
    pass.unit_rows(rows, state.a.as_ref(), unit);
    Ok(())
}

fn well_conditioned(values: &[f64]) -> bool {
    let (least, largest) = (values.first().copied(), values.last().copied());
    least.zip(largest).is_some_and(|(least, largest)| least >= WELL_CONDITIONED * largest)
}

/// The chosen rows (all if none are) in the coordinates of a basis.
fn project(
    rows: &Rows<'_>,
    chosen: Option<&[usize]>,
    basis: MatRef<'_, f64>,
) -> Result<Rows<'static>, InputError> {
    let (dim, k) = basis.shape();
    let (inside, weights) = match chosen {
        None => (None, rows.weights.clone()),
        Some(chosen) => {
            let mut inside = Vec::with_capacity(chosen.len() * dim);
            chosen.iter().for_each(|i| inside.extend_from_slice(rows.row(*i)));
            (Some(inside), chosen.iter().map(|i| rows.weights[*i]).collect())
        }
    };
    let n = weights.len();
    let x = MatRef::from_row_major_slice(inside.as_deref().unwrap_or(&rows.values), n, dim);
    let mut values = zeros(n, k)?;
    let out = MatMut::from_row_major_slice_mut(&mut values, n, k);
    matmul(out, Accum::Replace, x, basis, 1.0, Par::Seq);
    let total = weights.iter().sum();
    Ok(Rows { values: values.into(), dim: k, weights, total })
}

fn composed(outer: Option<Mat<f64>>, inner: Mat<f64>) -> Mat<f64> {
    match outer {
        Some(outer) => product(outer.as_ref(), inner.as_ref()),
        None => inner,
    }
}

fn rows_of(m: MatRef<'_, f64>) -> Result<Points, InputError> {
    Points::new(m.row_iter().flat_map(|row| row.iter().copied()).collect(), m.ncols())
}
