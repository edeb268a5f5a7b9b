//! Noise, margin and accuracy: what the baselines are told, checked once.

use halfspaces_linalg::InputError;

/// Steps at which a baseline stops unless told otherwise, whatever its theorem asks for.
pub const BASELINE_MAX_STEPS: u64 = 100_000;

/// Flips of probability at most η < 1/2, a margin γ in (0, 1], an accuracy ε in (0, 1).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Problem {
    pub(crate) noise: f64,
    pub(crate) margin: f64,
    pub(crate) accuracy: f64,
}

impl Problem {
    pub(crate) fn check(&self) -> Result<(), InputError> {
        let Problem { noise, margin, accuracy } = *self;
        let in_range = (0.0..0.5).contains(&noise);
        InputError::check_parameter("noise", noise, in_range, "at least 0 and below 1/2")?;
        let in_range = margin > 0.0 && margin <= 1.0;
        InputError::check_parameter("margin", margin, in_range, "above 0 and at most 1")?;
        let in_range = accuracy > 0.0 && accuracy < 1.0;
        InputError::check_parameter("accuracy", accuracy, in_range, "above 0 and below 1")
    }

    /// [`Problem::check`], and λ = η + ε below 1/2: at 1/2 LeakyReLU_λ stops being convex, and
    /// chance reaches the error.
    pub(crate) fn check_with_leak(&self) -> Result<(), InputError> {
        self.check()?;
        let leak = leak(self.noise, self.accuracy);
        InputError::check_parameter("noise + accuracy", leak, leak < 0.5, "below 1/2")
    }
}

/// λ = η + ε, the leak of DGT19 and CKMY20.
#[must_use]
pub(crate) fn leak(noise: f64, accuracy: f64) -> f64 {
    noise + accuracy
}

/// A cap on steps is at least 1.
pub(crate) fn check_max_steps(max_steps: u64) -> Result<(), InputError> {
    InputError::check_parameter("max_steps", max_steps as f64, max_steps > 0, "at least 1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_parameters_are_typed() {
        let good = Problem { noise: 0.0, margin: 1.0, accuracy: 0.49 };
        assert_eq!(good.check_with_leak(), Ok(()));
        let bad = [
            Problem { noise: -0.1, ..good },
            Problem { noise: 0.5, ..good },
            Problem { noise: f64::NAN, ..good },
            Problem { margin: 0.0, ..good },
            Problem { margin: 1.1, ..good },
            Problem { accuracy: 0.0, ..good },
            Problem { accuracy: 1.0, ..good },
        ];
        for problem in bad {
            assert!(matches!(problem.check(), Err(InputError::ParameterOutOfRange { .. })));
        }
        let large = Problem { noise: 0.25, accuracy: 0.25, ..good };
        assert_eq!(large.check(), Ok(()));
        assert!(large.check_with_leak().is_err());
        assert!(check_max_steps(0).is_err());
    }
}
