//! What the command does, one module per subcommand.

pub(crate) mod audit;
pub(crate) mod completions;
pub(crate) mod evaluate;
pub(crate) mod explain;
pub(crate) mod fit;
mod judged;
pub(crate) mod label;
pub(crate) mod predict;
pub(crate) mod transform;

use crate::cli::Command;
use crate::error::CliError;
use crate::output::say;
use serde::Serialize;

/// Runs a subcommand.
pub(crate) fn run(command: Command) -> Result<(), CliError> {
    match command {
        Command::Fit(args) => fit::run(&args),
        Command::Predict(args) => predict::run(&args),
        Command::Evaluate(args) => evaluate::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Label(args) => label::run(&args),
        Command::Audit(args) => audit::run(&args),
        Command::Transform(args) => transform::run(&args),
        Command::Completions(args) => completions::completions(&args),
        Command::Man(args) => completions::man(&args),
    }
}

/// Prints a result as JSON.
pub(crate) fn say_json<T: Serialize>(result: &T) -> Result<(), CliError> {
    let text = serde_json::to_string_pretty(result);
    let text = text.map_err(|e| CliError::system(format!("JSON: {e}")))?;
    say(&format!("{text}\n"))
}
