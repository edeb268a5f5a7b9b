//! Evaluation of classifiers on points with known flip probabilities: the expectation over the labels is exact, and
//! only the points are sampled.

use super::link::Link;
use super::model::{NoiseModel, checked_flip_probability, full_noise};
use crate::distributions::finite::probabilities;
use halfspaces_linalg::{
    Classifier, Halfspace, InputError, Label, PointSet, Points, getters, margins,
};

/// A mean over a population, with its standard error. The standard error is 0 if the population is the whole
/// distribution ([`Population::weighted`]).
///
/// ```
/// use halfspaces_data::{Instance, Rcn, UnitSphere, random_target};
/// let instance = Instance::new(UnitSphere::new(3)?, random_target(3, 1)?, Rcn::new(0.1)?)?;
/// let opt = instance.population(100, 1)?.opt();
/// assert!((opt.mean() - 0.1).abs() < 1e-15 && opt.standard_error() < 1e-15);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PopulationMean {
    mean: f64,
    standard_error: f64,
}

impl PopulationMean {
    /// The mean.
    #[must_use]
    pub fn mean(self) -> f64 {
        self.mean
    }

    /// The standard error s/√n of the sample mean as an estimate of the mean of the distribution.
    #[must_use]
    pub fn standard_error(self) -> f64 {
        self.standard_error
    }
}

/// Points with their margins w* · x and flip probabilities η(x).
///
/// ```
/// use halfspaces_data::{Massart, Population, Region};
/// use halfspaces_linalg::{Halfspace, Label, Points};
/// let points = Points::from_rows(&[[0.9, 0.0], [0.1, 0.5]])?;
/// let target = Halfspace::new(vec![1.0, 0.0])?;
/// let population = Population::new(points, &target, &Massart::new(0.2, Region::Far(0.5))?)?;
/// assert_eq!(population.opt().mean(), 0.1);
/// // The second label is wrong, because this point's label is never flipped; the first is right with probability 0.8.
/// let labels = [Label::Positive, Label::Negative];
/// assert!((population.error_of_labels(&labels)?.mean() - 0.6).abs() < 1e-15);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Population {
    points: Points,
    margins: Vec<f64>,
    flips: Vec<f64>,
    /// Probabilities of the points if they are the whole support; `None` for a sample.
    weights: Option<Vec<f64>>,
}

impl Population {
    /// Creates a sample of a distribution, labelled by `target` (scaled to norm 1) under `noise`.
    ///
    /// # Errors
    /// [`InputError::Empty`], [`InputError::DimensionMismatch`], [`InputError::ZeroVector`];
    /// [`InputError::ParameterOutOfRange`] for an invalid flip probability.
    pub fn new<N: NoiseModel + ?Sized>(
        points: Points,
        target: &Halfspace,
        noise: &N,
    ) -> Result<Self, InputError> {
        if let Some(dim) = noise.dim() {
            InputError::check_dim(points.dim(), dim)?;
        }
        let margins = unit_margins(&points, target)?;
        let flips = points
            .rows()
            .zip(&margins)
            .map(|(x, m)| checked_flip_probability(noise, x.as_slice(), *m))
            .collect::<Result<_, _>>()?;
        Ok(Population { points, margins, flips, weights: None })
    }

    /// Same as [`Population::new`], with one given flip probability per point, each in \[0, 1/2\].
    ///
    /// # Errors
    /// Same as [`Population::new`]; [`InputError::LengthMismatch`].
    pub fn with_flips(
        points: Points,
        target: &Halfspace,
        flips: Vec<f64>,
    ) -> Result<Self, InputError> {
        InputError::check_len(points.len(), flips.len())?;
        for p in &flips {
            let inside = (0.0..=0.5).contains(p);
            InputError::check_parameter("flip probability", *p, inside, "between 0 and 1/2")?;
        }
        let margins = unit_margins(&points, target)?;
        Ok(Population { points, margins, flips, weights: None })
    }

    /// Creates a population that is a whole distribution on finitely many points. Point i has a probability
    /// proportional to `weights[i]`, and the standard error of means is 0.
    ///
    /// # Errors
    /// Same as [`Population::new`]; [`InputError::LengthMismatch`]; [`InputError::ParameterOutOfRange`] for a negative
    /// or non-finite weight, or if the sum of the weights is not positive and finite.
    pub fn weighted<N: NoiseModel + ?Sized>(
        points: Points,
        weights: &[f64],
        target: &Halfspace,
        noise: &N,
    ) -> Result<Self, InputError> {
        InputError::check_len(points.len(), weights.len())?;
        let weights = Some(probabilities(weights)?);
        Ok(Population { weights, ..Population::new(points, target, noise)? })
    }

    getters! {
        /// The points.
        points: &Points,

        /// The margins w* · x of the points.
        margins: &[f64],

        /// The flip probabilities η(x) of the points.
        flip_probabilities: &[f64] => flips,
    }

