//! A session with its file. An event takes effect once its line is on the disk.

use crate::error::{ApplyError, SessionError};
use crate::event::{Event, Header};
use crate::journal::{Chain, Tail, journal_text, parse_journal};
use crate::record::Record;
use halfspaces_frame::DataError;
use halfspaces_linalg::{Params, PointSet, Threads};
use halfspaces_online::{Labelling, LabellingFile, LabellingSession};
use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The number of file names that are tried when a lost session is saved.
const MAX_RESCUES: usize = 1000;

/// The kind of damage that is reported if the path now refers to a different file.
const REPLACED: &str = "replaced";

/// Read-only or writable access to a session file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionAccess {
    /// Read only: the file is neither created, locked nor changed.
    Read,
    /// Read and write: the file is created if it does not exist, and locked against other processes.
    Write,
}

/// Opens session files.
///
/// ```
/// use halfspaces_labelling::{Opening, SessionAccess, SessionFile};
/// let folder = tempfile::tempdir()?;
/// let opened = SessionFile::open(&folder.path().join("s.jsonl"), SessionAccess::Write)?;
/// assert!(matches!(opened, Opening::New(_)));
/// // A pipe, a device or a folder cannot be a session file.
/// assert!(SessionFile::open("/dev/null".as_ref(), SessionAccess::Write).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct SessionFile;

/// The result of [`SessionFile::open`].
#[derive(Debug)]
pub enum Opening {
    /// The file did not exist or was empty.
    New(NewSession),
    /// The file contains a session.
    Existing(Box<SessionLog>),
}

/// A session without a header. If it is dropped, no file is left behind.
#[derive(Debug)]
pub struct NewSession {
    file: OpenFile,
}

/// A session with its file.
#[derive(Debug)]
pub struct SessionLog {
    header: Header,
    record: Record,
    /// `None` if the session has no file, or if its file is open for reading only.
    file: Option<OpenFile>,
    tail: Tail,
}

impl SessionFile {
    /// Opens a session file.
    ///
    /// If the last line was cut off, for example because the program was killed, it is ignored; if the file is opened
    /// for writing, the line is removed. A last line that is complete except for its line end is used.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or written, is not a regular file, is locked, or contains a line
    /// that is not valid or that another program changed.
    pub fn open(path: &Path, access: SessionAccess) -> Result<Opening, SessionError> {
        check_kind(path)?;
        let failed = |error: std::io::Error| io_error(path, &error);
        let write = access == SessionAccess::Write;
        let mut options = OpenOptions::new();
        options.read(true).write(write);
        let (mut file, created) = if write {
            match options.clone().create_new(true).open(path) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    (options.open(path).map_err(failed)?, false)
                }
                opened => (opened.map_err(failed)?, true),
            }
        } else {
            (options.open(path).map_err(failed)?, false)
        };
        if write {
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(SessionError::Locked { path: path.to_owned() });
                }
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed)?;
        let at_line =
            |line: usize, why: String| SessionError::Line { path: path.to_owned(), line, why };
        let parsed =
            parse_journal(&bytes).map_err(|fault| at_line(fault.line, fault.kind.to_string()))?;
        let mut open = OpenFile {
            file,
            path: path.to_owned(),
            len: parsed.len as u64,
            chain: parsed.chain,
            modified: None,
            created,
        };
        let Some(header) = parsed.header else {
            if parsed.tail == Tail::Cut && write {
                open.cut(0).map_err(failed)?;
            }
            return Ok(Opening::New(NewSession { file: open }));
        };
        let mut record = Record::new(&header);
        for (line, event) in parsed.events {
            record.take(event).map_err(|why| at_line(line, why))?;
        }
        if write {
            open.repair_end(parsed.tail).map_err(failed)?;
            open.modified = open.modification();
        }
        let file = write.then_some(open);
        let log = SessionLog { header, record, file, tail: parsed.tail };
        Ok(Opening::Existing(Box::new(log)))
    }
}

impl NewSession {
    /// Writes the header.
    ///
    /// # Errors
    /// Returns an error if the header is not valid or the file cannot be written.
    pub fn begin(mut self, header: Header) -> Result<SessionLog, SessionError> {
        header.check().map_err(|why| SessionError::Line {
            path: self.file.path.clone(),
            line: 1,
            why,
        })?;
        let record = Record::new(&header);
        let line = self.file.chain.line(&header);
        self.file.write(line.as_bytes())?;
        // The name of a new file is on the disk only after the folder is synced.
        let folder = self.file.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Ok(folder) = File::open(folder.unwrap_or(Path::new("."))) {
            // Some file systems cannot sync a folder. The file itself has been synced.
            let _ = folder.sync_all();
        }
        Ok(SessionLog { header, record, file: Some(self.file), tail: Tail::Complete })
    }
}

