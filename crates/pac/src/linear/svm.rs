//! L2-regularised SVM with the hinge loss or its square, by dual coordinate ascent with shrinking.
//!
//! With the hinge loss and equal weights, the fit switches to the interior-point method of `svm_interior.rs` after some
//! passes. Measurements showed that this second solver is needed. With noisy labels and large C, or with columns of
//! different scales, passes alone take up to 20 times as long or do not converge. For example, with 10 % of the labels
//! flipped, C = 10 and standardised columns, passes alone take 20 times as long on WDBC and 13 times as long on 20,000
//! points with 20 columns.

use super::hinge_loss::HingeLoss;
use super::logistic::MAX_CHOLESKY;
use super::regularised_loss::{Problem, check_c, check_cap, check_not_negative, check_tolerance};
use super::svm_interior::{Objectives, interior_point};
use crate::streams;
use halfspaces_linalg::kernels::{Wide, run_wide};
use halfspaces_linalg::{
    AffineHalfspace, FitSample, InputError, Label, Params, PointSet, RowView, Termination, Threads,
    checkpoint, checkpoint_at, classify_by, getters, rng_for, setters, zeros,
};
use rand::seq::SliceRandom;

/// The relative rounding error allowed in P >= D.
const ROUNDING: f64 = 1e-9;

/// A run has stalled after this number of consecutive checks at which neither D nor the gap improved on its best value
/// so far. In exact arithmetic, D rises with every pass; only the gap may widen for a while.
const MAX_IDLE_CHECKS: u32 = 16;

/// The number of passes until the next check of the gap is the number of passes so far divided by `CHECK_SHARE`.
const CHECK_SHARE: u64 = 16;

/// The minimum number of passes between two checks if the loss is squared. Passes converge faster with this loss, and a
/// check costs as much as two passes.
const FEWEST_BETWEEN_CHECKS: u64 = 2;

/// The interior-point method starts after `FEWEST_PASSES` passes plus one pass for every `UNKNOWNS_A_PASS` unknowns,
/// because the cost of a step grows with the number of unknowns. Both constants were chosen on tables of 270 to 19 000
/// rows and 2 to 110 columns.
const FEWEST_PASSES: u64 = 4;
const UNKNOWNS_A_PASS: u64 = 16;

/// The number of points by which prefetching runs ahead of the current point.
const AHEAD: usize = 3;

/// Unchecked parameters of [`LinearSvm`].
///
/// ```
/// use halfspaces_linalg::Params;
/// use halfspaces_pac::LinearSvm;
/// let params = LinearSvm::params().c(10.0).intercept(false).tolerance(1e-6).seed(3);
/// assert!(params.check().is_ok());
/// assert!(LinearSvm::params().max_passes(0).check().is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[must_use]
pub struct SvmParams {
    c: f64,
    squared: bool,
    intercept: bool,
    tolerance: f64,
    max_passes: u64,
    threads: Threads,
    seed: u64,
}

impl SvmParams {
    setters! {
        /// C, the weight of the loss, in [1e-12, 1e12]. Default: 1.
        c: f64,

        /// Whether the loss is the square of the hinge loss. Default: false.
        squared: bool,

        /// Whether there is an intercept. Default: true.
        intercept: bool,

        /// The duality gap at which the fit ends, relative to P, in [1e-13, 1). Default: 1e-4.
        tolerance: f64,

        /// The cap on passes over the points, at least 1. Default: 10 000.
        max_passes: u64,

        /// The number of threads for the sums over all points. The fit does not depend on this number. Default: one.
        threads: Threads,

        /// The seed for the random orders of the points. Default: 0.
        seed: u64,
    }
}

impl Params for SvmParams {
    type Learner = LinearSvm;
    type Error = InputError;

    fn check(self) -> Result<LinearSvm, InputError> {
        check_c(self.c)?;
        check_tolerance(self.tolerance)?;
        check_cap("max_passes", self.max_passes)?;
        Ok(LinearSvm(self))
    }
}

