//! Linear support vector machine with hinge loss, as it is used today.
//!
//! Minimises P(w) = ½‖w‖² + C Σ max(0, 1 - y_i w · x_i) by coordinate ascent on its dual
//! D(α) = Σ α_i - ½‖Σ α_i y_i x_i‖² over 0 <= α_i <= C: with w = Σ α_i y_i x_i, one coordinate is
//! solved exactly by α_i <- clamp(α_i - (y_i w · x_i - 1)/‖x_i‖², 0, C). Each pass takes the points in
//! a fresh random order. An intercept is the weight of a constant feature 1, and penalised with the
//! rest.
//!
//! *Guarantee.* D(α) <= min P <= P(w) for every α, so the gap P - D of the answer, recomputed from α
//! alone, bounds how far w is from optimal: P(w) - min P <= gap and, P being 1-strongly convex,
//! ‖w - w_min‖² <= 2 gap. The iteration stops at gap <= tolerance · P, which is looked at after every
//! pass at first, later after every sixteenth part of the passes so far. No bound on the 0-1 error
//! under Massart noise, as for every convex surrogate.
//!
//! *Source.* Hsieh, Chang, Lin, Keerthi and Sundararajan 2008, Algorithm 1 (the method of LIBLINEAR),
//! without shrinking.

use crate::rivals::solver::{
    SolverStatus, check_cap, check_sample, check_strength, check_tolerance,
};
use halfspaces_linalg::{AffineHalfspace, InputError, Label, PointSet, RowView, kernels, zeros};
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom;

/// Parameters of the support vector machine, unchecked.
///
/// ```
/// use halfspaces_pac::LinearSvm;
/// let params = LinearSvm::params().c(10.0).intercept(false).tolerance(1e-6).seed(3);
/// assert!(params.check().is_ok());
/// assert!(LinearSvm::params().max_passes(0).check().is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[must_use]
pub struct SvmParams {
    strength: f64,
    intercept: bool,
    tolerance: f64,
    max_passes: u64,
    seed: u64,
}

impl SvmParams {
    /// C, the weight of the loss. Default: 1.
    pub fn c(mut self, c: f64) -> Self {
        self.strength = c;
        self
    }

    /// Whether there is an intercept. Default: yes.
    pub fn intercept(mut self, intercept: bool) -> Self {
        self.intercept = intercept;
        self
    }

    /// Duality gap to reach, relative to P. Default: 1e-4.
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.tolerance = tolerance;
        self
    }

    /// Passes over the points at most. Default: 10 000.
    pub fn max_passes(mut self, max_passes: u64) -> Self {
        self.max_passes = max_passes;
        self
    }

    /// Seed of the orders. Default: 0.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The learner, if the parameters are in range.
    ///
    /// # Errors
    /// [`InputError::ParameterOutOfRange`] for C not in [1e-12, 1e12], a tolerance not in
    /// [1e-13, 1), or a cap of 0.
    pub fn check(self) -> Result<LinearSvm, InputError> {
        check_strength(self.strength)?;
        check_tolerance(self.tolerance)?;
        check_cap("max_passes", self.max_passes)?;
        Ok(LinearSvm(self))
    }
}

/// The support vector machine with checked parameters.
///
/// ```
/// use halfspaces_linalg::{Label, Points};
/// use halfspaces_pac::{LinearSvm, SolverStatus};
/// let points = Points::from_rows(&[[1.0, 1.0], [-1.0, 1.0], [3.0, 0.0]])?;
/// let labels = [Label::Positive, Label::Negative, Label::Positive];
/// let fit = LinearSvm::params().intercept(false).tolerance(1e-9).check()?.fit(&points, &labels)?;
/// assert_eq!(fit.status, SolverStatus::Converged);
/// // Only the first two support w = (1, 0).
/// assert!((fit.classifier.weights()[0] - 1.0).abs() < 1e-4);
/// assert_eq!(fit.support(), 2);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinearSvm(SvmParams);

/// What the support vector machine returns.
///
/// ```
/// use halfspaces_linalg::{Label, Points};
/// use halfspaces_pac::LinearSvm;
/// let one = Points::from_rows(&[[1.0]])?;
/// // ½w² + C max(0, 1 - w) at C = 1/4 is least at w = 1/4: P = 1/32 + 3/16 = D.
/// let fit = LinearSvm::params().c(0.25).intercept(false).check()?.fit(&one, &[Label::Positive])?;
/// assert_eq!((fit.primal, fit.dual), (0.21875, 0.21875));
/// assert_eq!((fit.gap(), fit.distance_to_optimum()), (0.0, 0.0));
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SvmFit {
    /// sign(w · x + b).
    pub classifier: AffineHalfspace,
    /// α, one number in [0, C] a point: the certificate.
    pub alphas: Vec<f64>,
    /// P at the answer.
    pub primal: f64,
    /// D at α.
    pub dual: f64,
    /// Passes over the points.
    pub passes: u64,
    /// Whether the gap asked for is reached.
    pub status: SolverStatus,
}

impl SvmFit {
    /// P - D >= P - min P, up to rounding.
    #[must_use]
    pub fn gap(&self) -> f64 {
        (self.primal - self.dual).max(0.0)
    }

