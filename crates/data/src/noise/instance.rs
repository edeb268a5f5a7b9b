//! Learning problems under noise: a distribution of points, a target and a noise model.
//!
//! x is drawn from the marginal, and y = sign(w* · x) is flipped with probability η(x). Classifiers are evaluated on a
//! [`crate::Population`]: points drawn once, with the exact expectation over their labels.

use super::model::{NoiseModel, checked_flip_probability};
use super::population::Population;
use crate::distributions::finite::FiniteSupport;
use crate::distributions::marginal::Marginal;
use crate::streams;
use halfspaces_linalg::{
    Classifier, DenseRow, ExampleStream, Halfspace, InputError, Label, Points, getters, rng_for,
    zeros,
};
use rand::rngs::ChaCha8Rng;
use rand::{Rng, RngExt};

/// A learning problem: a marginal, a target w* of unit norm and a noise model.
///
/// ```
/// use halfspaces_data::{Instance, MarginBall, Massart, Region, random_target};
/// use halfspaces_linalg::{ExampleStream, PointSet};
///
/// let target = random_target(5, 1)?;
/// let noise = Massart::new(0.2, Region::Far(0.3))?;
/// let instance = Instance::new(MarginBall::new(&target, 0.1)?, target, noise)?;
///
/// // Train on an endless stream, or on a sample.
/// let mut stream = instance.stream(7);
/// assert!(stream.next_row()?.is_some());
/// let (points, labels) = instance.sample(100, 7)?;
/// assert_eq!(points.len(), labels.len());
///
/// // Evaluate on fresh points, with the exact expectation over their labels.
/// let population = instance.population(1000, 8)?;
/// let error = population.error(instance.target())?;
/// assert_eq!(error, population.opt());
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Instance<M, N> {
    marginal: M,
    target: Halfspace,
    noise: N,
}

impl<M: Marginal, N: NoiseModel> Instance<M, N> {
    /// Creates the problem if the dimensions agree and the stated noise rate is in \[0, 1/2\]. The target is scaled to
    /// norm 1.
    ///
    /// Each flip probability is checked only when it is used. If it is not between 0 and the rate, that use returns
    /// [`InputError::ParameterOutOfRange`].
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`], [`InputError::ZeroVector`],
    /// [`InputError::ParameterOutOfRange`].
    pub fn new(marginal: M, target: Halfspace, noise: N) -> Result<Self, InputError> {
        let target = target.normalised()?;
        InputError::check_dim(target.dim(), marginal.dim())?;
        if let Some(dim) = noise.dim() {
            InputError::check_dim(target.dim(), dim)?;
        }
        let inside = (0.0..=0.5).contains(&noise.rate());
        InputError::check_parameter("noise rate", noise.rate(), inside, "between 0 and 1/2")?;
        Ok(Instance { marginal, target, noise })
    }

    getters! {
        /// The distribution of the points.
        marginal: &M,

        /// The target w*, of norm 1.
        target: &Halfspace,

        /// The noise model.
        noise: &N,
    }

    /// Number of coordinates.
    pub fn dim(&self) -> usize {
        self.target.dim()
    }

    /// An endless stream of examples, drawn with the random stream of `seed`.
    pub fn stream(&self, seed: u64) -> InstanceStream<'_, M, N, ChaCha8Rng> {
        self.stream_with_rng(rng_for(streams::EXAMPLES, seed))
    }

    /// An endless stream of examples, drawn with the caller's random number generator (or a `&mut` of one).
    pub fn stream_with_rng<R: Rng>(&self, rng: R) -> InstanceStream<'_, M, N, R> {
        InstanceStream { instance: self, rng, row: vec![0.0; self.dim()] }
    }

    /// Draws the first `n` examples of [`Instance::stream`].
    ///
    /// # Errors
    /// [`InputError::TooLarge`], and the errors of the stream.
    pub fn sample(&self, n: usize, seed: u64) -> Result<(Points, Vec<Label>), InputError> {
        self.sample_with_rng(n, rng_for(streams::EXAMPLES, seed))
    }

    /// Draws the first `n` examples of [`Instance::stream_with_rng`].
    ///
    /// # Errors
    /// Same as [`Instance::sample`].
    pub fn sample_with_rng<R: Rng>(
        &self,
        n: usize,
        rng: R,
    ) -> Result<(Points, Vec<Label>), InputError> {
        let dim = self.dim();
        let mut values = zeros(n, dim)?;
        let mut labels = Vec::with_capacity(n);
        let mut stream = self.stream_with_rng(rng);
        for row in values.chunks_exact_mut(dim) {
            if let Some((x, y)) = stream.next_row()? {
                row.copy_from_slice(x.as_slice());
                labels.push(y);
            }
        }
        Ok((Points::new(values, dim)?, labels))
    }

    /// Draws `n` points with the random stream of `seed`, with their margins and flip probabilities, for the evaluation
    /// of classifiers.
    ///
    /// # Errors
    /// [`InputError::Empty`] for n = 0, [`InputError::TooLarge`], and the errors of the marginal and of the noise
    /// model.
    pub fn population(&self, n: usize, seed: u64) -> Result<Population, InputError> {
        let rng = &mut rng_for(streams::POPULATION, seed);
        Population::new(self.marginal.sample_with_rng(n, rng)?, &self.target, &self.noise)
    }
}

impl<N: NoiseModel> Instance<FiniteSupport, N> {
    /// The population that consists of the whole distribution, so that its means are exact.
    ///
    /// # Errors
    /// [`InputError::Overflow`]; [`InputError::ParameterOutOfRange`] for an invalid flip probability.
    pub fn exact_population(&self) -> Result<Population, InputError> {
        let (points, weights) = (self.marginal.points().clone(), self.marginal.probabilities());
        Population::weighted(points, weights, &self.target, &self.noise)
    }
}

/// The endless stream of examples of an [`Instance`].
///
/// ```
/// use halfspaces_data::{Instance, Rcn, UnitSphere, random_target};
/// use halfspaces_linalg::ExampleStream;
/// let instance = Instance::new(UnitSphere::new(3)?, random_target(3, 1)?, Rcn::new(0.1)?)?;
/// let mut stream = instance.stream(2);
/// let (x, y) = stream.next_row()?.unwrap();
/// # let _ = (x, y);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone)]
pub struct InstanceStream<'i, M, N, R> {
    instance: &'i Instance<M, N>,
    rng: R,
    /// The most recent point. The buffer is reused, so drawing an example allocates no memory.
    row: Vec<f64>,
}

