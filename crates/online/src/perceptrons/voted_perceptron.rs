//! The voted perceptron.

use super::mistake_driven::mistake_driven;
use super::weights::Weights;
use crate::protocol::{OnlineLearner, Prediction};
use halfspaces_linalg::{Classifier, InputError, Label, RowView, load_checked};

/// The voted perceptron: it learns as the perceptron does, and classifies by a vote of all its weight
/// vectors, each with one vote per round in which it guessed.
///
/// In the protocol it guesses with its present weights ([`OnlineLearner::guess`]), of which the mistake
/// bound speaks; as a [`Classifier`] it is the vote, whose value is (votes for +1 minus votes for -1) / votes.
///
/// *Guarantee.* Online, the perceptron's: at most (R‖w*‖/γ)² mistakes. After one pass over n i.i.d.
/// examples that a halfspace explains with margin γ, the vote errs on the next one with probability at
/// most 2 E[(R/γ)²]/(n+1).
///
/// *Cost.* O(d) memory per mistake; O(d · mistakes) time per label.
///
/// *When to use it.* Where the guarantee after one pass matters. Otherwise
/// [`crate::AveragedPerceptron`] classifies about as well in O(d).
///
/// *Source.* Freund and Schapire 1999, Figure 1 and Corollary 1.
///
/// ```
/// use halfspaces_linalg::{Classifier, DenseRow, Label};
/// use halfspaces_online::{OnlineLearner, VotedPerceptron};
/// let mut learner = VotedPerceptron::new(1)?;
/// let x = DenseRow::new(&[2.0])?;
/// for _ in 0..3 {
///     learner.observe(x, Label::Negative)?;
/// }
/// // w = 0 guessed once, w = -2 twice: 1 vote for +1 against 2 for -1.
/// assert_eq!(learner.label(x)?, Label::Negative);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct VotedPerceptron {
    weights: Weights,
    /// Rounds in which the present weights guessed.
    survived: u64,
    /// Earlier weights and the rounds in which each guessed.
    earlier: Vec<(Weights, u64)>,
}

load_checked!(VotedPerceptron {
    weights: Weights,
    #[serde(deserialize_with = "crate::saved::count")]
    survived: u64,
    earlier: Vec<(Weights, u64)>,
});

#[cfg(feature = "serde")]
impl VotedPerceptron {
    /// Refuses what no run can have left behind.
    fn check_saved(&self) -> Result<(), InputError> {
        for (w, rounds) in &self.earlier {
            InputError::check_dim(self.weights.dim(), w.dim())?;
            // Its last round was the mistake that ended it.
            InputError::check_state(*rounds > 0, "weights that erred without a round")?;
        }
        Ok(())
    }
}

impl VotedPerceptron {
    /// Starts with w = 0 in R^`dim`.
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`], [`InputError::TooLarge`].
    pub fn new(dim: usize) -> Result<Self, InputError> {
        Ok(VotedPerceptron { weights: Weights::zero(dim)?, survived: 0, earlier: Vec::new() })
    }

    /// The present weights, with which it guesses while it learns.
    #[must_use]
    pub fn weights(&self) -> &[f64] {
        self.weights.as_slice()
    }
}

/// The value is that of the vote, in [-1, 1]; 0 before the first round.
impl Classifier for VotedPerceptron {
    fn dim(&self) -> usize {
        self.weights.dim()
    }

    fn decision_value<R: RowView>(&self, x: R) -> Result<f64, InputError> {
        let present = (&self.weights, self.survived);
        let (mut sum, mut votes) = (0.0, 0.0);
        for (weights, rounds) in self.earlier.iter().map(|(w, r)| (w, *r)).chain([present]) {
            sum += rounds as f64 * Label::from_sign(weights.value(x)?).as_f64();
            votes += rounds as f64;
        }
        Ok(if votes > 0.0 { sum / votes } else { 0.0 })
    }
}

impl VotedPerceptron {
    fn correct<R: RowView>(&mut self, y: f64, x: R) {
        self.earlier.push((self.weights.clone(), self.survived + 1));
        self.weights.add(y, x);
        self.survived = 0;
    }

    fn survive(&mut self, rounds: u64) {
        self.survived += rounds;
    }

    fn mistakes(&self) -> u64 {
        self.earlier.len() as u64
    }
}

mistake_driven!(VotedPerceptron);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Perceptron, RandomOrder, run};
    use halfspaces_data::{MarginBall, Marginal, random_target};
    use halfspaces_linalg::{DenseRow, PointSet};

    #[test]
    fn it_learns_as_the_perceptron_does_and_counts_the_votes_of_all_rounds() {
        let target = random_target(4, 1).unwrap();
        let points = MarginBall::new(&target, 0.05).unwrap().sample(300, 2).unwrap();
        let labels = target.label_all(&points).unwrap();
        let order = || RandomOrder::new(3);
        let (plain, transcript) =
            run(Perceptron::new(4).unwrap(), &points, &labels, order()).unwrap();
        let (voted, same) =
            run(VotedPerceptron::new(4).unwrap(), &points, &labels, order()).unwrap();
        assert_eq!(transcript, same);
        assert_eq!(voted.weights(), plain.weights());
        assert!(voted.updates() > 3);

        // The plain way: replay, adding up the votes round by round.
        let mut replayed = Perceptron::new(4).unwrap();
        let probe = points.row(0).unwrap();
        let mut votes = 0.0;
        for round in transcript.rounds() {
            votes += replayed.label(probe).unwrap().as_f64();
            replayed.observe(points.row(round.index).unwrap(), round.truth).unwrap();
        }
        assert_eq!(voted.decision_value(probe).unwrap(), votes / 300.0);
    }

    #[test]
    fn the_classifier_is_the_vote_though_the_guess_is_not() {
        let mut learner = VotedPerceptron::new(1).unwrap();
        let (one, three) = (DenseRow::new(&[1.0]).unwrap(), DenseRow::new(&[3.0]).unwrap());
        for _ in 0..9 {
            learner.observe(one, Label::Negative).unwrap(); // w = -1 after the first
        }
        learner.observe(three, Label::Positive).unwrap(); // one wrong label: w = 2
        assert_eq!(learner.guess(one).unwrap().label, Label::Positive);
        assert_eq!(learner.label(one).unwrap(), Label::Negative);
        assert_eq!(learner.decision_value(one).unwrap(), -0.8);
    }

    #[test]
    fn before_the_first_round_everything_is_positive() {
        let x = DenseRow::new(&[1.0, -1.0]).unwrap();
        assert_eq!(VotedPerceptron::new(2).unwrap().label(x).unwrap(), Label::Positive);
        assert!(VotedPerceptron::new(0).is_err());
    }
}
