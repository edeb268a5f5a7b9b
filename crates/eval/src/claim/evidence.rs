//! Measurements, and the rules that turn them into verdicts.

use crate::stats::{binomial_tail, binomial_upper, coincide, mean, mean_interval, mean_tail};
use crate::text::short;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Confidence level of the bounds that decide whether a claim holds.
pub(super) const CONFIDENCE: f64 = 0.95;

/// Maximum number of claims of a suite that may be based on random samples.
pub const MAX_SAMPLED_CLAIMS: usize = 64;

/// Maximum p-value at which a claim based on random samples counts as violated: 5 % divided by [`MAX_SAMPLED_CLAIMS`].
pub const REFUTATION_LEVEL: f64 = 0.000_78;
const _: () = assert!(MAX_SAMPLED_CLAIMS as f64 * REFUTATION_LEVEL <= 0.05);

/// Relative tolerance for a deterministic bound. It covers the rounding error of the bound itself, because a measured
/// value may attain the bound of a theorem with equality.
const ROUNDING: f64 = 1e-9;

/// Maximum slack that is reported. If the measured value is at most 0, the slack would be infinite, and this maximum is
/// reported instead.
const MAX_SLACK: f64 = 1e9;

/// The first word in the description of a quantity that is bounded from below.
pub(super) const SMALLEST: &str = "smallest";

/// The end of the description of a mean that is bounded from below.
pub(super) const LOWER_END: &str = "lower end of the 95 % interval";

/// The note that is added if all values are equal and above the bound, which does not refute the claim.
const NO_SCATTER: &str = ", all values are equal, so Student's test does not apply";

/// The result of the measurements for a claim.
///
/// ```
/// use halfspaces_eval::{Evidence, Side, Verdict};
/// let judge = |ratios: &[f64]| Evidence::deterministic("m / bound", Side::AtMost, 2, ratios).verdict;
/// assert_eq!(judge(&[0.5]), Verdict::Inconclusive); // one of two is missing
/// assert_eq!(judge(&[0.5, 1.0]), Verdict::Holds);
/// assert_eq!(judge(&[1.5]), Verdict::Violated); // whatever the other is
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// All planned trials are done, and the claim passed its rule.
    Holds,
    /// The measurements refute the claim.
    Violated,
    /// The measurements do not decide the claim, or trials are missing.
    Inconclusive,
    /// The claim passed its rule, but its null does not fail ([`Null::fails`](crate::Null::fails)), or no measurement
    /// comes within a factor of [`SLACK_LIMIT`](crate::SLACK_LIMIT) of its bound. Such a test shows nothing, which is a
    /// fault of the suite.
    Weak,
    /// An observation ([`ClaimKind::Observation`](crate::ClaimKind)) with the stated outcome. It is reported but not
    /// counted among the claims that hold.
    Observed,
}

impl Verdict {
    /// All verdicts, in the order of the ledger's counts.
    pub const ALL: [Verdict; 5] = [
        Verdict::Holds,
        Verdict::Observed,
        Verdict::Weak,
        Verdict::Inconclusive,
        Verdict::Violated,
    ];
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Verdict::Holds => "holds",
            Verdict::Violated => "violated",
            Verdict::Inconclusive => "inconclusive",
            Verdict::Weak => "weak",
            Verdict::Observed => "observed",
        })
    }
}

/// Whether a deterministic claim bounds its ratio from above or from below.
///
/// ```
/// use halfspaces_eval::{Evidence, Side, Verdict};
/// let judge = |side| Evidence::deterministic("kept / promised", side, 2, &[1.0, 1.2]).verdict;
/// assert_eq!((judge(Side::AtLeast), judge(Side::AtMost)), (Verdict::Holds, Verdict::Violated));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// measured / bound <= 1 in every trial.
    AtMost,
    /// measured / bound >= 1 in every trial.
    AtLeast,
}