/// A linear support vector machine with an L2 penalty and the hinge loss or its square.
///
/// The fit minimises P(w) = ½‖w‖² + C Σ max(0, 1 - y_i w · x_i) by coordinate ascent on its dual D(α) = Σ α_i - ½‖Σ α_i
/// y_i x_i‖² over 0 <= α_i <= C. With w = Σ α_i y_i x_i, the exact solution for one coordinate is α_i <- clamp(α_i -
/// (y_i w · x_i - 1)/‖x_i‖², 0, C). Each pass takes the points in a fresh random order. It skips variables at their
/// bounds (shrinking) until the next check of the gap. An intercept is the weight of a constant feature 1, and is
/// penalised like the other weights.
///
/// The squared loss C Σ max(0, 1 - y_i w · x_i)² has the dual D(α) = Σ α_i - ½‖Σ α_i y_i x_i‖² - Σ α_i²/(4C), where
/// each α_i >= 0. A coordinate is optimised in the same way, but 1/(2C) is added to ‖x_i‖² and α_i/(2C) to the slope.
/// Weights of points multiply C: see [`fit_with`](LinearSvm::fit_with).
///
/// *Guarantee.* D(α) <= min P <= P(w) for every α. Therefore the gap P - D, recomputed from α, bounds the distance from
/// the optimum: P(w) - min P <= gap, and ‖w - w_min‖² <= gap. The second inequality holds because P and -D are both
/// 1-strongly convex in w. So P(w) - min P and max D - D(α), whose sum is the gap, are both at least ½‖w - w_min‖².
/// (For one point x = 1 at C = 1, equality holds.) As for every convex surrogate, there is no bound on the 0-1 error
/// under Massart noise. Under such noise, use [`Perspectron`](crate::Perspectron) or
/// [`SamplePerspectron`](crate::SamplePerspectron).
///
/// *Termination.* The result is `Converged` if gap <= tolerance · P. At first the gap is checked after every pass;
/// later, the number of passes between two checks is a sixteenth of the passes so far. The result is `CapReached` if
/// the fit made `max_passes` passes. It is `Stalled` if, because of rounding, passes neither raise D nor narrow the
/// gap. The gap is valid in all three cases.
///
/// *Cost.* A pass takes O(nd) time for n points, and less with shrinking; for sparse points, nd is the number of stored
/// values. The memory is O(n + d). The sums over all points are divided among the threads, but a pass runs on one
/// thread. The number of passes grows with C, with the noise, and with differences between the scales of the columns.
/// Therefore, standardise the columns first.
///
/// *Source.* Hsieh, Chang, Lin, Keerthi and Sundararajan 2008, Algorithm 3 (the method of LIBLINEAR). In contrast to
/// that algorithm, shrunk variables become active again at every check of the gap, and not only at the end. Claims:
/// none of its own; it is compared with other learners in P10 and PR.
///
/// ```
/// use halfspaces_linalg::{FitSample, Label, Params, Points, Termination};
/// use halfspaces_pac::LinearSvm;
/// let points = Points::from_rows(&[[1.0, 1.0], [-1.0, 1.0], [3.0, 0.0]])?;
/// let labels = [Label::Positive, Label::Negative, Label::Positive];
/// let fit = LinearSvm::params().intercept(false).tolerance(1e-9).check()?.fit(&points, &labels)?;
/// assert_eq!(fit.termination(), Termination::Converged);
/// // Only the first two points are support vectors of w = (1, 0).
/// assert!((fit.halfspace().weights()[0] - 1.0).abs() < 1e-4);
/// assert_eq!(fit.support(), 2);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinearSvm(SvmParams);

/// The model fitted by [`LinearSvm`]: sign(w · x + b), and the dual solution that certifies it.
///
/// ```
/// use halfspaces_linalg::{FitSample, Label, Params, Points};
/// use halfspaces_pac::LinearSvm;
/// let one = Points::from_rows(&[[1.0]])?;
/// // ½w² + C max(0, 1 - w) with C = 1/4 has its minimum at w = 1/4: P = 1/32 + 3/16 = D.
/// let fit = LinearSvm::params().c(0.25).intercept(false).check()?.fit(&one, &[Label::Positive])?;
/// assert_eq!((fit.primal(), fit.dual()), (0.21875, 0.21875));
/// assert_eq!((fit.gap(), fit.distance_to_optimum()), (0.0, 0.0));
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SvmFit {
    halfspace: AffineHalfspace,
    c: f64,
    alphas: Vec<f64>,
    primal: f64,
    dual: f64,
    passes: u64,
    #[cfg_attr(feature = "serde", serde(default))]
    steps: u64,
    termination: Termination,
}

impl SvmFit {
    getters! {
        /// The halfspace sign(w · x + b). Without an intercept, b is 0.
        halfspace: &AffineHalfspace,

        /// The certificate α, one number per point. Each number is between 0 and C times the weight of the point; with
        /// the squared loss, it is at least 0.
        alphas: &[f64],

        /// C, the weight of the loss.
        c: f64,

        /// The objective P at w.
        primal: f64,

        /// The dual objective D at α.
        dual: f64,

        /// The number of passes over the points.
        passes: u64,

        /// The number of steps of the interior-point method. It is 0 if passes sufficed or there are too many columns.
        steps: u64,

        /// How the run ended; see [`LinearSvm`].
        termination: Termination,
    }

    /// The gap P - D, an upper bound on P - min P up to rounding.
    #[must_use]
    pub fn gap(&self) -> f64 {
        (self.primal - self.dual).max(0.0)
    }

    /// The square root of the gap, an upper bound on the distance to the minimiser (w, b) up to rounding.
    #[must_use]
    pub fn distance_to_optimum(&self) -> f64 {
        self.gap().sqrt()
    }

    /// The number of support vectors, which are the points with α > 0.
    #[must_use]
    pub fn support(&self) -> usize {
        self.alphas.iter().filter(|a| **a > 0.0).count()
    }
}

classify_by!(SvmFit, halfspace);

impl LinearSvm {
    /// The default parameters: C = 1, with an intercept, relative gap 1e-4, at most 10 000 passes, seed 0.
    pub fn params() -> SvmParams {
        let threads = Threads::ONE;
        SvmParams {
            c: 1.0,
            squared: false,
            intercept: true,
            tolerance: 1e-4,
            max_passes: 10_000,
            threads,
            seed: 0,
        }
    }
}

impl FitSample for LinearSvm {
    type Model = SvmFit;
    type Error = InputError;

