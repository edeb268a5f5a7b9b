//! The list of all jobs.

use super::definition::Definition;
use super::{passes, products, reading, scans, walks};

/// All jobs. Jobs on the same pool are adjacent.
pub(super) fn definitions() -> Vec<Definition> {
    [passes::JOBS, scans::JOBS, products::JOBS, walks::JOBS, reading::JOBS].concat()
}