/// The measurements behind a verdict.
///
/// ```
/// use halfspaces_eval::{Evidence, Verdict};
/// // To prove a failure probability of at most 0.1 at 95 %, 29 trials without a failure are needed.
/// let judge = |trials| Evidence::probability(trials, 0, trials, 0.1).verdict;
/// assert_eq!((judge(28), judge(29)), (Verdict::Inconclusive, Verdict::Holds));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    /// The verdict.
    pub verdict: Verdict,
    /// Number of trials in all settings together.
    pub trials: usize,
    /// Number of trials in the setting with the fewest trials.
    pub fewest: usize,
    /// A description of the measured quantity.
    pub quantity: String,
    /// The measured value; `None` if there are no trials or the value is not finite.
    pub measured: Option<f64>,
    /// The bound with which the measured value is compared.
    pub bound: f64,
    /// The rule and the counts, in a sentence.
    pub detail: String,
    /// Number of random tests, one per setting; 0 for a deterministic claim.
    pub tests: usize,
    /// The p-value of all tests together: for a true claim, a result this extreme has at most this probability. The
    /// p-value is 1 while trials are missing.
    pub p_value: f64,
    /// The slack of the statement: the factor between the bound and the measured value. For an upper bound, this is the
    /// bound divided by the measured value, up to 1e9; for a lower bound, it is the measured value divided by the
    /// bound. If there are several settings, the slack is the smallest of their factors. For a mean, the factor is
    /// computed from the mean itself and not from the end of its interval, so it does not depend on the number of
    /// trials. The slack is `None` if there are no trials or if the bound is 0, unless [`Evidence::with_slack`] states
    /// it.
    pub slack: Option<f64>,
    /// The reason why no instance approaches the bound ([`Evidence::far_because`]).
    pub far: Option<&'static str>,
    /// The claimed failure probability (the largest one if there are several settings); `None` for other claims. A null
    /// is judged against this probability.
    pub claimed_probability: Option<f64>,
}

fn finite(value: f64) -> Option<f64> {
    Some(value).filter(|v| v.is_finite())
}

/// The slack of an upper bound: bound / measured, or measured / bound if the bound is negative.
fn slack(bound: f64, measured: f64) -> Option<f64> {
    let factor = if bound < 0.0 {
        measured / bound
    } else if measured <= 0.0 {
        MAX_SLACK
    } else {
        bound / measured
    };
    (bound != 0.0 && !measured.is_nan()).then_some(factor.min(MAX_SLACK))
}

impl Evidence {
    /// Evidence for a claim that allows no exception. `ratios` contains the ratio of the measured value to the bound
    /// for each completed case; `planned` is the total number of cases. The claim holds if all cases are done and no
    /// ratio is on the wrong side of 1. A single exception refutes the claim (NaN counts as an exception). While cases
    /// are missing, a claim without exceptions is inconclusive.
    #[must_use]
    pub fn deterministic(quantity: &str, side: Side, planned: usize, ratios: &[f64]) -> Evidence {
        let within = |ratio: f64| match side {
            Side::AtMost => ratio <= 1.0 + ROUNDING,
            Side::AtLeast => ratio >= 1.0 - ROUNDING,
        };
        let (word, extreme) = match side {
            Side::AtMost => ("largest", ratios.iter().copied().reduce(f64::max)),
            Side::AtLeast => (SMALLEST, ratios.iter().copied().reduce(f64::min)),
        };
        let exceptions = ratios.iter().filter(|r| !within(**r)).count();
        let verdict = if exceptions > 0 {
            Verdict::Violated
        } else if ratios.len() < planned || planned == 0 {
            Verdict::Inconclusive
        } else {
            Verdict::Holds
        };
        Evidence {
            verdict,
            trials: ratios.len(),
            fewest: ratios.len(),
            quantity: format!("{word} {quantity}"),
            measured: extreme.and_then(finite),
            bound: 1.0,
            detail: format!("{exceptions} exceptions in {} of {planned} cases", ratios.len()),
            tests: 0,
            p_value: if exceptions > 0 { 0.0 } else { 1.0 },
            slack: extreme.and_then(|extreme| match side {
                Side::AtMost => slack(1.0, extreme),
                Side::AtLeast => finite(extreme.min(MAX_SLACK)),
            }),
            far: None,
            claimed_probability: None,
        }
    }

