//! Target halfspaces `w*`.

use super::marginal::{Marginal, UnitSphere};
use crate::streams;
use halfspaces_linalg::{Halfspace, InputError, Label, PointSet, RowView, rng_for, zeros};
use rand::Rng;

/// A target with a uniformly random unit normal.
///
/// # Errors
/// [`InputError::ZeroDimension`].
///
/// ```
/// let target = halfspaces_data::random_target(5, 1)?;
/// assert_eq!(target.dim(), 5);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
pub fn random_target(dim: usize, seed: u64) -> Result<Halfspace, InputError> {
    random_target_with_rng(dim, &mut rng_for(streams::TARGET, seed))
}

/// Same as [`random_target`], with the caller's random number generator.
///
/// # Errors
/// [`InputError::ZeroDimension`].
pub fn random_target_with_rng<R: Rng + ?Sized>(
    dim: usize,
    rng: &mut R,
) -> Result<Halfspace, InputError> {
    let mut normal = zeros(1, dim)?;
    UnitSphere::new(dim)?.sample_into(rng, &mut normal);
    Halfspace::new(normal)
}

/// The halfspace whose unit normal points from the mean of the negative points to the mean of the positive points. It
/// is suitable as a target for relabelling real data: it has no parameters, and its labels are close to the original
/// ones.
///
/// # Errors
/// [`InputError::LengthMismatch`]; [`InputError::ZeroVector`] if a class is empty or the means are equal.
pub fn centroid_target<P: PointSet>(points: &P, labels: &[Label]) -> Result<Halfspace, InputError> {
    InputError::check_len(points.len(), labels.len())?;
    let count = |y| labels.iter().filter(|l| **l == y).count() as f64;
    let (positive, negative) = (count(Label::Positive), count(Label::Negative));
    if positive == 0.0 || negative == 0.0 {
        return Err(InputError::ZeroVector);
    }
    let mut normal = vec![0.0; points.dim()];
    for (x, y) in points.rows().zip(labels) {
        let weight = match y {
            Label::Positive => 1.0 / positive,
            Label::Negative => -1.0 / negative,
        };
        x.add_scaled_to(weight, &mut normal);
    }
    Halfspace::new(normal)?.normalised()
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_linalg::Points;

    #[test]
    fn centroid_target_joins_the_means() {
        let points = Points::from_rows(&[[1.0, 1.0], [3.0, 1.0], [-2.0, 1.0]]).unwrap();
        let [p, n] = [Label::Positive, Label::Negative];
        let target = centroid_target(&points, &[p, p, n]).unwrap();
        assert_eq!(target.normal(), [1.0, 0.0]);
        assert_eq!(centroid_target(&points, &[p, p, p]), Err(InputError::ZeroVector));
        assert!(centroid_target(&points, &[p]).is_err());
    }

    #[test]
    fn random_targets_differ_by_seed_alone() {
        assert_eq!(random_target(4, 1), random_target(4, 1));
        assert_ne!(random_target(4, 1), random_target(4, 2));
        assert_eq!(random_target(0, 1), Err(InputError::ZeroDimension));
    }
}
