//! The command line. The arguments of the commands in [`SUITE`] are read by the program of the experiments.

use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// The commands that the program of the experiments runs.
pub(crate) const SUITE: [&str; 5] = ["reproduce", "report", "list", "bench", "instructions"];

/// Measure every claim of the halfspaces workspace and check the workspace.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", version, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the experiments and check their claims. Interrupted runs are resumed.
    Reproduce,
    /// Rebuild the ledger, tables, figures and page from the trials of one or more output folders.
    Report,
    /// List experiments and claims.
    List,
    /// Write docs/index.md: every theorem with its code, claim, experiment, tables and figures.
    Index,
    /// Check layers, module cycles, documents, phrases and the index.
    Tidy(TidyOptions),
    /// Write the documentation as a web site, target/site/html, and check its links.
    Site(SiteOptions),
    /// Measure speed and memory and compare them with the limits of this machine.
    Bench,
    /// Count the instructions per row of eleven inner loops and compare them with the recorded counts.
    Instructions,
}

#[derive(Debug, Args)]
pub(crate) struct TidyOptions {
    /// Root of the workspace to check [default: this one]
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct SiteOptions {
    /// Address of the repository, for links to its sources [default: copy the sources into the site]
    #[arg(long, value_name = "URL")]
    pub(crate) repository: Option<String>,
    /// Python environment with Zensical and the package `halfspaces` [default: the programs in PATH]
    #[arg(long, value_name = "DIR")]
    pub(crate) environment: Option<PathBuf>,
}
