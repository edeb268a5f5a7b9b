//! From decision values to probabilities: Platt's sigmoids, on rows that the values' model was not learned from.

use crate::error::CliError;
use halfspaces_linalg::{FitSample, InputError, Label, Params, Points};
use halfspaces_pac::LogisticRegression;
use serde::{Deserialize, Serialize};

/// Fewest rows of either kind that a sigmoid is fitted to.
const MIN_ROWS: usize = 10;

/// One sigmoid per value: slope and offset of the log odds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Calibration {
    log_odds: Vec<(f64, f64)>,
}

impl Calibration {
    /// Fits a sigmoid per value: for one value of the class 1, for several each of its own class. None if some class has
    /// too few rows to tell.
    pub(super) fn fit(
        values: &[Vec<f64>],
        classes: &[usize],
    ) -> Result<Option<Calibration>, CliError> {
        let Some(count) = values.first().map(Vec::len) else { return Ok(None) };
        let mut log_odds = Vec::with_capacity(count);
        for place in 0..count {
            let class = if count == 1 { 1 } else { place };
            let of = |c: &usize| if *c == class { Label::Positive } else { Label::Negative };
            let labels: Vec<Label> = classes.iter().map(of).collect();
            let positive = labels.iter().filter(|y| **y == Label::Positive).count();
            if positive < MIN_ROWS || labels.len() - positive < MIN_ROWS {
                return Ok(None);
            }
            // In units of their mean size, so that the penalty of a large slope does not depend on the scale.
            let column: Vec<f64> = values.iter().map(|values| values[place]).collect();
            let mean = column.iter().map(|v| v.abs()).sum::<f64>() / column.len() as f64;
            let unit = if mean > 0.0 && mean.is_finite() { mean } else { 1.0 };
            let scaled = Points::new(column.iter().map(|v| v / unit).collect(), 1)?;
            let fit = LogisticRegression::params().check()?.fit(&scaled, &labels)?;
            let (slope, offset) = (fit.halfspace().weights()[0] / unit, fit.halfspace().bias());
            log_odds.push((slope, offset));
        }
        Ok(Some(Calibration { log_odds }))
    }

    /// The probability of every class.
    pub(super) fn probabilities(&self, values: &[f64]) -> Vec<f64> {
        let sigmoid = |((slope, offset), value): (&(f64, f64), &f64)| {
            1.0 / (1.0 + (-(slope * value + offset)).exp())
        };
        let mut shares: Vec<f64> = self.log_odds.iter().zip(values).map(sigmoid).collect();
        if let [positive] = shares[..] {
            return vec![1.0 - positive, positive];
        }
        // Sigmoids of finite numbers may round to 0, all of them only far from every class.
        let total: f64 = shares.iter().sum();
        let equal = 1.0 / shares.len() as f64;
        shares.iter_mut().for_each(|p| *p = if total > 0.0 { *p / total } else { equal });
        shares
    }

    /// Whether what was loaded has a sigmoid per value.
    pub(super) fn check_saved(&self, sums: usize) -> Result<(), InputError> {
        InputError::check_state(self.log_odds.len() == sums, "a sigmoid per decision value")?;
        let finite =
            self.log_odds.iter().all(|(slope, offset)| slope.is_finite() && offset.is_finite());
        InputError::check_state(finite, "log odds that are not finite")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_follow_the_rates() {
        // Of value 10 three in four are of class 1, of value -10 one in four.
        let row = |i: usize| {
            let high = i.is_multiple_of(2);
            (vec![if high { 10.0 } else { -10.0 }], usize::from((i % 8 < 6) == high))
        };
        let (values, classes): (Vec<_>, Vec<_>) = (0..400).map(row).unzip();
        let calibration = Calibration::fit(&values, &classes).unwrap().unwrap();
        let positive = calibration.probabilities(&[10.0]);
        assert!(
            (positive[1] - 0.75).abs() < 0.02 && (positive[0] + positive[1] - 1.0).abs() < 1e-15
        );
        assert!((calibration.probabilities(&[-10.0])[1] - 0.25).abs() < 0.02);
        assert!(Calibration::fit(&values[..30], &[0; 30]).unwrap().is_none());
        assert!(calibration.check_saved(1).is_ok() && calibration.check_saved(3).is_err());
    }

    #[test]
    fn shares_of_several_classes_sum_to_one() {
        let calibration = Calibration { log_odds: vec![(1.0, 0.0), (1.0, 0.0), (1.0, 0.0)] };
        let shares = calibration.probabilities(&[0.0, 0.0, 0.0]);
        assert!(shares.iter().all(|p| (p - 1.0 / 3.0).abs() < 1e-15));
        let far = calibration.probabilities(&[-1e9, -1e9, -1e9]);
        assert!(far.iter().all(|p| (p - 1.0 / 3.0).abs() < 1e-15));
    }
}
