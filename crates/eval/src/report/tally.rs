//! The number of claims that hold, by kind, and of the other verdicts.

use crate::claim::{Claim, ClaimKind, Verdict};

/// The totals of the ledger: the claims that hold, by kind, then the other verdicts that occur. The number of claims
/// that hold is shown even if it is 0.
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
