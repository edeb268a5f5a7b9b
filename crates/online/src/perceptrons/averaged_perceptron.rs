//! The averaged perceptron.

use super::mistake_driven::mistake_driven;
use super::weights::Weights;
use crate::protocol::{OnlineLearner, Prediction};
use halfspaces_linalg::{
    Classifier, Halfspace, InputError, Label, PointSet, RowView, load_checked,
};
use std::ops::Range;

/// The averaged perceptron: it learns as the perceptron does, and classifies with the mean of its
/// weights over all rounds.
///
/// In the protocol it guesses with its present weights ([`OnlineLearner::guess`]), of which the mistake
/// bound speaks; as a [`Classifier`] it is the average.
///
/// *Guarantee.* Online, the perceptron's: at most (R‖w*‖/γ)² mistakes. The average has no such proof for
/// its sign; [`crate::VotedPerceptron`] has one, for O(d) memory per mistake.
///
/// *Cost.* O(d) memory; O(d) time per mistake on top of the product. A label costs O(d), in memory too:
/// for many, use [`Classifier::label_all`] or take [`AveragedPerceptron::average`] once.
///
/// *When to use it.* The choice among the perceptrons wherever labels may be wrong or the run ends
/// early. Where every mistake counts and labels are right, [`crate::Perceptron`] is the same learner
/// without the sums.
///
/// *Source.* Freund and Schapire 1999, §2. Claims: none of its own; compared with the learners for noisy labels in
/// P10 and PR.
///
/// ```
/// use halfspaces_linalg::{Classifier, DenseRow, Label};
/// use halfspaces_online::{AveragedPerceptron, OnlineLearner};
/// let mut learner = AveragedPerceptron::new(1)?;
/// let x = DenseRow::new(&[2.0])?;
/// learner.observe(x, Label::Negative)?; // mistake: w = -2 from the next round on
/// learner.observe(x, Label::Negative)?;
/// assert_eq!(learner.average()?.normal(), [-1.0]); // the mean of 0 and -2
/// assert_eq!(learner.decision_value(x)?, -2.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct AveragedPerceptron {
    weights: Weights,
    /// Σ over updates of (rounds before the update and itself) y x: the sum of all rounds' weights
    /// is rounds · w minus this.
    missed: Weights,
    rounds: u64,
    updates: u64,
}

load_checked!(AveragedPerceptron {
    weights: Weights,
    missed: Weights,
    #[serde(deserialize_with = "crate::saved::count")]
    rounds: u64,
    updates: u64,
});

#[cfg(feature = "serde")]
impl AveragedPerceptron {
    /// Refuses what no run can have left behind.
    fn check_saved(&self) -> Result<(), InputError> {
        InputError::check_dim(self.weights.dim(), self.missed.dim())?;
        InputError::check_state(self.updates <= self.rounds, "more updates than rounds")
    }
}

impl AveragedPerceptron {
    /// Starts with w = 0 in R^`dim`.
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`], [`InputError::TooLarge`].
    pub fn new(dim: usize) -> Result<Self, InputError> {
        let zero = Weights::zero(dim)?;
        Ok(AveragedPerceptron { weights: zero.clone(), missed: zero, rounds: 0, updates: 0 })
    }

    /// The present weights, with which it guesses while it learns.
    #[must_use]
    pub fn weights(&self) -> &[f64] {
        self.weights.as_slice()
    }

    /// The mean of the weights over all rounds so far; zero before the first.
    ///
    /// # Errors
    /// [`InputError::NonFinite`] if the sums have overflowed.
    pub fn average(&self) -> Result<Halfspace, InputError> {
        let rounds = self.rounds.max(1) as f64;
        let pairs = self.weights.as_slice().iter().zip(self.missed.as_slice());
        Halfspace::new(pairs.map(|(w, m)| w - m / rounds).collect())
    }
}

/// The value is that of the average.
impl Classifier for AveragedPerceptron {
    fn dim(&self) -> usize {
        self.weights.dim()
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

impl AveragedPerceptron {
    fn correct<R: RowView>(&mut self, y: f64, x: R) {
        self.rounds += 1;
        self.weights.add(y, x);
        self.missed.add(self.rounds as f64 * y, x);
        self.updates += 1;
    }

    fn survive(&mut self, rounds: u64) {
        self.rounds += rounds;
    }

    fn mistakes(&self) -> u64 {
        self.updates
    }
}

mistake_driven!(AveragedPerceptron);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Perceptron, RandomOrder, run};
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

        // The plain way: replay, adding up the weights that guessed, round by round.
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

    /// Once the classifier was the present weights, which a wrong label has just turned.
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
