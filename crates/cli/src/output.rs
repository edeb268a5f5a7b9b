//! What is written: results to stdout, notes to stderr, files whole or not at all.

use crate::error::CliError;
use crate::names::visible;
use clap::Args;
use serde::Serialize;
use std::fs::OpenOptions;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Standard output, named as a file, and standard input.
const STDOUT: &str = "-";
const STDIN: &str = "-";

/// The file that is being written, next to its final place.
static UNFINISHED: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Where results go.
#[derive(Debug, Clone, Args)]
pub(crate) struct OutputArgs {
    /// File to write [default: standard output, also by -]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Overwrite the file if it is there
    #[arg(long)]
    pub(crate) force: bool,
}

impl OutputArgs {
    /// Fails early where [`OutputArgs::write`] would fail after the work is done, or write over one of `inputs`.
    pub(crate) fn check(&self, inputs: &[&Path]) -> Result<(), CliError> {
        self.file().map_or(Ok(()), |path| check_targets(&[path], inputs, self.force))
    }

    /// The file, unless it is standard output.
    fn file(&self) -> Option<&Path> {
        self.output.as_deref().filter(|path| *path != Path::new(STDOUT))
    }

    /// Writes the file, or to stdout if none is named.
    pub(crate) fn write(
        &self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), CliError> {
        match self.file() {
            Some(path) => write_file(path, self.force, write),
            None => to_stdout(write),
        }
    }
}

/// Writes results to stdout: names in them are shown, never obeyed by the terminal. A reader that has gone away is no error.
pub(crate) fn say(text: &str) -> Result<(), CliError> {
    say_raw(&shown(text))
}

/// Writes a text of this program's own to stdout as it is.
pub(crate) fn say_raw(text: &str) -> Result<(), CliError> {
    to_stdout(|out| out.write_all(text.as_bytes()))
}

/// Prints the help or the version that was asked for.
pub(crate) fn print_help(asked: &clap::Error) -> Result<(), CliError> {
    match asked.print().and_then(|()| io::stdout().flush()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => {
            Err(CliError::system(format!("standard output: {e}")))
        }
        _ => Ok(()),
    }
}

