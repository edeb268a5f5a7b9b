//! The memory budget for reading one file.
//!
//! A small file can require an arbitrarily large amount of memory. Examples are a compressed file of zeros, an archive
//! with overlapping entries, and a header with a huge shape. Every reader checks the budget before it allocates memory,
//! so that such a file causes an error instead of an abort.

use crate::error::DataError;
use std::sync::atomic::{AtomicU64, Ordering};

/// The limit in bytes that applies if the system does not report its memory.
const UNKNOWN: u64 = 1 << 36;

/// The smallest limit in bytes, which applies even if less memory is free.
const LEAST: u64 = 1 << 26;

/// The free memory is divided by this number to get the limit. The rest is reserved because learners copy the data.
const SHARE: u64 = 2;

/// The approximate number of bytes that a model stores for each column, such as its name, its weight and its scale.
const COLUMN_COST: u64 = 100;

/// An upper limit on memory, and the amount of memory used so far. All readers of a file share one budget.
#[derive(Debug)]
pub(crate) struct Budget {
    limit: u64,
    taken: AtomicU64,
}

impl Budget {
    /// Creates a budget of half of the free memory, or of 64 GiB if the system does not report the free memory. The
    /// free memory is the smallest of three numbers: the memory that is free on the machine, the memory that is free in
    /// the control group, and the address space that is still available to the process (`ulimit -v`).
    pub(crate) fn of_machine() -> Budget {
        let free = [free_address_space(), available_memory(), free_in_group()];
        let free = free.into_iter().flatten().min();
        Budget::new(free.map_or(UNKNOWN, |free| (free / SHARE).max(LEAST)))
    }

    /// Creates a budget of `limit` bytes.
    pub(crate) fn new(limit: u64) -> Budget {
        Budget { limit, taken: AtomicU64::new(0) }
    }

    /// The limit in bytes.
    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }

    /// The number of bytes in use.
    pub(crate) fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }

    /// Releases all memory that was taken since [`Budget::taken`] returned `taken`. The data that was read since then
    /// must have been dropped.
    pub(crate) fn reset(&self, taken: u64) {
        self.taken.store(taken, Ordering::Relaxed);
    }

    /// Takes `bytes` from the budget.
    ///
    /// # Errors
    /// Returns an error if fewer bytes are left. The message states the limit and says what to do, but does not name
    /// the file.
    pub(crate) fn take(&self, bytes: u64) -> Result<(), DataError> {
        let before = self.taken.fetch_add(bytes, Ordering::Relaxed);
        match before.checked_add(bytes) {
            Some(sum) if sum <= self.limit => Ok(()),
            sum => {
                self.taken.fetch_sub(bytes, Ordering::Relaxed);
                Err(self.exceeded(sum))
            }
        }
    }

    /// Gives `bytes` back to the budget.
    pub(crate) fn give_back(&self, bytes: u64) {
        self.taken.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Takes the memory for `count` items of type `T` from the budget.
    ///
    /// # Errors
    /// Returns the same errors as [`Budget::take`].
    pub(crate) fn take_items<T>(&self, count: usize) -> Result<(), DataError> {
        self.take((count as u64).saturating_mul(size_of::<T>() as u64))
    }

    /// Takes the memory for `count` columns of a model from the budget.
    ///
    /// # Errors
    /// Returns the same errors as [`Budget::take`].
    pub(crate) fn take_columns(&self, count: usize) -> Result<(), DataError> {
        self.take((count as u64).saturating_mul(COLUMN_COST))
    }

    /// Creates a vector with capacity for `count` items. The memory is taken from the budget.
    ///
    /// # Errors
    /// Returns an error if the budget or the system does not have enough memory.
    pub(crate) fn room<T>(&self, count: usize) -> Result<Vec<T>, DataError> {
        let mut items = Vec::new();
        self.reserve(&mut items, count)?;
        Ok(items)
    }

    /// Reserves capacity for `more` items in a vector.
    ///
    /// # Errors
    /// Returns an error if the budget or the system does not have enough memory.
    pub(crate) fn reserve<T>(&self, items: &mut Vec<T>, more: usize) -> Result<(), DataError> {
        let spare = items.capacity() - items.len();
        if more <= spare {
            return Ok(());
        }
        self.take_items::<T>(more - spare)?;
        items.try_reserve_exact(more).map_err(|_| self.exceeded(None))
    }

    /// Reserves capacity for at least `more` items in a vector. The capacity is doubled, so that repeated calls are
    /// cheap.
    ///
    /// # Errors
    /// Returns an error if the budget or the system does not have enough memory.
    pub(crate) fn grow<T>(&self, items: &mut Vec<T>, more: usize) -> Result<(), DataError> {
        if more <= items.capacity() - items.len() {
            return Ok(());
        }
        let capacity = items.capacity();
        halfspaces_linalg::reserve(items, more).map_err(|_| self.exceeded(None))?;
        let grown = self.take_items::<T>(items.capacity() - capacity);
        if grown.is_err() {
            // The doubled capacity exceeds the budget, but the required capacity may fit.
            items.shrink_to(items.len() + more);
            return self.take_items::<T>(items.capacity().saturating_sub(capacity));
        }
        grown
    }

    /// The error for a reader that exceeds the limit. `sum` is the number of bytes needed, if it is known.
    pub(crate) fn exceeded(&self, sum: Option<u64>) -> DataError {
        let needs = match sum {
            Some(sum) => format!("at least {}", shown(sum)),
            None => "an excessive amount".to_owned(),
        };
        DataError::user(format!(
            "reading it takes {needs} of memory, and the limit is {}, half of the free memory; fit a model to CSV, LIBSVM \
             or Parquet with `fit --stream`, split the file, or leave out some of its columns",
            shown(self.limit)
        ))
    }
}

