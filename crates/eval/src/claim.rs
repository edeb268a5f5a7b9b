//! Claims and how they are judged.

use crate::stats::{binomial_lower, binomial_upper, mean, mean_interval};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Confidence of every bound a verdict rests on.
const CONFIDENCE: f64 = 0.95;

/// Relative slack on a deterministic bound: the rounding of the bound itself, which theorems may
/// meet with equality.
const ROUNDING: f64 = 1e-9;

/// What the measurements say about a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Every planned trial is in, and the claim passed its rule.
    Holds,
    /// The measurements refute the claim.
    Violated,
    /// They decide neither way, or trials are missing.
    Inconclusive,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Verdict::Holds => "holds",
            Verdict::Violated => "violated",
            Verdict::Inconclusive => "inconclusive",
        })
    }
}

/// What is claimed, and where it is from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimStatement {
    /// Identifier in the ledger, such as `K3`.
    pub id: String,
    /// The claim in one sentence.
    pub statement: String,
    /// Document and number.
    pub source: String,
}

/// Whether a deterministic claim bounds its ratio from above or from below.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// measured / bound <= 1 in every trial.
    AtMost,
    /// measured / bound >= 1 in every trial.
    AtLeast,
}

/// The measurements behind a verdict.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    /// The verdict.
    pub verdict: Verdict,
    /// Trials it rests on.
    pub trials: usize,
    /// What was measured, in words.
    pub quantity: String,
    /// Its value; `None` without trials or where it is not finite.
    pub measured: Option<f64>,
    /// What it is compared with.
    pub bound: f64,
    /// The rule and the counts, in a sentence.
    pub detail: String,
}

fn finite(value: f64) -> Option<f64> {
    Some(value).filter(|v| v.is_finite())
}

impl Evidence {
    /// A claim that allows no exception: one ratio of measured to bound per case, `planned` cases
    /// in all. Holds with every case in and none on the wrong side of 1; violated by a single
    /// exception (a NaN is one); inconclusive while cases are missing.
    #[must_use]
    pub fn deterministic(quantity: &str, side: Side, planned: usize, ratios: &[f64]) -> Evidence {
        let within = |ratio: f64| match side {
            Side::AtMost => ratio <= 1.0 + ROUNDING,
            Side::AtLeast => ratio >= 1.0 - ROUNDING,
        };
        let (word, extreme) = match side {
            Side::AtMost => ("largest", ratios.iter().copied().reduce(f64::max)),
            Side::AtLeast => ("smallest", ratios.iter().copied().reduce(f64::min)),
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
            quantity: format!("{word} {quantity}"),
            measured: extreme.and_then(finite),
            bound: 1.0,
            detail: format!("{exceptions} exceptions in {} of {planned} cases", ratios.len()),
        }
    }

    /// A claim "fails with probability at most `delta`". Holds when the exact 95 % upper bound on
    /// the failure probability is at most `delta`; violated when the
    /// exact 95 % lower bound exceeds it; inconclusive otherwise, and while trials are missing.
    #[must_use]
    pub fn probability(planned: usize, failures: usize, trials: usize, delta: f64) -> Evidence {
        let (failed, of) = (failures as u64, trials as u64);
        let upper = binomial_upper(failed, of, CONFIDENCE);
        let lower = binomial_lower(failed, of, CONFIDENCE);
        // The trials that finish first are no fair sample, and every look is another test: nothing
        // is decided before all are in.
        let verdict = if trials < planned {
            Verdict::Inconclusive
        } else if lower.is_some_and(|lower| lower > delta) {
            Verdict::Violated
        } else if upper.is_some_and(|upper| upper <= delta) {
            Verdict::Holds
        } else {
            Verdict::Inconclusive
        };
        Evidence {
            verdict,
            trials,
            quantity: "failure probability, exact 95 % upper bound".into(),
            measured: upper,
            bound: delta,
            detail: format!("{failures} failures in {trials} of {planned} trials"),
        }
    }

    /// A claim "grows with slope at most `bound`": one fitted slope per independent trial. Holds
    /// when the 95 % Student interval of their mean lies at or below the bound, violated when it lies
    /// above, inconclusive when it straddles or trials are missing.
    #[must_use]
    pub fn growth(quantity: &str, planned: usize, slopes: &[f64], bound: f64) -> Evidence {
        Evidence::mean(quantity, planned, slopes, bound)
    }

    /// A claim "the expectation is at most `bound`": one value per independent trial, judged as
    /// [`Evidence::growth`] judges slopes.
    #[must_use]
    pub fn mean(quantity: &str, planned: usize, values: &[f64], bound: f64) -> Evidence {
        let interval = mean_interval(values, CONFIDENCE);
        let verdict = match interval {
            _ if values.len() < planned => Verdict::Inconclusive,
            Some(interval) if interval.low > bound => Verdict::Violated,
            Some(interval) if interval.high <= bound => Verdict::Holds,
            _ => Verdict::Inconclusive,
        };
        let detail = match (mean(values), interval) {
            (Some(centre), Some(i)) => format!(
                "mean {centre:.4}, 95 % interval {:.4} to {:.4}, {} of {planned} trials",
                i.low,
                i.high,
                values.len()
            ),
            _ => format!("{} of {planned} trials: too few for an interval", values.len()),
        };
        Evidence {
            verdict,
            trials: values.len(),
            quantity: format!("{quantity}, upper end of the 95 % interval"),
            measured: interval.map(|i| i.high).and_then(finite),
            bound,
            detail,
        }
    }

