//! Sources of bytes: files, pipes and standard input. The bytes may be compressed.

use crate::budget::Budget;
use crate::error::DataError;
use crate::raw_file::RawFile;
use flate2::bufread::GzDecoder;
use memchr::memrchr;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read, Seek};
use std::path::{Path, PathBuf};

/// The format is detected from this many bytes at the start of a file.
const HEAD: usize = 1 << 16;

/// The number of bytes that are read into memory at a time.
const STEP: usize = 1 << 20;

/// The maximum length in bytes of a line of text.
const MAX_LINE: u64 = 1 << 29;

/// A file, a pipe, or standard input.
///
/// A regular file is opened once and stays open. All other sources can be read only once, so their bytes are stored in
/// memory.
///
/// ```
/// use halfspaces_frame::{Hints, ReadOptions, Source};
/// let path = std::env::temp_dir().join(format!("halfspaces-source-{}.csv", std::process::id()));
/// std::fs::write(&path, "a,b\n1,x\n2,y\n")?;
/// let source = Source::open(&path)?;
/// let names = source.read(&ReadOptions::default(), &Hints::default())?.names().len();
/// let texts = Hints { others_are_texts: true, ..Hints::default() };
/// assert_eq!((names, source.read(&ReadOptions::default(), &texts)?.rows), (2, 2));
/// std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Source {
    name: String,
    path: PathBuf,
    place: Place,
    /// The first bytes, after decompression.
    head: Vec<u8>,
    compression: Option<Compression>,
    budget: Budget,
}

#[derive(Debug)]
enum Place {
    File(RawFile),
    Memory(Vec<u8>),
}

/// The supported compression formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compression {
    /// One or several gzip members.
    Gzip,
    /// Zstandard frames, including skippable frames.
    Zstd,
}

impl Compression {
    fn detect(bytes: &[u8]) -> Option<Compression> {
        match bytes {
            [0x1f, 0x8b, ..] => Some(Compression::Gzip),
            // The file starts with a frame or with a skippable frame, which parallel compressors write first.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => {
                Some(Compression::Zstd)
            }
            _ => None,
        }
    }

    /// The name of the compression format, as shown in messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Compression::Gzip => "gzip",
            Compression::Zstd => "zstd",
        }
    }
}

/// Bytes with random access.
pub(crate) trait ReadSeek: Read + Seek {}

impl<T: Read + Seek> ReadSeek for T {}

impl Source {
    /// Opens a file, or standard input if the path is `-`, and reads the first bytes.
    ///
    /// # Errors
    /// Returns an error if the file cannot be opened or read, if it is empty or a directory, or if it is compressed twice.
    pub fn open(path: &Path) -> Result<Source, DataError> {
        let is_input = path == Path::new("-");
        let name = if is_input { "standard input".to_owned() } else { path.display().to_string() };
        let mut source = Source {
            name,
            path: path.to_path_buf(),
            place: Place::Memory(Vec::new()),
            head: Vec::new(),
            compression: None,
            budget: Budget::of_machine(),
        };
        source.place = if is_input {
            Place::Memory(source.read_all(io::stdin().lock())?)
        } else {
            source.open_file()?
        };
        source.with_head()
    }

    fn open_file(&self) -> Result<Place, DataError> {
        if self.path.is_dir() {
            return Err(DataError::user(format!(
                "{} is a directory; pass a file in it",
                self.name
            )));
        }
        let file = File::open(&self.path).map_err(|e| self.failed(&e))?;
        let metadata = file.metadata().map_err(|e| self.failed(&e))?;
        // Files in /proc are regular and have contents, but report a length of 0.
        if metadata.is_file() && metadata.len() > 0 {
            return Ok(Place::File(RawFile::new(file, metadata.len())));
        }
        Ok(Place::Memory(self.read_all(file)?))
    }

    /// Creates a source from bytes in memory. `name` is the name of the source in messages.
    pub(crate) fn of_bytes(
        name: &str,
        bytes: Vec<u8>,
        budget: Budget,
    ) -> Result<Source, DataError> {
        Source { place: Place::Memory(bytes), ..Source::named(name, budget) }.with_head()
    }

    /// Creates a source without bytes, for a table that is already in memory. `name` is the name of the table in
    /// messages.
    pub(crate) fn named(name: &str, budget: Budget) -> Source {
        Source {
            name: name.to_owned(),
            path: PathBuf::new(),
            place: Place::Memory(Vec::new()),
            head: Vec::new(),
            compression: None,
            budget,
        }
    }

