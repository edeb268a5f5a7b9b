//! What the terminal gets.

use std::io::Write as _;

/// Any error, told by its text.
pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Writes to stdout at once. A closed output is no error.
pub(crate) fn say(text: &str) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(format!("stdout: {e}").into()),
        _ => Ok(()),
    }
}
