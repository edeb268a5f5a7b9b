//! Ctrl-C, `kill` and a terminal that goes away: exit codes 130, 143 and 129, and no file half-written.

use crate::error::CliError;
use std::sync::{Mutex, PoisonError};

/// What is said when the program is stopped.
static LAST_WORDS: Mutex<Option<String>> = Mutex::new(None);

/// Says this to the terminal if the program is stopped from now on.
pub(crate) fn say_when_stopped(text: Option<String>) {
    *LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner) = text;
}

/// On SIGINT, SIGTERM and SIGHUP: removes a file that is being written and exits with 128 plus the signal's number. Other
/// systems than Unix end the program by themselves.
#[cfg(unix)]
pub(crate) fn on_signal() -> Result<(), CliError> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    use signal_hook::iterator::Signals;
    use std::sync::Arc;
    // A file that grows beyond its limit is then an error of writing, as a full disk is.
    let beyond_limit = signal_hook::flag::register(SIGXFSZ, Arc::default());
    beyond_limit.map_err(|e| CliError::system(format!("signal handlers: {e}")))?;
    let signals = Signals::new([SIGHUP, SIGINT, SIGTERM]);
    let mut signals = signals.map_err(|e| CliError::system(format!("signal handlers: {e}")))?;
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            crate::output::remove_unfinished();
            if let Some(text) = LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner).as_deref()
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
