//! Output: results on stdout, notes on stderr, and files that are written completely or not at all.

use crate::error::CliError;
use crate::terminal;
use clap::Args;
use halfspaces_frame::visible;
use serde::Serialize;
use std::fs::OpenOptions;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// The paths that stand for standard output and standard input.
const STDOUT: &str = "-";
/// Maximum number of characters of a message.
const MAX_MESSAGE: usize = 4000;
const STDIN: &str = "-";

/// The temporary file that is being written, next to its target.
static UNFINISHED: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Options that say where results are written.
#[derive(Debug, Clone, Args)]
pub(crate) struct OutputArgs {
    /// File to write; - writes to standard output [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long)]
    pub(crate) force: bool,
}

impl OutputArgs {
    /// Returns an error if [`OutputArgs::write`] would fail or would overwrite one of `inputs`. Call this before the
    /// work starts.
    pub(crate) fn check(&self, inputs: &[&Path]) -> Result<(), CliError> {
        self.file().map_or(Ok(()), |path| check_targets(&[path], inputs, self.force))
    }

    /// Like [`OutputArgs::check`], for a table.
    pub(crate) fn check_table(&self, inputs: &[&Path]) -> Result<(), CliError> {
        self.check(inputs)?;
        self.file().map_or(Ok(()), check_table_name)
    }

    /// The output file; `None` for standard output.
    fn file(&self) -> Option<&Path> {
        self.output.as_deref().filter(|path| *path != Path::new(STDOUT))
    }

