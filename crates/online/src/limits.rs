//! Limits on classes and pools that are listed in memory.

/// The largest number of hypotheses of a class that is listed.
pub const MAX_CLASS: u128 = 1 << 30;
/// The largest pool whose dichotomies are listed.
pub const MAX_POOL: usize = 128;
/// The largest number of dichotomies of a pool that are listed.
pub const MAX_DICHOTOMIES: usize = 1 << 16;
