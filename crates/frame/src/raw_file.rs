//! A file that is opened once and can be read repeatedly.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;

/// A regular file with the length that it had when it was opened. Clones have independent positions. All clones read
/// the same file contents, even if the file is replaced or grows in the meantime.
#[derive(Debug, Clone)]
pub(crate) struct RawFile {
    file: Arc<File>,
    length: u64,
    at: u64,
}

impl RawFile {
    pub(crate) fn new(file: File, length: u64) -> RawFile {
        RawFile { file: Arc::new(file), length, at: 0 }
    }

    /// The length in bytes.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// A clone that is positioned at byte `at`.
    pub(crate) fn from(&self, at: u64) -> RawFile {
        RawFile { at, ..self.clone() }
    }
}

impl Read for RawFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.length.saturating_sub(self.at);
        let most = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
        let count = read_at(&self.file, &mut buffer[..most], self.at)?;
        if count == 0 && most > 0 {
            return Err(io::Error::other("the file became shorter while it was being read"));
        }
        self.at += count as u64;
        Ok(count)
    }
}

impl Seek for RawFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let (from, by) = match to {
            SeekFrom::Start(at) => (at, 0),
            SeekFrom::End(by) => (self.length, by),
            SeekFrom::Current(by) => (self.at, by),
        };
        let at = from.checked_add_signed(by);
        self.at = at.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        Ok(self.at)
    }
}

#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, at)
}

#[cfg(windows)]
fn read_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, at)
}
