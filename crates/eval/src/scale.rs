//! The scale of a run.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The scale of a run of the suite.
///
/// ```
/// use halfspaces_eval::Scale;
/// assert_eq!(Scale::Standard.pick(1, 2, 3), 2);
/// assert_eq!("full".parse(), Ok(Scale::Full));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Every experiment, once and on small inputs; the whole suite takes less than a minute.
    Smoke,
    /// For readers; takes about ten minutes.
    Standard,
    /// For publication; takes about two hours.
    Full,
}

impl Scale {
    /// All scales, smallest first.
    pub const ALL: [Scale; 3] = [Scale::Smoke, Scale::Standard, Scale::Full];

    /// Returns the value for this scale.
    #[must_use]
    pub fn pick<T>(self, smoke: T, standard: T, full: T) -> T {
        match self {
            Scale::Smoke => smoke,
            Scale::Standard => standard,
            Scale::Full => full,
        }
    }
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.pick("smoke", "standard", "full"))
    }
}

impl FromStr for Scale {
    type Err = String;

    fn from_str(text: &str) -> Result<Scale, String> {
        Scale::ALL
            .into_iter()
            .find(|scale| scale.to_string() == text)
            .ok_or_else(|| format!("unknown scale \"{text}\"; choose smoke, standard or full"))
    }
}
