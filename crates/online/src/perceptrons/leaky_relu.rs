//! Online descent on rescaled LeakyReLU losses under Massart noise.

use super::weights::{Weights, linear_classifier};
use crate::bounds::leaky_relu_accuracy;
use crate::protocol::{OnlineLearner, Prediction};
use halfspaces_linalg::{InputError, Label, RowView, load_checked, norm};

/// Online descent on rescaled LeakyReLU losses under Massart noise, after DKTZ24: a rival of
/// [`OnlineMassart`](crate::OnlineMassart).
///
/// In round t the loss of w is LeakyReLU_λ(-y (w · x))/max(|w_t · x|, Δ), that is (1{wrong} - λ)|w · x| over the same, with
/// λ = η + ε and Δ = εγ/(1-λ). Every round, mistake or not, w makes a step of Δ/((1-λ)√T) down the loss, from 0, and
/// is projected onto the unit ball. Without the division the losses do not see mistakes near the boundary.
///
/// *Guarantee.* Let a unit w* have |w* · x| >= γ on every point, and let each label be sign(w* · x) flipped,
/// freshly given the past and the point, with probability η(x) <= η; points and η(x) may be chosen by an adversary that knows the
/// whole past. Over T rounds E\[mistakes\] <= ηT + εT + (1-λ)²√T/(εγ) ([`crate::bounds::leaky_relu_excess`]); with ε of
/// [`crate::bounds::leaky_relu_accuracy`] at most ηT + 2(1-η) T^¾/√γ once that is below ½ - η.
///
/// *Proof.* Let p be the probability of a mistake given the past and the point, m = max(|w_t · x|, Δ). The mean loss of w* is
/// (η(x) - λ)|w* · x|/m <= -εγ/m <= 0. If |w_t · x| >= Δ, that of w_t is p - λ. If not, it is (p - λ)r with r = |w_t · x|/Δ, and that of w*
/// at most -εγ/Δ = -(1-λ) <= -(p - λ)(1 - r). Either way w_t has at least p - λ more. Convex losses (λ <= ½) with gradients of norm at most
/// G = (1-λ)/Δ have a regret of at most G√T against a unit vector by projected descent with step 1/(G√T). ∎
///
/// *Cost.* O(d) memory; O(d) time per point.
///
/// *When to use it.* Its bound is weaker than that of [`OnlineMassart`](crate::OnlineMassart), T^¾/√γ where that has √T/γ, and it has to know T.
/// On the streams of claim P9 it makes fewer mistakes all the same; its λ of nearly ½ for small T lets it learn from right predictions as
/// from wrong ones.
///
/// *Source.* DKTZ24, whose text was not at hand: its authors say that the learner is online gradient descent on the LeakyReLU loss
/// over the margin at w_t, with a mistake bound of ηT + o(T). The threshold Δ, ε, the step, the bound with its constants and the proof
/// are ours. Claims: P9r.
///
/// ```
/// use halfspaces_linalg::{DenseRow, Label};
/// use halfspaces_online::{OnlineLeakyRelu, OnlineLearner};
/// // η = 1/4, γ = 1/4, T = 256: ε = 1/4, λ = 1/2, Δ = 1/8; the step is 1/64, the slope of a mistake (1 - λ)/Δ = 4.
/// let mut learner = OnlineLeakyRelu::new(1, 0.25, 0.25, 256)?;
/// learner.observe(DenseRow::new(&[1.0])?, Label::Negative)?;
/// assert_eq!(learner.weights(), [-1.0 / 16.0]);
/// // Right, at |w · x| = 1/16 < Δ: the slope is -λ/Δ = -4.
/// learner.observe(DenseRow::new(&[1.0])?, Label::Negative)?;
/// assert_eq!(learner.weights(), [-1.0 / 8.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct OnlineLeakyRelu {
    weights: Weights,
    noise: f64,
    margin: f64,
    /// T.
    horizon: u64,
    /// Rounds played.
    rounds: u64,
}

load_checked!(OnlineLeakyRelu {
    weights: Weights,
    noise: f64,
    margin: f64,
    horizon: u64,
    #[serde(deserialize_with = "crate::saved::count")]
    rounds: u64,
});

#[cfg(feature = "serde")]
impl OnlineLeakyRelu {
    /// The parameters are those of a learner, and w lies in the ball.
    fn check_saved(&self) -> Result<(), InputError> {
        let OnlineLeakyRelu { weights, noise, margin, horizon, .. } = self;
        OnlineLeakyRelu::new(weights.dim(), *noise, *margin, *horizon)?;
        let in_ball = norm(weights.as_slice()) <= 1.0 + halfspaces_linalg::tolerance::UNIT_NORM;
        InputError::check_state(in_ball, "the weights lie in the unit ball")
    }
}

linear_classifier!(OnlineLeakyRelu);

