//! Where bytes come from.

use super::error::ReadError;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Opens a file for reading; also gives its name.
pub(super) fn open(path: &Path) -> Result<(File, String), ReadError> {
    let name = path.display().to_string();
    match File::open(path) {
        Ok(file) => Ok((file, name)),
        Err(source) => Err(ReadError::Io { name, source }),
    }
}

/// A reader that keeps what it has read, for a second pass.
#[derive(Debug)]
pub(super) struct Recorder<R> {
    reader: R,
    bytes: Vec<u8>,
}

impl<R: Read> Recorder<R> {
    pub(super) fn new(reader: R) -> Recorder<R> {
        Recorder { reader, bytes: Vec::new() }
    }

    /// Everything that was read.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

impl<R: Read> Read for Recorder<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buffer)?;
        self.bytes.try_reserve(count)?;
        self.bytes.extend_from_slice(&buffer[..count]);
        Ok(count)
    }
}