    /// Writes to the output file, or to stdout if no file is named.
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

/// Prints a text to stdout. Terminal control characters are escaped, and on a terminal, long lines are broken between
/// words. A closed pipe is not an error.
pub(crate) fn print(text: &str) -> Result<(), CliError> {
    print_styled(&shown(text))
}

/// Prints to stdout a text that may contain styles. On a terminal, long lines are broken between words. Control
/// characters from files must already have been escaped.
pub(crate) fn print_styled(text: &str) -> Result<(), CliError> {
    print_raw(&terminal::for_stdout(text))
}

/// Prints a text to stdout without escaping it. The text must come from this program.
pub(crate) fn print_raw(text: &str) -> Result<(), CliError> {
    to_stdout(|out| out.write_all(text.as_bytes()))
}

/// Prints the help or the version.
pub(crate) fn print_help(help: &clap::Error) -> Result<(), CliError> {
    match help.print().and_then(|()| io::stdout().flush()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => {
            Err(CliError::system(format!("standard output: {e}")))
        }
        _ => Ok(()),
    }
}

/// Escapes terminal control characters, except line ends.
fn shown(text: &str) -> String {
    text.split('\n').map(visible).collect::<Vec<_>>().join("\n")
}

/// Prints a result as JSON.
pub(crate) fn print_json<T: Serialize>(result: &T) -> Result<(), CliError> {
    let text = serde_json::to_string_pretty(result);
    let text = text.map_err(|e| CliError::system(format!("JSON: {e}")))?;
    print_raw(&shown_json(&format!("{text}\n")))
}

/// Escapes, in JSON notation, the characters that [`visible`] escapes. In a JSON document, these characters occur only
/// inside strings.
fn shown_json(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        let mut buffer = [0; 4];
        let is_plain = matches!(letter, ' '..='~' | '\n');
        if is_plain || visible(letter.encode_utf8(&mut buffer)).starts_with(letter) {
            shown.push(letter);
        } else {
            for unit in letter.encode_utf16(&mut [0; 2]) {
                shown.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    shown
}

/// A count with its noun, such as "1 row" or "2 rows".
pub(crate) fn counted(count: u64, thing: &str) -> String {
    match count {
        1 => format!("1 {thing}"),
        count => format!("{count} {thing}s"),
    }
}

/// The names that copied columns get in an output that also has the columns `own`. No two columns of the output have the
/// same name.
pub(crate) fn copied_names<S: AsRef<str>>(
    names: impl IntoIterator<Item = S>,
    own: &[String],
) -> Vec<String> {
    let mut all = own.to_vec();
    for name in names {
        let mut name = name.as_ref().to_owned();
        while all.contains(&name) {
            name = format!("kept {name}");
        }
        all.push(name);
    }
    all.split_off(own.len())
}

/// Formats a table as lines for standard output; see [`terminal::aligned`].
pub(crate) fn aligned(table: &[Vec<String>]) -> Vec<String> {
    terminal::aligned(table, terminal::width())
}

/// Writes notes from a library to stderr.
pub(crate) fn note_all(notes: &[String]) {
    notes.iter().for_each(|text| note(&format!("note: {text}")));
}

/// Writes a line to stderr. Terminal control characters are escaped. In a line of more than [`MAX_MESSAGE`] characters,
/// the middle is left out, because names in a file can have any length. On a terminal, the line is styled and, if it is
/// long, broken between words. Write errors are ignored, because they cannot be reported.
pub(crate) fn note(text: &str) {
    let text =
        terminal::for_stderr(&terminal::message(&terminal::shortened(&shown(text), MAX_MESSAGE)));
    let _ = writeln!(io::stderr(), "{text}");
}

fn to_stdout(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), CliError> {
    let mut out = BufWriter::new(io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(e) if e.kind() == ErrorKind::BrokenPipe => {
            // Exits without flushing the rest of the buffer, because nothing reads it.
            std::process::exit(0)
        }
        Err(e) => Err(CliError::system(format!("standard output: {e}"))),
        Ok(()) => Ok(()),
    }
}

/// Returns the I/O error inside a CSV error, so that a closed pipe is recognised.
pub(crate) fn csv_io_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

/// The target of an output path.
enum Target {
    /// A regular file, new or existing; symbolic links are resolved.
    File(PathBuf),
    /// A pipe, a device or a path that refers to standard output. The output is written to it; it is never replaced by
    /// a new file.
    Stream,
}

/// Determines the target of `path`, or fails if nothing may be written there.
fn target(path: &Path, force: bool) -> Result<Target, CliError> {
    let shown = path.display();
    if path == Path::new(STDOUT) {
        return Err(CliError::user(
            "`-` is not a file name here; pass a name, ./- for a file called -, or /dev/stdout",
        ));
    }
    if path.as_os_str().as_encoded_bytes().ends_with(b"/") {
        return Err(CliError::user(format!("{shown} ends with /; pass the name of a file")));
    }
    match path.metadata() {
        Err(e) if e.kind() == ErrorKind::InvalidFilename => Err(CliError::user(format!(
            "the file name is too long ({} bytes)",
            path.as_os_str().len()
        ))),
        Ok(found) if found.is_dir() => {
            Err(CliError::user(format!("{shown} is a directory; pass the name of a file")))
        }
        Ok(found) if !found.is_file() || is_descriptor(path) => Ok(Target::Stream),
        Ok(_) if !force => Err(CliError::user(format!(
            "{shown} already exists; name another file, or overwrite it with --force"
        ))),
        Ok(_) => Ok(Target::File(canonical(path))),
        Err(_) if path.is_symlink() => {
            Err(CliError::user(format!("{shown} is a link to a missing file; name another file")))
        }
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

/// File name extensions of tables and archives that no command writes.
const NOT_WRITTEN: [&str; 14] = [
    "parquet", "pq", "arrow", "feather", "ipc", "npy", "npz", "xlsx", "xls", "ods", "gz", "zst",
    "bz2", "zip",
];

/// Rejects a file name with the extension of a format other than plain text.
fn check_ending(path: &Path) -> Result<(), CliError> {
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    match ending.filter(|ending| NOT_WRITTEN.contains(&ending.as_str())) {
        Some(ending) => Err(CliError::user(format!(
            "{}: the output is plain text, not a .{ending} file; name a file with another ending, and convert it afterwards",
            path.display()
        ))),
        None => Ok(()),
    }
}

/// Rejects a file name for a table if its extension is that of a document.
pub(crate) fn check_table_name(path: &Path) -> Result<(), CliError> {
    check_not(path, "csv", &["json", "jsonl", "html"])
}

/// Rejects a file name for a model if its extension is that of another format in which models are stored.
pub(crate) fn check_model_name(path: &Path) -> Result<(), CliError> {
    check_not(path, "json", &["onnx", "py", "sql", "pkl", "pickle", "joblib", "csv", "html"])
}

/// Rejects a file name with one of the extensions `others`. `ending` is the right ending.
fn check_not(path: &Path, ending: &str, others: &[&str]) -> Result<(), CliError> {
    let found = path.extension().map(|found| found.to_string_lossy().to_lowercase());
    match found.filter(|found| others.contains(&found.as_str())) {
        Some(found) => Err(CliError::user(format!(
            "{}: the output is {}, not .{found}; name a file such as {}",
            path.display(),
            ending.to_uppercase(),
            path.with_extension(ending).display()
        ))),
        None => Ok(()),
    }
}

/// Whether a path names a file descriptor of this process.
fn is_descriptor(path: &Path) -> bool {
    ["/dev/stdout", "/dev/stderr"].iter().any(|name| path == Path::new(name))
        || ["/dev/fd", "/proc/self/fd"].iter().any(|folder| path.starts_with(folder))
}

/// The canonical path of a file that may not exist yet.
fn canonical(path: &Path) -> PathBuf {
    let in_folder = || {
        let folder = folder_of(path).canonicalize().ok()?;
        path.file_name().map(|name| folder.join(name))
    };
    path.canonicalize().ok().or_else(in_folder).unwrap_or_else(|| path.to_owned())
}

/// Checks that a file can be written at `path`: it is new or may be overwritten, and its folder is writable.
pub(crate) fn check_target(path: &Path, force: bool) -> Result<(), CliError> {
    check_writable(&target(path, force)?, path)
}

/// Checks the ending. Then creates a file next to the target and removes it again, so that write errors are found
/// before the work starts.
fn check_writable(target: &Target, path: &Path) -> Result<(), CliError> {
    let Target::File(file) = target else { return Ok(()) };
    check_ending(path)?;
    match unfinished_file(folder_of(file)) {
        Ok(_) => Ok(()),
        Err(e) => Err(CliError::user(format!(
            "{}: cannot be written: {e}; check the permissions and the free disk space, or choose another file",
            path.display()
        ))),
    }
}

/// Creates a temporary file in `folder`; it is removed unless it is renamed.
fn unfinished_file(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    tempfile::Builder::new().prefix(".halfspaces-").permissions_like_others().tempfile_in(folder)
}

/// Checks several outputs with [`check_target`], and checks that they differ from each other and from all inputs.
pub(crate) fn check_targets(
    outputs: &[&Path],
    inputs: &[&Path],
    force: bool,
) -> Result<(), CliError> {
    let mut written: Vec<PathBuf> = Vec::with_capacity(outputs.len());
    for path in outputs {
        let target = target(path, force)?;
        check_writable(&target, path)?;
        if matches!(target, Target::Stream) {
            continue;
        }
        let (shown, output) = (path.display(), canonical(path));
        if inputs.iter().any(|input| canonical_input(input) == output) {
            return Err(CliError::user(format!("{shown} is an input file; choose another output")));
        }
        if written.contains(&output) {
            return Err(CliError::user(format!(
                "{shown} is named twice as an output; name two different files"
            )));
        }
        written.push(output);
    }
    Ok(())
}

/// The canonical path of an input; standard input may be a redirected file.
fn canonical_input(path: &Path) -> PathBuf {
    canonical(if path == Path::new(STDIN) { Path::new("/dev/stdin") } else { path })
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Writes a file completely or not at all: a temporary file next to the target is renamed at the end. An existing file,
/// even one created in the meantime, is overwritten only with `force`.
pub(crate) fn write_file(
    path: &Path,
    force: bool,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), CliError> {
    let failed = |e: io::Error| {
        let advice = "check the permissions and the free disk space, or choose another file";
        let message = format!("{}: cannot be written: {e}; {advice}", path.display());
        if e.kind() == ErrorKind::PermissionDenied {
            CliError::user(message)
        } else {
            CliError::system(message)
        }
    };
    let target = match target(path, force)? {
        Target::File(target) => target,
        Target::Stream => {
            // Appends: standard output may be a file that already has content.
            let file = OpenOptions::new().append(true).open(path).map_err(failed)?;
            let mut out = BufWriter::new(file);
            return match write(&mut out).and_then(|()| out.flush()) {
                Err(e) if e.kind() == ErrorKind::BrokenPipe => Ok(()),
                done => done.map_err(failed),
            };
        }
    };
    let file = unfinished_file(folder_of(&target)).map_err(failed)?;
    set_unfinished(Some(file.path().to_path_buf()));
    let done = (|| {
        if let Ok(before) = target.metadata() {
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
        Ok(()) if force => file.persist(&target).map(drop).map_err(|e| failed(e.error)),
        Ok(()) => match file.persist_noclobber(&target) {
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

/// Gives a temporary file, which is private by default, the permissions of an ordinary new file (0666 less the umask).
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
    // The path is valid even if the lock is poisoned.
    *UNFINISHED.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = path;
}

/// Removes the temporary file that is being written, if any, before a signal ends the process.
pub(crate) fn remove_unfinished() {
    // The lock is kept until the process ends, so that no other file is started.
    let unfinished = UNFINISHED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(path) = unfinished.as_deref() {
        // The process is ending: an error changes nothing.
        let _ = std::fs::remove_file(path);
    }
    std::mem::forget(unfinished);
}
