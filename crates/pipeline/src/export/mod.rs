//! Writes models in forms that run without this program: ONNX, Python and SQL.

mod onnx;
mod python;
mod sql;
mod sums;
#[cfg(test)]
mod tests;

use crate::pipeline::Pipeline;
use halfspaces_frame::DataError;
use std::path::Path;

/// A form in which a model runs without this program.
///
/// ```
/// use halfspaces_pipeline::ExportFormat;
/// use std::path::Path;
/// assert_eq!(ExportFormat::of_file(Path::new("model.onnx")), Some(ExportFormat::Onnx));
/// assert_eq!("sql".parse(), Ok(ExportFormat::Sql));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportFormat {
    /// An ONNX model, for onnxruntime and others.
    Onnx,
    /// A Python module without dependencies.
    Python,
    /// A query.
    Sql,
}

impl ExportFormat {
    /// All formats.
    pub const ALL: [ExportFormat; 3] =
        [ExportFormat::Onnx, ExportFormat::Python, ExportFormat::Sql];

    /// The name in lower case.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ExportFormat::Onnx => "onnx",
            ExportFormat::Python => "python",
            ExportFormat::Sql => "sql",
        }
    }

    /// The format that the ending of a file name means: `.onnx`, `.py` or `.sql`.
    #[must_use]
    pub fn of_file(path: &Path) -> Option<ExportFormat> {
        match path.extension()?.to_str()?.to_lowercase().as_str() {
            "onnx" => Some(ExportFormat::Onnx),
            "py" => Some(ExportFormat::Python),
            "sql" => Some(ExportFormat::Sql),
            _ => None,
        }
    }
}

impl std::str::FromStr for ExportFormat {
    type Err = String;

    fn from_str(name: &str) -> Result<ExportFormat, String> {
        let found = ExportFormat::ALL.into_iter().find(|format| format.name() == name);
        found.ok_or_else(|| format!("`{name}` is not a format"))
    }
}

impl Pipeline {
    /// Converts the model to the contents of a file that others can run.
    ///
    /// # Errors
    /// If the format has no counterpart of a column or of the learner; the message names it and says what to do.
    pub fn export(&self, format: ExportFormat) -> Result<Vec<u8>, DataError> {
        match format {
            ExportFormat::Onnx => onnx::export(self),
            ExportFormat::Python => python::export(self),
            ExportFormat::Sql => sql::export(self),
        }
    }
}