    /// Fits a halfspace to labelled points.
    ///
    /// # Errors
    /// [`InputError::Empty`], [`InputError::LengthMismatch`]; [`InputError::Overflow`] if squared norms of points
    /// overflow; [`InputError::ParameterOutOfRange`] if these norms are so large that rounding makes the certificate
    /// useless; [`InputError::TooLarge`].
    fn fit<P: PointSet>(&self, points: &P, labels: &[Label]) -> Result<SvmFit, InputError> {
        self.fit_with(points, labels, None, None)
    }
}

impl LinearSvm {
    /// Fits a halfspace to labelled points with weights. The weight of a point multiplies C. The passes start from
    /// `start`, which is the α of a fit to the same points with another C (a warm start). A warm start saves passes and
    /// does not change the optimum. By default, the weights are 1 and the passes start from 0.
    ///
    /// ```
    /// use halfspaces_linalg::{Label, Params, Points};
    /// use halfspaces_pac::LinearSvm;
    /// let points = Points::from_rows(&[[1.0], [1.0]])?;
    /// let labels = [Label::Positive, Label::Negative];
    /// let learner = LinearSvm::params().squared(true).intercept(false).tolerance(1e-9).check()?;
    /// // ½w² + (1 - w)² · 2 + (1 + w)² has its minimum at 2/7.
    /// let fit = learner.fit_with(&points, &labels, Some(&[2.0, 1.0]), None)?;
    /// assert!((fit.halfspace().weights()[0] - 2.0 / 7.0).abs() < 1e-4);
    /// let again = learner.fit_with(&points, &labels, Some(&[2.0, 1.0]), Some(fit.alphas()))?;
    /// assert_eq!(again.passes(), 0);
    /// # Ok::<(), halfspaces_linalg::InputError>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`LinearSvm::fit`]; [`InputError::LengthMismatch`] if the number of weights, or the number of α,
    /// differs from the number of points; [`InputError::ParameterOutOfRange`] for a weight or an α that is negative or
    /// not finite.
    pub fn fit_with<P: PointSet>(
        &self,
        points: &P,
        labels: &[Label],
        weights: Option<&[f64]>,
        start: Option<&[f64]>,
    ) -> Result<SvmFit, InputError> {
        let SvmParams { c, squared, intercept, tolerance, max_passes, threads, seed } = self.0;
        let problem = Problem::new(points, labels, weights, c, intercept, threads)?;
        let loss = HingeLoss { c, squared, weights };
        let scale = problem.norms_sq.iter().map(|norm_sq| c * (norm_sq + 1.0)).sum();
        let mut alphas = zeros(1, labels.len())?;
        if let Some(start) = start {
            check_not_negative("alpha", start, labels.len())?;
            let place = |(i, alpha): (usize, &f64)| alpha.min(loss.most(i));
            alphas = start.iter().enumerate().map(place).collect();
        }
        let mut rng = rng_for(streams::SVM_ORDER, seed);
        let mut ascent =
            Ascent { alphas, loss, v: Vec::new(), range: SlopeRange::UNKNOWN, problem };
        let mut active: Vec<usize> = Vec::with_capacity(labels.len());
        let (mut passes, mut steps) = (0, 0);
        let mut before_steps = passes_before_steps(ascent.problem.unknowns());
        before_steps = before_steps.filter(|_| !squared && weights.is_none());
        let (mut best_dual, mut best_gap, mut idle_checks) = (f64::NEG_INFINITY, f64::INFINITY, 0);
        loop {
            // The objectives are recomputed from α, so rounding errors do not accumulate and the gap depends only on α.
            let Objectives { v, slopes, primal, dual } =
                Objectives::of(&ascent.problem, ascent.loss, &ascent.alphas)?;
            ascent.v = v;
            check_duality(primal, dual, scale)?;
            idle_checks =
                if dual > best_dual || primal - dual < best_gap { 0 } else { idle_checks + 1 };
            best_dual = best_dual.max(dual);
            best_gap = best_gap.min(primal - dual);
            let ended = if primal - dual <= tolerance * primal {
                Some(Termination::Converged)
            } else if passes >= max_passes {
                Some(Termination::CapReached { cap: max_passes })
            } else if idle_checks >= MAX_IDLE_CHECKS {
                Some(Termination::Stalled)
            } else {
                None
            };
            if let Some(termination) = ended {
                let Ascent { problem, alphas, v: mut w, .. } = ascent;
                let bias = problem.bias(&w);
                w.truncate(points.dim());
                let halfspace = AffineHalfspace::new(w, bias)?;
                return Ok(SvmFit {
                    halfspace,
                    c,
                    alphas,
                    primal,
                    dual,
                    passes,
                    steps,
                    termination,
                });
            }
            if before_steps.take_if(|before| passes >= *before).is_some() {
                let inner = interior_point(&ascent.problem, &ascent.alphas, tolerance)?;
                (ascent.alphas, ascent.range, steps) =
                    (inner.alphas, SlopeRange::UNKNOWN, inner.steps);
                continue;
            }
            active.clear();
            let shrunk =
                |i: &usize| ascent.range.shrinks(ascent.alphas[*i], slopes[*i], loss.most(*i));
            active.extend((0..labels.len()).filter(|i| loss.most(*i) > 0.0 && !shrunk(i)));
            let fewest = if squared { FEWEST_BETWEEN_CHECKS } else { 1 };
            for _ in 0..fewest.max(passes / CHECK_SHARE).min(max_passes - passes) {
                checkpoint();
                active.shuffle(&mut rng);
                let range = run_wide(Pass { ascent: &mut ascent, active: &mut active });
                passes += 1;
                ascent.range = range.or_unknown();
                // Each active point adds at most C times its slope to the gap, or, with the squared loss, C times the
                // square of its slope. If the sum of these bounds is small enough, so is the gap.
                let width = if squared { range.width().powi(2) } else { range.width() };
                if width * c * active.len() as f64 <= tolerance * dual {
                    break;
                }
            }
        }
    }
}

