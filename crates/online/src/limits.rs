//! Limits on the sizes of classes and pools that are listed in memory.

/// The largest number of hypotheses in a class that is listed in memory.
pub const MAX_CLASS: u128 = 1 << 30;
/// The largest number of points in a pool whose dichotomies are listed.
pub const MAX_POOL: usize = 128;
/// The largest number of dichotomies that are listed for a pool.
pub const MAX_DICHOTOMIES: usize = 1 << 16;
