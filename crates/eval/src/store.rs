//! The append-only file of trials.
//!
//! One trial a line, written by a single write call each, so that whatever ends the program, every
//! line in the file is a finished trial. A write that fails half-way (disk full) is undone.

use crate::trial::TrialKey;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Size that no line is written across: the kernel copies file data page by page and may end a
/// killed process between two pages, never within one.
const PAGE: u64 = 4096;

/// A line of the file.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Record {
    #[serde(flatten)]
    key: TrialKey,
    outcome: Value,
}

/// What can be wrong with a trials file.
///
/// ```
/// use halfspaces_eval::{StoreError, TrialStore};
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("trials.jsonl");
/// std::fs::write(&path, "{\"experiment\": \"K3\", \"conf")?; // killed by something other than us
/// assert!(matches!(TrialStore::open(&path), Err(StoreError::Truncated { line: 1, .. })));
/// TrialStore::repair(&path)?;
/// assert!(TrialStore::open(&path)?.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Error)]
pub enum StoreError {
    /// The file system refuses.
    #[error("{}: cannot {action}: {source}; mend that, or choose another folder with --out", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// Why it failed.
        source: io::Error,
    },
    /// A trial could not be written; the file is as it was before.
    #[error("{}: cannot write a trial: {source}; {kept} trials are kept, free space or choose another folder with --out, then rerun", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Trials safely in the file.
        kept: usize,
        /// Why it failed.
        source: io::Error,
    },
    /// Another process is writing the file.
    #[error("{}: another run is using this folder; wait for it or choose another with --out", path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// The last line is cut off.
    #[error("{}, line {line}: the last line is cut off after {bytes} bytes; rerun with --repair to drop it and redo that trial", path.display())]
    Truncated {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// Bytes present of it.
        bytes: usize,
    },
    /// A line is not a trial.
    #[error("{}, line {line}: not a trial ({reason}); delete the line to redo that trial, or rerun with --fresh", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What the parser says.
        reason: String,
    },
    /// Two lines disagree about one trial.
    #[error("{}, line {line}: a second, different outcome of {key}; the files come from different programs, rerun with --fresh", path.display())]
    Conflict {
        /// The file.
        path: PathBuf,
        /// The later line, from 1.
        line: usize,
        /// The trial.
        key: Box<TrialKey>,
    },
}

/// The trials of a run, in memory and in the file behind it.
///
/// ```
/// use halfspaces_eval::{TrialKey, TrialStore};
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("trials.jsonl");
/// let key = TrialKey {
///     experiment: "K3".into(),
///     configuration: serde_json::json!({"d": 10}),
///     seed: 1,
///     index: 0,
/// };
/// TrialStore::open(&path)?.append(&key, serde_json::json!({"mistakes": 7}))?;
/// let reopened = TrialStore::open(&path)?;
/// assert_eq!(reopened.get(&key), Some(&serde_json::json!({"mistakes": 7})));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct TrialStore {
    path: PathBuf,
    /// Open and locked for appending; `None` when only read.
    file: Option<File>,
    length: u64,
    outcomes: HashMap<TrialKey, Value>,
}

/// An output folder held by one run: as long as it lives, nobody else gets it. The lock is a file
/// `.lock` in the folder, which stays.
///
/// ```
/// use halfspaces_eval::{FolderLock, StoreError};
/// let folder = tempfile::tempdir()?;
/// let lock = FolderLock::take(folder.path())?;
/// assert!(matches!(FolderLock::take(folder.path()), Err(StoreError::InUse { .. })));
/// drop(lock);
/// assert!(FolderLock::take(folder.path()).is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FolderLock(#[expect(dead_code, reason = "open until dropped")] File);

impl FolderLock {
    /// Name of the lock file.
    pub const NAME: &str = ".lock";

    /// Takes the folder.
    ///
    /// # Errors
    /// [`StoreError::InUse`], [`StoreError::Io`].
    pub fn take(folder: &Path) -> Result<FolderLock, StoreError> {
        let path = folder.join(Self::NAME);
        let failed = |action| {
            let path = path.clone();
            move |source| StoreError::Io { path, action, source }
        };
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(&path);
        let file = file.map_err(failed("create it"))?;
        match file.try_lock() {
            Ok(()) => Ok(FolderLock(file)),
            Err(TryLockError::WouldBlock) => Err(StoreError::InUse { path: folder.into() }),
            Err(TryLockError::Error(source)) => Err(failed("lock it")(source)),
        }
    }
}

