//! A model as a file: columns, classes, learner, and what is known of its error, in one JSON document.
//!
//! docs/model.schema.json describes it.

use crate::error::CliError;
use crate::learner::{Findings, Learned, Method};
use crate::output::write_file;
use crate::recipe::Recipe;
use halfspaces_pac::ErrorCount;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::Path;

const FORMAT: &str = "halfspaces model";
const VERSION: u64 = 2;

/// A model: everything from a table's row to the name of a class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ModelFile {
    format: String,
    version: u64,
    /// What wrote it.
    program: String,
    pub(crate) label: LabelPart,
    pub(crate) recipe: Recipe,
    pub(crate) learned: Learned,
    pub(crate) known: Known,
}

/// The labels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LabelPart {
    /// The column that held them.
    pub(crate) column: String,
    /// The names of the classes; of two, the positive one last.
    pub(crate) classes: Vec<String>,
    /// The class that was asked for as positive against all others, if there were more.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) against_rest: Option<String>,
}

/// What is known of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Known {
    /// Rows learned from.
    pub(crate) rows: u64,
    /// Errors on rows that had no part in it.
    pub(crate) held_out: Option<ErrorCount>,
    pub(crate) seed: u64,
    pub(crate) findings: Findings,
}

impl ModelFile {
    /// A model of these parts.
    pub(crate) fn new(
        label: LabelPart,
        recipe: Recipe,
        learned: Learned,
        known: Known,
    ) -> ModelFile {
        let program = concat!("halfspaces-cli ", env!("CARGO_PKG_VERSION")).to_owned();
        ModelFile {
            format: FORMAT.to_owned(),
            version: VERSION,
            program,
            label,
            recipe,
            learned,
            known,
        }
    }

    /// Writes the file.
    pub(crate) fn save(&self, path: &Path, force: bool) -> Result<(), CliError> {
        write_file(path, force, |out| {
            serde_json::to_writer(&mut *out, self)?;
            out.write_all(b"\n")
        })
    }

    /// Reads a file, and refuses what is not a model that could have been saved.
    pub(crate) fn load(path: &Path) -> Result<ModelFile, CliError> {
        let name = path.display().to_string();
        if path.is_dir() {
            return Err(CliError::user(format!("{name} is a directory; name a model file")));
        }
        let bytes = std::fs::read(path).map_err(|e| match e.kind() {
            std::io::ErrorKind::NotFound => CliError::user(format!(
                "{name}: there is no such model; `halfspaces fit` writes one"
            )),
            _ => CliError::user(format!("{name}: cannot be read: {e}")),
        })?;
        /// The part of every version.
        #[derive(Deserialize)]
        struct Head {
            format: String,
            version: u64,
        }
        let Ok(head) = serde_json::from_slice::<Head>(&bytes) else {
            return Err(CliError::user(format!(
                "{name}: not a model file, or cut off; `halfspaces fit` writes one"
            )));
        };
        if head.format != FORMAT {
            return Err(CliError::user(format!(
                "{name}: not a model file, but \"{}\"",
                head.format
            )));
        }
        if head.version != VERSION {
            return Err(CliError::user(format!(
                "{name}: a model file of version {}, but this program reads version {VERSION}; learn it again, or use \
                 the program that wrote it",
                head.version
            )));
        }
        let damaged = |what: String| CliError::user(format!("{name}: a damaged model: {what}"));
        let model: ModelFile =
            serde_json::from_slice(&bytes).map_err(|e| damaged(e.to_string()))?;
        model.check().map_err(damaged)?;
        Ok(model)
    }

    fn check(&self) -> Result<(), String> {
        self.learned.check_saved().map_err(|e| e.to_string())?;
        let (dim, expected) = (self.learned.dim(), self.recipe.dim());
        if dim != expected {
            return Err(format!(
                "the learner takes {dim} coordinates, the columns give {expected}"
            ));
        }
        let names: BTreeSet<&String> = self.label.classes.iter().collect();
        let (classes, expected) = (self.label.classes.len(), self.learned.classes());
        if classes != expected || names.len() < classes {
            return Err(format!("{classes} names, some equal perhaps, for {expected} classes"));
        }
        Ok(())
    }

    /// Which learner it is by.
    pub(crate) fn method(&self) -> Method {
        self.learned.method()
    }
}