impl OnlineLeakyRelu {
    /// Starts with w = 0 in R^`dim`, for `rounds` rounds, flips of probability at most `noise` η in [0, 1/2) and a
    /// margin of at least `margin` γ in (0, 1].
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`], [`InputError::ParameterOutOfRange`].
    pub fn new(dim: usize, noise: f64, margin: f64, rounds: u64) -> Result<Self, InputError> {
        let in_range = (0.0..0.5).contains(&noise);
        InputError::check_parameter("noise", noise, in_range, "at least 0 and below 1/2")?;
        let in_range = margin > 0.0 && margin <= 1.0;
        InputError::check_parameter("margin", margin, in_range, "above 0 and at most 1")?;
        InputError::check_parameter("rounds", rounds as f64, rounds > 0, "at least 1")?;
        let weights = Weights::zero(dim)?;
        Ok(OnlineLeakyRelu { weights, noise, margin, horizon: rounds, rounds: 0 })
    }
}

impl OnlineLearner for OnlineLeakyRelu {
    /// # Errors
    /// Besides the usual ones, [`InputError::OutsideBall`] for a point outside the unit
    /// ball, where the guarantee is void.
    fn guess<R: RowView>(&self, x: R) -> Result<Prediction, InputError> {
        InputError::check_in_ball(x.norm_sq())?;
        self.weights.value(x).map(Prediction::from_value)
    }

    fn update<R: RowView>(
        &mut self,
        x: R,
        prediction: Prediction,
        truth: Label,
    ) -> Result<bool, InputError> {
        self.weights.check(x)?;
        let rounds = self.horizon as f64;
        let accuracy = leaky_relu_accuracy(rounds, self.noise, self.margin);
        let leak = self.noise + accuracy;
        let least = accuracy * self.margin / (1.0 - leak);
        let step = least / ((1.0 - leak) * rounds.sqrt());
        let slope = if prediction.is_wrong(truth) { 1.0 - leak } else { leak };
        let size = prediction.value.abs().max(least);
        self.weights.add(step * slope / size * truth.as_f64(), x);
        let length = norm(self.weights.as_slice());
        if length > 1.0 {
            self.weights.scale(1.0 / length);
        }
        self.rounds += 1;
        Ok(true)
    }

    /// Every round is an update.
    fn updates(&self) -> u64 {
        self.rounds
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_linalg::DenseRow;

    /// η = ¼, γ = ¼, T = 256, as in the example: beyond Δ = 1/8 a step of 1/64 is divided by |w · x|.
    #[test]
    fn steps_by_hand() {
        let mut learner = OnlineLeakyRelu::new(2, 0.25, 0.25, 256).unwrap();
        learner.weights.as_mut_slice()[0] = 0.5;
        let x = DenseRow::new(&[1.0, 0.0]).unwrap();
        learner.observe(x, Label::Positive).unwrap();
        assert_eq!(learner.weights(), [0.5 + 1.0 / 64.0, 0.0]);
        learner.weights.as_mut_slice()[0] = 0.5;
        learner.observe(x, Label::Negative).unwrap();
        assert_eq!(learner.weights(), [0.5 - 1.0 / 64.0, 0.0]);
        assert_eq!(learner.updates(), 2);
        // λ differs from 1 - λ: η = 0, γ = 1, T = 4096 give ε = λ = 1/8, Δ = 1/7.
        let mut learner = OnlineLeakyRelu::new(2, 0.0, 1.0, 4096).unwrap();
        let step = (1.0 / 7.0) / (0.875 * 64.0);
        learner.weights.as_mut_slice()[0] = 0.5;
        learner.observe(x, Label::Positive).unwrap();
        assert!((learner.weights()[0] - (0.5 + step * 0.125 / 0.5)).abs() < 1e-15);
        learner.weights.as_mut_slice()[0] = 0.5;
        learner.observe(x, Label::Negative).unwrap();
        assert!((learner.weights()[0] - (0.5 - step * 0.875 / 0.5)).abs() < 1e-15);
        // Nearer than Δ and just beyond it: divided by Δ, and by |w · x|.
        for (value, divisor) in [(1.0 / 14.0, 1.0 / 7.0), (0.15, 0.15)] {
            learner.weights.as_mut_slice()[0] = value;
            learner.observe(x, Label::Negative).unwrap();
            assert!((learner.weights()[0] - (value - step * 0.875 / divisor)).abs() < 1e-15);
        }
        learner.weights.as_mut_slice()[0] = 1.0 - 1e-9;
        learner.observe(x, Label::Positive).unwrap();
        assert!((norm(learner.weights()) - 1.0).abs() < 1e-15, "projected");
    }

    #[test]
    fn bad_input_is_typed() {
        for (noise, margin, rounds) in [
            (-0.1, 0.5, 9),
            (0.5, 0.5, 9),
            (0.1, 0.0, 9),
            (0.1, 1.5, 9),
            (f64::NAN, 0.5, 9),
            (0.1, 0.5, 0),
        ] {
            assert!(OnlineLeakyRelu::new(1, noise, margin, rounds).is_err());
        }
        assert!(OnlineLeakyRelu::new(0, 0.1, 0.5, 9).is_err());
        let mut learner = OnlineLeakyRelu::new(1, 0.1, 0.5, 9).unwrap();
        let far = DenseRow::new(&[1.5]).unwrap();
        assert!(learner.observe(far, Label::Positive).is_err());
        assert_eq!(learner.updates(), 0);
    }

    #[cfg(feature = "serde")]
    #[test]
    fn saved_learners_are_checked() {
        let learner = OnlineLeakyRelu::new(1, 0.1, 0.5, 9).unwrap();
        let text = serde_json::to_string(&learner).unwrap();
        assert_eq!(serde_json::from_str::<OnlineLeakyRelu>(&text).unwrap(), learner);
        for (from, to) in [("9", "0"), ("0.1", "0.5"), ("0.5", "1.5"), ("[0.0]", "[1.5]")] {
            let broken = text.replacen(from, to, 1);
            assert_ne!(broken, text);
            assert!(serde_json::from_str::<OnlineLeakyRelu>(&broken).is_err(), "{broken}");
        }
    }
}
