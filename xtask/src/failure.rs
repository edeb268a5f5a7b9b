//! The error of every command.

use std::error::Error;

/// Any failure, reported in one line on the terminal.
pub(crate) type Failure = Box<dyn Error + Send + Sync>;
