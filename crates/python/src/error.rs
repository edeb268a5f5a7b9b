//! Errors of the libraries as Python exceptions.

use halfspaces_frame::DataError;
use halfspaces_linalg::InputError;
use halfspaces_pac::ClassesError;
use pyo3::PyErr;
use pyo3::exceptions::PyValueError;
use std::fmt::Display;

/// An error in the input, which becomes a `ValueError` with the same message.
#[derive(Debug)]
pub(crate) struct Fault(String);

impl Fault {
    /// An error with this message.
    pub(crate) fn new(message: impl Display) -> Fault {
        Fault(message.to_string())
    }
}

impl Fault {
    /// The same error, with the parameter names of the Python classes.
    pub(crate) fn by_parameter(self) -> Fault {
        let names = [("noise = ", "noise_rate = "), ("tolerance = ", "tol = "), ("c = ", "C = ")];
        let renamed =
            names.iter().find_map(|(of, to)| Some([to, self.0.strip_prefix(of)?].concat()));
        Fault(renamed.unwrap_or(self.0))
    }
}

impl Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<InputError> for Fault {
    fn from(error: InputError) -> Fault {
        Fault::new(error)
    }
}

impl From<DataError> for Fault {
    fn from(error: DataError) -> Fault {
        Fault::new(error)
    }
}

impl<E: Display> From<ClassesError<E>> for Fault {
    fn from(error: ClassesError<E>) -> Fault {
        Fault::new(error)
    }
}

impl From<Fault> for PyErr {
    fn from(fault: Fault) -> PyErr {
        PyValueError::new_err(fault.0)
    }
}
