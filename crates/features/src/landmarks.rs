//! Chooses the landmarks of Nyström maps.

use crate::streams;
use halfspaces_linalg::{InputError, PointSet, Points, RowView, rng_for, zeros};
use rand::seq::index::sample;

/// Draws `count` distinct rows uniformly at random, as the landmarks of a [`Nystroem`](crate::Nystroem) map. The
/// landmarks are in random order. If there are at most `count` points, all of them are returned, again in random order.
/// Takes O(md) time for m landmarks in d dimensions.
///
/// # Errors
/// [`InputError::Empty`] if there are no points; [`InputError::ParameterOutOfRange`] if `count` is 0;
/// [`InputError::TooLarge`] if the landmarks do not fit in memory.
///
/// ```
/// use halfspaces_features::choose_landmarks;
/// use halfspaces_linalg::{PointSet, Points};
/// let points = Points::new(vec![0.0, 1.0, 2.0, 3.0, 9.0], 1)?;
/// assert_eq!(choose_landmarks(&points, 3, 1)?.len(), 3);
/// assert_eq!(choose_landmarks(&points, 8, 1)?.len(), 5);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
pub fn choose_landmarks<P: PointSet>(
    points: &P,
    count: usize,
    seed: u64,
) -> Result<Points, InputError> {
    if points.is_empty() {
        return Err(InputError::Empty);
    }
    InputError::check_parameter("landmarks", count as f64, count > 0, "at least 1")?;
    let (n, dim) = (points.len(), points.dim());
    let count = count.min(n);
    let mut rng = rng_for(streams::LANDMARKS, seed);
    let mut rows = zeros(count, dim)?;
    for (index, row) in sample(&mut rng, n, count).into_iter().zip(rows.chunks_exact_mut(dim)) {
        let Some(x) = points.row(index) else {
            unreachable!("indices are drawn below the number of points")
        };
        x.add_scaled_to(1.0, row);
    }
    Points::new(rows, dim)
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_linalg::SparsePoints;

    #[test]
    fn landmarks_are_different_rows() {
        let points = Points::new((0..50).map(f64::from).collect(), 1).unwrap();
        let sparse = SparsePoints::from_dense(&points).unwrap();
        for (count, expected) in [(1, 1), (20, 20), (50, 50), (60, 50)] {
            let chosen = choose_landmarks(&points, count, 4).unwrap();
            assert_eq!(choose_landmarks(&sparse, count, 4).unwrap(), chosen);
            let mut chosen = chosen.into_vec();
            chosen.sort_by(f64::total_cmp);
            chosen.dedup();
            assert_eq!(chosen.len(), expected);
        }
    }

    #[test]
    fn bad_input_is_typed() {
        let none = Points::new(vec![], 1).unwrap();
        assert_eq!(choose_landmarks(&none, 1, 0), Err(InputError::Empty));
        let points = Points::new(vec![1.0, 2.0], 1).unwrap();
        assert!(choose_landmarks(&points, 0, 0).is_err());
    }
}