    /// √(2 gap): no minimiser (w, b) is farther away.
    #[must_use]
    pub fn distance_to_optimum(&self) -> f64 {
        (2.0 * self.gap()).sqrt()
    }

    /// Number of support vectors, α > 0.
    #[must_use]
    pub fn support(&self) -> usize {
        self.alphas.iter().filter(|a| **a > 0.0).count()
    }
}

impl LinearSvm {
    /// Parameters: C = 1, with an intercept, relative gap 1e-4, 10 000 passes, seed 0.
    pub fn params() -> SvmParams {
        SvmParams { strength: 1.0, intercept: true, tolerance: 1e-4, max_passes: 10_000, seed: 0 }
    }

    /// Fits labelled points.
    ///
    /// # Errors
    /// [`InputError::Empty`], [`InputError::LengthMismatch`]; [`InputError::Overflow`] for points
    /// whose squares leave `f64`; [`InputError::TooLarge`].
    pub fn fit<P: PointSet>(&self, points: &P, labels: &[Label]) -> Result<SvmFit, InputError> {
        let SvmParams { strength, intercept, tolerance, max_passes, seed } = self.0;
        check_sample(points, labels, strength)?;
        let constant = if intercept { 1.0 } else { 0.0 };
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut order: Vec<usize> = (0..labels.len()).collect();
        let mut alphas = zeros(1, labels.len())?;
        let mut passes = 0;
        loop {
            // Summed afresh, so that rounding does not pile up and the gap speaks of α alone.
            let (mut w, mut b) = weights(points, labels, &alphas, constant)?;
            let (primal, dual) = objectives(points, labels, &alphas, &w, b, constant, strength);
            let reached = primal - dual <= tolerance * primal;
            if reached || passes >= max_passes {
                let classifier = AffineHalfspace::new(w, b * constant)?;
                let status =
                    if reached { SolverStatus::Converged } else { SolverStatus::CapReached };
                return Ok(SvmFit { classifier, alphas, primal, dual, passes, status });
            }
            for _ in 0..(passes / 16).clamp(1, max_passes - passes) {
                order.shuffle(&mut rng);
                for &i in &order {
                    let Some(x) = points.row(i) else { continue };
                    let y = labels[i].as_f64();
                    let slope = y * (x.dot(&w) + b * constant) - 1.0;
                    let norm_sq = x.norm_sq() + constant * constant;
                    // A zero point has slope -1 for ever: its α belongs at C.
                    let free = if norm_sq > 0.0 { alphas[i] - slope / norm_sq } else { strength };
                    let alpha = free.clamp(0.0, strength);
                    let step = y * (alpha - alphas[i]);
                    x.add_scaled_to(step, &mut w);
                    b += step * constant;
                    alphas[i] = alpha;
                }
                passes += 1;
            }
        }
    }
}

/// (w, b) = Σ α_i y_i (x_i, constant), summed afresh.
fn weights<P: PointSet>(
    points: &P,
    labels: &[Label],
    alphas: &[f64],
    constant: f64,
) -> Result<(Vec<f64>, f64), InputError> {
    let mut w = zeros(1, points.dim())?;
    let mut b = 0.0;
    for ((x, y), alpha) in points.rows().zip(labels).zip(alphas).filter(|(_, a)| **a > 0.0) {
        x.add_scaled_to(alpha * y.as_f64(), &mut w);
        b += alpha * y.as_f64() * constant;
    }
    Ok((w, b))
}

