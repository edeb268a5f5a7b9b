//! The noise rate, the margin, the excess and the failure probability: the inputs of every theorem in this crate.

use halfspaces_linalg::InputError;

/// The four numbers of a theorem about noisy halfspaces. If labels are flipped with probabilities of at most η and
/// points have a margin of at least γ, the error is at most η + ε with probability at least 1 - δ.
///
/// A setting can be converted into the parameters of every learner that takes all four numbers, so one setting can
/// serve several learners.
///
/// ```
/// use halfspaces_linalg::Params;
/// use halfspaces_pac::{NoiseSetting, PerspectronParams};
/// let setting = NoiseSetting { excess: 0.2, ..NoiseSetting::new(0.1, 0.3) };
/// assert_eq!((setting.noise, setting.margin, setting.failure), (0.1, 0.3, 0.05));
/// assert!(PerspectronParams::from(setting).check().is_ok());
/// assert_eq!(
///     NoiseSetting::new(0.5, 0.3).check().unwrap_err().to_string(),
///     "noise = 0.5 is out of range; it must be at least 0 and below 1/2"
/// );
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NoiseSetting {
    /// The noise rate η: an upper bound on the probability that a label is flipped, in [0, 1/2).
    pub noise: f64,
    /// The margin γ: every point has |w* · x| >= γ for a unit vector w*. For points in the unit ball, γ is in (0, 1].
    pub margin: f64,
    /// The excess ε in (0, 1): the target is an error of at most η + ε.
    pub excess: f64,
    /// The failure probability δ in (0, 1): an upper bound on the probability that the error is larger than η + ε.
    pub failure: f64,
}

impl NoiseSetting {
    /// The default ε.
    pub const DEFAULT_EXCESS: f64 = 0.1;

    /// The default δ.
    pub const DEFAULT_FAILURE: f64 = 0.05;

    /// Creates the setting with the given η and γ, and with the defaults ε = 0.1 and δ = 0.05.
    #[must_use]
    pub fn new(noise: f64, margin: f64) -> NoiseSetting {
        let (excess, failure) = (Self::DEFAULT_EXCESS, Self::DEFAULT_FAILURE);
        NoiseSetting { noise, margin, excess, failure }
    }

    /// Checks the four numbers, for points in the unit ball.
    ///
    /// # Errors
    /// [`InputError::ParameterOutOfRange`] for η outside [0, 1/2), ε or δ outside (0, 1), or γ outside
    /// [1e-150, 1].
    pub fn check(&self) -> Result<(), InputError> {
        self.check_in_radius(1.0)
    }

    /// Checks the four numbers, for points in the ball of the given radius.
    pub(crate) fn check_in_radius(&self, radius: f64) -> Result<(), InputError> {
        check_noise(self.noise)?;
        check_target(self.excess, self.failure)?;
        check_margin(self.margin, radius)
    }

    /// The leak λ = η + ε of the loss that DGT19 and CKMY20 minimise.
    #[must_use]
    pub fn leak(&self) -> f64 {
        self.noise + self.excess
    }

    /// Checks the four numbers and that λ = η + ε is below 1/2. For larger λ the loss LeakyReLU_λ is not convex, and
    /// random guessing already has an error of at most η + ε.
    ///
    /// # Errors
    /// [`InputError::ParameterOutOfRange`].
    pub fn check_with_leak(&self) -> Result<(), InputError> {
        self.check()?;
        let leak = self.leak();
        InputError::check_parameter("noise + excess", leak, leak < 0.5, "below 1/2")
    }
}

/// Checks that η is in [0, 1/2).
pub(crate) fn check_noise(noise: f64) -> Result<(), InputError> {
    let in_range = (0.0..0.5).contains(&noise);
    InputError::check_parameter("noise", noise, in_range, "at least 0 and below 1/2")
}

/// Checks that ε and δ are in (0, 1).
pub(crate) fn check_target(excess: f64, failure: f64) -> Result<(), InputError> {
    for (name, value) in [("excess", excess), ("failure", failure)] {
        let in_range = value > 0.0 && value < 1.0;
        InputError::check_parameter(name, value, in_range, "above 0 and below 1")?;
    }
    Ok(())
}

/// Checks that γ is in (0, R], where R is the radius, and that (γ/R)² does not underflow.
pub(crate) fn check_margin(margin: f64, radius: f64) -> Result<(), InputError> {
    let in_range = margin > 0.0 && margin <= radius;
    InputError::check_parameter("margin", margin, in_range, "above 0 and at most the radius")?;
    let share = margin / radius;
    let requirement = "at least 1e-150";
    InputError::check_parameter("margin / radius", share, share >= 1e-150, requirement)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_settings_are_typed() {
        let good = NoiseSetting { noise: 0.0, margin: 1.0, excess: 0.49, failure: 0.01 };
        assert_eq!(good.check_with_leak(), Ok(()));
        let bad = [
            NoiseSetting { noise: -0.1, ..good },
            NoiseSetting { noise: 0.5, ..good },
            NoiseSetting { noise: f64::NAN, ..good },
            NoiseSetting { margin: 0.0, ..good },
            NoiseSetting { margin: 1.1, ..good },
            NoiseSetting { margin: 1e-151, ..good },
            NoiseSetting { margin: f64::NAN, ..good },
            NoiseSetting { excess: 0.0, ..good },
            NoiseSetting { excess: 1.0, ..good },
            NoiseSetting { failure: 0.0, ..good },
            NoiseSetting { failure: 1.0, ..good },
        ];
        for setting in bad {
            assert!(matches!(setting.check(), Err(InputError::ParameterOutOfRange { .. })));
        }
        let leaky = NoiseSetting { noise: 0.25, excess: 0.25, ..good };
        assert_eq!(leaky.check(), Ok(()));
        assert!(leaky.check_with_leak().is_err());
        assert_eq!(NoiseSetting { margin: 2.0, ..good }.check_in_radius(2.0), Ok(()));
    }
}
