//! The file `run.json`, which records the program, the seed, the scale and the cost of the run in an output folder.

use crate::host::Host;
use crate::scale::Scale;
use crate::share::Share;
use crate::text::json_text;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Version of the layout of the output folder.
pub const SCHEMA: u32 = 1;

/// The cost of an experiment.
///
/// ```
/// use halfspaces_eval::ExperimentTime;
/// let time: ExperimentTime = serde_json::from_str(r#"{"id": "D", "seconds": 1.5, "trials": 60}"#)?;
/// assert_eq!((time.seconds, time.trials), (1.5, 60));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExperimentTime {
    /// The experiment.
    pub id: String,
    /// Wall time in seconds, summed over interrupted runs.
    pub seconds: f64,
    /// Number of trials in the store.
    pub trials: usize,
    /// Times of the configurations of the experiment, used to predict the costs of a later run.
    #[serde(default)]
    pub configurations: Vec<ConfigurationTime>,
}

/// The cost of a configuration.
///
/// ```
/// use halfspaces_eval::ConfigurationTime;
/// let time = ConfigurationTime { configuration: r#"{"d":3}"#.into(), seconds: 1.5, trials: 60 };
/// assert!(serde_json::to_string(&time)?.contains(r#""trials":60"#));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConfigurationTime {
    /// The configuration as JSON.
    pub configuration: String,
    /// Total time of the trials in seconds. Each trial is timed on one thread.
    pub seconds: f64,
    /// Number of trials that were timed.
    pub trials: usize,
}

impl ExperimentTime {
    /// An experiment without trials.
    #[must_use]
    pub fn new(id: &str) -> ExperimentTime {
        ExperimentTime { id: id.into(), seconds: 0.0, trials: 0, configurations: Vec::new() }
    }

    /// Adds the time of another run of the same experiment.
    pub fn add(&mut self, other: &ExperimentTime) {
        self.seconds += other.seconds;
        for time in &other.configurations {
            self.add_trials(&time.configuration, time.seconds, time.trials);
        }
    }

    /// Adds the time of some trials of a configuration.
    pub fn add_trials(&mut self, configuration: &str, seconds: f64, trials: usize) {
        let known = self.configurations.iter_mut().find(|t| t.configuration == configuration);
        match known {
            Some(time) => {
                time.seconds += seconds;
                time.trials += trials;
            }
            None => {
                let configuration = configuration.into();
                self.configurations.push(ConfigurationTime { configuration, seconds, trials });
            }
        }
    }
}

/// The contents of `run.json`.
///
/// ```
/// use halfspaces_eval::RunInfo;
/// use std::path::Path;
/// let run: RunInfo = serde_json::from_str(
///     r#"{"schema": 1, "version": "0.1.0", "scale": "smoke", "seed": 1, "data_sets": [],
///         "options": [], "experiments": [],
///         "host": {"os": "linux", "arch": "x86_64", "processor": "a", "cores": 2}}"#,
/// )?;
/// // A run can be continued with its own seed, but with no other.
/// let other = RunInfo { seed: 2, ..run.clone() };
/// assert!(run.check_continues(&run, Path::new("run.json")).is_ok());
/// assert!(other.check_continues(&run, Path::new("run.json")).is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunInfo {
    /// The value of [`SCHEMA`] at the time of the run.
    pub schema: u32,
    /// The program, with details that distinguish its builds.
    pub version: String,
    /// Scale of the run.
    pub scale: Scale,
    /// Seed of the run.
    pub seed: u64,
    /// Data sets other than the built-in ones, with details that distinguish their contents.
    pub data_sets: Vec<String>,
    /// The command's options, as given.
    pub options: Vec<String>,
    /// The machine of the run; for merged shards, the machine that merged them.
    pub host: Host,
    /// The shards in this folder: one shard, or several that were merged. Empty for a whole run.
    #[serde(default)]
    pub shares: Vec<Share>,
    /// Times of the chosen experiments, including those that have not begun.
    pub experiments: Vec<ExperimentTime>,
    /// Tables and figures that the run has written. A later run replaces them.
    #[serde(default)]
    pub outputs: Vec<String>,
}

/// The reason why an output folder cannot be used.
///
/// ```
/// use halfspaces_eval::{RunInfo, RunInfoError};
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("run.json");
/// assert!(matches!(RunInfo::read(&path), Err(RunInfoError::Io { .. })));
/// std::fs::write(&path, "{}")?;
/// assert!(matches!(RunInfo::read(&path), Err(RunInfoError::Malformed { .. })));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Error)]
pub enum RunInfoError {
    /// The file cannot be read.
    #[error("{}: cannot read: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The file is not a `run.json`.
    #[error("{}: not a run.json ({reason})", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The message of the parser.
        reason: String,
    },
    /// The folder belongs to another run.
    #[error("{}: the folder contains a run with {what} {found}, but this run has {expected}; use another folder", path.display())]
    OtherRun {
        /// The file.
        path: PathBuf,
        /// The property that differs.
        what: &'static str,
        /// The value of the property in the folder.
        found: String,
        /// The value of the property in this run.
        expected: String,
    },
}

