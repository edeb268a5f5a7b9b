//! A feature map that replaces the values of each column by their ranks.

use crate::FeatureMap;
use halfspaces_linalg::{
    InputError, PointSet, RowView, checkpoint, checkpoint_at, load_checked, zeros,
};

/// The maximum number of values per column whose ranks are stored.
const MAX_KNOTS: usize = 1000;

/// Replaces every value of a column by its rank, which removes the unit, the skew and the outliers of the column.
///
/// The rank of a value is computed from the fraction of the sample that lies below the value, where equal values count
/// half. First, 1/2 is subtracted from this fraction. The result is then divided by the standard deviation of the
/// fractions of all values in the sample. A column therefore has mean 0 and standard deviation 1 on the sample, as with
/// [`ZScore`](crate::ZScore), but even the rank of an extreme value lies within a few standard deviations of 0. The
/// rank of a new value between two stored values is interpolated. The rank of a value outside the range of the stored
/// values is that of the nearest stored value. A constant column becomes 0. For a column with more than 1000 different
/// values, the map stores 1000 of them, evenly spaced in the sorted order.
///
/// *When to use it.* Use ranks for columns with heavy tails, such as counts, amounts, and percentages that are mostly
/// zero. The ranks of the sample do not change under any increasing transformation of a column.
///
/// *Cost.* O(nd ln n) time to fit the map, O(d ln 1000) time per point, and at most 16 kB of memory per column.
///
/// ```
/// use halfspaces_features::{FeatureMap, Ranks};
/// use halfspaces_linalg::Points;
/// let points = Points::new(vec![1.0, 10.0, 100.0, 1e9], 1)?;
/// let ranked = Ranks::fit(&points)?.apply(&points)?;
/// let step = ranked.as_slice()[1] - ranked.as_slice()[0];
/// assert!((ranked.as_slice()[3] - ranked.as_slice()[2] - step).abs() < 1e-12);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Ranks {
    columns: Vec<Knots>,
}

/// The stored values of a column and their ranks, both in increasing order.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Knots {
    values: Vec<f64>,
    ranks: Vec<f64>,
}

load_checked!(Ranks { columns: Vec<Knots> });

#[cfg(feature = "serde")]
impl Ranks {
    /// Checks that the values and the ranks of every column are finite and increasing.
    fn check_saved(&self) -> Result<(), InputError> {
        if self.columns.is_empty() {
            return Err(InputError::ZeroDimension);
        }
        for Knots { values, ranks } in &self.columns {
            InputError::check_state(!values.is_empty(), "a column of ranks has no values")?;
            InputError::check_state(
                values.len() == ranks.len(),
                "a column does not have one rank for each value",
            )?;
            let finite = values.iter().chain(ranks).all(|v| v.is_finite());
            InputError::check_state(finite, "a value or a rank is not finite")?;
            let rising = |v: &[f64]| v.windows(2).all(|pair| pair[0] < pair[1]);
            InputError::check_state(
                rising(values) && rising(ranks),
                "the values or the ranks of a column do not increase",
            )?;
        }
        Ok(())
    }
}

impl Knots {
    fn fit(mut column: Vec<f64>) -> Knots {
        let n = column.len() as f64;
        // Adding 0 turns -0 into 0, so that both count as the same value.
        column.iter_mut().for_each(|v| *v += 0.0);
        column.sort_unstable_by(f64::total_cmp);
        let (mut values, mut ranks) = (Vec::new(), Vec::new());
        let mut below = 0;
        let mut variance = 0.0;
        for group in column.chunk_by(|a, b| a.to_bits() == b.to_bits()) {
            let count = group.len();
            let rank = (below as f64 + 0.5 * count as f64) / n - 0.5;
            variance += rank * rank * count as f64 / n;
            values.push(group[0]);
            ranks.push(rank);
            below += count;
        }
        if values.len() == 1 {
            return Knots { values, ranks: vec![0.0] };
        }
        let deviation = variance.sqrt();
        ranks.iter_mut().for_each(|rank| *rank /= deviation);
        if values.len() > MAX_KNOTS {
            let last = values.len() - 1;
            let kept = |i: usize| i * last / (MAX_KNOTS - 1);
            values = (0..MAX_KNOTS).map(|i| values[kept(i)]).collect();
            ranks = (0..MAX_KNOTS).map(|i| ranks[kept(i)]).collect();
        }
        Knots { values, ranks }
    }

    fn rank(&self, value: f64) -> f64 {
        let Knots { values, ranks } = self;
        let above = values.partition_point(|v| *v <= value);
        if above == 0 {
            return ranks[0];
        }
        if above == values.len() {
            return ranks[above - 1];
        }
        let (low, high) = (values[above - 1], values[above]);
        // The values are halved so that the difference of any two of them is finite.
        let fraction = (0.5 * value - 0.5 * low) / (0.5 * high - 0.5 * low);
        ranks[above - 1] + fraction * (ranks[above] - ranks[above - 1])
    }
}

impl Ranks {
    /// The stored values of each column and the ranks of these values, both in increasing order.
    pub fn knots(&self) -> impl ExactSizeIterator<Item = (&[f64], &[f64])> {
        self.columns.iter().map(|knots| (&knots.values[..], &knots.ranks[..]))
    }