/// The number of passes before the interior-point method starts; `None` if there are too many unknowns for that method.
fn passes_before_steps(unknowns: usize) -> Option<u64> {
    (unknowns <= MAX_CHOLESKY).then_some(FEWEST_PASSES + unknowns as u64 / UNKNOWNS_A_PASS)
}

/// The state of the coordinate ascent.
struct Ascent<'a, P> {
    problem: Problem<'a, P>,
    loss: HingeLoss<'a>,
    alphas: Vec<f64>,
    /// The vector (w, b), updated at every step.
    v: Vec<f64>,
    range: SlopeRange,
}

impl<P: PointSet> Ascent<'_, P> {
    /// Prefetches a row.
    #[inline(always)]
    fn fetch(&self, row: Option<&usize>) {
        if let Some(x) = row.and_then(|i| self.problem.points.row(*i)) {
            x.prefetch();
        }
    }

    /// Optimises the α of point `i`, and returns the previous α and the slope there. If the variable is shrunk instead,
    /// returns `None`.
    #[inline(always)]
    fn step(&mut self, i: usize) -> Option<(f64, f64)> {
        let Problem { points, labels, .. } = self.problem;
        let (most, curvature) = (self.loss.most(i), self.loss.curvature(i));
        let (d, alpha, y) = (points.dim(), self.alphas[i], labels[i].as_f64());
        let Some(x) = points.row(i) else {
            unreachable!("the active points are rows, one label each")
        };
        let bias = self.problem.bias(&self.v);
        let slope = y * (x.dot(&self.v[..d]) + bias) - 1.0 + curvature * alpha;
        if self.range.shrinks(alpha, slope, most) {
            return None;
        }
        let square = self.problem.square(i) + curvature;
        // A zero point always has the slope -1, so its optimal α is C.
        let free = if square > 0.0 { alpha - slope / square } else { most };
        self.alphas[i] = free.clamp(0.0, most);
        let step = y * (self.alphas[i] - alpha);
        if step != 0.0 {
            x.add_scaled_to(step, &mut self.v[..d]);
            if let Some(bias) = self.v.get_mut(d) {
                *bias += step;
            }
        }
        Some((alpha, slope))
    }
}

/// A pass that visits the active points in their order and removes shrunk variables. The loop is compiled for the
/// vector instructions available at run time. These instructions do not change the result.
struct Pass<'a, 'p, P> {
    ascent: &'a mut Ascent<'p, P>,
    active: &'a mut Vec<usize>,
}

impl<P: PointSet> Wide for Pass<'_, '_, P> {
    type Output = SlopeRange;

    #[inline(always)]
    fn run(self) -> SlopeRange {
        let Pass { ascent, active } = self;
        let (loss, mut range, mut kept) = (ascent.loss, SlopeRange::NOTHING, 0);
        for place in 0..active.len() {
            checkpoint_at(place);
            ascent.fetch(active.get(place + AHEAD));
            let i = active[place];
            if let Some((alpha, slope)) = ascent.step(i) {
                range.add(alpha, slope, loss.most(i));
                active[kept] = i;
                kept += 1;
            }
        }
        active.truncate(kept);
        range
    }
}

/// The range of the slopes of the dual along the variables that can move, as found in one pass. A variable at a bound
/// is shrunk if its slope is outside this range.
#[derive(Debug, Clone, Copy)]
struct SlopeRange {
    low: f64,
    high: f64,
}

impl SlopeRange {
    /// The range that shrinks no variable.
    const UNKNOWN: SlopeRange = SlopeRange { low: f64::NEG_INFINITY, high: f64::INFINITY };
    /// The empty range.
    const NOTHING: SlopeRange = SlopeRange { low: 0.0, high: 0.0 };

    /// Extends the range to contain the slope of a variable, but only on the sides that correspond to directions in
    /// which the variable can move. An α at 0 can only rise, and it rises if its slope is negative.
    fn add(&mut self, alpha: f64, slope: f64, c: f64) {
        if alpha > 0.0 {
            self.high = self.high.max(slope);
        }
        if alpha < c {
            self.low = self.low.min(slope);
        }
    }

    /// Whether α is at a bound and its slope is outside the range, on the side that keeps α at this bound. The variable
    /// is then skipped until the next check of the gap.
    fn shrinks(self, alpha: f64, slope: f64, c: f64) -> bool {
        (alpha <= 0.0 && slope > self.high) || (alpha >= c && slope < self.low)
    }

    /// Replaces an empty side of the range by an unbounded one.
    fn or_unknown(self) -> SlopeRange {
        SlopeRange {
            low: if self.low < 0.0 { self.low } else { f64::NEG_INFINITY },
            high: if self.high > 0.0 { self.high } else { f64::INFINITY },
        }
    }

    fn width(self) -> f64 {
        self.high - self.low
    }
}

