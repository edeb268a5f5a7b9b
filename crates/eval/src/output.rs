//! Writing results: each file appears whole or not at all.

use crate::report::Report;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// A result file could not be written.
#[derive(Debug, Error)]
#[error("{}: cannot write: {source}; earlier results are untouched, mend that or choose another folder with --out", path.display())]
pub struct OutputError {
    /// The file or folder.
    pub path: PathBuf,
    /// Why.
    pub source: io::Error,
}

/// Writes `contents` beside `path` and renames it into place, so that a reader, a kill or a full
/// disk never meets half a file.
///
/// # Errors
/// [`OutputError`]; a file that stood at `path` still does.
pub fn write_atomically(path: &Path, contents: &str) -> Result<(), OutputError> {
    let failed = |source| OutputError { path: path.into(), source };
    let name = path.file_name().ok_or_else(|| failed(io::ErrorKind::InvalidInput.into()))?;
    let beside = path.with_file_name(format!(".{}.tmp", name.to_string_lossy()));
    let written = fs::write(&beside, contents).and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written.map_err(failed)
}

/// Writes `claims.json`, `tables/*.csv`, `figures/*.svg` and `index.html` into `folder`. Tables and
/// figures that the report no longer has are removed.
///
/// # Errors
/// [`OutputError`].
pub fn write_outputs(folder: &Path, report: &Report) -> Result<(), OutputError> {
    let tables = report.sections.iter().flat_map(|s| &s.tables);
    let tables = tables.map(|t| (format!("{}.csv", t.name), t.to_csv())).collect();
    write_folder(&folder.join("tables"), tables)?;
    let figures = report.figures().map(|(name, svg)| (format!("{name}.svg"), svg.to_owned()));
    write_folder(&folder.join("figures"), figures.collect())?;
    write_atomically(&folder.join("claims.json"), &report.claims_json())?;
    write_atomically(&folder.join("index.html"), report.html())
}

fn write_folder(folder: &Path, files: Vec<(String, String)>) -> Result<(), OutputError> {
    let failed = |source| OutputError { path: folder.into(), source };
    fs::create_dir_all(folder).map_err(failed)?;
    for (name, contents) in &files {
        write_atomically(&folder.join(name), contents)?;
    }
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let known =
            path.file_name().is_some_and(|n| files.iter().any(|(name, _)| n == name.as_str()));
        if !known {
            fs::remove_file(&path).map_err(|source| OutputError { path: path.clone(), source })?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_replaced_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        write_atomically(&path, "one").unwrap();
        write_atomically(&path, "two").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        let error = write_atomically(&folder.path().join("no/such"), "x").unwrap_err();
        assert!(error.to_string().contains("no/such") && error.to_string().contains("--out"));
    }
}