/// Formats a number of bytes with a unit.
pub(crate) fn shown(bytes: u64) -> String {
    const UNITS: [(u64, &str); 4] =
        [(1_000_000_000_000, "TB"), (1_000_000_000, "GB"), (1_000_000, "MB"), (1000, "kB")];
    match UNITS.iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) => format!("{:.1} {name}", bytes as f64 / *unit as f64),
        None => format!("{bytes} bytes"),
    }
}

/// The address space that is still available to the process under `ulimit -v`.
fn free_address_space() -> Option<u64> {
    let limits = std::fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let soft: u64 = line.split_whitespace().next()?.parse().ok()?;
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    Some(soft.saturating_sub(kilobytes(&status, "VmSize:")?))
}

fn available_memory() -> Option<u64> {
    kilobytes(&std::fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable:")
}

/// The memory that is still available to the control group of a container. The page cache can be reclaimed, so it
/// counts as free.
fn free_in_group() -> Option<u64> {
    let number = |path: &str| std::fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let limit = number("/sys/fs/cgroup/memory.max")?;
    let statistics = std::fs::read_to_string("/sys/fs/cgroup/memory.stat").unwrap_or_default();
    let cache = statistics.lines().find_map(|line| line.strip_prefix("file "));
    let cache = cache.and_then(|bytes| bytes.trim().parse::<u64>().ok()).unwrap_or(0);
    let used = number("/sys/fs/cgroup/memory.current")?.saturating_sub(cache);
    Some(limit.saturating_sub(used))
}

/// The value of a line `key  123 kB`, converted to bytes.
fn kilobytes(text: &str, key: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excess_is_refused_and_not_counted() {
        let budget = Budget::new(1000);
        budget.take(600).unwrap();
        let error = budget.take(600).unwrap_err().to_string();
        assert!(error.contains("at least 1.2 kB") && error.contains("--stream"), "{error}");
        budget.take(400).unwrap();
        assert_eq!(budget.taken(), 1000);
        budget.reset(600);
        assert_eq!(budget.taken(), 600);
        assert!(budget.take(u64::MAX).is_err() && budget.room::<f64>(usize::MAX / 8).is_err());
        assert_eq!(budget.taken(), 600);
        assert_eq!(budget.room::<u32>(100).unwrap().capacity(), 100);
        assert_eq!(budget.taken(), 1000);
    }

    #[test]
    fn the_capacity_doubles_while_the_budget_allows() {
        let budget = Budget::new(8 * 100);
        let mut items: Vec<u64> = Vec::new();
        let mut held = 0;
        while budget.grow(&mut items, 1).is_ok() {
            items.push(0);
            held += 1;
        }
        assert_eq!(held, 100);
    }

    #[test]
    fn the_machine_has_memory() {
        assert!(Budget::of_machine().limit() >= LEAST);
        if cfg!(target_os = "linux") {
            assert!(available_memory().is_some_and(|bytes| bytes > 1 << 20));
        }
        assert_eq!(kilobytes("a: 1 kB\nMemAvailable:   12 kB\n", "MemAvailable:"), Some(12 * 1024));
        assert_eq!((shown(999), shown(1_500_000)), ("999 bytes".to_owned(), "1.5 MB".to_owned()));
    }
}
