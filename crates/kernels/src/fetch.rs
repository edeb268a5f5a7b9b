//! Numbers asked for before they are read.

use crate::vectors::AHEAD_BYTES;

/// Bytes that come together.
const LINE_BYTES: usize = 64;

/// Asks for `values`, to be read soon: rows in an order that the processor cannot foresee. Changes nothing but time.
///
/// ```
/// let rows = [[1.0; 64], [2.0; 64], [3.0; 64]];
/// let mut sum = 0.0;
/// for (row, next) in [(2, 0), (0, 1), (1, 1)] {
///     halfspaces_kernels::fetch(&rows[next]);
///     sum += rows[row].iter().sum::<f64>();
/// }
/// assert_eq!(sum, 384.0);
/// ```
#[inline(always)]
pub fn fetch<T>(values: &[T]) {
    fetch_from(values, 0);
}

/// Asks for what lies some kilobytes behind `values`, as many bytes as they have: in arrays that are read from one
/// end to the other, what is read some rows later. Changes nothing but time; what lies there need not belong to
/// anything.
///
/// ```
/// let columns: Vec<u32> = (0..4000).collect();
/// let mut sum = 0;
/// for row in columns.chunks(40) {
///     halfspaces_kernels::fetch_behind(row);
///     sum += row.iter().sum::<u32>();
/// }
/// assert_eq!(sum, 7_998_000);
/// ```
#[inline(always)]
pub fn fetch_behind<T>(values: &[T]) {
    fetch_from(values, AHEAD_BYTES);
}

#[inline(always)]
fn fetch_from<T>(values: &[T], begin: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        let level = crate::cache_level::CacheLevel::detect();
        for offset in (0..size_of_val(values)).step_by(LINE_BYTES) {
            crate::x86::prefetch(level, values, begin + offset);
        }
    }
    // Elsewhere nothing is asked for, which costs time alone.
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (values, begin, LINE_BYTES);
}
