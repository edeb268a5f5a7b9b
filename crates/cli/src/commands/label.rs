//! `label`.

use crate::error::CliError;
use crate::input::InputArgs;
use clap::Args;

/// To be written.
#[derive(Debug, Args)]
pub(crate) struct LabelArgs {
    #[command(flatten)]
    input: InputArgs,
}

/// Runs it.
pub(crate) fn run(args: &LabelArgs) -> Result<(), CliError> {
    args.input.read().map(drop)
}
