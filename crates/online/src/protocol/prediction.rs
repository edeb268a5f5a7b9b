//! Predictions of an online learner.

use halfspaces_linalg::Label;

/// A predicted label together with the value whose sign it is, or an abstention.
///
/// ```
/// use halfspaces_linalg::Label;
/// use halfspaces_online::Prediction;
/// let p = Prediction::from_value(-0.25);
/// assert_eq!((p.label, p.value), (Label::Negative, -0.25));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Prediction {
    /// `sign(value)`.
    pub label: Label,
    /// The learner's decision value, which is w · x for a linear learner. A larger absolute value means more
    /// confidence.
    pub value: f64,
    /// Whether the learner abstains. An abstention is never a mistake; runs count abstentions separately.
    pub abstains: bool,
}

impl Prediction {
    /// The prediction `sign(value)`.
    #[inline]
    #[must_use]
    pub fn from_value(value: f64) -> Prediction {
        Prediction { label: Label::from_sign(value), value, abstains: false }
    }

    /// Whether the prediction is wrong: it is not an abstention, and its label differs from `truth`.
    #[inline]
    #[must_use]
    pub fn is_wrong(&self, truth: Label) -> bool {
        !self.abstains && self.label != truth
    }
}
