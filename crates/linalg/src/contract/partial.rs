//! Sums over blocks of rows that several threads, processes or machines compute together.
//!
//! Addition of floating-point numbers is not associative, so a sum depends on the order of its terms. In this module,
//! the rows alone determine the order. Rows are split into blocks of [`BLOCK_ROWS`]. The sums of the blocks are the
//! leaves of a binary tree, and a node with 2^e leaves begins at a block whose index is a multiple of 2^e. A worker
//! that has both children of a node adds them, always in the order of their rows. Every worker computes nodes of the
//! same tree, so the total has the same bits for any number of workers, any assignment of blocks to workers, and any
//! order of arrival.

use super::monitor::checkpoint;
use super::threads::Threads;
use std::collections::BTreeMap;
use std::ops::Range;
use thiserror::Error;

/// The number of rows in each block except the last. The number is a multiple of 576, so that a block contains whole
/// tiles of 48, 96, 144 or 192 rows. It is also large enough that adding the d² numbers of a block's sum costs little
/// compared with computing d² products per row.
pub const BLOCK_ROWS: usize = 4608;

/// The largest number of groups of blocks that are distributed over the threads.
const MAX_GROUPS: usize = 64;

/// A sum over rows; it can be joined with the sum over the rows that follow.
pub trait Sum: PartialEq {
    /// Whether both sums belong to the same computation, so that they can be added.
    fn fits(&self, other: &Self) -> bool;

    /// Adds `later`, the sum over later rows. The result may depend on the order of the two sums, but on nothing else.
    fn add(&mut self, later: Self);
}

/// The error if a partial result cannot be joined with another, or does not contain exactly the expected blocks.
///
/// ```
/// use halfspaces_linalg::{MergeError, Partial};
/// # use halfspaces_linalg::Sum;
/// # #[derive(Debug, PartialEq)]
/// # struct Count(u64);
/// # impl Sum for Count {
/// #     fn fits(&self, _: &Count) -> bool { true }
/// #     fn add(&mut self, later: Count) { self.0 += later.0 }
/// # }
/// let second = Partial::of_block(1, Count(7));
/// assert_eq!(second.finish(2), Err(MergeError::Missing { block: 0 }));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum MergeError {
    /// The sum over the same blocks was computed twice, with different results.
    #[error(
        "the sums over {blocks} blocks, starting with block {first}, were computed twice and differ; two partitions \
         may contain the same rows, or two workers may run different versions"
    )]
    Differ {
        /// The first of these blocks.
        first: u64,
        /// The number of these blocks.
        blocks: u64,
    },
    /// The sums belong to different computations.
    #[error("partial results of different computations cannot be joined")]
    Unlike,
    /// A block is missing.
    #[error("block {block} is missing; join the partial results of all workers")]
    Missing {
        /// The first missing block.
        block: u64,
    },
    /// There are more blocks than expected.
    #[error("there is a block {block}, but only {blocks} blocks were expected")]
    Beyond {
        /// The last block found.
        block: u64,
        /// The number of blocks expected.
        blocks: u64,
    },
    /// A node does not begin at a multiple of its number of blocks, or its first block or its size is out of range.
    #[error(
        "a sum over 2^{exponent} blocks begins at block {first}; the partial result is damaged"
    )]
    Misplaced {
        /// The first block.
        first: u64,
        /// The binary logarithm of the number of blocks.
        exponent: u32,
    },
}

#[derive(Debug, Clone, PartialEq)]
struct Node<S> {
    /// The node has 2^exponent blocks.
    exponent: u32,
    sum: S,
}