    /// The labels sign(w* · x) of the points.
    pub fn truth(&self) -> impl Iterator<Item = Label> {
        self.margins.iter().copied().map(Label::from_sign)
    }

    /// The probability of point i, which is 1/n in a sample.
    ///
    /// # Panics
    /// Panics if i is out of range.
    #[must_use]
    pub fn weight(&self, i: usize) -> f64 {
        assert!(i < self.flips.len(), "point {i} of {}", self.flips.len());
        self.weights.as_ref().map_or(1.0 / self.flips.len() as f64, |weights| weights[i])
    }

    /// The ℓ01 error of a halfspace: the mean over x of 1 - η(x) if the halfspace and w* label x differently, otherwise
    /// of η(x).
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`], [`InputError::Overflow`].
    pub fn error(&self, halfspace: &Halfspace) -> Result<PopulationMean, InputError> {
        self.error_of_labels(&halfspace.label_all(&self.points)?)
    }

    /// The ℓ01 error of any classifier, given the label that it assigns to every point.
    ///
    /// # Errors
    /// [`InputError::LengthMismatch`].
    pub fn error_of_labels(&self, labels: &[Label]) -> Result<PopulationMean, InputError> {
        InputError::check_len(self.flips.len(), labels.len())?;
        let each = self.truth().zip(labels).zip(&self.flips);
        Ok(self.mean(
            each.map(|((truth, label), flip)| if truth == *label { *flip } else { 1.0 - flip }),
        ))
    }

    /// The ℓ01 error of a halfspace minus that of w*. This is the mean of 1 - 2η(x) where the two differ and of 0
    /// elsewhere, so it is never negative. Its standard error is that of the difference.
    ///
    /// # Errors
    /// Same as [`Population::error`].
    pub fn excess(&self, halfspace: &Halfspace) -> Result<PopulationMean, InputError> {
        let labels = halfspace.label_all(&self.points)?;
        let each = self.truth().zip(&labels).zip(&self.flips);
        Ok(self.mean(each.map(
            |((truth, label), flip)| {
                if truth == *label { 0.0 } else { 1.0 - 2.0 * flip }
            },
        )))
    }

    /// The error of w*, opt = E\[η(x)\].
    #[must_use]
    pub fn opt(&self) -> PopulationMean {
        self.mean(self.flips.iter().copied())
    }

    /// The maximum error of w* that a GLM with link σ allows: opt_RCN = E\[(1 - |σ(w* · x)|)/2\].
    pub fn opt_rcn<L: Link + ?Sized>(&self, link: &L) -> PopulationMean {
        self.mean(self.margins.iter().map(|m| full_noise(link, *m)))
    }

    fn mean(&self, values: impl Iterator<Item = f64>) -> PopulationMean {
        let n = self.flips.len() as f64;
        match &self.weights {
            Some(weights) => {
                let mean = values.zip(weights).map(|(v, w)| v * w).sum();
                PopulationMean { mean, standard_error: 0.0 }
            }
            None => {
                // Welford's algorithm avoids cancellation between close values.
                let (mut mean, mut squares, mut count) = (0.0, 0.0, 0.0);
                for v in values {
                    count += 1.0;
                    let step = v - mean;
                    mean += step / count;
                    squares += step * (v - mean);
                }
                let variance: f64 = if n > 1.0 { squares / (n - 1.0) } else { 0.0 };
                PopulationMean { mean, standard_error: (variance / n).sqrt() }
            }
        }
    }
}

/// The margins w* · x of the points, with w* scaled to norm 1.
fn unit_margins(points: &Points, target: &Halfspace) -> Result<Vec<f64>, InputError> {
    if points.is_empty() {
        return Err(InputError::Empty);
    }
    margins(points, target.clone().normalised()?.normal())
}

#[cfg(test)]
mod tests {
    use super::*;
    /// The standard error is √(s²/n) with s² = 0.02, for flip probabilities of 0.1 and 0.3.
    #[test]
    fn the_standard_error_of_two_points_by_hand() {
        let points = Points::from_rows(&[[1.0], [1.0]]).unwrap();
        let target = Halfspace::new(vec![1.0]).unwrap();
        let opt = Population::with_flips(points, &target, vec![0.1, 0.3]).unwrap().opt();
        assert!((opt.mean() - 0.2).abs() < 1e-12 && (opt.standard_error() - 0.1).abs() < 1e-12);
    }

    #[test]
    fn points_of_a_sample_weigh_the_same() {
        let points = Points::from_rows(&[[1.0], [-1.0], [0.5], [0.25]]).unwrap();
        let target = Halfspace::new(vec![1.0]).unwrap();
        let population = Population::with_flips(points, &target, vec![0.1; 4]).unwrap();
        assert_eq!((0..4).map(|i| population.weight(i)).collect::<Vec<_>>(), [0.25; 4]);
    }
}
