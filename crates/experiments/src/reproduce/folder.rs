//! The output folder of a run: whose it is, and what in it is a run's own.

use crate::failure::Failure;
use crate::workspace::workspace_root;
use halfspaces_eval::{FolderLock, RunInfo, remove_output};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

pub(super) const RUN: &str = "run.json";
pub(super) const TRIALS: &str = "trials.jsonl";
/// What a run writes besides tables and figures, run.json last: without it the others belong to no
/// run.
const FILES: [&str; 6] = [TRIALS, "claims.json", "claims.csv", "findings.md", "index.html", RUN];

/// Takes an output folder for this process, and creates it if there is none. `inspect` reads what is
/// there and refuses what this run cannot go on with; it comes once before anything is created, so
/// that a refused folder stays as it is, and once more when no other run can interfere.
pub(super) fn take<T>(
    folder: &Path,
    inspect: impl Fn() -> Result<T, Failure>,
) -> Result<(FolderLock, T), Failure> {
    refuse_foreign(folder)?;
    inspect()?;
    fs::create_dir_all(folder).map_err(|e| unusable(folder, &e))?;
    let lock = FolderLock::take(folder)?;
    refuse_foreign(folder)?;
    Ok((lock, inspect()?))
}

/// Refuses a folder that is neither new nor the output of a run.
fn refuse_foreign(folder: &Path) -> Result<(), Failure> {
    if folder.join(RUN).exists() {
        return Ok(());
    }
    let entries = match fs::read_dir(folder) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(|e| unusable(folder, &e))?,
    };
    for entry in entries {
        let entry = entry.map_err(|e| unusable(folder, &e))?;
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        // What a run killed in its first moments leaves.
        let blank_trials = name == TRIALS && fs::metadata(&path).is_ok_and(|m| m.len() == 0);
        let unfinished = name.starts_with(&format!(".{RUN}.")) && name.ends_with(".tmp");
        if name != FolderLock::NAME && !unfinished && !blank_trials {
            return Err(format!(
                "{}: a file without a run.json beside it, so the folder is not the output of a run; choose another with --out",
                path.display()
            )
            .into());
        }
    }
    Ok(())
}

/// Deletes what an earlier run wrote and recorded, and nothing else.
pub(super) fn forget(folder: &Path) -> Result<(), Failure> {
    // A run.json that cannot be read has recorded nothing that can be told from the user's files.
    let outputs = RunInfo::read(&folder.join(RUN)).map(|run| run.outputs).unwrap_or_default();
    for name in &outputs {
        remove_output(folder, name)?;
    }
    for name in FILES {
        let path = folder.join(name);
        match fs::remove_file(&path) {
            Err(e) if e.kind() != ErrorKind::NotFound => {
                return Err(at(&path, "cannot delete earlier results", &e));
            }
            _ => {}
        }
    }
    Ok(())
}

/// `target/reproduce/<name>` of the workspace, as short as the current folder allows.
pub(super) fn default_folder(name: &str) -> PathBuf {
    let folder = workspace_root().join("target").join("reproduce").join(name);
    let here = std::env::current_dir().ok();
    let short = here.and_then(|here| folder.strip_prefix(here).map(Path::to_path_buf).ok());
    short.unwrap_or(folder)
}

fn unusable(folder: &Path, error: &std::io::Error) -> Failure {
    at(folder, "cannot use the output folder", error)
}

fn at(path: &Path, what: &str, error: &std::io::Error) -> Failure {
    format!("{}: {what}: {error}; choose another with --out", path.display()).into()
}
