//! The model file, which contains the columns, the classes, the learner and the fit report as one JSON document.
//!
//! The format is described in docs/model.schema.json.

use crate::pipeline::Pipeline;
use fnv::FnvHasher;
use halfspaces_frame::DataError;
use serde::{Deserialize, Serialize};
use std::fs::OpenOptions;
use std::hash::Hasher;
use std::io::{self, BufWriter, Write};
use std::path::Path;

const FORMAT: &str = "halfspaces model";
const VERSION: u64 = 4;

/// The fields that all versions of the model file have in common.
#[derive(Deserialize)]
struct Head {
    format: String,
    version: u64,
}

/// The contents of a model file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "format")]
    _format: String,
    #[serde(rename = "version")]
    _version: u64,
    /// The program that wrote the file.
    #[serde(rename = "program")]
    _program: String,
    checksum: String,
    pipeline: Pipeline,
}

#[derive(Serialize)]
struct FileRef<'p> {
    format: &'static str,
    version: u64,
    program: &'static str,
    checksum: String,
    pipeline: &'p Pipeline,
}

/// A hash of the serialised pipeline. When a file is loaded, the hash is recomputed from the parsed pipeline, so that
/// changed numbers and unknown keys are detected.
fn checksum(pipeline: &Pipeline) -> serde_json::Result<String> {
    struct Hash(FnvHasher);
    impl Write for Hash {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.write(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut hash = Hash(FnvHasher::default());
    serde_json::to_writer(&mut hash, pipeline)?;
    Ok(format!("{:016x}", hash.0.finish()))
}

impl Pipeline {
    /// Writes the model file.
    ///
    /// # Errors
    /// Returns any error of `out`.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let program = concat!("halfspaces ", env!("CARGO_PKG_VERSION"));
        let checksum = checksum(self)?;
        let file = FileRef { format: FORMAT, version: VERSION, program, checksum, pipeline: self };
        serde_json::to_writer(&mut *out, &file)?;
        out.write_all(b"\n")
    }

    /// Saves the model file. An existing file is replaced only when the new file is complete, so a failure leaves the
    /// existing file unchanged.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), DataError> {
        let saved = || -> io::Result<()> {
            // A symbolic link stays a link, and its target is replaced. A pipe or a terminal is written to directly.
            let (target, before) = match path.canonicalize() {
                Ok(target) => {
                    let before = target.metadata()?;
                    (target, Some(before))
                }
                // A symbolic link without a target is an error and is not replaced.
                Err(e) if e.kind() == io::ErrorKind::NotFound && !path.is_symlink() => {
                    (path.to_path_buf(), None)
                }
                Err(e) => return Err(e),
            };
            if before.as_ref().is_some_and(|file| !file.is_file()) {
                return self.write(&mut OpenOptions::new().append(true).open(&target)?);
            }
            let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
            let mut builder = tempfile::Builder::new();
            // The umask determines who may read the file, as for any other file. By default, only the owner can read a
            // temporary file.
            #[cfg(unix)]
            builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
            let file = builder.tempfile_in(folder.unwrap_or(Path::new(".")))?;
            if let Some(before) = before {
                file.as_file().set_permissions(before.permissions())?;
            }
            let mut out = BufWriter::new(file.as_file());
            self.write(&mut out)?;
            out.flush()?;
            drop(out);
            file.as_file().sync_all()?;
            file.persist(&target).map_err(|e| e.error)?;
            Ok(())
        };
        saved()
            .map_err(|e| DataError::system(format!("{}: cannot be written: {e}", path.display())))
    }

    /// Loads a model file.
    ///
    /// # Errors
    /// Returns an error if the file does not exist, has another version, or is damaged.
    pub fn load(path: &Path) -> Result<Pipeline, DataError> {
        let name = path.display().to_string();
        if path.is_dir() {
            return Err(DataError::user(format!("{name} is a directory; pass a model file")));
        }
        let bytes = std::fs::read(path).map_err(|e| match e.kind() {
            io::ErrorKind::NotFound => DataError::user(format!(
                "{name}: there is no such model file; create one with `halfspaces fit`"
            )),
            _ => DataError::user(format!("{name}: cannot be read: {e}")),
        })?;
        Pipeline::read(&bytes, &name)
    }

    /// Parses the bytes of a model file. `name` is the file name used in error messages.
    ///
    /// # Errors
    /// Returns an error if the file has another version or is damaged.
    pub fn read(bytes: &[u8], name: &str) -> Result<Pipeline, DataError> {
        let Ok(head) = serde_json::from_slice::<Head>(bytes) else {
            return Err(DataError::user(format!(
                "{name}: not a model file, or a truncated one; create a model file with `halfspaces fit`"
            )));
        };
        if head.format != FORMAT {
            return Err(DataError::user(format!(
                "{name}: this is not a model file, but \"{}\"",
                head.format
            )));
        }
        if head.version != VERSION {
            return Err(DataError::user(format!(
                "{name}: the model file has version {}, but this program reads version {VERSION}; fit the model again, or use \
                 the program that wrote it",
                head.version
            )));
        }
        let damaged =
            |what: String| DataError::user(format!("{name}: the model is damaged: {what}"));
        let file: File = serde_json::from_slice(bytes).map_err(|e| damaged(e.to_string()))?;
        file.pipeline.check().map_err(damaged)?;
        let found = checksum(&file.pipeline).map_err(|e| damaged(e.to_string()))?;
        if found != file.checksum {
            return Err(damaged(
                "the checksum does not match, so the file was changed after it was written; fit the model again".to_owned(),
            ));
        }
        Ok(file.pipeline)
    }
}
