//! L2-regularised logistic regression, by Newton's method.

use super::logistic_loss::{Expansion, Logistic};
use super::regularised_loss::{Cholesky, Problem, check_c, check_cap, check_tolerance};
use halfspaces_linalg::{
    AffineHalfspace, Classifier, FitSample, InputError, Label, Params, PointSet, RowView,
    Termination, Threads, checkpoint, classify_by, getters, kernels, norm, setters, zeros,
};

/// The largest number of unknowns at which the Newton system is factorised. With 500 unknowns, a factorisation costs
/// less than setting up the system in a pass over the points.
pub(super) const MAX_CHOLESKY: usize = 500;

/// A step must decrease f by at least this fraction of the decrease that the slope predicts (Armijo).
const SUFFICIENT_DECREASE: f64 = 1e-4;
/// The maximum number of halvings of a step.
const MAX_HALVINGS: usize = 50;
/// The assumed relative rounding error of an objective, which is a sum of up to a few thousand terms.
const ROUNDING: f64 = 1e-14;

/// The sample for the starting point contains every seventh point. Many patterns in data have a period that is a power
/// of two, and seven is not one.
const SAMPLED: usize = 7;
/// The smallest number of unknowns at which a starting point from a sample saves time.
const SAMPLE_UNKNOWNS: usize = 8;
/// The minimum number of sampled points per unknown.
const SAMPLE_FOR_EACH: usize = 10;
/// The tolerance of the fit to the sample. The minima for the sample and for all points differ by more than this
/// tolerance.
const SAMPLE_TOLERANCE: f64 = 1e-3;

/// A gradient norm below this number times the bound on the gradient may consist of rounding errors.
const ROUNDING_TOLERANCE: f64 = 1e-10;

/// A run has stalled after this number of consecutive steps that reduce neither f nor the norm of its gradient. Near
/// the minimum, a Newton step reduces at least one of the two, unless it consists only of rounding errors.
const MAX_IDLE_STEPS: u32 = 8;

/// Unchecked parameters of [`LogisticRegression`].
///
/// ```
/// use halfspaces_linalg::Params;
/// use halfspaces_pac::LogisticRegression;
/// let params = LogisticRegression::params().c(10.0).intercept(false).max_steps(50);
/// assert!(params.check().is_ok());
/// assert!(LogisticRegression::params().c(0.0).check().is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[must_use]
pub struct LogisticParams {
    pub(super) c: f64,
    pub(super) intercept: bool,
    pub(super) tolerance: f64,
    pub(super) max_steps: u64,
    threads: Threads,
}

impl LogisticParams {
    setters! {
        /// C, the weight of the loss, in [1e-12, 1e12]. Default: 1.
        c: f64,

        /// Whether there is an intercept b. Default: true.
        intercept: bool,

        /// The relative gradient norm at which the fit ends, in [1e-13, 1): the fit ends if the gradient norm is at most
        /// this tolerance times the norm at v = 0. Rounding errors can exceed this value, so the fit also ends if the
        /// norm is at most min(tolerance, 1e-10) times C Σ ‖(x_i, 1)‖, which bounds the gradient of the loss.
        /// Default: 1e-10.
        tolerance: f64,

        /// The cap on Newton steps over all points, at least 1. Default: 100.
        max_steps: u64,

        /// The number of threads for the sums over points. Several threads are useful for about 10 000 points or more.
        /// The fit does not depend on this number. Default: one.
        threads: Threads,
    }
}

impl Params for LogisticParams {
    type Learner = LogisticRegression;
    type Error = InputError;

    fn check(self) -> Result<LogisticRegression, InputError> {
        check_c(self.c)?;
        check_tolerance(self.tolerance)?;
        check_cap("max_steps", self.max_steps)?;
        Ok(LogisticRegression(self))
    }
}

