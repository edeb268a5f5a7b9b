//! Learners of halfspaces from random examples with noisy labels.
//!
#![doc = include_str!("../README.md")]
#![cfg_attr(test, allow(clippy::float_cmp, reason = "tests compare exact values on purpose"))]

mod audit;
mod baselines;
mod calibration;
mod candidate_errors;
mod classes;
mod error_count;
mod fit;
mod linear;
mod mean_size;
mod noise_setting;
mod perspectron;
mod positioned;
mod push_away;
mod random_projection;
#[cfg(feature = "serde")]
mod saved;
pub mod schedule;
mod selection;
mod streams;
#[cfg(test)]
mod test_data;

pub use audit::{LabelAudit, Suspect, class_shifts, wrong_labels_bound};
pub use baselines::{
    Ckmy, CkmyParams, CuttingPlane, CuttingPlaneFit, CuttingPlaneParams, Ddk, DdkParams,
    DecisionListOfHalfspaces, DescentFit, DescentParams, Dgt, DgtFit, DgtParams, DgtRound,
    GlmHeuristic, Heuristic, HeuristicParams, HeuristicRun, LeakyRelu, ThresholdRule, ckmy_steps,
    cutting_plane_batch, cutting_plane_rounds, ddk_steps, dgt_rounds,
};
pub use calibration::Calibration;
pub use candidate_errors::{CandidateErrors, ErrorCounts};
pub use classes::{ClassesError, LogOdds, OneVsRest, OneVsRestModel};
pub use error_count::{ErrorBound, ErrorCount};
pub use fit::{Denominator, Direction, Fit, Fitting, Guarantee, Origin, Plan, SignLink, Stage};
pub use linear::{
    LinearSvm, LogisticFit, LogisticParams, LogisticPass, LogisticRegression, LogisticSum, SvmFit,
    SvmParams,
};
pub use noise_setting::NoiseSetting;
pub use perspectron::{
    GlmError, GlmParams, GlmPerspectron, GlmSchedule, GridParams, GridPerspectron, GridSchedule,
    Guess, Margin, MarginSearch, MisspecifiedGlm, MisspecifiedGlmParams, Perspectron,
    PerspectronParams, SampleFit, SampleParams, SamplePerspectron, Schedule, SearchFit, Selection,
};
pub use positioned::{
    PositionedAnswer, PositionedDecisionList, PositionedFit, PositionedMassart, PositionedParams,
    PositionedParts, PositionedPlan, PositionedRule, PositionedSchedule, Remainder,
    RuleCertificate, RuleCount, positioned_choice, positioned_leak, positioned_points,
    positioned_rules, positioned_steps,
};
pub use push_away::PushAway;
pub use random_projection::{
    Projected, ProjectedFit, RandomProjection, projected_dimension, projected_margin,
};
pub use selection::{Candidates, Choice, Elimination};
