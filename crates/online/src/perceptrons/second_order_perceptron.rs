//! The second-order perceptron.
//!
//! A perceptron that whitens by the points it has erred on: with S = aI + Σ x x' and v = Σ y x over
//! the mistakes so far, predict sign(v' (S + x x')⁻¹ x), which is sign(v' S⁻¹ x).
//!
//! *Guarantee.* If a unit u separates with margin γ, at most (1/γ) √((a + u'Mu) ln det(I + M/a))
//! mistakes, M = Σ x x' over the mistakes: fewer than the perceptron's where the points lie near a
//! low-dimensional subspace.
//!
//! *Source.* Cesa-Bianchi, Conconi and Gentile 2005, Theorem 3.1. S⁻¹ is kept by Sherman-Morrison:
//! O(d²) memory, O(d²) a point.

use super::weights::Weights;
use crate::error::OnlineError;
use crate::protocol::{OnlineLearner, Prediction};
use crate::scale::positive_norm_sq;
use halfspaces_linalg::{InputError, Label, RowView, kernels, zeros};

/// The second-order perceptron.
///
/// ```
/// use halfspaces_linalg::{DenseRow, Label};
/// use halfspaces_online::{OnlineLearner, SecondOrderPerceptron};
/// let mut learner = SecondOrderPerceptron::new(2, 1.0)?;
/// let x = DenseRow::new(&[3.0, 0.0])?;
/// learner.observe(x, Label::Negative)?;
/// assert!((learner.predict(x)?.value + 0.9).abs() < 1e-15); // -9/(1 + 9)
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "RawSecondOrderPerceptron"))]
pub struct SecondOrderPerceptron {
    /// v = Σ y x.
    sum: Weights,
    /// S⁻¹, row by row.
    inverse: Vec<Weights>,
    /// S⁻¹ v, the hypothesis.
    weights: Weights,
    a: f64,
    /// ln det(I + M/a).
    log_det: f64,
    updates: u64,
}

/// What a [`SecondOrderPerceptron`] looks like before it is checked.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
struct RawSecondOrderPerceptron {
    sum: Weights,
    inverse: Vec<Weights>,
    weights: Weights,
    a: f64,
    log_det: f64,
    #[serde(deserialize_with = "crate::saved::count")]
    updates: u64,
}

#[cfg(feature = "serde")]
impl TryFrom<RawSecondOrderPerceptron> for SecondOrderPerceptron {
    type Error = InputError;

    fn try_from(raw: RawSecondOrderPerceptron) -> Result<Self, InputError> {
        let RawSecondOrderPerceptron { sum, inverse, weights, a, log_det, updates } = raw;
        SecondOrderPerceptron::new(sum.dim(), a)?;
        InputError::check_dim(sum.dim(), weights.dim())?;
        InputError::check_dim(sum.dim(), inverse.len())?;
        inverse.iter().try_for_each(|row| InputError::check_dim(sum.dim(), row.dim()))?;
        Ok(SecondOrderPerceptron { sum, inverse, weights, a, log_det, updates })
    }
}

