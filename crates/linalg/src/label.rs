//! Labels ±1 and the sign rule.

use std::fmt;
use std::ops::Neg;
use thiserror::Error;

/// A binary label, -1 or +1.
///
/// ```
/// use halfspaces_linalg::Label;
/// assert_eq!(Label::from_sign(0.0), Label::Positive); // the tie rule
/// assert_eq!(-Label::Positive, Label::Negative);
/// assert_eq!(Label::try_from(-1i8)?.as_f64(), -1.0);
/// # Ok::<(), halfspaces_linalg::InvalidLabel>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(into = "i8", try_from = "i8"))]
#[repr(i8)]
pub enum Label {
    /// -1.
    Negative = -1,
    /// +1.
    Positive = 1,
}

impl Label {
    /// `sign(t)`: +1 iff `t >= 0`. NaN, which never arises from finite inputs, gives -1.
    #[inline]
    #[must_use]
    pub fn from_sign(t: f64) -> Label {
        if t >= 0.0 { Label::Positive } else { Label::Negative }
    }

    /// -1.0 or +1.0.
    #[inline]
    #[must_use]
    pub fn as_f64(self) -> f64 {
        // A conversion without a branch, because processors cannot predict labels.
        f64::from(self as i8)
    }
}

impl Neg for Label {
    type Output = Label;

    fn neg(self) -> Label {
        match self {
            Label::Negative => Label::Positive,
            Label::Positive => Label::Negative,
        }
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Label::Negative => "-1",
            Label::Positive => "+1",
        })
    }
}

/// The error for a label that is neither -1 nor +1.
///
/// ```
/// use halfspaces_linalg::{InvalidLabel, Label};
/// assert_eq!(Label::try_from(0), Err(InvalidLabel { found: 0 }));
/// assert_eq!(Label::try_from(-1), Ok(Label::Negative));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("{found} is not a label; labels are -1 and +1")]
pub struct InvalidLabel {
    /// The number found.
    pub found: i8,
}

impl TryFrom<i8> for Label {
    type Error = InvalidLabel;

    fn try_from(found: i8) -> Result<Label, InvalidLabel> {
        match found {
            -1 => Ok(Label::Negative),
            1 => Ok(Label::Positive),
            _ => Err(InvalidLabel { found }),
        }
    }
}

impl From<Label> for i8 {
    fn from(label: Label) -> i8 {
        label as i8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sign_rule() {
        assert_eq!(Label::from_sign(0.0), Label::Positive);
        assert_eq!(Label::from_sign(-0.0), Label::Positive);
        assert_eq!(Label::from_sign(-1e-300), Label::Negative);
        assert_eq!(Label::from_sign(f64::NAN), Label::Negative);
    }

    #[test]
    fn only_plus_and_minus_one_are_labels() {
        assert_eq!(Label::try_from(0), Err(InvalidLabel { found: 0 }));
        for label in [Label::Negative, Label::Positive] {
            assert_eq!(Label::try_from(i8::from(label)), Ok(label));
            assert_eq!(Label::from_sign(label.as_f64()), label);
        }
    }
}
