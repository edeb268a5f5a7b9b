//! The command `halfspaces`.

use pyo3::prelude::*;

/// Runs the command with these arguments, the first of which is the name of the program, and returns its exit code.
#[pyfunction]
pub(crate) fn command(py: Python<'_>, arguments: Vec<std::ffi::OsString>) -> u8 {
    py.detach(|| halfspaces_cli::run(arguments))
}
