//! Massart noise without a margin: a decision list of halfspaces in radially isotropic position.
//!
//! Each round considers the points that no rule covers yet, until few are left. They are brought into radially
//! isotropic position on a subspace that contains at least its share of them, and a direction is found there. A region
//! in which the direction is accurate enough becomes a rule. It is chosen on held-out examples by the signed sum G =
//! E\[(1\[wrong\] - λ) 1\[region\]\] with λ = η + ε/2.
//!
//! *Guarantee.* Error at most η + ε with probability at least 1 - δ, for every distribution of the points, from
//! Õ((dλ/ε²)(d³ + d²/ε²)) examples: docs/theory/massart-without-margin.md.
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