/// P and D at α, given its weights.
fn objectives<P: PointSet>(
    points: &P,
    labels: &[Label],
    alphas: &[f64],
    w: &[f64],
    b: f64,
    constant: f64,
    strength: f64,
) -> (f64, f64) {
    let penalty = 0.5 * (kernels::norm_sq(w) + b * b);
    let margins = points.rows().zip(labels).map(|(x, y)| y.as_f64() * (x.dot(w) + b * constant));
    let loss: f64 = margins.map(|m| (1.0 - m).max(0.0)).sum();
    (penalty + strength * loss, alphas.iter().sum::<f64>() - penalty)
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_data::{Gaussian, Marginal, random_target};
    use halfspaces_linalg::{Classifier, Points, SparsePoints};
    use rand::RngExt;

    fn noisy(n: usize, dim: usize, seed: u64) -> (Points, Vec<Label>) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let points = Gaussian::new(dim, 3.0).unwrap().sample(n, seed).unwrap();
        let labels = random_target(dim, seed + 1).unwrap().label_all(&points).unwrap();
        let flip = |y: Label, u: f64| if u < 0.1 { -y } else { y };
        (points, labels.into_iter().map(|y| flip(y, rng.random())).collect())
    }

    /// P and D from their definitions, over points with the constant feature written out.
    fn recomputed(points: &Points, labels: &[Label], fit: &SvmFit, c: f64) -> (f64, f64) {
        let intercept = fit.classifier.bias() != 0.0;
        let rows: Vec<Vec<f64>> = points
            .rows()
            .map(|x| x.as_slice().iter().copied().chain(intercept.then_some(1.0)).collect())
            .collect();
        let mut v = fit.classifier.weights().to_vec();
        v.extend(intercept.then_some(fit.classifier.bias()));
        let mut from_alphas = vec![0.0; v.len()];
        let (mut loss, mut sum) = (0.0, 0.0);
        for ((x, y), alpha) in rows.iter().zip(labels).zip(&fit.alphas) {
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
            assert_eq!(fit.status, SolverStatus::Converged);
            let (primal, dual) = recomputed(&points, &labels, &fit, c);
            assert!((primal - fit.primal).abs() < 1e-9 * primal);
            assert!((dual - fit.dual).abs() < 1e-9 * primal);
            assert!(primal - dual <= 1.001e-6 * primal);
            // A rough answer lies within its own bound of the fine one, and is worse by no more.
            let rough = params.tolerance(0.1).check().unwrap().fit(&points, &labels).unwrap();
            assert!(rough.passes < fit.passes);
            assert!(rough.primal - fit.primal <= rough.gap());
            let apart = |a: &[f64], b: &[f64]| -> f64 {
                a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
            };
            let weights = apart(rough.classifier.weights(), fit.classifier.weights());
            let biases = apart(&[rough.classifier.bias()], &[fit.classifier.bias()]);
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
        // min ½w² + C max(0, 1 - w): w = min(C, 1).
        for (c, w) in [(0.5, 0.5), (2.0, 1.0)] {
            assert!((fit(&[[1.0]], &[plus], c, false).classifier.weights()[0] - w).abs() < 1e-9);
        }
        // With the constant feature the point is (1, 1): w = b = 1/2.
        let both = fit(&[[1.0]], &[plus], 2.0, true);
        assert!((both.classifier.weights()[0] - 0.5).abs() < 1e-9);
        assert!((both.classifier.bias() - 0.5).abs() < 1e-9);
        // ±1 on its two sides: w = min(2C, 1), no bias.
        let pair = fit(&[[1.0], [-1.0]], &[plus, minus], 0.25, true);
        assert!((pair.classifier.weights()[0] - 0.5).abs() < 1e-6);
        assert!(pair.classifier.bias().abs() < 1e-6);
    }

    #[test]
    fn zero_points_cost_what_they_must() {
        let points = Points::from_rows(&[[0.0], [1.0]]).unwrap();
        let labels = [Label::Positive; 2];
        let fit = LinearSvm::params().intercept(false).check().unwrap().fit(&points, &labels);
        let fit = fit.unwrap();
        // The zero point has hinge loss 1 whatever w is.
        assert_eq!((fit.status, fit.alphas[0]), (SolverStatus::Converged, 1.0));
        assert!((fit.primal - 1.5).abs() < 1e-3);
    }

    #[test]
    fn separable_data_are_separated_with_the_largest_margin() {
        // The hard margin of these four is 1 along e1.
        let rows = [[1.0, 5.0], [1.0, -5.0], [-1.0, 5.0], [-1.0, -5.0]];
        let points = Points::from_rows(&rows).unwrap();
        let labels = points.rows().map(|x| Label::from_sign(x.as_slice()[0])).collect::<Vec<_>>();
        let params = LinearSvm::params().c(1e3).intercept(false).tolerance(1e-10);
        let fit = params.check().unwrap().fit(&points, &labels).unwrap();
        assert!((fit.classifier.linear().margin_on(&points, &labels).unwrap() - 1.0).abs() < 1e-4);
    }

    #[test]
    fn sparse_and_dense_agree_to_the_bit_and_seeds_agree_in_the_answer() {
        let (points, labels) = noisy(150, 7, 9);
        let sparse = SparsePoints::from_dense(&points).unwrap();
        let fit = |seed| LinearSvm::params().seed(seed).tolerance(1e-7).check().unwrap();
        let dense = fit(0).fit(&points, &labels).unwrap();
        assert_eq!(fit(0).fit(&sparse, &labels).unwrap(), dense);
        let other = fit(1).fit(&points, &labels).unwrap();
        assert_ne!(other.alphas, dense.alphas);
        assert!((other.primal - dense.primal).abs() <= other.gap().max(dense.gap()));
    }

    #[test]
    fn the_cap_is_exact_and_bad_input_is_typed() {
        let (points, labels) = noisy(50, 3, 4);
        let capped = LinearSvm::params().max_passes(2).tolerance(1e-12).check().unwrap();
        let fit = capped.fit(&points, &labels).unwrap();
        assert_eq!((fit.passes, fit.status), (2, SolverStatus::CapReached));
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
    }

    #[cfg(feature = "serde")]
    #[test]
    fn fits_survive_saving() {
        let (points, labels) = noisy(30, 2, 6);
        let fit = LinearSvm::params().check().unwrap().fit(&points, &labels).unwrap();
        let text = serde_json::to_string(&fit).unwrap();
        assert_eq!(serde_json::from_str::<SvmFit>(&text).unwrap(), fit);
        // The halfspace inside is checked.
        assert!(
            serde_json::from_str::<AffineHalfspace>(r#"{"linear":{"normal":[]},"bias":0.0}"#)
                .is_err()
        );
    }
}
