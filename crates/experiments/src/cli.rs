//! The command line.

use clap::{Args, Parser, Subcommand, ValueEnum};
use halfspaces_eval::{Scale, Shard};
use std::path::PathBuf;

/// Measure every claim of the halfspaces workspace.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", version, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the experiments and judge their claims. The same command resumes an interrupted run.
    ///
    /// Exit status: 0 if no claim is violated and (beyond smoke scale) none is weak, 1 otherwise, 2 on a usage or input
    /// error, 130 or 143 if interrupted by Ctrl-C or `kill`. Finished trials of an interrupted run are kept.
    Reproduce(ReproduceOptions),
    /// Rebuild the ledger, tables, figures and page from the trials of one or more output folders.
    Report(ReportOptions),
    /// List experiments and claims.
    List(ListOptions),
    /// Measure speed and memory, and compare them with the limits of this machine.
    Bench(BenchOptions),
}

#[derive(Debug, Args)]
pub(crate) struct ReproduceOptions {
    /// Size of the run: smoke (under a minute), standard (about ten minutes), full (two hours) or huge (days, for clusters)
    #[arg(long, default_value = "standard")]
    pub(crate) scale: Scale,
    /// Run only these experiments or claims, by id, separated by commas or spaces
    #[arg(long, value_name = "ID", num_args = 1..)]
    pub(crate) only: Vec<String>,
    /// Seed of every random stream
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Number of trials run in parallel [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,
    /// Output folder [default: target/reproduce/SCALE, with -shard-I-of-N for a shard]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Delete earlier results in the output folder
    #[arg(long)]
    pub(crate) fresh: bool,
    /// Drop an incomplete last line of trials.jsonl and run its trial again
    #[arg(long)]
    pub(crate) repair: bool,
    /// Run part I of N of the trials; merge the parts with `report`. The parts have about the same predicted cost
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<Shard>,
    /// Predict the costs of trials from the run.json of an earlier run; give all parts the same file
    #[arg(long, value_name = "FILE", requires = "shard")]
    pub(crate) times: Option<PathBuf>,
    /// Folder with additional data sets (magic.csv, spambase.csv, adult/adult.data); missing files are
    /// skipped
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ReportOptions {
    /// Output folders of one run or of its shards
    #[arg(required = true, value_name = "DIR")]
    pub(crate) folders: Vec<PathBuf>,
    /// Output folder [default: the input folder, or target/reproduce/SCALE-merged for several]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ListOptions {
    /// Print JSON, including the items that are run to test each claim and the tables and figures of each experiment
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BenchOptions {
    /// Run smaller jobs and fewer rounds, in under three minutes in total
    #[arg(long)]
    pub(crate) quick: bool,
    /// Measure only these jobs, by name, separated by commas or spaces
    #[arg(long, value_name = "JOB", num_args = 1..)]
    pub(crate) only: Vec<String>,
    /// Measure only these tables [default: all]
    #[arg(long, value_name = "TABLE,..", value_delimiter = ',')]
    pub(crate) tables: Vec<Measurement>,
    /// Output file for the measurements [default: target/bench.json]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Run one case of the memory table and print the peak memory of this process
    #[arg(long, value_name = "CASE:POINTS", hide = true)]
    pub(crate) peak: Option<String>,
    /// Write the pools into a folder and serve jobs on request, for benches/peers
    #[arg(long, value_name = "DIR", hide = true)]
    pub(crate) serve: Option<PathBuf>,
}

/// A table of `bench`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Measurement {
    /// Every job, compared with its limit.
    Jobs,
    /// Peak memory.
    Memory,
    /// Times at several sizes.
    Growth,
    /// Latency after an answer in a labelling session.
    Answers,
    /// Jobs on one thread and on two threads.
    Threads,
}