/// Logistic regression with an L2 penalty.
///
/// The fit minimises f(w, b) = ½‖w‖² + C Σ ln(1 + exp(-y_i (w · x_i + b))), the objective of scikit-learn's
/// `LogisticRegression`. The intercept b is optional and is not penalised. The method is Newton's method with
/// backtracking. For up to 500 unknowns, the Newton system is solved by Cholesky factorisation; for more unknowns, by
/// conjugate gradients. The fit usually starts at 0. With many points and unknowns, a rough fit to every seventh point
/// comes first; the fit then starts from the result of the rough fit if f is smaller there than at 0.
///
/// *Guarantee.* The fit reports its gradient norm. Without an intercept, f is 1-strongly convex. Then the gradient norm
/// bounds the distance to the unique minimiser, and half its square bounds f - min f. There is no bound on the 0-1
/// error under Massart noise: no convex surrogate has one (Diakonikolas, Gouleakis and Tzamos 2019). If all labels are
/// equal, the intercept diverges; the fit ends once the gradient is small enough.
///
/// *Termination.* The result is `Converged` if the gradient norm is small enough ([`LogisticParams::tolerance`]), and `CapReached` if the fit
/// took `max_steps` Newton steps. It is `Stalled` if, because of rounding, Newton steps reduce neither f nor the norm
/// of its gradient.
///
/// *Cost.* For n points, a step takes O(nd²) time, plus O(d³) time for the factorisation. Beyond 500 unknowns, each
/// step of conjugate gradients takes O(nd) time. The memory is O(n + d²), or O(n + d) beyond 500 unknowns.
///
/// *Source.* Nocedal and Wright 2006, Algorithms 3.2 and 7.1 (Newton's method with a line search, and the variant that
/// uses conjugate gradients). Claims: none of its own; it is compared with other learners in P10 and PR.
///
/// ```
/// use halfspaces_linalg::{FitSample, Label, Params, Points, Termination};
/// use halfspaces_pac::LogisticRegression;
/// let points = Points::from_rows(&[[9.0], [11.0]])?;
/// let labels = [Label::Negative, Label::Positive];
/// // By symmetry the boundary is at 10; w solves w = 2C/(1 + e^w), here w = ln 3.
/// let learner = LogisticRegression::params().c(2.0 * 3.0f64.ln()).check()?;
/// let fit = learner.fit(&points, &labels)?;
/// assert_eq!(fit.termination(), Termination::Converged);
/// assert!((fit.halfspace().weights()[0] - 3.0f64.ln()).abs() < 1e-8);
/// assert!((fit.halfspace().bias() + 10.0 * 3.0f64.ln()).abs() < 1e-7);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogisticRegression(LogisticParams);

/// The model fitted by [`LogisticRegression`]: sign(w · x + b), and its distance from the minimum.
///
/// ```
/// use halfspaces_linalg::{DenseRow, FitSample, Label, Params, Points};
/// use halfspaces_pac::LogisticRegression;
/// let points = Points::from_rows(&[[-1.0], [1.0]])?;
/// let labels = [Label::Negative, Label::Positive];
/// let fit = LogisticRegression::params().check()?.fit(&points, &labels)?;
/// assert!((fit.probability(DenseRow::new(&[0.0])?)? - 0.5).abs() < 1e-12);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LogisticFit {
    halfspace: AffineHalfspace,
    objective: f64,
    gradient_norm: f64,
    steps: u64,
    termination: Termination,
}

impl LogisticFit {
    getters! {
        /// The halfspace sign(w · x + b). Without an intercept, b is 0.
        halfspace: &AffineHalfspace,

        /// The objective f at (w, b).
        objective: f64,

        /// The gradient norm ‖∇f‖ at (w, b). Without an intercept, this norm bounds the distance to the minimiser.
        gradient_norm: f64,

        /// The number of Newton steps over all points.
        steps: u64,

        /// How the run ended; see [`LogisticRegression`].
        termination: Termination,
    }

    /// The fitted probability 1/(1 + exp(-(w · x + b))) of the label +1.
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`], [`InputError::Overflow`].
    pub fn probability<R: RowView>(&self, x: R) -> Result<f64, InputError> {
        self.decision_value(x).map(|value| Logistic::of(value).right)
    }
}

classify_by!(LogisticFit, halfspace);

impl LogisticRegression {
    /// The default parameters: C = 1, with an intercept, tolerance 1e-10, at most 100 steps.
    pub fn params() -> LogisticParams {
        let (tolerance, threads) = (1e-10, Threads::ONE);
        LogisticParams { c: 1.0, intercept: true, tolerance, max_steps: 100, threads }
    }
}

impl FitSample for LogisticRegression {
    type Model = LogisticFit;
    type Error = InputError;

    /// Fits a halfspace to labelled points.
    ///
    /// # Errors
    /// [`InputError::Empty`], [`InputError::LengthMismatch`]; [`InputError::Overflow`] if squared norms of points
    /// overflow; [`InputError::TooLarge`].
    fn fit<P: PointSet>(&self, points: &P, labels: &[Label]) -> Result<LogisticFit, InputError> {
        self.fit_weighted(points, labels, None)
    }
}

impl LogisticRegression {
    /// Fits a halfspace to labelled points. The loss of each point is multiplied by its weight, which must be at
    /// least 0. Without weights, each point has the weight 1.
    ///
    /// ```
    /// use halfspaces_linalg::{Label, Params, Points};
    /// use halfspaces_pac::LogisticRegression;
    /// let points = Points::from_rows(&[[1.0], [1.0]])?;
    /// let labels = [Label::Positive, Label::Negative];
    /// let learner = LogisticRegression::params().intercept(false).c(1e6).check()?;
    /// // With almost no penalty, the probability is the positive point's share of the weights.
    /// let fit = learner.fit_weighted(&points, &labels, Some(&[3.0, 1.0]))?;
    /// assert!((fit.halfspace().weights()[0] - 3.0f64.ln()).abs() < 1e-5);
    /// # Ok::<(), halfspaces_linalg::InputError>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`LogisticRegression::fit`]; [`InputError::LengthMismatch`] if the number of weights differs from
    /// the number of points; [`InputError::ParameterOutOfRange`] for a weight that is negative or not finite.
    pub fn fit_weighted<P: PointSet>(
        &self,
        points: &P,
        labels: &[Label],
        weights: Option<&[f64]>,
    ) -> Result<LogisticFit, InputError> {
        let LogisticParams { c, intercept, tolerance, max_steps, threads } = self.0;
        let problem = Problem::new(points, labels, weights, c, intercept, threads)?;
        let mut v = zeros(1, problem.unknowns())?;
        let mut here = problem.expand(&v);
        let small = small_gradient(tolerance, &here, problem.gradient_scale());
        if let Some(start) = self.fit_to_sample(&problem)? {
            let there = problem.expand(&start);
            if there.objective < here.objective {
                (v, here) = (start, there);
            }
        }
        minimise(&mut &problem, points.dim(), v, here, small, max_steps)
    }
}

