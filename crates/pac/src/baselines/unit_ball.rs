//! Checks that samples lie in the unit ball, and projects vectors onto it.

use halfspaces_linalg::{InputError, Label, PointSet, RowView, norm};

/// Checks that there is at least one point and one label per point, and that all norms are at most 1.
pub(super) fn check_sample<P: PointSet>(points: &P, labels: &[Label]) -> Result<(), InputError> {
    InputError::check_len(points.len(), labels.len())?;
    if labels.is_empty() {
        return Err(InputError::Empty);
    }
    points.rows().enumerate().try_for_each(|(row, x)| check_point(x).map_err(|e| e.at_row(row)))
}

/// Checks that the norm of a point is at most 1.
pub(super) fn check_point<R: RowView>(x: R) -> Result<(), InputError> {
    InputError::check_in_ball(x.norm_sq())
}

/// Moves w to the nearest point of the unit ball.
pub(super) fn project(w: &mut [f64]) {
    let length = norm(w);
    if length > 1.0 {
        w.iter_mut().for_each(|v| *v /= length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_linalg::Points;

    #[test]
    fn projection_by_hand() {
        let mut inside = [0.3, -0.4];
        project(&mut inside);
        assert_eq!(inside, [0.3, -0.4]);
        let mut outside = [3.0, -4.0];
        project(&mut outside);
        assert_eq!(outside, [0.6, -0.8]);
    }

    #[test]
    fn bad_samples_are_typed() {
        let [p, n] = [Label::Positive, Label::Negative];
        let points = Points::from_rows(&[[0.6, 0.8], [0.0, 0.0]]).unwrap();
        assert_eq!(check_sample(&points, &[p, n]), Ok(()));
        assert!(matches!(check_sample(&points, &[p]), Err(InputError::LengthMismatch { .. })));
        let none = Points::new(vec![], 2).unwrap();
        assert_eq!(check_sample(&none, &[]), Err(InputError::Empty));
        for far in [1.01, 1e200] {
            let far = Points::from_rows(&[[0.0, 0.0], [0.0, far]]).unwrap();
            let Err(InputError::OutsideBall { row, norm }) = check_sample(&far, &[p, n]) else {
                panic!("{far:?}")
            };
            assert_eq!((row, norm > 1.0), (1, true));
        }
    }
}
