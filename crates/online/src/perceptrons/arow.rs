//! Adaptive regularisation of weights.

use super::weights::{Weights, finite, linear_classifier};
use crate::protocol::{OnlineLearner, Prediction};
use halfspaces_linalg::{InputError, Label, RowView, load_checked};

/// Adaptive regularisation of weights (AROW): a learner that takes smaller steps on coordinates that it has seen often.
///
/// The learner keeps a variance s_j for each weight, initially 1. If the hinge loss ℓ = max(0, 1 - y (w · x)) is
/// positive, the learner sets w_j += ℓ β y s_j x_j and s_j -= β (s_j x_j)² with β = 1/(Σ s_j x_j² + r). Rare
/// coordinates, such as words that occur in few texts, thus get larger steps than common ones.
///
/// *Guarantee.* If each point has at most one nonzero coordinate, the matrix of variances in the source is diagonal.
/// Then for every u there are at most √(r‖u‖² + Σ (u · x)²) √(Σ ln(1 + n_j/r) + U) + Σ ℓ(u) - U mistakes. The sums run
/// over the rounds with an update; n_j is the sum of x_j², and U is the number of these rounds without a mistake. For
/// other points the source proves this bound for a learner that keeps the full matrix. No bound is proved for this
/// learner, which keeps only the diagonal.
///
/// *Cost.* O(d) memory; O(d) time per point, or O(nonzeros) for a sparse point.
///
/// *When to use it.* For one pass over many sparse rows, such as texts. Choose r proportional to the mean ‖x‖², so that
/// the scale of the points does not matter. In our measurements, half the mean was a good choice. On dense rows
/// [`crate::AveragedPerceptron`] usually had smaller errors.
///
/// *Source.* Crammer, Kulesza and Dredze 2009, Figure 1 and Theorem 2; the diagonal version is from the same paper.
/// Claims: none; benchmarks of `halfspaces fit --stream`.
///
/// ```
/// use halfspaces_linalg::{DenseRow, Label};
/// use halfspaces_online::{Arow, OnlineLearner};
/// let mut learner = Arow::new(2, 1.0)?;
/// // ℓ = 1, β = 1/(4 + 1).
/// learner.observe(DenseRow::new(&[2.0, 0.0])?, Label::Positive)?;
/// assert_eq!(learner.weights(), [0.4, 0.0]);
/// assert!((learner.variances()[0] - 0.2).abs() < 1e-15 && learner.variances()[1] == 1.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Arow {
    weights: Weights,
    variances: Weights,
    r: f64,
    updates: u64,
}

linear_classifier!(Arow);

load_checked!(Arow {
    weights: Weights,
    variances: Weights,
    #[serde(deserialize_with = "crate::saved::positive")]
    r: f64,
    #[serde(deserialize_with = "crate::saved::count")]
    updates: u64,
});

#[cfg(feature = "serde")]
impl Arow {
    /// Rejects a saved state that no run can reach.
    fn check_saved(&self) -> Result<(), InputError> {
        InputError::check_dim(self.weights.dim(), self.variances.dim())?;
        let in_range = self.variances().iter().all(|s| (0.0..=1.0).contains(s));
        InputError::check_state(in_range, "a variance that is not between 0 and 1")
    }
}

