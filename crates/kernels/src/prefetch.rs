//! Prefetches values before they are read.

use crate::vectors::AHEAD_BYTES;

/// Bytes in a cache line.
const LINE_BYTES: usize = 64;

/// Prefetches `values`, which will be read soon. Use this function for rows in an order that the processor cannot
/// predict. The prefetch affects only speed.
///
/// ```
/// let rows = [[1.0; 64], [2.0; 64], [3.0; 64]];
/// let mut sum = 0.0;
/// for (row, next) in [(2, 0), (0, 1), (1, 1)] {
///     halfspaces_kernels::prefetch(&rows[next]);
///     sum += rows[row].iter().sum::<f64>();
/// }
/// assert_eq!(sum, 384.0);
/// ```
#[inline(always)]
pub fn prefetch<T>(values: &[T]) {
    prefetch_from(values, 0);
}

/// Prefetches a range of memory that has the size of `values` and begins a few kilobytes after the start of `values`.
/// Use this function for arrays that are read from start to end, because it loads data that are needed a few rows
/// later. The prefetch affects only speed, and the prefetched memory need not belong to any object.
///
/// ```
/// let columns: Vec<u32> = (0..4000).collect();
/// let mut sum = 0;
/// for row in columns.chunks(40) {
///     halfspaces_kernels::prefetch_ahead(row);
///     sum += row.iter().sum::<u32>();
/// }
/// assert_eq!(sum, 7_998_000);
/// ```
#[inline(always)]
pub fn prefetch_ahead<T>(values: &[T]) {
    prefetch_from(values, AHEAD_BYTES);
}

#[inline(always)]
fn prefetch_from<T>(values: &[T], begin: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        let level = crate::cache_level::CacheLevel::detect();
        for offset in (0..size_of_val(values)).step_by(LINE_BYTES) {
            crate::x86::prefetch(level, values, begin + offset);
        }
    }
    // On other processors, nothing is prefetched, which costs only time.
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (values, begin, LINE_BYTES);
}
