//! Null alternatives, which must not pass.

use super::evidence::{Evidence, REFUTATION_LEVEL};
use crate::stats::binomial_tail;

/// If a claim still holds after its bound is divided by this factor, the bound is far from the measurements, and the
/// null alternative [`Null::SmallerBound`] passes. A claim with at least this slack is weak whatever its null, unless
/// it states a reason ([`Evidence::far_because`]).
pub const SLACK_LIMIT: f64 = 3.0;

/// The measured null of a claim: the simplest alternative that must not pass the claim's rule.
///
/// ```
/// use halfspaces_eval::{Evidence, Null, Side};
/// let coin = Null::of_cases([true, true, false]);
/// assert_eq!(coin, Null::Rival { failures: 2, cases: 3 });
/// // A third of the bound is refuted by a run that reached half of the bound, but not by one that reached a tenth.
/// let of = |ratio| Evidence::deterministic("m / bound", Side::AtMost, 1, &[ratio]);
/// assert!(Null::SmallerBound.fails(&of(0.5)) && !Null::SmallerBound.fails(&of(0.1)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Null {
    /// Another method on the same instances. Like the claim, it is judged case by case.
    Rival {
        /// Number of cases in which the other method violates the claim.
        failures: usize,
        /// Total number of cases.
        cases: usize,
    },
    /// The bound divided by [`SLACK_LIMIT`], on the same measurements.
    SmallerBound,
}

impl Null {
    /// Creates a [`Null::Rival`] from the cases. Each case states whether the null failed.
    #[must_use]
    pub fn of_cases(failed: impl IntoIterator<Item = bool>) -> Null {
        let (mut failures, mut cases) = (0, 0);
        for failed in failed {
            failures += usize::from(failed);
            cases += 1;
        }
        Null::Rival { failures, cases }
    }

    /// The number of failures and the number of cases; a smaller bound counts as one case.
    #[must_use]
    pub fn counts(&self, evidence: &Evidence) -> (usize, usize) {
        match *self {
            Null::Rival { failures, cases } => (failures, cases),
            Null::SmallerBound => {
                let refuted = evidence.slack.is_some_and(|slack| slack < SLACK_LIMIT);
                (usize::from(refuted), 1)
            }
        }
    }

    /// Whether the null alternative fails. For a claim about a failure probability, a rival fails if its failures
    /// refute that probability by the rule of the claim, an exact test at [`REFUTATION_LEVEL`]. For any other claim, a
    /// rival fails if it violates the claim in at least half of the cases. Without cases, a rival does not fail. A
    /// smaller bound also fails if the evidence states a reason why the bound cannot be approached.
    #[must_use]
    pub fn fails(&self, evidence: &Evidence) -> bool {
        let (failures, cases) = self.counts(evidence);
        match (self, evidence.claimed_probability) {
            (Null::Rival { .. }, Some(claimed)) => {
                binomial_tail(failures as u64, cases as u64, claimed)
                    .is_some_and(|p| p <= REFUTATION_LEVEL)
            }
            (Null::SmallerBound, _) if evidence.far.is_some() => true,
            _ => cases > 0 && 2 * failures >= cases,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Side;

    #[test]
    fn half_of_the_cases_is_enough_and_none_is_not() {
        let evidence = Evidence::deterministic("m", Side::AtMost, 1, &[0.9]);
        let rival = |failures, cases| Null::Rival { failures, cases }.fails(&evidence);
        assert!(rival(2, 4) && rival(3, 5) && rival(1, 1));
        assert!(!rival(1, 4) && !rival(2, 5) && !rival(0, 0));
    }

    /// For a claimed probability, the null is judged by the same test as the claim: the null fails if its failures
    /// refute the probability.
    #[test]
    fn beside_a_probability_the_null_must_refute_it() {
        let fails = |failures, cases, claimed| {
            let evidence = Evidence::probability(100, 0, 100, claimed);
            Null::Rival { failures, cases }.fails(&evidence)
        };
        // P[Binomial(59, 0.05) >= 10] = 7.6e-4, and P[Binomial(59, 0.05) >= 9] = 2.7e-3.
        assert!(fails(10, 59, 0.05) && !fails(9, 59, 0.05));
        // If failures are allowed in 60 % of the cases, a null that fails in half of them passes.
        assert!(!fails(55, 100, 0.6) && fails(80, 100, 0.6));
        assert!(!fails(0, 0, 0.05));
        let settings =
            [0.05, 0.6].map(|claimed| (String::new(), Evidence::probability(100, 0, 100, claimed)));
        let several = Evidence::worst_of(&settings);
        assert_eq!(several.claimed_probability, Some(0.6));
        assert!(!Null::Rival { failures: 55, cases: 100 }.fails(&several));
        let mean = (String::new(), Evidence::mean("m", 3, &[1.0, 2.0, 1.5], 2.0));
        let mixed = Evidence::worst_of(&[settings[0].clone(), mean]);
        assert_eq!(mixed.claimed_probability, None);
        assert!(Null::Rival { failures: 50, cases: 100 }.fails(&mixed));
    }

    #[test]
    fn a_third_of_the_bound_is_the_limit() {
        let of = |side, ratio| Evidence::deterministic("m", side, 1, &[ratio]);
        assert!(Null::SmallerBound.fails(&of(Side::AtMost, 1.0 / 2.99)));
        assert!(!Null::SmallerBound.fails(&of(Side::AtMost, 1.0 / 3.01)));
        assert!(Null::SmallerBound.fails(&of(Side::AtLeast, 2.99)));
        assert!(!Null::SmallerBound.fails(&of(Side::AtLeast, 3.01)));
        let far = of(Side::AtMost, 0.01).far_because("no instance is known");
        assert!(Null::SmallerBound.fails(&far) && Null::SmallerBound.counts(&far) == (0, 1));
        assert!(!Null::Rival { failures: 0, cases: 1 }.fails(&far));
        // A mean that is compared with 0 has no bound that could be divided.
        let mean = Evidence::mean("m", 3, &[-1.0, -2.0, -1.5], 0.0);
        assert_eq!(mean.slack, None);
        assert!(!Null::SmallerBound.fails(&mean));
    }
}
