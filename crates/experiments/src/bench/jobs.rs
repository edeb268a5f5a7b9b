//! The jobs of all kinds.

use super::definition::Definition;
use super::{passes, products, reading, scans, walks};

/// All jobs, those on one pool side by side.
pub(super) fn definitions() -> Vec<Definition> {
    [passes::JOBS, scans::JOBS, products::JOBS, walks::JOBS, reading::JOBS].concat()
}
