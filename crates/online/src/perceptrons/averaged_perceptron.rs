//! The averaged perceptron.

use super::look_ahead::{learn_pool_ahead, right};
use super::perceptron::Perceptron;
use super::weights::Weights;
use crate::protocol::{OnlineLearner, PartialFitError, Prediction, Tally};
use halfspaces_linalg::{
    Classifier, Halfspace, InputError, Label, PointSet, RowView, load_checked,
};
use std::convert::Infallible;
use std::ops::Range;

/// The averaged perceptron: learns like the perceptron and classifies with the mean of its weights over all rounds.
///
/// In the protocol it predicts with its current weights ([`OnlineLearner::guess`]), for which the mistake bound holds.
/// As a [`Classifier`] it uses the mean.
///
/// *Guarantee.* The predictions during learning have the guarantee of the perceptron: at most (R‖w*‖/γ)² mistakes. No
/// such bound is proved for the sign of the mean. The voted perceptron of the same source has such a bound, but needs
/// O(d) memory per mistake.
///
/// *Cost.* O(d) memory; O(d) time per mistake in addition to the product w · x. Labelling one point takes O(d) time and
/// memory; for many points, use [`Classifier::label_all`] or compute [`AveragedPerceptron::average`] once.
///
/// *When to use it.* The default choice among the perceptrons if labels may be wrong or the run ends early. If the
/// labels are correct and every mistake counts, use [`crate::Perceptron`], which is the same learner without the sums.
///
/// *Source.* Freund and Schapire 1999, §2. Claims: none of its own; P10 and PR compare it with the learners for noisy
/// labels.
///
/// ```
/// use halfspaces_linalg::{Classifier, DenseRow, Label};
/// use halfspaces_online::{AveragedPerceptron, OnlineLearner};
/// let mut learner = AveragedPerceptron::new(1)?;
/// let x = DenseRow::new(&[2.0])?;
/// learner.observe(x, Label::Negative)?; // a mistake: w = -2 from the next round on
/// learner.observe(x, Label::Negative)?;
/// assert_eq!(learner.average()?.normal(), [-1.0]); // the mean of 0 and -2
/// assert_eq!(learner.decision_value(x)?, -2.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct AveragedPerceptron {
    learner: Perceptron,
    /// Σ y x over the updates, each multiplied by the number of rounds up to and including its own. The sum of the
    /// weights over all rounds is rounds · w minus this vector.
    missed: Weights,
    rounds: u64,
}

load_checked!(AveragedPerceptron {
    learner: Perceptron,
    missed: Weights,
    #[serde(deserialize_with = "crate::saved::count")]
    rounds: u64,
});

#[cfg(feature = "serde")]
impl AveragedPerceptron {
    /// Rejects a saved state that no run can reach.
    fn check_saved(&self) -> Result<(), InputError> {
        InputError::check_dim(self.learner.dim(), self.missed.dim())?;
        InputError::check_state(self.updates() <= self.rounds, "more updates than rounds")
    }
}

