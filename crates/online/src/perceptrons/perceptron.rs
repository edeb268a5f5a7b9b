//! The perceptron.
//!
//! Claims: K8h, S6.

use super::look_ahead::{learn_pool_ahead, right};
use super::weights::{Weights, linear_classifier};
use crate::protocol::{OnlineLearner, PartialFitError, Prediction, Tally};
use crate::scale::check_scale;
use halfspaces_linalg::{InputError, Label, PointSet, RowView};
use std::convert::Infallible;

/// The perceptron: starts with w = 0, predicts sign(w · x), and sets w += y x on a mistake.
///
/// *Guarantee.* If some w* has y (w* · x) >= γ > 0 on every point and ‖x‖ <= R, the learner makes at most (R‖w*‖/γ)²
/// mistakes, for any order and any number of points: each mistake increases w · w* by at least γ and ‖w‖² by at most
/// R². The bound is attained on `halfspaces_data::perceptron_tight`. [`crate::bounds::perceptron_mistakes`] computes
/// the bound; for labels that no halfspace explains, see [`crate::bounds::perceptron_mistakes_with_deviation`].
///
/// *Cost.* O(d) memory; O(d) time per point, O(nonzeros) for a sparse one.
///
/// *When to use it.* This is the first learner to try on a stream, and the fastest one. With noisy labels, classify
/// with [`crate::AveragedPerceptron`], whose hypothesis depends on more than the last mistake. With margins far below
/// 1/√d in low dimension, a [`crate::VersionSpace`] learner makes fewer mistakes.
///
/// *Source.* Kakade Algorithm 2 and Theorem 4.1; Harvey18 Theorem 1.1; Notes21. The algorithm updates when sign(w·x) !=
/// y with sign(0) = +1, so every mistake has y (w·x) <= 0, which is all the proof uses (Kakade writes < 0, which fails
/// at w = 0). Claims: K3, K3n.
///
/// ```
/// use halfspaces_linalg::{Classifier, DenseRow, Label};
/// use halfspaces_online::{OnlineLearner, Perceptron};
///
/// let mut learner = Perceptron::new(2)?;
/// let x = DenseRow::new(&[1.0, -2.0])?;
/// assert_eq!(learner.observe(x, Label::Negative)?.label, Label::Positive); // w = 0: a mistake
/// assert_eq!(learner.weights(), [-1.0, 2.0]);
/// assert_eq!(learner.label(x)?, Label::Negative);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Perceptron {
    pub(super) weights: Weights,
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::saved::count"))]
    updates: u64,
}

linear_classifier!(Perceptron);

