//! The points of a pool with the largest |w · x|, found in one scan on one or several threads.
//!
//! Each thread scans a range of the pool, keeps the largest values, and considers only values above the smallest one
//! kept, so the scan costs about as much as reading the pool. The result equals that of
//! [`DescendingMargins`](crate::DescendingMargins) for any number of threads: values do not depend on the split, and
//! ties are broken by index.

use crate::contract::Threads;
use crate::error::InputError;
use crate::margins::before;
use crate::points::PointSet;
use crate::row::RowView;
use std::ops::Range;

/// Minimum number of points per thread.
const MIN_STRETCH: usize = 4096;
/// Number of values computed per block.
const BLOCK: usize = 64;
/// Number of values to keep before the smallest are dropped, as a multiple of the requested number.
const SLACK: usize = 2;
/// Minimum capacity for kept values.
const MIN_ROOM: usize = 64;

/// The indices of the `count` points with the largest |w · x|, largest first, with ties broken by index. Returns all
/// indices if there are at most `count` points.
///
/// # Errors
/// [`InputError::DimensionMismatch`].
///
/// ```
/// use halfspaces_linalg::{Points, Threads, largest_margins};
/// let points = Points::from_rows(&[[1.0, 0.0], [-3.0, 1.0], [2.0, 5.0]])?;
/// assert_eq!(largest_margins(&points, &[1.0, 0.0], 2, Threads::ONE)?, [1, 2]);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
pub fn largest_margins<P: PointSet>(
    points: &P,
    w: &[f64],
    count: usize,
    threads: Threads,
) -> Result<Vec<usize>, InputError> {
    InputError::check_dim(points.dim(), w.len())?;
    let n = points.len();
    let stretches = threads.count().min(n / MIN_STRETCH).max(1);
    let stretch = n.div_ceil(stretches).max(1);
    let found = threads.map_blocks(n, stretch, |stretch| Largest::scan(points, w, count, stretch));
    let mut all: Vec<(f64, usize)> = found.into_iter().flat_map(|l| l.kept).collect();
    all.sort_unstable_by(before);
    all.truncate(count);
    Ok(all.into_iter().map(|(_, index)| index).collect())
}

/// The `count` largest |w · x| in a range of the points, together with their indices. The values are in decreasing
/// order, with ties broken by index. The points must have the same dimension as w.
pub(crate) fn largest_of<P: PointSet>(
    points: &P,
    w: &[f64],
    count: usize,
    range: Range<usize>,
) -> Vec<(f64, usize)> {
    let mut kept = Largest::scan(points, w, count, range).kept;
    kept.sort_unstable_by(before);
    kept.truncate(count);
    kept
}

/// The largest values found so far, together with some smaller values that have not been dropped yet.
struct Largest {
    count: usize,
    room: usize,
    /// Pairs (|margin|, index).
    kept: Vec<(f64, usize)>,
    /// A value at or below `floor` is not among the largest.
    floor: f64,
}

impl Largest {
    fn new(count: usize) -> Largest {
        let room = count.saturating_mul(SLACK).max(MIN_ROOM);
        let floor = if count == 0 { f64::INFINITY } else { f64::NEG_INFINITY };
        Largest { count, room, kept: Vec::new(), floor }
    }

    /// The largest values in a range of points that have the dimension of w.
    fn scan<P: PointSet>(points: &P, w: &[f64], count: usize, stretch: Range<usize>) -> Largest {
        let mut largest = Largest::new(count);
        let Some(dense) = points.as_dense() else {
            for i in stretch {
                let Some(x) = points.row(i) else { unreachable!("{i} is below the length") };
                largest.offer(x.dot(w).abs(), i);
            }
            return largest;
        };
        let mut values = [0.0; BLOCK];
        for from in stretch.clone().step_by(BLOCK) {
            let values = &mut values[..BLOCK.min(stretch.end - from)];
            if let Err(error) = dense.margins_from(from, w, values) {
                unreachable!(
                    "the dimension is checked and the indices are below the length: {error}"
                )
            }
            largest.offer_all(values, from);
        }
        largest
    }

    /// Considers the value of point `index`. The index must increase from call to call.
    #[inline]
    fn offer(&mut self, value: f64, index: usize) {
        // Comparisons with NaN are false, so NaN passes this check.
        if value <= self.floor {
            return;
        }
        self.keep(value, index);
    }

    /// Calls [`Largest::offer`] with |value| for the points starting with index `first`.
    fn offer_all(&mut self, values: &[f64], first: usize) {
        // Almost always, no value in the block is large enough; this check avoids a branch per value.
        if values.iter().fold(true, |none, value| none & (value.abs() <= self.floor)) {
            return;
        }
        for (i, value) in (first..).zip(values) {
            self.offer(value.abs(), i);
        }
    }

    #[cold]
    fn keep(&mut self, value: f64, index: usize) {
        self.kept.push((value, index));
        if self.kept.len() < self.room || self.count >= self.kept.len() {
            return;
        }
        let (_, least, _) = self.kept.select_nth_unstable_by(self.count.saturating_sub(1), before);
        self.floor = least.0;
        self.kept.truncate(self.count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DescendingMargins, Points, SparsePoints, margins};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn one_scan_finds_what_the_order_begins_with(
            // There are few distinct values, so that ties are frequent.
            values in prop::collection::vec(-3..3i8, 2..900),
            count in 0..200usize,
        ) {
            let values: Vec<f64> = values.chunks_exact(2).flatten().map(|v| f64::from(*v)).collect();
            let points = Points::new(values, 2).unwrap();
            let w = [1.0, -0.5];
            let order = DescendingMargins::new(&margins(&points, &w).unwrap());
            let expected: Vec<usize> = order.take(count).collect();
            prop_assert_eq!(&largest_margins(&points, &w, count, Threads::ONE).unwrap(), &expected);
            let sparse = SparsePoints::from_dense(&points).unwrap();
            prop_assert_eq!(&largest_margins(&sparse, &w, count, Threads::ONE).unwrap(), &expected);
        }
    }

    #[test]
    fn threads_change_nothing() {
        let values = (0..60_000).map(|i| f64::from(i * 7919 % 1009) - 500.0).collect();
        let points = Points::new(values, 3).unwrap();
        let w = [1.0, 0.25, -1.0];
        let order = DescendingMargins::new(&margins(&points, &w).unwrap());
        for count in [1, 10, 5000, 30_000] {
            let expected: Vec<usize> = order.clone().take(count).collect();
            for threads in [1, 2, 3, 5] {
                let threads = Threads::new(threads).unwrap();
                assert_eq!(largest_margins(&points, &w, count, threads).unwrap(), expected);
            }
        }
    }

    #[test]
    fn bad_input_is_typed() {
        let points = Points::new(vec![1.0, 2.0], 2).unwrap();
        let refused = largest_margins(&points, &[1.0], 1, Threads::ONE);
        assert_eq!(refused, Err(InputError::DimensionMismatch { expected: 2, found: 1 }));
        let none = Points::new(vec![], 2).unwrap();
        assert_eq!(largest_margins(&none, &[1.0, 1.0], 3, Threads::new(2).unwrap()), Ok(vec![]));
        // The products overflow to infinity and NaN. NaN comes first, as in [`DescendingMargins`].
        let far = Points::from_rows(&[[1e200, 0.0], [1e200, 1e200], [1.0, 0.0]]).unwrap();
        assert_eq!(largest_margins(&far, &[1e200, -1e200], 3, Threads::ONE), Ok(vec![1, 0, 2]));
    }
}
