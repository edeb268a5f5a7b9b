//! The choice of landmarks.

use halfspaces_linalg::{
    InputError, PointSet, Points, RngStream, RowView, kernels, rng_for, zeros,
};
use rand::RngExt;
use rand::seq::index::sample;

/// Points looked at per landmark, by [`Landmarks::Spread`].
const CANDIDATES_PER_LANDMARK: usize = 10;

/// How the landmarks of a [`Nystroem`](crate::Nystroem) map are chosen.
///
/// ```
/// use halfspaces_features::Landmarks;
/// use halfspaces_linalg::{PointSet, Points};
/// let points = Points::new(vec![0.0, 0.0, 0.0, 0.0, 9.0], 1)?;
/// // Two places only: no more than two landmarks.
/// let mut spread = Landmarks::Spread.choose(&points, 3, 1)?.into_vec();
/// spread.sort_by(f64::total_cmp);
/// assert_eq!(spread, [0.0, 9.0]);
/// assert_eq!(Landmarks::Uniform.choose(&points, 3, 1)?.len(), 3);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Landmarks {
    /// Every point is as likely as any other, none is drawn twice. O(md) time.
    #[default]
    Uniform,
    /// One after the other, each point with a probability proportional to its squared distance from the
    /// nearest landmark (k-means++), among ten times as many points drawn at random. They cover the data
    /// with fewer landmarks, outliers included. O(m²d) time.
    Spread,
}

impl Landmarks {
    /// `count` of the points, or all of them if there are no more; with [`Landmarks::Spread`] no place
    /// twice.
    ///
    /// # Errors
    /// [`InputError::Empty`]; [`InputError::ParameterOutOfRange`] for a count of 0;
    /// [`InputError::TooLarge`]; [`InputError::Overflow`] if distances leave `f64`.
    pub fn choose<P: PointSet>(
        self,
        points: &P,
        count: usize,
        seed: u64,
    ) -> Result<Points, InputError> {
        if points.is_empty() {
            return Err(InputError::Empty);
        }
        InputError::check_parameter("landmarks", count as f64, count > 0, "at least 1")?;
        let n = points.len();
        let mut rng = rng_for(RngStream::Landmarks, seed);
        let drawn = match self {
            Landmarks::Uniform => count.min(n),
            Landmarks::Spread => count.saturating_mul(CANDIDATES_PER_LANDMARK).min(n),
        };
        let dim = points.dim();
        let mut rows = zeros(drawn, dim)?;
        for (index, row) in sample(&mut rng, n, drawn).into_iter().zip(rows.chunks_exact_mut(dim)) {
            let Some(x) = points.row(index) else {
                unreachable!("drawn below the number of points")
            };
            x.add_scaled_to(1.0, row);
        }
        let candidates = Points::new(rows, dim)?;
        match self {
            Landmarks::Uniform => Ok(candidates),
            Landmarks::Spread => spread(&candidates, count, &mut rng),
        }
    }
}

fn spread(candidates: &Points, count: usize, rng: &mut impl RngExt) -> Result<Points, InputError> {
    // Candidates come in random order: the first is as good as any.
    let mut chosen = vec![0];
    let mut nearest = vec![f64::INFINITY; candidates.len()];
    let mut difference = zeros(1, candidates.dim())?;
    loop {
        let last = candidates.row(chosen[chosen.len() - 1]);
        let Some(last) = last else { unreachable!("chosen among the candidates") };
        for (row, (x, nearest)) in candidates.rows().zip(&mut nearest).enumerate() {
            let pairs = x.as_slice().iter().zip(last.as_slice());
            difference.iter_mut().zip(pairs).for_each(|(v, (a, b))| *v = a - b);
            let distance = kernels::norm_sq(&difference);
            if !distance.is_finite() {
                return Err(InputError::Overflow { row });
            }
            *nearest = nearest.min(distance);
        }
        let total: f64 = nearest.iter().sum();
        if !total.is_finite() {
            return Err(InputError::Overflow { row: 0 });
        }
        if chosen.len() >= count || total <= 0.0 {
            return candidates.select(&chosen);
        }
        let mut left = rng.random::<f64>() * total;
        let within = |distance: &f64| {
            left -= distance;
            left < 0.0 && *distance > 0.0
        };
        // By rounding a little may be left over: then the last that is not a landmark.
        let next = nearest.iter().position(within);
        let next = next.or_else(|| nearest.iter().rposition(|distance| *distance > 0.0));
        let Some(next) = next else { unreachable!("the distances have a positive sum") };
        chosen.push(next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_linalg::SparsePoints;

    #[test]
    fn uniform_landmarks_are_different_rows() {
        let points = Points::new((0..50).map(f64::from).collect(), 1).unwrap();
        for (count, expected) in [(1, 1), (20, 20), (50, 50), (60, 50)] {
            let mut chosen = Landmarks::Uniform.choose(&points, count, 4).unwrap().into_vec();
            chosen.sort_by(f64::total_cmp);
            chosen.dedup();
            assert_eq!(chosen.len(), expected);
        }
    }

    /// Ninety-nine points in one cluster and one far away: k-means++ takes it second.
    #[test]
    fn spread_landmarks_cover_the_points() {
        let mut values: Vec<f64> = (0..99).map(|i| f64::from(i) * 1e-3).collect();
        values.push(1e3);
        let points = Points::new(values, 1).unwrap();
        for seed in 0..20 {
            let chosen = Landmarks::Spread.choose(&points, 10, seed).unwrap();
            assert_eq!(chosen.len(), 10);
            assert!(chosen.as_slice()[..2].contains(&1e3), "{seed}");
            let sparse = SparsePoints::from_dense(&points).unwrap();
            assert_eq!(Landmarks::Spread.choose(&sparse, 10, seed).unwrap(), chosen);
        }
    }

    #[test]
    fn bad_input_is_typed() {
        let none = Points::new(vec![], 1).unwrap();
        assert_eq!(Landmarks::Uniform.choose(&none, 1, 0), Err(InputError::Empty));
        let far = Points::new(vec![1e200, -1e200], 1).unwrap();
        assert!(Landmarks::Spread.choose(&far, 0, 0).is_err());
        assert!(matches!(Landmarks::Spread.choose(&far, 2, 0), Err(InputError::Overflow { .. })));
    }
}
