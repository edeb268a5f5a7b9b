//! Learning under Massart noise without a margin: a decision list of halfspaces in radially isotropic position.
//!
//! Rounds are repeated until few points remain uncovered. Each round brings the points that no rule covers yet into
//! radially isotropic position on a subspace. In d dimensions, a subspace of dimension k contains at least a fraction
//! k/d of these points. Then the round computes a direction in the subspace. A region in which the direction is
//! accurate enough becomes a rule. The region is chosen on other examples by the signed sum G = E\[(1\[wrong\] - λ)
//! 1\[region\]\] with λ = η + ε/2.
//!
//! *Guarantee.* With probability at least 1 - δ, the error is at most η + ε, for every distribution of the points. The
//! learner needs Õ((dλ/ε²)(d³ + d²/ε²)) examples; see docs/theory/massart-without-margin.md.
//!
//! *Source.* DKT21; the argument and its constants are ours. Claims: PM, PMn, PMt.

mod descent;
mod fit;
mod learner;
mod list;
mod params;
mod region;
mod rule;
mod schedule;
mod source;
#[cfg(test)]
mod tests;

pub use fit::{PositionedFit, RuleCertificate};
pub use learner::{PositionedMassart, PositionedParts};
pub use list::{PositionedDecisionList, RuleCount};
pub use params::PositionedParams;
pub use rule::{PositionedAnswer, PositionedRule};
pub use schedule::{
    PositionedPlan, PositionedSchedule, positioned_choice, positioned_leak, positioned_points,
    positioned_rules, positioned_steps,
};
pub use source::Remainder;
