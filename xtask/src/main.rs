//! `cargo xtask`: checks the workspace and starts the experiments that reproduce its claims.

mod cli;
mod console;
mod failure;
mod headings;
mod index;
mod modules;
mod outputs;
mod site;
mod suite;
mod theorems;
mod tidy;
mod workspace;

use clap::Parser;
use cli::{Cli, Command, SUITE};
use failure::Failure;
use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    run(&arguments).unwrap_or_else(|failure| {
        console::note(&format!("error: {failure}"));
        ExitCode::from(2)
    })
}

fn run(arguments: &[OsString]) -> Result<ExitCode, Failure> {
    if is_for_suite(arguments) {
        return suite::hand_over(arguments);
    }
    match Cli::parse().command {
        Command::Index => index::index(),
        Command::Tidy(options) => tidy::tidy(&options),
        Command::Site(options) => site::site(&options),
        Command::Reproduce
        | Command::Report
        | Command::List
        | Command::Bench
        | Command::Instructions => unreachable!("the suite has these commands"),
    }
}

/// Whether the program of the experiments handles these arguments: one of its commands, or `help` for one.
fn is_for_suite(arguments: &[OsString]) -> bool {
    let known = |name: Option<&OsString>| name.is_some_and(|n| SUITE.iter().any(|s| n == s));
    let [first, rest @ ..] = arguments else { return false };
    known(Some(first)) || first == "help" && known(rest.first())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn commands_of_the_suite_are_recognised() {
        let of = |text: &str| {
            let arguments: Vec<OsString> = text.split_whitespace().map(Into::into).collect();
            is_for_suite(&arguments)
        };
        for text in ["list", "reproduce --help", "bench -- x", "help report", "instructions x"] {
            assert!(of(text), "{text}");
        }
        for text in ["", "help", "--help", "tidy", "tidy --root list", "help tidy", "listing"] {
            assert!(!of(text), "{text}");
        }
    }

    #[test]
    fn every_command_is_listed() {
        let names: Vec<String> =
            Cli::command().get_subcommands().map(|c| c.get_name().to_owned()).collect();
        let own = ["index", "tidy", "site"];
        assert!(SUITE.iter().chain(&own).all(|name| names.iter().any(|known| known == name)));
        assert_eq!(names.len(), SUITE.len() + own.len());
    }
}