/// Checks weak duality up to rounding. Without weak duality there is no certificate. `scale` is C Σ(‖x‖² + 1).
fn check_duality(primal: f64, dual: f64, scale: f64) -> Result<(), InputError> {
    let holds = primal.is_finite() && dual - primal <= ROUNDING * primal;
    let requirement = "small enough that rounding keeps D below P; rescale the points or lower c";
    InputError::check_parameter("c Σ(‖x‖² + 1)", scale, holds, requirement)
}

#[cfg(test)]
mod tests {
    use super::super::svm_interior::MAX_STEPS;
    use super::*;
    use crate::test_data::noisy;
    use halfspaces_data::{Gaussian, Marginal};
    use halfspaces_linalg::kernels;
    use halfspaces_linalg::{Points, SparsePoints};
    use proptest::prelude::*;

    /// Computes P and D from their definitions, over points that contain the constant feature.
    fn recomputed(points: &Points, labels: &[Label], fit: &SvmFit, c: f64) -> (f64, f64) {
        let intercept = fit.halfspace().bias() != 0.0;
        let rows: Vec<Vec<f64>> = points
            .rows()
            .map(|x| x.as_slice().iter().copied().chain(intercept.then_some(1.0)).collect())
            .collect();
        let mut v = fit.halfspace().weights().to_vec();
        v.extend(intercept.then_some(fit.halfspace().bias()));
        let mut from_alphas = vec![0.0; v.len()];
        let (mut loss, mut sum) = (0.0, 0.0);
        for ((x, y), alpha) in rows.iter().zip(labels).zip(fit.alphas()) {
            assert!((0.0..=c).contains(alpha));
            let value: f64 = x.iter().zip(&v).map(|(a, b)| a * b).sum();
            loss += (1.0 - y.as_f64() * value).max(0.0);
            sum += alpha;
            kernels::axpy(alpha * y.as_f64(), x, &mut from_alphas);
        }
        let squares = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>();
        (0.5 * squares(&v) + c * loss, sum - 0.5 * squares(&from_alphas))
    }

    #[test]
    fn the_gap_is_a_certificate() {
        for (seed, intercept, c) in [(1, true, 1.0), (2, false, 1.0), (3, true, 0.01)] {
            let (points, labels) = noisy(300, 5, seed);
            let params = LinearSvm::params().c(c).intercept(intercept).tolerance(1e-6);
            let fit = params.check().unwrap().fit(&points, &labels).unwrap();
            assert_eq!(fit.termination(), Termination::Converged);
            let (primal, dual) = recomputed(&points, &labels, &fit, c);
            assert!((primal - fit.primal()).abs() < 1e-9 * primal);
            assert!((dual - fit.dual()).abs() < 1e-9 * primal);
            assert!(primal - dual <= 1.001e-6 * primal);
            // The distance between a rough fit and the accurate fit is within the bound of the rough fit.
            let rough = params.tolerance(0.1).check().unwrap().fit(&points, &labels).unwrap();
            assert!((rough.passes(), rough.steps()) < (fit.passes(), fit.steps()));
            assert!(rough.primal() - fit.primal() <= rough.gap());
            let apart = |a: &[f64], b: &[f64]| -> f64 {
                a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
            };
            let weights = apart(rough.halfspace().weights(), fit.halfspace().weights());
            let biases = apart(&[rough.halfspace().bias()], &[fit.halfspace().bias()]);
            let most = rough.distance_to_optimum() + fit.distance_to_optimum();
            assert!((weights + biases).sqrt() <= most);
        }
    }

    #[test]
    fn worked_by_hand() {
        let fit = |rows: &[[f64; 1]], labels: &[Label], c: f64, intercept: bool| {
            let params = LinearSvm::params().c(c).intercept(intercept).tolerance(1e-12);
            let points = Points::from_rows(rows).unwrap();
            params.check().unwrap().fit(&points, labels).unwrap()
        };
        let (plus, minus) = (Label::Positive, Label::Negative);
        // The minimiser of ½w² + C max(0, 1 - w) is w = min(C, 1).
        for (c, w) in [(0.5, 0.5), (2.0, 1.0)] {
            assert!((fit(&[[1.0]], &[plus], c, false).halfspace().weights()[0] - w).abs() < 1e-9);
        }
        // With the constant feature, the point is (1, 1), so w = b = 1/2.
        let both = fit(&[[1.0]], &[plus], 2.0, true);
        assert!((both.halfspace().weights()[0] - 0.5).abs() < 1e-9);
        assert!((both.halfspace().bias() - 0.5).abs() < 1e-9);
        // With the points ±1 on the two sides, w = min(2C, 1), and there is no bias.
        let pair = fit(&[[1.0], [-1.0]], &[plus, minus], 0.25, true);
        assert!((pair.halfspace().weights()[0] - 0.5).abs() < 1e-6);
        assert!(pair.halfspace().bias().abs() < 1e-6);
    }

