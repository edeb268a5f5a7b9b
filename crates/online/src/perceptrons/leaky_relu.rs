//! Online descent on rescaled LeakyReLU losses under Massart noise.

use super::massart::MassartSetting;
use super::weights::{Weights, linear_classifier};
use crate::bounds::leaky_relu_accuracy;
use crate::protocol::{OnlineLearner, Prediction};
use halfspaces_linalg::{InputError, Label, RowView, norm};

/// Online descent on rescaled LeakyReLU losses under Massart noise, after DKTZ24. This learner is the baseline for
/// [`OnlineMassart`](crate::OnlineMassart).
///
/// In round t the loss of w is LeakyReLU_λ(-y (w · x))/max(|w_t · x|, Δ), that is (1{wrong} - λ)|w · x| divided by the
/// same denominator, with λ = η + ε and Δ = εγ/(1-λ). The learner starts with w = 0. In every round, with or without a
/// mistake, it takes a gradient step of size Δ/((1-λ)√T) and projects w onto the unit ball. Without the denominator the
/// losses would not account for mistakes near the boundary.
///
/// *Guarantee.* Let a unit w* have |w* · x| >= γ on every point. Let each label be sign(w* · x), flipped with a
/// probability η(x) <= η; given the point, the flip is independent of the past. An adversary that knows the whole past
/// may choose the points and η(x). Over T rounds E\[mistakes\] <= ηT + εT + (1-λ)²√T/(εγ)
/// ([`crate::bounds::leaky_relu_excess`]). With the ε of [`crate::bounds::leaky_relu_accuracy`], this bound is at most
/// ηT + 2(1-η) T^¾/√γ if ε is below ½ - η.
///
/// *Proof.* Let p be the probability of a mistake given the past and the point, and m = max(|w_t · x|, Δ). The mean
/// loss of w* is (η(x) - λ)|w* · x|/m <= -εγ/m <= 0. If |w_t · x| >= Δ, the mean loss of w_t is p - λ. Otherwise, the
/// mean loss of w_t is (p - λ)r with r = |w_t · x|/Δ, and that of w* is at most -εγ/Δ = -(1-λ) <= -(p - λ)(1 - r). In
/// both cases the mean loss of w_t exceeds that of w* by at least p - λ. The losses are convex (λ <= ½) with gradients
/// of norm at most G = (1-λ)/Δ, so projected descent with step 1/(G√T) has a regret of at most G√T against a unit
/// vector. ∎
///
/// *Cost.* O(d) memory; O(d) time per point.
///
/// *When to use it.* As a baseline. Its bound is weaker than that of [`OnlineMassart`](crate::OnlineMassart) (T^¾/√γ
/// instead of √T/γ), and the learner must know T. On the streams of claim P9 this learner nevertheless makes fewer
/// mistakes. For small T, λ is nearly ½, so correct predictions change w almost as much as wrong ones.
///
/// *Source.* DKTZ24, whose text was not available to us. Its authors describe the learner as online gradient descent on
/// the LeakyReLU loss divided by the margin at w_t, with a mistake bound of ηT + o(T). The threshold Δ, ε, the step,
/// the bound with its constants and the proof are ours. Claims: P9r.
///
/// ```
/// use halfspaces_linalg::{DenseRow, Label};
/// use halfspaces_online::{MassartSetting, OnlineLeakyRelu, OnlineLearner};
/// // η = 1/4, γ = 1/4, T = 256: ε = 1/4, λ = 1/2, Δ = 1/8; the step is 1/64, and a mistake has slope (1 - λ)/Δ = 4.
/// let setting = MassartSetting { noise: 0.25, margin: 0.25 };
/// let mut learner = OnlineLeakyRelu::new(1, setting, 256)?;
/// learner.observe(DenseRow::new(&[1.0])?, Label::Negative)?;
/// assert_eq!(learner.weights(), [-1.0 / 16.0]);
/// // At a correct prediction with |w · x| = 1/16 < Δ, the slope is -λ/Δ = -4.
/// learner.observe(DenseRow::new(&[1.0])?, Label::Negative)?;
/// assert_eq!(learner.weights(), [-1.0 / 8.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct OnlineLeakyRelu {
    weights: Weights,
    setting: MassartSetting,
    /// T, the planned number of rounds.
    horizon: u64,
    /// Number of rounds played.
    rounds: u64,
}