/// The gradient norm at which a fit has converged. `at_zero` is the expansion of f at v = 0, and `scale` bounds the
/// gradient of the loss. If the labels hardly depend on the points, the gradient at 0 is much smaller than `scale`, so a
/// tolerance relative to `scale` alone could end the fit at 0.
pub(super) fn small_gradient(tolerance: f64, at_zero: &Expansion, scale: f64) -> f64 {
    (tolerance * norm(&at_zero.gradient)).max(tolerance.min(ROUNDING_TOLERANCE) * scale)
}

/// The objective f, for points that are in memory or elsewhere.
pub(super) trait Objective {
    type Error: From<InputError>;

    /// Computes f and its derivatives at v.
    fn expand(&mut self, v: &[f64]) -> Result<Expansion, Self::Error>;

    /// The Newton direction -H⁻¹∇f. Returns `None` if rounding errors prevent its computation.
    fn direction(&mut self, here: &Expansion) -> Result<Option<Vec<f64>>, Self::Error>;
}

impl<P: PointSet> Objective for &Problem<'_, P> {
    type Error = InputError;

    fn expand(&mut self, v: &[f64]) -> Result<Expansion, InputError> {
        Ok((**self).expand(v))
    }

    fn direction(&mut self, here: &Expansion) -> Result<Option<Vec<f64>>, InputError> {
        self.newton_direction(here).map(Some)
    }
}

/// Minimises f from v until the gradient norm is at most `small`. `here` is the expansion of f at v.
pub(super) fn minimise<F: Objective>(
    f: &mut F,
    dim: usize,
    mut v: Vec<f64>,
    mut here: Expansion,
    small: f64,
    max_steps: u64,
) -> Result<LogisticFit, F::Error> {
    let (mut best_objective, mut best_gradient) = (f64::INFINITY, f64::INFINITY);
    let (mut steps, mut idle_steps) = (0, 0);
    let termination = loop {
        checkpoint();
        let size = norm(&here.gradient);
        if size <= small {
            break Termination::Converged;
        }
        let better = here.objective < best_objective || size < best_gradient;
        idle_steps = if better { 0 } else { idle_steps + 1 };
        best_objective = best_objective.min(here.objective);
        best_gradient = best_gradient.min(size);
        if idle_steps >= MAX_IDLE_STEPS {
            break Termination::Stalled;
        }
        if steps == max_steps {
            break Termination::CapReached { cap: max_steps };
        }
        let Some(direction) = f.direction(&here)? else { break Termination::Stalled };
        let Some(next) = backtrack(f, &v, &here, &direction)? else { break Termination::Stalled };
        (v, here) = next;
        steps += 1;
    };
    let (objective, gradient_norm) = (here.objective, norm(&here.gradient));
    // Without an intercept, v has no entries after w.
    let bias = v.get(dim).copied().unwrap_or(0.0);
    v.truncate(dim);
    let halfspace = AffineHalfspace::new(v, bias)?;
    Ok(LogisticFit { halfspace, objective, gradient_norm, steps, termination })
}

/// Returns the first of v + p, v + p/2, v + p/4, ... that decreases f enough ([`SUFFICIENT_DECREASE`]), and the
/// expansion of f there. Returns `None` if no such step is found.
fn backtrack<F: Objective>(
    f: &mut F,
    v: &[f64],
    here: &Expansion,
    direction: &[f64],
) -> Result<Option<(Vec<f64>, Expansion)>, F::Error> {
    let slope = kernels::dot(&here.gradient, direction);
    if slope >= 0.0 {
        return Ok(None);
    }
    let mut length = 1.0;
    for _ in 0..MAX_HALVINGS {
        let mut next = v.to_vec();
        kernels::axpy(length, direction, &mut next);
        // Near the minimum, the decrease is below the rounding error of f. In this case, `minimise` judges the step by
        // the norm of the gradient.
        let most = here.objective * (1.0 + ROUNDING) + SUFFICIENT_DECREASE * length * slope;
        let there = f.expand(&next)?;
        if there.objective <= most {
            return Ok(Some((next, there)));
        }
        length *= 0.5;
    }
    Ok(None)
}