    /// Compares P and D of the squared loss with their definitions, with weights and without an intercept.
    #[test]
    fn the_gap_of_the_squared_loss_is_a_certificate() {
        let (points, labels) = noisy(300, 5, 4);
        let weights: Vec<f64> = (0..300).map(|i| f64::from(i % 4) / 2.0).collect();
        for c in [0.01, 1.0, 30.0] {
            let params = LinearSvm::params().c(c).squared(true).intercept(false).tolerance(1e-8);
            let learner = params.check().unwrap();
            let fit = learner.fit_with(&points, &labels, Some(&weights), None).unwrap();
            assert_eq!((fit.termination(), fit.steps()), (Termination::Converged, 0));
            let w = fit.halfspace().weights();
            let mut sum = vec![0.0; 5];
            let penalty = 0.5 * kernels::norm_sq(w);
            let (mut primal, mut dual) = (penalty, -penalty);
            for (i, (x, y)) in points.rows().zip(&labels).enumerate() {
                let (weight, alpha) = (c * weights[i], fit.alphas()[i]);
                let missing = (1.0 - y.as_f64() * kernels::dot(x.as_slice(), w)).max(0.0);
                primal += weight * missing * missing;
                dual += alpha - if weight > 0.0 { alpha * alpha / (4.0 * weight) } else { alpha };
                // At the optimum, α = 2 C max(0, 1 - y w · x). The square of the difference between the two sides,
                // divided by 4 C, is a part of the gap.
                let most = 2.0 * (weight * (fit.gap() + 1e-12)).sqrt();
                assert!((alpha - 2.0 * weight * missing).abs() <= most, "{c} {i}");
                kernels::axpy(alpha * y.as_f64(), x.as_slice(), &mut sum);
            }
            assert!((primal - fit.primal()).abs() < 1e-9 * primal);
            assert!((dual - fit.dual()).abs() < 1e-9 * primal);
            assert!(primal - dual <= 1.001e-8 * primal);
            assert!(sum.iter().zip(w).all(|(a, b)| (a - b).abs() < 1e-9));
        }
    }

    #[test]
    fn a_weight_counts_as_copies_and_a_start_saves_passes() {
        let (points, labels) = noisy(200, 4, 8);
        let twice: Vec<usize> = (0..200).chain((0..200).step_by(3)).collect();
        let copies: Vec<Label> = twice.iter().map(|i| labels[*i]).collect();
        let weights: Vec<f64> = (0..200).map(|i| if i % 3 == 0 { 2.0 } else { 1.0 }).collect();
        for squared in [true, false] {
            let params = LinearSvm::params().squared(squared).tolerance(1e-7).max_passes(100_000);
            let learner = params.c(0.3).check().unwrap();
            let weighted = learner.fit_with(&points, &labels, Some(&weights), None).unwrap();
            let copied = learner.fit(&points.select(&twice).unwrap(), &copies).unwrap();
            let near = |a: f64, b: f64| (a - b).abs() < 1e-6 * b;
            assert!(near(weighted.primal(), copied.primal()), "{squared}");
            let other = params.c(0.299).check().unwrap();
            let before = other.fit_with(&points, &labels, Some(&weights), None).unwrap();
            let start = Some(before.alphas());
            let again = learner.fit_with(&points, &labels, Some(&weights), start).unwrap();
            assert!(again.passes() < weighted.passes() && near(again.primal(), weighted.primal()));
            let own = Some(weighted.alphas());
            assert_eq!(
                learner.fit_with(&points, &labels, Some(&weights), own).unwrap().passes(),
                0
            );
            let sparse = SparsePoints::from_dense(&points).unwrap();
            assert_eq!(learner.fit_with(&sparse, &labels, Some(&weights), None).unwrap(), weighted);
            for bad in [&weights[1..], &[-1.0; 200][..], &[f64::NAN; 200]] {
                assert!(learner.fit_with(&points, &labels, Some(bad), None).is_err());
                assert!(learner.fit_with(&points, &labels, None, Some(bad)).is_err());
            }
        }
    }

    /// The columns have scales from 1 to 1000. On such columns, passes alone do not converge.
    #[test]
    fn scales_of_columns_do_not_matter() {
        let (points, labels) = noisy(400, 7, 5);
        let scaled = |x: &[f64]| -> Vec<f64> {
            x.iter().enumerate().map(|(j, v)| v * 10f64.powf(j as f64 / 2.0)).collect()
        };
        let rows: Vec<Vec<f64>> = points.rows().map(|x| scaled(x.as_slice())).collect();
        let points = Points::from_rows(&rows).unwrap();
        let fit = LinearSvm::params().tolerance(1e-6).max_passes(200).check().unwrap();
        let fit = fit.fit(&points, &labels).unwrap();
        assert_eq!(fit.termination(), Termination::Converged);
        assert!(fit.steps() > 0);
        let (primal, dual) = recomputed(&points, &labels, &fit, 1.0);
        assert!(primal - dual <= 1.001e-6 * primal);
    }

    proptest! {
        /// For all points, scales and values of C, the fit ends with a valid certificate. It converges unless C or the
        /// scale of a column is large.
        #[test]
        fn every_sample_ends_with_its_certificate(
            (n, dim, c) in (1..20usize, 1..4usize, prop::sample::select(vec![1e-4, 1.0, 1e4])),
            values in prop::collection::vec(prop_oneof![-3.0..3.0f64, Just(0.0), Just(1.0)], 60),
            scale in prop::sample::select(vec![1e-3, 1.0, 1e3]),
            positive in prop::collection::vec(any::<bool>(), 20),
        ) {
            let scaled = |(i, v): (usize, &f64)| if i % dim == 0 { v * scale } else { *v };
            let values = values[..n * dim].iter().enumerate().map(scaled).collect();
            let points = Points::new(values, dim).unwrap();
            let label = |positive: &bool| if *positive { Label::Positive } else { Label::Negative };
            let labels: Vec<Label> = positive[..n].iter().map(label).collect();
            let learner = LinearSvm::params().c(c).max_passes(2000).check().unwrap();
            let fit = learner.fit(&points, &labels).unwrap();
            let (primal, dual) = recomputed(&points, &labels, &fit, c);
            prop_assert!((primal - fit.primal()).abs() <= 1e-9 * primal);
            prop_assert!((dual - fit.dual()).abs() <= 1e-9 * primal);
            prop_assert!(fit.steps() <= MAX_STEPS && fit.passes() <= 2000);
            prop_assert!(fit.termination() == Termination::Converged || scale * c > 1.0, "{fit:?}");
        }
    }