    /// A claim about several settings, each judged on its own: violated if it is in any, holding if
    /// it does in all. The numbers shown are those of the worst setting, which the detail names.
    #[must_use]
    pub fn worst_of(settings: &[(String, Evidence)]) -> Evidence {
        let severity = |verdict| match verdict {
            Verdict::Violated => 2,
            Verdict::Inconclusive => 1,
            Verdict::Holds => 0,
        };
        let size = |e: &Evidence| e.measured.unwrap_or(f64::INFINITY);
        let worst = settings.iter().max_by(|(_, a), (_, b)| {
            let order = severity(a.verdict).cmp(&severity(b.verdict));
            order.then(size(a).total_cmp(&size(b)))
        });
        match worst {
            None => Evidence::mean("nothing", 1, &[], 0.0),
            Some((name, evidence)) => Evidence {
                trials: settings.iter().map(|(_, e)| e.trials).sum(),
                detail: format!("worst of {}: {name}; {}", settings.len(), evidence.detail),
                ..evidence.clone()
            },
        }
    }

    /// Adds a sentence to the detail.
    #[must_use]
    pub fn with_note(mut self, note: &str) -> Evidence {
        self.detail.push_str("; ");
        self.detail.push_str(note);
        self
    }
}

/// A claim with its verdict: one line of the ledger.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// Identifier in the ledger, such as `K3`.
    pub id: String,
    /// The claim in one sentence.
    pub statement: String,
    /// Document and number.
    pub source: String,
    /// The experiment that measured it.
    pub experiment: String,
    /// The verdict.
    pub verdict: Verdict,
    /// Trials the verdict rests on.
    pub trials: usize,
    /// What was measured, in words.
    pub quantity: String,
    /// Its value; `null` without trials.
    pub measured: Option<f64>,
    /// What it is compared with.
    pub bound: f64,
    /// The rule and the counts, in a sentence.
    pub detail: String,
}

impl Claim {
    /// Joins a statement with its evidence.
    #[must_use]
    pub fn new(statement: ClaimStatement, experiment: &str, evidence: Evidence) -> Claim {
        Claim {
            id: statement.id,
            statement: statement.statement,
            source: statement.source,
            experiment: experiment.into(),
            verdict: evidence.verdict,
            trials: evidence.trials,
            quantity: evidence.quantity,
            measured: evidence.measured,
            bound: evidence.bound,
            detail: evidence.detail,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(judge(10, 59), Verdict::Violated);
        // Early failures decide nothing before all trials are in.
        assert_eq!(judge(5, 10), Verdict::Inconclusive);
        assert_eq!(judge(0, 0), Verdict::Inconclusive);
    }

    #[test]
    fn slopes_are_judged_by_their_interval() {
        let judge = |slopes: &[f64], bound| Evidence::growth("slope", 4, slopes, bound).verdict;
        let slopes = [0.9, 1.0, 1.1, 1.0];
        assert_eq!(judge(&slopes, 1.5), Verdict::Holds);
        assert_eq!(judge(&slopes, 1.5 / 3.0), Verdict::Violated);
        assert_eq!(judge(&slopes, 1.02), Verdict::Inconclusive);
        assert_eq!(judge(&slopes[..3], 1.5), Verdict::Inconclusive);
        assert_eq!(judge(&slopes[..3], 0.1), Verdict::Inconclusive);
        assert_eq!(judge(&[1.0], 1.5), Verdict::Inconclusive);
    }

    #[test]
    fn one_bad_setting_decides() {
        let of = |values: &[f64]| Evidence::mean("m", 3, values, 1.0);
        let good = ("good".to_owned(), of(&[0.1, 0.2, 0.1]));
        let bad = ("bad".to_owned(), of(&[2.0, 2.1, 2.0]));
        let open = ("open".to_owned(), of(&[0.1]));
        let all = Evidence::worst_of(&[good.clone(), bad.clone(), open.clone()]);
        assert_eq!((all.verdict, all.trials), (Verdict::Violated, 7));
        assert!(all.detail.starts_with("worst of 3: bad; "));
        assert_eq!(Evidence::worst_of(&[good.clone(), open]).verdict, Verdict::Inconclusive);
        assert_eq!(Evidence::worst_of(&[good]).verdict, Verdict::Holds);
        assert_eq!(Evidence::worst_of(&[]).verdict, Verdict::Inconclusive);
    }

    #[test]
    fn the_ledger_line_is_valid_json_even_without_trials() {
        let statement =
            ClaimStatement { id: "X".into(), statement: "s".into(), source: "t".into() };
        let evidence = Evidence::deterministic("r", Side::AtMost, 2, &[]);
        let claim = Claim::new(statement, "X", evidence);
        let text = serde_json::to_string(&claim).unwrap();
        assert!(
            text.contains(r#""verdict":"inconclusive""#) && text.contains(r#""measured":null"#)
        );
        assert_eq!(serde_json::from_str::<Claim>(&text).unwrap(), claim);
    }
}
