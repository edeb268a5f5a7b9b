//! `audit`.

use crate::error::CliError;
use crate::input::InputArgs;
use clap::Args;

/// To be written.
#[derive(Debug, Args)]
pub(crate) struct AuditArgs {
    #[command(flatten)]
    input: InputArgs,
}

/// Runs it.
pub(crate) fn run(args: &AuditArgs) -> Result<(), CliError> {
    args.input.read().map(drop)
}
