//! Points of a pool in order of decreasing |w · x|/‖x‖, sorted lazily.

use super::Pool;
use halfspaces_linalg::{DescendingMargins, PointSet};

/// A walk over some points of a pool, surest first.
#[derive(Debug, Clone)]
pub(crate) struct Walk {
    /// Indices in the pool, in ascending order.
    members: Vec<usize>,
    order: DescendingMargins,
    /// The members returned by `order` so far, as positions in `members`.
    done: Vec<usize>,
}

impl Walk {
    /// A walk over `members`, which are in ascending order, so that ties go to the smaller index.
    pub(crate) fn new<P: PointSet>(pool: &Pool<'_, P>, w: &[f64], members: Vec<usize>) -> Walk {
        let order = members.iter().map(|i| pool.margin(*i, w)).collect();
        Walk { members, order, done: Vec::new() }
    }

    /// A walk over `members` with the given `margins`.
    pub(crate) fn from_margins(margins: &[f64], members: Vec<usize>) -> Walk {
        Walk { members, order: DescendingMargins::new(margins), done: Vec::new() }
    }

    /// The next point.
    pub(crate) fn next(&mut self) -> Option<usize> {
        let place = self.order.next()?;
        self.done.push(place);
        Some(self.members[place])
    }

    /// The points not yet returned, in ascending order.
    pub(crate) fn into_unvisited(self) -> Vec<usize> {
        let mut left = vec![true; self.members.len()];
        for place in self.done {
            left[place] = false;
        }
        let kept = self.members.into_iter().zip(left);
        kept.filter_map(|(member, left)| left.then_some(member)).collect()
    }
}
