//! Statistics used by verdicts: exact binomial bounds, slopes, intervals, quantiles.
//!
//! Every function takes plain slices and returns `None` if the quantity is undefined (no data, too few points, a level
//! outside (0, 1)).

use serde::{Deserialize, Serialize};
use statrs::distribution::{Beta, ContinuousCDF, StudentsT};
use std::cmp::Ordering;

/// A two-sided interval.
///
/// ```
/// use halfspaces_eval::stats::mean_interval;
/// let wide = mean_interval(&[1.0, 2.0, 3.0], 0.95);
/// let narrow = mean_interval(&[1.0, 2.0, 3.0], 0.5);
/// assert!(wide.zip(narrow).is_some_and(|(w, n)| w.low < n.low && n.low < 2.0 && n.high < w.high));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

fn is_level(level: f64) -> bool {
    level > 0.0 && level < 1.0
}

fn beta(a: f64, b: f64) -> Beta {
    Beta::new(a, b).unwrap_or_else(|e| unreachable!("both parameters are at least 1: {e}"))
}

fn student(freedom: f64) -> StudentsT {
    let distribution = StudentsT::new(0.0, 1.0, freedom);
    distribution.unwrap_or_else(|e| unreachable!("there is a degree of freedom: {e}"))
}

/// Exact one-sided upper confidence bound (Clopper-Pearson) on a probability, given the number of `events` in `trials`.
/// With probability at least `confidence`, the true value is below the bound.
///
/// ```
/// use halfspaces_eval::stats::binomial_upper;
/// // Without a failure, 29, 59 and 299 trials are needed to prove at most .1, .05 and .01 at 95 %.
/// for (trials, delta) in [(29, 0.1), (59, 0.05), (299, 0.01)] {
///     assert!(binomial_upper(0, trials, 0.95).unwrap() <= delta);
///     assert!(binomial_upper(0, trials - 1, 0.95).unwrap() > delta);
/// }
/// ```
#[must_use]
pub fn binomial_upper(events: u64, trials: u64, confidence: f64) -> Option<f64> {
    if trials == 0 || events > trials || !is_level(confidence) {
        return None;
    }
    if events == trials {
        return Some(1.0);
    }
    let (k, n) = (events as f64, trials as f64);
    if events == 0 {
        return Some(-((-confidence).ln_1p() / n).exp_m1());
    }
    // Computes the quantile of Beta(k + 1, n - k) by bisection, which terminates for all parameters.
    let beta = beta(k + 1.0, n - k);
    let (mut low, mut high) = (0.0f64, 1.0f64);
    for _ in 0..200 {
        let middle = low + (high - low) / 2.0;
        if beta.cdf(middle) < confidence {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(high)
}

/// Exact one-sided lower confidence bound, the mirror image of [`binomial_upper`].
#[must_use]
pub fn binomial_lower(events: u64, trials: u64, confidence: f64) -> Option<f64> {
    let others = trials.checked_sub(events)?;
    binomial_upper(others, trials, confidence).map(|upper| 1.0 - upper)
}

/// The probability of at least `events` successes in `trials` independent trials, each of which succeeds with
/// probability `probability`. This is the exact p-value of the hypothesis "at most `probability`". It is at most 1 - c
/// if and only if [`binomial_lower`] at confidence c is at least `probability`.
///
/// ```
/// use halfspaces_eval::stats::binomial_tail;
/// // 1 - 0.9² = 0.19, 0.1² = 0.01.
/// assert!((binomial_tail(1, 2, 0.1).unwrap() - 0.19).abs() < 1e-12);
/// assert!((binomial_tail(2, 2, 0.1).unwrap() - 0.01).abs() < 1e-12);
/// ```
#[must_use]
pub fn binomial_tail(events: u64, trials: u64, probability: f64) -> Option<f64> {
    if trials == 0 || events > trials || !(0.0..=1.0).contains(&probability) {
        return None;
    }
    if events == 0 {
        return Some(1.0);
    }
    let (k, n) = (events as f64, trials as f64);
    Some(beta(k, n - k + 1.0).cdf(probability))
}

/// The mean of finite values.
#[must_use]
pub fn mean(values: &[f64]) -> Option<f64> {
    if !usable(values) {
        return None;
    }
    Some(values.iter().sum::<f64>() / values.len() as f64).filter(|mean| mean.is_finite())
}

/// Whether there is at least one value and all are finite.
fn usable(values: &[f64]) -> bool {
    !values.is_empty() && values.iter().all(|v| v.is_finite())
}

/// Two-sided Student interval for the mean of independent values. At least two values are required.
///
/// ```
/// use halfspaces_eval::stats::mean_interval;
/// let interval = mean_interval(&[1.0, 2.0, 3.0], 0.95).unwrap();
/// // 2 ± t(0.975; 2) / √3 = 2 ± 4.302653 · 0.577350
/// assert!((interval.high - 4.484138).abs() < 1e-5);
/// ```
#[must_use]
pub fn mean_interval(values: &[f64], confidence: f64) -> Option<Interval> {
    let centre = mean(values)?;
    if values.len() < 2 || !is_level(confidence) {
        return None;
    }
    let n = values.len() as f64;
    let variance = values.iter().map(|v| (v - centre).powi(2)).sum::<f64>() / (n - 1.0);
    let t = student(n - 1.0).inverse_cdf(0.5 + confidence / 2.0);
    let half = t * (variance / n).sqrt();
    Some(Interval { low: centre - half, high: centre + half })
}

/// Whether all values are equal. The values themselves are compared, because the mean of equal numbers may be rounded
/// to a different number.
pub(crate) fn coincide(values: &[f64]) -> bool {
    values.windows(2).all(|pair| pair[0].partial_cmp(&pair[1]) == Some(Ordering::Equal))
}

/// Student's p-value of "the mean is at most `bound`" from at least three independent values. They must not all be
/// equal, because equal values give no scale for the distance to the bound.
///
/// ```
/// use halfspaces_eval::stats::mean_tail;
/// // t = √3 (2 - 1)/1 with 2 degrees of freedom: (1 - t/√(2 + t²))/2.
/// let tail = mean_tail(&[1.0, 2.0, 3.0], 1.0).unwrap();
/// assert!((tail - 0.5 * (1.0 - (3.0f64 / 5.0).sqrt())).abs() < 1e-9);
/// assert_eq!(mean_tail(&[2.0, 2.0, 2.0], 1.0), None);
/// ```
#[must_use]
pub fn mean_tail(values: &[f64], bound: f64) -> Option<f64> {
    let centre = mean(values)?;
    if values.len() < 3 || !bound.is_finite() || coincide(values) {
        return None;
    }
    let n = values.len() as f64;
    let variance = values.iter().map(|v| (v - centre).powi(2)).sum::<f64>() / (n - 1.0);
    // The scatter of tiny values may underflow.
    let error = Some((variance / n).sqrt()).filter(|error| *error > 0.0)?;
    Some(student(n - 1.0).sf((centre - bound) / error))
}

/// Least-squares slope of `y` against `x`. At least two different values of `x` are required.
///
/// ```
/// use halfspaces_eval::stats::slope;
/// assert_eq!(slope(&[0.0, 1.0, 2.0], &[1.0, 3.0, 5.0]), Some(2.0));
/// assert_eq!(slope(&[1.0, 1.0], &[0.0, 1.0]), None);
/// ```
#[must_use]
pub fn slope(x: &[f64], y: &[f64]) -> Option<f64> {
    if x.len() != y.len() {
        return None;
    }
    let (x_mean, y_mean) = (mean(x)?, mean(y)?);
    if coincide(x) {
        return None;
    }
    let spread: f64 = x.iter().map(|x| (x - x_mean).powi(2)).sum();
    let together: f64 = x.iter().zip(y).map(|(x, y)| (x - x_mean) * (y - y_mean)).sum();
    Some(together / spread)
}

/// The `q` quantile of the values, with linear interpolation. `q` is between 0 and 1.
///
/// ```
/// use halfspaces_eval::stats::quantile;
/// assert_eq!(quantile(&[4.0, 1.0, 3.0, 2.0], 0.5), Some(2.5));
/// ```
#[must_use]
pub fn quantile(values: &[f64], q: f64) -> Option<f64> {
    if !usable(values) || !(0.0..=1.0).contains(&q) {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = q * (sorted.len() - 1) as f64;
    let (below, above) = (place.floor() as usize, place.ceil() as usize);
    let share = place - below as f64;
    Some(sorted[below] * (1.0 - share) + sorted[above] * share)
}

/// The median.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use halfspaces_linalg::{RngStream, rng_for};
    use proptest::prelude::*;
    use rand::RngExt;

    /// P[Binomial(n, p) <= k], summed term by term from the end that does not underflow.
    fn binomial_cdf(k: u64, n: u64, p: f64) -> f64 {
        if p > 0.5 {
            return if k == n { 1.0 } else { 1.0 - binomial_cdf(n - k - 1, n, 1.0 - p) };
        }
        let mut term = (1.0 - p).powi(n as i32);
        let mut sum = term;
        for i in 0..k {
            term *= (n - i) as f64 / (i + 1) as f64 * p / (1.0 - p);
            sum += term;
        }
        sum
    }

    proptest! {
        /// By definition, if the probability of an event equals the upper bound, the probability that at most this many
        /// events occur is 1 - confidence.
        #[test]
        fn binomial_bounds_invert_the_distribution(n in 1u64..200, k in 0u64..200, c in 0.5..0.999f64) {
            prop_assume!(k < n);
            let upper = binomial_upper(k, n, c).unwrap();
            prop_assert!((binomial_cdf(k, n, upper) - (1.0 - c)).abs() < 1e-9);
            let lower = binomial_lower(n - k, n, c).unwrap();
            prop_assert!((lower - (1.0 - upper)).abs() < 1e-12);
            // The test and the bound are equivalent.
            let events = n - k;
            prop_assert!((binomial_tail(events, n, lower).unwrap() - (1.0 - c)).abs() < 1e-9);
            let exact = 1.0 - binomial_cdf(events - 1, n, 0.3);
            prop_assert!((binomial_tail(events, n, 0.3).unwrap() - exact).abs() < 1e-9);
        }

        #[test]
        fn the_test_of_a_mean_inverts_its_interval(
            values in prop::collection::vec(-10.0..10.0f64, 3..20),
            c in 0.5..0.9999f64,
        ) {
            let interval = mean_interval(&values, c).unwrap();
            let tail = (1.0 - c) / 2.0;
            prop_assert!((mean_tail(&values, interval.low).unwrap() - tail).abs() < 1e-7);
            prop_assert!((mean_tail(&values, interval.high).unwrap() - 1.0 + tail).abs() < 1e-7);
        }

        #[test]
        fn slopes_ignore_shifts_and_follow_scales(
            points in prop::collection::vec((-10.0..10.0f64, -10.0..10.0f64), 3..20),
            shift in -5.0..5.0f64,
        ) {
            let (x, y): (Vec<f64>, Vec<f64>) = points.into_iter().unzip();
            prop_assume!(x.iter().any(|v| (v - x[0]).abs() > 0.1));
            let base = slope(&x, &y).unwrap();
            let moved: Vec<f64> = y.iter().map(|v| 2.0 * v + shift).collect();
            prop_assert!((slope(&x, &moved).unwrap() - 2.0 * base).abs() < 1e-7);
        }
    }

    #[test]
    fn published_binomial_values() {
        // The two-sided 95 % interval for 7 of 20, whose ends are one-sided 97.5 % bounds: (0.153909, 0.592189).
        assert_relative_eq!(binomial_lower(7, 20, 0.975).unwrap(), 0.153909, epsilon = 1e-6);
        assert_relative_eq!(binomial_upper(7, 20, 0.975).unwrap(), 0.592189, epsilon = 1e-6);
        assert_eq!(binomial_upper(5, 5, 0.95), Some(1.0));
        // In the far tail the quantile still converges and stays accurate.
        assert_relative_eq!(
            binomial_upper(0, 1 << 60, 0.95).unwrap(),
            2.598e-18,
            max_relative = 1e-3
        );
        assert_relative_eq!(
            binomial_upper(1, 1_000_000_000, 0.95).unwrap(),
            4.744e-9,
            max_relative = 1e-3
        );
        assert!(binomial_upper(1, 2, 1e-300).unwrap() >= 0.0);
        assert_eq!(binomial_lower(0, 5, 0.95), Some(0.0));
    }

    #[test]
    fn undefined_is_none() {
        assert_eq!(binomial_upper(0, 0, 0.95), None);
        assert_eq!(binomial_upper(3, 2, 0.95), None);
        assert_eq!(binomial_lower(3, 2, 0.95), None);
        assert_eq!(binomial_upper(1, 2, 1.0), None);
        assert_eq!(binomial_tail(3, 2, 0.1), None);
        assert_eq!(binomial_tail(0, 0, 0.1), None);
        assert_eq!(binomial_tail(1, 2, 1.1), None);
        assert_eq!(mean_tail(&[1.0, 1.0], 0.0), None);
        // Two values have scatter but are too few for the test.
        assert_eq!(mean_tail(&[1.0, 1.5], 0.0), None);
        assert!(mean_tail(&[1.0, 1.5, 1.2], 0.0).is_some());
        assert_eq!(mean_tail(&[1.0, 1.0, f64::NAN], 0.0), None);
        // The mean of the first six values is not rounded to 0.1. The scatter of the last values underflows.
        assert_eq!(mean_tail(&[0.1; 6], 0.01), None);
        assert_eq!(mean_tail(&[0.0, -0.0, 0.0], -1.0), None);
        assert_eq!(mean_tail(&[1e-200, 2e-200, 3e-200], 0.0), None);
        assert_eq!(mean(&[]), None);
        assert_eq!(mean_interval(&[1.0], 0.95), None);
        assert_eq!(slope(&[1.0], &[1.0, 2.0]), None);
        assert_eq!(slope(&[0.0, -0.0], &[1.0, 2.0]), None);
        assert_eq!(slope(&[0.1; 6], &[1.0, 5.0, 2.0, 8.0, 3.0, 4.0]), None);
        assert_eq!(quantile(&[1.0], 1.5), None);
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[1.0, f64::INFINITY, 2.0]), None);
        assert_eq!(median(&[f64::MAX, -f64::MAX]), Some(0.0));
        assert_eq!(mean(&[f64::NAN]), None);
    }

    #[test]
    fn mean_interval_covers_as_often_as_it_says() {
        let mut rng = rng_for(RngStream::CALLER, 3);
        let covered = (0..2000).filter(|_| {
            let sample: Vec<f64> =
                (0..12).map(|_| (0..12).map(|_| rng.random::<f64>()).sum()).collect();
            let interval = mean_interval(&sample, 0.9).unwrap();
            interval.low <= 6.0 && 6.0 <= interval.high
        });
        // The expected number is 1800, with a standard deviation of 13.4.
        assert!((1745..1855).contains(&covered.count()));
    }
}