linear_classifier!(OnlineLeakyRelu);

impl OnlineLeakyRelu {
    /// Starts with w = 0 in R^`dim` and plans for T = `rounds` rounds.
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`]; [`InputError::ParameterOutOfRange`] for a noise rate, a margin or a number of
    /// rounds out of range.
    pub fn new(dim: usize, setting: MassartSetting, rounds: u64) -> Result<Self, InputError> {
        let setting = setting.check()?;
        InputError::check_parameter("rounds", rounds as f64, rounds > 0, "at least 1")?;
        Ok(OnlineLeakyRelu { weights: Weights::zero(dim)?, setting, horizon: rounds, rounds: 0 })
    }
}

impl OnlineLearner for OnlineLeakyRelu {
    /// # Errors
    /// In addition to the errors of the trait, [`InputError::OutsideBall`] for a point outside the unit ball, where the
    /// guarantee does not hold.
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
        let MassartSetting { noise, margin } = self.setting;
        let rounds = self.horizon as f64;
        let accuracy = leaky_relu_accuracy(rounds, noise, margin);
        let leak = noise + accuracy;
        let least = accuracy * margin / (1.0 - leak);
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

    /// η = ¼, γ = ¼, T = 256, as in the example. If |w · x| is above Δ = 1/8, the step of 1/64 is divided by |w · x|.
    #[test]
    fn steps_by_hand() {
        let mut learner =
            OnlineLeakyRelu::new(2, MassartSetting { noise: 0.25, margin: 0.25 }, 256).unwrap();
        learner.weights.as_mut_slice()[0] = 0.5;
        let x = DenseRow::new(&[1.0, 0.0]).unwrap();
        learner.observe(x, Label::Positive).unwrap();
        assert_eq!(learner.weights(), [0.5 + 1.0 / 64.0, 0.0]);
        learner.weights.as_mut_slice()[0] = 0.5;
        learner.observe(x, Label::Negative).unwrap();
        assert_eq!(learner.weights(), [0.5 - 1.0 / 64.0, 0.0]);
        assert_eq!(learner.updates(), 2);
        // A case in which λ differs from 1 - λ: η = 0, γ = 1 and T = 4096 give ε = λ = 1/8 and Δ = 1/7.
        let mut learner =
            OnlineLeakyRelu::new(2, MassartSetting { noise: 0.0, margin: 1.0 }, 4096).unwrap();
        let step = (1.0 / 7.0) / (0.875 * 64.0);
        learner.weights.as_mut_slice()[0] = 0.5;
        learner.observe(x, Label::Positive).unwrap();
        assert!((learner.weights()[0] - (0.5 + step * 0.125 / 0.5)).abs() < 1e-15);
        learner.weights.as_mut_slice()[0] = 0.5;
        learner.observe(x, Label::Negative).unwrap();
        assert!((learner.weights()[0] - (0.5 - step * 0.875 / 0.5)).abs() < 1e-15);
        // The step is divided by Δ if |w · x| is below Δ, and by |w · x| if it is just above Δ.
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
            assert!(OnlineLeakyRelu::new(1, MassartSetting { noise, margin }, rounds).is_err());
        }
        assert!(OnlineLeakyRelu::new(0, MassartSetting { noise: 0.1, margin: 0.5 }, 9).is_err());
        let mut learner =
            OnlineLeakyRelu::new(1, MassartSetting { noise: 0.1, margin: 0.5 }, 9).unwrap();
        let far = DenseRow::new(&[1.5]).unwrap();
        assert!(learner.observe(far, Label::Positive).is_err());
        assert_eq!(learner.updates(), 0);
    }
}
