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

/// A reader that bytes can be given back to.
#[derive(Debug)]
pub(super) struct Returnable<R> {
    reader: R,
    /// Read before the rest of `reader`, from `next` on.
    returned: Vec<u8>,
    next: usize,
}

impl<R: Read> Returnable<R> {
    pub(super) fn new(reader: R) -> Returnable<R> {
        Returnable { reader, returned: Vec::new(), next: 0 }
    }

    /// The next bytes read are these.
    pub(super) fn give_back(&mut self, bytes: Vec<u8>) {
        assert!(
            self.next == self.returned.len(),
            "bytes are given back once those before are read"
        );
        (self.returned, self.next) = (bytes, 0);
    }
}

impl<R: Read> Read for Returnable<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = &self.returned[self.next..];
        if left.is_empty() {
            return self.reader.read(buffer);
        }
        let count = left.len().min(buffer.len());
        buffer[..count].copy_from_slice(&left[..count]);
        self.next += count;
        if self.next == self.returned.len() {
            (self.returned, self.next) = (Vec::new(), 0);
        }
        Ok(count)
    }
}
