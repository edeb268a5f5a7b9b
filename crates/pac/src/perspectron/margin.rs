//! Margins that are known or bounded from below.

use crate::noise_setting::check_margin;
use halfspaces_linalg::InputError;

/// A margin γ that is known or bounded from below.
///
/// ```
/// use halfspaces_linalg::Params;
/// use halfspaces_pac::{GridPerspectron, Margin};
/// let guesses = |margin| -> Result<usize, halfspaces_linalg::InputError> {
///     Ok(GridPerspectron::params(margin).excess(0.25).check()?.guesses().len())
/// };
/// // A margin that is only bounded from below needs more guesses.
/// assert!(guesses(Margin::AtLeast(0.25))? > guesses(Margin::Known(0.25))?);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Margin {
    /// The margin is γ.
    Known(f64),
    /// The margin is at least this number. The guesses are R, R/2, ... down to this number.
    AtLeast(f64),
}

impl Margin {
    fn least(self) -> f64 {
        match self {
            Margin::Known(margin) | Margin::AtLeast(margin) => margin,
        }
    }

    pub(crate) fn check(self, radius: f64) -> Result<(), InputError> {
        let least = self.least();
        check_margin(least, radius)?;
        let in_range = least >= radius * 2f64.powi(-60);
        InputError::check_parameter("margin", least, in_range, "at least 2^-60 of the radius")
    }

    /// The guesses of the margin, from the largest possible margin down to the smallest.
    pub(crate) fn guesses(self, largest: f64) -> Vec<f64> {
        let mut guesses = Vec::new();
        if let Margin::AtLeast(least) = self {
            let mut guess = largest;
            while guess > least {
                guesses.push(guess);
                guess /= 2.0;
            }
        }
        guesses.push(self.least());
        guesses
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_margin_is_guessed_twice() {
        assert_eq!(Margin::AtLeast(0.25).guesses(1.0), [1.0, 0.5, 0.25]);
        assert_eq!(Margin::AtLeast(0.3).guesses(1.0), [1.0, 0.5, 0.3]);
        assert_eq!(Margin::AtLeast(1.0).guesses(1.0), [1.0]);
    }
}
