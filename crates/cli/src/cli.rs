//! The subcommands and the general help.

use crate::commands::audit::{self, AuditArgs};
use crate::commands::compare::{self, CompareArgs};
use crate::commands::completions::{CompletionsArgs, ManArgs, completions, man};
use crate::commands::correct::{self, CorrectArgs};
use crate::commands::evaluate::{self, EvaluateArgs};
use crate::commands::explain::{self, ExplainArgs};
use crate::commands::export::{self, ExportArgs};
use crate::commands::fit::{self, FitArgs};
use crate::commands::inspect::{self, InspectArgs};
use crate::commands::label::{self, LabelArgs};
use crate::commands::predict::{self, PredictArgs};
use crate::commands::transform::{self, TransformArgs};
use crate::error::CliError;
use clap::{CommandFactory, Parser, Subcommand};

const EXIT_CODES: &str = "Exit codes:
  0    success
  1    another failure, such as a full disk
  2    an invalid argument or file; one line says what is wrong and where
  130  interrupted by Ctrl-C
  143  terminated by kill

Results are written to standard output, notes and progress to standard error. No file is overwritten without --force.
On a terminal the output has colours, unless NO_COLOR is set or TERM is dumb.";

/// Fit a classifier to a table, then predict, evaluate and explain; label data; find wrong labels.
#[derive(Debug, Parser)]
#[command(name = "halfspaces", version, arg_required_else_help = true, after_help = EXIT_CODES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    #[command(alias = "train")]
    Fit(FitArgs),
    Predict(PredictArgs),
    Evaluate(EvaluateArgs),
    Compare(CompareArgs),
    Explain(ExplainArgs),
    Export(ExportArgs),
    Label(LabelArgs),
    Audit(AuditArgs),
    Correct(CorrectArgs),
    Transform(TransformArgs),
    Inspect(InspectArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
}

impl Command {
    /// Runs the subcommand.
    pub(crate) fn run(self) -> Result<(), CliError> {
        match self {
            Command::Fit(args) => fit::run(&args),
            Command::Predict(args) => predict::run(&args),
            Command::Evaluate(args) => evaluate::run(&args),
            Command::Compare(args) => compare::run(&args),
            Command::Explain(args) => explain::run(&args),
            Command::Export(args) => export::run(&args),
            Command::Label(args) => label::run(&args),
            Command::Audit(args) => audit::run(&args),
            Command::Correct(args) => correct::run(&args),
            Command::Transform(args) => transform::run(&args),
            Command::Inspect(args) => inspect::run(&args),
            Command::Completions(args) => completions(&args, Cli::command()),
            Command::Man(args) => man(&args, Cli::command()),
        }
    }
}
