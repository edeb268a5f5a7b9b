//! Reading and writing of the trials file.

use super::error::StoreError;
use crate::trial::TrialKey;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// No line is written across a multiple of this size: the kernel copies file data page by page and may kill a process
/// between two pages, but never within one.
const PAGE: u64 = 4096;

/// A line of the file.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Record {
    #[serde(flatten)]
    key: TrialKey,
    outcome: Value,
}

/// The trials of a run, in memory and in its file.
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
    /// The file, open and locked for appending; `None` if the store is read-only.
    file: Option<File>,
    length: u64,
    outcomes: HashMap<TrialKey, Value>,
}

impl TrialStore {
    /// Opens the file for appending and reads its trials. Creates the file if it does not exist. The file is locked
    /// until the store is dropped.
    ///
    /// # Errors
    /// Any [`StoreError`]. After an error, the file is unchanged.
    pub fn open(path: &Path) -> Result<TrialStore, StoreError> {
        let failed = |action| move |source| StoreError::Io { path: path.into(), action, source };
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(path)
            .map_err(failed("open for writing"))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(StoreError::InUse { path: path.into() }),
            Err(TryLockError::Error(source)) => return Err(failed("lock")(source)),
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed("read"))?;
        let mut store = TrialStore {
            path: path.into(),
            file: Some(file),
            length: bytes.len() as u64,
            outcomes: HashMap::new(),
        };
        store.absorb(path, &bytes)?;
        Ok(store)
    }

    /// Reads the trials of several files as shards of one run, without writing anything.
    ///
    /// # Errors
    /// Any [`StoreError`] except [`StoreError::InUse`].
    pub fn read(paths: &[PathBuf]) -> Result<TrialStore, StoreError> {
        let mut store =
            TrialStore { path: PathBuf::new(), file: None, length: 0, outcomes: HashMap::new() };
        for path in paths {
            let bytes = std::fs::read(path).map_err(|source| StoreError::Io {
                path: path.clone(),
                action: "read",
                source,
            })?;
            store.absorb(path, &bytes)?;
        }
        Ok(store)
    }

    /// Removes a truncated last line. Returns the number of bytes removed.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn repair(path: &Path) -> Result<u64, StoreError> {
        let failed = |action| move |source| StoreError::Io { path: path.into(), action, source };
        let bytes = std::fs::read(path).map_err(failed("read"))?;
        let whole = bytes.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
        let file = OpenOptions::new().write(true).open(path).map_err(failed("open for writing"))?;
        file.set_len(whole as u64).map_err(failed("truncate"))?;
        Ok((bytes.len() - whole) as u64)
    }

    fn absorb(&mut self, path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
        for (at, text) in bytes.split_inclusive(|b| *b == b'\n').enumerate() {
            let line = at + 1;
            // Padding before a page boundary; see `append`.
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

    /// Whether there are no trials.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.outcomes.is_empty()
    }

    /// The outcome of a trial; `None` if it is not in the store.
    #[must_use]
    pub fn get(&self, key: &TrialKey) -> Option<&Value> {
        self.outcomes.get(key)
    }

    /// All trials in the order of their keys' text, one per line: the canonical form of the file.
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

    /// Adds a finished trial to the file, then to memory. A trial that already exists with the same outcome is ignored.
    ///
    /// # Errors
    /// [`StoreError::Write`], [`StoreError::Conflict`]. After an error, the file is unchanged.
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
        if let Some(file) = &mut self.file {
            let written = write_line(file, self.length, &line_of(&record));
            self.length = written.map_err(|source| {
                let (path, kept) = (self.path.clone(), self.outcomes.len());
                StoreError::Write { path, kept, source }
            })?;
        }
        self.outcomes.insert(record.key, record.outcome);
        Ok(())
    }
}

fn line_of(record: &Record) -> String {
    let text = serde_json::to_string(record);
    let Ok(mut line) = text else { unreachable!("JSON values serialise to JSON: {text:?}") };
    line.push('\n');
    line
}

/// The destination of lines.
trait Journal: Write {
    /// Removes all bytes from `length` on.
    fn cut(&mut self, length: u64) -> io::Result<()>;
}