impl TrialStore {
    /// Opens the file for appending, creating it if there is none, and reads what it holds. The
    /// file is locked until the store is dropped.
    ///
    /// # Errors
    /// Every [`StoreError`]; the file is not changed.
    pub fn open(path: &Path) -> Result<TrialStore, StoreError> {
        let failed = |action| move |source| StoreError::Io { path: path.into(), action, source };
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(path)
            .map_err(failed("open it for writing"))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(StoreError::InUse { path: path.into() }),
            Err(TryLockError::Error(source)) => return Err(failed("lock it")(source)),
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed("read it"))?;
        let mut store = TrialStore {
            path: path.into(),
            file: Some(file),
            length: bytes.len() as u64,
            outcomes: HashMap::new(),
        };
        store.absorb(path, &bytes)?;
        Ok(store)
    }

    /// Reads the trials of several files, as shards of one run, without writing anything.
    ///
    /// # Errors
    /// Every [`StoreError`] but [`StoreError::InUse`].
    pub fn read(paths: &[PathBuf]) -> Result<TrialStore, StoreError> {
        let mut store =
            TrialStore { path: PathBuf::new(), file: None, length: 0, outcomes: HashMap::new() };
        for path in paths {
            let bytes = std::fs::read(path).map_err(|source| StoreError::Io {
                path: path.clone(),
                action: "read it",
                source,
            })?;
            store.absorb(path, &bytes)?;
        }
        Ok(store)
    }

    /// Cuts a truncated last line off; returns how many bytes went.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn repair(path: &Path) -> Result<u64, StoreError> {
        let failed = |action| move |source| StoreError::Io { path: path.into(), action, source };
        let bytes = std::fs::read(path).map_err(failed("read it"))?;
        let whole = bytes.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
        let file =
            OpenOptions::new().write(true).open(path).map_err(failed("open it for writing"))?;
        file.set_len(whole as u64).map_err(failed("shorten it"))?;
        Ok((bytes.len() - whole) as u64)
    }

    fn absorb(&mut self, path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
        for (at, text) in bytes.split_inclusive(|b| *b == b'\n').enumerate() {
            let line = at + 1;
            // Filler before a page boundary; see `append`.
            if text.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            if text.last() != Some(&b'\n') {
                let bytes = text.len();
                return Err(StoreError::Truncated { path: path.into(), line, bytes });
            }
            let record: Record = serde_json::from_slice(text).map_err(|error| {
                StoreError::Malformed { path: path.into(), line, reason: error.to_string() }
            })?;
            let known = self.outcomes.get(&record.key);
            if known.is_some_and(|outcome| *outcome != record.outcome) {
                let key = Box::new(record.key);
                return Err(StoreError::Conflict { path: path.into(), line, key });
            }
            self.outcomes.insert(record.key, record.outcome);
        }
        Ok(())
    }

    /// Number of trials.
    #[must_use]
    pub fn len(&self) -> usize {
        self.outcomes.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.outcomes.is_empty()
    }

    /// The outcome of a trial, if it is in.
    #[must_use]
    pub fn get(&self, key: &TrialKey) -> Option<&Value> {
        self.outcomes.get(key)
    }

    /// All trials in the order of their keys' text, one line each: the canonical form of the file.
    #[must_use]
    pub fn to_canonical_lines(&self) -> String {
        let mut lines: Vec<(String, String)> = self
            .outcomes
            .iter()
            .map(|(key, outcome)| {
                let record = Record { key: key.clone(), outcome: outcome.clone() };
                let order = format!("{} {} {:020}", key.experiment, key.configuration, key.index);
                (order, line_of(&record))
            })
            .collect();
        lines.sort();
        lines.into_iter().map(|(_, line)| line).collect()
    }

    /// Adds a finished trial to the file, then to memory. One that is in already, with the same
    /// outcome, is left alone.
    ///
    /// # Errors
    /// [`StoreError::Write`], [`StoreError::Conflict`]; the file then holds what it held before.
    pub fn append(&mut self, key: &TrialKey, outcome: Value) -> Result<(), StoreError> {
        match self.outcomes.get(key) {
            Some(known) if *known == outcome => return Ok(()),
            Some(_) => {
                let (path, key) = (self.path.clone(), Box::new(key.clone()));
                return Err(StoreError::Conflict { path, line: self.outcomes.len() + 1, key });
            }
            None => {}
        }
        let record = Record { key: key.clone(), outcome };
        let line = line_of(&record);
        if let Some(mut file) = self.file.as_ref() {
            let before = self.length;
            let room = PAGE - before % PAGE;
            let mut written = Ok(());
            // A line that would straddle a page boundary starts on the next page, after spaces
            // (white space before a JSON value is part of JSON).
            if (line.len() as u64) > room && (line.len() as u64) <= PAGE {
                written = file.write_all(&vec![b' '; room as usize]);
                self.length += room;
            }
            written = written.and_then(|()| file.write_all(line.as_bytes()));
            if let Err(source) = written {
                let (path, kept) = (self.path.clone(), self.outcomes.len());
                self.length = before;
                // Undo a partial line; if even that fails, the next open reports it.
                let _ = file.set_len(before);
                return Err(StoreError::Write { path, kept, source });
            }
            self.length += line.len() as u64;
        }
        self.outcomes.insert(record.key, record.outcome);
        Ok(())
    }
}

