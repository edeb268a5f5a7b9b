//! What the command does, one module per subcommand.

pub(crate) mod audit;
pub(crate) mod completions;
pub(crate) mod label;
pub(crate) mod transform;

use crate::cli::Command;
use crate::error::CliError;

/// Runs a subcommand.
pub(crate) fn run(command: Command) -> Result<(), CliError> {
    match command {
        Command::Label(args) => label::run(&args),
        Command::Audit(args) => audit::run(&args),
        Command::Transform(args) => transform::run(&args),
        Command::Completions(args) => completions::completions(&args),
        Command::Man(args) => completions::man(&args),
    }
}
