//! Errors that end a command.

use halfspaces_eval::{ExperimentError, MergeError, OutputError, RunInfoError, StoreError};
use std::error::Error;

/// Any error, displayed as one line.
pub(crate) type Failure = Box<dyn Error + Send + Sync>;

/// The message of an error for the terminal, with advice in terms of the command-line options.
pub(crate) fn explained(failure: &Failure) -> String {
    match advice(failure.as_ref()) {
        Some(advice) => format!("error: {failure}; {advice}"),
        None => format!("error: {failure}"),
    }
}

fn advice(error: &(dyn Error + 'static)) -> Option<&'static str> {
    const ELSEWHERE: &str = "fix this or choose another folder with --out";
    const OTHER: &str = "choose another folder with --out, or start over with `reproduce --fresh`";
    const FRESH: &str = "start over with --fresh";
    if let Some(error) = error.downcast_ref::<StoreError>() {
        return Some(match error {
            StoreError::Io { .. } => ELSEWHERE,
            StoreError::Write { .. } => {
                "free space or choose another folder with --out, then run the same command again"
            }
            StoreError::InUse { .. } => "wait until it ends, or choose another folder with --out",
            StoreError::Truncated { .. } => {
                "run the same command with --repair to drop that line and run its trial again"
            }
            StoreError::Malformed { .. } => {
                "delete the line to run its trial again, or start over with --fresh"
            }
            StoreError::Conflict { .. } => FRESH,
        });
    }
    if let Some(error) = error.downcast_ref::<RunInfoError>() {
        return Some(match error {
            RunInfoError::Io { .. } => "pass the output folder of a run",
            RunInfoError::Malformed { .. } | RunInfoError::OtherRun { .. } => OTHER,
        });
    }
    if let Some(error) = error.downcast_ref::<MergeError>() {
        return Some(match error {
            MergeError::OtherDivision { .. } => {
                "pass shards of the same division, that is, shards that were run with the same N in --shard I/N and with the same --only, --data and --times"
            }
            MergeError::Overlap { .. } => "pass only one of the two folders",
        });
    }
    match error.downcast_ref::<ExperimentError>() {
        Some(ExperimentError::Store(error)) => advice(error),
        Some(ExperimentError::Outcome { .. }) => Some(FRESH),
        _ => error.is::<OutputError>().then_some(ELSEWHERE),
    }
}
