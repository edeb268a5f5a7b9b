//! Handling of Ctrl-C and `kill`: a final message, and the exit status of a command that a signal ended.

use crate::failure::Failure;

/// On SIGINT or SIGTERM, writes the message of `farewell` to stderr and exits with status 128 plus the number of the
/// signal, 130 or 143. On systems other than Unix, the operating system terminates the program.
#[cfg(unix)]
pub(crate) fn on_signal(farewell: impl FnOnce() -> String + Send + 'static) -> Result<(), Failure> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            crate::console::note(&farewell());
            std::process::exit(128 + signal);
        }
    });
    Ok(())
}

#[cfg(not(unix))]
pub(crate) fn on_signal(_: impl FnOnce() -> String + Send + 'static) -> Result<(), Failure> {
    Ok(())
}
