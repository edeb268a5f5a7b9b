//! The modified perceptron.

use super::batch::{check_max_updates, check_sample};
use super::weights::Weights;
use crate::direction::random_unit;
use crate::protocol::{OnlineLearner, Prediction};
use crate::scale::positive_norm_sq;
use crate::streams;
use halfspaces_linalg::{
    Classifier, FitSample, Halfspace, InputError, Label, PointSet, RowView, Termination,
    classify_by, getters, norm, rng_for, tolerance, zeros,
};
use rand::Rng;

/// The modified perceptron, which makes few mistakes without any margin, at the cost of abstaining.
///
/// It starts with a random unit w and abstains if |w · x| <= σ‖w‖ (with ‖x‖ = 1). If it makes a mistake without
/// abstaining, it sets w -= (w · x) x, which removes the whole component along x. Points of any length except 0 are
/// scaled to norm 1.
///
/// *Guarantee.* If a unit w* labels every point correctly and α = w0 · w* > 0, the learner makes at most ⌊2 ln(1/α)/σ²⌋
/// mistakes, not counting abstentions, for every order of the points and every margin
/// ([`crate::bounds::modified_perceptron_mistakes`]): w · w* never decreases, and each update multiplies ‖w‖² by at
/// most 1 - σ². (The stored w is scaled to norm 1 after each update, which changes no prediction; the proof is about the
/// unscaled w.) The number of abstentions is not bounded. A uniformly random start has α >= 1/√d with probability at
/// least 0.158 (1/2 for d = 1, 1/4 for d = 2, decreasing to P\[Z >= 1\] for a standard normal Z), and then the bound is
/// (ln d)/σ².
///
/// If x is parallel to w, a mistake leaves w = 0. The start has then failed: α <= 0, or a label was wrong. Every later
/// prediction is an abstention, and another start is needed ([`ModifiedPerceptron::start_failed`]).
///
/// *Cost.* O(d) memory; O(d) time per point.
///
/// *When to use it.* If margins are unknown or tiny and abstaining is allowed. For points in memory, use
/// [`crate::BatchModifiedPerceptron`].
///
/// *Source.* Notes21, whose printed update `w + l(x)(w·x)x` has the wrong sign for l = +1; the update of this learner
/// is also that of DKTZ23 §2, which calls it margin-perceptron. Claims: K7, S6.
///
/// ```
/// use halfspaces_linalg::{DenseRow, Label};
/// use halfspaces_online::{ModifiedPerceptron, OnlineLearner};
/// let mut learner = ModifiedPerceptron::from_start(vec![0.6, 0.8], 0.1)?;
/// let x = DenseRow::new(&[1.0, 0.0])?;
/// let prediction = learner.observe(x, Label::Negative)?; // predicts +1 with cosine 0.6
/// assert!(!prediction.abstains);
/// assert_eq!(learner.weights(), [0.0, 1.0]); // the component along x is gone
/// assert!(learner.guess(x)?.abstains);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ModifiedPerceptron {
    /// A unit vector, or zero once the start has failed.
    weights: Weights,
    sigma: f64,
    updates: u64,
}

fn check_sigma(sigma: f64) -> Result<(), InputError> {
    let in_range = (0.0..1.0).contains(&sigma);
    InputError::check_parameter("sigma", sigma, in_range, "at least 0 and below 1")
}

