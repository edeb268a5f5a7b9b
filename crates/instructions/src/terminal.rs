//! What the terminal gets.

use std::io::Write as _;

/// Any error, told by its text.
pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Writes to stdout at once.
pub(crate) fn say(text: &str) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    Ok(stdout.flush()?)
}