/// The part of a sum that some workers have computed: nodes of the binary tree over all blocks, keyed by their first
/// block.
///
/// [`Partial::merge`] takes the union of the nodes and replaces two complete siblings by their parent. This operation
/// is commutative, associative and idempotent: a block that was computed twice counts once. For a run of n > 1
/// consecutive blocks, a partial result stores at most 2 lg n sums.
///
/// ```
/// use halfspaces_linalg::{Partial, Sum};
/// #[derive(Debug, Clone, PartialEq)]
/// struct Total(f64);
/// impl Sum for Total {
///     fn fits(&self, _: &Total) -> bool {
///         true
///     }
///     fn add(&mut self, later: Total) {
///         self.0 += later.0;
///     }
/// }
/// let block = |block: u64| Partial::of_block(block, Total(0.1 * block as f64));
/// let (mut left, mut right) = (block(0), block(2));
/// left.merge(block(1))?;
/// right.merge(left.clone())?; // 0, 1 and 2
/// left.merge(right)?; // the blocks 0 and 1 count once
/// assert_eq!(left.finish(3)?, Some(Total((0.0 + 0.1) + 0.2)));
/// # Ok::<(), halfspaces_linalg::MergeError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Partial<S> {
    nodes: BTreeMap<u64, Node<S>>,
}

impl<S> Default for Partial<S> {
    /// An empty partial result, which contains no blocks.
    fn default() -> Self {
        Partial { nodes: BTreeMap::new() }
    }
}

impl<S: Sum> Partial<S> {
    /// The sum over one block.
    #[must_use]
    pub fn of_block(block: u64, sum: S) -> Partial<S> {
        Partial { nodes: BTreeMap::from([(block, Node { exponent: 0, sum })]) }
    }

    /// Adds the blocks of `other` to this partial result.
    ///
    /// # Errors
    /// [`MergeError::Differ`], [`MergeError::Unlike`]. After an error, some blocks of `other` may already have been
    /// added.
    pub fn merge(&mut self, other: Partial<S>) -> Result<(), MergeError> {
        other.nodes.into_iter().try_for_each(|(first, node)| self.insert(first, node))
    }

    /// Inserts a node. Two nodes of the tree are disjoint unless one contains the other.
    fn insert(&mut self, mut first: u64, node: Node<S>) -> Result<(), MergeError> {
        let Node { mut exponent, mut sum } = node;
        if self.nodes.values().next().is_some_and(|known| !known.sum.fits(&sum)) {
            return Err(MergeError::Unlike);
        }
        if let Some((start, known)) = self.nodes.range(..=first).next_back()
            && known.exponent >= exponent
            && first >> known.exponent == start >> known.exponent
        {
            let blocks = 1 << exponent;
            let differs = known.exponent == exponent && known.sum != sum;
            return if differs { Err(MergeError::Differ { first, blocks }) } else { Ok(()) };
        }
        let last = first | ((1 << exponent) - 1);
        let inside: Vec<u64> = self.nodes.range(first..=last).map(|(start, _)| *start).collect();
        for start in inside {
            self.nodes.remove(&start);
        }
        loop {
            let sibling = first ^ (1 << exponent);
            let complete = self.nodes.get(&sibling).is_some_and(|node| node.exponent == exponent);
            let Some(other) = complete.then(|| self.nodes.remove(&sibling)).flatten() else {
                break;
            };
            if sibling < first {
                let mut parent = other.sum;
                parent.add(sum);
                (first, sum) = (sibling, parent);
            } else {
                sum.add(other.sum);
            }
            exponent += 1;
        }
        self.nodes.insert(first, Node { exponent, sum });
        Ok(())
    }

    /// The sum over the blocks `0..blocks`; `None` if there are no blocks.
    ///
    /// # Errors
    /// [`MergeError::Missing`], [`MergeError::Beyond`].
    pub fn finish(self, blocks: u64) -> Result<Option<S>, MergeError> {
        let mut next = 0;
        for (first, node) in &self.nodes {
            if *first != next {
                break;
            }
            next += 1 << node.exponent;
        }
        if next < blocks {
            return Err(MergeError::Missing { block: next });
        }
        if let Some((last, node)) = self.nodes.last_key_value()
            && last + (1 << node.exponent) > blocks
        {
            return Err(MergeError::Beyond { block: last + (1 << node.exponent) - 1, blocks });
        }
        // At the end of the rows, a node without a sibling takes the place of its parent.
        let join = |later: S, mut first: S| {
            first.add(later);
            first
        };
        Ok(self.nodes.into_values().map(|node| node.sum).rev().reduce(join))
    }
}