    /// Evidence for a claim "fails with probability at most `delta`". The claim holds if the exact 95 % upper bound on
    /// the failure probability is at most `delta`. It is violated if, for a failure probability of `delta`, at least
    /// the observed number of failures would occur with a probability of at most [`REFUTATION_LEVEL`]. It is
    /// inconclusive otherwise, and while trials are missing. Its slack is `delta` divided by the fraction of failures,
    /// or by the upper bound if no trial failed. If a trial fails because a value exceeds a bound, use
    /// [`Evidence::quantile`], whose slack does not depend on the number of trials.
    #[must_use]
    pub fn probability(planned: usize, failures: usize, trials: usize, delta: f64) -> Evidence {
        let (failed, of) = (failures as u64, trials as u64);
        let upper = binomial_upper(failed, of, CONFIDENCE);
        // The trials that finish first are a biased sample, and every interim analysis would be another test, so all
        // trials must be done before a decision.
        let complete = trials >= planned;
        let p_value = binomial_tail(failed, of, delta).filter(|_| complete).unwrap_or(1.0);
        let verdict = if !complete {
            Verdict::Inconclusive
        } else if p_value <= REFUTATION_LEVEL {
            Verdict::Violated
        } else if upper.is_some_and(|upper| upper <= delta) {
            Verdict::Holds
        } else {
            Verdict::Inconclusive
        };
        let rate = if failures > 0 { Some(failures as f64 / trials as f64) } else { upper };
        Evidence {
            verdict,
            trials,
            fewest: trials,
            quantity: "failure probability, exact 95 % upper bound".into(),
            measured: upper,
            bound: delta,
            detail: format!("{failures} failures in {trials} of {planned} trials"),
            tests: 1,
            p_value,
            slack: rate.and_then(|rate| slack(delta, rate)),
            far: None,
            claimed_probability: Some(delta),
        }
    }

    /// Evidence for a claim "measured / bound <= 1 with probability at least 1 - `delta`". `ratios` contains the ratio
    /// of the measured value to the bound for each completed trial. The claim is judged in the same way as in
    /// [`Evidence::probability`]; a ratio above 1 (or NaN) counts as a failure. Its slack is 1 divided by the (1 -
    /// `delta`) quantile of the ratios. If the bound were stricter by this factor, it would be exceeded in at most a
    /// fraction `delta` of the trials.
    ///
    /// ```
    /// use halfspaces_eval::{Evidence, Verdict};
    /// let judge = |ratios: &[f64]| Evidence::quantile(30, ratios, 0.1);
    /// // The three largest of 30 ratios may exceed the stricter bound.
    /// let ratios: Vec<f64> = (1..=30).map(|i| f64::from(i) / 54.0).collect();
    /// assert_eq!((judge(&ratios).verdict, judge(&ratios).slack), (Verdict::Holds, Some(2.0)));
    /// assert_eq!(judge(&[1.01; 30]).verdict, Verdict::Violated);
    /// ```
    #[must_use]
    pub fn quantile(planned: usize, ratios: &[f64], delta: f64) -> Evidence {
        let mut sorted: Vec<f64> =
            ratios.iter().map(|r| if r.is_nan() { f64::INFINITY } else { *r }).collect();
        sorted.sort_by(f64::total_cmp);
        let failures = sorted.iter().filter(|ratio| **ratio > 1.0).count();
        let beyond = (delta * sorted.len() as f64) as usize;
        let reached = sorted.len().checked_sub(beyond + 1).and_then(|at| sorted.get(at)).copied();
        let evidence = Evidence::probability(planned, failures, ratios.len(), delta);
        let detail = match reached {
            Some(ratio) => format!(
                "{}, measured / bound {} at the {} quantile",
                evidence.detail,
                short(&ratio),
                short(&(1.0 - delta))
            ),
            None => evidence.detail,
        };
        Evidence { detail, slack: reached.and_then(|ratio| slack(1.0, ratio)), ..evidence }
    }

    /// Evidence for a claim "grows with slope at most `bound`", given one fitted slope per independent trial. The claim
    /// holds if the 95 % Student interval of the mean slope is at or below the bound. It is violated if Student's test
    /// of the bound has a p-value of at most [`REFUTATION_LEVEL`]. It is inconclusive otherwise, and while trials are
    /// missing. If all slopes are equal, there is no p-value: the claim holds if the slopes are at or below the bound,
    /// and is inconclusive otherwise.
    #[must_use]
    pub fn growth(quantity: &str, planned: usize, slopes: &[f64], bound: f64) -> Evidence {
        Evidence::mean(quantity, planned, slopes, bound)
    }

