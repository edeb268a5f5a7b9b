//! Terminal output: findings on stdout, everything else on stderr.

use crate::failure::Failure;
use std::io::Write;

/// Writes findings to stdout. A pipe closed by its reader is not an error.
pub(crate) fn say(text: &str) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(format!("stdout: {e}").into()),
        _ => Ok(()),
    }
}

/// Writes a line to stderr. A failure to write is ignored, since there is no other place to report it.
pub(crate) fn note(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
