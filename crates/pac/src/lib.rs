//! Learning halfspaces from random examples whose labels are noisy.
//!
//! The Perspectron family (CKST24 and ours), each with an error and the probability that it is no larger:
//!
//! - [`SamplePerspectron`]: a sample of fixed size, noise and margin unknown. If unsure, use this one.
//! - [`Perspectron`]: Massart noise of rate at most η, margin γ.
//! - [`GlmPerspectron`]: noise that falls with the margin by a known link.
//! - [`PositionedMassart`]: Massart noise of rate at most η, no margin: a decision list of halfspaces in position.
//! - [`GridPerspectron`]: unknown noise rate, and margin if need be; [`MarginSearch`]: unknown margin.
//!
//! What it is measured against: [`Ddk`], [`Dgt`], [`Ckmy`] and [`CuttingPlane`] of the literature,
//! [`LogisticRegression`] and [`LinearSvm`] as people use today, and two [`Heuristic`]s without guarantee.
//! [`RandomProjection`] goes before any of them, [`PushAway`] moves points out of the margin, and
//! [`ErrorCount`] judges a [`Classifier`](halfspaces_linalg::Classifier), and [`TemperatureScaling`] makes probabilities of its values.
//!
//! Parameters are checked into a learner by [`Params`](halfspaces_linalg::Params). A
//! [`FitStream`](halfspaces_linalg::FitStream) takes a stream of examples in one pass, a
//! [`FitSample`](halfspaces_linalg::FitSample) a sample; the Perspectrons but one take both, a sample in its
//! order. η is the noise rate, γ the margin, ε the excess and δ the failure probability everywhere
//! ([`NoiseSetting`]). Every constant of a theorem is a function: the Perspectrons' in [`schedule`], the others' beside
//! their learner.
//!
//! ```
//! use halfspaces_data::{Instance, MarginBall, Massart, Region, random_target};
//! use halfspaces_linalg::{FitStream, Params};
//! use halfspaces_pac::Perspectron;
//! // Points with margin 0.3; labels far from the boundary are flipped with probability 0.1.
//! let target = random_target(5, 1)?;
//! let noise = Massart::new(0.1, Region::Far(0.5))?;
//! let instance = Instance::new(MarginBall::new(&target, 0.3)?, target, noise)?;
//!
//! let learner = Perspectron::params(0.1, 0.3).excess(0.2).failure(0.05).check()?;
//! println!("{} examples", learner.plan().examples());
//! let fit = learner.fit_stream(&mut instance.stream(2))?;
//! assert!(instance.population(5000, 3)?.error(fit.halfspace())?.mean() <= 0.1 + 0.2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![cfg_attr(test, allow(clippy::float_cmp, reason = "tests compare exact values on purpose"))]

mod audit;
mod classes;
mod error_count;
mod fit;
mod mean_size;
mod noise_setting;
mod perspectron;
mod positioned;
mod push_away;
mod random_projection;
mod rivals;
mod saved;
pub mod schedule;
mod selection;
mod temperature;
#[cfg(test)]
mod test_data;

pub use audit::{LabelAudit, Suspect, wrong_labels_bound};
pub use classes::{Against, ClassesError, OneVsOne, OneVsOneModel, OneVsRest, OneVsRestModel};
pub use error_count::{ErrorBound, ErrorCount};
pub use fit::{Denominator, Direction, Fit, Fitting, Guarantee, Origin, Plan, SignLink, Stage};
pub use noise_setting::NoiseSetting;
pub use perspectron::{
    GlmError, GlmParams, GlmPerspectron, GlmSchedule, GridParams, GridPerspectron, GridSchedule,
    Guess, Margin, MarginSearch, NOISE_GUESSES, Perspectron, PerspectronParams, SampleFit,
    SampleParams, SamplePerspectron, Schedule, SearchFit, Selection,
};
pub use positioned::{
    PositionedAnswer, PositionedDecisionList, PositionedFit, PositionedMassart, PositionedParams,
    PositionedParts, PositionedPlan, PositionedRule, PositionedSchedule, Remainder,
    RuleCertificate, RuleCount, positioned_choice, positioned_draws, positioned_failure,
    positioned_leak, positioned_points, positioned_rules, positioned_slack, positioned_step,
    positioned_steps, positioned_stop, positioned_test,
};
pub use push_away::PushAway;
pub use random_projection::{
    Projected, ProjectedFit, RandomProjection, projected_dimension, projected_margin,
};
pub use rivals::{
    Ckmy, CkmyParams, CuttingPlane, CuttingPlaneFit, CuttingPlaneParams, DESCENT_MAX_STEPS,
    DGT_ATTEMPTS, Ddk, DdkParams, DecisionListOfHalfspaces, DescentFit, DescentParams, Dgt, DgtFit,
    DgtParams, DgtRound, GlmHeuristic, Heuristic, HeuristicParams, HeuristicRun, LeakyRelu,
    LinearSvm, LogisticFit, LogisticParams, LogisticRegression, MAX_CHOLESKY, SvmFit, SvmParams,
    ThresholdRule, ckmy_error, ckmy_step_size, ckmy_steps, cutting_plane_batch,
    cutting_plane_rounds, ddk_excess, ddk_step_size, ddk_steps, dgt_rounds, dgt_step_size,
    dgt_steps, dgt_training_error, feasible_radius, heuristic_step, heuristic_steps,
};
pub use selection::{Candidates, Choice, Elimination};
pub use temperature::TemperatureScaling;
