//! The error of every command.

use std::error::Error;

/// Any failure, as one line for the terminal.
pub(crate) type Failure = Box<dyn Error + Send + Sync>;
