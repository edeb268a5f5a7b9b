//! The output folder of a run: ownership, and the files that belong to a run.

use crate::failure::Failure;
use crate::workspace::workspace_root;
use halfspaces_eval::{FolderLock, RunInfo, remove_output};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

pub(super) const RUN: &str = "run.json";
pub(super) const TRIALS: &str = "trials.jsonl";
/// The files that a run writes in addition to tables and figures. run.json is deleted last, because without it the
/// other files do not belong to a run.
const FILES: [&str; 6] = [TRIALS, "claims.json", "claims.csv", "findings.md", "index.html", RUN];

/// Locks an output folder for this process, and creates it if needed. `inspect` reads the folder and fails if this run
/// cannot continue the run that the folder contains. It is called twice: before anything is created, so that a refused
/// folder stays unchanged, and again under the lock.
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
        // A run that was killed right after its start may have left empty files.
        let blank_trials = name == TRIALS && fs::metadata(&path).is_ok_and(|m| m.len() == 0);
        let unfinished = name.starts_with(&format!(".{RUN}.")) && name.ends_with(".tmp");
        if name != FolderLock::NAME && !unfinished && !blank_trials {
            return Err(format!(
                "{}: found without a run.json in the same folder, so the folder is not the output of a run; choose another with --out",
                path.display()
            )
            .into());
        }
    }
    Ok(())
}

/// Deletes the files that an earlier run wrote and recorded, and no others.
pub(super) fn forget(folder: &Path) -> Result<(), Failure> {
    // If run.json is unreadable, the outputs of the earlier run cannot be told apart from the user's files.
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

/// `target/reproduce/<name>` of the workspace, relative to the current folder if possible.
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
