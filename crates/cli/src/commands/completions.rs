//! `completions` and `man`: write shell completions and manual pages.

use crate::error::CliError;
use crate::output::{OutputArgs, check_target, print_raw, write_file};
use clap::{Args, Command};
use clap_complete::Shell;
use std::io;
use std::path::PathBuf;

/// Print the completion script for a shell.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  halfspaces completions bash -o ~/.local/share/bash-completion/completions/halfspaces")]
pub(crate) struct CompletionsArgs {
    /// Shell for which the script is printed
    #[arg(value_name = "SHELL")]
    shell: Shell,
    #[command(flatten)]
    output: OutputArgs,
}

/// Print the manual page, or write all manual pages into a directory.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  halfspaces man | man -l -
  halfspaces man --dir ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// Write halfspaces.1, halfspaces-fit.1 and so on into this directory
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Overwrite existing files
    #[arg(long)]
    force: bool,
}

/// Runs `completions` for the command line `command`.
pub(crate) fn completions(args: &CompletionsArgs, mut command: Command) -> Result<(), CliError> {
    args.output.check(&[])?;
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "halfspaces", &mut script);
    args.output.write(|out| out.write_all(&script))
}

/// Runs `man` for the command line `command`.
pub(crate) fn man(args: &ManArgs, mut command: Command) -> Result<(), CliError> {
    command.build();
    let page = |command: Command| {
        let mut page = Vec::new();
        clap_mangen::Man::new(command).render(&mut page)?;
        Ok::<Vec<u8>, io::Error>(page)
    };
    let failed = |e: io::Error| CliError::system(format!("manual page: {e}"));
    let Some(dir) = &args.dir else {
        let page = page(command).map_err(failed)?;
        return print_raw(&String::from_utf8_lossy(&page));
    };
    let mut pages = vec![("halfspaces.1".to_owned(), page(command.clone()).map_err(failed)?)];
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
        let name = format!("halfspaces-{}", sub.get_name());
        let sub = sub.clone().display_name(name.clone());
        pages.push((format!("{name}.1"), page(sub).map_err(failed)?));
    }
    for (name, _) in &pages {
        check_target(&dir.join(name), args.force)?;
    }
    pages.iter().try_for_each(|(name, page)| {
        write_file(&dir.join(name), args.force, |out| out.write_all(page))
    })
}
