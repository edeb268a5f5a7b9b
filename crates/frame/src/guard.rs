//! Calls third-party readers, which may panic on damaged files.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs `read`. Returns `None` if `read` panics, as the Arrow and Parquet readers do on some damaged files.
///
/// The message of a panic in `read` is not printed. For this purpose, the first call installs a panic hook, which
/// forwards every panic outside `read` to the previous hook of the process.
pub(crate) fn guarded<T>(read: impl FnOnce() -> T) -> Option<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |panic| {
            if !IS_GUARDED.get() {
                before(panic);
            }
        }));
    });
    let was_guarded = IS_GUARDED.replace(true);
    // The state of `read` is dropped after a panic, because callers report an error and stop reading.
    let result = catch_unwind(AssertUnwindSafe(read));
    IS_GUARDED.set(was_guarded);
    result.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_none() {
        assert_eq!(guarded(|| 3), Some(3));
        assert_eq!(guarded(|| guarded::<u8>(|| panic!("inside"))), Some(None));
        assert_eq!(guarded::<u8>(|| panic!("outside")), None);
    }
}
