//! The command line.

use crate::commands::audit::AuditArgs;
use crate::commands::completions::{CompletionsArgs, ManArgs};
use crate::commands::evaluate::EvaluateArgs;
use crate::commands::explain::ExplainArgs;
use crate::commands::fit::FitArgs;
use crate::commands::label::LabelArgs;
use crate::commands::predict::PredictArgs;
use crate::commands::transform::TransformArgs;
use clap::{Parser, Subcommand};

const EXIT_CODES: &str = "Exit codes:
  0    done
  1    failed for another reason, such as a full disk
  2    an argument or a file is wrong; one line says what and where
  130  stopped by Ctrl-C
  143  stopped by kill

Results go to standard output, notes and progress to standard error. A file is never overwritten without --force.";

/// Learn a classifier from a table, label, predict, evaluate, explain and audit.
#[derive(Debug, Parser)]
#[command(name = "halfspaces", version, arg_required_else_help = true, after_help = EXIT_CODES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Fit(FitArgs),
    Predict(PredictArgs),
    Evaluate(EvaluateArgs),
    Explain(ExplainArgs),
    Label(LabelArgs),
    Audit(AuditArgs),
    Transform(TransformArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
}
