//! Inner products of a whole pool, and the pool in order of decreasing |margin|.

use crate::error::InputError;
use crate::points::PointSet;
use crate::row::RowView;
use crate::zeros::zeros;
use std::cmp::Ordering;
use std::iter::FusedIterator;

/// `w · x_i` for all points, in order.
///
/// # Errors
/// [`InputError::DimensionMismatch`].
///
/// ```
/// use halfspaces_linalg::{Points, margins};
/// let points = Points::from_rows(&[[1.0, 2.0], [3.0, 4.0]])?;
/// assert_eq!(margins(&points, &[1.0, -1.0])?, [-1.0, -1.0]);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
pub fn margins<P: PointSet>(points: &P, w: &[f64]) -> Result<Vec<f64>, InputError> {
    let mut out = zeros(points.len(), 1)?;
    margins_into(points, w, &mut out)?;
    Ok(out)
}

/// Writes the [`margins`] to a buffer with one value per point. A loop can then reuse one buffer.
///
/// # Errors
/// [`InputError::DimensionMismatch`]; [`InputError::LengthMismatch`] if the length of the buffer differs from the
/// number of points.
pub fn margins_into<P: PointSet>(points: &P, w: &[f64], out: &mut [f64]) -> Result<(), InputError> {
    InputError::check_dim(points.dim(), w.len())?;
    InputError::check_len(points.len(), out.len())?;
    if let Some(points) = points.as_dense() {
        return points.margins_from(0, w, out);
    }
    for (x, out) in points.rows().zip(out) {
        *out = x.dot(w);
    }
    Ok(())
}

/// Number of points that the first refill sorts. The next constant is the factor by which the refills grow. With factor
/// 16, the complete order of n points costs about log16(n / 64) linear selections in addition to the sorting.
const FIRST_BLOCK: usize = 64;
const BLOCK_GROWTH: usize = 16;
/// A refill that would take at least the fraction 1 / `TAKE_ALL` of the remaining points takes all of them, because a
/// selection would save nothing.
const TAKE_ALL: usize = 4;

/// The indices of `margins` in order of decreasing absolute value, with ties broken by index. The indices are produced
/// on demand: the first few cost O(n), and no full sort is needed.
///
/// A learner that goes through a pool until its first mistake usually needs only a few points. Each refill selects the
/// next block in linear time and sorts only that block. Blocks grow geometrically, so iterating over all points takes
/// O(n log n) time.
///
/// ```
/// use halfspaces_linalg::DescendingMargins;
/// let order: Vec<usize> = DescendingMargins::new(&[0.5, -2.0, 1.0, -0.5]).collect();
/// assert_eq!(order, [1, 2, 0, 3]);
/// ```
#[derive(Debug, Clone)]
pub struct DescendingMargins {
    /// Pairs (|margin|, index). The pairs `..sorted` are final and in order; the remaining margins are smaller and
    /// unordered.
    keys: Vec<(f64, usize)>,
    next: usize,
    sorted: usize,
    block: usize,
}

impl DescendingMargins {
    /// Creates the order. NaN is treated as larger than every number.
    #[must_use]
    pub fn new(margins: &[f64]) -> DescendingMargins {
        margins.iter().copied().collect()
    }

    fn refill(&mut self) {
        let rest = &mut self.keys[self.sorted..];
        let size = if self.block >= rest.len() / TAKE_ALL { rest.len() } else { self.block };
        if size < rest.len() {
            rest.select_nth_unstable_by(size, before);
        }
        rest[..size].sort_unstable_by(before);
        self.sorted += size;
        self.block = self.block.saturating_mul(BLOCK_GROWTH);
    }
}

/// Builds the order from an iterator, without a copy of the margins.
impl FromIterator<f64> for DescendingMargins {
    fn from_iter<I: IntoIterator<Item = f64>>(margins: I) -> DescendingMargins {
        DescendingMargins {
            keys: margins.into_iter().map(f64::abs).zip(0..).collect(),
            next: 0,
            sorted: 0,
            block: FIRST_BLOCK,
        }
    }
}

/// Orders larger values first and equal values by increasing index. This is a total order without ties, so the result
/// is unique.
pub(crate) fn before(a: &(f64, usize), b: &(f64, usize)) -> Ordering {
    b.0.total_cmp(&a.0).then(a.1.cmp(&b.1))
}

impl Iterator for DescendingMargins {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        if self.next == self.sorted {
            self.refill();
        }
        let (_, index) = *self.keys.get(self.next)?;
        self.next += 1;
        Some(index)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.keys.len() - self.next;
        (left, Some(left))
    }
}

impl ExactSizeIterator for DescendingMargins {}
impl FusedIterator for DescendingMargins {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SparsePoints;
    use crate::points::Points;
    use proptest::prelude::*;

    /// The reference: a full stable sort.
    fn sorted(margins: &[f64]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..margins.len()).collect();
        order.sort_by(|&i, &j| margins[j].abs().total_cmp(&margins[i].abs()));
        order
    }

    proptest! {
        #[test]
        fn lazy_order_is_the_sorted_order(
            margins in prop::collection::vec(prop_oneof![-1.0..1.0f64, Just(0.0), Just(0.5), Just(-0.5)], 0..1500),
        ) {
            let order = DescendingMargins::new(&margins);
            prop_assert_eq!(order.len(), margins.len());
            prop_assert_eq!(order.collect::<Vec<_>>(), sorted(&margins));
        }

        #[test]
        fn one_product_agrees_with_row_by_row(
            values in prop::collection::vec(-1.0..1.0f64, 12 * 7),
            normals in prop::collection::vec(-1.0..1.0f64, 5 * 7),
        ) {
            let points = Points::new(values, 7).unwrap();
            let normals = Points::new(normals, 7).unwrap();
            for w in normals.rows() {
                let one = margins(&points, w.as_slice()).unwrap();
                let mut buffer = vec![0.0; points.len()];
                margins_into(&points, w.as_slice(), &mut buffer).unwrap();
                prop_assert_eq!(&one, &buffer);
                let sparse = SparsePoints::from_dense(&points).unwrap();
                prop_assert_eq!(&one, &margins(&sparse, w.as_slice()).unwrap());
                for (x, m) in points.rows().zip(&one) {
                    let plain: f64 = x.as_slice().iter().zip(w.as_slice()).map(|(a, b)| a * b).sum();
                    prop_assert!((m - plain).abs() < 1e-14);
                }
            }
        }
    }

    #[test]
    fn the_first_points_do_not_sort_the_pool() {
        let margins: Vec<f64> = (0..100_000).map(|i| f64::from(i * 7919 % 100_003)).collect();
        let mut order = DescendingMargins::new(&margins);
        assert_eq!(order.by_ref().take(10).collect::<Vec<_>>(), sorted(&margins)[..10]);
        assert_eq!(order.sorted, FIRST_BLOCK);
    }

    #[test]
    fn bad_input_is_typed() {
        let points = Points::new(vec![1.0, 2.0], 2).unwrap();
        assert!(matches!(margins(&points, &[1.0]), Err(InputError::DimensionMismatch { .. })));
        assert!(matches!(
            margins_into(&points, &[1.0, 1.0], &mut []),
            Err(InputError::LengthMismatch { .. })
        ));
        let none = Points::new(vec![], 2).unwrap();
        assert_eq!(margins(&none, &[1.0, 1.0]).unwrap(), Vec::<f64>::new());
        assert_eq!(DescendingMargins::new(&[]).next(), None);
    }
}
