//! Output to the terminal.

use std::io::Write as _;

/// Any error, reported by its text.
pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Writes to stdout immediately. A closed stdout is not an error.
pub(crate) fn say(text: &str) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(format!("stdout: {e}").into()),
        _ => Ok(()),
    }
}