    /// Evidence for a claim "the expectation is at most `bound`", given one value per independent trial. The claim is
    /// judged in the same way as in [`Evidence::growth`].
    #[must_use]
    pub fn mean(quantity: &str, planned: usize, values: &[f64], bound: f64) -> Evidence {
        let interval = mean_interval(values, CONFIDENCE);
        let complete = values.len() >= planned;
        let p_value = mean_tail(values, bound).filter(|_| complete).unwrap_or(1.0);
        let verdict = match interval {
            _ if !complete => Verdict::Inconclusive,
            _ if p_value <= REFUTATION_LEVEL => Verdict::Violated,
            Some(interval) if interval.high <= bound => Verdict::Holds,
            _ => Verdict::Inconclusive,
        };
        let detail = match (mean(values), interval) {
            (Some(centre), Some(i)) => format!(
                "mean {centre:.4}, 95 % interval {:.4} to {:.4}, {} of {planned} trials{}",
                i.low,
                i.high,
                values.len(),
                if coincide(values) && centre > bound { NO_SCATTER } else { "" },
            ),
            _ => format!("{} of {planned} trials: too few for an interval", values.len()),
        };
        Evidence {
            verdict,
            trials: values.len(),
            fewest: values.len(),
            quantity: format!("{quantity}, upper end of the 95 % interval"),
            measured: interval.map(|i| i.high).and_then(finite),
            bound,
            detail,
            tests: 1,
            p_value,
            slack: mean(values).and_then(|mean| slack(bound, mean)),
            far: None,
            claimed_probability: None,
        }
    }

    /// Evidence for a claim "the expectation is at least `bound`". The claim is judged in the same way as in
    /// [`Evidence::mean`].
    ///
    /// ```
    /// use halfspaces_eval::{Evidence, Verdict};
    /// let judge = |bound| Evidence::mean_at_least("m", 4, &[0.9, 1.0, 1.1, 1.0], bound);
    /// assert_eq!(judge(0.8).verdict, Verdict::Holds);
    /// assert_eq!(judge(0.8).slack, Some(1.25));
    /// assert_eq!(judge(2.0).verdict, Verdict::Violated);
    /// ```
    #[must_use]
    pub fn mean_at_least(quantity: &str, planned: usize, values: &[f64], bound: f64) -> Evidence {
        let negative: Vec<f64> = values.iter().map(|value| -value).collect();
        let evidence = Evidence::mean(quantity, planned, &negative, -bound);
        let detail = match (mean(values), mean_interval(values, CONFIDENCE)) {
            (Some(centre), Some(i)) => format!(
                "mean {centre:.4}, 95 % interval {:.4} to {:.4}, {} of {planned} trials{}",
                i.low,
                i.high,
                values.len(),
                if coincide(values) && centre < bound { NO_SCATTER } else { "" },
            ),
            _ => evidence.detail,
        };
        Evidence {
            quantity: format!("{quantity}, {LOWER_END}"),
            measured: evidence.measured.map(|high| -high),
            bound,
            detail,
            ..evidence
        }
    }