impl RunInfo {
    /// Reads a `run.json`.
    ///
    /// # Errors
    /// [`RunInfoError::Io`], [`RunInfoError::Malformed`].
    pub fn read(path: &Path) -> Result<RunInfo, RunInfoError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| RunInfoError::Io { path: path.into(), source })?;
        serde_json::from_str(&text)
            .map_err(|e| RunInfoError::Malformed { path: path.into(), reason: e.to_string() })
    }

    /// Checks that this run may continue the run `earlier`, which was read from `path`, or be merged with it. A run of
    /// one shard may continue only a run of the same shard.
    ///
    /// # Errors
    /// [`RunInfoError::OtherRun`] for the first difference.
    pub fn check_continues(&self, earlier: &RunInfo, path: &Path) -> Result<(), RunInfoError> {
        let facts = |info: &RunInfo| {
            [
                ("schema", info.schema.to_string()),
                ("version", info.version.clone()),
                ("scale", info.scale.to_string()),
                ("seed", info.seed.to_string()),
                ("data sets", format!("{:?}", info.data_sets)),
            ]
        };
        let shards = |info: &RunInfo| {
            let names: Vec<String> = info.shares.iter().map(Share::to_string).collect();
            ("shards", if names.is_empty() { "none".into() } else { names.join(", ") })
        };
        let mut pairs: Vec<_> = facts(earlier).into_iter().zip(facts(self)).collect();
        if !self.shares.is_empty() {
            pairs.push((shards(earlier), shards(self)));
        }
        for ((what, found), (_, expected)) in pairs {
            if found != expected {
                return Err(RunInfoError::OtherRun { path: path.into(), what, found, expected });
            }
        }
        Ok(())
    }

    /// The contents of the file.
    #[must_use]
    pub fn to_json(&self) -> String {
        json_text(self)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn example() -> RunInfo {
        RunInfo {
            schema: SCHEMA,
            version: "0.1.0".into(),
            scale: Scale::Smoke,
            seed: 1,
            data_sets: vec![],
            options: vec![],
            host: Host { os: "o".into(), arch: "a".into(), processor: "p".into(), cores: 2 },
            shares: vec![],
            experiments: vec![],
            outputs: vec![],
        }
    }

    /// The times of two runs are added for each configuration. The number of trials is not added, because it is counted
    /// in the store.
    #[test]
    fn times_of_two_runs_are_added() {
        let mut first = ExperimentTime { seconds: 2.0, trials: 5, ..ExperimentTime::new("D") };
        first.add_trials("{}", 0.5, 5);
        let mut second = ExperimentTime { seconds: 3.0, trials: 9, ..ExperimentTime::new("D") };
        second.add_trials("{}", 0.25, 4);
        second.add_trials("[]", 1.0, 1);
        first.add(&second);
        let of = |configuration: &str, seconds, trials| ConfigurationTime {
            configuration: configuration.into(),
            seconds,
            trials,
        };
        assert_eq!((first.seconds, first.trials), (5.0, 5));
        assert_eq!(first.configurations, [of("{}", 0.75, 9), of("[]", 1.0, 1)]);
    }

    #[test]
    fn another_run_is_refused_by_its_first_difference() {
        let info = example();
        let path = Path::new("x/run.json");
        info.check_continues(&info, path).unwrap();
        let seed = RunInfo { seed: 2, ..info.clone() };
        let message = info.check_continues(&seed, path).unwrap_err().to_string();
        assert!(message.contains("seed 2, but this run has 1"));
        let version = RunInfo { version: "0.2.0".into(), ..info.clone() };
        assert!(info.check_continues(&version, path).is_err());

        let share = |shard: &str, finished| {
            let (shard, division) = (shard.parse().unwrap(), "9f".into());
            RunInfo { shares: vec![Share { shard, division, finished }], ..info.clone() }
        };
        share("1/2", false).check_continues(&share("1/2", true), path).unwrap();
        let message = share("1/2", false).check_continues(&share("2/2", false), path).unwrap_err();
        let expected = "shards 2/2 of division 9f, but this run has 1/2 of division 9f";
        assert!(message.to_string().contains(expected), "{message}");
        assert!(share("1/2", false).check_continues(&info, path).is_err());
        // A whole run may continue the run of a shard.
        info.check_continues(&share("1/2", false), path).unwrap();
        assert_eq!(serde_json::from_str::<RunInfo>(&info.to_json()).unwrap(), info);
    }
}
