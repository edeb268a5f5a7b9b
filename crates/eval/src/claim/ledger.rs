//! Claims, before and after they are judged.

use super::evidence::{Evidence, LOWER_END, REFUTATION_LEVEL, SMALLEST, Verdict};
use super::null::{Null, SLACK_LIMIT};
use crate::text::short;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The basis of a claim.
///
/// ```
/// use halfspaces_eval::ClaimKind;
/// assert_eq!(ClaimKind::Measured.to_string(), "measured");
/// assert_eq!(serde_json::to_string(&ClaimKind::Proved)?, "\"proved\"");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClaimKind {
    /// A theorem with its constants, from a source or from this project.
    Proved,
    /// A number from earlier measurements. The claim is judged with other seeds.
    Measured,
    /// A statement that is reported but not counted among the claims that hold, because no failing null was found.
    Observation,
}

impl ClaimKind {
    /// All kinds, in the order of the ledger's counts.
    pub const ALL: [ClaimKind; 3] =
        [ClaimKind::Proved, ClaimKind::Measured, ClaimKind::Observation];
}

impl fmt::Display for ClaimKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            ClaimKind::Proved => "proved",
            ClaimKind::Measured => "measured",
            ClaimKind::Observation => "observation",
        })
    }
}

/// The statement of a claim, and its source.
///
/// ```
/// use halfspaces_eval::{Claim, ClaimKind, ClaimStatement, Evidence, Null, Side};
/// let statement = ClaimStatement {
///     id: "K3".into(),
///     statement: "at most (R/γ)² mistakes".into(),
///     source: "Kakade Theorem 4.1".into(),
///     kind: ClaimKind::Proved,
///     null: "the bound divided by 3".into(),
///     checks: &[],
/// };
/// let evidence = Evidence::deterministic("mistakes / bound", Side::AtMost, 2, &[0.5, 0.9]);
/// let claim = Claim::new(statement.clone(), "K", evidence, Null::SmallerBound);
/// assert_eq!(claim.statement, statement.statement);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimStatement {
    /// Identifier in the ledger, such as `K3`.
    pub id: String,
    /// The claim in one sentence.
    pub statement: String,
    /// The source document, and the number of the statement in it.
    pub source: String,
    /// The basis of the claim.
    pub kind: ClaimKind,
    /// The null: the simplest alternative that must not pass.
    pub null: String,
    /// Paths of the public items that are run to test the claim, such as `halfspaces_online::Perceptron`.
    pub checks: &'static [&'static str],
}

/// A claim with its verdict: one line of the ledger.
///
/// ```
/// use halfspaces_eval::{Claim, ClaimKind, ClaimStatement, Evidence, Null, Verdict};
/// let statement = ClaimStatement {
///     id: "P1".into(),
///     statement: "fails with probability at most 1/2".into(),
///     source: "CKST24 Theorem 3".into(),
///     kind: ClaimKind::Proved,
///     null: "a coin".into(),
///     checks: &[],
/// };
/// let judge = |ratio, coin: [bool; 20]| {
///     let evidence = Evidence::quantile(20, &[ratio; 20], 0.5);
///     Claim::new(statement.clone(), "P", evidence, Null::of_cases(coin))
/// };
/// let violated = judge(1.1, [true; 20]);
/// assert_eq!((violated.verdict, violated.tests), (Verdict::Violated, 1));
/// // 2⁻²⁰
/// assert!(violated.detail.contains("p = 9.54e-7"));
/// assert_eq!(judge(0.9, [true; 20]).verdict, Verdict::Holds);
/// // A result that a coin also achieves shows nothing, and neither does a bound that is never approached.
/// assert_eq!(judge(0.9, [false; 20]).verdict, Verdict::Weak);
/// assert_eq!(judge(0.1, [true; 20]).verdict, Verdict::Weak);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// Identifier in the ledger, such as `K3`.
    pub id: String,
    /// The claim in one sentence.
    pub statement: String,
    /// The source document, and the number of the statement in it.
    pub source: String,
    /// The basis of the claim.
    pub kind: ClaimKind,
    /// The null: the simplest alternative that must not pass.
    pub null: String,
    /// Number of cases in which the null failed. A null that consists of a smaller bound counts as one case.
    pub null_failures: usize,
    /// Number of cases of the null.
    pub null_cases: usize,
    /// The slack of the statement ([`Evidence::slack`]); `None` (in JSON `null`) if there are no trials.
    pub slack: Option<f64>,
    /// The reason why no instance approaches the bound; `None` unless the claim states one.
    pub far: Option<String>,
    /// The experiment that tested the claim.
    pub experiment: String,
    /// The verdict.
    pub verdict: Verdict,
    /// Number of trials in all settings together.
    pub trials: usize,
    /// Number of trials in the setting with the fewest trials. Each setting is judged on its own trials.
    pub fewest: usize,
    /// A description of the measured quantity.
    pub quantity: String,
    /// The measured value; `None` if there are no trials.
    pub measured: Option<f64>,
    /// The bound with which the measured value is compared.
    pub bound: f64,
    /// The rule and the counts, in a sentence.
    pub detail: String,
    /// Number of random tests; 0 for a deterministic claim.
    pub tests: usize,
}

