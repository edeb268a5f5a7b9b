//! Counts of claims: the claims that hold, by kind; the claims with other verdicts; and all claims, by slack.

use crate::claim::{Claim, ClaimKind, SLACK_LIMIT, Verdict};

/// The slack above which a bound says little about the measured values.
const FAR: f64 = 10.0;

/// The totals of the ledger: the number of claims that hold, by kind, then the counts of the other verdicts that occur.
/// The number of claims that hold is shown even if it is 0.
pub(super) fn counts(claims: &[&Claim]) -> Vec<(Verdict, String)> {
    let mut counts = Vec::new();
    for verdict in Verdict::ALL {
        let of: Vec<&&Claim> = claims.iter().filter(|c| c.verdict == verdict).collect();
        match verdict {
            Verdict::Holds => {
                for kind in [ClaimKind::Proved, ClaimKind::Measured] {
                    let count = of.iter().filter(|c| c.kind == kind).count();
                    let hold = if count == 1 { "holds" } else { "hold" };
                    counts.push((verdict, format!("{count} {kind} {hold}")));
                }
            }
            _ if of.is_empty() => (),
            Verdict::Observed => {
                let plural = if of.len() == 1 { "" } else { "s" };
                counts.push((verdict, format!("{} observation{plural}", of.len())));
            }
            _ => counts.push((verdict, format!("{} {verdict}", of.len()))),
        }
    }
    counts
}

/// The number of claims by slack: "Slack: below 3 in 70 claims, 3 to 10 in 4, above 10 in 2".
pub(super) fn by_slack(claims: &[&Claim]) -> String {
    let slacks: Vec<f64> = claims.iter().filter_map(|claim| claim.slack).collect();
    let near = slacks.iter().filter(|slack| **slack < SLACK_LIMIT).count();
    let far = slacks.iter().filter(|slack| **slack > FAR).count();
    let between = slacks.len() - near - far;
    let mut text = format!(
        "Slack: below {SLACK_LIMIT} in {near} claims, {SLACK_LIMIT} to {FAR} in {between}, above {FAR} in {far}"
    );
    if slacks.len() < claims.len() {
        text.push_str(&format!(", unknown in {}", claims.len() - slacks.len()));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ClaimStatement, Evidence, Null, Side};

    #[test]
    fn slacks_are_counted_at_their_limits() {
        let claim = |evidence| {
            let [id, statement, source, null] = ["X", "s", "t", "n"].map(str::to_owned);
            let kind = ClaimKind::Observation;
            let statement = ClaimStatement { id, statement, source, kind, null, checks: &[] };
            Claim::new(statement, "X", evidence, Null::SmallerBound)
        };
        let of = |slack: f64| Evidence::deterministic("m", Side::AtLeast, 1, &[slack]);
        let claims = [1.0, 2.99, 3.0, 10.0, 10.01].map(|slack| claim(of(slack)));
        let text = by_slack(&claims.iter().collect::<Vec<_>>());
        assert_eq!(text, "Slack: below 3 in 2 claims, 3 to 10 in 2, above 10 in 1");
        let unknown = claim(Evidence::deterministic("m", Side::AtMost, 1, &[]));
        assert!(by_slack(&[&unknown]).ends_with("above 10 in 0, unknown in 1"));
    }
}
