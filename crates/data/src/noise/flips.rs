//! Noise added to existing labels, for example to real data.

use super::model::{NoiseModel, checked_flip_probability};
use crate::distributions::realizable::Realizable;
use halfspaces_linalg::{Classifier, InputError, Label, PointSet, RowView};
use rand::{Rng, RngExt};

/// Flips label i with probability `probabilities[i]`, independently.
///
/// # Errors
/// [`InputError::LengthMismatch`]; [`InputError::ParameterOutOfRange`] for a probability outside \[0, 1\].
///
/// ```
/// use halfspaces_data::flip_labels;
/// use halfspaces_linalg::Label::{Negative, Positive};
/// use rand::{SeedableRng, rngs::ChaCha8Rng};
/// let rng = ChaCha8Rng::seed_from_u64(1);
/// let flipped = flip_labels(&[Positive, Positive, Negative], &[0.0, 1.0, 1.0], rng)?;
/// assert_eq!(flipped, [Positive, Negative, Positive]);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
pub fn flip_labels<R: Rng>(
    labels: &[Label],
    probabilities: &[f64],
    mut rng: R,
) -> Result<Vec<Label>, InputError> {
    InputError::check_len(probabilities.len(), labels.len())?;
    for p in probabilities {
        let inside = (0.0..=1.0).contains(p);
        InputError::check_parameter("flip probability", *p, inside, "between 0 and 1")?;
    }
    let flip = |(y, p): (&Label, &f64)| if rng.random_bool(*p) { -*y } else { *y };
    Ok(labels.iter().zip(probabilities).map(flip).collect())
}

/// The flip probability η(x) of every point of a pool under `noise`. The result is the input of [`flip_labels`] and of
/// [`crate::Population::with_flips`]. If a `group` is given, points outside it (those with `false`) keep their labels.
///
/// # Errors
/// [`InputError::DimensionMismatch`], [`InputError::LengthMismatch`] for a group of another length,
/// [`InputError::ParameterOutOfRange`] for an invalid flip probability.
///
/// ```
/// use halfspaces_data::{
///     Builtin, Massart, Population, Realizable, Region, centroid_target, flip_labels, flip_probabilities,
/// };
/// use halfspaces_features::{FeatureMap, ZScore};
/// use halfspaces_linalg::PointSet;
/// use rand::{SeedableRng, rngs::ChaCha8Rng};
///
/// // Real points, labelled by a halfspace that nearly agrees with their own labels.
/// let (points, own, _) = Builtin::Wdbc.load()?.into_parts();
/// let (points, _) = ZScore::fit(&points)?.apply(&points)?.lifted().rescaled_to_unit_ball()?;
/// let target = centroid_target(&points, &own)?;
/// let pool = Realizable::new(points, target)?;
///
/// // Massart noise far from the boundary, on every second point only.
/// let noise = Massart::new(0.3, Region::Far(0.05))?;
/// let group: Vec<bool> = (0..569).map(|i| i % 2 == 0).collect();
/// let flips = flip_probabilities(&pool, &noise, Some(&group))?;
/// let noisy = flip_labels(pool.labels(), &flips, ChaCha8Rng::seed_from_u64(1))?;
/// assert_ne!(noisy, pool.labels());
///
/// let population = Population::with_flips(pool.points().clone(), pool.target(), flips)?;
/// assert!(population.opt().mean() <= 0.15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn flip_probabilities<P: PointSet, N: NoiseModel + ?Sized>(
    pool: &Realizable<P>,
    noise: &N,
    group: Option<&[bool]>,
) -> Result<Vec<f64>, InputError> {
    let (points, target) = (pool.points(), pool.target());
    if let Some(dim) = noise.dim() {
        InputError::check_dim(points.dim(), dim)?;
    }
    if let Some(group) = group {
        InputError::check_len(points.len(), group.len())?;
    }
    let mut dense = vec![0.0; points.dim()];
    let mut flips = Vec::with_capacity(points.len());
    for (i, x) in points.rows().enumerate() {
        let inside = group.is_none_or(|group| group[i]);
        if !inside {
            flips.push(0.0);
            continue;
        }
        dense.fill(0.0);
        x.add_scaled_to(1.0, &mut dense);
        flips.push(checked_flip_probability(noise, &dense, target.decision_value(x)?)?);
    }
    Ok(flips)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Marginal, Population};
    use crate::{Massart, Region, UnitSphere, random_target};
    use halfspaces_linalg::SparsePoints;
    use rand::SeedableRng;
    use rand::rngs::ChaCha8Rng;

    #[test]
    fn a_group_alone_is_flipped_as_often_as_stated() {
        let points = UnitSphere::new(3).unwrap().sample(4000, 1).unwrap();
        let target = random_target(3, 2).unwrap();
        let noise = Massart::new(0.25, Region::Side(random_target(3, 3).unwrap())).unwrap();
        let sparse = Realizable::new(SparsePoints::from_dense(&points).unwrap(), target.clone());
        let pool = Realizable::new(points.clone(), target).unwrap();
        let group: Vec<bool> = (0..4000).map(|i| i < 2000).collect();
        let flips = flip_probabilities(&pool, &noise, Some(&group)).unwrap();
        assert_eq!(flip_probabilities(&sparse.unwrap(), &noise, Some(&group)).unwrap(), flips);
        let noisy = flip_labels(pool.labels(), &flips, ChaCha8Rng::seed_from_u64(4)).unwrap();
        let flipped: Vec<usize> = (0..4000).filter(|i| noisy[*i] != pool.labels()[*i]).collect();
        assert!(flipped.iter().all(|i| group[*i] && flips[*i] > 0.0));
        let expected: f64 = flips.iter().sum();
        assert!((220.0..280.0).contains(&expected), "{expected}");
        assert!((flipped.len() as f64 - expected).abs() < 60.0);
        let population = Population::with_flips(points, pool.target(), flips).unwrap();
        assert!((population.opt().mean() - expected / 4000.0).abs() < 1e-12);
    }

    #[test]
    fn faults_are_typed() {
        let rng = || ChaCha8Rng::seed_from_u64(1);
        let labels = [Label::Positive];
        for p in [-0.1, 1.1, f64::NAN] {
            assert!(matches!(
                flip_labels(&labels, &[p], rng()),
                Err(InputError::ParameterOutOfRange { .. })
            ));
        }
        assert!(flip_labels(&labels, &[], rng()).is_err());
        let points = UnitSphere::new(3).unwrap().sample(5, 1).unwrap();
        let pool = Realizable::new(points, random_target(3, 2).unwrap()).unwrap();
        let noise = Massart::new(0.1, Region::Everywhere).unwrap();
        assert!(flip_probabilities(&pool, &noise, Some(&[true])).is_err());
        let elsewhere = Massart::new(0.1, Region::Side(random_target(2, 1).unwrap())).unwrap();
        assert!(flip_probabilities(&pool, &elsewhere, None).is_err());
    }
}
