//! The reference pages that are printed by the programs they describe.

use super::programs::Programs;
use crate::failure::Failure;
use std::fs;
use std::path::Path;

/// The script that prints the page of the Python package.
const PYTHON: &str = "docs/python_reference.py";

/// Writes `reference-command.md` and `reference-python.md` into `to`.
pub(super) fn write(programs: &Programs, root: &Path, to: &Path) -> Result<(), Failure> {
    let overview = programs.run("halfspaces", &["--help"], root)?;
    let mut page = format!("# Options of the command\n\n```text\n{overview}```\n");
    for name in commands(&overview) {
        let help = programs.run("halfspaces", &[name, "--help"], root)?;
        page.push_str(&format!("\n## {name}\n\n```text\n{help}```\n"));
    }
    fs::write(to.join("reference-command.md"), page)?;
    fs::write(to.join("reference-python.md"), programs.run("python", &[PYTHON], root)?)?;
    Ok(())
}

/// The commands that the help lists.
fn commands(help: &str) -> impl Iterator<Item = &str> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = lines.take_while(|line| !line.is_empty());
    listed.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_those_of_the_help() {
        let help = "Fit\n\nCommands:\n  fit   Fit a model\n  help  Print\n\nOptions:\n  -h  x\n";
        assert_eq!(commands(help).collect::<Vec<_>>(), ["fit"]);
        assert_eq!(commands("Options:\n").count(), 0);
    }
}