    /// Reads and checks the first bytes.
    fn with_head(mut self) -> Result<Source, DataError> {
        let raw = self.read_head(self.raw())?;
        self.compression = Compression::detect(&raw);
        self.head = match self.compression {
            None => raw,
            Some(_) => self.read_head(self.decompressed()?)?,
        };
        if self.head.is_empty() {
            return Err(DataError::user(format!("{}: the file is empty", self.name)));
        }
        if let Some(inner) = self.compression.and(Compression::detect(&self.head)) {
            let (name, inner) = (&self.name, inner.name());
            return Err(DataError::user(format!(
                "{name}: the file is compressed twice (the inner format is {inner}); decompress it once and try again"
            )));
        }
        Ok(self)
    }

    fn read_head(&self, reader: impl Read) -> Result<Vec<u8>, DataError> {
        let mut head = Vec::with_capacity(HEAD);
        reader.take(HEAD as u64).read_to_end(&mut head).map_err(|e| self.failed(&e))?;
        Ok(head)
    }

    /// Reads all bytes, as long as they fit in the budget.
    fn read_all(&self, mut reader: impl Read) -> Result<Vec<u8>, DataError> {
        let mut bytes = Vec::new();
        // The buffer has room for one byte more than the length, so that reading shows whether the file ends after this
        // length.
        let length = self.length().and_then(|length| usize::try_from(length).ok()).unwrap_or(0);
        let grow = |bytes: &mut Vec<u8>, more: usize| {
            self.budget.grow(bytes, more).map_err(|e| e.at(&self.name))
        };
        grow(&mut bytes, length.saturating_add(1))?;
        loop {
            if bytes.len() == bytes.capacity() {
                grow(&mut bytes, STEP)?;
            }
            let room = bytes.capacity() - bytes.len();
            let step = reader.by_ref().take(room as u64).read_to_end(&mut bytes);
            if step.map_err(|e| self.failed(&e))? == 0 {
                let spare = bytes.capacity() - bytes.len();
                bytes.shrink_to_fit();
                self.budget.give_back(spare as u64);
                return Ok(bytes);
            }
        }
    }

    /// The name of the source, as shown in messages.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The compression format of the bytes, or `None` if they are not compressed.
    pub(crate) fn compression(&self) -> Option<Compression> {
        self.compression
    }

    /// The first bytes, after decompression.
    pub(crate) fn head(&self) -> &[u8] {
        &self.head
    }

    /// The memory budget for reading the file.
    pub(crate) fn budget(&self) -> &Budget {
        &self.budget
    }

    /// The number of bytes, if it is known without decompression.
    pub(crate) fn length(&self) -> Option<u64> {
        match (&self.place, self.compression) {
            (_, Some(_)) => None,
            (Place::File(file), None) => Some(file.length()),
            (Place::Memory(bytes), None) => Some(bytes.len() as u64),
        }
    }

    /// The error for a source that cannot be read. The message states the cause and says what to do.
    pub(crate) fn failed(&self, error: &io::Error) -> DataError {
        let name = &self.name;
        match error.kind() {
            io::ErrorKind::NotFound => {
                DataError::user(format!("{name}: there is no such file{}", self.neighbours()))
            }
            io::ErrorKind::PermissionDenied => {
                DataError::user(format!("{name}: permission to read it is denied"))
            }
            // The readers of text write these messages.
            io::ErrorKind::FileTooLarge | io::ErrorKind::Unsupported => {
                DataError::user(format!("{name}: {error}"))
            }
            _ if self.compression.is_some() => DataError::user(format!(
                "{name}: cannot be decompressed: {error}; the file is cut off or damaged"
            )),
            _ => DataError::user(format!("{name}: cannot be read: {error}")),
        }
    }