impl ModifiedPerceptron {
    /// Starts from a uniformly random direction of R^`dim`. With σ = 0, the learner abstains only if w · x = 0, and it
    /// has no mistake bound.
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`]; [`InputError::ParameterOutOfRange`] for σ outside [0, 1).
    pub fn new(dim: usize, sigma: f64, seed: u64) -> Result<Self, InputError> {
        let rng = &mut rng_for(streams::INITIAL_WEIGHTS, seed);
        ModifiedPerceptron::with_rng(dim, sigma, rng)
    }

    /// Like [`ModifiedPerceptron::new`], with the direction drawn from `rng`.
    ///
    /// # Errors
    /// The errors of [`ModifiedPerceptron::new`].
    pub fn with_rng<R: Rng + ?Sized>(
        dim: usize,
        sigma: f64,
        rng: &mut R,
    ) -> Result<Self, InputError> {
        zeros(1, dim)?;
        ModifiedPerceptron::from_start(random_unit(dim, rng), sigma)
    }

    /// Starts from the given direction, scaled to norm 1.
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`], [`InputError::NonFinite`], [`InputError::ZeroVector`],
    /// [`InputError::ParameterOutOfRange`].
    pub fn from_start(start: Vec<f64>, sigma: f64) -> Result<Self, InputError> {
        check_sigma(sigma)?;
        let weights = Halfspace::new(start)?.normalised()?.into_normal().try_into()?;
        Ok(ModifiedPerceptron { weights, sigma, updates: 0 })
    }

    /// The unit weights; zero once the start has failed.
    #[must_use]
    pub fn weights(&self) -> &[f64] {
        self.weights.as_slice()
    }

    /// σ, the half-width of the band of abstention.
    #[must_use]
    pub fn sigma(&self) -> f64 {
        self.sigma
    }

    /// Whether an update has left w = 0, so that another start is needed.
    #[must_use]
    pub fn start_failed(&self) -> bool {
        self.weights().iter().all(|w| *w == 0.0)
    }

    /// The current hypothesis.
    ///
    /// # Errors
    /// [`InputError::ZeroVector`] once the start has failed.
    pub fn halfspace(&self) -> Result<Halfspace, InputError> {
        self.weights.halfspace()?.normalised()
    }
}

/// The decision value is w · x; the classifier does not abstain.
impl Classifier for ModifiedPerceptron {
    fn dim(&self) -> usize {
        self.weights.dim()
    }

    fn decision_value<R: RowView>(&self, x: R) -> Result<f64, InputError> {
        self.weights.value(x)
    }
}

impl OnlineLearner for ModifiedPerceptron {
    /// The value of the prediction is the cosine of the angle between w and x.
    fn guess<R: RowView>(&self, x: R) -> Result<Prediction, InputError> {
        let cosine = self.weights.value(x)? / positive_norm_sq(x)?.sqrt();
        let abstains = cosine.abs() <= self.sigma;
        Ok(Prediction { abstains, ..Prediction::from_value(cosine) })
    }

    fn update<R: RowView>(
        &mut self,
        x: R,
        prediction: Prediction,
        truth: Label,
    ) -> Result<bool, InputError> {
        self.weights.check(x)?;
        if !prediction.is_wrong(truth) {
            return Ok(false);
        }
        // Subtract twice, because rounding leaves a remainder of the component after the first subtraction.
        let norm_sq = positive_norm_sq(x)?;
        for _ in 0..2 {
            let component = self.weights.value(x)? / norm_sq;
            self.weights.add(-component, x);
        }
        let length = norm(self.weights.as_slice());
        let vanished = length <= tolerance::VANISHED;
        self.weights.scale(if vanished { 0.0 } else { 1.0 / length });
        self.updates += 1;
        Ok(true)
    }

    fn updates(&self) -> u64 {
        self.updates
    }
}

/// The batch form of the [`ModifiedPerceptron`]: begins with a given start, passes over the points repeatedly, and
/// learns from every mistake outside the band of abstention until no such mistake is left.
///
/// *Guarantee.* If a unit w* labels every point correctly and α = w0 · w* > 0 for the start w0, the learner stops after
/// at most ⌊2 ln(1/α)/σ²⌋ updates, and every point with |w · x| > σ‖w‖‖x‖ is labelled correctly.
///
/// *Cost.* O(d) memory in addition to the points; at most one pass per update, in O(n d) time.
///
/// *When to use it.* For a first halfspace if margins are tiny or unknown. The halfspace is right on every point that
/// is not close to the boundary. If the start fails, try another seed or the opposite start.
///
/// *Source.* Notes21. Claims: K7.
///
/// ```
/// use halfspaces_linalg::{FitSample, Label, Points, Termination};
/// use halfspaces_online::{BatchModifiedPerceptron, ModifiedPerceptron, OnlineLearner};
/// let points = Points::from_rows(&[[1.0, 0.0], [0.0, 1.0]])?;
/// let fit = |start| {
///     let start = ModifiedPerceptron::from_start(start, 0.1)?;
///     BatchModifiedPerceptron::new(start, 100)?.fit(&points, &[Label::Negative; 2])
/// };
/// assert_eq!(fit(vec![-0.6, 0.8])?.termination(), Termination::Converged);
/// // An update leaves w = 0 if the start points away from every solution.
/// assert_eq!(fit(vec![0.6, 0.8])?.termination(), Termination::AssumptionFailed);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct BatchModifiedPerceptron {
    start: ModifiedPerceptron,
    max_updates: u64,
}

