//! The session file: its first line says whose session it is, every further one is an event, on the disk before the next
//! question is shown.

use super::record::Event;
use crate::error::CliError;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// First line of a session file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header {
    pub(super) format: String,
    pub(super) version: u32,
    pub(super) pool: PoolId,
    pub(super) classes: Vec<String>,
    pub(super) seed: u64,
}

/// What a pool is recognised by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PoolId {
    pub(super) source: String,
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// Of names and values of the columns, in hexadecimal.
    pub(super) fingerprint: String,
}

impl Header {
    const FORMAT: &str = "halfspaces labelling session";
    const VERSION: u32 = 1;

    pub(super) fn new(pool: PoolId, classes: Vec<String>, seed: u64) -> Header {
        Header { format: Self::FORMAT.to_owned(), version: Self::VERSION, pool, classes, seed }
    }

    /// Refuses a session of other data; the name of the file may differ.
    pub(super) fn check_pool(&self, pool: &PoolId, path: &Path) -> Result<(), CliError> {
        let key = |id: &PoolId| (id.rows, id.columns, id.fingerprint.clone());
        if key(&self.pool) == key(pool) {
            return Ok(());
        }
        let PoolId { source, rows, columns, .. } = &self.pool;
        Err(CliError::user(format!(
            "{}: line 1: a session about {source} ({rows} rows, {columns} columns), not about these {} rows and {} columns of {}; \
             name another file by --session",
            path.display(),
            pool.rows,
            pool.columns,
            pool.source
        )))
    }
}

/// A session file that is open, and locked against a second process.
#[derive(Debug)]
pub(super) struct Journal {
    file: File,
    path: PathBuf,
    /// Bytes that are whole lines.
    len: u64,
    /// Whether the file was not there before.
    created: bool,
}

impl Drop for Journal {
    /// A session that never began leaves no file behind.
    fn drop(&mut self) {
        if self.created && self.len == 0 {
            // An empty file does no harm either: it is taken for a new one.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// What a session file holds.
#[derive(Debug)]
pub(super) struct Past {
    /// `None` of a new file.
    pub(super) header: Option<Header>,
    /// Events with the numbers of their lines.
    pub(super) events: Vec<(usize, Event)>,
    /// Whether the last line was cut off, which happens when the program is killed while it writes; it was dropped.
    pub(super) cut: bool,
}

impl Journal {
    /// Opens the file, or begins it. A last line that was cut off is taken out of it.
    pub(super) fn open(path: &Path) -> Result<(Journal, Past), CliError> {
        let failed = |error: std::io::Error| {
            let message = format!("{}: {error}", path.display());
            match error.kind() {
                ErrorKind::NotFound | ErrorKind::PermissionDenied => CliError::user(message),
                _ => CliError::system(message),
            }
        };
        if path.is_dir() {
            return Err(CliError::user(format!(
                "{}: is a directory; --session names a file",
                path.display()
            )));
        }
        let mut options = OpenOptions::new();
        options.read(true).write(true);
        let (mut file, created) = match options.clone().create_new(true).open(path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                (options.open(path).map_err(failed)?, false)
            }
            opened => (opened.map_err(failed)?, true),
        };
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(CliError::user(format!(
                    "{}: another process labels with this session; stop it first, or name another file by --session",
                    path.display()
                )));
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed)?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let cut = whole < bytes.len();
        // A file of another kind is refused before anything is taken out of it.
        let past = read(&bytes[..whole], cut, path)?;
        if cut && past.header.is_none() && !begins_a_header(&bytes) {
            return Err(not_a_session(path, 1, "there is no whole line"));
        }
        let len = whole as u64;
        if cut {
            file.set_len(len).and_then(|()| file.sync_all()).map_err(failed)?;
        }
        file.seek(SeekFrom::Start(len)).map_err(failed)?;
        Ok((Journal { file, path: path.to_owned(), len, created }, past))
    }

    /// Writes the first line.
    pub(super) fn begin(&mut self, header: &Header) -> Result<(), CliError> {
        self.line(header)?;
        // The name of a new file is on the disk only with its folder.
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Ok(folder) = File::open(folder.unwrap_or(Path::new("."))) {
            // Not every file system can; the file itself is synced.
            let _ = folder.sync_all();
        }
        Ok(())
    }

    /// Writes an event; it is on the disk when this returns.
    pub(super) fn append(&mut self, event: &Event) -> Result<(), CliError> {
        self.line(event)
    }

    fn line(&mut self, value: &impl Serialize) -> Result<(), CliError> {
        let text = serde_json::to_string(value);
        let Ok(mut text) = text else {
            unreachable!("numbers and texts have a JSON form: {text:?}")
        };
        text.push('\n');
        let written = self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_data());
        if let Err(error) = written {
            // A part of a line must not stand before the next one.
            let back = self
                .file
                .set_len(self.len)
                .and_then(|()| self.file.seek(SeekFrom::Start(self.len)));
            let lost = if back.is_err() { "; the last line may be cut: start again" } else { "" };
            let name = self.path.display();
            return Err(CliError::system(format!("{name}: {error}; the answer is not kept{lost}")));
        }
        self.len += text.len() as u64;
        Ok(())
    }
}