impl Perceptron {
    /// Starts with w = 0 in R^`dim`.
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`], [`InputError::TooLarge`].
    pub fn new(dim: usize) -> Result<Perceptron, InputError> {
        Ok(Perceptron { weights: Weights::zero(dim)?, updates: 0 })
    }

    /// Starts with the given weights.
    pub(super) fn starting_at(weights: Vec<f64>) -> Result<Perceptron, InputError> {
        Ok(Perceptron { weights: weights.try_into()?, updates: 0 })
    }
}

impl OnlineLearner for Perceptron {
    #[inline]
    fn update<R: RowView>(
        &mut self,
        x: R,
        prediction: Prediction,
        truth: Label,
    ) -> Result<bool, InputError> {
        self.weights.check(x)?;
        let mistake = prediction.is_wrong(truth);
        if mistake {
            check_scale(x)?;
            self.weights.add(truth.as_f64(), x);
            self.updates += 1;
        }
        Ok(mistake)
    }

    fn updates(&self) -> u64 {
        self.updates
    }

    #[inline]
    fn learn<R: RowView>(&mut self, x: R, truth: Label) -> Result<Prediction, InputError> {
        let prediction = Prediction::from_value(self.weights.sign(x)?);
        self.update(x, prediction, truth)?;
        Ok(prediction)
    }

    fn learn_pool<P: PointSet>(
        &mut self,
        points: &P,
        labels: &[Label],
    ) -> Result<Tally, PartialFitError<Infallible>> {
        learn_pool_ahead(self, points, labels, |learner, next| {
            next.unchanged_prefix(&learner.weights, right)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AsGiven, bounds, run};
    use halfspaces_data::perceptron_tight;
    use halfspaces_linalg::{Classifier, DenseRow, Points};

    #[test]
    fn worked_by_hand() {
        // w: 0 -> (predict +, truth -) -> (-1,-1) -> (predict -, truth +) -> (0,-3) -> ok.
        let points = Points::from_rows(&[[1.0, 1.0], [1.0, -2.0], [0.0, 1.0]]).unwrap();
        let labels = [Label::Negative, Label::Negative, Label::Negative];
        let (learner, transcript) =
            run(Perceptron::new(2).unwrap(), &points, &labels, AsGiven::new()).unwrap();
        let values: Vec<f64> = transcript.rounds().iter().map(|r| r.prediction.value).collect();
        assert_eq!(values, [0.0, 1.0, 1.0]);
        assert_eq!(learner.weights(), [-2.0, 0.0]);
        assert_eq!(transcript.mistakes(), 3);
        assert_eq!(learner.updates(), 3);
    }

    #[test]
    fn the_bound_is_met_with_equality_on_the_tight_instance() {
        let tight = perceptron_tight(40).unwrap();
        let (_, transcript) =
            run(Perceptron::new(40).unwrap(), tight.points(), tight.labels(), AsGiven::new())
                .unwrap();
        assert_eq!(transcript.mistakes(), 40);
        assert!((bounds::perceptron_mistakes(1.0, 1.0, tight.margin()) - 40.0).abs() < 1e-9);
    }

    #[test]
    fn a_zero_value_is_a_positive_prediction() {
        let learner = Perceptron::new(1).unwrap();
        let x = DenseRow::new(&[5.0]).unwrap();
        assert_eq!(learner.label(x).unwrap(), Label::Positive);
        assert_eq!(learner.updates(), 0);
    }

    #[test]
    fn bad_input_is_typed_and_changes_nothing() {
        assert_eq!(Perceptron::new(0), Err(InputError::ZeroDimension));
        let mut learner = Perceptron::new(2).unwrap();
        let wrong = DenseRow::new(&[1.0]).unwrap();
        let mismatch = InputError::DimensionMismatch { expected: 2, found: 1 };
        assert_eq!(learner.observe(wrong, Label::Negative), Err(mismatch));
        assert_eq!(learner, Perceptron::new(2).unwrap());
        let overflow = InputError::Overflow { row: 0 };
        let underflow = InputError::Underflow { row: 0 };
        for (entry, error) in [(f64::MAX, overflow.clone()), (1e-170, underflow)] {
            let row = [entry, entry];
            let row = DenseRow::new(&row).unwrap();
            assert_eq!(learner.observe(row, Label::Negative), Err(error));
            assert_eq!(learner, Perceptron::new(2).unwrap());
        }
        // The norms are in range, but the product overflows.
        let long = [1e150, 0.0];
        let long = DenseRow::new(&long).unwrap();
        learner.weights = vec![1e200, 0.0].try_into().unwrap();
        assert_eq!(learner.guess(long), Err(overflow));
    }

    #[cfg(feature = "serde")]
    #[test]
    fn a_saved_learner_goes_on_where_it_stopped() {
        let mut learner = Perceptron::new(2).unwrap();
        learner.observe(DenseRow::new(&[0.1, 0.7]).unwrap(), Label::Negative).unwrap();
        let text = serde_json::to_string(&learner).unwrap();
        assert_eq!(serde_json::from_str::<Perceptron>(&text).unwrap(), learner);
        assert!(serde_json::from_str::<Perceptron>(r#"{"weights":[],"updates":0}"#).is_err());
    }
}
