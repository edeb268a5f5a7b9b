//! The machine of a run.

use serde::{Deserialize, Serialize};

/// The machine of a run. The report shows it, but the machines of two runs are never compared.
///
/// ```
/// use halfspaces_eval::Host;
/// let host = Host::detect();
/// assert!(host.cores >= 1);
/// assert_eq!(serde_json::from_str::<Host>(&serde_json::to_string(&host)?)?, host);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// Operating system.
    pub os: String,
    /// Processor architecture.
    pub arch: String,
    /// Processor model, or "unknown" if the system does not report it.
    pub processor: String,
    /// Cores available to this process.
    pub cores: usize,
}

impl Host {
    /// The current machine. The processor model is known only on Linux.
    #[must_use]
    pub fn detect() -> Host {
        let processor = std::fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
            let line = text.lines().find(|line| line.starts_with("model name"))?;
            Some(line.split_once(':')?.1.trim().to_owned())
        });
        Host {
            os: std::env::consts::OS.into(),
            arch: std::env::consts::ARCH.into(),
            processor: processor.unwrap_or_else(|| "unknown".into()),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}
