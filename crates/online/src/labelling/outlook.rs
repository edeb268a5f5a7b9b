//! How many corrections are to come. Claims: S10c, S10m.

use super::model::Errors;
use halfspaces_linalg::exp_neg;

/// What the estimate is made of, fitted by least squares of the logarithms on seven pools (wdbc, heart, pima,
/// banana, satimage, scikit-learn's digits, made-up ones) at twelve moments each: a factor, the power of the
/// ratio of errors made to errors stated, and how much the model learns while the whole pool is open. The factor,
/// 0.92 there, is such that on thirteen pools, these five among them, the estimate is right in geometric mean.
const FACTOR: f64 = 0.72;
const POWER: f64 = 2.0 / 3.0;
const LEARNING: f64 = 0.8;
/// Deviation of the logarithm of what came, with no point open and with all of them: the sum of both.
const DEVIATION: f64 = 0.4;
const MORE_DEVIATION: f64 = 0.4;
/// Deviations to the lower and to the upper end; below the estimate the tail is longer.
const TO_LOW: f64 = 2.0;
const TO_HIGH: f64 = 1.645;

/// An estimate of the corrections to come until the whole pool is labelled, surest point first.
///
/// The errors that the model states of the points without an answer, times ((w + 1)/(s + 1))^⅔, where of the answers
/// so far, each predicted from all others, w are predicted wrongly and s are stated to be, and times 0.72 exp(-0.8 u), u the
/// share of the pool without an answer, for the model learns on the way. The interval is wide while little is known: a
/// factor of e^(1.6 (0.4 + 0.4 u)) upwards. All this is measured, not proved. Claims: S10c, S10m.
///
/// ```
/// use halfspaces_linalg::{Params, Points};
/// use halfspaces_online::LabellingParams;
/// let points = Points::from_rows(&[[1.0, 0.2], [0.9, -0.3], [-1.0, 0.1], [-0.8, 0.4]])?;
/// let mut session = LabellingParams::new(2).check()?.session(&points)?;
/// session.tell(&[(0, 1), (2, 0)])?;
/// let outlook = session.outlook();
/// assert_eq!(outlook.open, 2);
/// assert!(outlook.low <= outlook.expected && outlook.expected <= outlook.high);
/// // With two answers nobody knows that the rest is right.
/// assert!(!outlook.within(0.01));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Outlook {
    /// Points of the pool.
    pub points: usize,
    /// Points without an answer.
    pub open: usize,
    /// Corrections to expect.
    pub expected: f64,
    /// At least so many nine times in ten.
    pub low: f64,
    /// At most so many nineteen times in twenty; never more than there are points open.
    pub high: f64,
}

impl Outlook {
    pub(super) fn new(points: usize, errors: Errors) -> Outlook {
        let Errors { open, stated, wrong_left_out, stated_left_out } = errors;
        if open == 0 {
            return Outlook { points, open, expected: 0.0, low: 0.0, high: 0.0 };
        }
        let all = open as f64;
        let share = all / points as f64;
        let ratio = (wrong_left_out as f64 + 1.0) / (stated_left_out + 1.0);
        // One is added to all counts: a logarithm of none would be none.
        let factor = FACTOR * ratio.powf(POWER) * exp_neg(LEARNING * share);
        let one_more = ((stated + 1.0) * factor).clamp(1.0, all + 1.0);
        let deviation = DEVIATION + MORE_DEVIATION * share;
        let at = |count: f64| (count - 1.0).clamp(0.0, all);
        let low = at(one_more * exp_neg(TO_LOW * deviation));
        let high = at(one_more / exp_neg(TO_HIGH * deviation));
        Outlook { points, open, expected: at(one_more), low, high }
    }

    /// Whether one may stop: taking every prediction for the answer would leave at most this share of the whole
    /// pool wrong, as far as the upper end says, nineteen times in twenty.
    ///
    /// The model's word is all there is behind it. To be certain, draw m of the open points at random and look: if none
    /// is wrong, at most a share of 3/m of them is, with probability 0.95, whatever the model.
    #[must_use]
    pub fn within(&self, share: f64) -> bool {
        self.high <= share * self.points as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_worked_by_hand() {
        // (8/27)^⅔ = 4/9; a quarter open: 0.72 e^-0.2 times that and 81 is 21.2211.
        let errors = Errors { open: 250, stated: 80.0, wrong_left_out: 7, stated_left_out: 26.0 };
        let outlook = Outlook::new(1000, errors);
        // e^(-2 · 0.5) and e^(1.645 · 0.5) of it.
        for (value, by_hand) in
            [(outlook.expected, 20.2211), (outlook.low, 6.8068), (outlook.high, 47.3031)]
        {
            assert!((value - by_hand).abs() < 1e-3, "{value} {by_hand}");
        }
        assert!(outlook.within(0.0474) && !outlook.within(0.0473));
        let few = Outlook::new(120, Errors { open: 30, ..errors });
        assert_eq!(few.high, 30.0);
        let sure = Outlook::new(1000, Errors { stated: 0.0, ..errors });
        assert_eq!((sure.low, sure.expected), (0.0, 0.0));
        assert!(sure.high > 0.9);
        let none = Outlook::new(5, Errors { open: 0, stated: 0.0, ..errors });
        assert_eq!((none.high, none.expected), (0.0, 0.0));
        assert!(none.within(0.0));
    }
}