impl BatchModifiedPerceptron {
    /// Continues from `start`, with at most `max_updates` further updates.
    ///
    /// # Errors
    /// [`InputError::ParameterOutOfRange`] for a cap of 0.
    pub fn new(start: ModifiedPerceptron, max_updates: u64) -> Result<Self, InputError> {
        check_max_updates(max_updates)?;
        Ok(BatchModifiedPerceptron { start, max_updates })
    }
}

/// The result of fitting a [`BatchModifiedPerceptron`].
///
/// ```
/// use halfspaces_linalg::{Classifier, FitSample, Label, Points};
/// use halfspaces_online::{BatchModifiedPerceptron, ModifiedPerceptron, OnlineLearner};
/// let points = Points::from_rows(&[[1.0, 0.0], [0.0, 1.0]])?;
/// let start = ModifiedPerceptron::from_start(vec![0.6, -0.8], 0.1)?;
/// let fit = BatchModifiedPerceptron::new(start, 100)?.fit(&points, &[Label::Negative; 2])?;
/// assert_eq!((fit.updates(), fit.learner().weights()), (1, &[0.0, -1.0][..]));
/// assert_eq!(fit.label_all(&points)?, [Label::Positive, Label::Negative]);
/// // It abstains on the first point, which lies on the boundary.
/// assert!(fit.learner().guess(points.row(0).ok_or("no point")?)?.abstains);
/// # use halfspaces_linalg::PointSet;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct BatchModifiedFit {
    learner: ModifiedPerceptron,
    updates: u64,
    termination: Termination,
}

impl BatchModifiedFit {
    getters! {
        /// The final learner; [`OnlineLearner::guess`] shows whether it abstains on a point.
        learner: &ModifiedPerceptron,

        /// Number of updates since the start.
        updates: u64,

        /// `Converged`: every point outside the band of abstention is labelled correctly. `AssumptionFailed`: an update
        /// left w = 0; there is no hypothesis, and another start is needed. `CapReached`: the cap on updates was
        /// reached. `Stalled`: a whole pass of updates changed no digit of w.
        termination: Termination,
    }
}

// The fit labels every point; it does not abstain.
classify_by!(BatchModifiedFit, learner);

impl FitSample for BatchModifiedPerceptron {
    type Model = BatchModifiedFit;
    type Error = InputError;

