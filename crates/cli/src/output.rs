//! What is written: results to stdout, notes to stderr, files whole or not at all.

use crate::error::CliError;
use clap::Args;
use serde::Serialize;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// The file that is being written, beside its final place.
static UNFINISHED: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Where results go.
#[derive(Debug, Clone, Args)]
pub(crate) struct OutputArgs {
    /// File to write [default: the terminal, or wherever standard output goes]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Overwrite the file if it is there
    #[arg(long)]
    pub(crate) force: bool,
}

impl OutputArgs {
    /// Fails early where [`OutputArgs::write`] would fail after the work is done.
    pub(crate) fn check(&self) -> Result<(), CliError> {
        self.output.as_deref().map_or(Ok(()), |path| check_target(path, self.force))
    }

    /// Writes the file, or to stdout if none is named.
    pub(crate) fn write(
        &self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), CliError> {
        match &self.output {
            Some(path) => write_file(path, self.force, write),
            None => to_stdout(write),
        }
    }
}

/// Writes results to stdout. A reader that has gone away is no error.
pub(crate) fn say(text: &str) -> Result<(), CliError> {
    to_stdout(|out| out.write_all(text.as_bytes()))
}

/// Prints a result as JSON.
pub(crate) fn say_json<T: Serialize>(result: &T) -> Result<(), CliError> {
    let text = serde_json::to_string_pretty(result);
    let text = text.map_err(|e| CliError::system(format!("JSON: {e}")))?;
    say(&format!("{text}\n"))
}

/// Rows of cells in columns of equal width, the first to the left, the others to the right.
pub(crate) fn aligned(table: &[Vec<String>]) -> Vec<String> {
    let columns = table.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let lengths = table.iter().filter_map(|row| row.get(column)).map(|c| c.chars().count());
        lengths.max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).enumerate().map(|(at, (cell, width))| {
            if at == 0 { format!("{cell:width$}") } else { format!("{cell:>width$}") }
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    table.iter().map(line).collect()
}

/// Writes a line to stderr. There is nobody to tell if even that fails.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

fn to_stdout(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), CliError> {
    let mut out = BufWriter::new(io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(e) if e.kind() == ErrorKind::BrokenPipe => {
            // The rest of the buffer has no reader either.
            std::process::exit(0)
        }
        Err(e) => Err(CliError::system(format!("standard output: {e}"))),
        Ok(()) => Ok(()),
    }
}

/// The fault of the writer below a CSV writer, so that a reader that has gone away is known as such.
pub(crate) fn csv_fault(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

/// Whether a file may be written at `path`: it is not there or may be overwritten, and its folder is.
pub(crate) fn check_target(path: &Path, force: bool) -> Result<(), CliError> {
    let shown = path.display();
    if path.is_dir() {
        return Err(CliError::user(format!("{shown} is a directory; name a file to write")));
    }
    if !force && path.symlink_metadata().is_ok() {
        return Err(CliError::user(format!(
            "{shown} already exists; name another file, or overwrite it with --force"
        )));
    }
    let folder = folder_of(path);
    if !folder.is_dir() {
        return Err(CliError::user(format!(
            "{shown}: there is no directory {}; create it first",
            folder.display()
        )));
    }
    Ok(())
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Writes a file whole or not at all: beside its place first, then renamed. One that is there is overwritten only
/// with `force`, even if it has come about meanwhile.
pub(crate) fn write_file(
    path: &Path,
    force: bool,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), CliError> {
    check_target(path, force)?;
    let failed = |e: io::Error| {
        let advice = "check permissions and space, or name another file";
        let message = format!("{}: cannot be written: {e}; {advice}", path.display());
        if e.kind() == ErrorKind::PermissionDenied {
            CliError::user(message)
        } else {
            CliError::system(message)
        }
    };
    let file = tempfile::Builder::new()
        .prefix(".halfspaces-")
        .permissions_like_others()
        .tempfile_in(folder_of(path))
        .map_err(failed)?;
    set_unfinished(Some(file.path().to_path_buf()));
    let done = (|| {
        let mut out = BufWriter::with_capacity(1 << 16, file.as_file());
        write(&mut out)?;
        out.flush()?;
        drop(out);
        file.as_file().sync_all()
    })();
    let done = match done {
        Err(e) => Err(failed(e)),
        Ok(()) if force => file.persist(path).map(drop).map_err(|e| failed(e.error)),
        Ok(()) => match file.persist_noclobber(path) {
            Err(e) if e.error.kind() == ErrorKind::AlreadyExists => Err(CliError::user(format!(
                "{} has come about meanwhile; name another file, or overwrite it with --force",
                path.display()
            ))),
            Err(e) => Err(failed(e.error)),
            Ok(_) => Ok(()),
        },
    };
    set_unfinished(None);
    done
}

/// A temporary file is for its owner alone; a result is for whom the umask says.
trait PermissionsLikeOthers {
    fn permissions_like_others(&mut self) -> &mut Self;
}

impl PermissionsLikeOthers for tempfile::Builder<'_, '_> {
    #[cfg(unix)]
    fn permissions_like_others(&mut self) -> &mut Self {
        use std::os::unix::fs::PermissionsExt;
        self.permissions(std::fs::Permissions::from_mode(0o666))
    }

    #[cfg(not(unix))]
    fn permissions_like_others(&mut self) -> &mut Self {
        self
    }
}

fn set_unfinished(path: Option<PathBuf>) {
    // A poisoned lock still holds the path.
    *UNFINISHED.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = path;
}

/// Removes the file that is being written, if any: before the process ends by a signal.
pub(crate) fn remove_unfinished() {
    // Held until the process ends, so that no further file is begun.
    let unfinished = UNFINISHED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(path) = unfinished.as_deref() {
        // Whether it could be removed changes nothing for a process that is ending.
        let _ = std::fs::remove_file(path);
    }
    std::mem::forget(unfinished);
}