    /// Suggests the most similar file name in the same folder.
    fn neighbours(&self) -> String {
        let path = &self.path;
        let folder = path.parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let Ok(entries) = std::fs::read_dir(folder) else { return String::new() };
        let names = entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned());
        let names: Vec<String> = names.collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let wanted = path.file_name().map(|n| n.to_string_lossy().into_owned());
        let hint = crate::names::suggestion(&wanted.unwrap_or_default(), &names);
        if hint.contains("did you mean") { hint } else { String::new() }
    }

    fn raw(&self) -> Box<dyn BufRead + '_> {
        match &self.place {
            Place::File(file) => Box::new(BufReader::with_capacity(HEAD, file.from(0))),
            Place::Memory(bytes) => Box::new(Cursor::new(bytes)),
        }
    }

    /// A reader of the decompressed bytes, from the start.
    pub(crate) fn decompressed(&self) -> Result<Box<dyn BufRead + '_>, DataError> {
        let raw = self.raw();
        Ok(match self.compression {
            None => raw,
            Some(Compression::Gzip) => {
                let decoder = Some(GzDecoder::new(raw));
                Box::new(BufReader::with_capacity(HEAD, GzipMembers { decoder }))
            }
            Some(Compression::Zstd) => {
                let reader = zstd::Decoder::with_buffer(raw).map_err(|e| self.failed(&e))?;
                Box::new(BufReader::with_capacity(HEAD, reader))
            }
        })
    }

    /// A reader of the decompressed text, from the start. A line without an end causes an error before it fills the
    /// memory.
    pub(crate) fn reader(&self) -> Result<Box<dyn BufRead + '_>, DataError> {
        let limit = self.max_line();
        Ok(Box::new(BoundedLines { reader: self.decompressed()?, length: 0, limit }))
    }

    /// The maximum length of a line in bytes.
    pub(crate) fn max_line(&self) -> u64 {
        MAX_LINE.min(self.budget.limit() / 8)
    }

    /// All bytes, after decompression. Uncompressed bytes in memory are not copied.
    ///
    /// # Errors
    /// Returns an error if the bytes cannot be read or exceed the budget.
    pub(crate) fn bytes(&self) -> Result<std::borrow::Cow<'_, [u8]>, DataError> {
        match &self.place {
            Place::Memory(bytes) if self.compression.is_none() => Ok(bytes.into()),
            _ => Ok(self.read_all(self.decompressed()?)?.into()),
        }
    }

    /// The file itself, if it is a regular, uncompressed file.
    pub(crate) fn file(&self) -> Option<RawFile> {
        match &self.place {
            Place::File(file) if self.compression.is_none() => Some(file.clone()),
            _ => None,
        }
    }

    /// A reader of the decompressed bytes with random access. This is the file itself if possible, and a copy in memory
    /// otherwise.
    pub(crate) fn seekable(&self) -> Result<Box<dyn ReadSeek + '_>, DataError> {
        Ok(match self.file() {
            Some(file) => Box::new(BufReader::with_capacity(HEAD, file)),
            None => Box::new(Cursor::new(self.bytes()?)),
        })
    }

    /// Whether the bytes are UTF-16 text, with or without a byte order mark.
    pub(crate) fn is_utf16(&self) -> bool {
        crate::delimited::is_utf16(&self.head)
    }

    /// Rejects files that are not text.
    pub(crate) fn check_text(&self) -> Result<(), DataError> {
        if self.is_utf16() {
            let name = &self.name;
            return Err(DataError::user(format!("{name}: the file is UTF-16; save it as UTF-8")));
        }
        self.check_no_binary()
    }

    /// Rejects binary formats by their first bytes. UTF-16 text is accepted.
    pub(crate) fn check_no_binary(&self) -> Result<(), DataError> {
        let name = &self.name;
        let head = self.head();
        if let Some((_, what, advice)) = FOREIGN.iter().find(|(magic, ..)| head.starts_with(magic))
        {
            return Err(DataError::user(format!("{name}: the file is {what}; {advice}")));
        }
        if head.get(257..262) == Some(b"ustar") {
            return Err(DataError::user(format!(
                "{name}: the file is a tar archive; extract it and pass one of the extracted files"
            )));
        }
        if !self.is_utf16()
            && let Some(at) = head.iter().position(|byte| *byte == 0)
        {
            let text = head.iter().filter(|byte| **byte >= b' ' || byte.is_ascii_whitespace());
            if text.count() * 10 > head.len() * 9 && at > 0 {
                let line = 1 + head[..at].iter().filter(|byte| **byte == b'\n').count();
                return Err(DataError::user(format!(
                    "{name}, line {line}: a zero byte, which no text contains; remove it, or write the file again"
                )));
            }
            return Err(DataError::user(format!(
                "{name}: the file is in an unknown binary format; use CSV, LIBSVM, Parquet, Arrow, NPY or NPZ"
            )));
        }
        Ok(())
    }
}

const DECOMPRESS: &str = "decompress it, or compress it with gzip or zstd";
const EXTRACT: &str = "extract it and pass one of the extracted files";
const EXPORT: &str = "write it as CSV, Parquet, Arrow or NPY";