#[cfg(feature = "serde")]
impl<S: serde::Serialize> serde::Serialize for Partial<S> {
    fn serialize<Z: serde::Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        serializer.collect_seq(self.nodes.iter().map(|(first, n)| (first, n.exponent, &n.sum)))
    }
}

#[cfg(feature = "serde")]
impl<'de, S: Sum + serde::Deserialize<'de>> serde::Deserialize<'de> for Partial<S> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut partial = Partial::default();
        for (first, exponent, sum) in Vec::<(u64, u32, S)>::deserialize(deserializer)? {
            let misplaced = exponent >= 48 || first >= 1 << 62 || first % (1 << exponent) != 0;
            let placed = if misplaced {
                Err(MergeError::Misplaced { first, exponent })
            } else {
                partial.insert(first, Node { exponent, sum })
            };
            placed.map_err(serde::de::Error::custom)?;
        }
        Ok(partial)
    }
}

impl Threads {
    /// Sums the rows `0..rows` in blocks of [`BLOCK_ROWS`] rows, which are numbered from `first`. `buffers` contains
    /// one buffer for each group of blocks ([`Partial::groups`]), and one thread sums each group.
    ///
    /// # Errors
    /// Returns the first error of `work`.
    ///
    /// # Panics
    /// Panics if there are fewer buffers than groups of blocks.
    pub fn sum_blocks<B: Send, S: Sum + Send, E: Send>(
        self,
        first: u64,
        rows: usize,
        buffers: &mut [B],
        work: impl Fn(&mut B, Range<usize>) -> Result<S, E> + Sync,
    ) -> Result<Partial<S>, E> {
        let groups = Partial::<S>::groups(first, rows);
        assert!(groups.len() <= buffers.len(), "there must be a buffer for each group of blocks");
        let of_group = |(), (blocks, buffer): (Range<u64>, &mut B)| {
            let mut partial = Partial::default();
            for block in blocks {
                checkpoint();
                let start = (block - first) as usize * BLOCK_ROWS;
                let sum = work(buffer, start..rows.min(start + BLOCK_ROWS))?;
                partial.join(Partial::of_block(block, sum));
            }
            Ok(partial)
        };
        let tasks = groups.into_iter().zip(buffers);
        let mut all = Partial::default();
        for partial in self.map_with(tasks, || (), |(), task| of_group((), task)) {
            all.join(partial?);
        }
        Ok(all)
    }
}

impl<S: Sum> Partial<S> {
    /// The groups of consecutive blocks into which [`Threads::sum_blocks`] divides `rows` rows, starting with the first
    /// row of block `first`. There are at most 65 groups.
    #[must_use]
    pub fn groups(first: u64, rows: usize) -> Vec<Range<u64>> {
        let end = first + rows.div_ceil(BLOCK_ROWS) as u64;
        let size = (end - first).div_ceil(MAX_GROUPS as u64).next_power_of_two();
        let cuts = (first / size..end.div_ceil(size)).map(|group| group * size);
        cuts.map(|start| start.max(first)..end.min(start + size)).collect()
    }

