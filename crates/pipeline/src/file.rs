//! A pipeline as a file: columns, classes, learner, and the report of the fit, in one JSON document.
//!
//! docs/model.schema.json describes it.

use crate::pipeline::Pipeline;
use fnv::FnvHasher;
use halfspaces_frame::DataError;
use serde::{Deserialize, Serialize};
use std::hash::Hasher;
use std::io::{self, Write};
use std::path::Path;

const FORMAT: &str = "halfspaces model";
const VERSION: u64 = 3;

/// The part of every version.
#[derive(Deserialize)]
struct Head {
    format: String,
    version: u64,
}

/// A model file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "format")]
    _format: String,
    #[serde(rename = "version")]
    _version: u64,
    /// The program that wrote it.
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

/// A hash of what is written; it is recomputed from what was read, so that a changed number and an unknown key are noticed.
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
    /// Those of `out`.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let program = concat!("halfspaces ", env!("CARGO_PKG_VERSION"));
        let checksum = checksum(self)?;
        let file = FileRef { format: FORMAT, version: VERSION, program, checksum, pipeline: self };
        serde_json::to_writer(&mut *out, &file)?;
        out.write_all(b"\n")
    }

    /// Saves the model file; one that is there is overwritten.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), DataError> {
        let failed =
            |e: io::Error| DataError::system(format!("{}: cannot be written: {e}", path.display()));
        let mut bytes = Vec::new();
        self.write(&mut bytes).map_err(failed)?;
        std::fs::write(path, bytes).map_err(failed)
    }

    /// Loads a model file.
    ///
    /// # Errors
    /// If there is none, it is of another version, or it could not have been saved.
    pub fn load(path: &Path) -> Result<Pipeline, DataError> {
        let name = path.display().to_string();
        if path.is_dir() {
            return Err(DataError::user(format!("{name} is a directory; name a model file")));
        }
        let bytes = std::fs::read(path).map_err(|e| match e.kind() {
            io::ErrorKind::NotFound => DataError::user(format!(
                "{name}: there is no such model; `halfspaces fit` writes one"
            )),
            _ => DataError::user(format!("{name}: cannot be read: {e}")),
        })?;
        Pipeline::read(&bytes, &name)
    }

    /// Reads the bytes of a model file; `name` is for messages.
    ///
    /// # Errors
    /// As [`Pipeline::load`].
    pub fn read(bytes: &[u8], name: &str) -> Result<Pipeline, DataError> {
        let Ok(head) = serde_json::from_slice::<Head>(bytes) else {
            return Err(DataError::user(format!(
                "{name}: not a model file, or cut off; `halfspaces fit` writes one"
            )));
        };
        if head.format != FORMAT {
            return Err(DataError::user(format!(
                "{name}: not a model file, but \"{}\"",
                head.format
            )));
        }
        if head.version != VERSION {
            return Err(DataError::user(format!(
                "{name}: a model file of version {}, but this program reads version {VERSION}; learn it again, or use \
                 the program that wrote it",
                head.version
            )));
        }
        let damaged = |what: String| DataError::user(format!("{name}: a damaged model: {what}"));
        let file: File = serde_json::from_slice(bytes).map_err(|e| damaged(e.to_string()))?;
        file.pipeline.check().map_err(damaged)?;
        let found = checksum(&file.pipeline).map_err(|e| damaged(e.to_string()))?;
        if found != file.checksum {
            return Err(damaged(
                "its checksum does not agree: the file was changed after it was written; learn it again".to_owned(),
            ));
        }
        Ok(file.pipeline)
    }
}