impl Journal for File {
    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }
}

/// Appends a line to a file of `length` bytes and returns the new length. A line that would straddle a page boundary
/// starts on the next page, after spaces (white space before a JSON value is part of JSON). If writing fails, the part
/// that was written is removed again.
fn write_line(file: &mut impl Journal, length: u64, line: &str) -> io::Result<u64> {
    let size = line.len() as u64;
    let room = PAGE - length % PAGE;
    let filler = if (room + 1..=PAGE).contains(&size) { room } else { 0 };
    let written = match filler {
        0 => Ok(()),
        _ => file.write_all(&vec![b' '; filler as usize]),
    };
    if let Err(fault) = written.and_then(|()| file.write_all(line.as_bytes())) {
        // If this fails too, the next open reports a truncated line.
        let _ = file.cut(length);
        return Err(fault);
    }
    Ok(length + filler + size)
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

    /// A disk with a limited number of free bytes.
    struct Disk {
        bytes: Vec<u8>,
        room: usize,
    }

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let count = bytes.len().min(self.room - self.bytes.len());
            self.bytes.extend(&bytes[..count]);
            if count == 0 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(count) }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Journal for Disk {
        fn cut(&mut self, length: u64) -> io::Result<()> {
            self.bytes.truncate(length as usize);
            Ok(())
        }
    }

    /// If the disk becomes full anywhere in a line or in the padding before it, only whole lines remain. A line that is
    /// written after space is freed is placed where it would have been without the failure.
    #[test]
    fn a_failed_write_is_undone() {
        let lines: Vec<String> = (0..90).map(|i| format!("{}\n", "x".repeat(40 + i))).collect();
        let mut whole = Disk { bytes: Vec::new(), room: usize::MAX };
        let mut ends = vec![0];
        for line in &lines {
            ends.push(write_line(&mut whole, ends[ends.len() - 1], line).unwrap());
        }
        assert_eq!(ends.last(), Some(&(whole.bytes.len() as u64)));
        assert!(whole.bytes.len() > PAGE as usize && whole.bytes.contains(&b' '));
        for room in 0..whole.bytes.len() {
            let mut disk = Disk { bytes: Vec::new(), room };
            let mut length = 0;
            let failed = lines.iter().position(|line| {
                let written = write_line(&mut disk, length, line);
                length = *written.as_ref().unwrap_or(&length);
                written.is_err()
            });
            let failed = failed.unwrap();
            assert_eq!((length, disk.bytes.len() as u64), (ends[failed], ends[failed]), "{room}");
            disk.room = usize::MAX;
            for line in &lines[failed..] {
                length = write_line(&mut disk, length, line).unwrap();
            }
            assert!(disk.bytes == whole.bytes, "{room}");
        }
    }

    /// A file may be truncated between lines, which is not an error, or within a line. In the second case, the error
    /// names the line, and `repair` keeps the lines before it.
    #[test]
    fn a_cut_anywhere_is_found_and_repaired() {
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
                    let left = whole[..cut].iter().rev().take_while(|b| **b != b'\n').count();
                    assert_eq!(TrialStore::repair(&path).unwrap(), left as u64);
                    assert_eq!(TrialStore::open(&path).unwrap().len(), lines);
                }
                Err(other) => panic!("{other}"),
            }
            // A new file each time: truncating an existing one makes some file systems wait for the disk.
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
        // The two trials are on the lines 1 and 2, so the new one would be on line 3.
        let second = store.append(&key(0), json!({"value": 1.0}));
        assert!(matches!(second, Err(StoreError::Conflict { line: 3, .. })));
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
        // A repeated trial is accepted if its outcome is the same, otherwise it is an error.
        fs::write(&path, format!("{good}{good}")).unwrap();
        assert_eq!(TrialStore::open(&path).unwrap().len(), 2);
        fs::write(&path, format!("{good}{}", good.replace("0.0", "0.5"))).unwrap();
        assert!(matches!(TrialStore::open(&path), Err(StoreError::Conflict { line: 3, .. })));
    }

    #[test]
    fn one_writer_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
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
