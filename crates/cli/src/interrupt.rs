//! Handles signals: Ctrl-C, `kill` and a closed terminal end the command with the exit codes 130, 143 and 129,
//! respectively. No partial file is left behind.

use crate::error::CliError;
use std::sync::{Mutex, PoisonError};

/// The message printed when a signal stops the program.
static STOP_MESSAGE: Mutex<Option<String>> = Mutex::new(None);

/// Sets the message printed when a signal stops the program.
pub(crate) fn set_stop_message(text: Option<String>) {
    *STOP_MESSAGE.lock().unwrap_or_else(PoisonError::into_inner) = text;
}

/// Handles SIGINT, SIGTERM and SIGHUP: removes the file that is being written and exits with 128 plus the signal's
/// number. On systems other than Unix, the operating system ends the program itself.
#[cfg(unix)]
pub(crate) fn on_signal() -> Result<(), CliError> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    use signal_hook::iterator::Signals;
    use std::sync::Arc;
    // With a handler for SIGXFSZ, exceeding the limit on file sizes causes a write error, as a full disk does.
    let file_size_limit = signal_hook::flag::register(SIGXFSZ, Arc::default());
    file_size_limit.map_err(|e| CliError::system(format!("signal handlers: {e}")))?;
    let signals = Signals::new([SIGHUP, SIGINT, SIGTERM]);
    let mut signals = signals.map_err(|e| CliError::system(format!("signal handlers: {e}")))?;
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            crate::output::remove_unfinished();
            if let Some(text) =
                STOP_MESSAGE.lock().unwrap_or_else(PoisonError::into_inner).as_deref()
            {
                crate::output::note(text);
            }
            std::process::exit(128 + signal);
        }
    });
    Ok(())
}

#[cfg(not(unix))]
pub(crate) fn on_signal() -> Result<(), CliError> {
    Ok(())
}