/// A text with everything escaped that a terminal would obey, but for its line ends.
fn shown(text: &str) -> String {
    text.split('\n').map(visible).collect::<Vec<_>>().join("\n")
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

/// Writes a line to stderr, with everything escaped that a terminal would obey. A failure to write it cannot be reported.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr(), "{}", shown(text));
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

/// What a path to be written names.
enum Target {
    /// A file, new or to be overwritten, at its own place: links are followed.
    File(PathBuf),
    /// A pipe, a device or standard output by its name: written to, never replaced.
    Open,
}

/// What `path` names, unless nothing may be written there.
fn target(path: &Path, force: bool) -> Result<Target, CliError> {
    let shown = path.display();
    if path == Path::new(STDOUT) {
        return Err(CliError::user(
            "`-` names no file here; name one, ./- if that is its name, or /dev/stdout",
        ));
    }
    if path.as_os_str().as_encoded_bytes().ends_with(b"/") {
        return Err(CliError::user(format!("{shown} ends with /; name a file to write")));
    }
    match path.metadata() {
        Err(e) if e.kind() == ErrorKind::InvalidFilename => {
            Err(CliError::user(format!("a name of {} bytes is too long", path.as_os_str().len())))
        }
        Ok(found) if found.is_dir() => {
            Err(CliError::user(format!("{shown} is a directory; name a file to write")))
        }
        Ok(found) if !found.is_file() || is_descriptor(path) => Ok(Target::Open),
        Ok(_) if !force => Err(CliError::user(format!(
            "{shown} already exists; name another file, or overwrite it with --force"
        ))),
        Ok(_) => Ok(Target::File(place(path))),
        Err(_) if path.is_symlink() => Err(CliError::user(format!(
            "{shown} is a link to a file that is not there; name another file"
        ))),
        Err(_) => {
            let folder = folder_of(path);
            if !folder.is_dir() {
                return Err(CliError::user(format!(
                    "{shown}: there is no directory {}; create it first",
                    folder.display()
                )));
            }
            Ok(Target::File(path.to_owned()))
        }
    }
}

/// Whether a path is the name of something that the process has open already.
fn is_descriptor(path: &Path) -> bool {
    ["/dev/stdout", "/dev/stderr"].iter().any(|name| path == Path::new(name))
        || ["/dev/fd", "/proc/self/fd"].iter().any(|folder| path.starts_with(folder))
}

/// The one name of a file, whether it is there already or not.
fn place(path: &Path) -> PathBuf {
    let of_folder = || {
        let folder = folder_of(path).canonicalize().ok()?;
        path.file_name().map(|name| folder.join(name))
    };
    path.canonicalize().ok().or_else(of_folder).unwrap_or_else(|| path.to_owned())
}

/// Whether a file may be written at `path`: it is not there or may be overwritten, and a file can be made in its folder.
pub(crate) fn check_target(path: &Path, force: bool) -> Result<(), CliError> {
    check_writable(&target(path, force)?, path)
}

/// Makes a file next to a target and removes it, so that work is not done in vain.
fn check_writable(target: &Target, path: &Path) -> Result<(), CliError> {
    let Target::File(place) = target else { return Ok(()) };
    match unfinished_file(folder_of(place)) {
        Ok(_) => Ok(()),
        Err(e) => Err(CliError::user(format!(
            "{}: cannot be written: {e}; check permissions and space, or name another file",
            path.display()
        ))),
    }
}

/// A file next to the one to be written; it is removed unless it gets its name.
fn unfinished_file(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    tempfile::Builder::new().prefix(".halfspaces-").permissions_like_others().tempfile_in(folder)
}

/// The same of several, none of which may be another one or a file that is read.
pub(crate) fn check_targets(
    outputs: &[&Path],
    inputs: &[&Path],
    force: bool,
) -> Result<(), CliError> {
    let mut written: Vec<PathBuf> = Vec::with_capacity(outputs.len());
    for path in outputs {
        let target = target(path, force)?;
        check_writable(&target, path)?;
        if matches!(target, Target::Open) {
            continue;
        }
        let (shown, place_of_output) = (path.display(), place(path));
        if inputs.iter().any(|input| place_of_input(input) == place_of_output) {
            return Err(CliError::user(format!("{shown} is an input file; choose another output")));
        }
        if written.contains(&place_of_output) {
            return Err(CliError::user(format!(
                "{shown} is named twice as a file to write; name two files"
            )));
        }
        written.push(place_of_output);
    }
    Ok(())
}

/// The one name of a file that is read; standard input may be a file.
fn place_of_input(path: &Path) -> PathBuf {
    if path == Path::new(STDIN) { place(Path::new("/dev/stdin")) } else { place(path) }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Writes a file whole or not at all: next to its place first, then renamed. An existing file is overwritten only
/// with `force`, even if it was created in the meantime.
pub(crate) fn write_file(
    path: &Path,
    force: bool,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), CliError> {
    let failed = |e: io::Error| {
        let advice = "check permissions and space, or name another file";
        let message = format!("{}: cannot be written: {e}; {advice}", path.display());
        if e.kind() == ErrorKind::PermissionDenied {
            CliError::user(message)
        } else {
            CliError::system(message)
        }
    };
    let place = match target(path, force)? {
        Target::File(place) => place,
        Target::Open => {
            // Behind what is there: standard output may be a file with something in it.
            let file = OpenOptions::new().append(true).open(path).map_err(failed)?;
            let mut out = BufWriter::new(file);
            return match write(&mut out).and_then(|()| out.flush()) {
                Err(e) if e.kind() == ErrorKind::BrokenPipe => Ok(()),
                done => done.map_err(failed),
            };
        }
    };
    let file = unfinished_file(folder_of(&place)).map_err(failed)?;
    set_unfinished(Some(file.path().to_path_buf()));
    let done = (|| {
        if let Ok(before) = place.metadata() {
            file.as_file().set_permissions(before.permissions())?;
        }
        let mut out = BufWriter::with_capacity(1 << 16, file.as_file());
        write(&mut out)?;
        out.flush()?;
        drop(out);
        file.as_file().sync_all()
    })();
    let done = match done {
        Err(e) => Err(failed(e)),
        Ok(()) if force => file.persist(&place).map(drop).map_err(|e| failed(e.error)),
        Ok(()) => match file.persist_noclobber(&place) {
            Err(e) if e.error.kind() == ErrorKind::AlreadyExists => Err(CliError::user(format!(
                "{} was created in the meantime; name another file, or overwrite it with --force",
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
