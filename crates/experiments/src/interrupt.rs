//! Ctrl-C and `kill`: a word on how to go on, and the exit status of a shell's command ended by that
//! signal.

use crate::failure::Failure;

/// On SIGINT and SIGTERM: writes what `farewell` says to stderr and exits with status 128 plus the
/// signal's number, 130 or 143. Other systems than Unix end the program by themselves.
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