    /// There are more unknowns than points, and only the intercept explains the labels.
    #[test]
    fn the_intercept_is_fitted() {
        let short = |v: &f64| 0.02 * v;
        let points = Gaussian::new(600, 1.0).unwrap().sample(60, 7).unwrap();
        let points = Points::new(points.as_slice().iter().map(short).collect(), 600).unwrap();
        let labels: Vec<Label> =
            (0..60).map(|i| Label::from_sign(f64::from(i % 10) - 0.5)).collect();
        let learner = LinearSvm::params().tolerance(1e-6).max_passes(100).check().unwrap();
        let fit = learner.fit(&points, &labels).unwrap();
        // There are too many unknowns for the interior-point method.
        assert_eq!((fit.termination(), fit.steps()), (Termination::Converged, 0));
        assert!(fit.halfspace().bias() > 0.9);
    }

    #[test]
    fn the_interior_point_method_is_limited_to_matrices_that_are_factorised() {
        let before = |dim: usize, intercept: bool| {
            let points = Points::new(vec![1.0; dim], dim).unwrap();
            let labels = [Label::Positive];
            let problem =
                Problem::new(&points, &labels, None, 1.0, intercept, Threads::ONE).unwrap();
            passes_before_steps(problem.unknowns())
        };
        assert_eq!((before(15, false), before(15, true)), (Some(4), Some(5)));
        assert_eq!(
            (before(499, true), before(500, true), before(501, false)),
            (Some(35), None, None)
        );
    }

    #[test]
    fn threads_change_nothing() {
        let (points, labels) = noisy(20_000, 3, 12);
        let fit = |count: usize| {
            let params = LinearSvm::params().threads(Threads::new(count).unwrap());
            params.check().unwrap().fit(&points, &labels).unwrap()
        };
        let one = fit(1);
        assert!(one.steps() > 0 && one.termination() == Termination::Converged);
        assert!(fit(2) == one && fit(5) == one);
    }

    /// A shrunk variable could not have moved, because its slope is beyond all slopes of a whole pass.
    #[test]
    fn only_variables_held_firmly_at_their_bounds_are_shrunk() {
        let mut range = SlopeRange::NOTHING;
        // At 0, a slope above 0 cannot move α. At C, a slope below 0 cannot move it. In between, every slope moves it.
        for (alpha, slope) in [(0.0, 9.0), (2.0, -8.0), (0.0, -0.5), (1.0, 0.75), (2.0, 0.25)] {
            range.add(alpha, slope, 2.0);
        }
        assert_eq!((range.low, range.high, range.width()), (-0.5, 0.75, 1.25));
        assert!(range.shrinks(0.0, 0.76, 2.0) && !range.shrinks(0.0, 0.75, 2.0));
        assert!(range.shrinks(2.0, -0.51, 2.0) && !range.shrinks(2.0, -0.5, 2.0));
        assert!(!range.shrinks(1.0, 9.0, 2.0) && !range.shrinks(1.0, -9.0, 2.0));
        let half = SlopeRange { low: 0.0, high: 0.75 }.or_unknown();
        assert_eq!((half.low, half.high), (f64::NEG_INFINITY, 0.75));
        let unknown = SlopeRange::NOTHING.or_unknown();
        assert!(!unknown.shrinks(0.0, 1e300, 2.0) && !unknown.shrinks(2.0, -1e300, 2.0));
    }

    #[test]
    fn zero_points_cost_what_they_must() {
        let points = Points::from_rows(&[[0.0], [1.0]]).unwrap();
        let labels = [Label::Positive; 2];
        let fit = LinearSvm::params().intercept(false).check().unwrap().fit(&points, &labels);
        let fit = fit.unwrap();
        // The zero point has hinge loss 1 for every w.
        assert_eq!((fit.termination(), fit.alphas()[0]), (Termination::Converged, 1.0));
        assert!((fit.primal() - 1.5).abs() < 1e-3);
    }

    #[test]
    fn separable_data_are_separated_with_the_largest_margin() {
        // The hard margin of these four points is 1 along e1.
        let rows = [[1.0, 5.0], [1.0, -5.0], [-1.0, 5.0], [-1.0, -5.0]];
        let points = Points::from_rows(&rows).unwrap();
        let labels = points.rows().map(|x| Label::from_sign(x.as_slice()[0])).collect::<Vec<_>>();
        let params = LinearSvm::params().c(1e3).intercept(false).tolerance(1e-10);
        let fit = params.check().unwrap().fit(&points, &labels).unwrap();
        assert!((fit.halfspace().linear().margin_on(&points, &labels).unwrap() - 1.0).abs() < 1e-4);
    }