    /// Computes the ranks of the values of a sample, column by column.
    ///
    /// # Errors
    /// [`InputError::Empty`] if there are no points; [`InputError::TooLarge`] if a dense copy of the points does not
    /// fit in memory.
    pub fn fit<P: PointSet>(points: &P) -> Result<Ranks, InputError> {
        if points.is_empty() {
            return Err(InputError::Empty);
        }
        let mut values = zeros(points.dim(), points.len())?;
        for (i, x) in points.rows().enumerate() {
            checkpoint_at(i);
            x.entries().for_each(|(j, v)| values[j * points.len() + i] = v);
        }
        let knots = |column: &[f64]| {
            checkpoint();
            Knots::fit(column.to_vec())
        };
        Ok(Ranks { columns: values.chunks_exact(points.len()).map(knots).collect() })
    }
}

impl FeatureMap for Ranks {
    fn input_dim(&self) -> usize {
        self.columns.len()
    }

    fn output_dim(&self) -> usize {
        self.columns.len()
    }

    fn map_row<R: RowView>(&self, x: R, out: &mut [f64]) -> Result<(), InputError> {
        out.fill(0.0);
        x.add_scaled_to(1.0, out);
        out.iter_mut().zip(&self.columns).for_each(|(v, knots)| *v = knots.rank(*v));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_linalg::{Points, SparsePoints};
    use proptest::prelude::*;

    #[test]
    fn ranks_by_hand() {
        // The fractions below each value, where equal values count half, are 1/8, 1/2 (for two values) and 7/8. Each
        // fraction minus 1/2 is divided by the standard deviation √(9/128).
        let points = Points::from_rows(&[[5.0, 2.0], [-1.0, 2.0], [5.0, 2.0], [7.0, 2.0]]).unwrap();
        let ranks = Ranks::fit(&points).unwrap();
        let end = 0.375 / (9f64 / 128.0).sqrt();
        let others = Points::from_rows(&[[5.0, 2.0], [2.0, 9.0], [-8.0, 1.0], [8.0, 2.0]]).unwrap();
        let found = ranks.apply(&others).unwrap();
        for (found, expected) in
            found.as_slice().iter().zip([0.0, 0.0, -end / 2.0, 0.0, -end, 0.0, end, 0.0])
        {
            assert!((found - expected).abs() < 1e-15, "{found} {expected}");
        }
    }

    proptest! {
        #[test]
        fn increasing_changes_of_units_change_nothing(values in prop::collection::vec(-5.0..5.0f64, 2..60)) {
            let points = Points::new(values.clone(), 1).unwrap();
            let cubed = Points::new(values.iter().map(|v| v.exp()).collect(), 1).unwrap();
            let a = Ranks::fit(&points).unwrap().apply(&points).unwrap();
            let b = Ranks::fit(&cubed).unwrap().apply(&cubed).unwrap();
            prop_assert_eq!(&a, &b);
            let n = values.len() as f64;
            let mean: f64 = a.as_slice().iter().sum::<f64>() / n;
            let square: f64 = a.as_slice().iter().map(|v| v * v).sum::<f64>() / n;
            prop_assert!(mean.abs() < 1e-12);
            prop_assert!((square - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn many_values_are_thinned_and_sparse_rows_have_zeros() {
        let values: Vec<f64> = (0..5000).map(|i| f64::from((i * 7919) % 5000)).collect();
        let points = Points::new(values, 1).unwrap();
        let ranks = Ranks::fit(&points).unwrap();
        assert_eq!(ranks.columns[0].values.len(), MAX_KNOTS);
        let sparse = SparsePoints::from_dense(&points).unwrap();
        assert_eq!(Ranks::fit(&sparse).unwrap(), ranks);
        let found = ranks.apply(&sparse).unwrap();
        assert_eq!(found, ranks.apply(&points).unwrap());
        // The ranks of evenly spaced values are evenly spaced.
        for (x, found) in points.as_slice().iter().zip(found.as_slice()) {
            let expected = ((x + 0.5) / 5000.0 - 0.5) * 12f64.sqrt();
            assert!((found - expected).abs() < 1e-3);
        }
        // The difference of the two extreme values overflows.
        let wide = Points::new(vec![-f64::MAX, f64::MAX, 0.0], 1).unwrap();
        let found = Ranks::fit(&wide).unwrap().apply(&wide).unwrap();
        assert!((found.as_slice()[0] + found.as_slice()[1]).abs() < 1e-12);
    }

    #[cfg(feature = "serde")]
    #[test]
    fn saved_ranks_are_checked() {
        let ranks = Ranks::fit(&Points::new(vec![1.0, 2.0, 4.0], 1).unwrap()).unwrap();
        let text = serde_json::to_string(&ranks).unwrap();
        let load = |text: &str| serde_json::from_str::<Ranks>(text);
        assert_eq!(load(&text).unwrap(), ranks);
        for (from, to) in [
            ("[1.0,2.0,4.0]", "[1.0,1.0,4.0]"),
            ("[1.0,2.0,4.0]", "[1.0,2.0]"),
            ("[1.0,2.0,4.0]", "[]"),
        ] {
            assert!(load(&text.replace(from, to)).is_err(), "{to}");
        }
        assert!(load("{\"columns\":[]}").is_err());
    }
}
