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
/// assert_eq!(Scale::Huge.or_huge(Scale::Huge.pick(1, 2, 3), 4), 4);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Runs every experiment once, on small inputs. The whole suite takes less than a minute.
    Smoke,
    /// A run that readers can repeat themselves; it takes about ten minutes.
    Standard,
    /// A run for publication, which takes about two hours.
    Full,
    /// A run for clusters, with sizes beyond those that a verdict needs. It takes days on one machine.
    Huge,
}

impl Scale {
    /// All scales, smallest first.
    pub const ALL: [Scale; 4] = [Scale::Smoke, Scale::Standard, Scale::Full, Scale::Huge];

    /// Returns the value for this scale. At huge scale, returns the value for full scale.
    #[must_use]
    pub fn pick<T>(self, smoke: T, standard: T, full: T) -> T {
        match self {
            Scale::Smoke => smoke,
            Scale::Standard => standard,
            Scale::Full | Scale::Huge => full,
        }
    }

    /// Returns `huge` at huge scale, otherwise `smaller`.
    #[must_use]
    pub fn or_huge<T>(self, smaller: T, huge: T) -> T {
        if self == Scale::Huge { huge } else { smaller }
    }
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.or_huge(self.pick("smoke", "standard", "full"), "huge"))
    }
}

impl FromStr for Scale {
    type Err = String;

    fn from_str(text: &str) -> Result<Scale, String> {
        Scale::ALL.into_iter().find(|scale| scale.to_string() == text).ok_or_else(|| {
            format!("unknown scale \"{text}\"; choose smoke, standard, full or huge")
        })
    }
}