impl LogisticRegression {
    /// The parameters.
    pub(super) fn parameters(&self) -> LogisticParams {
        self.0
    }

    /// Makes a rough fit to every [`SAMPLED`]th point, in which a step is [`SAMPLED`] times cheaper, and returns the
    /// fitted v. Returns `None` if there are too few such points for a good starting point.
    fn fit_to_sample<P: PointSet>(
        &self,
        problem: &Problem<'_, P>,
    ) -> Result<Option<Vec<f64>>, InputError> {
        let (n, unknowns) = (problem.labels.len(), problem.unknowns());
        let few = n.div_ceil(SAMPLED) < SAMPLE_FOR_EACH.saturating_mul(unknowns);
        if few || unknowns < SAMPLE_UNKNOWNS {
            return Ok(None);
        }
        let sample: Vec<usize> = (0..n).step_by(SAMPLED).collect();
        let c = self.0.c * n as f64 / sample.len() as f64;
        let tolerance = self.0.tolerance.max(SAMPLE_TOLERANCE);
        let rough = LogisticRegression(LogisticParams { c, tolerance, ..self.0 });
        let labels: Vec<Label> = sample.iter().map(|&i| problem.labels[i]).collect();
        let weights = problem.weights_of(&sample);
        let points = problem.points.select(&sample)?;
        match rough.fit_weighted(&points, &labels, weights.as_deref()) {
            Ok(fit) => {
                let mut v = fit.halfspace.weights().to_vec();
                v.extend(self.0.intercept.then_some(fit.halfspace.bias()));
                Ok(Some(v))
            }
            // C is larger for the sample, so sums over the sample may overflow even if the sums over all points do not.
            Err(InputError::Overflow { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl<P: PointSet> Problem<'_, P> {
    /// The Newton direction -H⁻¹∇f. If it is computed by conjugate gradients, it is approximate.
    fn newton_direction(&self, here: &Expansion) -> Result<Vec<f64>, InputError> {
        if self.unknowns() <= MAX_CHOLESKY
            && let Some(direction) = self.by_cholesky(here)?
        {
            return Ok(direction);
        }
        Ok(self.by_conjugate_gradients(here))
    }

    /// Solves the Newton system by Cholesky factorisation. Returns `None` if the Hessian is not positive definite up to
    /// rounding.
    fn by_cholesky(&self, here: &Expansion) -> Result<Option<Vec<f64>>, InputError> {
        let hessian = self.outer_products(&here.curvatures)?;
        let Some(mut factor) = Cholesky::new(&hessian, self.unknowns(), self.points.dim()) else {
            return Ok(None);
        };
        let mut direction: Vec<f64> = here.gradient.iter().map(|g| -g).collect();
        factor.solve(&mut direction);
        Ok(direction.iter().all(|p| p.is_finite()).then_some(direction))
    }

    /// Solves H p = -∇f by conjugate gradients, until the residual is at most min(½, √(‖∇f‖/S)) ‖∇f‖, where S is
    /// [`Problem::gradient_scale`]. The outer iteration then converges superlinearly. Every iterate is a descent
    /// direction.
    fn by_conjugate_gradients(&self, here: &Expansion) -> Vec<f64> {
        let k = self.unknowns();
        let diagonal = self.hessian_diagonal(here);
        let scaled =
            |r: &[f64]| -> Vec<f64> { r.iter().zip(&diagonal).map(|(r, d)| r / d).collect() };
        let size = norm(&here.gradient);
        let enough = (size / self.gradient_scale()).sqrt().min(0.5) * size;
        let mut p = vec![0.0; k];
        let mut residual: Vec<f64> = here.gradient.iter().map(|g| -g).collect();
        let mut search = scaled(&residual);
        let mut product = kernels::dot(&residual, &search);
        for _ in 0..2 * k {
            checkpoint();
            let image = self.hessian_times(here, &search);
            let curvature = kernels::dot(&search, &image);
            if !(curvature > 0.0 && curvature.is_finite()) {
                break;
            }
            let step = product / curvature;
            kernels::axpy(step, &search, &mut p);
            kernels::axpy(-step, &image, &mut residual);
            if norm(&residual) <= enough {
                break;
            }
            let next = scaled(&residual);
            let next_product = kernels::dot(&residual, &next);
            let ratio = next_product / product;
            search.iter_mut().zip(&next).for_each(|(s, n)| *s = n + ratio * *s);
            product = next_product;
        }
        p
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::regularised_loss::MIN_PART;
    use halfspaces_data::{Gaussian, Marginal, random_target};
    use halfspaces_linalg::{DenseRow, Points, SparsePoints};

    /// Noisy points with half of their entries zero.
    fn noisy(n: usize, dim: usize, seed: u64) -> (Points, Vec<Label>) {
        crate::test_data::noisy_with_zeros(n, dim, seed)
    }

    fn problem<'a, P: PointSet>(
        points: &'a P,
        labels: &'a [Label],
        intercept: bool,
    ) -> Problem<'a, P> {
        Problem::new(points, labels, None, 0.7, intercept, Threads::ONE).unwrap()
    }

    #[test]
    fn losses_keep_their_digits_at_both_ends() {
        let (loss, wrong) = (|m| Logistic::of(m).loss, |m| Logistic::of(m).wrong);
        assert_eq!(loss(0.0), 2f64.ln());
        assert_eq!(loss(-800.0), 800.0);
        assert!((loss(40.0) / (-40.0f64).exp() - 1.0).abs() < 1e-15);
        assert_eq!(loss(800.0), 0.0);
        assert_eq!(wrong(0.0), 0.5);
        assert!((wrong(40.0) / (-40.0f64).exp() - 1.0).abs() < 1e-15);
        assert_eq!((wrong(-800.0), wrong(800.0)), (1.0, 0.0));
    }

    #[test]
    fn derivatives_agree_with_finite_differences() {
        let (points, labels) = noisy(40, 4, 1);
        for intercept in [true, false] {
            let f = problem(&points, &labels, intercept);
            let v: Vec<f64> = (0..f.unknowns()).map(|j| 0.3 * j as f64 - 0.5).collect();
            let here = f.expand(&v);
            for j in 0..v.len() {
                let moved = |h: f64| {
                    let mut v = v.clone();
                    v[j] += h;
                    v
                };
                let (up, down) = (moved(1e-5), moved(-1e-5));
                let slope = (f.expand(&up).objective - f.expand(&down).objective) / 2e-5;
                assert!((slope - here.gradient[j]).abs() < 1e-6 * (1.0 + slope.abs()), "{j}");
                let mut unit = vec![0.0; v.len()];
                unit[j] = 1.0;
                let column = f.hessian_times(&here, &unit);
                let (up, down) = (f.expand(&up).gradient, f.expand(&down).gradient);
                for i in 0..v.len() {
                    let second = (up[i] - down[i]) / 2e-5;
                    assert!((second - column[i]).abs() < 1e-6 * (1.0 + second.abs()), "{i}, {j}");
                }
                assert!((f.hessian_diagonal(&here)[j] - column[j]).abs() < 1e-12);
            }
        }
    }

    /// The tolerances are tight, so few digits of the gradient are correct.
    #[test]
    fn conjugate_gradients_reach_their_accuracy() {
        let (points, labels) = noisy(80, 8, 3);
        // The columns are correlated, so the diagonal approximates the Hessian badly.
        let mut values = points.into_vec();
        for row in values.chunks_exact_mut(8) {
            let first = 5.0 * row[0];
            row[1..].iter_mut().for_each(|v| *v += first);
        }
        let points = Points::new(values, 8).unwrap();
        for intercept in [true, false] {
            let f = problem(&points, &labels, intercept);
            let mut v = vec![0.0; f.unknowns()];
            for _ in 0..20 {
                let direction = f.newton_direction(&f.expand(&v)).unwrap();
                kernels::axpy(1.0, &direction, &mut v);
            }
            v.iter_mut().enumerate().for_each(|(j, v)| *v += 1e-10 * (j as f64 - 2.0));
            let here = f.expand(&v);
            let size = norm(&here.gradient);
            let allowed = (size / f.gradient_scale()).sqrt() * size;
            assert!(allowed < 1e-3 * size);
            let mut residual = f.hessian_times(&here, &f.by_conjugate_gradients(&here));
            kernels::axpy(1.0, &here.gradient, &mut residual);
            assert!(norm(&residual) <= 1.01 * allowed, "{} {allowed}", norm(&residual));
        }
    }

    /// If the squares of a gradient underflow, there is no step, rather than a step that is not a number.
    #[test]
    fn a_gradient_that_vanishes_moves_nothing() {
        let (points, labels) = noisy(50, 3, 1);
        let f = problem(&points, &labels, true);
        let mut here = f.expand(&[0.0; 4]);
        here.gradient.fill(1e-200);
        assert_eq!(f.by_conjugate_gradients(&here), [0.0; 4]);
    }

    /// If the labels hardly depend on the points, the gradient at 0 is small, but 0 is not the minimum.
    #[test]
    fn a_loose_tolerance_refers_to_the_gradient_at_zero() {
        let (points, mut labels) = noisy(4000, 20, 8);
        for i in (0..4000).filter(|i| i % 20 < 9) {
            labels[i] = -labels[i];
        }
        for intercept in [true, false] {
            let f = problem(&points, &labels, intercept);
            let at_zero = f.expand(&vec![0.0; f.unknowns()]);
            let relative = norm(&at_zero.gradient) / f.gradient_scale();
            assert!(relative < 0.05, "{relative}");
            let params = LogisticRegression::params().c(0.7).intercept(intercept);
            let fit = |tolerance: f64| {
                let fit = params.tolerance(tolerance).check().unwrap().fit(&points, &labels);
                fit.unwrap()
            };
            let (loose, tight) = (fit(0.05), fit(1e-12));
            assert!(loose.gradient_norm() <= 0.05 * norm(&at_zero.gradient));
            let gain = |fit: &LogisticFit| at_zero.objective - fit.objective();
            assert!(gain(&loose) > 0.9 * gain(&tight) && gain(&tight) > 0.0);
            for (tolerance, expected) in
                [(0.05, 0.05 * relative), (1e-9, f64::max(1e-9 * relative, 1e-10)), (1e-12, 1e-12)]
            {
                let found = small_gradient(tolerance, &at_zero, f.gradient_scale());
                let expected = expected * f.gradient_scale();
                assert!(
                    (found - expected).abs() < 1e-9 * expected,
                    "{tolerance}: {found} {expected}"
                );
            }
        }
    }

    #[test]
    fn one_point_worked_by_hand() {
        // The solution of w = C/(1 + e^w) for C = 4 ln 3 is w = ln 3.
        let one = Points::from_rows(&[[1.0]]).unwrap();
        let learner = LogisticRegression::params().c(4.0 * 3f64.ln()).intercept(false);
        let fit = learner.check().unwrap().fit(&one, &[Label::Positive]).unwrap();
        assert!((fit.halfspace().weights()[0] - 3f64.ln()).abs() <= fit.gradient_norm() + 1e-15);
        let objective = 0.5 * 3f64.ln().powi(2) + 4.0 * 3f64.ln() * (4.0f64 / 3.0).ln();
        assert!((fit.objective() - objective).abs() < 1e-12);
        assert_eq!((fit.halfspace().bias(), fit.termination()), (0.0, Termination::Converged));
        let x = DenseRow::new(&[1.0]).unwrap();
        assert!((fit.probability(x).unwrap() - 0.75).abs() < 1e-9);
    }

    #[test]
    fn both_solvers_find_the_same_minimum_which_moves_beat_nowhere() {
        let (points, labels) = noisy(300, 6, 5);
        for intercept in [true, false] {
            let f = problem(&points, &labels, intercept);
            let params = LogisticRegression::params().c(0.7).intercept(intercept);
            let fit = params.tolerance(1e-12).check().unwrap().fit(&points, &labels).unwrap();
            assert_eq!(fit.termination(), Termination::Converged);
            assert!(fit.gradient_norm() < 1e-9 && fit.steps() < 12);
            let mut v = fit.halfspace().weights().to_vec();
            if intercept {
                v.push(fit.halfspace().bias());
            }
            assert!((f.expand(&v).objective - fit.objective()).abs() < 1e-12 * fit.objective());
            for j in 0..v.len() {
                for h in [-1e-3, 1e-3] {
                    let mut moved = v.clone();
                    moved[j] += h;
                    assert!(f.expand(&moved).objective > fit.objective());
                }
            }
            // Conjugate gradients alone find the same minimum.
            let mut u = vec![0.0; v.len()];
            for _ in 0..30 {
                let here = f.expand(&u);
                let direction = f.by_conjugate_gradients(&here);
                let Some(next) = backtrack(&mut &f, &u, &here, &direction).unwrap() else { break };
                u = next.0;
            }
            assert!(u.iter().zip(&v).all(|(a, b)| (a - b).abs() < 1e-8));
        }
    }

    /// Replacing each point by 300 copies (in several parts) and C by C/300 does not change the minimum.
    #[test]
    fn every_part_counts_once() {
        let (points, labels) = noisy(100, 3, 8);
        let copies: Vec<usize> = (0..30_000).map(|i| i % 100).collect();
        let many = points.select(&copies).unwrap();
        let labels_of_many: Vec<Label> = copies.iter().map(|i| labels[*i]).collect();
        let params = LogisticRegression::params().c(0.5);
        let once = params.check().unwrap().fit(&points, &labels).unwrap();
        let params = params.c(0.5 / 300.0);
        let fit = params.check().unwrap().fit(&many, &labels_of_many).unwrap();
        assert!(fit.termination().is_converged() && once.termination().is_converged());
        assert!((fit.objective() - once.objective()).abs() < 1e-9);
        for (a, b) in fit.halfspace().weights().iter().zip(once.halfspace().weights()) {
            assert!((a - b).abs() < 1e-6);
        }
    }

    #[test]
    fn threads_change_no_bit() {
        for (n, dim) in [(2 * MIN_PART + 700, 3), (300, 8), (9000, 37), (9000, MAX_CHOLESKY + 20)] {
            let (points, labels) = noisy(n, dim, 5);
            let fit = |count: usize| {
                let params = LogisticRegression::params().threads(Threads::new(count).unwrap());
                params.max_steps(4).check().unwrap().fit(&points, &labels).unwrap()
            };
            let one = fit(1);
            assert!(one.steps() > 0);
            assert!([2, 5].into_iter().all(|count| fit(count) == one));
        }
        let (points, labels) = noisy(17 * MIN_PART + 1, 2, 6);
        let sparse = SparsePoints::from_dense(&points).unwrap();
        let params = LogisticRegression::params();
        let one = params.check().unwrap().fit(&sparse, &labels).unwrap();
        let three = params.threads(Threads::new(3).unwrap()).check().unwrap();
        assert_eq!(three.fit(&sparse, &labels).unwrap(), one);
    }

    #[test]
    fn sparse_and_dense_agree_to_the_bit() {
        let (points, labels) = noisy(120, 9, 8);
        let sparse = SparsePoints::from_dense(&points).unwrap();
        let learner = LogisticRegression::params().check().unwrap();
        let dense = learner.fit(&points, &labels).unwrap();
        assert_eq!(learner.fit(&sparse, &labels).unwrap(), dense);
        // There are more unknowns than the limit for factorisation, and some columns are empty.
        let wide = sparse.widened(MAX_CHOLESKY + 1).unwrap();
        let by_cg = learner.fit(&wide, &labels).unwrap();
        assert_eq!(by_cg.termination(), Termination::Converged);
        let (narrow, wide) = (dense.halfspace().weights(), by_cg.halfspace().weights());
        assert!(narrow.iter().zip(wide).all(|(a, b)| (a - b).abs() < 1e-6));
        assert!(wide[9..].iter().all(|w| *w == 0.0));
    }

    #[test]
    fn separable_data_stay_finite_and_are_separated() {
        let target = random_target(3, 2).unwrap();
        let points = Gaussian::new(3, 1.0).unwrap().sample(200, 3).unwrap();
        let labels = target.label_all(&points).unwrap();
        for c in [1e-6, 1.0, 1e6] {
            let learner = LogisticRegression::params().c(c).intercept(false).check().unwrap();
            let fit = learner.fit(&points, &labels).unwrap();
            assert_eq!(fit.termination(), Termination::Converged, "C = {c}");
            if c > 1e3 {
                assert_eq!(fit.halfspace().label_all(&points).unwrap(), labels);
            }
        }
        // If all labels belong to one class, the intercept diverges, but the fit ends nevertheless.
        let same = vec![Label::Negative; 200];
        let fit = LogisticRegression::params().check().unwrap().fit(&points, &same).unwrap();
        assert_eq!(fit.halfspace().label_all(&points).unwrap(), same);
    }

    #[test]
    fn the_cap_is_exact_and_bad_input_is_typed() {
        let (points, labels) = noisy(50, 3, 4);
        let capped = LogisticRegression::params().max_steps(1).check().unwrap();
        let fit = capped.fit(&points, &labels).unwrap();
        assert_eq!((fit.steps(), fit.termination()), (1, Termination::CapReached { cap: 1 }));
        let params = LogisticRegression::params;
        for bad in [params().c(-1.0), params().c(f64::NAN), params().tolerance(0.0)] {
            assert!(bad.check().is_err());
        }
        assert!(params().max_steps(0).check().is_err());
        let learner = params().check().unwrap();
        let none = Points::new(vec![], 2).unwrap();
        assert_eq!(learner.fit(&none, &[]), Err(InputError::Empty));
        assert!(learner.fit(&points, &labels[1..]).is_err());
        let huge = Points::from_rows(&[[1.0], [1e200]]).unwrap();
        let labels = [Label::Positive, Label::Negative];
        assert_eq!(learner.fit(&huge, &labels), Err(InputError::Overflow { row: 1 }));
    }

    /// A weight of 3 is equivalent to three copies of the point, and a weight of 0 to omitting the point. Weights of 1
    /// are equivalent to no weights. The fit to the larger sample starts from a fit to every seventh point, with the
    /// weights of these points.
    #[test]
    fn weights_count_points() {
        for (n, dim) in [(90, 3), (3000, 9)] {
            let (points, labels) = noisy(n, dim, 31);
            let weights: Vec<f64> = (0..n).map(|i| (i % 4) as f64).collect();
            let copies: Vec<usize> = (0..n).flat_map(|i| vec![i; i % 4]).collect();
            let copied: Vec<Label> = copies.iter().map(|&i| labels[i]).collect();
            let learner = LogisticRegression::params().c(0.3).check().unwrap();
            let weighted = learner.fit_weighted(&points, &labels, Some(&weights)).unwrap();
            let repeated = learner.fit(&points.select(&copies).unwrap(), &copied).unwrap();
            assert_eq!(weighted.termination(), Termination::Converged);
            let close = |a: f64, b: f64| (a - b).abs() < 1e-7 * (1.0 + b.abs());
            assert!(close(weighted.objective(), repeated.objective()));
            let (a, b) = (weighted.halfspace(), repeated.halfspace());
            assert!(close(a.bias(), b.bias()));
            assert!(a.weights().iter().zip(b.weights()).all(|(a, b)| close(*a, *b)));
            let none = learner.fit(&points, &labels).unwrap();
            assert_eq!(learner.fit_weighted(&points, &labels, Some(&vec![1.0; n])).unwrap(), none);
            assert!(weighted.steps() <= repeated.steps() + 1, "the start has the weights");
        }
        // Multiplying all weights by a constant and dividing C by it changes neither the problem nor its tolerance. If
        // the constant is a power of two, the result is bitwise equal.
        let (points, labels) = noisy(90, 3, 31);
        let large = 20f64.exp2();
        let learner = LogisticRegression::params().c(large.recip()).check().unwrap();
        let fit = learner.fit_weighted(&points, &labels, Some(&[large; 90])).unwrap();
        let plain = LogisticRegression::params().check().unwrap();
        assert_eq!(fit, plain.fit(&points, &labels).unwrap());
        let (points, labels) = noisy(9, 2, 1);
        let learner = LogisticRegression::params().check().unwrap();
        for bad in [vec![1.0; 8], vec![-1.0; 9], vec![f64::NAN; 9]] {
            assert!(learner.fit_weighted(&points, &labels, Some(&bad)).is_err(), "{bad:?}");
        }
    }

    /// The points are far from 0 relative to their spread. The terms of w · x + b therefore nearly cancel, and rounding
    /// errors prevent a smaller gradient.
    #[test]
    fn a_stall_by_rounding_is_no_cap() {
        let rows: Vec<[f64; 1]> = (0..20).map(|i| [1e4 + f64::from(i) - 9.3]).collect();
        let label =
            |i: i32| if i == 3 { Label::Positive } else { Label::from_sign(f64::from(i) - 9.5) };
        let labels: Vec<Label> = (0..20).map(label).collect();
        let points = Points::from_rows(&rows).unwrap();
        let params = LogisticRegression::params();
        let fit = params.tolerance(1e-13).check().unwrap().fit(&points, &labels).unwrap();
        assert_eq!(fit.termination(), Termination::Stalled);
        assert!(fit.steps() < 100, "{}", fit.steps());
        let reached = params.check().unwrap().fit(&points, &labels).unwrap();
        assert_eq!(reached.termination(), Termination::Converged);
    }

    #[test]
    fn a_sample_saves_steps_over_all_points() {
        let (points, labels) = noisy(6000, 12, 21);
        let learner = LogisticRegression::params().check().unwrap();
        let all = learner.fit(&points, &labels).unwrap();
        assert_eq!(all.termination(), Termination::Converged);
        assert!(all.steps() <= 4, "{}", all.steps());
        // With 400 points, the sample would be too small, so the fit starts at 0.
        let few: Vec<usize> = (0..400).collect();
        let begun_at_0 = learner.fit(&points.select(&few).unwrap(), &labels[..400]).unwrap();
        assert!(begun_at_0.steps() > 4, "{}", begun_at_0.steps());
    }

    /// The order of the points determines the sample, but the minimum does not depend on it.
    #[test]
    fn a_sample_that_misleads_changes_no_minimum() {
        let (points, mut labels) = noisy(2100, 8, 22);
        let mut order: Vec<usize> = (0..2100).collect();
        // Every seventh label becomes positive, so all points of the sample are positive.
        labels.iter_mut().step_by(SAMPLED).for_each(|y| *y = Label::Positive);
        let learner = LogisticRegression::params().check().unwrap();
        let misled = learner.fit(&points, &labels).unwrap();
        order.sort_by_key(|i| i % SAMPLED != 0);
        let labels: Vec<Label> = order.iter().map(|&i| labels[i]).collect();
        let fit = learner.fit(&points.select(&order).unwrap(), &labels).unwrap();
        assert_eq!(misled.termination(), Termination::Converged);
        assert!((misled.objective() / fit.objective() - 1.0).abs() < 1e-12);
        for (a, b) in misled.halfspace().weights().iter().zip(fit.halfspace().weights()) {
            assert!((a - b).abs() < 1e-7, "{a} {b}");
        }
    }

    #[test]
    fn a_sample_that_leaves_the_numbers_is_done_without() {
        let value = |i: usize| if i.is_multiple_of(SAMPLED) { 1.2e153 } else { 1e150 };
        let row = |i: usize| [value(i), 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        let points = Points::from_rows(&(0..700).map(row).collect::<Vec<_>>()).unwrap();
        let labels: Vec<Label> = (0..700).map(|i| Label::from_sign((i % 2) as f64 - 0.5)).collect();
        let learner = LogisticRegression::params().check().unwrap();
        assert!(Problem::new(&points, &labels, None, 7.0, true, Threads::ONE).is_err());
        let fit = learner.fit(&points, &labels).unwrap();
        assert!(fit.objective() <= 700.0 * 2f64.ln() * (1.0 + 1e-12));
    }
}
