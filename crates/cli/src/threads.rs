//! How many threads a command uses.

use clap::Args;
use halfspaces_linalg::Threads;

/// The option `--threads`.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct ThreadsArg {
    /// Threads; no result depends on them [default: all cores]
    #[arg(long, value_name = "N", value_parser = parse)]
    threads: Option<Threads>,
}

impl ThreadsArg {
    /// How many.
    pub(crate) fn get(self) -> Threads {
        self.threads.unwrap_or_else(Threads::all)
    }
}

fn parse(text: &str) -> Result<Threads, String> {
    let count: usize =
        text.parse().map_err(|_| "a whole number of at least 1 is needed".to_owned())?;
    Threads::new(count).map_err(|e| e.to_string())
}