impl<M: Marginal, N: NoiseModel, R: Rng> ExampleStream for InstanceStream<'_, M, N, R> {
    type Row<'a>
        = DenseRow<'a>
    where
        Self: 'a;
    type Error = InputError;

    fn dim(&self) -> usize {
        self.row.len()
    }

    fn next_row(&mut self) -> Result<Option<(DenseRow<'_>, Label)>, InputError> {
        let Instance { marginal, target, noise } = self.instance;
        marginal.sample_into(&mut self.rng, &mut self.row);
        let x = DenseRow::new(&self.row)?;
        let margin = target.decision_value(x)?;
        let flip = checked_flip_probability(noise, &self.row, margin)?;
        let truth = Label::from_sign(margin);
        let label = if self.rng.random_bool(flip) { -truth } else { truth };
        Ok(Some((x, label)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        GlmNoise, MarginBall, Massart, Rcn, Region, StandardLink, UnitSphere, random_target,
    };
    use halfspaces_linalg::PointSet;
    use proptest::prelude::*;

    /// The noise model of this crate with the number `kind`, for a target in R^`dim`.
    fn noise(kind: usize, rate: f64, dim: usize) -> Box<dyn NoiseModel> {
        let direction = random_target(dim, 99).unwrap();
        let massart = |region| Box::new(Massart::new(rate, region).unwrap());
        match kind {
            0 => Box::new(Rcn::new(rate).unwrap()),
            1 => massart(Region::Everywhere),
            2 => massart(Region::Side(direction)),
            3 => massart(Region::Far(0.3)),
            4 => massart(Region::Near(0.3)),
            5 => massart(Region::Disagreement(direction)),
            6 => Box::new(GlmNoise::new(StandardLink::logistic(6.0).unwrap()).unwrap()),
            _ => {
                let link = StandardLink::skewed_logistic(5.0, 0.5 * rate).unwrap();
                let glm = GlmNoise::new(link).unwrap().with_margin(0.1).unwrap();
                Box::new(glm.within(Region::Side(direction)).unwrap())
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn flip_probabilities_stay_within_the_rate(
            kind in 0usize..8, rate in 0.0..0.49f64, dim in 1usize..6, seed in 0u64..1000,
        ) {
            let target = random_target(dim, seed).unwrap();
            let ball = MarginBall::new(&target, 0.1).unwrap();
            let instance = Instance::new(ball, target, noise(kind, rate, dim)).unwrap();
            let population = instance.population(200, seed).unwrap();
            let bound = instance.noise().rate();
            prop_assert!(bound < 0.5 || kind == 6);
            prop_assert!(population.flip_probabilities().iter().all(|p| (0.0..=bound).contains(p)));
            prop_assert!(population.opt().mean() <= bound);
        }

        #[test]
        fn labels_are_flipped_as_often_as_stated(
            kind in 0usize..8, rate in 0.0..0.49f64, seed in 0u64..1000,
        ) {
            let target = random_target(3, seed).unwrap();
            let ball = MarginBall::new(&target, 0.1).unwrap();
            let instance = Instance::new(ball, target, noise(kind, rate, 3)).unwrap();
            let (points, labels) = instance.sample(3000, seed).unwrap();
            let drawn = Population::new(points, instance.target(), instance.noise()).unwrap();
            let wrong = labels.iter().zip(drawn.truth()).filter(|(y, t)| *y != t).count() as f64;
            let (expected, variance) = drawn
                .flip_probabilities()
                .iter()
                .fold((0.0, 0.0), |(m, v), p| (m + p, v + p * (1.0 - p)));
            prop_assert!((wrong - expected).abs() <= 5.0 * variance.sqrt() + 1e-9);
        }

        #[test]
        fn the_stream_is_the_sample(kind in 0usize..8, seed in 0u64..1000) {
            let target = random_target(4, seed).unwrap();
            let instance =
                Instance::new(UnitSphere::new(4).unwrap(), target, noise(kind, 0.3, 4)).unwrap();
            let (points, labels) = instance.sample(50, seed).unwrap();
            let mut stream = instance.stream(seed);
            for (x, y) in points.rows().zip(&labels) {
                prop_assert_eq!(stream.next_row().unwrap(), Some((x, *y)));
            }
            // A borrowed generator continues where it stopped.
            let mut rng = rng_for(streams::EXAMPLES, seed);
            let (first, _) = instance.sample_with_rng(20, &mut rng).unwrap();
            let (second, _) = instance.sample_with_rng(30, &mut rng).unwrap();
            let both = [first.as_slice(), second.as_slice()].concat();
            prop_assert_eq!(&both[..], points.as_slice());
        }
    }

    #[test]
    fn faults_are_typed() {
        struct Wild(f64, f64);
        impl NoiseModel for Wild {
            fn flip_probability(&self, _: &[f64], _: f64) -> f64 {
                self.0
            }
            fn rate(&self) -> f64 {
                self.1
            }
        }
        let sphere = || UnitSphere::new(3).unwrap();
        let target = || random_target(3, 1).unwrap();
        for p in [-0.1, 0.2, f64::NAN, 7.0] {
            let instance = Instance::new(sphere(), target(), Wild(p, 0.1)).unwrap();
            let out_of_range = |error| matches!(error, InputError::ParameterOutOfRange { .. });
            assert!(out_of_range(instance.stream(1).next_row().unwrap_err()));
            assert!(out_of_range(instance.sample(2, 1).unwrap_err()));
            assert!(out_of_range(instance.population(2, 1).unwrap_err()));
        }
        for rate in [-0.1, 0.6, f64::NAN] {
            assert!(Instance::new(sphere(), target(), Wild(0.1, rate)).is_err());
        }
        let flat = Halfspace::new(vec![1.0, 0.0]).unwrap();
        let mismatch = InputError::DimensionMismatch { expected: 2, found: 3 };
        assert_eq!(
            Instance::new(sphere(), flat.clone(), Rcn::new(0.1).unwrap()).unwrap_err(),
            mismatch
        );
        let elsewhere = Massart::new(0.1, Region::Side(flat)).unwrap();
        assert!(Instance::new(sphere(), target(), elsewhere).is_err());
        let none = Halfspace::new(vec![0.0; 3]).unwrap();
        assert!(Instance::new(sphere(), none, Rcn::new(0.1).unwrap()).is_err());
        let instance = Instance::new(sphere(), target(), Rcn::new(0.1).unwrap()).unwrap();
        assert_eq!(instance.population(0, 1).unwrap_err(), InputError::Empty);
        assert_eq!(instance.sample(0, 1).unwrap().1, []);
    }

    #[test]
    fn glm_rates_are_those_of_the_margin() {
        let link = StandardLink::two_rates(0.1, 0.3).unwrap();
        assert!((GlmNoise::new(link).unwrap().rate() - 0.3).abs() < 1e-15);
        let logistic = GlmNoise::new(StandardLink::logistic(4.0).unwrap()).unwrap();
        assert_eq!(logistic.rate(), 0.5);
        let far = logistic.clone().with_margin(0.25).unwrap();
        // (1 - tanh(1/2))/2 = 1/(1 + e).
        assert!((far.rate() - 1.0 / (1.0 + 1f64.exp())).abs() < 1e-15);
        assert!(far.flip_probability(&[], 0.1) <= far.rate());
        assert!(logistic.clone().with_margin(1.5).is_err());
        assert!(logistic.within(Region::Far(f64::NAN)).is_err());
    }
}
