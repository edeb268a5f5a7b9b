//! Claims, before and after they are judged.

use super::evidence::{Evidence, REFUTATION_LEVEL, Verdict};
use crate::text::short;
use serde::{Deserialize, Serialize};

/// What is claimed, and where it is from.
///
/// ```
/// use halfspaces_eval::{Claim, ClaimStatement, Evidence, Side};
/// let statement = ClaimStatement {
///     id: "K3".into(),
///     statement: "at most (R/γ)² mistakes".into(),
///     source: "Kakade Theorem 4.1".into(),
///     checks: &[],
/// };
/// let evidence = Evidence::deterministic("mistakes / bound", Side::AtMost, 2, &[0.5, 0.9]);
/// assert_eq!(Claim::new(statement.clone(), "K", evidence).statement, statement.statement);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimStatement {
    /// Identifier in the ledger, such as `K3`.
    pub id: String,
    /// The claim in one sentence.
    pub statement: String,
    /// Document and number.
    pub source: String,
    /// Paths of the public items that it checks, such as `halfspaces_online::Perceptron`.
    pub checks: &'static [&'static str],
}

/// A claim with its verdict: one line of the ledger.
///
/// ```
/// use halfspaces_eval::{Claim, ClaimStatement, Evidence, Verdict};
/// let statement = "fails with probability at most 1/2".into();
/// let statement = ClaimStatement { id: "P1".into(), statement, source: "CKST24 Theorem 3".into(), checks: &[] };
/// let claim = Claim::new(statement, "P", Evidence::probability(20, 20, 20, 0.5));
/// assert_eq!((claim.verdict, claim.tests), (Verdict::Violated, 1));
/// // 2⁻²⁰
/// assert!(claim.detail.contains("p = 9.54e-7"));
/// ```
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
    /// Random tests it rests on; 0 for a deterministic claim.
    pub tests: usize,
}

impl Claim {
    /// Joins a statement with its evidence; the detail of a claim that rests on chance ends with its
    /// p-value.
    #[must_use]
    pub fn new(statement: ClaimStatement, experiment: &str, evidence: Evidence) -> Claim {
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
            experiment: experiment.into(),
            verdict: evidence.verdict,
            trials: evidence.trials,
            quantity: evidence.quantity,
            measured: evidence.measured,
            bound: evidence.bound,
            detail,
            tests: evidence.tests,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Side;

    #[test]
    fn the_ledger_names_the_level_that_was_used() {
        let statement = || ClaimStatement {
            id: "X".into(),
            statement: "s".into(),
            source: "t".into(),
            checks: &[],
        };
        let sampled = Evidence::probability(59, 0, 59, 0.05);
        let claim = Claim::new(statement(), "X", sampled.clone());
        assert!(claim.detail.ends_with("; p = 1, violated at 0.001 or less"), "{}", claim.detail);
        let many = vec![(String::new(), sampled); 7];
        let claim = Claim::new(statement(), "X", Evidence::worst_of(&many));
        assert!(claim.detail.contains("after Bonferroni over 7 tests") && claim.tests == 7);
        let exact = Evidence::deterministic("r", Side::AtMost, 1, &[0.5]);
        assert!(!Claim::new(statement(), "X", exact).detail.contains("p ="));
    }

    #[test]
    fn the_ledger_line_is_valid_json_even_without_trials() {
        let statement = ClaimStatement {
            id: "X".into(),
            statement: "s".into(),
            source: "t".into(),
            checks: &[],
        };
        let evidence = Evidence::deterministic("r", Side::AtMost, 2, &[]);
        let claim = Claim::new(statement, "X", evidence);
        let text = serde_json::to_string(&claim).unwrap();
        assert!(
            text.contains(r#""verdict":"inconclusive""#) && text.contains(r#""measured":null"#)
        );
        assert_eq!(serde_json::from_str::<Claim>(&text).unwrap(), claim);
    }
}