    /// Same as [`Partial::merge`], for disjoint blocks that this process has just computed.
    fn join(&mut self, other: Partial<S>) {
        if let Err(error) = self.merge(other) {
            unreachable!("disjoint blocks of one computation: {error}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A sum that records the order of its additions as text.
    #[derive(Debug, Clone, PartialEq)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    struct Order(String);

    impl Sum for Order {
        fn fits(&self, other: &Order) -> bool {
            self.0.starts_with('x') == other.0.starts_with('x')
        }

        fn add(&mut self, later: Order) {
            self.0 = format!("({}+{})", self.0, later.0);
        }
    }

    fn block(block: u64) -> Partial<Order> {
        Partial::of_block(block, Order(block.to_string()))
    }

    fn of(blocks: impl IntoIterator<Item = u64>) -> Partial<Order> {
        let mut all = Partial::default();
        blocks.into_iter().for_each(|b| all.merge(block(b)).unwrap());
        all
    }

    #[test]
    fn sums_follow_the_tree() {
        let total = |n| of(0..n).finish(n).unwrap().map(|order| order.0);
        assert_eq!(total(0), None);
        assert_eq!(total(1).unwrap(), "0");
        assert_eq!(total(3).unwrap(), "((0+1)+2)");
        assert_eq!(total(7).unwrap(), "(((0+1)+(2+3))+((4+5)+6))");
    }

    #[test]
    fn what_is_missing_or_differs_is_told() {
        assert_eq!(of([0, 1, 3]).finish(4), Err(MergeError::Missing { block: 2 }));
        assert_eq!(of([1]).finish(2), Err(MergeError::Missing { block: 0 }));
        assert_eq!(of([0, 1, 2]).finish(4), Err(MergeError::Missing { block: 3 }));
        assert_eq!(of(0..4).finish(3), Err(MergeError::Beyond { block: 3, blocks: 3 }));
        assert_eq!(of([0, 1, 5]).finish(2), Err(MergeError::Beyond { block: 5, blocks: 2 }));
        let other = Partial::of_block(2, Order("7".into()));
        let differ = Err(MergeError::Differ { first: 2, blocks: 1 });
        assert_eq!(of([0, 2]).merge(other.clone()), differ);
        // Once a block is part of a larger node, its sum can no longer be compared.
        assert_eq!(of([2, 3]).merge(other), Ok(()));
        let unlike = Partial::of_block(9, Order("x".into()));
        assert_eq!(of([2, 3]).merge(unlike), Err(MergeError::Unlike));
    }

    #[cfg(feature = "serde")]
    #[test]
    fn damaged_nodes_are_refused() {
        let partial = of([0, 1, 2, 5]);
        let text = serde_json::to_string(&partial).unwrap();
        assert_eq!(text, r#"[[0,1,"(0+1)"],[2,0,"2"],[5,0,"5"]]"#);
        assert_eq!(serde_json::from_str::<Partial<Order>>(&text).unwrap(), partial);
        for damaged in [r#"[[1,1,"a"]]"#, r#"[[0,64,"a"]]"#, r#"[[0,0,"a"],[0,0,"b"]]"#] {
            assert!(serde_json::from_str::<Partial<Order>>(damaged).is_err(), "{damaged}");
        }
    }

    #[test]
    fn threads_and_offsets_sum_the_same_tree() {
        let rows = 150 * BLOCK_ROWS + 5;
        let work = |first: u64| {
            move |seen: &mut usize, rows: Range<usize>| {
                *seen += rows.len();
                Ok::<_, ()>(Order((first + (rows.start / BLOCK_ROWS) as u64).to_string()))
            }
        };
        for threads in [1, 2, 5] {
            let threads = Threads::new(threads).unwrap();
            let mut buffers = vec![0; Partial::<Order>::groups(0, rows).len()];
            let whole = threads.sum_blocks(0, rows, &mut buffers, work(0)).unwrap();
            assert_eq!(buffers.iter().sum::<usize>(), rows);
            assert!(buffers.len() > 32 && buffers.len() <= MAX_GROUPS + 1);
            assert_eq!(whole, of(0..151));
            let mut buffers = vec![0; Partial::<Order>::groups(37, rows).len()];
            let later = threads.sum_blocks(37, rows, &mut buffers, work(37)).unwrap();
            assert_eq!(later, of(37..188));
        }
        assert!(Partial::<Order>::groups(3, 0).is_empty());
    }

    proptest! {
        /// Workers may compute any blocks, even the same ones, and their results may be merged in any order.
        #[test]
        fn workers_and_order_change_nothing(
            n in 1u64..40,
            cuts in prop::collection::vec(prop::collection::vec(0u64..40, 0..20), 0..6),
            order in any::<prop::sample::Index>(),
        ) {
            let mut workers: Vec<Partial<Order>> =
                cuts.iter().map(|blocks| of(blocks.iter().copied().filter(|b| *b < n))).collect();
            workers.push(of(0..n / 2));
            workers.push(of((n / 2..n).rev()));
            let turn = order.index(workers.len());
            workers.rotate_left(turn);
            let mut all = Partial::default();
            for worker in workers.into_iter().rev() {
                all.merge(worker).unwrap();
            }
            prop_assert_eq!(&all, &of(0..n));
            prop_assert_eq!(all.finish(n).unwrap(), of(0..n).finish(n).unwrap());
        }
    }
}
