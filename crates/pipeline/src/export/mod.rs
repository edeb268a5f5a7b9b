//! Exports models to formats that run without this program: ONNX, Python and SQL.

mod onnx;
mod python;
mod sql;
mod sums;
#[cfg(test)]
mod tests;

use crate::pipeline::Pipeline;
use halfspaces_frame::DataError;
use std::path::Path;

/// A format in which a model runs without this program.
///
/// ```
/// use halfspaces_pipeline::ExportFormat;
/// use std::path::Path;
/// assert_eq!(ExportFormat::of_file(Path::new("model.onnx")), Some(ExportFormat::Onnx));
/// assert_eq!("sql".parse(), Ok(ExportFormat::Sql));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportFormat {
    /// An ONNX model, for onnxruntime and other runtimes.
    Onnx,
    /// A Python module without dependencies.
    Python,
    /// An SQL query.
    Sql,
}

impl ExportFormat {
    /// All formats.
    pub const ALL: [ExportFormat; 3] =
        [ExportFormat::Onnx, ExportFormat::Python, ExportFormat::Sql];

    /// The name of the format in lower case.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ExportFormat::Onnx => "onnx",
            ExportFormat::Python => "python",
            ExportFormat::Sql => "sql",
        }
    }

    /// The format that belongs to the extension of a file name: `.onnx`, `.py` or `.sql`.
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
    /// Converts the model to the contents of a file that runs without this program.
    ///
    /// # Errors
    /// Returns an error if a column or the learner cannot be expressed in the format. The message names the column or
    /// the learner and says what to do.
    pub fn export(&self, format: ExportFormat) -> Result<Vec<u8>, DataError> {
        match format {
            ExportFormat::Onnx => onnx::export(self),
            ExportFormat::Python => python::export(self),
            ExportFormat::Sql => sql::export(self),
        }
    }
}
