//! An estimate of the number of remaining corrections. Claims: S10c, S10m.

use super::model::Errors;
use halfspaces_linalg::exp_neg;

/// The constants of the estimate: a factor, the exponent of the ratio of actual to expected errors, and the amount that
/// the model still learns if no point has an answer yet. The constants were fitted to the logarithms by least squares
/// on seven pools (wdbc, heart, pima, banana, satimage, scikit-learn's digits, synthetic ones), each at twelve points
/// in time. The fitted factor is 0.92. With the factor used here, the geometric means of the estimates and of the
/// actual counts agree over thirteen pools, which include five of these seven.
const FACTOR: f64 = 0.72;
const POWER: f64 = 2.0 / 3.0;
const LEARNING: f64 = 0.8;
/// The standard deviation of the logarithm of the actual count if no point is open, and the additional deviation if all
/// points are open.
const DEVIATION: f64 = 0.4;
const MORE_DEVIATION: f64 = 0.4;
/// The distances from the estimate to the lower and the upper end of the interval, in standard deviations. The tail
/// below the estimate is longer.
const TO_LOW: f64 = 2.0;
const TO_HIGH: f64 = 1.645;

/// An estimate of the number of corrections that will be needed to label the rest of the pool, surest points first.
///
/// The estimate is the number of errors that the model expects on the points without an answer, times
/// ((w + 1)/(s + 1))^⅔, times 0.72 exp(-0.8 u). Each answer so far is predicted from all other answers: w of these
/// predictions are wrong, and the model expects s wrong ones. The number u is the fraction of the pool without an
/// answer. The estimate depends on u because the model keeps learning until the pool is labelled. For wide pools, the
/// estimate is multiplied by 2.2. The interval is wide while there are few answers: its upper end is the estimate
/// times e^(1.6 (0.4 + 0.4 u)). The estimate and the interval are measured, not proved. Claims: S10c, S10m.
///
/// ```
/// use halfspaces_linalg::{Params, Points};
/// use halfspaces_online::Labelling;
/// let points = Points::from_rows(&[[1.0, 0.2], [0.9, -0.3], [-1.0, 0.1], [-0.8, 0.4]])?;
/// let mut session = Labelling::params(2).check()?.session(&points)?;
/// session.tell(&[(0, 1), (2, 0)])?;
/// let outlook = session.outlook();
/// assert_eq!(outlook.open, 2);
/// assert!(outlook.low <= outlook.expected && outlook.expected <= outlook.high);
/// // After only two answers, the other predictions cannot be trusted.
/// assert!(!outlook.within(0.01));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outlook {
    /// Number of points in the pool.
    pub points: usize,
    /// Number of points without an answer.
    pub open: usize,
    /// Expected number of corrections.
    pub expected: f64,
    /// The lower end of the interval: in nine cases out of ten, at least this many corrections are needed.
    pub low: f64,
    /// The upper end of the interval: in nineteen cases out of twenty, at most this many corrections are needed. It
    /// never exceeds the number of open points.
    pub high: f64,
}

impl Outlook {
    pub(super) fn new(points: usize, errors: Errors) -> Outlook {
        let Errors { open, stated, wrong_left_out, stated_left_out, factor } = errors;
        if open == 0 {
            return Outlook { points, open, expected: 0.0, low: 0.0, high: 0.0 };
        }
        let all = open as f64;
        let share = all / points as f64;
        let ratio = (wrong_left_out as f64 + 1.0) / (stated_left_out + 1.0);
        // All counts are increased by one, because the logarithm of 0 is not finite.
        let factor = factor * FACTOR * ratio.powf(POWER) * exp_neg(LEARNING * share);
        let one_more = ((stated + 1.0) * factor).clamp(1.0, all + 1.0);
        let deviation = DEVIATION + MORE_DEVIATION * share;
        let at = |count: f64| (count - 1.0).clamp(0.0, all);
        let low = at(one_more * exp_neg(TO_LOW * deviation));
        let high = at(one_more / exp_neg(TO_HIGH * deviation));
        Outlook { points, open, expected: at(one_more), low, high }
    }

    /// Whether the upper end of the interval is at most the fraction `share` of all points. Then, in nineteen cases out
    /// of twenty, at most this fraction of the labels still has to be corrected if labelling continues.
    ///
    /// If you stop instead and accept every prediction, more labels can be wrong, because the model would have learned
    /// from later answers. The upper end relies only on the model. For certainty, draw m of the open points at random
    /// and check their predictions. If none of them is wrong, then with probability 0.95 at most a fraction 3/m of the
    /// predictions for the open points is wrong, for any model.
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
        // (8/27)^⅔ = 4/9. With a quarter of the points open, 0.72 e^-0.2 times 4/9 times 81 is 21.2211.
        let errors = Errors {
            open: 250,
            stated: 80.0,
            wrong_left_out: 7,
            stated_left_out: 26.0,
            factor: 1.0,
        };
        let outlook = Outlook::new(1000, errors);
        // The ends of the interval are computed with the factors e^(-2 · 0.5) and e^(1.645 · 0.5).
        for (value, by_hand) in
            [(outlook.expected, 20.2211), (outlook.low, 6.8068), (outlook.high, 47.3031)]
        {
            assert!((value - by_hand).abs() < 1e-3, "{value} {by_hand}");
        }
        assert!(outlook.within(0.0474) && !outlook.within(0.0473));
        let twice = Outlook::new(1000, Errors { factor: 2.0, ..errors });
        assert!((twice.expected - 41.4422).abs() < 1e-3);
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
