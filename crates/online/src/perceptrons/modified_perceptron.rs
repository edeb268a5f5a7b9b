//! The modified perceptron.
//!
//! Start with a random unit w. Abstain where |w · x| <= σ‖w‖ (‖x‖ = 1); on a mistake elsewhere set
//! w -= (w · x) x, which takes the whole component along x away.
//!
//! *Guarantee.* If w* (unit) labels every point right and α = w0 · w* > 0, it makes at most
//! ⌊2 ln(1/α)/σ²⌋ mistakes that are not abstentions, whatever the order and however small the
//! margin: w · w* never falls, and each update shrinks ‖w‖² by 1 - σ² at least. Abstentions are not
//! bounded. In batch form, when no point outside the band is wrong, every point with
//! |w · x| > σ‖w‖ is right.
//!
//! *Source.* Notes21, whose printed update `w + l(x)(w·x)x` has the wrong sign for l = +1; the update
//! is also that of DKTZ23 §2, which calls it margin-perceptron. With a uniformly random start
//! α >= 1/√d has constant probability, and then the bound is (ln d)/σ².
//!
//! An x parallel to w leaves w = 0: the start has failed, and every later prediction abstains.

use super::sweep::BatchStatus;
use super::weights::Weights;
use crate::direction::random_unit;
use crate::error::OnlineError;
use crate::protocol::{OnlineLearner, Prediction};
use crate::scale::positive_norm_sq;
use halfspaces_linalg::{Halfspace, InputError, Label, PointSet, RowView, norm, tolerance, zeros};
use rand::rngs::ChaCha8Rng;
use rand::{Rng, SeedableRng};

/// The modified perceptron. Points may have any length but zero: they count as scaled to 1.
///
/// ```
/// use halfspaces_linalg::{DenseRow, Label};
/// use halfspaces_online::{ModifiedPerceptron, OnlineLearner};
/// let mut learner = ModifiedPerceptron::from_start(vec![0.6, 0.8], 0.1)?;
/// let x = DenseRow::new(&[1.0, 0.0])?;
/// let prediction = learner.observe(x, Label::Negative)?; // predicted +1 with cosine 0.6
/// assert!(!prediction.abstains);
/// assert_eq!(learner.weights(), [0.0, 1.0]); // the component along x is gone
/// assert!(learner.predict(x)?.abstains);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ModifiedPerceptron {
    /// Unit, or zero once the start has failed.
    weights: Weights,
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::saved::from_0_below_1"))]
    sigma: f64,
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::saved::count"))]
    updates: u64,
}

fn check_sigma(sigma: f64) -> Result<(), InputError> {
    let in_range = (0.0..1.0).contains(&sigma);
    InputError::check_parameter("sigma", sigma, in_range, "at least 0 and below 1")
}

