//! Online learning under Massart noise.

use super::weights::{Weights, linear_classifier};
use crate::protocol::{OnlineLearner, Prediction};
use halfspaces_linalg::{InputError, Label, RowView, load_checked};

/// The noise rate and the margin that a learner under Massart noise assumes.
///
/// ```
/// use halfspaces_online::{Horizon, MassartSetting, OnlineMassart};
/// let setting = MassartSetting { noise: 0.1, margin: 0.2 };
/// assert!(OnlineMassart::new(3, setting, Horizon::Doubling).is_ok());
/// let coin = MassartSetting { noise: 0.5, ..setting };
/// assert!(OnlineMassart::new(3, coin, Horizon::Doubling).is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct MassartSetting {
    /// η in [0, 1/2): the largest probability that a label is flipped.
    pub noise: f64,
    /// γ in (0, 1]: the smallest |w* · x| for a unit w* that gives the labels before they are flipped.
    pub margin: f64,
}

impl MassartSetting {
    pub(super) fn check(self) -> Result<Self, InputError> {
        let MassartSetting { noise, margin } = self;
        let in_range = (0.0..0.5).contains(&noise);
        InputError::check_parameter("noise", noise, in_range, "at least 0 and below 1/2")?;
        let in_range = margin > 0.0 && margin <= 1.0;
        InputError::check_parameter("margin", margin, in_range, "above 0 and at most 1")?;
        Ok(self)
    }
}

/// The number of rounds that the learner plans for.
///
/// ```
/// use halfspaces_online::{Horizon, MassartSetting, OnlineMassart};
/// let setting = MassartSetting { noise: 0.1, margin: 0.2 };
/// assert!(OnlineMassart::new(3, setting, Horizon::Known(1000)).is_ok());
/// assert!(OnlineMassart::new(3, setting, Horizon::Anytime).is_ok());
/// assert!(OnlineMassart::new(3, setting, Horizon::Known(0)).is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Horizon {
    /// The number of rounds T is known in advance.
    Known(u64),
    /// T is unknown. The learner restarts from w = 0 after epochs of 1, 2, 4, ... rounds.
    Doubling,
    /// T is unknown. w_t is -λ_t times the sum of all gradients so far, with λ_t = γ/(2(1-η)√(2t)). The learner never
    /// restarts.
    Anytime,
}

/// Online learning under Massart noise.
///
/// In every round, with or without a mistake, the learner sets w -= λ (β sign(w · x) - y)/(|w · x| + γ) x with β = 1 -
/// 2η. The points must have ‖x‖ <= 1.
///
/// *Guarantee.* Let a unit w* have |w* · x| >= γ on every point. Let each label be sign(w* · x), flipped with a
/// probability η(x) <= η; given the point, the flip is independent of the past. An adversary that knows the whole past
/// may choose the points and η(x). With λ = γ/(2(1-η)√T), over T rounds, E\[mistakes\] <= ηT + (1-η)√T/γ
/// ([`crate::bounds::massart_excess`]). If T is unknown, the excess (1-η)√T/γ is multiplied by √2/(√2-1) = 3.42 with
/// restarts in epochs of 1, 2, 4, ... rounds ([`Horizon::Doubling`]), and by √2 with decreasing steps
/// ([`Horizon::Anytime`]). With probability 1 - δ, Σ P\[mistake | past\] exceeds the bound on its mean by at most √(T
/// ln(1/δ)/2)/γ.
///
/// *Cost.* O(d) memory; O(d) time per point.
///
/// *When to use it.* For online learning with labels that are flipped with a probability of at most η < 1/2, which may
/// differ from point to point. If the examples are i.i.d. and you need a hypothesis rather than few mistakes, the
/// learners of `halfspaces-pac` have stronger guarantees. [`OnlineLearner::guess`] rejects points outside the unit
/// ball.
///
/// *Source.* Ours, from CKST24 Lemma 2, which holds for every w and every single x: E_y[(β sign(w·x) - y)
/// x/(|w·x|+γ)]·(w - w*) >= 2(P[sign(w·x) != y | x] - η). Summing ‖w' - w*‖² = ‖w - w*‖² - 2λ g·(w - w*) + λ²‖g‖² with
/// ‖g‖ <= 2(1-η)/γ gives Σ (P\[mistake | past\] - η) <= 1/(4λ) + λT(1-η)²/γ². Claims: P9, P9h, S6.
///
/// ```
/// use halfspaces_linalg::{DenseRow, Label};
/// use halfspaces_online::{Horizon, MassartSetting, OnlineLearner, OnlineMassart};
/// // η = 1/4, γ = 1/2, T = 4: λ = γ/(2(1-η)√T) = 1/6.
/// let setting = MassartSetting { noise: 0.25, margin: 0.5 };
/// let mut learner = OnlineMassart::new(1, setting, Horizon::Known(4))?;
/// learner.observe(DenseRow::new(&[1.0])?, Label::Negative)?;
/// // w = 0 predicts +1, so the step is λ times (β + 1)/γ = 3.
/// assert!((learner.weights()[0] + 0.5).abs() < 1e-15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct OnlineMassart {
    weights: Weights,
    setting: MassartSetting,
    horizon: Horizon,
    /// Number of rounds played.
    rounds: u64,
}

load_checked!(OnlineMassart {
    weights: Weights,
    setting: MassartSetting,
    horizon: Horizon,
    #[serde(deserialize_with = "crate::saved::count")]
    rounds: u64,
});

