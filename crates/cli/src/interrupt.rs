//! Ctrl-C and `kill`: exit codes 130 and 143, and no file half-written.

use crate::error::CliError;

/// On SIGINT and SIGTERM: removes a file that is being written and exits with 128 plus the signal's number. Other
/// systems than Unix end the program by themselves.
#[cfg(unix)]
pub(crate) fn on_signal() -> Result<(), CliError> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    let signals = Signals::new([SIGINT, SIGTERM]);
    let mut signals = signals.map_err(|e| CliError::system(format!("signal handlers: {e}")))?;
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            crate::output::remove_unfinished();
            std::process::exit(128 + signal);
        }
    });
    Ok(())
}

#[cfg(not(unix))]
pub(crate) fn on_signal() -> Result<(), CliError> {
    Ok(())
}
