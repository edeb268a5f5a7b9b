//! The programs that write the site.

use crate::failure::Failure;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The programs of a Python environment, or those in `PATH`.
pub(super) struct Programs {
    folder: Option<PathBuf>,
}

impl Programs {
    pub(super) fn new(environment: Option<&Path>) -> Result<Self, Failure> {
        // The programs do not run in the folder of the caller, so the path must be absolute.
        let folder =
            environment.map(|folder| std::path::absolute(folder.join("bin"))).transpose()?;
        Ok(Programs { folder })
    }

    /// Runs a program in a folder. Returns what it prints.
    pub(super) fn run(&self, name: &str, arguments: &[&str], at: &Path) -> Result<String, Failure> {
        let program = self.folder.as_ref().map_or(PathBuf::from(name), |folder| folder.join(name));
        let output = Command::new(&program).args(arguments).current_dir(at).output().map_err(|why| {
            format!(
                "{}: {why}; run `pip install -r docs/requirements.txt ./crates/python`, or pass the environment \
                 with --environment",
                program.display()
            )
        })?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let said = [output.stdout, output.stderr].concat();
        Err(format!("{} failed: {}", program.display(), String::from_utf8_lossy(&said)).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_run_and_failures_say_why() {
        let here = Path::new(".");
        let programs = Programs::new(None).unwrap();
        assert_eq!(programs.run("sh", &["-c", "echo a"], here).unwrap(), "a\n");
        let failure = programs.run("sh", &["-c", "echo b >&2; exit 3"], here).unwrap_err();
        assert!(failure.to_string().contains("sh failed: b"), "{failure}");
        let programs = Programs::new(Some(Path::new("no-such-folder"))).unwrap();
        let failure = programs.run("zensical", &[], here).unwrap_err().to_string();
        assert!(
            failure.contains("no-such-folder/bin/zensical") && failure.contains("pip install"),
            "{failure}"
        );
    }
}
