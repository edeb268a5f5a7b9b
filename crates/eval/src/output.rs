//! Atomic writing of results.

use crate::report::Report;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// A result file could not be written.
///
/// ```
/// use halfspaces_eval::write_atomically;
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("missing/claims.json");
/// let error = write_atomically(&path, "[]").err();
/// assert!(error.is_some_and(|error| error.path == path));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Error)]
#[error("{}: cannot write: {source}; earlier results are untouched", path.display())]
pub struct OutputError {
    /// The file or folder.
    pub path: PathBuf,
    /// The cause.
    pub source: io::Error,
}

/// Writes `contents` to a temporary file next to `path` and renames it into place, so that a reader never sees a
/// partial file, even if the process is killed or the disk is full. A killed process may leave the temporary file,
/// `.NAME.*.tmp`.
///
/// # Errors
/// [`OutputError`]. After an error, an existing file at `path` is unchanged.
pub fn write_atomically(path: &Path, contents: &str) -> Result<(), OutputError> {
    let failed = |source| OutputError { path: path.into(), source };
    let invalid = || failed(io::ErrorKind::InvalidInput.into());
    let (folder, name) = path.parent().zip(path.file_name()).ok_or_else(invalid)?;
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let prefix = format!(".{}.", name.to_string_lossy());
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(".tmp");
    // The umask determines the permissions, as for any other new file. Otherwise, only the owner could read the file.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(folder).map_err(failed)?;
    file.write_all(contents.as_bytes()).map_err(failed)?;
    file.persist(path).map_err(|e| failed(e.error))?;
    Ok(())
}

/// The names, relative to the output folder, of the tables and figures of a report. A run records them, so that a later
/// run can remove exactly those that it no longer creates.
#[must_use]
pub fn output_names(report: &Report) -> Vec<String> {
    files(report).into_iter().map(|(name, _)| name).collect()
}

fn files(report: &Report) -> Vec<(String, String)> {
    let tables = report.sections.iter().flat_map(|s| &s.tables);
    let tables = tables.map(|t| (format!("tables/{}.csv", t.name), t.to_csv()));
    let figures = report.figures();
    let figures = figures.map(|(name, svg)| (format!("figures/{name}.svg"), svg.to_owned()));
    tables.chain(figures).collect()
}

/// Writes `claims.json`, `claims.csv`, `findings.md`, `tables/*.csv`, `figures/*.svg` and `index.html` into `folder`.
///
/// # Errors
/// [`OutputError`].
pub fn write_outputs(folder: &Path, report: &Report) -> Result<(), OutputError> {
    for sub in ["tables", "figures"] {
        let path = folder.join(sub);
        fs::create_dir_all(&path).map_err(|source| OutputError { path, source })?;
    }
    for (name, contents) in files(report) {
        write_atomically(&folder.join(name), &contents)?;
    }
    write_atomically(&folder.join("claims.json"), &report.claims_json())?;
    write_atomically(&folder.join("claims.csv"), &report.claims_csv())?;
    write_atomically(&folder.join("findings.md"), &report.findings_markdown())?;
    write_atomically(&folder.join("index.html"), report.html())
}

/// Removes a file whose name a run recorded with [`output_names`], if the file exists. Names of a different form are
/// ignored.
///
/// # Errors
/// [`OutputError`].
pub fn remove_output(folder: &Path, name: &str) -> Result<(), OutputError> {
    let ours = name.split_once('/').is_some_and(|(sub, file)| {
        ["tables", "figures"].contains(&sub) && !file.contains(['/', '\\'])
    });
    if !ours {
        return Ok(());
    }
    let path = folder.join(name);
    match fs::remove_file(&path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(OutputError { path, source })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_recorded_outputs_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir(path("tables")).unwrap();
        for name in ["tables/a.csv", "tables/mine.csv", "thesis.pdf"] {
            fs::write(path(name), "x").unwrap();
        }
        for name in ["tables/a.csv", "tables/gone.csv", "thesis.pdf", "tables/../thesis.pdf"] {
            remove_output(folder.path(), name).unwrap();
        }
        assert!(!path("tables/a.csv").exists());
        assert!(path("tables/mine.csv").exists() && path("thesis.pdf").exists());
    }

    #[test]
    fn files_are_replaced_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        write_atomically(&path, "one").unwrap();
        write_atomically(&path, "two").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        // The permissions equal those of a file written in the ordinary way.
        fs::write(folder.path().join("b.txt"), "").unwrap();
        let mode = |name: &str| fs::metadata(folder.path().join(name)).unwrap().permissions();
        assert_eq!(mode("a.txt"), mode("b.txt"));
        let error = write_atomically(&folder.path().join("no/such"), "x").unwrap_err();
        assert!(error.to_string().contains("no/such"));
    }
}
