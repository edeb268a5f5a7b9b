//! Memory in large pages.

use std::collections::TryReserveError;

/// Below this number of bytes, small pages are as fast as large ones.
const LARGE: usize = 4 << 20;

/// Like [`Vec::try_reserve`], for vectors that may become large tables. If the buffer reaches 4 MB, this function asks
/// Linux for pages of 2 MB instead of 4 KB. A large page takes one page fault instead of 512, and a loop over the table
/// needs fewer address translations.
///
/// # Errors
/// Returns an error if the memory cannot be allocated. After an error, `values` is unchanged.
///
/// ```
/// let mut values: Vec<f64> = Vec::new();
/// halfspaces_kernels::reserve(&mut values, 1 << 20)?;
/// assert!(values.capacity() >= 1 << 20);
/// # Ok::<(), std::collections::TryReserveError>(())
/// ```
#[inline]
pub fn reserve<T>(values: &mut Vec<T>, more: usize) -> Result<(), TryReserveError> {
    let before = values.capacity();
    values.try_reserve(more)?;
    if values.capacity() != before {
        request_large_pages(values);
    }
    Ok(())
}

/// Allocates `len` zeros and asks for large pages, like [`reserve`].
///
/// # Errors
/// Returns an error if the memory cannot be allocated.
///
/// ```
/// assert_eq!(halfspaces_kernels::zeros::<f64>(3)?, [0.0; 3]);
/// # Ok::<(), std::collections::TryReserveError>(())
/// ```
pub fn zeros<T: Copy + Default>(len: usize) -> Result<Vec<T>, TryReserveError> {
    // Try to reserve first, so that a failure is returned as an error. Then allocate the buffer in a way that does not
    // touch its pages.
    Vec::<T>::new().try_reserve_exact(len)?;
    let mut values = vec![T::default(); len];
    request_large_pages(&mut values);
    Ok(values)
}

/// Asks for large pages for the part of `values` that has not been written yet, like [`reserve`].
///
/// ```
/// let mut values: Vec<f64> = Vec::with_capacity(1 << 20);
/// halfspaces_kernels::request_large_pages(&mut values);
/// ```
pub fn request_large_pages<T>(values: &mut Vec<T>) {
    let bytes = values.capacity().saturating_mul(size_of::<T>());
    if bytes >= LARGE {
        advise(values.as_mut_ptr().cast(), bytes);
    }
}

#[cfg(all(target_os = "linux", not(miri)))]
fn advise(begin: *mut u8, bytes: usize) {
    /// The assumed page size. The system accepts advice only for whole pages. If its pages are larger than assumed, it
    /// rejects the advice.
    const PAGE: usize = 4096;
    // Include the whole first page: if the advice applies to only a part of a mapping, the system must copy the table
    // when the table grows.
    let before = begin as usize % PAGE;
    let from = begin.wrapping_sub(before).cast();
    // SAFETY: for any range, this advice changes only how the memory is mapped. It never changes the contents of the
    // memory or whether the memory may be used.
    //
    // The result is ignored, because large pages affect only the speed.
    let _ = unsafe { libc::madvise(from, before + bytes, libc::MADV_HUGEPAGE) };
}

#[cfg(not(all(target_os = "linux", not(miri))))]
fn advise(_: *mut u8, _: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_as_the_room_grows() {
        let mut values: Vec<u32> = Vec::new();
        for i in 0..3_000_000 {
            if values.len() == values.capacity() {
                reserve(&mut values, 1).unwrap();
            }
            values.push(i);
        }
        assert!(values.iter().enumerate().all(|(i, v)| i == *v as usize));
    }

    #[test]
    fn more_than_there_is_memory_for_is_refused() {
        let mut values = vec![1.0, 2.0];
        assert!(reserve(&mut values, usize::MAX).is_err());
        assert!(reserve(&mut values, usize::MAX / 16).is_err());
        assert_eq!(values, [1.0, 2.0]);
        assert!(zeros::<f64>(usize::MAX).is_err());
        assert!(zeros::<f32>(usize::MAX / 4).is_err());
    }

    #[test]
    fn zeros_are_zeros() {
        for len in [0, 1, 7, LARGE / size_of::<f64>() - 1, LARGE] {
            let values = zeros::<f64>(len).unwrap();
            assert_eq!(values.len(), len);
            assert!(values.iter().all(|v| v.to_bits() == 0));
        }
    }

    /// Whether large pages were requested for the mapping of an address.
    #[cfg(all(target_os = "linux", not(miri)))]
    fn asked_for<T>(values: &Vec<T>) -> bool {
        let middle = values.as_ptr() as usize + values.capacity() * size_of::<T>() / 2;
        let mut inside = false;
        for line in std::fs::read_to_string("/proc/self/smaps").unwrap().lines() {
            let range = line.split(' ').next().and_then(|range| range.split_once('-'));
            let parse = |text| usize::from_str_radix(text, 16).ok();
            if let Some((Some(from), Some(to))) = range.map(|(from, to)| (parse(from), parse(to))) {
                inside = (from..to).contains(&middle);
            }
            if let Some(flags) = line.strip_prefix("VmFlags:").filter(|_| inside) {
                return flags.split(' ').any(|flag| flag == "hg");
            }
        }
        panic!("every address in use belongs to a mapping");
    }

    #[cfg(all(target_os = "linux", not(miri)))]
    #[test]
    fn large_pages_are_asked_for() {
        if !std::path::Path::new("/sys/kernel/mm/transparent_hugepage").exists() {
            return;
        }
        let len = LARGE / size_of::<f64>();
        let mut values: Vec<f64> = Vec::new();
        reserve(&mut values, len).unwrap();
        assert!(asked_for(&values));
        assert!(asked_for(&zeros::<f64>(len).unwrap()));
        // A buffer that grows must request large pages too.
        let mut values: Vec<f64> = Vec::new();
        reserve(&mut values, len / 2).unwrap();
        reserve(&mut values, 16 * len).unwrap();
        assert!(asked_for(&values));
    }
}