    /// Evidence for a claim about several settings, which are judged separately. The claim is violated if any setting
    /// violates it at the level [`REFUTATION_LEVEL`] divided by the total number of random tests. It holds if it holds
    /// in all settings. The numbers shown are those of the worst setting, which the detail names.
    #[must_use]
    pub fn worst_of(settings: &[(String, Evidence)]) -> Evidence {
        let tests: usize = settings.iter().map(|(_, e)| e.tests).sum();
        // The p-value of a setting, corrected for the number of tests.
        let among = |e: &Evidence| {
            let times = if e.tests == 0 { 1.0 } else { tests as f64 / e.tests as f64 };
            (e.p_value * times).min(1.0)
        };
        let settings: Vec<(&str, Evidence)> = settings
            .iter()
            .map(|(name, e)| {
                let mut setting = Evidence { p_value: among(e), ..e.clone() };
                if e.verdict == Verdict::Violated && setting.p_value > REFUTATION_LEVEL {
                    setting.verdict = Verdict::Inconclusive;
                }
                (name.as_str(), setting)
            })
            .collect();
        let severity = |verdict| match verdict {
            Verdict::Violated => 2,
            Verdict::Inconclusive => 1,
            // Weak and Observed are verdicts on a claim with its null, not on evidence.
            Verdict::Holds | Verdict::Weak | Verdict::Observed => 0,
        };
        // A larger number means a worse setting. A value that is bounded from below is negated.
        let size = |e: &Evidence| match e.measured {
            Some(low) if e.quantity.ends_with(LOWER_END) => -low,
            Some(value) => value,
            None => f64::INFINITY,
        };
        let worst = settings.iter().max_by(|(_, a), (_, b)| {
            let order = severity(a.verdict).cmp(&severity(b.verdict));
            order.then(size(a).total_cmp(&size(b)))
        });
        match worst {
            None => Evidence::mean("nothing", 1, &[], 0.0),
            Some((name, evidence)) => Evidence {
                trials: settings.iter().map(|(_, e)| e.trials).sum(),
                fewest: settings.iter().map(|(_, e)| e.fewest).min().unwrap_or(0),
                detail: format!("worst of {}: {name}; {}", settings.len(), evidence.detail),
                tests,
                p_value: settings.iter().map(|(_, e)| e.p_value).fold(1.0, f64::min),
                slack: settings.iter().filter_map(|(_, e)| e.slack).reduce(f64::min),
                far: settings.iter().find_map(|(_, e)| e.far),
                claimed_probability: settings
                    .iter()
                    .try_fold(0.0, |p: f64, (_, e)| Some(p.max(e.claimed_probability?))),
                ..evidence.clone()
            },
        }
    }

    /// States the slack of a claim whose slack is not the ratio of a bound to a value, such as a claim that a
    /// difference is at most 0. With `None`, the slack stays unknown.
    #[must_use]
    pub fn with_slack(self, slack: Option<f64>) -> Evidence {
        let slack = slack.filter(|slack| !slack.is_nan()).map(|slack| slack.min(MAX_SLACK));
        Evidence { slack, ..self }
    }

    /// States why no instance approaches the bound. Without a reason, a claim with a slack of at least
    /// [`SLACK_LIMIT`](crate::SLACK_LIMIT) is weak.
    #[must_use]
    pub fn far_because(self, reason: &'static str) -> Evidence {
        Evidence { far: Some(reason), ..self }
    }