fn line_of(record: &Record) -> String {
    // Keys are strings and numbers are JSON's own, so this cannot fail.
    let mut line = serde_json::to_string(record).unwrap_or_default();
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::fs;

    fn key(index: u64) -> TrialKey {
        TrialKey { experiment: "E".into(), configuration: json!({"d": 3}), seed: 7, index }
    }

    fn filled(path: &Path, trials: u64) {
        let mut store = TrialStore::open(path).unwrap();
        for index in 0..trials {
            store.append(&key(index), json!({"value": index as f64 / 3.0})).unwrap();
        }
    }

    #[test]
    fn floats_come_back_to_the_bit_and_lines_keep_off_page_boundaries() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        filled(&path, 200);
        let store = TrialStore::open(&path).unwrap();
        assert_eq!(store.len(), 200);
        assert_eq!(store.get(&key(100)), Some(&json!({"value": 100.0 / 3.0})));
        let bytes = fs::read(&path).unwrap();
        assert!(bytes.len() > 3 * PAGE as usize);
        for boundary in (PAGE as usize..bytes.len()).step_by(PAGE as usize) {
            assert!(bytes[boundary - 1].is_ascii_whitespace(), "a line straddles {boundary}");
        }
    }

    /// Every possible cut: either between lines, and then nothing is wrong, or in a line, and then
    /// the error says where and `repair` keeps the lines before.
    #[test]
    fn a_cut_anywhere_is_seen_and_mended() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        filled(&path, 60);
        let whole = fs::read(&path).unwrap();
        for cut in 0..whole.len() {
            fs::write(&path, &whole[..cut]).unwrap();
            let lines = whole[..cut].iter().filter(|b| **b == b'\n').count();
            match TrialStore::open(&path) {
                Ok(store) => assert_eq!(store.len(), lines),
                Err(StoreError::Truncated { line, .. }) => {
                    assert_eq!(line, lines + 1);
                    assert_eq!(fs::read(&path).unwrap(), &whole[..cut], "untouched");
                    TrialStore::repair(&path).unwrap();
                    assert_eq!(TrialStore::open(&path).unwrap().len(), lines);
                }
                Err(other) => panic!("{other}"),
            }
            // A new file each time: emptying one makes some file systems wait for the disk.
            fs::remove_file(&path).unwrap();
        }
    }

    #[test]
    fn a_second_outcome_of_a_trial_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        filled(&path, 2);
        let before = fs::read(&path).unwrap();
        let mut store = TrialStore::open(&path).unwrap();
        store.append(&key(0), json!({"value": 0.0})).unwrap();
        let second = store.append(&key(0), json!({"value": 1.0}));
        assert!(matches!(second, Err(StoreError::Conflict { .. })));
        assert_eq!(fs::read(&path).unwrap(), before);
    }

    #[test]
    fn damage_is_located() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        filled(&path, 2);
        let good = fs::read_to_string(&path).unwrap();
        fs::write(&path, format!("{good}garbage\n")).unwrap();
        let error = TrialStore::open(&path).unwrap_err();
        assert!(matches!(error, StoreError::Malformed { line: 3, .. }));
        assert!(!error.to_string().contains('\n'));
        // The same trial twice is fine if it says the same, and an error if not.
        fs::write(&path, format!("{good}{good}")).unwrap();
        assert_eq!(TrialStore::open(&path).unwrap().len(), 2);
        fs::write(&path, format!("{good}{}", good.replace("0.0", "0.5"))).unwrap();
        assert!(matches!(TrialStore::open(&path), Err(StoreError::Conflict { line: 3, .. })));
    }

    #[test]
    fn one_writer_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let taken = FolderLock::take(folder.path()).unwrap();
        assert!(matches!(FolderLock::take(folder.path()), Err(StoreError::InUse { .. })));
        drop(taken);
        FolderLock::take(folder.path()).unwrap();
        let path = folder.path().join("t.jsonl");
        let first = TrialStore::open(&path).unwrap();
        assert!(matches!(TrialStore::open(&path), Err(StoreError::InUse { .. })));
        drop(first);
        TrialStore::open(&path).unwrap();
    }

    #[test]
    fn shards_read_together_are_the_whole() {
        let folder = tempfile::tempdir().unwrap();
        let paths: Vec<PathBuf> = (0..3).map(|i| folder.path().join(format!("{i}"))).collect();
        let whole = folder.path().join("whole");
        filled(&whole, 20);
        for (part, path) in paths.iter().enumerate() {
            let mut store = TrialStore::open(path).unwrap();
            for index in (0..20).filter(|i| i % 3 == part as u64) {
                store.append(&key(index), json!({"value": index as f64 / 3.0})).unwrap();
            }
        }
        let merged = TrialStore::read(&paths).unwrap();
        assert_eq!(
            merged.to_canonical_lines(),
            TrialStore::read(&[whole]).unwrap().to_canonical_lines()
        );
        assert!(TrialStore::read(&[folder.path().join("none")]).is_err());
    }
}