/// Unsupported formats, each with its first bytes, a description, and advice for the user.
const FOREIGN: [(&[u8], &str, &str); 22] = [
    (b"FEA1", "Feather version 1", "write it as Feather version 2 or Parquet"),
    (b"BZh", "compressed by bzip2", DECOMPRESS),
    (b"\xfd7zXZ", "compressed by xz", DECOMPRESS),
    (b"\x5d\x00\x00", "compressed by lzma", DECOMPRESS),
    (b"\x04\x22\x4d\x18", "compressed by lz4", DECOMPRESS),
    (b"\x02\x21\x4c\x18", "compressed by lz4", DECOMPRESS),
    (b"\xff\x06\x00\x00sNaPpY", "compressed by snappy", DECOMPRESS),
    (b"\x1f\x9d", "compressed by compress", DECOMPRESS),
    (b"LZIP", "compressed by lzip", DECOMPRESS),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", EXTRACT),
    (b"Rar!\x1a\x07", "a RAR archive", EXTRACT),
    (b"PK\x05\x06", "an empty ZIP archive", EXPORT),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook", EXPORT),
    (b"\x89HDF", "an HDF5 file", EXPORT),
    (b"\x80\x02", "a Python pickle", EXPORT),
    (b"\x80\x03", "a Python pickle", EXPORT),
    (b"\x80\x04", "a Python pickle", EXPORT),
    (b"\x80\x05", "a Python pickle", EXPORT),
    (b"ORC", "an ORC file", EXPORT),
    (b"Obj\x01", "an Avro file", EXPORT),
    (b"SQLite format 3\0", "an SQLite database", EXPORT),
    (b"%PDF-", "a PDF document", EXPORT),
];

/// A reader of the decompressed bytes of one or several gzip members. Zeros after the last member are ignored, because
/// programs that write blocks of a fixed size add them.
struct GzipMembers<R> {
    /// The decoder of the current member, or `None` after the last member.
    decoder: Option<GzDecoder<R>>,
}

impl<R: BufRead> Read for GzipMembers<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(decoder) = &mut self.decoder {
            let count = decoder.read(buffer)?;
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
            let Some(decoder) = self.decoder.take() else {
                unreachable!("the loop has found a decoder")
            };
            let mut rest = decoder.into_inner();
            while !rest.fill_buf()?.is_empty() {
                let found = rest.fill_buf()?;
                let zeros = found.iter().take_while(|byte| **byte == 0).count();
                if zeros == 0 {
                    self.decoder = Some(GzDecoder::new(rest));
                    break;
                }
                rest.consume(zeros);
            }
        }
        Ok(0)
    }
}

/// Reads from the buffer of a reader.
fn read_buffered(reader: &mut impl BufRead, buffer: &mut [u8]) -> io::Result<usize> {
    let mut found = reader.fill_buf()?;
    let count = found.read(buffer)?;
    reader.consume(count);
    Ok(count)
}

/// A reader of text in which a carriage return ends each line. It converts carriage returns to line feeds.
pub(crate) struct OldLineEnds<R> {
    pub(crate) reader: R,
    /// The converted bytes, of which the first `used` have been consumed.
    pub(crate) converted: Vec<u8>,
    pub(crate) used: usize,
}

impl<R: BufRead> Read for OldLineEnds<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        read_buffered(self, buffer)
    }
}

impl<R: BufRead> BufRead for OldLineEnds<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.used == self.converted.len() {
            let found = self.reader.fill_buf()?;
            let converted = found.iter().map(|byte| if *byte == b'\r' { b'\n' } else { *byte });
            (self.converted, self.used) = (converted.collect(), 0);
            self.reader.consume(self.converted.len());
        }
        Ok(&self.converted[self.used..])
    }

    fn consume(&mut self, count: usize) {
        self.used += count;
    }
}

/// A reader of text that limits the length of lines.
struct BoundedLines<R> {
    reader: R,
    /// The number of bytes since the last line end.
    length: u64,
    limit: u64,
}

impl<R: BufRead> Read for BoundedLines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        read_buffered(self, buffer)
    }
}