impl SecondOrderPerceptron {
    /// Starts with S = aI in R^`dim`, a > 0; a large makes it the perceptron.
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`], [`InputError::ParameterOutOfRange`].
    pub fn new(dim: usize, a: f64) -> Result<Self, InputError> {
        InputError::check_parameter("a", a, a > 0.0 && a.is_finite(), "positive and finite")?;
        let zero = Weights::zero(dim)?;
        zeros(dim, dim)?;
        let mut inverse = vec![zero.clone(); dim];
        for (j, row) in inverse.iter_mut().enumerate() {
            row.as_mut_slice()[j] = 1.0 / a;
        }
        Ok(SecondOrderPerceptron {
            sum: zero.clone(),
            inverse,
            weights: zero,
            a,
            log_det: 0.0,
            updates: 0,
        })
    }

    /// The hypothesis S⁻¹ v.
    #[must_use]
    pub fn weights(&self) -> &[f64] {
        self.weights.as_slice()
    }

    /// ln det(I + M/a) over the mistakes so far, for [`crate::bounds::second_order_mistakes`].
    #[must_use]
    pub fn log_det(&self) -> f64 {
        self.log_det
    }

    fn inverse_times(&self, x: &[f64]) -> Vec<f64> {
        self.inverse.iter().map(|row| kernels::dot(row.as_slice(), x)).collect()
    }
}

impl OnlineLearner for SecondOrderPerceptron {
    fn dim(&self) -> usize {
        self.weights.dim()
    }

    /// The value is v' S⁻¹ x.
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
        if !prediction.is_wrong(truth) {
            return Ok(false);
        }
        positive_norm_sq(x)?;
        let mut dense = vec![0.0; self.dim()];
        x.add_scaled_to(1.0, &mut dense);
        // (S + x x')⁻¹ = S⁻¹ - (S⁻¹x)(S⁻¹x)' / (1 + x'S⁻¹x)
        let solved = self.inverse_times(&dense);
        let growth = 1.0 + kernels::dot(&dense, &solved);
        if !growth.is_finite() {
            return Err(OnlineError::Overflow);
        }
        // What overflows later leaves the learner as it was.
        let mut next = self.clone();
        for (row, s) in next.inverse.iter_mut().zip(&solved) {
            kernels::axpy(-s / growth, &solved, row.as_mut_slice());
        }
        next.log_det += growth.ln();
        next.sum.add(truth.as_f64(), x);
        next.weights = next.inverse_times(next.sum.as_slice()).try_into()?;
        next.updates += 1;
        *self = next;
        Ok(true)
    }

    fn updates(&self) -> u64 {
        self.updates
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Perceptron, RandomOrder, SmallestMarginMistake, bounds, run};
    use halfspaces_data::{MarginBall, Marginal, random_target};
    use halfspaces_linalg::{Classifier, PointSet};

    #[test]
    fn what_overflows_changes_nothing() {
        let mut learner = SecondOrderPerceptron::new(1, 1e-200).unwrap();
        let before = learner.clone();
        let x = halfspaces_linalg::DenseRow::new(&[1e120]).unwrap();
        assert_eq!(learner.observe(x, Label::Negative), Err(OnlineError::Overflow));
        assert_eq!(learner, before);
    }

    #[test]
    fn mistakes_stay_below_the_realised_bound() {
        for (seed, a) in [(1, 0.1), (2, 1.0), (3, 10.0)] {
            let target = random_target(5, seed).unwrap();
            let points = MarginBall::new(&target, 0.05).unwrap().sample(400, seed + 9).unwrap();
            let labels = target.label_all(&points).unwrap();
            let gamma = target.margin_on(&points, &labels).unwrap();
            let learner = SecondOrderPerceptron::new(5, a).unwrap();
            let adversary = SmallestMarginMistake::new(labels.clone());
            let (learner, transcript) = run(learner, &points, &labels, adversary).unwrap();
            let mistaken = transcript.rounds().iter().filter(|r| r.is_mistake());
            let quadratic: f64 =
                mistaken.map(|r| points.row(r.index).unwrap().dot(target.normal()).powi(2)).sum();
            let bound = bounds::second_order_mistakes(a, quadratic, learner.log_det(), gamma);
            assert!(transcript.mistakes() > 3 && transcript.mistakes() as f64 <= bound);
        }
    }

    #[test]
    fn the_inverse_is_kept_right_and_a_large_a_is_the_perceptron() {
        let target = random_target(4, 5).unwrap();
        let points = MarginBall::new(&target, 0.02).unwrap().sample(500, 6).unwrap();
        let labels = target.label_all(&points).unwrap();
        let order = || RandomOrder::new(7);
        let learner = SecondOrderPerceptron::new(4, 0.5).unwrap();
        let (learner, transcript) = run(learner, &points, &labels, order()).unwrap();
        // S times S⁻¹ is the identity.
        for j in 0..4 {
            let column: Vec<f64> = learner.inverse.iter().map(|row| row.as_slice()[j]).collect();
            let mut product: Vec<f64> = column.iter().map(|v| 0.5 * v).collect();
            for round in transcript.rounds().iter().filter(|r| r.is_mistake()) {
                let x = points.row(round.index).unwrap();
                x.add_scaled_to(x.dot(&column), &mut product);
            }
            for (i, v) in product.iter().enumerate() {
                assert!((v - f64::from(u8::from(i == j))).abs() < 1e-10);
            }
        }
        let huge = SecondOrderPerceptron::new(4, 1e12).unwrap();
        let (_, like) = run(huge, &points, &labels, order()).unwrap();
        let (_, plain) = run(Perceptron::new(4).unwrap(), &points, &labels, order()).unwrap();
        assert_eq!(like.mistakes(), plain.mistakes());
    }

    #[test]
    fn bad_input_is_typed() {
        for a in [0.0, -1.0, f64::NAN] {
            assert!(SecondOrderPerceptron::new(2, a).is_err());
        }
        assert!(SecondOrderPerceptron::new(0, 1.0).is_err());
    }
}
