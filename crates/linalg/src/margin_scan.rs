//! The largest |w · x| among points that are distributed over several machines.
//!
//! A scan is a value ([`MarginScan`]) that is sent to every machine that holds blocks of rows, and the results are
//! joined in any order ([`Partial`]). The joined result equals that of [`largest_margins`](crate::largest_margins) on
//! all points, because ties are broken by the global index.

use crate::contract::{BLOCK_ROWS, Partial, Sum, Threads};
use crate::error::InputError;
use crate::largest_margins::largest_of;
use crate::margins::before;
use crate::points::{DensePoints, PointSet};

/// A scan for the `count` points with the largest |w · x|.
///
/// ```
/// use halfspaces_linalg::{MarginScan, Points, Threads};
/// let scan = MarginScan { w: vec![1.0, 0.0], count: 2 };
/// let points = Points::from_rows(&[[1.0, 0.0], [-3.0, 1.0], [2.0, 5.0]])?;
/// let largest = scan.partial(0, &points, Threads::ONE)?.finish(1)?.unwrap();
/// assert_eq!(largest.margins(), [(3.0, 1), (2.0, 2)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct MarginScan {
    /// The weights w.
    pub w: Vec<f64>,
    /// The number of points to find.
    pub count: usize,
}

/// The largest values of |w · x| in some blocks.
///
/// ```
/// use halfspaces_linalg::{MarginScan, Points, Threads};
/// let scan = MarginScan { w: vec![1.0], count: 1 };
/// let partial = scan.partial(0, &Points::from_rows(&[[1.0], [-1.0]])?, Threads::ONE)?;
/// assert_eq!(partial.finish(1)?.unwrap().margins(), [(1.0, 0)]); // a tie: the first row
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LargestMargins {
    rows: u64,
    count: usize,
    /// Pairs of |w · x| and the index of the row among all points.
    largest: Vec<(f64, usize)>,
}

impl LargestMargins {
    /// The number of rows scanned.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The values |w · x| with the indices of their rows, largest value first, with ties broken by row.
    #[must_use]
    pub fn margins(&self) -> &[(f64, usize)] {
        &self.largest
    }
}

impl Sum for LargestMargins {
    fn fits(&self, other: &LargestMargins) -> bool {
        self.count == other.count
    }

    fn add(&mut self, later: LargestMargins) {
        self.rows += later.rows;
        self.largest.extend(later.largest);
        self.largest.sort_unstable_by(before);
        self.largest.truncate(self.count);
    }
}

impl MarginScan {
    /// The largest values in the blocks of `points`, whose first row is the first row of block `first`. All blocks must
    /// be complete, except the last one of the whole data set.
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`].
    pub fn partial(
        &self,
        first: u64,
        points: &DensePoints<'_>,
        threads: Threads,
    ) -> Result<Partial<LargestMargins>, InputError> {
        InputError::check_dim(points.dim(), self.w.len())?;
        let offset = first as usize * BLOCK_ROWS;
        let mut buffers = vec![(); Partial::<LargestMargins>::groups(first, points.len()).len()];
        threads.sum_blocks(first, points.len(), &mut buffers, |(), block| {
            let rows = block.len() as u64;
            let mut largest = largest_of(points, &self.w, self.count, block);
            largest.iter_mut().for_each(|(_, row)| *row += offset);
            Ok(LargestMargins { rows, count: self.count, largest })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::largest_margins;
    use crate::points::Points;

    #[test]
    fn workers_find_what_one_scan_finds() {
        // There are many ties among these values.
        let n = 3 * BLOCK_ROWS + 20;
        let value = |i: usize| f64::from((i * 7919 % 13) as u32) - 6.0;
        let points = Points::new((0..2 * n).map(value).collect(), 2).unwrap();
        let w = vec![1.0, 0.5];
        for count in [0, 1, 10, 5000] {
            let scan = MarginScan { w: w.clone(), count };
            let mut all = Partial::default();
            for block in [3, 1, 0, 2] {
                let rows = 2 * block * BLOCK_ROWS..(2 * n).min(2 * (block + 1) * BLOCK_ROWS);
                let part = Points::new(points.as_slice()[rows].to_vec(), 2).unwrap();
                all.merge(scan.partial(block as u64, &part, Threads::ONE).unwrap()).unwrap();
            }
            assert_eq!(all, scan.partial(0, &points, Threads::new(2).unwrap()).unwrap());
            let found = all.finish(4).unwrap().unwrap();
            assert_eq!(found.rows(), n as u64);
            let rows: Vec<usize> = found.margins().iter().map(|(_, row)| *row).collect();
            assert_eq!(rows, largest_margins(&points, &w, count, Threads::ONE).unwrap());
        }
        let wrong = MarginScan { w: vec![1.0], count: 1 };
        assert!(wrong.partial(0, &points, Threads::ONE).is_err());
    }
}