impl<R: BufRead> BufRead for BoundedLines<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.length > self.limit {
            return Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                format!(
                    "a line is longer than {}; the line ends are missing, or the file is not a table",
                    crate::budget::shown(self.limit)
                ),
            ));
        }
        self.reader.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        // The buffer still contains these bytes, so nothing is read here.
        if let Ok(found) = self.reader.fill_buf() {
            let used = &found[..count];
            let end = memrchr(b'\n', used).max(memrchr(b'\r', used));
            self.length = match end {
                Some(at) => (count - at - 1) as u64,
                None => self.length + count as u64,
            };
        }
        self.reader.consume(count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn source_of(bytes: Vec<u8>, limit: u64) -> Result<Source, DataError> {
        Source::of_bytes("t", bytes, Budget::new(limit))
    }

    fn text(source: &Source) -> String {
        String::from_utf8(source.bytes().unwrap().into_owned()).unwrap()
    }

    #[test]
    fn compressed_bytes_are_read_in_every_form() {
        let gzip = |text: &str| {
            let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            writer.write_all(text.as_bytes()).unwrap();
            writer.finish().unwrap()
        };
        let zstd = |text: &str| zstd::encode_all(text.as_bytes(), 1).unwrap();
        let skipped = |id: u8| [&[0x50 + id, 0x2a, 0x4d, 0x18, 4, 0, 0, 0], &b"four"[..]].concat();
        for bytes in [
            [gzip("a,b\n"), gzip(""), gzip("1,2\n")].concat(),
            [zstd("a,b\n"), zstd("1,2\n")].concat(),
            [skipped(0), zstd("a,b\n"), skipped(15), zstd("1,2\n"), skipped(3)].concat(),
        ] {
            let source = source_of(bytes.clone(), 1 << 30).unwrap();
            assert_eq!(text(&source), "a,b\n1,2\n");
            assert_eq!(source.head(), b"a,b\n1,2\n");
            let cut = source_of(bytes[..bytes.len() - 2].to_vec(), 1 << 30);
            let error = match cut {
                Ok(cut) => cut.bytes().unwrap_err(),
                Err(error) => error,
            };
            assert!(error.to_string().contains("cut off or damaged"), "{error}");
        }
    }

    /// Zeros after the last gzip member are ignored, but other bytes are an error.
    #[test]
    fn zeros_after_gzip_members_are_ignored() {
        let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        writer.write_all(b"a,b\n").unwrap();
        let member = writer.finish().unwrap();
        let bytes = [&member[..], &member, &[0; 1000]].concat();
        assert_eq!(text(&source_of(bytes.clone(), 1 << 30).unwrap()), "a,b\na,b\n");
        let error = source_of([&bytes[..], b"more"].concat(), 1 << 30).unwrap_err();
        assert!(error.to_string().contains("cut off or damaged"), "{error}");
    }

    #[test]
    fn decompressing_beyond_the_budget_is_an_error() {
        let bomb = zstd::encode_all(&vec![0; 1 << 24][..], 1).unwrap();
        let source = source_of(bomb, 1 << 22).unwrap();
        let error = source.bytes().unwrap_err().to_string();
        assert!(error.starts_with("t: reading it takes") && error.contains("4.2 MB"), "{error}");
        // A line without an end also causes an error, even if no text is stored.
        let mut lines = source.reader().unwrap();
        let error = io::copy(&mut lines, &mut io::sink()).unwrap_err();
        assert!(source.failed(&error).to_string().starts_with("t: a line is longer than 524.3 kB"));
        let source = source_of(b"0123456789\n".repeat(1 << 19), 1 << 22).unwrap();
        assert_eq!(io::copy(&mut source.reader().unwrap(), &mut io::sink()).unwrap(), 11 << 19);
    }

    #[test]
    fn foreign_formats_are_named() {
        for (bytes, expected) in [
            (&b"BZh91AY"[..], "bzip2; decompress it"),
            (b"\xfd7zXZ\0", "xz; decompress it"),
            (b"a\0b", "binary"),
            (b"SQLite format 3\0", "an SQLite database; write it"),
        ] {
            let source = source_of(bytes.to_vec(), 1 << 20).unwrap();
            let error = source.check_text().unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    /// Every reader of a named pipe gets all bytes.
    #[cfg(unix)]
    #[test]
    fn a_pipe_is_read_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
        let rows = "1,2,a\n".repeat(100_000);
        let writer = {
            let (path, rows) = (path.clone(), rows.clone());
            std::thread::spawn(move || std::fs::write(path, rows).unwrap())
        };
        let source = Source::open(&path).unwrap();
        writer.join().unwrap();
        for _ in 0..2 {
            assert_eq!(text(&source), rows);
            let mut read = String::new();
            source.reader().unwrap().read_to_string(&mut read).unwrap();
            assert_eq!(read, rows);
        }
    }

    /// If a file is replaced or grows while it is read, the reader still sees the original contents.
    #[test]
    fn a_file_is_opened_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        std::fs::write(&path, "a\n1\n").unwrap();
        let source = Source::open(&path).unwrap();
        let mut grown = File::options().append(true).open(&path).unwrap();
        grown.write_all(b"2\n").unwrap();
        assert_eq!(text(&source), "a\n1\n");
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, "b\n").unwrap();
        assert_eq!(text(&source), "a\n1\n");
    }
}
