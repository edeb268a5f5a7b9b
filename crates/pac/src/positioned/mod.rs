//! Massart noise without a margin: a decision list of halfspaces in radially isotropic position.
//!
//! While more than a little is undecided: points of what is left are brought into radially isotropic position
//! on a subspace that holds its share of them; a direction is found there; on examples kept back the region
//! where it is right often enough is chosen by the signed sum G = E\[(1\[wrong\] - λ) 1\[region\]\],
//! λ = η + ε/2, and becomes a rule.
//!
//! *Guarantee.* Error at most η + ε with probability at least 1 - δ, for every distribution of the points,
//! from Õ((dλ/ε²)(d³ + d²/ε²)) examples: docs/theory/massart-without-margin.md.
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
    PositionedPlan, PositionedSchedule, positioned_choice, positioned_draws, positioned_failure,
    positioned_leak, positioned_points, positioned_rules, positioned_slack, positioned_step,
    positioned_steps, positioned_stop, positioned_test,
};
pub use source::Remainder;
