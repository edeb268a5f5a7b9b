//! Rates with exact confidence intervals.

use halfspaces_frame::DataError;
use halfspaces_pac::ErrorCount;
use serde::Serialize;

/// The confidence level of the intervals.
pub const CONFIDENCE: f64 = 0.95;

/// The share of independent rows with some property, with an exact confidence interval for the underlying probability.
///
/// *Source.* Clopper and Pearson 1934.
///
/// ```
/// use halfspaces_pipeline::Rate;
/// assert_eq!(Rate::new(10, 100)?.text(), "10.0 % (4.9 % to 17.6 %)");
/// # Ok::<(), halfspaces_frame::DataError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Rate {
    /// The number of rows with the property.
    pub count: usize,
    /// The total number of rows.
    pub of: usize,
    /// The ratio of `count` to `of`.
    pub rate: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

impl Rate {
    /// Creates the rate `count / of` with its confidence interval.
    ///
    /// # Errors
    /// Returns an error if `of` is 0 or less than `count`.
    pub fn new(count: usize, of: usize) -> Result<Rate, DataError> {
        let tail = (1.0 - CONFIDENCE) / 2.0;
        let errors = ErrorCount::new(count, of)?;
        let high = errors.error_bound(tail)?.value();
        let low = 1.0 - ErrorCount::new(of - count, of)?.error_bound(tail)?.value();
        Ok(Rate { count, of, rate: errors.rate(), low, high })
    }

    /// The rate and its interval as text, such as "3.1 % (1.2 % to 6.5 %)".
    #[must_use]
    pub fn text(&self) -> String {
        let Rate { rate, low, high, .. } = self;
        format!("{} ({} to {})", percent(*rate), percent(*low), percent(*high))
    }
}

/// Formats shares as percentages, all with the same number of decimals. One decimal is shown, or as many as are needed
/// to distinguish every share from 0 % and 100 %.
///
/// ```
/// use halfspaces_pipeline::percents;
/// assert_eq!(percents(&[0.5, 1.0, 0.9996]), ["50.000 %", "100.000 %", "99.960 %"]);
/// ```
#[must_use]
pub fn percents(shares: &[f64]) -> Vec<String> {
    let digits = shares.iter().map(|share| decimals(*share)).max().unwrap_or(1);
    shares.iter().map(|share| format!("{:.digits$} %", 100.0 * share)).collect()
}

fn percent(share: f64) -> String {
    let digits = decimals(share);
    format!("{:.digits$} %", 100.0 * share)
}

/// The number of decimals for a share. It is one, or as many as needed to distinguish the share from 0 % and 100 %.
fn decimals(share: f64) -> usize {
    let from_end = 100.0 * share.min(1.0 - share);
    if from_end > 0.0 && from_end < 0.05 { (1.0 - from_end.log10().floor()) as usize } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_exact_at_both_ends() {
        // With no error in n rows, the upper end is 1 - 0.025^(1/n). The lower end for n errors follows by symmetry.
        let high = 1.0 - 0.025f64.powf(1.0 / 40.0);
        let none = Rate::new(0, 40).unwrap();
        assert_eq!(none.low, 0.0);
        assert!((none.high - high).abs() < 1e-12);
        let all = Rate::new(40, 40).unwrap();
        assert_eq!(all.high, 1.0);
        assert!((all.low - (1.0 - high)).abs() < 1e-12);
        // The known interval for 10 of 100 is 4.90 % to 17.62 %.
        assert_eq!(Rate::new(10, 100).unwrap().text(), "10.0 % (4.9 % to 17.6 %)");
        assert!(Rate::new(0, 0).is_err());
    }

    #[test]
    fn a_small_share_is_told_from_none() {
        assert_eq!(Rate::new(0, 10_000).unwrap().text(), "0.0 % (0.0 % to 0.037 %)");
        assert_eq!(Rate::new(10_000, 10_000).unwrap().text(), "100.0 % (99.963 % to 100.0 %)");
        assert_eq!([percent(0.00049), percent(0.00051)], ["0.049 %", "0.1 %"]);
    }
}