    /// Adds a sentence to the detail.
    #[must_use]
    pub fn with_note(mut self, note: &str) -> Evidence {
        self.detail.push_str("; ");
        self.detail.push_str(note);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_linalg::{RngStream, rng_for};
    use rand::RngExt;

    #[test]
    fn one_exception_refutes_a_deterministic_claim() {
        let judge = |side, ratios: &[f64]| Evidence::deterministic("r", side, 3, ratios).verdict;
        assert_eq!(judge(Side::AtMost, &[0.1, 1.0, 0.5]), Verdict::Holds);
        assert_eq!(judge(Side::AtMost, &[0.1, 1.0 + 1e-12, 0.5]), Verdict::Holds);
        assert_eq!(judge(Side::AtMost, &[0.1, 1.0 + 1e-6, 0.5]), Verdict::Violated);
        assert_eq!(judge(Side::AtMost, &[0.1, f64::NAN, 0.5]), Verdict::Violated);
        assert_eq!(judge(Side::AtMost, &[0.1, f64::INFINITY]), Verdict::Violated);
        assert_eq!(judge(Side::AtMost, &[0.1, 0.2]), Verdict::Inconclusive);
        assert_eq!(judge(Side::AtLeast, &[1.0, 2.0, 3.0]), Verdict::Holds);
        assert_eq!(judge(Side::AtLeast, &[0.9, 2.0, 3.0]), Verdict::Violated);
        assert_eq!(
            Evidence::deterministic("r", Side::AtMost, 0, &[]).verdict,
            Verdict::Inconclusive
        );
    }

    #[test]
    fn probabilities_need_enough_trials() {
        let judge = |failures, trials| Evidence::probability(59, failures, trials, 0.05).verdict;
        assert_eq!(judge(0, 59), Verdict::Holds);
        assert_eq!(judge(0, 58), Verdict::Inconclusive);
        assert_eq!(judge(1, 59), Verdict::Inconclusive);
        // P[at least 10 of 59] = 7.6e-4, P[at least 9 of 59] = 2.7e-3.
        assert_eq!(judge(10, 59), Verdict::Violated);
        assert_eq!(judge(9, 59), Verdict::Inconclusive);
        // Early failures do not decide the claim before all trials are done.
        assert_eq!(judge(5, 10), Verdict::Inconclusive);
        assert_eq!(judge(0, 0), Verdict::Inconclusive);
    }

    #[test]
    fn slopes_are_judged_by_their_interval() {
        let judge = |slopes: &[f64], bound| Evidence::growth("slope", 4, slopes, bound).verdict;
        // For a third of the bound, t = 0.5/0.0408 = 12.2 with 3 degrees of freedom.
        let slopes = [0.9, 1.0, 1.1, 1.0];
        assert_eq!(judge(&slopes, 1.5), Verdict::Holds);
        assert_eq!(judge(&slopes, 1.5 / 3.0), Verdict::Violated);
        assert_eq!(judge(&slopes, 1.02), Verdict::Inconclusive);
        assert_eq!(judge(&slopes[..3], 1.5), Verdict::Inconclusive);
        assert_eq!(judge(&slopes[..3], 0.1), Verdict::Inconclusive);
        assert_eq!(judge(&[1.0], 1.5), Verdict::Inconclusive);
    }

    /// With two values, Student's test hardly ever rejects anything, so it is not used to refute a claim. The interval
    /// may still support a claim.
    #[test]
    fn two_trials_refute_nothing() {
        let judge = |bound| Evidence::mean("m", 2, &[100.0, 100.000_001], bound);
        assert_eq!((judge(1.0).verdict, judge(1.0).p_value), (Verdict::Inconclusive, 1.0));
        assert_eq!(judge(101.0).verdict, Verdict::Holds);
    }

    /// Equal outcomes of a biased coin have no scatter, so they refute nothing.
    #[test]
    fn values_that_coincide_refute_nothing() {
        let judge = |value: f64| Evidence::mean("m", 6, &[value; 6], 0.05);
        for above in [0.1, 1.0, 1e9] {
            let evidence = judge(above);
            assert_eq!((evidence.verdict, evidence.p_value), (Verdict::Inconclusive, 1.0));
            assert!(evidence.detail.ends_with(NO_SCATTER), "{}", evidence.detail);
        }
        let below = judge(0.01);
        assert_eq!(below.verdict, Verdict::Holds);
        assert!(!below.detail.contains(NO_SCATTER));
        // With any scatter at all, the test applies.
        let jittered = Evidence::mean("m", 6, &[1.0, 1.0, 1.0, 1.0, 1.0, 1.01], 0.05);
        assert_eq!(jittered.verdict, Verdict::Violated);
        assert!(!jittered.detail.contains(NO_SCATTER));
        // One such setting among others makes the claim inconclusive, not refuted.
        let settings = [judge(1.0), below].map(|e| (String::new(), e));
        assert_eq!(Evidence::worst_of(&settings).verdict, Verdict::Inconclusive);
    }

    #[test]
    fn one_bad_setting_decides() {
        let of = |values: &[f64]| Evidence::mean("m", 3, values, 1.0);
        let good = ("good".to_owned(), of(&[0.1, 0.2, 0.1]));
        let bad = ("bad".to_owned(), of(&[2.0, 2.01, 2.0]));
        let open = ("open".to_owned(), of(&[0.1]));
        let all = Evidence::worst_of(&[good.clone(), bad.clone(), open.clone()]);
        assert_eq!((all.verdict, all.trials), (Verdict::Violated, 7));
        assert!(all.detail.starts_with("worst of 3: bad; "));
        assert_eq!(Evidence::worst_of(&[good.clone(), open]).verdict, Verdict::Inconclusive);
        assert_eq!(Evidence::worst_of(&[good]).verdict, Verdict::Holds);
        assert_eq!(Evidence::worst_of(&[]).verdict, Verdict::Inconclusive);
    }

    /// To refute a claim about many settings, a single setting needs a correspondingly smaller p-value. An exception to
    /// a deterministic bound needs no p-value.
    #[test]
    fn settings_share_the_level() {
        let rare = ("rare".to_owned(), Evidence::probability(59, 10, 59, 0.05));
        let good = ("good".to_owned(), Evidence::probability(59, 0, 59, 0.05));
        assert_eq!(rare.1.verdict, Verdict::Violated);
        let among = |count: usize| {
            let all = [vec![rare.clone()], vec![good.clone(); count - 1]].concat();
            Evidence::worst_of(&all)
        };
        assert_eq!(among(1).verdict, Verdict::Violated);
        let two = among(2);
        assert_eq!((two.verdict, two.tests), (Verdict::Inconclusive, 2));
        assert!((two.p_value - 2.0 * rare.1.p_value).abs() < 1e-15);
        // The tests of nested settings are counted, too.
        let nested = [("two".to_owned(), two), good];
        let nested = Evidence::worst_of(&nested);
        assert!((nested.p_value - 3.0 * rare.1.p_value).abs() < 1e-15);

        let exception = Evidence::deterministic("r", Side::AtMost, 1, &[1.1]);
        let all = [nested.clone(), exception].map(|e| (String::new(), e));
        let all = Evidence::worst_of(&all);
        assert_eq!((all.verdict, all.tests), (Verdict::Violated, nested.tests));
    }

    /// Tests claims that are deliberately wrong. Random draws are judged by a true bound and by a bound that is too
    /// strict by a factor of three: a third of an upper bound, or three times a lower bound.
    #[test]
    fn every_kind_of_claim_is_refuted_when_three_times_too_strong() {
        let mut rng = rng_for(RngStream::CALLER, 1);
        let uniform: Vec<f64> = (0..200).map(|_| rng.random()).collect();
        let verdicts = |judge: &dyn Fn(f64) -> Evidence| [1.0, 3.0].map(|k| judge(k).verdict);

        let at_most = |k: f64| {
            let ratios: Vec<f64> = uniform.iter().map(|u| u * k).collect();
            Evidence::deterministic("u / 1", Side::AtMost, 200, &ratios)
        };
        let at_least = |k: f64| {
            let ratios: Vec<f64> = uniform.iter().map(|u| (1.0 + u) / k).collect();
            Evidence::deterministic("(1 + u) / 1", Side::AtLeast, 200, &ratios)
        };
        // The failure probability is 0.03 and is claimed to be at most 0.05.
        let failures = (0..2000).filter(|_| rng.random::<f64>() < 0.03).count();
        let probability = |k: f64| Evidence::probability(2000, failures, 2000, 0.05 / k);
        // The expectation is 1/2 and is claimed to be at most 0.6.
        let expectation = |k: f64| Evidence::mean("u", 200, &uniform, 0.6 / k);
        // The values y = x^0.9, with noise, are claimed to grow no faster than x.
        let slopes: Vec<f64> = (0..10)
            .map(|_| {
                let x: Vec<f64> = (1..20).map(|i| f64::from(i).ln()).collect();
                let y: Vec<f64> = x.iter().map(|x| 0.9 * x + 0.1 * rng.random::<f64>()).collect();
                crate::stats::slope(&x, &y).unwrap()
            })
            .collect();
        let growth = |k: f64| Evidence::growth("slope", 10, &slopes, 1.0 / k);
        let settings = |k: f64| {
            let both = [("p", probability(k)), ("m", expectation(k)), ("a", at_least(1.0))];
            Evidence::worst_of(&both.map(|(name, e)| (name.to_owned(), e)))
        };
        let kinds: [&dyn Fn(f64) -> Evidence; 6] =
            [&at_most, &at_least, &probability, &expectation, &growth, &settings];
        for judge in kinds {
            let quantity = judge(1.0).quantity;
            assert_eq!(verdicts(judge), [Verdict::Holds, Verdict::Violated], "{quantity}");
        }
    }

    #[test]
    fn the_worst_has_the_least_slack() {
        let of =
            |ratio: f64| (String::new(), Evidence::deterministic("q", Side::AtMost, 1, &[ratio]));
        assert_eq!(Evidence::worst_of(&[of(0.5), of(0.2)]).slack, Some(2.0));
        assert_eq!(Evidence::worst_of(&[of(0.2), of(0.5)]).slack, Some(2.0));
    }

    /// The slack depends on the bound and on the values, but not on how many values there are. The number of trials is
    /// shown separately.
    #[test]
    fn slack_does_not_depend_on_the_number_of_trials() {
        for n in [40, 400] {
            let values: Vec<f64> = (0..n).map(|i| 0.5 + 0.01 * f64::from(i % 2)).collect();
            let count = values.len();
            let ratios = Evidence::quantile(count, &values, 0.1);
            assert_eq!((ratios.slack, ratios.fewest), (Some(1.0 / 0.51), count));
            let mean = Evidence::mean("m", count, &values, 1.01);
            assert!((mean.slack.unwrap() - 2.0).abs() < 1e-12);
            let failures = Evidence::probability(count, count / 20, count, 0.2);
            assert_eq!(failures.slack, Some(4.0));
        }
        // If no trial fails, only an upper bound on the probability is known. For 59 trials, this bound is 1 -
        // 0.05^(1/59).
        let none = Evidence::probability(59, 0, 59, 0.1).slack.unwrap();
        assert!((none - 0.1 / (1.0 - 0.05f64.powf(1.0 / 59.0))).abs() < 1e-9, "{none}");
        assert_eq!(Evidence::mean("m", 3, &[-2.0, -2.1, -1.9], -1.6).slack, Some(1.25));
        let zero = Evidence::mean("m", 3, &[-2.0, -2.1, -1.9], 0.0);
        assert_eq!(zero.slack, None);
        assert_eq!(zero.clone().with_slack(Some(1.5)).slack, Some(1.5));
        assert_eq!(zero.clone().with_slack(Some(f64::NAN)).slack, None);
        assert_eq!(zero.with_slack(Some(f64::INFINITY)).slack, Some(MAX_SLACK));
    }

    /// For `delta` = 0.1, three of 39 ratios may lie beyond the stricter bound, and four of 40.
    #[test]
    fn the_quantile_leaves_the_allowed_share_beyond() {
        let slack = |n: usize| {
            let ratios: Vec<f64> = (1..=n).map(|i| i as f64 / n as f64).collect();
            1.0 / Evidence::quantile(n, &ratios, 0.1).slack.unwrap()
        };
        assert!((slack(39) - 36.0 / 39.0).abs() < 1e-12);
        assert!((slack(40) - 36.0 / 40.0).abs() < 1e-12);
        let judge = |ratios: &[f64]| Evidence::quantile(29, ratios, 0.1);
        assert_eq!(judge(&[0.0; 29]).slack, Some(MAX_SLACK));
        assert_eq!(judge(&[]).slack, None);
        assert_eq!(judge(&[1.0; 29]).verdict, Verdict::Holds);
        // NaN is a failure.
        assert_eq!(judge(&[f64::NAN; 29]).verdict, Verdict::Violated);
        assert!(judge(&[0.5; 29]).detail.ends_with("measured / bound 0.5 at the 0.9 quantile"));
    }

    #[test]
    fn the_worst_of_lower_bounds_is_the_smallest() {
        let of = |mean: f64| {
            let values = [mean, mean + 0.01, mean - 0.01, mean];
            (format!("{mean}"), Evidence::mean_at_least("m", 4, &values, 0.5))
        };
        let worst = Evidence::worst_of(&[of(0.9), of(0.6), of(2.0)]);
        assert!(worst.detail.starts_with("worst of 3: 0.6; mean 0.6000"), "{}", worst.detail);
        assert!((worst.slack.unwrap() - 1.2).abs() < 1e-12);
        assert_eq!((worst.fewest, worst.trials), (4, 12));
        assert!(worst.measured.unwrap() < 0.6 && worst.verdict == Verdict::Holds);
        assert_eq!(of(0.3).1.verdict, Verdict::Violated);
    }

    #[test]
    fn trials_that_are_not_all_in_have_no_p_value() {
        assert_eq!(Evidence::probability(59, 10, 10, 0.05).p_value, 1.0);
        assert_eq!(Evidence::mean("m", 4, &[2.0, 2.01, 2.0], 1.0).p_value, 1.0);
    }
}