    #[test]
    fn sparse_and_dense_agree_to_the_bit_and_seeds_agree_in_the_answer() {
        let (points, labels) = noisy(150, 7, 9);
        let sparse = SparsePoints::from_dense(&points).unwrap();
        let fit = |seed| LinearSvm::params().seed(seed).tolerance(1e-7).check().unwrap();
        let dense = fit(0).fit(&points, &labels).unwrap();
        assert_eq!(fit(0).fit(&sparse, &labels).unwrap(), dense);
        let other = fit(1).fit(&points, &labels).unwrap();
        assert_ne!(other.alphas(), dense.alphas());
        assert!((other.primal() - dense.primal()).abs() <= other.gap().max(dense.gap()));
    }

    #[test]
    fn the_cap_is_exact_and_bad_input_is_typed() {
        let (points, labels) = noisy(50, 3, 4);
        let capped = LinearSvm::params().max_passes(2).tolerance(1e-12).check().unwrap();
        let fit = capped.fit(&points, &labels).unwrap();
        assert_eq!((fit.passes(), fit.termination()), (2, Termination::CapReached { cap: 2 }));
        let params = LinearSvm::params;
        for bad in [params().c(-1.0), params().c(f64::NAN), params().tolerance(1.0)] {
            assert!(bad.check().is_err());
        }
        assert!(params().max_passes(0).check().is_err());
        let learner = params().check().unwrap();
        let none = Points::new(vec![], 2).unwrap();
        assert_eq!(learner.fit(&none, &[]), Err(InputError::Empty));
        assert!(learner.fit(&points, &labels[1..]).is_err());
        let huge = Points::from_rows(&[[1e200]]).unwrap();
        assert_eq!(learner.fit(&huge, &[Label::Positive]), Err(InputError::Overflow { row: 0 }));
        // C times the squared norm of the second point overflows.
        let large = Points::from_rows(&[[1.0], [1e150]]).unwrap();
        let heavy = params().c(1e12).check().unwrap();
        let labels = [Label::Positive; 2];
        assert_eq!(heavy.fit(&large, &labels), Err(InputError::Overflow { row: 1 }));
    }

    /// For one point x = 1 at C = 1 and for α = w, P is ½w² + 1 - w and D is w - ½w². Hence the gap is (1 - w)², and
    /// the minimiser is 1.
    #[test]
    fn the_bound_on_the_distance_is_reached() {
        for w in [0.0, 0.25, 0.5, 0.875] {
            let fit = SvmFit {
                halfspace: AffineHalfspace::new(vec![w], 0.0).unwrap(),
                c: 1.0,
                alphas: vec![w],
                primal: 0.5 * w * w + 1.0 - w,
                dual: w - 0.5 * w * w,
                passes: 7,
                steps: 0,
                termination: Termination::CapReached { cap: 7 },
            };
            assert_eq!(fit.distance_to_optimum(), 1.0 - w);
        }
    }

    #[test]
    fn a_certificate_that_drowns_is_no_certificate() {
        assert_eq!(check_duality(1.0, 1.0 + 0.9e-9, 1e30), Ok(()));
        for (primal, dual) in [(1.0, 1.0 + 1.1e-9), (f64::INFINITY, 0.0), (1.0, f64::NAN)] {
            assert!(check_duality(primal, dual, 1e30).is_err());
        }
        // The allowed difference is relative to P.
        for primal in [1e-4, 1e4] {
            assert_eq!(check_duality(primal, primal * (1.0 + 0.9e-9), 1e30), Ok(()));
            assert!(check_duality(primal, primal * (1.0 + 1.1e-9), 1e30).is_err());
        }
    }

    /// Zero points have α = C after one pass, and nothing changes afterwards. P is C times the number of points. D is a
    /// sum with the term C for each point, and rounding puts it 3.5e-13 below P.
    #[test]
    fn a_stall_by_rounding_is_no_cap() {
        let points = Points::new(vec![0.0; 20_000], 1).unwrap();
        let params = LinearSvm::params().c(1.3).intercept(false).tolerance(1e-13);
        let fit = params.check().unwrap().fit(&points, &vec![Label::Positive; 20_000]).unwrap();
        assert_eq!(fit.termination(), Termination::Stalled);
        assert!(fit.gap() > 1e-13 * fit.primal() && fit.passes() < 100);
        // A cap before the stall ends the run. A tolerance that can be reached also ends it.
        let capped = params.max_passes(3).check().unwrap();
        let fit = capped.fit(&points, &vec![Label::Positive; 20_000]).unwrap();
        assert_eq!(fit.termination(), Termination::CapReached { cap: 3 });
        let looser = params.tolerance(1e-12).check().unwrap();
        let fit = looser.fit(&points, &vec![Label::Positive; 20_000]).unwrap();
        assert_eq!((fit.passes(), fit.termination()), (1, Termination::Converged));
    }

    #[cfg(feature = "serde")]
    #[test]
    fn a_fit_is_saved_and_loaded() {
        let (points, labels) = noisy(30, 2, 6);
        let fit = LinearSvm::params().check().unwrap().fit(&points, &labels).unwrap();
        let text = serde_json::to_string(&fit).unwrap();
        assert_eq!(serde_json::from_str::<SvmFit>(&text).unwrap(), fit);
    }
}
