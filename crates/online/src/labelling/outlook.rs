//! How many corrections are to come. Part of `SurestFirst`. Claims: S10, S10n, S10s, S10c.

use super::model::Errors;

/// Shares of the scaled sum of stated errors that corrections to come are put at, and that they reach at least and
/// at most nine times in ten and nineteen times in twenty; measured on five pools (wdbc, heart, pima, banana,
/// satimage) at six moments each.
const EXPECTED: f64 = 0.7;
const LOW: f64 = 0.15;
const HIGH: f64 = 1.4;
/// Corrections that the upper end has to spare where little is stated.
const SPARE: f64 = 2.0;

/// An estimate of the corrections to come until the whole pool is labelled, surest point first.
///
/// The errors that the model states of the points without an answer, times √((w + 1)/(s + 1)), where of the answers so far,
/// each predicted from all others, w are predicted wrongly and s are stated to be. The model learns on the way, so
/// fewer corrections come than it states: 0.7 times as many are expected, 0.15 to 1.4 times and two more are the
/// interval. These factors are measured, not proved. Claims: S10c.
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
        let scale = ((wrong_left_out as f64 + 1.0) / (stated_left_out + 1.0)).sqrt();
        let all = open as f64;
        let high = if open == 0 { 0.0 } else { (HIGH * scale * stated + SPARE).min(all) };
        let expected = (EXPECTED * scale * stated).min(high);
        Outlook { points, open, expected, low: (LOW * scale * stated).min(expected), high }
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
        // √((3 + 1)/(8 + 1)) = 2/3, times 60 stated: 40.
        let errors = Errors { open: 100, stated: 60.0, wrong_left_out: 3, stated_left_out: 8.0 };
        let outlook = Outlook::new(1000, errors);
        for (value, by_hand) in [(outlook.expected, 28.0), (outlook.low, 6.0), (outlook.high, 58.0)]
        {
            assert!((value - by_hand).abs() < 1e-12, "{value} {by_hand}");
        }
        assert!(outlook.within(0.0581) && !outlook.within(0.0579));
        let few = Outlook::new(1000, Errors { open: 30, ..errors });
        assert_eq!(few.high, 30.0);
        let none = Outlook::new(5, Errors { open: 0, stated: 0.0, ..errors });
        assert_eq!((none.high, none.expected), (0.0, 0.0));
        assert!(none.within(0.0));
    }
}
