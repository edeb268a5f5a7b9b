//! Where bytes come from: a file or standard input, compressed or not.

use crate::error::DataError;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

/// Bytes looked at to tell what a file is.
const HEAD: usize = 1 << 16;

const GZIP: &[u8] = b"\x1f\x8b";
const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";

/// A file, or standard input, which is held in memory so that it may be read twice.
#[derive(Debug)]
pub(crate) struct Source {
    name: String,
    place: Place,
    /// The first bytes, decompressed.
    head: Vec<u8>,
    compressed: bool,
}

#[derive(Debug)]
enum Place {
    File(PathBuf),
    Memory(Vec<u8>),
}

impl Source {
    /// Opens a file, or standard input for `-`, and looks at its first bytes.
    pub(crate) fn open(path: &Path) -> Result<Source, DataError> {
        let (name, place) = if path == Path::new("-") {
            let name = "standard input".to_owned();
            let mut bytes = Vec::new();
            let read = io::stdin().lock().read_to_end(&mut bytes);
            read.map_err(|e| DataError::user(format!("{name}: cannot be read: {e}")))?;
            (name, Place::Memory(bytes))
        } else {
            let name = path.display().to_string();
            if path.is_dir() {
                return Err(DataError::user(format!("{name} is a directory; name a file in it")));
            }
            (name, Place::File(path.to_path_buf()))
        };
        let mut source = Source { name, place, head: Vec::new(), compressed: false };
        let raw = source.read_head(source.raw()?)?;
        source.compressed = raw.starts_with(GZIP) || raw.starts_with(ZSTD);
        let head = source.read_head(source.reader()?)?;
        source.head = head;
        if source.head.is_empty() {
            return Err(DataError::user(format!("{}: the file is empty", source.name)));
        }
        Ok(source)
    }

    fn read_head(&self, reader: impl Read) -> Result<Vec<u8>, DataError> {
        let mut head = Vec::with_capacity(HEAD);
        reader.take(HEAD as u64).read_to_end(&mut head).map_err(|e| self.failed(&e))?;
        Ok(head)
    }

    /// The name for messages.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The first bytes.
    pub(crate) fn head(&self) -> &[u8] {
        &self.head
    }

    /// Cannot be read: why, and what to do.
    pub(crate) fn failed(&self, error: &io::Error) -> DataError {
        let name = &self.name;
        match error.kind() {
            io::ErrorKind::NotFound => {
                DataError::user(format!("{name}: there is no such file{}", self.neighbours()))
            }
            io::ErrorKind::PermissionDenied => {
                DataError::user(format!("{name}: permission to read it is denied"))
            }
            _ if self.compressed => DataError::user(format!(
                "{name}: cannot be decompressed: {error}; the file is cut off or damaged"
            )),
            _ => DataError::user(format!("{name}: cannot be read: {error}")),
        }
    }

    /// The nearest name in the same folder.
    fn neighbours(&self) -> String {
        let Place::File(path) = &self.place else { return String::new() };
        let folder = path.parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let Ok(entries) = std::fs::read_dir(folder) else { return String::new() };
        let names = entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned());
        let names: Vec<String> = names.collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let wanted = path.file_name().map(|n| n.to_string_lossy().into_owned());
        let hint = crate::names::suggestion(&wanted.unwrap_or_default(), &names);
        if hint.contains("did you mean") { hint } else { String::new() }
    }

    fn raw(&self) -> Result<Box<dyn BufRead + '_>, DataError> {
        Ok(match &self.place {
            Place::File(path) => {
                let file = File::open(path).map_err(|e| self.failed(&e))?;
                Box::new(BufReader::with_capacity(HEAD, file))
            }
            Place::Memory(bytes) => Box::new(Cursor::new(bytes)),
        })
    }

    /// The bytes from the start, decompressed.
    pub(crate) fn reader(&self) -> Result<Box<dyn BufRead + '_>, DataError> {
        let mut raw = self.raw()?;
        let start = raw.fill_buf().map_err(|e| self.failed(&e))?;
        if start.starts_with(GZIP) {
            let reader = flate2::bufread::MultiGzDecoder::new(raw);
            return Ok(Box::new(BufReader::with_capacity(HEAD, reader)));
        }
        if start.starts_with(ZSTD) {
            let reader = zstd::Decoder::with_buffer(raw).map_err(|e| self.failed(&e))?;
            return Ok(Box::new(BufReader::with_capacity(HEAD, reader)));
        }
        Ok(raw)
    }

    /// All bytes, decompressed.
    pub(crate) fn bytes(&self) -> Result<Vec<u8>, DataError> {
        let mut bytes = Vec::new();
        self.reader()?.read_to_end(&mut bytes).map_err(|e| self.failed(&e))?;
        Ok(bytes)
    }

    /// The file itself, where it is one and not compressed.
    #[cfg(feature = "parquet")]
    pub(crate) fn file(&self) -> Result<Option<File>, DataError> {
        match &self.place {
            Place::File(path) if !self.compressed => {
                File::open(path).map(Some).map_err(|e| self.failed(&e))
            }
            _ => Ok(None),
        }
    }

    /// Refuses what is no text.
    pub(crate) fn check_text(&self) -> Result<(), DataError> {
        let name = &self.name;
        let head = self.head();
        if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") {
            return Err(DataError::user(format!("{name}: the file is UTF-16; save it as UTF-8")));
        }
        if head.starts_with(b"FEA1") {
            let advice = "write it as Feather version 2 or Parquet";
            return Err(DataError::user(format!(
                "{name}: the file is Feather version 1; {advice}"
            )));
        }
        let known: [(&[u8], &str); 5] = [
            (b"\xd0\xcf\x11\xe0", "an old Excel workbook"),
            (b"\x89HDF", "an HDF5 file"),
            (b"BZh", "compressed by bzip2"),
            (b"\xfd7zXZ", "compressed by xz"),
            (b"\x80\x04", "a Python pickle"),
        ];
        if let Some((_, what)) = known.iter().find(|(magic, _)| head.starts_with(magic)) {
            let advice = "write it as CSV, Parquet, Arrow or NPY";
            return Err(DataError::user(format!("{name}: the file is {what}; {advice}")));
        }
        if head.contains(&0) {
            return Err(DataError::user(format!(
                "{name}: the file is binary, in no format known here; use CSV, LIBSVM, Parquet, Arrow, NPY or NPZ"
            )));
        }
        Ok(())
    }
}
