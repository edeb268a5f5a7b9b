//! The averaged and the voted perceptron.
//!
//! Both make the perceptron's updates, and so its mistakes while they learn; they differ in what
//! they predict afterwards. The averaged perceptron uses the mean of its weights over all rounds,
//! the voted one lets every weight vector vote for as many rounds as it survived.
//!
//! *Guarantee.* Online, the perceptron's: at most (R‖w*‖/γ)² mistakes. After one pass over n i.i.d.
//! examples that a halfspace explains with margin γ, the voted perceptron errs on the next one with
//! probability at most 2 E[(R/γ)²]/(n+1) (Freund and Schapire 1999, Corollary 1). The averaged form
//! has no such proof for its sign; it is what people use, as it takes O(d) memory where votes take
//! O(d) a mistake.

use super::weights::Weights;
use crate::error::OnlineError;
use crate::protocol::{OnlineLearner, Prediction};
use crate::protocol::{PartialFitError, Tally};
use crate::protocol::{looking_ahead, right};
use crate::scale::check_scale;
use halfspaces_linalg::{Halfspace, InputError, Label, PointSet, RowView};

/// The averaged perceptron: O(d) memory, O(d) a mistake on top of the product.
///
/// ```
/// use halfspaces_linalg::{DenseRow, Label};
/// use halfspaces_online::{AveragedPerceptron, OnlineLearner};
/// let mut learner = AveragedPerceptron::new(1)?;
/// let x = DenseRow::new(&[2.0])?;
/// learner.observe(x, Label::Negative)?; // mistake: w = -2 from the next round on
/// learner.observe(x, Label::Negative)?;
/// assert_eq!(learner.average()?.normal(), [-1.0]); // the mean of 0 and -2
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "RawAveragedPerceptron"))]
pub struct AveragedPerceptron {
    weights: Weights,
    /// Σ over updates of (rounds before the update and itself) y x: the sum of all rounds' weights
    /// is rounds · w minus this.
    missed: Weights,
    rounds: u64,
    updates: u64,
}

/// What an [`AveragedPerceptron`] looks like before it is checked.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
struct RawAveragedPerceptron {
    weights: Weights,
    missed: Weights,
    #[serde(deserialize_with = "crate::saved::count")]
    rounds: u64,
    #[serde(deserialize_with = "crate::saved::count")]
    updates: u64,
}

#[cfg(feature = "serde")]
impl TryFrom<RawAveragedPerceptron> for AveragedPerceptron {
    type Error = InputError;

    fn try_from(raw: RawAveragedPerceptron) -> Result<Self, InputError> {
        let RawAveragedPerceptron { weights, missed, rounds, updates } = raw;
        InputError::check_dim(weights.dim(), missed.dim())?;
        Ok(AveragedPerceptron { weights, missed, rounds, updates })
    }
}

impl AveragedPerceptron {
    /// Starts with w = 0 in R^`dim`.
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`].
    pub fn new(dim: usize) -> Result<Self, InputError> {
        let zero = Weights::zero(dim)?;
        Ok(AveragedPerceptron { weights: zero.clone(), missed: zero, rounds: 0, updates: 0 })
    }

    /// The present weights, with which it predicts while it learns.
    #[must_use]
    pub fn weights(&self) -> &[f64] {
        self.weights.as_slice()
    }

    /// The mean of the weights over all rounds so far; zero before the first.
    ///
    /// # Errors
    /// [`InputError::NonFinite`] if the sums have overflown.
    pub fn average(&self) -> Result<Halfspace, InputError> {
        let rounds = self.rounds.max(1) as f64;
        let pairs = self.weights.as_slice().iter().zip(self.missed.as_slice());
        Halfspace::new(pairs.map(|(w, m)| w - m / rounds).collect())
    }
}

impl OnlineLearner for AveragedPerceptron {
    fn dim(&self) -> usize {
        self.weights.dim()
    }

    fn predict<R: RowView>(&self, x: R) -> Result<Prediction, OnlineError> {
        self.weights.predict(x)
    }

    fn update<R: RowView>(
        &mut self,
        x: R,
        prediction: Prediction,
        truth: Label,
    ) -> Result<bool, OnlineError> {
        self.weights.check(x)?;
        let mistake = prediction.is_wrong(truth);
        if mistake {
            check_scale(x)?;
        }
        self.rounds += 1;
        if mistake {
            self.weights.add(truth.as_f64(), x);
            self.missed.add(self.rounds as f64 * truth.as_f64(), x);
            self.updates += 1;
        }
        Ok(mistake)
    }

    fn updates(&self) -> u64 {
        self.updates
    }

    fn learn_pool<P: PointSet>(
        &mut self,
        points: &P,
        labels: &[Label],
    ) -> Result<Tally, PartialFitError<InputError>> {
        looking_ahead(self, points, labels, |learner, ahead| {
            let rounds = ahead.staying(&learner.weights, right);
            learner.rounds += rounds as u64;
            rounds
        })
    }
}

/// The voted perceptron: keeps every weight vector, O(d) memory a mistake.
///
/// ```
/// use halfspaces_linalg::{DenseRow, Label};
/// use halfspaces_online::{OnlineLearner, VotedPerceptron};
/// let mut learner = VotedPerceptron::new(1)?;
/// let x = DenseRow::new(&[2.0])?;
/// for _ in 0..3 {
///     learner.observe(x, Label::Negative)?;
/// }
/// // w = 0 predicted once, w = -2 twice: 1 vote for +1 against 2 for -1.
/// assert_eq!(learner.vote(x)?.label, Label::Negative);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "RawVotedPerceptron"))]
pub struct VotedPerceptron {
    weights: Weights,
    /// Rounds in which the present weights predicted.
    survived: u64,
    /// Earlier weights and the rounds in which each predicted.
    earlier: Vec<(Weights, u64)>,
}

/// What a [`VotedPerceptron`] looks like before it is checked.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
struct RawVotedPerceptron {
    weights: Weights,
    #[serde(deserialize_with = "crate::saved::count")]
    survived: u64,
    earlier: Vec<(Weights, u64)>,
}

#[cfg(feature = "serde")]
impl TryFrom<RawVotedPerceptron> for VotedPerceptron {
    type Error = InputError;

