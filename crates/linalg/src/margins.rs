//! Inner products of a whole pool, and the pool by decreasing |margin|.

use crate::contract::Threads;
use crate::error::InputError;
use crate::points::{PointSet, Points};
use crate::row::RowView;
use crate::zeros::zeros;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use std::cmp::Ordering;
use std::iter::FusedIterator;

/// `w · x_i` for every point, in order.
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

/// [`margins`] into a buffer of one value per point, so that a loop allocates once.
///
/// # Errors
/// [`InputError::DimensionMismatch`], [`InputError::LengthMismatch`] (points against buffer).
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

/// Inner products of every point with every row of `normals` as one matrix product: row `i` of the
/// result holds `x_i · w_j` for all `j`. Rounded as faer's product, not as [`margins`].
///
/// # Errors
/// [`InputError::DimensionMismatch`]; [`InputError::Empty`] if there are no normals;
/// [`InputError::NonFinite`] if a product overflows.
///
/// ```
/// use halfspaces_linalg::{Points, Threads, margins_of_many};
/// let points = Points::from_rows(&[[1.0, 2.0], [3.0, 4.0]])?;
/// let normals = Points::from_rows(&[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])?;
/// let all = margins_of_many(&points, &normals, Threads::ONE)?;
/// assert_eq!(all.as_slice(), [1.0, 2.0, 3.0, 3.0, 4.0, 7.0]);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
pub fn margins_of_many(
    points: &Points,
    normals: &Points,
    threads: Threads,
) -> Result<Points, InputError> {
    InputError::check_dim(points.dim(), normals.dim())?;
    let (n, k, d) = (points.len(), normals.len(), points.dim());
    if k == 0 {
        return Err(InputError::Empty);
    }
    let mut out = zeros(n, k)?;
    let blocks = points.as_slice().chunks(PRODUCT_ROWS * d).zip(out.chunks_mut(PRODUCT_ROWS * k));
    threads.map_with(
        blocks,
        || (),
        |(), (x, out)| {
            let rows = x.len() / d;
            matmul(
                MatMut::from_row_major_slice_mut(out, rows, k),
                Accum::Replace,
                MatRef::from_row_major_slice(x, rows, d),
                normals.as_mat().transpose(),
                1.0,
                Par::Seq,
            );
        },
    );
    Points::new(out, k)
}

/// Points whose products with all normals one thread computes at a time.
const PRODUCT_ROWS: usize = 1024;

/// How many points the first refill sorts, and by how much each refill grows. With factor 16 the
/// whole order of n points costs about log16(n / 64) linear selections besides the sorting.
const FIRST_BLOCK: usize = 64;
const BLOCK_GROWTH: usize = 16;
/// A block that would take this share of what is left takes it all: selecting it would save nothing.
const TAKE_ALL: usize = 4;

/// The indices of `margins` by decreasing absolute value, ties by increasing index, produced as
/// they are asked for: the next few cost O(n) once, never a full sort.
///
/// A learner that walks a pool until its first mistake usually needs a handful of points. Each
/// refill selects the next block in linear time and sorts only that block; blocks grow
/// geometrically, so asking for all of them stays within O(n log n).
///
/// ```
/// use halfspaces_linalg::DescendingMargins;
/// let order: Vec<usize> = DescendingMargins::new(&[0.5, -2.0, 1.0, -0.5]).collect();
/// assert_eq!(order, [1, 2, 0, 3]);
/// ```
#[derive(Debug, Clone)]
pub struct DescendingMargins {
    /// (|margin|, index); `..sorted` is final and in order, the rest is smaller and unordered.
    keys: Vec<(f64, usize)>,
    next: usize,
    sorted: usize,
    block: usize,
}

impl DescendingMargins {
    /// Starts the order. A NaN counts as larger than everything.
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

/// The order of margins as they come, without a copy of them.
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

/// Larger first, then smaller index: a total order without ties, so the result is unique.
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
    use proptest::prelude::*;

    /// The plain version: a full stable sort.
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
            let all = margins_of_many(&points, &normals, Threads::ONE).unwrap();
            for (j, w) in normals.rows().enumerate() {
                let one = margins(&points, w.as_slice()).unwrap();
                let mut buffer = vec![0.0; points.len()];
                margins_into(&points, w.as_slice(), &mut buffer).unwrap();
                prop_assert_eq!(&one, &buffer);
                let sparse = SparsePoints::from_dense(&points).unwrap();
                prop_assert_eq!(&one, &margins(&sparse, w.as_slice()).unwrap());
                for (i, m) in one.iter().enumerate() {
                    prop_assert!((m - all.as_mat()[(i, j)]).abs() < 1e-14);
                }
            }
        }
    }

    #[test]
    fn threads_change_no_bit_of_a_product() {
        let value = |i: usize| ((i * 7919) % 1009) as f64 / 1009.0 - 0.5;
        let points = Points::new((0..7 * 2500).map(value).collect(), 7).unwrap();
        let normals = Points::new((0..7 * 11).map(|i| value(3 * i + 1)).collect(), 7).unwrap();
        let one = margins_of_many(&points, &normals, Threads::ONE).unwrap();
        for threads in [2, 3, 5] {
            let threads = Threads::new(threads).unwrap();
            assert_eq!(margins_of_many(&points, &normals, threads).unwrap(), one);
        }
        let last = points.row(2499).unwrap().dot(normals.row(10).unwrap().as_slice());
        assert!((one.as_mat()[(2499, 10)] - last).abs() < 1e-14);
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
        assert_eq!(margins_of_many(&points, &none, Threads::ONE), Err(InputError::Empty));
        assert_eq!(margins(&none, &[1.0, 1.0]).unwrap(), Vec::<f64>::new());
        assert_eq!(DescendingMargins::new(&[]).next(), None);
    }
}