impl SessionLog {
    /// A session without a file.
    ///
    /// # Errors
    /// The header is not valid.
    pub fn in_memory(header: Header) -> Result<SessionLog, DataError> {
        header.check().map_err(DataError::user)?;
        let record = Record::new(&header);
        Ok(SessionLog { header, record, file: None, tail: Tail::Complete })
    }

    /// The labelling model with all labels of the session and its skipped and uncertain rows. `points` are the rows of
    /// the session's pool.
    ///
    /// # Errors
    /// Returns an error if the points do not match the pool or the model cannot learn from them.
    pub fn model<P: PointSet>(
        &self,
        points: &P,
        threads: Threads,
    ) -> Result<LabellingSession, DataError> {
        let file = self.saved(points.len(), threads)?;
        LabellingSession::resume(&file, points).map_err(|error| DataError::user(error.to_string()))
    }

    /// A labelling session that predicts the given class of each row instead of learning, with all labels and skipped
    /// rows of this log. It does not ask about rows without a given class. For reviews.
    ///
    /// # Errors
    /// Returns an error if the classes do not match the pool or the session.
    pub fn suggested(&self, classes: &[Option<usize>]) -> Result<LabellingSession, DataError> {
        let file = self.saved(classes.len(), Threads::ONE)?;
        let session = LabellingSession::resume_suggested(&file, classes);
        session.map_err(|error| DataError::user(error.to_string()))
    }

    fn saved(&self, points: usize, threads: Threads) -> Result<LabellingFile, DataError> {
        let labelling = Labelling::params(self.header.classes.len()).seed(self.header.seed);
        Ok(LabellingFile {
            version: LabellingFile::VERSION,
            labelling: labelling.threads(threads).check()?,
            first_points: points,
            points,
            answers: self.record.answers(),
            skipped: self.record.skipped().chain(self.record.uncertain()).collect(),
        })
    }

    /// The header.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The events so far and the state derived from them.
    #[must_use]
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// The state of the end of the file when the file was opened.
    #[must_use]
    pub fn tail(&self) -> Tail {
        self.tail
    }

    /// Applies an event. When this method returns, the line of the event is on the disk, unless the session is open for
    /// reading only or has no file.
    ///
    /// Before and after writing, the path is compared with the open file. If another program deleted, replaced or
    /// changed the file, the whole session including this event is saved to a new file, and the error names that file.
    /// If the file was replaced by a copy of itself, writing continues in the copy.
    ///
    /// # Errors
    /// Returns an error if the event contradicts the session or the file cannot be written. In these cases, the event
    /// was not applied. The exception is [`SessionError::Lost`], the case described in the previous paragraph.
    pub fn apply(&mut self, event: &Event) -> Result<(), ApplyError> {
        self.record.check(event).map_err(ApplyError::Unfit)?;
        if let Some(file) = &mut self.file {
            let damage = file.damage();
            let before = file.chain;
            let line = file.chain.line(event);
            let written = match damage {
                Some(how) if how != REPLACED || !file.adopt_copy() => Err(how),
                _ => match file.write(line.as_bytes()) {
                    Ok(()) => file.damage().map_or(Ok(()), Err),
                    Err(error) => {
                        file.chain = before;
                        return Err(error.into());
                    }
                },
            };
            if let Err(how) = written {
                let path = file.path.clone();
                self.record.apply(event.clone());
                let saved = self.rescue(&path).map_err(|error| error.to_string());
                return Err(SessionError::Lost { path, how, saved }.into());
            }
        }
        self.record.apply(event.clone());
        Ok(())
    }

    /// Writes the whole session to a new file: at the session's own path if no file is there, otherwise under a
    /// different name.
    fn rescue(&self, path: &Path) -> std::io::Result<PathBuf> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        let mut result = options.open(path).map(|file| (file, path.to_owned()));
        for number in 1..=MAX_RESCUES {
            match &result {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    let mut name = path.as_os_str().to_owned();
                    name.push(format!(".rescued-{number}"));
                    let name = PathBuf::from(name);
                    result = options.open(&name).map(|file| (file, name));
                }
                _ => break,
            }
        }
        let (mut file, path) = result?;
        let text = journal_text(&self.header, &self.record);
        file.write_all(text.as_bytes()).and_then(|()| file.sync_all())?;
        Ok(path)
    }
}

/// An open file, locked against other processes.
#[derive(Debug)]
struct OpenFile {
    file: File,
    path: PathBuf,
    /// The length in bytes of the complete lines.
    len: u64,
    chain: Chain,
    /// The time at which this process last modified the file, if the system reports it.
    modified: Option<SystemTime>,
    /// Whether this process created the file.
    created: bool,
}