    fn try_from(raw: RawVotedPerceptron) -> Result<Self, InputError> {
        let RawVotedPerceptron { weights, survived, earlier } = raw;
        earlier.iter().try_for_each(|(w, _)| InputError::check_dim(weights.dim(), w.dim()))?;
        Ok(VotedPerceptron { weights, survived, earlier })
    }
}

impl VotedPerceptron {
    /// Starts with w = 0 in R^`dim`.
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`].
    pub fn new(dim: usize) -> Result<Self, InputError> {
        Ok(VotedPerceptron { weights: Weights::zero(dim)?, survived: 0, earlier: Vec::new() })
    }

    /// The present weights, with which it predicts while it learns.
    #[must_use]
    pub fn weights(&self) -> &[f64] {
        self.weights.as_slice()
    }

    /// The vote of all weights so far, each counted once a round that it predicted; the value is
    /// (votes for +1 minus votes for -1) / votes.
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`]; [`OnlineError::Overflow`].
    pub fn vote<R: RowView>(&self, x: R) -> Result<Prediction, OnlineError> {
        let now = std::iter::once((&self.weights, self.survived));
        let (mut sum, mut votes) = (0.0, 0.0);
        for (weights, rounds) in self.earlier.iter().map(|(w, r)| (w, *r)).chain(now) {
            sum += rounds as f64 * weights.predict(x)?.label.as_f64();
            votes += rounds as f64;
        }
        Ok(Prediction::from_value(if votes > 0.0 { sum / votes } else { 0.0 }))
    }
}

impl OnlineLearner for VotedPerceptron {
    fn dim(&self) -> usize {
        self.weights.dim()
    }

    fn predict<R: RowView>(&self, x: R) -> Result<Prediction, OnlineError> {
        self.weights.predict(x)
    }

    fn update<R: RowView>(
        &mut self,
        x: R,
        prediction: Prediction,
        truth: Label,
    ) -> Result<bool, OnlineError> {
        self.weights.check(x)?;
        let mistake = prediction.is_wrong(truth);
        if mistake {
            check_scale(x)?;
        }
        self.survived += 1;
        if mistake {
            self.earlier.push((self.weights.clone(), self.survived));
            self.weights.add(truth.as_f64(), x);
            self.survived = 0;
        }
        Ok(mistake)
    }

    fn updates(&self) -> u64 {
        self.earlier.len() as u64
    }

    fn learn_pool<P: PointSet>(
        &mut self,
        points: &P,
        labels: &[Label],
    ) -> Result<Tally, PartialFitError<InputError>> {
        looking_ahead(self, points, labels, |learner, ahead| {
            let rounds = ahead.staying(&learner.weights, right);
            learner.survived += rounds as u64;
            rounds
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Perceptron, RandomOrder, run};
    use halfspaces_data::{MarginBall, Marginal, random_target};
    use halfspaces_linalg::{Classifier, PointSet};

    #[test]
    fn they_learn_as_the_perceptron_does_and_keep_what_they_promise() {
        let target = random_target(4, 1).unwrap();
        let points = MarginBall::new(&target, 0.05).unwrap().sample(300, 2).unwrap();
        let labels = target.label_all(&points).unwrap();
        let order = || RandomOrder::new(3);
        let (plain, transcript) =
            run(Perceptron::new(4).unwrap(), &points, &labels, order()).unwrap();
        let (averaged, same) =
            run(AveragedPerceptron::new(4).unwrap(), &points, &labels, order()).unwrap();
        assert_eq!(transcript, same);
        let (voted, same) =
            run(VotedPerceptron::new(4).unwrap(), &points, &labels, order()).unwrap();
        assert_eq!(transcript, same);
        assert_eq!(averaged.weights(), plain.weights());
        assert_eq!(voted.weights(), plain.weights());
        assert!(voted.updates() > 3);

        // The plain way: replay, adding the weights and votes up round by round.
        let mut replayed = Perceptron::new(4).unwrap();
        let mut sum = [0.0; 4];
        let probe = points.row(0).unwrap();
        let mut votes = 0.0;
        for round in transcript.rounds() {
            sum.iter_mut().zip(replayed.weights()).for_each(|(s, w)| *s += w);
            votes += replayed.predict(probe).unwrap().label.as_f64();
            replayed.observe(points.row(round.index).unwrap(), round.truth).unwrap();
        }
        // The average speaks of the weights that predicted, round by round.
        for (average, sum) in averaged.average().unwrap().normal().iter().zip(sum) {
            assert!((average - sum / 300.0).abs() < 1e-12);
        }
        assert_eq!(voted.vote(probe).unwrap().value, votes / 300.0);
    }

    #[test]
    fn before_the_first_round_everything_is_positive() {
        let target = random_target(2, 1).unwrap();
        let points = MarginBall::new(&target, 0.1).unwrap().sample(1, 2).unwrap();
        let x = points.row(0).unwrap();
        assert_eq!(VotedPerceptron::new(2).unwrap().vote(x).unwrap().label, Label::Positive);
        assert_eq!(AveragedPerceptron::new(2).unwrap().average().unwrap().normal(), [0.0, 0.0]);
        assert!(VotedPerceptron::new(0).is_err() && AveragedPerceptron::new(0).is_err());
    }
}