#[cfg(feature = "serde")]
impl OnlineMassart {
    /// Rejects a saved state that no run can reach.
    fn check_saved(&self) -> Result<(), InputError> {
        OnlineMassart::new(self.weights.dim(), self.setting, self.horizon).map(|_| ())
    }
}

linear_classifier!(OnlineMassart);

impl OnlineMassart {
    /// Starts with w = 0 in R^`dim`.
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`]; [`InputError::ParameterOutOfRange`] for a noise rate, a margin or a number of
    /// rounds out of range.
    pub fn new(dim: usize, setting: MassartSetting, horizon: Horizon) -> Result<Self, InputError> {
        let setting = setting.check()?;
        if let Horizon::Known(rounds) = horizon {
            InputError::check_parameter("rounds", rounds as f64, rounds > 0, "at least 1")?;
        }
        Ok(OnlineMassart { weights: Weights::zero(dim)?, setting, horizon, rounds: 0 })
    }

    /// The step size λ = γ/(2(1-η)√T), where T is the number of rounds of the current epoch. With [`Horizon::Anytime`],
    /// it is the step size of the next round.
    fn step(&self) -> f64 {
        let length = match self.horizon {
            Horizon::Known(rounds) => rounds,
            // Epoch j covers rounds 2^j - 1 up to 2^(j+1) - 2, counted from 0.
            Horizon::Doubling => 1 << (self.rounds + 1).ilog2(),
            // Round t = rounds + 1 sets w_{t+1}.
            Horizon::Anytime => 2 * (self.rounds + 2),
        };
        self.setting.margin / (2.0 * (1.0 - self.setting.noise) * (length as f64).sqrt())
    }
}

impl OnlineLearner for OnlineMassart {
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
        let beta = 1.0 - 2.0 * self.setting.noise;
        let numerator = beta * prediction.label.as_f64() - truth.as_f64();
        let step = self.step() * numerator / (prediction.value.abs() + self.setting.margin);
        if self.horizon == Horizon::Anytime {
            // Multiply the weights by λ_{t+1}/λ_t.
            let round = (self.rounds + 1) as f64;
            self.weights.scale((round / (round + 1.0)).sqrt());
        }
        self.weights.add(-step, x);
        self.rounds += 1;
        if self.horizon == Horizon::Doubling && (self.rounds + 1).is_power_of_two() {
            self.weights.scale(0.0);
        }
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

    #[test]
    fn epochs_double_and_start_afresh() {
        let mut learner =
            OnlineMassart::new(1, MassartSetting { noise: 0.1, margin: 0.5 }, Horizon::Doubling)
                .unwrap();
        let x = DenseRow::new(&[0.7]).unwrap();
        let mut fresh = Vec::new();
        for round in 0..20 {
            if learner.weights() == [0.0] {
                fresh.push(round);
            }
            learner.observe(x, Label::Negative).unwrap();
        }
        assert_eq!(fresh, [0, 1, 3, 7, 15]);
    }

    #[test]
    fn steps_follow_the_epoch() {
        let mut learner =
            OnlineMassart::new(1, MassartSetting { noise: 0.0, margin: 1.0 }, Horizon::Doubling)
                .unwrap();
        for (rounds, length) in [(0, 1.0), (1, 2.0), (2, 2.0), (3, 4.0), (6, 4.0), (7, 8.0)] {
            learner.rounds = rounds;
            assert_eq!(learner.step(), 0.5 / f64::sqrt(length));
        }
    }

    /// Compares the weights with the sum of the gradients, which is computed separately.
    #[test]
    fn any_horizon_scales_the_sum_of_all_gradients() {
        let (noise, margin) = (0.1, 0.3);
        let mut learner =
            OnlineMassart::new(1, MassartSetting { noise, margin }, Horizon::Anytime).unwrap();
        let mut sum = 0.0;
        for t in 1..50u32 {
            let (x, y) = (0.3 + f64::from(t % 7) / 10.0, if t % 3 == 0 { -1.0 } else { 1.0 });
            let lambda = margin / (2.0 * (1.0 - noise) * f64::from(2 * t).sqrt());
            assert!((learner.weights()[0] + lambda * sum).abs() < 1e-12);
            let value = -lambda * sum * x;
            let sign = if value >= 0.0 { 1.0 } else { -1.0 };
            sum += ((1.0 - 2.0 * noise) * sign - y) * x / (value.abs() + margin);
            learner.observe(DenseRow::new(&[x]).unwrap(), Label::from_sign(y)).unwrap();
        }
    }

    #[test]
    fn bad_input_is_typed() {
        for (noise, margin) in [(-0.1, 0.5), (0.5, 0.5), (0.1, 0.0), (0.1, 1.5), (f64::NAN, 0.5)] {
            assert!(
                OnlineMassart::new(1, MassartSetting { noise, margin }, Horizon::Doubling).is_err()
            );
        }
        assert!(
            OnlineMassart::new(1, MassartSetting { noise: 0.1, margin: 0.5 }, Horizon::Known(0))
                .is_err()
        );
        assert!(
            OnlineMassart::new(0, MassartSetting { noise: 0.1, margin: 0.5 }, Horizon::Known(9))
                .is_err()
        );
        let mut learner =
            OnlineMassart::new(1, MassartSetting { noise: 0.1, margin: 0.5 }, Horizon::Known(9))
                .unwrap();
        let far = DenseRow::new(&[1.5]).unwrap();
        assert!(learner.observe(far, Label::Positive).is_err());
        assert_eq!(learner.updates(), 0);
    }
}