fn begins_a_header(bytes: &[u8]) -> bool {
    let start = b"{\"format\":\"halfspaces labelling session\"";
    bytes.iter().zip(start).all(|(a, b)| a == b)
}

fn not_a_session(path: &Path, line: usize, why: &str) -> CliError {
    let name = path.display();
    CliError::user(format!(
        "{name}: line {line}: {why}; is this a session file of `halfspaces label`?"
    ))
}

fn read(bytes: &[u8], cut: bool, path: &Path) -> Result<Past, CliError> {
    let mut past = Past { header: None, events: Vec::new(), cut };
    for (number, line) in
        bytes.split(|byte| *byte == b'\n').enumerate().map(|(n, line)| (n + 1, line))
    {
        if number == 1 && !line.is_empty() {
            let header: Header = serde_json::from_slice(line)
                .map_err(|error| not_a_session(path, 1, &error.to_string()))?;
            if header.format != Header::FORMAT {
                return Err(not_a_session(path, 1, &format!("its format is {:?}", header.format)));
            }
            let (found, read) = (header.version, Header::VERSION);
            if found != read {
                let why =
                    format!("a session of version {found}; this program reads version {read}");
                return Err(CliError::user(format!("{}: line 1: {why}", path.display())));
            }
            past.header = Some(header);
        } else if !line.is_empty() {
            let event = serde_json::from_slice(line);
            let event = event.map_err(|error| not_a_session(path, number, &error.to_string()))?;
            past.events.push((number, event));
        }
    }
    Ok(past)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> Header {
        let fingerprint = "00ff".to_owned();
        let pool = PoolId { source: "pool.csv".into(), rows: 5, columns: 2, fingerprint };
        Header::new(pool, vec!["a".into(), "b".into()], 7)
    }

    fn answer(row: usize) -> Event {
        let (class, predicted) = ("a".to_owned(), "b".to_owned());
        Event::Answer { row, class, predicted, probability: 0.1, to_come: Some(3.5) }
    }

    /// Cut anywhere, the file gives exactly the events whose lines are whole, and goes on behind them.
    #[test]
    fn a_file_cut_anywhere_has_its_whole_lines() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        let (mut journal, past) = Journal::open(&path).unwrap();
        assert!(past.header.is_none() && past.events.is_empty() && !past.cut);
        journal.begin(&header()).unwrap();
        let events = [
            answer(0),
            Event::Skip { row: 1, predicted: "a".into(), probability: 0.5 },
            Event::Undo { row: 1 },
        ];
        events.iter().for_each(|event| journal.append(event).unwrap());
        drop(journal);
        let bytes = std::fs::read(&path).unwrap();
        for len in 0..=bytes.len() {
            std::fs::write(&path, &bytes[..len]).unwrap();
            let whole = bytes[..len].iter().filter(|byte| **byte == b'\n').count();
            let (mut journal, past) = Journal::open(&path).unwrap();
            assert_eq!(past.cut, len > 0 && bytes[len - 1] != b'\n');
            assert_eq!(past.header.is_some(), whole > 0);
            let read: Vec<Event> = past.events.into_iter().map(|(_, event)| event).collect();
            assert_eq!(read, events[..whole.saturating_sub(1)]);
            if whole > 0 {
                journal.append(&answer(4)).unwrap();
                drop(journal);
                let (_, past) = Journal::open(&path).unwrap();
                assert_eq!(past.events.last(), Some(&(whole + 1, answer(4))));
            }
        }
    }

    #[test]
    fn two_processes_cannot_write_and_other_files_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        let (mut journal, _) = Journal::open(&path).unwrap();
        journal.begin(&header()).unwrap();
        let second = Journal::open(&path).unwrap_err().to_string();
        assert!(second.contains("another process labels with this session"), "{second}");
        drop(journal);
        let (_, past) = Journal::open(&path).unwrap();
        let mut other = header().pool;
        other.fingerprint = "0000".into();
        let refused = past.header.unwrap().check_pool(&other, &path).unwrap_err().to_string();
        assert!(refused.contains("not about these 5 rows"), "{refused}");
        for text in ["a,b\n1,2\n", "no line end", "{\"format\":\"x\"}\n"] {
            std::fs::write(&path, text).unwrap();
            let refused = Journal::open(&path).unwrap_err().to_string();
            assert!(
                refused.contains("line 1") && refused.contains("is this a session file"),
                "{refused}"
            );
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
    }
}