impl Drop for OpenFile {
    /// Removes the file if this process created it and no session was begun.
    fn drop(&mut self) {
        if self.created && self.len == 0 {
            // Failure is harmless: an empty file counts as new.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

impl OpenFile {
    /// Ensures that the file ends with a line end.
    fn repair_end(&mut self, tail: Tail) -> std::io::Result<()> {
        match tail {
            Tail::Complete => self.cut(self.len),
            Tail::Cut => {
                self.cut(self.len)?;
                self.file.sync_all()
            }
            Tail::NoLineEnd => {
                self.cut(self.len)?;
                self.file.write_all(b"\n")?;
                self.len += 1;
                self.file.sync_all()
            }
        }
    }

    fn cut(&mut self, len: u64) -> std::io::Result<()> {
        if self.file.metadata()?.len() != len {
            self.file.set_len(len)?;
        }
        self.len = len;
        self.file.seek(SeekFrom::Start(len)).map(|_| ())
    }

    fn write(&mut self, line: &[u8]) -> Result<(), SessionError> {
        let written = self.file.write_all(line).and_then(|()| self.file.sync_data());
        if let Err(error) = written {
            // Remove a partly written line, so that the next one starts on a line of its own.
            let back = self.cut(self.len);
            let rest = if back.is_err() {
                "; the last line may be truncated: restart the program"
            } else {
                ""
            };
            let (path, why) = (self.path.clone(), error.to_string());
            return Err(SessionError::NotKept { path, why, rest });
        }
        self.len += line.len() as u64;
        self.modified = self.modification();
        Ok(())
    }

    fn modification(&self) -> Option<SystemTime> {
        self.file.metadata().and_then(|metadata| metadata.modified()).ok()
    }

    /// Whether the file has the lines that this process read or wrote.
    fn is_unchanged(&self) -> bool {
        let mut bytes = Vec::new();
        let mut file = &self.file;
        // Reading moves the position to the end of the file, where the next line is written.
        let read = file.seek(SeekFrom::Start(0)).and_then(|_| file.read_to_end(&mut bytes));
        read.is_ok() && parse_journal(&bytes).is_ok_and(|parsed| parsed.chain == self.chain)
    }

    /// Switches to the file at the path if that file is a copy of the open file. Editors and programs that synchronise
    /// folders make such copies. Returns whether the file was switched.
    fn adopt_copy(&mut self) -> bool {
        let mut options = OpenOptions::new();
        let opened = options.read(true).write(true).open(&self.path);
        let Ok(mut copy) = opened else { return false };
        if check_kind(&self.path).is_err() || copy.try_lock().is_err() {
            return false;
        }
        let read = |file: &mut File| {
            let mut bytes = Vec::new();
            file.seek(SeekFrom::Start(0)).and_then(|_| file.read_to_end(&mut bytes)).map(|_| bytes)
        };
        let (Ok(ours), Ok(theirs)) = (read(&mut self.file), read(&mut copy)) else { return false };
        let is_copy = ours == theirs && ours.len() as u64 == self.len;
        if is_copy {
            // Reading has moved the position to the end of the file, where the next line is written.
            self.file = copy;
            self.modified = self.modification();
        }
        is_copy
    }

    /// The change that another program made to the file, if one can be detected.
    fn damage(&self) -> Option<&'static str> {
        let Ok(there) = std::fs::metadata(&self.path) else { return Some("deleted") };
        let Ok(open) = self.file.metadata() else { return Some("closed") };
        if !is_same_file(&there, &open) {
            return Some(REPLACED);
        }
        match open.len() {
            0 if self.len > 0 => Some("emptied"),
            len if len < self.len => Some("shortened"),
            len if len > self.len => Some("written to"),
            // The contents are compared only if another program may have written to the file.
            _ if self.modification() != self.modified && !self.is_unchanged() => Some("changed"),
            _ => None,
        }
    }
}

#[cfg(unix)]
fn is_same_file(a: &Metadata, b: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

/// Compares lengths and creation times, because the platform provides no inode numbers.
#[cfg(not(unix))]
fn is_same_file(a: &Metadata, b: &Metadata) -> bool {
    a.len() == b.len() && a.created().ok() == b.created().ok()
}

/// Rejects paths that are not regular files. Opening a pipe would block.
fn check_kind(path: &Path) -> Result<(), SessionError> {
    let not_a_file = |found| SessionError::NotAFile { path: path.to_owned(), found };
    // These paths may lead to a file to which another program, or this program itself, is writing.
    let is_in = |folder: &str| path.parent() == Some(Path::new(folder));
    if is_in("/dev") || is_in("/dev/fd") || path.starts_with("/proc") {
        return Err(not_a_file("a device or an open file"));
    }
    let Ok(metadata) = std::fs::metadata(path) else { return Ok(()) };
    if metadata.is_dir() {
        return Err(not_a_file("a directory"));
    }
    if !metadata.is_file() {
        return Err(not_a_file("a pipe or a device"));
    }
    Ok(())
}

fn io_error(path: &Path, error: &std::io::Error) -> SessionError {
    let input = matches!(
        error.kind(),
        ErrorKind::NotFound | ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem
    );
    SessionError::Io { path: path.to_owned(), why: error.to_string(), input }
}