impl Arow {
    /// Starts with w = 0 in R^`dim` and all variances 1. A larger `r` makes smaller steps.
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`]; [`InputError::ParameterOutOfRange`] for an r that is not positive and finite.
    pub fn new(dim: usize, r: f64) -> Result<Self, InputError> {
        InputError::check_parameter("r", r, r > 0.0 && r.is_finite(), "positive and finite")?;
        let (weights, mut variances) = (Weights::zero(dim)?, Weights::zero(dim)?);
        variances.as_mut_slice().fill(1.0);
        Ok(Arow { weights, variances, r, updates: 0 })
    }

    /// The variances of the weights, in [0, 1].
    #[must_use]
    pub fn variances(&self) -> &[f64] {
        self.variances.as_slice()
    }
}

impl OnlineLearner for Arow {
    fn update<R: RowView>(
        &mut self,
        x: R,
        prediction: Prediction,
        truth: Label,
    ) -> Result<bool, InputError> {
        self.weights.check(x)?;
        let loss = 1.0 - truth.as_f64() * prediction.value;
        if loss <= 0.0 {
            return Ok(false);
        }
        let (w, s) = (self.weights.as_mut_slice(), self.variances.as_mut_slice());
        let variance = finite(x.entries().map(|(j, x)| s[j] * x * x).sum())?;
        let beta = 1.0 / (variance + self.r);
        let step = loss * beta * truth.as_f64();
        for (j, x) in x.entries() {
            let sx = s[j] * x;
            w[j] += step * sx;
            // Rounding may push the variance below 0.
            s[j] = (s[j] - beta * sx * sx).max(0.0);
        }
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
    use halfspaces_linalg::{Classifier, DenseRow};

    fn row(x: &[f64]) -> DenseRow<'_> {
        DenseRow::new(x).unwrap()
    }

    /// The bound of the source holds for points on the axes. The test checks it for many u, with labels that are mostly
    /// the same on each axis.
    #[test]
    fn mistakes_on_the_axes_stay_below_the_bound() {
        for (r, noise) in [(0.1, 0), (1.0, 0), (10.0, 0), (1.0, 7)] {
            let mut learner = Arow::new(3, r).unwrap();
            let (mut mistakes, mut others) = (0.0, 0.0);
            let mut updated = Vec::new();
            for t in 0..300usize {
                let axis = (t * t + t / 7) % 3;
                let size = 0.5 + ((t * 37) % 11) as f64 / 8.0;
                let mut x = [0.0; 3];
                x[axis] = size;
                let wrong = noise > 0 && t % noise == 3;
                let truth = Label::from_sign(if (axis == 1) == wrong { 1.0 } else { -1.0 });
                let prediction = learner.guess(row(&x)).unwrap();
                if learner.update(row(&x), prediction, truth).unwrap() {
                    let mistake = prediction.is_wrong(truth);
                    *if mistake { &mut mistakes } else { &mut others } += 1.0;
                    updated.push((x, truth.as_f64()));
                }
            }
            assert_eq!(learner.updates() as f64, mistakes + others);
            for size in [0.05, 0.1, 0.3, 1.0, 2.0] {
                let u = [size, -size, size];
                let value = |x: &[f64; 3]| x.iter().zip(u).map(|(x, u)| x * u).sum::<f64>();
                let squares: f64 = updated.iter().map(|(x, _)| value(x).powi(2)).sum();
                let sum = |j: usize| updated.iter().map(|(x, _)| x[j] * x[j]).sum::<f64>();
                let volume: f64 = (0..3).map(|j| (1.0 + sum(j) / r).ln()).sum();
                let losses: f64 = updated.iter().map(|(x, y)| (1.0 - y * value(x)).max(0.0)).sum();
                let root = (r * 3.0 * size * size + squares).sqrt() * (volume + others).sqrt();
                assert!(mistakes <= root + losses - others, "{r} {noise} {size}");
            }
        }
    }

    /// The unit of the points does not matter if r is a multiple of their squared norm.
    #[test]
    fn scaling_points_and_r_changes_no_value() {
        let of = |unit: f64| {
            let mut learner = Arow::new(2, 0.7 * unit * unit).unwrap();
            let x = |t: usize| [unit * (t as f64).sin(), unit * (t as f64 * 1.7).cos()];
            for t in 0..60 {
                learner.observe(row(&x(t)), Label::from_sign(x(t)[0] + x(t)[1])).unwrap();
            }
            learner.decision_value(row(&x(77))).unwrap()
        };
        assert!((of(1.0) - of(1024.0)).abs() < 1e-12);
        assert!(of(1.0).abs() > 0.1);
    }

    /// Compares two updates along the same axis with values computed by hand.
    #[test]
    fn steps_worked_by_hand() {
        let mut learner = Arow::new(1, 4.0).unwrap();
        learner.observe(row(&[2.0]), Label::Negative).unwrap();
        // β = 1/8, w = -2/8, s = 1 - 4/8.
        assert_eq!((learner.weights()[0], learner.variances()[0]), (-0.25, 0.5));
        learner.observe(row(&[2.0]), Label::Negative).unwrap();
        // ℓ = 0.5, β = 1/6, w -= 0.5/6, s -= 1/6.
        assert!((learner.weights()[0] + 1.0 / 3.0).abs() < 1e-15);
        assert!((learner.variances()[0] - 1.0 / 3.0).abs() < 1e-15);
        // A loss of 0 changes nothing.
        assert!(
            !learner.update(row(&[4.0]), Prediction::from_value(-1.0), Label::Negative).unwrap()
        );
        assert_eq!(learner.updates(), 2);
    }

    #[test]
    fn bad_input_is_typed() {
        for r in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Arow::new(1, r).is_err());
        }
        assert!(Arow::new(0, 1.0).is_err());
        let mut learner = Arow::new(1, 1.0).unwrap();
        let huge = learner.observe(row(&[1e200]), Label::Negative);
        assert_eq!(huge, Err(InputError::Overflow { row: 0 }));
        assert_eq!((learner.updates(), learner.weights()), (0, &[0.0][..]));
        assert!(learner.observe(row(&[1.0, 2.0]), Label::Negative).is_err());
    }
}