    fn fit<P: PointSet>(
        &self,
        points: &P,
        labels: &[Label],
    ) -> Result<BatchModifiedFit, InputError> {
        check_sample(points, labels)?;
        let mut learner = self.start.clone();
        let mut updates = 0;
        let termination = 'passes: loop {
            let (before, weights) = (updates, learner.weights.clone());
            for (row, (x, &truth)) in points.rows().zip(labels).enumerate() {
                let at_row = |error: InputError| error.at_row(row);
                let prediction = learner.guess(x).map_err(at_row)?;
                if prediction.is_wrong(truth) {
                    if updates == self.max_updates {
                        break 'passes Termination::CapReached { cap: self.max_updates };
                    }
                    learner.update(x, prediction, truth).map_err(at_row)?;
                    updates += 1;
                }
            }
            if learner.start_failed() {
                break Termination::AssumptionFailed;
            } else if updates == before {
                break Termination::Converged;
            } else if learner.weights == weights {
                break Termination::Stalled;
            }
        };
        Ok(BatchModifiedFit { learner, updates, termination })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RandomOrder, SmallestMarginMistake, bounds, run};
    use halfspaces_data::{Marginal, UnitSphere, random_target};
    use halfspaces_linalg::{DenseRow, Points};

    /// A random start, reversed if necessary so that α = w0 · w* is positive, and this α.
    fn towards(target: &Halfspace, sigma: f64, seed: u64) -> (ModifiedPerceptron, f64) {
        let start = ModifiedPerceptron::new(target.dim(), sigma, seed).unwrap();
        let alpha = halfspaces_linalg::kernels::dot(start.weights(), target.normal());
        if alpha > 0.0 {
            return (start, alpha);
        }
        let flipped = start.weights().iter().map(|w| -w).collect();
        (ModifiedPerceptron::from_start(flipped, sigma).unwrap(), -alpha)
    }

    #[test]
    fn mistakes_outside_the_band_are_bounded_without_a_margin() {
        let (mut mistakes, mut tightest) = (0, 0.0f64);
        for seed in 0..20 {
            // Starts and targets use different seeds: with one seed they could be the same vector.
            let target = random_target(6, seed + 1000).unwrap();
            let points = UnitSphere::new(6).unwrap().sample(500, seed + 7).unwrap();
            let labels = target.label_all(&points).unwrap();
            let (start, alpha) = towards(&target, 0.1, seed);
            assert!(alpha < 0.99);
            let bound = bounds::modified_perceptron_mistakes(alpha, 0.1);
            let adversary = SmallestMarginMistake::new(labels.clone());
            let (_, hard) = run(start.clone(), &points, &labels, adversary).unwrap();
            let (_, random) = run(start, &points, &labels, RandomOrder::new(seed)).unwrap();
            for transcript in [hard, random] {
                assert!(transcript.mistakes() as f64 <= bound);
                assert!(transcript.abstentions() > 0);
                mistakes += transcript.mistakes();
                tightest = tightest.max(transcript.mistakes() as f64 / bound);
            }
        }
        assert!(mistakes > 200, "{mistakes} mistakes in 40 runs");
        assert!(tightest > 0.05, "the bound was never within a factor of 20");
    }

    #[test]
    fn in_batch_form_everything_outside_the_band_is_right() {
        let target = random_target(5, 1).unwrap();
        let points = UnitSphere::new(5).unwrap().sample(400, 2).unwrap();
        let labels = target.label_all(&points).unwrap();
        let (start, alpha) = towards(&target, 0.05, 3);
        let fit = batch(start, 10_000).fit(&points, &labels).unwrap();
        assert_eq!(fit.termination(), Termination::Converged);
        assert_eq!(fit.updates(), fit.learner().updates());
        let bound = bounds::modified_perceptron_mistakes(alpha, 0.05);
        assert!(fit.updates() > 0 && fit.updates() as f64 <= bound);
        for (x, y) in points.rows().zip(&labels) {
            assert!(!fit.learner().guess(x).unwrap().is_wrong(*y));
        }
        assert_eq!(fit.label_all(&points), fit.learner().halfspace().unwrap().label_all(&points));
    }

    /// P[w0 · w* >= 1/√d] is ∫ cos^(d-2) from asin 1/√d to π/2, divided by the integral over the whole range. It is 1/4
    /// in d = 2 and decreases to P[Z >= 1] = 0.1587 for a standard normal Z, so it is above 1/8 in every dimension. The
    /// test checks that random starts have this probability.
    #[test]
    fn a_random_start_is_good_with_constant_probability() {
        use std::f64::consts::FRAC_PI_2;
        let probability = |d: i32| {
            let integral = |from: f64| {
                let step = (FRAC_PI_2 - from) / 4000.0;
                let node = |i: i32| (from + (f64::from(i) + 0.5) * step).cos().powi(d - 2);
                (0..4000).map(node).sum::<f64>() * step
            };
            integral((1.0 / f64::from(d)).sqrt().asin()) / integral(-FRAC_PI_2)
        };
        assert!((probability(2) - 0.25).abs() < 1e-9);
        let all: Vec<f64> = (2..300).map(probability).collect();
        assert!(all.iter().all(|p| *p > 0.1586) && all.is_sorted_by(|a, b| a > b));
        assert!((probability(10_000) - 0.158_66).abs() < 1e-4);
        for d in [2, 10] {
            let target = random_target(d, 1).unwrap();
            let good = (0..4000).filter(|seed| {
                let start = ModifiedPerceptron::new(d, 0.1, 2000 + seed).unwrap();
                let alpha = halfspaces_linalg::kernels::dot(start.weights(), target.normal());
                alpha >= 1.0 / (d as f64).sqrt()
            });
            let share = good.count() as f64 / 4000.0;
            // The tolerance is five standard deviations.
            assert!((share - probability(d as i32)).abs() < 0.035, "{d}: {share}");
        }
    }

    fn batch(start: ModifiedPerceptron, max_updates: u64) -> BatchModifiedPerceptron {
        BatchModifiedPerceptron::new(start, max_updates).unwrap()
    }

    #[test]
    fn the_cap_is_exact() {
        let target = random_target(5, 1).unwrap();
        let points = UnitSphere::new(5).unwrap().sample(400, 2).unwrap();
        let labels = target.label_all(&points).unwrap();
        let (start, _) = towards(&target, 0.05, 3);
        let needed = batch(start.clone(), 10_000).fit(&points, &labels).unwrap().updates();
        let fit = |cap| batch(start.clone(), cap).fit(&points, &labels).unwrap();
        assert_eq!(fit(needed).termination(), Termination::Converged);
        let short = fit(needed - 1);
        assert_eq!(short.termination, Termination::CapReached { cap: needed - 1 });
        assert_eq!(short.updates, needed - 1);
    }

    /// A start that ends at w = 0 has not converged.
    #[test]
    fn a_start_that_fails_is_no_success() {
        let points = Points::from_rows(&[[1.0, 0.0], [0.0, 1.0]]).unwrap();
        let labels = [Label::Negative; 2];
        for sigma in [0.0, 0.1] {
            let start = ModifiedPerceptron::from_start(vec![0.6, 0.8], sigma).unwrap();
            let fit = batch(start, 100).fit(&points, &labels).unwrap();
            assert!(fit.learner().start_failed());
            assert_eq!((fit.termination(), fit.updates()), (Termination::AssumptionFailed, 2));
        }
    }

    #[test]
    fn a_pass_that_changes_nothing_is_a_stall() {
        // The point is on the wrong side by 2.5e-18, an amount that is lost when it is subtracted from weights of 1/4.
        let mut x = [0.0; 16];
        (x[0], x[1], x[8]) = (1.0, 1e-17, -1.0);
        let points = Points::from_rows(&[x]).unwrap();
        let start = ModifiedPerceptron::from_start(vec![1.0; 16], 0.0).unwrap();
        let fit = batch(start, 1000).fit(&points, &[Label::Negative]).unwrap();
        assert_eq!(fit.termination(), Termination::Stalled);
        assert!(fit.updates() < 10);
    }

    #[test]
    fn the_band_is_closed() {
        // The cosine is exactly σ, so the learner abstains.
        let learner = ModifiedPerceptron::from_start(vec![0.0, 1.0], 0.6).unwrap();
        let guess = |x: [f64; 2]| learner.guess(DenseRow::new(&x).unwrap()).unwrap();
        assert_eq!((guess([4.0, 3.0]).value, guess([4.0, 3.0]).abstains), (0.6, true));
        assert!(guess([-4.0, -3.0]).abstains);
        assert!(!guess([3.9, 3.0]).abstains);
    }

    /// One subtraction leaves a component along x of the size of rounding errors, 1e-16. This is a large part of w if
    /// little else is left of w.
    #[test]
    fn nothing_is_left_of_the_component() {
        let start = vec![0.3, 0.7, -0.2];
        let mut learner = ModifiedPerceptron::from_start(start.clone(), 0.0).unwrap();
        let near = [0.3 + 1e-9, 0.7, -0.2];
        let x = DenseRow::new(&near).unwrap();
        learner.observe(x, Label::Negative).unwrap();
        assert!((norm(learner.weights()) - 1.0).abs() < 1e-15);
        assert!(learner.guess(x).unwrap().value.abs() < 1e-15);
    }

    #[test]
    fn a_point_along_w_fails_the_start() {
        let mut learner = ModifiedPerceptron::from_start(vec![0.0, 3.0], 0.1).unwrap();
        let x = DenseRow::new(&[0.0, 7.0]).unwrap();
        learner.observe(x, Label::Negative).unwrap();
        assert!(learner.start_failed());
        assert!(learner.guess(x).unwrap().abstains);
        assert_eq!(learner.halfspace(), Err(InputError::ZeroVector));
    }

    #[test]
    fn bad_input_is_typed() {
        for sigma in [-0.1, 1.0, f64::NAN] {
            assert!(ModifiedPerceptron::new(2, sigma, 1).is_err());
        }
        assert_eq!(ModifiedPerceptron::new(0, 0.1, 1), Err(InputError::ZeroDimension));
        assert_eq!(ModifiedPerceptron::from_start(vec![0.0], 0.1), Err(InputError::ZeroVector));
        let learner = ModifiedPerceptron::new(2, 0.1, 1).unwrap();
        assert!(BatchModifiedPerceptron::new(learner.clone(), 0).is_err());
        let none = Points::new(vec![], 2).unwrap();
        assert_eq!(batch(learner.clone(), 1).fit(&none, &[]), Err(InputError::Empty));
        let zero = DenseRow::new(&[0.0, 0.0]).unwrap();
        assert_eq!(learner.guess(zero), Err(InputError::ZeroVector));
    }
}