impl Claim {
    /// Combines a statement with its evidence and the evidence on its null. For a claim based on random samples, the
    /// detail ends with the p-value. A claim that passed its rule is weak unless the null fails ([`Null::fails`]) and
    /// the slack either is below [`SLACK_LIMIT`] or has a stated reason. A claim with unknown slack is weak. An
    /// observation is `Observed`, regardless of its null and its slack.
    #[must_use]
    pub fn new(
        statement: ClaimStatement,
        experiment: &str,
        evidence: Evidence,
        null: Null,
    ) -> Claim {
        let verdict = match (evidence.verdict, statement.kind) {
            (Verdict::Holds, ClaimKind::Observation) => Verdict::Observed,
            (Verdict::Holds, _) if !null.fails(&evidence) || !is_near(&evidence) => Verdict::Weak,
            (verdict, _) => verdict,
        };
        let (null_failures, null_cases) = null.counts(&evidence);
        let mut detail = evidence.detail;
        let rule = format!("violated at {REFUTATION_LEVEL} or less");
        match evidence.tests {
            0 => (),
            1 => detail.push_str(&format!("; p = {}, {rule}", short(&evidence.p_value))),
            tests => {
                let p = short(&evidence.p_value);
                detail.push_str(&format!("; p = {p} after Bonferroni over {tests} tests, {rule}"));
            }
        }
        Claim {
            id: statement.id,
            statement: statement.statement,
            source: statement.source,
            kind: statement.kind,
            null: statement.null,
            null_failures,
            null_cases,
            slack: evidence.slack,
            far: evidence.far.map(str::to_owned),
            experiment: experiment.into(),
            verdict,
            trials: evidence.trials,
            fewest: evidence.fewest,
            quantity: evidence.quantity,
            measured: evidence.measured,
            bound: evidence.bound,
            detail,
            tests: evidence.tests,
        }
    }

    /// Fraction of the cases in which the null failed; `None` if there are no cases.
    #[must_use]
    pub fn null_failure_rate(&self) -> Option<f64> {
        (self.null_cases > 0).then(|| self.null_failures as f64 / self.null_cases as f64)
    }

    /// Whether the bound is a lower bound.
    #[must_use]
    pub fn bounds_from_below(&self) -> bool {
        self.quantity.starts_with(SMALLEST) || self.quantity.ends_with(LOWER_END)
    }

    /// The slack, as text for the ledger.
    #[must_use]
    pub fn slack_text(&self) -> String {
        match (&self.slack, &self.far) {
            (None, _) => "slack unknown".into(),
            (Some(slack), None) => format!("slack {}", short(slack)),
            (Some(slack), Some(reason)) => format!("slack {}, {reason}", short(slack)),
        }
    }