impl ModifiedPerceptron {
    /// Starts from a uniformly random direction of R^`dim`. With σ = 0 it never abstains, but at
    /// w · x = 0, and has no mistake bound.
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`]; [`InputError::ParameterOutOfRange`] for σ outside [0, 1).
    pub fn new(dim: usize, sigma: f64, seed: u64) -> Result<Self, InputError> {
        ModifiedPerceptron::with_rng(dim, sigma, &mut ChaCha8Rng::seed_from_u64(seed))
    }

    /// [`ModifiedPerceptron::new`] drawn from a generator of the caller's.
    ///
    /// # Errors
    /// As [`ModifiedPerceptron::new`].
    pub fn with_rng<R: Rng + ?Sized>(
        dim: usize,
        sigma: f64,
        rng: &mut R,
    ) -> Result<Self, InputError> {
        zeros(1, dim)?;
        ModifiedPerceptron::from_start(random_unit(dim, rng), sigma)
    }

    /// Starts from a given direction, scaled to norm 1.
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

    /// σ.
    #[must_use]
    pub fn sigma(&self) -> f64 {
        self.sigma
    }

    /// Whether an update has left nothing of w, so that another start is needed.
    #[must_use]
    pub fn start_failed(&self) -> bool {
        self.weights().iter().all(|w| *w == 0.0)
    }

    /// The present hypothesis.
    ///
    /// # Errors
    /// [`InputError::ZeroVector`] once the start has failed.
    pub fn halfspace(&self) -> Result<Halfspace, InputError> {
        self.weights.halfspace()?.normalised()
    }

    /// Batch form: goes round the points, learning from every mistake outside the band, until there
    /// is none or `max_updates` updates are made. The learner keeps what it learned either way.
    ///
    /// # Errors
    /// [`OnlineError::Input`] for no points, a label count that differs or a zero point.
    pub fn fit<P: PointSet>(
        &mut self,
        points: &P,
        labels: &[Label],
        max_updates: u64,
    ) -> Result<BatchStatus, OnlineError> {
        InputError::check_len(points.len(), labels.len())?;
        if points.is_empty() {
            return Err(InputError::Empty.into());
        }
        let mut left = max_updates;
        loop {
            let before = self.updates;
            for (x, &truth) in points.rows().zip(labels) {
                let prediction = self.predict(x)?;
                if prediction.is_wrong(truth) {
                    if left == 0 {
                        return Ok(BatchStatus::CapReached);
                    }
                    left -= 1;
                    self.update(x, prediction, truth)?;
                }
            }
            if self.updates == before {
                return Ok(BatchStatus::Converged);
            }
        }
    }
}

impl OnlineLearner for ModifiedPerceptron {
    fn dim(&self) -> usize {
        self.weights.dim()
    }

    /// The value is the cosine of the angle between w and x.
    fn predict<R: RowView>(&self, x: R) -> Result<Prediction, OnlineError> {
        let cosine = self.weights.value(x)? / positive_norm_sq(x)?.sqrt();
        let abstains = cosine.abs() <= self.sigma;
        Ok(Prediction { abstains, ..Prediction::from_value(cosine) })
    }

    fn update<R: RowView>(
        &mut self,
        x: R,
        prediction: Prediction,
        truth: Label,
    ) -> Result<bool, OnlineError> {
        self.weights.check(x)?;
        if !prediction.is_wrong(truth) {
            return Ok(false);
        }
        // Twice: what rounding leaves of the component goes with the second subtraction.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RandomOrder, SmallestMarginMistake, bounds, run};
    use halfspaces_data::{Marginal, UnitSphere, random_target};
    use halfspaces_linalg::{Classifier, DenseRow, Points};

    #[test]
    fn mistakes_outside_the_band_are_bounded_without_a_margin() {
        for seed in 0..20 {
            let target = random_target(6, seed).unwrap();
            let points = UnitSphere::new(6).unwrap().sample(500, seed + 7).unwrap();
            let labels = target.label_all(&points).unwrap();
            let start = ModifiedPerceptron::new(6, 0.1, seed).unwrap();
            let alpha = halfspaces_linalg::kernels::dot(start.weights(), target.normal());
            let start = if alpha > 0.0 {
                start
            } else {
                let flipped = start.weights().iter().map(|w| -w).collect();
                ModifiedPerceptron::from_start(flipped, 0.1).unwrap()
            };
            let bound = bounds::modified_perceptron_mistakes(alpha.abs(), 0.1);
            let adversary = SmallestMarginMistake::new(labels.clone());
            let (_, hard) = run(start.clone(), &points, &labels, adversary).unwrap();
            let (_, random) = run(start, &points, &labels, RandomOrder::new(seed)).unwrap();
            for transcript in [hard, random] {
                assert!(transcript.mistakes() as f64 <= bound);
                assert!(transcript.abstentions() > 0);
            }
        }
    }

    #[test]
    fn in_batch_form_everything_outside_the_band_is_right() {
        let target = random_target(5, 1).unwrap();
        let points = UnitSphere::new(5).unwrap().sample(400, 2).unwrap();
        let labels = target.label_all(&points).unwrap();
        let mut learner = ModifiedPerceptron::from_start(target.normal().to_vec(), 0.05).unwrap();
        learner = ModifiedPerceptron::from_start(
            learner.weights().iter().zip([0.9, -0.5, 0.3, 0.2, 0.1]).map(|(w, s)| w + s).collect(),
            0.05,
        )
        .unwrap();
        assert_eq!(learner.fit(&points, &labels, 10_000).unwrap(), BatchStatus::Converged);
        for (x, y) in points.rows().zip(&labels) {
            assert!(!learner.predict(x).unwrap().is_wrong(*y));
        }
        // Hopeless labels stop at the cap.
        let twice = Points::from_rows(&[[1.0, 0.0], [-1.0, 0.0], [0.6, 0.8]]).unwrap();
        let all = [Label::Positive; 3];
        let mut learner = ModifiedPerceptron::from_start(vec![0.8, 0.6], 0.0).unwrap();
        assert!(learner.fit(&twice, &all, 5).is_ok());
    }

    #[test]
    fn a_point_along_w_fails_the_start() {
        let mut learner = ModifiedPerceptron::from_start(vec![0.0, 3.0], 0.1).unwrap();
        let x = DenseRow::new(&[0.0, 7.0]).unwrap();
        learner.observe(x, Label::Negative).unwrap();
        assert!(learner.start_failed());
        assert!(learner.predict(x).unwrap().abstains);
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
        let zero = DenseRow::new(&[0.0, 0.0]).unwrap();
        assert_eq!(learner.predict(zero), Err(InputError::ZeroVector.into()));
    }
}
