//! ALMA, the approximate large margin algorithm.

use super::weights::{Weights, linear_classifier};
use crate::protocol::{OnlineLearner, Prediction};
use crate::scale::positive_norm_sq;
use halfspaces_linalg::{InputError, Label, RowView, norm};
use std::f64::consts::SQRT_2;

/// ALMA, the approximate large margin algorithm, for p = 2.
///
/// Points are scaled to norm 1, and w stays in the unit ball. The k-th correction is made if y (w · x) <= (1 - α) B/√k.
/// It sets w += (C/√k) y x and scales w back into the ball. Here B = √8/α and C = √2.
///
/// *Guarantee.* If a unit w* separates the normalised points with margin γ, the learner makes at most (2/γ²)(2/α -
/// 1)² + 8/α - 4 corrections, including mistakes, in every order ([`crate::bounds::alma_corrections`]). If the learner
/// passes over a finite set repeatedly until no correction is due, the margin of w is at least (1 - α)γ.
///
/// *Cost.* O(d) memory; O(d) time per point.
///
/// *When to use it.* To approach the largest margin with online steps: α sets the accuracy, and the number of
/// corrections grows as 1/α². [`crate::MarginPerceptron`] reaches a third of the margin at less cost, and
/// [`crate::HardMargin`] computes the largest margin.
///
/// *Source.* Gentile 2001, Theorem 3. Claims: K12, S6.
///
/// ```
/// use halfspaces_linalg::{DenseRow, Label};
/// use halfspaces_online::{Alma, OnlineLearner};
/// let mut learner = Alma::new(2, 0.5)?;
/// learner.observe(DenseRow::new(&[0.0, 5.0])?, Label::Negative)?;
/// assert_eq!(learner.weights(), [0.0, -1.0]); // a step of √2, scaled back to the ball
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Alma {
    weights: Weights,
    alpha: f64,
    corrections: u64,
}

linear_classifier!(Alma);

impl Alma {
    /// Starts with w = 0 in R^`dim`. The parameter α = `alpha` in (0, 1] is the fraction of the margin that the learner
    /// gives up.
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`], [`InputError::ParameterOutOfRange`].
    pub fn new(dim: usize, alpha: f64) -> Result<Self, InputError> {
        let in_range = alpha > 0.0 && alpha <= 1.0;
        InputError::check_parameter("alpha", alpha, in_range, "above 0 and at most 1")?;
        Ok(Alma { weights: Weights::zero(dim)?, alpha, corrections: 0 })
    }
}

impl OnlineLearner for Alma {
    /// The value of the prediction is w · x / ‖x‖.
    fn guess<R: RowView>(&self, x: R) -> Result<Prediction, InputError> {
        Ok(Prediction::from_value(self.weights.value(x)? / positive_norm_sq(x)?.sqrt()))
    }

    fn update<R: RowView>(
        &mut self,
        x: R,
        prediction: Prediction,
        truth: Label,
    ) -> Result<bool, InputError> {
        self.weights.check(x)?;
        let length = positive_norm_sq(x)?.sqrt();
        let k = (self.corrections + 1) as f64;
        let wanted = (1.0 - self.alpha) * (8f64.sqrt() / self.alpha) / k.sqrt();
        // At w · x = 0 with label -1 the prediction is wrong for any required margin.
        let corrects = truth.as_f64() * prediction.value <= wanted || prediction.is_wrong(truth);
        if corrects {
            self.weights.add(truth.as_f64() * SQRT_2 / k.sqrt() / length, x);
            let size = norm(self.weights.as_slice());
            if size > 1.0 {
                self.weights.scale(1.0 / size);
            }
            self.corrections += 1;
        }
        Ok(corrects)
    }

    fn updates(&self) -> u64 {
        self.corrections
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounds;
    use halfspaces_data::{MarginBall, Marginal, Realizable, random_target};
    use halfspaces_linalg::{DenseRow, PointSet};

    /// The test passes over the points repeatedly until no correction is due.
    #[test]
    fn corrections_and_margin_keep_their_bounds() {
        for (seed, alpha) in [(1, 0.1), (2, 0.5), (3, 0.9), (4, 1.0)] {
            let target = random_target(5, seed).unwrap();
            let points = MarginBall::new(&target, 0.2).unwrap().sample(200, seed + 9).unwrap();
            let pool = Realizable::new(points.normalised().unwrap(), target).unwrap();
            let mut learner = Alma::new(5, alpha).unwrap();
            loop {
                let before = learner.updates();
                for (x, y) in pool.points().rows().zip(pool.labels()) {
                    learner.observe(x, *y).unwrap();
                }
                if learner.updates() == before {
                    break;
                }
            }
            let bound = bounds::alma_corrections(alpha, pool.margin());
            assert!(learner.updates() as f64 <= bound, "α = {alpha}");
            let margin = learner.halfspace().unwrap().margin_on(pool.points(), pool.labels());
            assert!(margin.unwrap() >= (1.0 - alpha) * pool.margin(), "α = {alpha}");
            assert!(norm(learner.weights()) <= 1.0 + 1e-12);
        }
    }

    #[test]
    fn bad_input_is_typed() {
        for alpha in [0.0, 1.1, f64::NAN] {
            assert!(Alma::new(2, alpha).is_err());
        }
        let mut learner = Alma::new(1, 0.5).unwrap();
        let zero = DenseRow::new(&[0.0]).unwrap();
        assert_eq!(learner.observe(zero, Label::Positive), Err(InputError::ZeroVector));
    }
}
