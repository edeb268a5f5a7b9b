//! Turns experiments into verdicts: seeded trials, exact statistics, claims judged by fixed rules, and a report.

#![doc = include_str!("../README.md")]
#![cfg_attr(test, allow(clippy::float_cmp, reason = "tests compare exact values on purpose"))]

mod claim;
mod division;
mod experiment;
mod figure;
mod host;
mod output;
mod report;
mod run_info;
mod scale;
mod share;
pub mod stats;
mod store;
mod table;
mod text;
mod trial;

/// The `rand` crate, whose generators appear in [`Experiment::trial`] and [`trial_rng`].
pub use rand;

pub use claim::{
    Claim, ClaimKind, ClaimStatement, Evidence, MAX_SAMPLED_CLAIMS, Null, REFUTATION_LEVEL,
    SLACK_LIMIT, Side, Verdict,
};
pub use division::{Costs, Division};
pub use experiment::{
    AnyExperiment, Description, Experiment, ExperimentError, Finding, Group, Planned, Results,
    Section,
};
pub use figure::{Axis, AxisScale, Colour, Figure, Layer};
pub use host::Host;
pub use output::{OutputError, output_names, remove_output, write_atomically, write_outputs};
pub use report::{Appendix, Report, ReportError};
pub use run_info::{ConfigurationTime, ExperimentTime, RunInfo, RunInfoError, SCHEMA};
pub use scale::Scale;
pub use share::{MergeError, Share};
pub use store::{FolderLock, StoreError, TrialStore};
pub use table::Table;
pub use trial::{Shard, TrialKey, fnv1a, trial_rng};