impl AveragedPerceptron {
    /// Starts with w = 0 in R^`dim`.
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`], [`InputError::TooLarge`].
    pub fn new(dim: usize) -> Result<Self, InputError> {
        let (learner, missed) = (Perceptron::new(dim)?, Weights::zero(dim)?);
        Ok(AveragedPerceptron { learner, missed, rounds: 0 })
    }

    /// Starts with the given weights.
    pub(super) fn starting_at(weights: Vec<f64>) -> Result<Self, InputError> {
        let missed = Weights::zero(weights.len())?;
        Ok(AveragedPerceptron { learner: Perceptron::starting_at(weights)?, missed, rounds: 0 })
    }

    /// The sum of the weights over all rounds so far.
    pub(super) fn weight_sum(&self) -> Vec<f64> {
        let pairs = self.weights().iter().zip(self.missed.as_slice());
        pairs.map(|(w, m)| self.rounds as f64 * w - m).collect()
    }

    /// The current weights, which make the predictions during learning.
    #[must_use]
    pub fn weights(&self) -> &[f64] {
        self.learner.weights()
    }

    /// The mean of the weights over all rounds so far. It is zero before the first round.
    ///
    /// # Errors
    /// [`InputError::NonFinite`] if the sums have overflowed.
    pub fn average(&self) -> Result<Halfspace, InputError> {
        let rounds = self.rounds.max(1) as f64;
        let pairs = self.weights().iter().zip(self.missed.as_slice());
        Halfspace::new(pairs.map(|(w, m)| w - m / rounds).collect())
    }

    /// Counts a round after the perceptron has learned from it.
    #[inline]
    fn count<R: RowView>(&mut self, x: R, truth: Label, mistake: bool) {
        self.rounds += 1;
        if mistake {
            self.missed.add(self.rounds as f64 * truth.as_f64(), x);
        }
    }
}

/// Classifies with the mean of the weights.
impl Classifier for AveragedPerceptron {
    fn dim(&self) -> usize {
        self.learner.dim()
    }

    fn decision_value<R: RowView>(&self, x: R) -> Result<f64, InputError> {
        self.average()?.decision_value(x)
    }

    fn label_rows<P: PointSet>(
        &self,
        points: &P,
        rows: Range<usize>,
    ) -> Result<Vec<Label>, InputError> {
        self.average()?.label_rows(points, rows)
    }
}

impl OnlineLearner for AveragedPerceptron {
    fn guess<R: RowView>(&self, x: R) -> Result<Prediction, InputError> {
        self.learner.guess(x)
    }

    #[inline]
    fn update<R: RowView>(
        &mut self,
        x: R,
        prediction: Prediction,
        truth: Label,
    ) -> Result<bool, InputError> {
        let mistake = self.learner.update(x, prediction, truth)?;
        self.count(x, truth, mistake);
        Ok(mistake)
    }

    fn updates(&self) -> u64 {
        self.learner.updates()
    }

    #[inline]
    fn learn<R: RowView>(&mut self, x: R, truth: Label) -> Result<Prediction, InputError> {
        let prediction = self.learner.learn(x, truth)?;
        self.count(x, truth, prediction.is_wrong(truth));
        Ok(prediction)
    }

    fn learn_pool<P: PointSet>(
        &mut self,
        points: &P,
        labels: &[Label],
    ) -> Result<Tally, PartialFitError<Infallible>> {
        learn_pool_ahead(self, points, labels, |averaged, next| {
            let prefix = next.unchanged_prefix(&averaged.learner.weights, right);
            averaged.rounds += prefix.rounds as u64;
            prefix
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RandomOrder, run};
    use halfspaces_data::{MarginBall, Marginal, random_target};
    use halfspaces_linalg::{Points, Threads};

    #[test]
    fn it_learns_as_the_perceptron_does_and_keeps_the_mean_of_its_weights() {
        let target = random_target(4, 1).unwrap();
        let points = MarginBall::new(&target, 0.05).unwrap().sample(300, 2).unwrap();
        let labels = target.label_all(&points).unwrap();
        let order = || RandomOrder::new(3);
        let (plain, transcript) =
            run(Perceptron::new(4).unwrap(), &points, &labels, order()).unwrap();
        let (averaged, same) =
            run(AveragedPerceptron::new(4).unwrap(), &points, &labels, order()).unwrap();
        assert_eq!(transcript, same);
        assert_eq!(averaged.weights(), plain.weights());
        assert!(averaged.updates() > 3);

        // Test oracle: replay the run and add up the weights that made each prediction, round by round.
        let mut replayed = Perceptron::new(4).unwrap();
        let mut sum = [0.0; 4];
        for round in transcript.rounds() {
            sum.iter_mut().zip(replayed.weights()).for_each(|(s, w)| *s += w);
            replayed.observe(points.row(round.index).unwrap(), round.truth).unwrap();
        }
        for (average, sum) in averaged.average().unwrap().normal().iter().zip(sum) {
            assert!((average - sum / 300.0).abs() < 1e-12);
        }
    }

    /// The classifier does not use the current weights, which a wrong label has just reversed.
    #[test]
    fn the_classifier_is_the_average_though_the_guess_is_not() {
        let mut learner = AveragedPerceptron::new(1).unwrap();
        let points = Points::from_rows(&[[1.0], [3.0]]).unwrap();
        let [one, three] = [points.row(0).unwrap(), points.row(1).unwrap()];
        learner.observe(one, Label::Negative).unwrap(); // w = -1
        for _ in 0..8 {
            learner.observe(one, Label::Negative).unwrap();
        }
        learner.observe(three, Label::Positive).unwrap(); // one wrong label: w = 2
        assert_eq!(learner.guess(one).unwrap().label, Label::Positive);
        assert_eq!(learner.label(one).unwrap(), Label::Negative);
        assert!((learner.decision_value(one).unwrap() + 0.9).abs() < 1e-15);
        assert_eq!(learner.label_all(&points).unwrap(), [Label::Negative; 2]);
        let threads = Threads::new(2).unwrap();
        assert_eq!(learner.label_all_on(&points, threads).unwrap(), [Label::Negative; 2]);
    }

    #[test]
    fn before_the_first_round_everything_is_positive() {
        assert_eq!(AveragedPerceptron::new(2).unwrap().average().unwrap().normal(), [0.0, 0.0]);
        assert!(AveragedPerceptron::new(0).is_err());
    }
}
