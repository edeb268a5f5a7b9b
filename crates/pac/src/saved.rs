//! Saved states are loaded only if they are consistent.

use halfspaces_linalg::InputError;

/// What is checked after it was read, and after a run.
pub(crate) trait CheckSaved: Sized {
    /// Refuses what no run can have left behind, by recomputing what can be recomputed.
    fn check_saved(&self) -> Result<(), InputError>;

    /// What a run ended with, which passes by the reason given.
    #[expect(clippy::expect_used, reason = "a loaded state is checked by the same rules")]
    fn assured(self, reason: &'static str) -> Self {
        self.check_saved().expect(reason);
        self
    }
}

/// Refuses a saved value that does not fit the others.
#[cfg(feature = "serde")]
pub(crate) fn saved(name: &'static str, value: f64, fits: bool) -> Result<(), InputError> {
    InputError::check_parameter(name, value, fits, "consistent with the rest of the saved state")
}

/// `whole` passes, and is refused after each of the changes.
#[cfg(test)]
pub(crate) fn assert_refused<T: CheckSaved + Clone>(
    whole: &T,
    changes: impl IntoIterator<Item: Fn(&mut T)>,
) {
    assert_eq!(whole.check_saved(), Ok(()));
    for (i, change) in changes.into_iter().enumerate() {
        let mut changed = whole.clone();
        change(&mut changed);
        assert!(changed.check_saved().is_err(), "change {i}");
    }
}
