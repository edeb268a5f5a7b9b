//! How values that contradict themselves are refused when they are loaded.

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
