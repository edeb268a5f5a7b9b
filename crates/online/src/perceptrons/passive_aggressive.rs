//! Passive-aggressive learners.

use super::look_ahead::learn_pool_ahead;
use super::weights::{Weights, linear_classifier};
use crate::protocol::{OnlineLearner, PartialFitError, Prediction, Tally};
use crate::scale::positive_norm_sq;
use halfspaces_linalg::{InputError, Label, PointSet, RowView};
use std::convert::Infallible;

/// The limit on the steps of a passive-aggressive learner.
///
/// ```
/// use halfspaces_linalg::{DenseRow, Label};
/// use halfspaces_online::{Aggressiveness, OnlineLearner, PassiveAggressive};
/// // Hinge loss 1 at w = 0, ‖x‖² = 4: steps of 1/4, min(C, 1/4) and 1/(4 + 1/(2C)) along x.
/// let after = |kind| -> Result<f64, Box<dyn std::error::Error>> {
///     let mut learner = PassiveAggressive::new(1, kind)?;
///     learner.observe(DenseRow::new(&[2.0])?, Label::Negative)?;
///     Ok(learner.weights()[0])
/// };
/// assert_eq!(after(Aggressiveness::Unbounded)?, -0.5);
/// assert_eq!(after(Aggressiveness::Capped(0.125))?, -0.25);
/// assert_eq!(after(Aggressiveness::Damped(0.125))?, -0.25);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Aggressiveness {
    /// PA: the step τ has no limit.
    Unbounded,
    /// PA-I: the step τ is capped at C.
    Capped(#[cfg_attr(feature = "serde", serde(deserialize_with = "crate::saved::positive"))] f64),
    /// PA-II: the step τ is damped by 1/(2C).
    Damped(#[cfg_attr(feature = "serde", serde(deserialize_with = "crate::saved::positive"))] f64),
}

/// The passive-aggressive learner: keeps w if y (w · x) >= 1, and otherwise makes the smallest change to w that gives
/// the point this margin.
///
/// The update is w += τ y x. With the hinge loss ℓ = max(0, 1 - y (w · x)), the step is τ = ℓ/‖x‖² (PA), min(C, ℓ/‖x‖²)
/// (PA-I) or ℓ/(‖x‖² + 1/(2C)) (PA-II); see [`Aggressiveness`].
///
/// *Guarantee.* If some u has y (u · x) >= 1 on every example, PA has Σ ℓ² <= R²‖u‖². If a unit separator has margin γ,
/// PA therefore makes at most (R/γ)² mistakes for every order of the examples. PA-I and PA-II trade some of this
/// guarantee for robustness to wrong labels. For any u with hinge losses ℓ*, PA-I makes at most max(R², 1/C)(‖u‖² + 2C
/// Σ ℓ*) mistakes, and PA-II has Σ ℓ² <= (R² + 1/(2C))(‖u‖² + 2C Σ ℓ*²).
///
/// *Cost.* O(d) memory; O(d) time per point, O(nonzeros) for a sparse one.
///
/// *When to use it.* Instead of the perceptron, if you need a margin and not only a label. The learner also updates on
/// correct predictions with a small margin. Use PA-I or PA-II if labels may be wrong.
///
/// *Source.* Crammer, Dekel, Keshet, Shalev-Shwartz and Singer 2006, Theorems 2, 4 and 5. Claims: K10, S6.
///
/// ```
/// use halfspaces_linalg::{Classifier, DenseRow, Label};
/// use halfspaces_online::{Aggressiveness, OnlineLearner, PassiveAggressive};
/// let mut learner = PassiveAggressive::new(2, Aggressiveness::Unbounded)?;
/// let x = DenseRow::new(&[3.0, 4.0])?;
/// learner.observe(x, Label::Positive)?;
/// assert!((learner.decision_value(x)? - 1.0).abs() < 1e-15); // exactly the required margin
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PassiveAggressive {
    weights: Weights,
    aggressiveness: Aggressiveness,
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::saved::count"))]
    updates: u64,
}

linear_classifier!(PassiveAggressive);

impl PassiveAggressive {
    /// Starts with w = 0 in R^`dim`.
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`]; [`InputError::ParameterOutOfRange`] for a C that is not
    /// positive and finite.
    pub fn new(dim: usize, aggressiveness: Aggressiveness) -> Result<Self, InputError> {
        if let Aggressiveness::Capped(c) | Aggressiveness::Damped(c) = aggressiveness {
            let in_range = c > 0.0 && c.is_finite();
            InputError::check_parameter("C", c, in_range, "positive and finite")?;
        }
        Ok(PassiveAggressive { weights: Weights::zero(dim)?, aggressiveness, updates: 0 })
    }
}

/// The hinge loss max(0, 1 - y (w · x)).
#[inline(always)]
fn loss(value: f64, truth: Label) -> f64 {
    (1.0 - truth.as_f64() * value).max(0.0)
}

/// Whether an example with this value leaves the learner unchanged.
#[inline(always)]
fn stays(value: f64, truth: Label) -> bool {
    loss(value, truth) == 0.0
}

impl OnlineLearner for PassiveAggressive {
    fn update<R: RowView>(
        &mut self,
        x: R,
        prediction: Prediction,
        truth: Label,
    ) -> Result<bool, InputError> {
        self.weights.check(x)?;
        let loss = loss(prediction.value, truth);
        if loss == 0.0 {
            return Ok(false);
        }
        let norm_sq = positive_norm_sq(x)?;
        let step = match self.aggressiveness {
            Aggressiveness::Unbounded => loss / norm_sq,
            Aggressiveness::Capped(c) => c.min(loss / norm_sq),
            Aggressiveness::Damped(c) => loss / (norm_sq + 0.5 / c),
        };
        self.weights.add(step * truth.as_f64(), x);
        self.updates += 1;
        Ok(true)
    }

    fn updates(&self) -> u64 {
        self.updates
    }

    fn learn_pool<P: PointSet>(
        &mut self,
        points: &P,
        labels: &[Label],
    ) -> Result<Tally, PartialFitError<Infallible>> {
        learn_pool_ahead(self, points, labels, |learner, ahead| {
            ahead.unchanged_prefix(&learner.weights, stays)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SmallestMarginMistake, bounds, run};
    use halfspaces_data::{MarginBall, Marginal, perceptron_tight, random_target};
    use halfspaces_linalg::{Classifier, DenseRow, PointSet};

    #[test]
    fn the_squared_losses_stay_below_the_bound() {
        for seed in 0..10 {
            let target = random_target(6, seed).unwrap();
            let points = MarginBall::new(&target, 0.1).unwrap().sample(300, seed + 9).unwrap();
            let labels = target.label_all(&points).unwrap();
            let gamma = target.margin_on(&points, &labels).unwrap();
            let learner = PassiveAggressive::new(6, Aggressiveness::Unbounded).unwrap();
            let adversary = SmallestMarginMistake::new(labels.clone());
            let (_, transcript) = run(learner, &points, &labels, adversary).unwrap();
            let losses = transcript
                .rounds()
                .iter()
                .map(|r| (1.0 - r.truth.as_f64() * r.prediction.value).max(0.0).powi(2));
            let bound = bounds::passive_aggressive_mistakes(points.max_norm(), gamma);
            assert!(losses.sum::<f64>() <= bound);
            assert!(transcript.mistakes() as f64 <= bound);
        }
    }

    #[test]
    fn steps_worked_by_hand() {
        let x = DenseRow::new(&[2.0]).unwrap();
        // ℓ = 1, ‖x‖² = 4: τ = 1/4, min(0.1, 1/4), 1/(4 + 5).
        for (kind, weight) in [
            (Aggressiveness::Unbounded, 0.5),
            (Aggressiveness::Capped(0.1), 0.2),
            (Aggressiveness::Damped(0.1), 2.0 / 9.0),
        ] {
            let mut learner = PassiveAggressive::new(1, kind).unwrap();
            learner.observe(x, Label::Positive).unwrap();
            assert!((learner.weights()[0] - weight).abs() < 1e-15);
        }
        // The tight instance of the perceptron is also tight for PA.
        let tight = perceptron_tight(9).unwrap();
        let learner = PassiveAggressive::new(9, Aggressiveness::Unbounded).unwrap();
        let order = crate::AsGiven::new();
        let (_, transcript) = run(learner, tight.points(), tight.labels(), order).unwrap();
        assert_eq!(transcript.mistakes(), 9);
    }

    #[test]
    fn bad_input_is_typed() {
        for c in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(PassiveAggressive::new(1, Aggressiveness::Capped(c)).is_err());
            assert!(PassiveAggressive::new(1, Aggressiveness::Damped(c)).is_err());
        }
        let mut learner = PassiveAggressive::new(1, Aggressiveness::Unbounded).unwrap();
        let zero = DenseRow::new(&[0.0]).unwrap();
        assert_eq!(learner.observe(zero, Label::Positive), Err(InputError::ZeroVector));
        assert_eq!(learner.updates(), 0);
    }
}
