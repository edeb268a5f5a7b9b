//! Distributions on finitely many points, for which every expectation is a finite sum.

use super::marginal::Marginal;
use halfspaces_linalg::{InputError, PointSet, Points, getters};
use rand::{Rng, RngExt};

/// A distribution on finitely many points.
///
/// ```
/// use halfspaces_data::{FiniteSupport, Marginal};
/// use halfspaces_linalg::Points;
/// let coin = FiniteSupport::new(Points::from_rows(&[[1.0], [-1.0]])?, &[3.0, 1.0])?;
/// assert_eq!(coin.probabilities(), [0.75, 0.25]);
/// let tosses = coin.sample(1000, 1)?;
/// # let heads = tosses.as_slice().iter().filter(|v| **v > 0.0).count();
/// # assert!((690..810).contains(&heads));
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct FiniteSupport {
    points: Points,
    probabilities: Vec<f64>,
}

impl FiniteSupport {
    /// Creates the distribution in which point i has a probability proportional to `weights[i]`.
    ///
    /// # Errors
    /// [`InputError::Empty`], [`InputError::LengthMismatch`];
    /// [`InputError::ParameterOutOfRange`] for a negative or non-finite weight, or if the sum of the weights is not
    /// positive and finite.
    pub fn new(points: Points, weights: &[f64]) -> Result<Self, InputError> {
        if points.is_empty() {
            return Err(InputError::Empty);
        }
        InputError::check_len(points.len(), weights.len())?;
        Ok(FiniteSupport { points, probabilities: probabilities(weights)? })
    }

    getters! {
        /// The points.
        points: &Points,

        /// The probabilities of the points, which sum to 1.
        probabilities: &[f64],
    }
}

impl Marginal for FiniteSupport {
    fn dim(&self) -> usize {
        self.points.dim()
    }

    fn sample_into<R: Rng + ?Sized>(&self, rng: &mut R, out: &mut [f64]) {
        let out = &mut out[..self.dim()];
        let mut left: f64 = rng.random();
        let possible = self.points.rows().zip(&self.probabilities).filter(|(_, p)| **p > 0.0);
        // Rounding may leave a small remainder of the probability after the last point. This remainder belongs to the
        // last point.
        for (x, p) in possible {
            out.copy_from_slice(x.as_slice());
            left -= p;
            if left < 0.0 {
                return;
            }
        }
    }
}

/// Scales the weights so that they sum to 1.
pub(crate) fn probabilities(weights: &[f64]) -> Result<Vec<f64>, InputError> {
    for weight in weights {
        let inside = *weight >= 0.0 && weight.is_finite();
        InputError::check_parameter("weight", *weight, inside, "finite and at least 0")?;
    }
    let sum: f64 = weights.iter().sum();
    let inside = sum > 0.0 && sum.is_finite();
    InputError::check_parameter("sum of weights", sum, inside, "positive and finite")?;
    Ok(weights.iter().map(|w| w / sum).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Instance, Massart, Region};
    use halfspaces_linalg::Halfspace;

    #[test]
    fn samples_tend_to_the_exact_means() {
        let points =
            Points::from_rows(&[[0.8, 0.1], [-0.2, 0.4], [0.1, -0.9], [0.3, 0.3]]).unwrap();
        let support = FiniteSupport::new(points, &[1.0, 2.0, 0.0, 5.0]).unwrap();
        let target = Halfspace::new(vec![1.0, 0.0]).unwrap();
        let noise = Massart::new(0.4, Region::Far(0.5)).unwrap();
        let instance = Instance::new(support, target, noise).unwrap();
        let exact = instance.exact_population().unwrap();
        let other = Halfspace::new(vec![0.0, 1.0]).unwrap();
        // Computed by hand: opt = 0.4/8, and the other halfspace errs only on the second point.
        assert!((exact.opt().mean() - 0.05).abs() < 1e-15);
        assert!((exact.error(&other).unwrap().mean() - 0.3).abs() < 1e-15);
        assert_eq!(exact.opt().standard_error(), 0.0);
        let sampled = instance.population(4000, 1).unwrap();
        for (a, b) in [
            (sampled.opt(), exact.opt()),
            (sampled.error(&other).unwrap(), exact.error(&other).unwrap()),
            (sampled.excess(&other).unwrap(), exact.excess(&other).unwrap()),
        ] {
            assert!(a.standard_error() > 0.0);
            assert!((a.mean() - b.mean()).abs() < 4.0 * a.standard_error());
        }
        assert!(sampled.points().rows().all(|x| x.as_slice() != [0.1, -0.9]));
    }

    #[test]
    fn weights_are_checked() {
        let points = || Points::from_rows(&[[1.0], [2.0]]).unwrap();
        for bad in [[-1.0, 2.0], [0.0, 0.0], [f64::NAN, 1.0], [f64::MAX, f64::MAX]] {
            assert!(FiniteSupport::new(points(), &bad).is_err(), "{bad:?}");
        }
        assert!(FiniteSupport::new(points(), &[1.0]).is_err());
        assert!(FiniteSupport::new(Points::new(vec![], 1).unwrap(), &[]).is_err());
    }
}
