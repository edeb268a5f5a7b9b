//! The number of threads of a computation.

use crate::{InputError, checkpoint};
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::Mutex;

/// The number of threads that a computation may use. The number never changes a result, not even in the last digit.
/// Work is split into blocks whose size depends only on the data, and the results of the blocks are joined in order.
///
/// ```
/// use halfspaces_linalg::Threads;
/// let squares = |threads: Threads| threads.map_blocks(5, 2, |block| block.map(|i| i * i).sum::<usize>());
/// assert_eq!(squares(Threads::ONE), [1, 13, 16]);
/// assert_eq!(squares(Threads::all()), [1, 13, 16]);
/// assert!(Threads::new(0).is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Threads(NonZeroUsize);

impl Default for Threads {
    /// One thread.
    fn default() -> Self {
        Threads::ONE
    }
}

impl Threads {
    /// One thread, the thread of the caller.
    pub const ONE: Threads = Threads(NonZeroUsize::MIN);

    /// At most `count` threads, and never more than the current rayon pool has.
    ///
    /// # Errors
    /// [`InputError::ParameterOutOfRange`] if `count` is 0.
    pub fn new(count: usize) -> Result<Threads, InputError> {
        match NonZeroUsize::new(count) {
            Some(count) => Ok(Threads(count)),
            None => Err(InputError::ParameterOutOfRange {
                name: "threads",
                value: 0.0,
                requirement: "at least 1",
            }),
        }
    }

    /// The number of threads of the current rayon pool. Outside any pool, this is the number of cores.
    #[must_use]
    #[expect(clippy::expect_used, reason = "a pool of no threads could not have been built")]
    pub fn all() -> Threads {
        Threads(NonZeroUsize::new(rayon::current_num_threads()).expect("a pool has a thread"))
    }

    /// The number of threads.
    #[must_use]
    pub fn count(self) -> usize {
        self.0.get()
    }

    /// Applies `work` to each block of `size` indices of `0..len`, where the last block may be shorter. Returns the
    /// results in the order of the blocks.
    ///
    /// # Panics
    /// Panics if `size` is 0.
    pub fn map_blocks<T: Send>(
        self,
        len: usize,
        size: usize,
        work: impl Fn(Range<usize>) -> T + Sync,
    ) -> Vec<T> {
        assert!(size > 0, "a block must have at least one index");
        let blocks = (0..len.div_ceil(size)).map(|block| block * size..len.min((block + 1) * size));
        self.map_with(blocks, || (), |(), block| work(block))
    }

    /// Applies `work` to each task, with a workspace that each thread creates once. Returns the results in the order of
    /// the tasks. Data that one task leaves in the workspace must not change the results of later tasks.
    ///
    /// ```
    /// use halfspaces_linalg::Threads;
    /// let words = ["radially", "isotropic", "position"];
    /// let sorted = Threads::all().map_with(words.into_iter(), Vec::new, |letters, word| {
    ///     letters.clear();
    ///     letters.extend(word.bytes());
    ///     letters.sort_unstable();
    ///     letters[0]
    /// });
    /// assert_eq!(sorted, [b'a', b'c', b'i']);
    /// ```
    pub fn map_with<W, I: Send, T: Send>(
        self,
        tasks: impl ExactSizeIterator<Item = I> + Send,
        workspace: impl Fn() -> W + Sync,
        work: impl Fn(&mut W, I) -> T + Sync,
    ) -> Vec<T> {
        let threads = if tasks.len() <= 1 { Threads::ONE } else { self };
        threads.map_alongside(|| (), tasks, workspace, work).1
    }

