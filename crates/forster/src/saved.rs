//! How values that contradict themselves are refused when they are loaded.

/// `$type` is loaded field by field, as it was saved, and then must pass its own `check_saved`.
macro_rules! checked_when_loaded {
    ($unchecked:ident => $type:ident { $($field:ident: $kind:ty),* $(,)? }) => {
        #[doc = concat!("What a [`", stringify!($type), "`] looks like before it is checked.")]
        #[cfg(feature = "serde")]
        #[derive(serde::Deserialize)]
        struct $unchecked {
            $($field: $kind),*
        }

        #[cfg(feature = "serde")]
        impl TryFrom<$unchecked> for $type {
            type Error = $crate::error::ForsterError;

            fn try_from(loaded: $unchecked) -> Result<Self, Self::Error> {
                let $unchecked { $($field),* } = loaded;
                let loaded = $type { $($field),* };
                loaded.check_saved()?;
                Ok(loaded)
            }
        }
    };
}
pub(crate) use checked_when_loaded;

/// `Ok` if the condition holds, else the saved state is refused for this reason.
#[cfg(feature = "serde")]
pub(crate) fn ensure(holds: bool, reason: &'static str) -> Result<(), crate::error::ForsterError> {
    Ok(halfspaces_linalg::InputError::check_state(holds, reason)?)
}

/// Whether indices ascend and lie below `len`.
#[cfg(feature = "serde")]
pub(crate) fn ascend_below(indices: &[usize], len: usize) -> bool {
    indices.is_sorted_by(|a, b| a < b) && indices.last().is_none_or(|last| *last < len)
}
