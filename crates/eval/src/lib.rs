//! Turns experiments into verdicts: seeded trials that survive interruption, exact statistics,
//! claims judged by stated rules, tables, figures and one self-contained HTML report.
//!
//! The crate knows no learner. An [`Experiment`] hands it configurations, runs one trial at a time
//! from a generator of its own, and reads the outcomes back as numbers:
//!
//! - [`TrialStore`] keeps one trial a line in an append-only file; a killed run goes on where it
//!   stopped, and shards of a run are merged by reading their files together.
//! - [`trial_rng`] gives every trial its own stream, so results depend neither on threads nor on
//!   order nor on shards.
//! - [`Claim`]s are judged [`Verdict::Holds`], [`Verdict::Violated`] or [`Verdict::Inconclusive`]
//!   by the rules in [`Evidence`], and [`Verdict::Weak`] where their [`Null`] passes as well.
//!
//! ```
//! use halfspaces_eval::{Evidence, Side, Verdict};
//! // Three trials of "mistakes <= bound": ratios of measured to bound.
//! let evidence = Evidence::deterministic("mistakes / bound", Side::AtMost, 3, &[0.4, 0.9, 0.7]);
//! assert_eq!(evidence.verdict, Verdict::Holds);
//! // A missing trial leaves it open, an exception decides it.
//! let open = Evidence::deterministic("mistakes / bound", Side::AtMost, 4, &[0.4, 0.9, 0.7]);
//! assert_eq!(open.verdict, Verdict::Inconclusive);
//! let refuted = Evidence::deterministic("mistakes / bound", Side::AtMost, 4, &[0.4, 1.1]);
//! assert_eq!(refuted.verdict, Verdict::Violated);
//! ```
#![cfg_attr(test, allow(clippy::float_cmp, reason = "tests compare exact values on purpose"))]

mod claim;
mod experiment;
mod figure;
mod host;
mod output;
mod report;
mod run_info;
mod scale;
pub mod stats;
mod store;
mod table;
mod text;
mod trial;

/// The generator types of [`Experiment::trial`] and [`trial_rng`].
pub use rand;

pub use claim::{
    Claim, ClaimKind, ClaimStatement, Evidence, MAX_SAMPLED_CLAIMS, Null, REFUTATION_LEVEL,
    SLACK_LIMIT, Side, Verdict,
};
pub use experiment::{
    AnyExperiment, Description, Experiment, ExperimentError, Finding, Group, Planned, Results,
    Section,
};
pub use figure::{Axis, AxisScale, Colour, Figure, Layer};
pub use host::Host;
pub use output::{OutputError, output_names, remove_output, write_atomically, write_outputs};
pub use report::{Appendix, Report, ReportError};
pub use run_info::{ExperimentTime, RunInfo, RunInfoError, SCHEMA};
pub use scale::Scale;
pub use store::{FolderLock, StoreError, TrialStore};
pub use table::Table;
pub use trial::{Shard, TrialKey, fnv1a, trial_rng};