    /// The number of trials on which the verdict is based, as text for the ledger.
    #[must_use]
    pub fn trials_text(&self) -> String {
        if self.fewest == self.trials {
            format!("{} trials", self.trials)
        } else {
            format!("{} trials, at least {} per setting", self.trials, self.fewest)
        }
    }

    /// The null and its result, as text for the ledger.
    #[must_use]
    pub fn null_text(&self) -> String {
        match (self.null_failures, self.null_cases) {
            (_, 0) => format!("{}: not measured", self.null),
            (failures, 1) => {
                format!("{}: {}", self.null, if failures == 1 { "fails" } else { "passes" })
            }
            (failures, cases) => format!("{}: fails in {failures} of {cases}", self.null),
        }
    }
}

/// Whether the bound is near the measurements, or the evidence states why it cannot be.
fn is_near(evidence: &Evidence) -> bool {
    evidence.far.is_some() || evidence.slack.is_some_and(|slack| slack < SLACK_LIMIT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Side;

    fn statement(kind: ClaimKind) -> ClaimStatement {
        ClaimStatement {
            id: "X".into(),
            statement: "s".into(),
            source: "t".into(),
            kind,
            null: "a coin".into(),
            checks: &[],
        }
    }

    const FAILS: Null = Null::Rival { failures: 3, cases: 3 };
    const PASSES: Null = Null::Rival { failures: 1, cases: 3 };

    /// Tests the verdicts for each kind of claim if the bound is wrong, the null replaces the learner, the null passes,
    /// or trials are missing.
    #[test]
    fn every_kind_has_its_verdicts() {
        // Each rule is tested with the ratios of the learner, with the ratios of its null, which violate the bound, and
        // with fewer ratios than planned.
        let rules: [&dyn Fn(f64, usize) -> Evidence; 3] = [
            &|ratio, n| Evidence::deterministic("m", Side::AtMost, 60, &vec![ratio; n]),
            &|ratio, n| Evidence::quantile(60, &vec![ratio; n], 0.09),
            &|ratio, n| {
                let values: Vec<f64> = (0..n).map(|i| ratio + 0.001 * (i % 7) as f64).collect();
                Evidence::mean("m", 60, &values, 1.1)
            },
        ];
        for judge in rules {
            let (learner, coin, cut) = (judge(0.9, 60), judge(2.0, 60), judge(0.9, 30));
            for (kind, as_claimed, no_null) in [
                (ClaimKind::Proved, Verdict::Holds, Verdict::Weak),
                (ClaimKind::Measured, Verdict::Holds, Verdict::Weak),
                (ClaimKind::Observation, Verdict::Observed, Verdict::Observed),
            ] {
                let verdict = |evidence: &Evidence, null| {
                    Claim::new(statement(kind), "X", evidence.clone(), null).verdict
                };
                assert_eq!(verdict(&learner, FAILS), as_claimed);
                assert_eq!(verdict(&learner, PASSES), no_null);
                assert_eq!(verdict(&learner, Null::of_cases([])), no_null);
                for null in [FAILS, PASSES] {
                    assert_eq!(verdict(&coin, null), Verdict::Violated);
                    assert_eq!(verdict(&cut, null), Verdict::Inconclusive);
                }
            }
        }
    }

    #[test]
    fn the_ledger_says_what_became_of_the_null() {
        let evidence = Evidence::deterministic("m", Side::AtMost, 1, &[0.25]);
        let text = |null| Claim::new(statement(ClaimKind::Proved), "X", evidence.clone(), null);
        assert_eq!(text(FAILS).null_text(), "a coin: fails in 3 of 3");
        assert_eq!(text(FAILS).null_failure_rate(), Some(1.0));
        assert_eq!(text(Null::of_cases([])).null_text(), "a coin: not measured");
        assert_eq!(text(Null::of_cases([])).null_failure_rate(), None);
        assert_eq!(text(Null::SmallerBound).null_text(), "a coin: passes");
        assert_eq!(text(Null::SmallerBound).slack_text(), "slack 4");
    }

    /// A claim whose measurements are far inside its bound is weak for every null, unless it states a reason. A claim
    /// with unknown slack is weak too.
    #[test]
    fn a_bound_that_nothing_comes_near_is_weak() {
        // The limit itself is already too far.
        for (ratio, expected) in [(1.0 / 3.0, Verdict::Weak), (0.34, Verdict::Holds)] {
            let evidence = Evidence::deterministic("m", Side::AtMost, 1, &[ratio]);
            let claim = Claim::new(statement(ClaimKind::Proved), "X", evidence, FAILS);
            assert_eq!(claim.verdict, expected, "{}", claim.slack_text());
        }
        let claim =
            |evidence: Evidence| Claim::new(statement(ClaimKind::Proved), "X", evidence, FAILS);
        let of = |ratio: f64| Evidence::deterministic("m", Side::AtMost, 1, &[ratio]);
        assert_eq!(claim(of(1.0 / 2.99)).verdict, Verdict::Holds);
        assert_eq!(claim(of(1.0 / 3.01)).verdict, Verdict::Weak);
        let far = claim(of(0.1).far_because("as nothing comes near it"));
        assert_eq!(far.verdict, Verdict::Holds);
        assert_eq!(far.slack_text(), "slack 10, as nothing comes near it");
        let difference = Evidence::mean("m", 3, &[-2.0, -2.1, -1.9], 0.0);
        assert_eq!(claim(difference.clone()).verdict, Verdict::Weak);
        assert_eq!(claim(difference.clone()).slack_text(), "slack unknown");
        assert_eq!(claim(difference.with_slack(Some(1.2))).verdict, Verdict::Holds);
        let seen = Claim::new(statement(ClaimKind::Observation), "X", of(0.1), FAILS);
        assert_eq!(seen.verdict, Verdict::Observed);
    }

    #[test]
    fn the_ledger_says_on_how_many_trials_a_claim_rests() {
        let of = |n: usize| (String::new(), Evidence::quantile(n, &vec![0.9; n], 0.1));
        let text = |settings: &[(String, Evidence)]| {
            let evidence = Evidence::worst_of(settings);
            Claim::new(statement(ClaimKind::Proved), "X", evidence, FAILS).trials_text()
        };
        assert_eq!(text(&[of(40)]), "40 trials");
        assert_eq!(text(&[of(40), of(30)]), "70 trials, at least 30 per setting");
    }

    #[test]
    fn the_ledger_names_the_level_that_was_used() {
        let statement = || statement(ClaimKind::Proved);
        let sampled = Evidence::probability(59, 0, 59, 0.05);
        let claim = Claim::new(statement(), "X", sampled.clone(), FAILS);
        assert!(claim.detail.ends_with("; p = 1, violated at 0.00078 or less"), "{}", claim.detail);
        let many = vec![(String::new(), sampled); 7];
        let claim = Claim::new(statement(), "X", Evidence::worst_of(&many), FAILS);
        assert!(claim.detail.contains("after Bonferroni over 7 tests") && claim.tests == 7);
        let exact = Evidence::deterministic("r", Side::AtMost, 1, &[0.5]);
        assert!(!Claim::new(statement(), "X", exact, FAILS).detail.contains("p ="));
    }

    #[test]
    fn the_ledger_line_is_valid_json_even_without_trials() {
        let evidence = Evidence::deterministic("r", Side::AtMost, 2, &[]);
        let claim = Claim::new(statement(ClaimKind::Proved), "X", evidence, FAILS);
        let text = serde_json::to_string(&claim).unwrap();
        assert!(
            text.contains(r#""verdict":"inconclusive""#) && text.contains(r#""measured":null"#)
        );
        assert_eq!(serde_json::from_str::<Claim>(&text).unwrap(), claim);
    }
}