    /// Like [`Threads::map_with`], but the calling thread first runs `first`, while the other threads already work on
    /// the tasks.
    ///
    /// ```
    /// use halfspaces_linalg::Threads;
    /// let (sum, squares) =
    ///     Threads::all().map_alongside(|| (1..=4).sum::<u32>(), [1, 2, 3].iter(), || (), |(), i| i * i);
    /// assert_eq!((sum, squares), (10, vec![1, 4, 9]));
    /// ```
    pub fn map_alongside<A, W, I: Send, T: Send>(
        self,
        first: impl FnOnce() -> A,
        tasks: impl ExactSizeIterator<Item = I> + Send,
        workspace: impl Fn() -> W + Sync,
        work: impl Fn(&mut W, I) -> T + Sync,
    ) -> (A, Vec<T>) {
        let count = tasks.len();
        // With one thread, the pool is not started.
        let limit = |threads: usize| threads.min(rayon::current_num_threads());
        let others = if self == Threads::ONE { 0 } else { (limit(self.count()) - 1).min(count) };
        if others == 0 {
            let answer = first();
            let mut workspace = workspace();
            let each = |task| {
                checkpoint();
                work(&mut workspace, task)
            };
            return (answer, tasks.map(each).collect());
        }
        // Each thread takes the next unclaimed task.
        let tasks = Mutex::new(tasks.enumerate());
        let take_all = |share: &mut Vec<(usize, T)>| {
            let mut workspace = workspace();
            while let Some((index, task)) = next_of(&tasks) {
                checkpoint();
                share.push((index, work(&mut workspace, task)));
            }
        };
        let mut own = Vec::new();
        let mut shares: Vec<Vec<(usize, T)>> = (0..others).map(|_| Vec::new()).collect();
        let answer = rayon::in_place_scope(|scope| {
            for share in &mut shares {
                let take_all = &take_all;
                scope.spawn(move |_| take_all(share));
            }
            let answer = first();
            take_all(&mut own);
            answer
        });
        shares.push(own);
        (answer, in_order(shares, count))
    }
}

/// The results of `count` tasks, in the order of the tasks.
fn in_order<T>(shares: Vec<Vec<(usize, T)>>, count: usize) -> Vec<T> {
    let mut results: Vec<(usize, T)> = shares.into_iter().flatten().collect();
    results.sort_unstable_by_key(|(index, _)| *index);
    assert_eq!(results.len(), count, "every task is taken once");
    results.into_iter().map(|(_, result)| result).collect()
}

/// Takes the next item and releases the lock.
#[expect(clippy::expect_used, reason = "only an iterator that panics could poison the lock")]
fn next_of<I>(tasks: &Mutex<impl Iterator<Item = I>>) -> Option<I> {
    tasks.lock().expect("taking a task does not panic").next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_cover_every_index_once_in_order() {
        for (len, size) in [(0, 3), (1, 3), (3, 3), (10, 3), (1000, 7)] {
            for count in [1, 2, 8] {
                let blocks = Threads::new(count).unwrap().map_blocks(len, size, |block| block);
                assert!(blocks.iter().all(|block| block.len() <= size && !block.is_empty()));
                let all: Vec<usize> = blocks.into_iter().flatten().collect();
                assert_eq!(all, (0..len).collect::<Vec<_>>());
            }
        }
    }

    #[cfg(feature = "serde")]
    #[test]
    fn none_are_refused_when_loaded() {
        assert!(serde_json::from_str::<Threads>("0").is_err());
        assert_eq!(serde_json::from_str::<Threads>("3").unwrap(), Threads::new(3).unwrap());
    }

    #[test]
    fn workspaces_are_shared_and_results_ordered() {
        let tasks = ["a", "bb", "ccc", "d", "ee"].into_iter();
        let lengths = |threads| {
            Threads::new(threads).unwrap().map_with(tasks.clone(), String::new, |last, task| {
                last.clear();
                last.push_str(task);
                last.len()
            })
        };
        assert_eq!(lengths(1), [1, 2, 3, 1, 2]);
        assert!((2..7).all(|threads| lengths(threads) == lengths(1)));
    }

    #[test]
    fn tasks_alongside_another_are_ordered() {
        for threads in 1..7 {
            let threads = Threads::new(threads).unwrap();
            let mut done = 0;
            let (answer, lengths) = threads.map_alongside(
                || {
                    done += 1;
                    "first"
                },
                ["a", "bb", "ccc", "d", "ee"].into_iter(),
                || (),
                |(), word| word.len(),
            );
            assert_eq!((answer, done, lengths), ("first", 1, vec![1, 2, 3, 1, 2]));
            assert!(
                threads
                    .map_alongside(|| (), [""; 0].into_iter(), || (), |(), word| word.len())
                    .1
                    .is_empty()
            );
        }
    }

    #[test]
    fn none_are_refused() {
        assert!(Threads::new(0).is_err());
        assert_eq!(Threads::default(), Threads::ONE);
    }
}
