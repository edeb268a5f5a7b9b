//! The Perspectron for a sample of fixed size, with nothing known beforehand.
//!
//! The sample is split; on the larger part Perspectrons for several guesses of the noise rate and the
//! margin run side by side, with the step that their theorem has for as many examples as there are; a few
//! random iterates of each, and their mean, are candidates; the one with fewest errors on the smaller part
//! is returned.
//!
//! *Guarantee.* Whatever the data, as long as the examples are independent: with probability at least
//! 1 - δ the error of the result on fresh examples is at most [`SampleFit::error_bound`], its rate on the
//! held-out part + √(ln(|H|/δ)/(2m)). Under Massart noise, with one pass and a guess that is right, the
//! average error of that guess's iterates is at most η + [`schedule::average_excess_max`]. Several passes
//! and the mean as a candidate are heuristics: they cannot spoil the first guarantee.
//!
//! *Source.* CKST24 Algorithm 1 and Appendix A, cut to the examples at hand.

use crate::fit::{Denominator, Direction, SignLink};
use crate::fit::{Fit, Fitting, Kept, Lane, Placement, Settings};
use crate::perspectron::Margin;

use crate::schedule;
use crate::selection::Elimination;
use halfspaces_linalg::{AffineHalfspace, InputError, Label, PointSet, RngStream, rng_for};
use rand::seq::SliceRandom;

/// Guesses of the noise rate when it is unknown.
pub const NOISE_GUESSES: [f64; 6] = [0.0, 0.05, 0.1, 0.2, 0.3, 0.4];

/// No point may be longer, and not all may be shorter than its reciprocal.
const LARGEST_NORM: f64 = 1e150;

/// Unchecked parameters of a [`SamplePerspectron`].
///
/// ```
/// use halfspaces_pac::{Margin, SamplePerspectron};
/// let params = SamplePerspectron::params().noise(0.2).margin(Margin::Known(0.1)).passes(3);
/// assert!(params.check().is_ok());
/// assert!(params.held_out(1.0).check().is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SampleParams {
    noise: Option<f64>,
    margin: Margin,
    held_out: f64,
    passes: u64,
    candidates: u64,
    lift: bool,
    seed: u64,
}

impl SampleParams {
    /// η, where it is known. Unless set [`NOISE_GUESSES`] are tried.
    #[must_use]
    pub fn noise(mut self, noise: f64) -> Self {
        self.noise = Some(noise);
        self
    }

    /// What is known of the margin, as a share of the largest norm learned from (after lifting, if
    /// asked for). Default: At least 1/256.
    #[must_use]
    pub fn margin(mut self, margin: Margin) -> Self {
        self.margin = margin;
        self
    }

    /// The share of the sample held out for the choice. Default: 0.2.
    #[must_use]
    pub fn held_out(mut self, share: f64) -> Self {
        self.held_out = share;
        self
    }

    /// How often the rest is gone through. Default: Once.
    #[must_use]
    pub fn passes(mut self, passes: u64) -> Self {
        self.passes = passes;
        self
    }

    /// Iterates kept a guess. Default: 32.
    #[must_use]
    pub fn candidates(mut self, candidates: u64) -> Self {
        self.candidates = candidates;
        self
    }

    /// Whether the halfspace sought has a bias. Default: It has.
    #[must_use]
    pub fn lift(mut self, lift: bool) -> Self {
        self.lift = lift;
        self
    }

    /// Seed of the split and of the draws. Default: 0.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Checks the parameters.
    ///
    /// # Errors
    /// [`InputError::ParameterOutOfRange`] for η outside [0, 1/2), a margin outside (0, 1], a held-out
    /// share outside (0, 1), no pass or no candidate.
    pub fn check(self) -> Result<SamplePerspectron, InputError> {
        if let Some(noise) = self.noise {
            crate::noise_setting::check_noise(noise)?;
        }
        self.margin.check(1.0)?;
        let in_range = self.held_out > 0.0 && self.held_out < 1.0;
        let requirement = "above 0 and below 1";
        InputError::check_parameter("held-out share", self.held_out, in_range, requirement)?;
        for (name, value) in [("passes", self.passes), ("candidates", self.candidates)] {
            InputError::check_parameter(name, value as f64, value > 0, "at least 1")?;
        }
        Ok(SamplePerspectron(self))
    }
}

/// The Perspectron for a sample of fixed size.
///
/// ```
/// use halfspaces_data::{Instance, MarginBall, Massart, Region, random_target};
/// use halfspaces_pac::SamplePerspectron;
/// let target = random_target(5, 1)?;
/// let noise = Massart::new(0.2, Region::Far(0.4))?;
/// let instance = Instance::new(MarginBall::new(&target, 0.2)?, target, noise)?;
/// let (points, labels) = instance.sample(5000, 2)?;
///
/// let fit = SamplePerspectron::params().lift(false).check()?.fit(&points, &labels)?;
/// let error = instance.population(5000, 3)?.error(fit.classifier().linear())?.mean();
/// assert!(error <= 0.25 && error <= fit.error_bound(0.05));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SamplePerspectron(SampleParams);

/// What a [`SamplePerspectron`] has found.
///
/// ```
/// use halfspaces_data::Builtin;
/// use halfspaces_pac::SamplePerspectron;
/// let data = Builtin::Wdbc.load()?;
/// let fit = SamplePerspectron::params().check()?.fit(data.points(), data.labels())?;
/// let rate = fit.held_out_errors() as f64 / fit.held_out() as f64;
/// let accuracy = ((fit.candidates() as f64 / 0.05).ln() / (2.0 * fit.held_out() as f64)).sqrt();
/// assert_eq!(fit.error_bound(0.05), rate + accuracy);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "RawSampleFit"))]
pub struct SampleFit {
    classifier: AffineHalfspace,
    noise: f64,
    margin: f64,
    candidates: usize,
    held_out: u64,
    errors: u64,
    trained: u64,
}

/// What a [`SampleFit`] looks like before it is checked.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
struct RawSampleFit {
    classifier: AffineHalfspace,
    noise: f64,
    margin: f64,
    candidates: usize,
    held_out: u64,
    errors: u64,
    trained: u64,
}

#[cfg(feature = "serde")]
impl TryFrom<RawSampleFit> for SampleFit {
    type Error = InputError;

    fn try_from(raw: RawSampleFit) -> Result<Self, InputError> {
        let RawSampleFit { classifier, noise, margin, candidates, held_out, errors, trained } = raw;
        let fits = errors <= held_out && held_out > 0 && candidates > 0;
        let requirement = "at most the examples held out, of which there are some";
        InputError::check_parameter("errors", errors as f64, fits, requirement)?;
        Ok(SampleFit { classifier, noise, margin, candidates, held_out, errors, trained })
    }
}

impl SampleFit {
    /// The halfspace, for points as they were given.
    #[must_use]
    pub fn classifier(&self) -> &AffineHalfspace {
        &self.classifier
    }

    /// η of the guess that won.
    #[must_use]
    pub fn noise(&self) -> f64 {
        self.noise
    }

    /// γ of the guess that won, as a share of the largest norm.
    #[must_use]
    pub fn margin(&self) -> f64 {
        self.margin
    }

    /// |H|: candidates compared.
    #[must_use]
    pub fn candidates(&self) -> usize {
        self.candidates
    }

    /// m: examples they were compared on.
    #[must_use]
    pub fn held_out(&self) -> u64 {
        self.held_out
    }

    /// Errors among them.
    #[must_use]
    pub fn held_out_errors(&self) -> u64 {
        self.errors
    }

    /// Steps made a guess: examples learned from times passes.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.trained
    }

    /// What the error on fresh examples (noise included) is at most, except with probability
    /// `failure`: the held-out rate + √(ln(|H|/failure)/(2m)) (Hoeffding, for all candidates at once). A
    /// `failure` outside (0, 1] gives infinity: nothing is bounded so.
    #[must_use]
    pub fn error_bound(&self, failure: f64) -> f64 {
        if !(failure > 0.0 && failure <= 1.0) {
            return f64::INFINITY;
        }
        let m = self.held_out as f64;
        let accuracy = ((self.candidates as f64 / failure).ln() / (2.0 * m)).sqrt();
        self.errors as f64 / m + accuracy
    }
}

impl SamplePerspectron {
    /// With nothing known.
    #[must_use]
    pub fn params() -> SampleParams {
        SampleParams {
            noise: None,
            margin: Margin::AtLeast(1.0 / 256.0),
            held_out: 0.2,
            passes: 1,
            candidates: 32,
            lift: true,
            seed: 0,
        }
    }

    /// Learns from a sample, dense or sparse, of any scale between 1e-150 and 1e150.
    ///
    /// # Errors
    /// [`InputError::Empty`] for fewer than two points, [`InputError::LengthMismatch`],
    /// [`InputError::ZeroVector`] if the points to learn from are all zero or shorter than 1e-150,
    /// [`InputError::Overflow`] for a point longer than 1e150.
    pub fn fit<P: PointSet>(&self, points: &P, labels: &[Label]) -> Result<SampleFit, InputError> {
        let SampleParams { held_out, passes, candidates, lift, seed, .. } = self.0;
        InputError::check_len(points.len(), labels.len())?;
        if points.len() < 2 {
            return Err(InputError::Empty);
        }
        let norms = points.norms();
        // Squares, and the scale 1/R, must stay within f64.
        if let Some(row) = norms.iter().position(|r| r.is_nan() || *r > LARGEST_NORM) {
            return Err(InputError::Overflow { row });
        }
        let mut rng = rng_for(RngStream::Split, seed);
        let mut order: Vec<usize> = (0..points.len()).collect();
        order.shuffle(&mut rng);
        let kept_back = (held_out * points.len() as f64).round() as usize;
        let kept_back = kept_back.clamp(1, points.len() - 1);
        let (validation, training) = order.split_at_mut(kept_back);
        let steps = (training.len() as u64).saturating_mul(passes);
        // Nothing of the held-out part reaches the candidates, its largest norm included.
        let radius = training.iter().filter_map(|&i| norms.get(i)).copied().fold(0.0, f64::max);
        if radius < 1.0 / LARGEST_NORM {
            return Err(InputError::ZeroVector);
        }

        let guesses = self.guesses();
        let lane = |&(noise, margin): &(f64, f64)| {
            let direction = Direction {
                link: SignLink { level: 1.0 - 2.0 * noise },
                denominator: Denominator::AtLeast(margin),
            };
            let step = schedule::step(noise, margin, steps);
            let kept = Kept::drawn(candidates, steps, &mut rng)?;
            Ok(Lane::new(direction, step, 1, steps, kept))
        };
        let lanes = guesses.iter().map(lane).collect::<Result<_, InputError>>()?;
        let settings = Settings {
            placement: Placement { scale: 1.0 / radius, lift },
            project: true,
            elimination: Elimination::Lossless,
            seed,
        };
        let mut fitting =
            Fitting::new(points.dim(), lanes, validation.len() as u64, settings, None, 1.0)?
                .with_means()
                .with_clipping();
        for _ in 0..passes {
            for &i in training.iter() {
                observe(&mut fitting, points, labels, i)?;
            }
            training.shuffle(&mut rng);
        }
        for &i in validation.iter() {
            observe(&mut fitting, points, labels, i)?;
        }
        let fit: Fit = fitting.finish()?;
        let (noise, margin) = guesses.get(fit.origin().lane).copied().unwrap_or_default();
        Ok(SampleFit {
            classifier: fit.affine()?,
            noise,
            margin,
            candidates: fit.candidates(),
            held_out: fit.validation(),
            errors: fit.validation_errors(),
            trained: fit.training(),
        })
    }

    /// Noise rate and margin of each guess.
    fn guesses(&self) -> Vec<(f64, f64)> {
        let noises = self.0.noise.map_or(NOISE_GUESSES.to_vec(), |noise| vec![noise]);
        let margins = self.0.margin.guesses(1.0);
        noises.iter().flat_map(|&n| margins.iter().map(move |&m| (n, m))).collect()
    }
}

fn observe<P: PointSet>(
    fitting: &mut Fitting<SignLink>,
    points: &P,
    labels: &[Label],
    index: usize,
) -> Result<(), InputError> {
    if let (Some(x), Some(label)) = (points.row(index), labels.get(index)) {
        fitting.observe(x, *label)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorCount;
    use halfspaces_data::{Builtin, Instance, MarginBall, Rcn, ZScore, random_target};
    use halfspaces_linalg::{Classifier, Points, RowView, SparsePoints};
    use proptest::prelude::*;

    fn noisy(n: usize, seed: u64) -> (Points, Vec<Label>) {
        let target = random_target(4, 1).unwrap();
        let ball = MarginBall::new(&target, 0.2).unwrap();
        let instance = Instance::new(ball, target, Rcn::new(0.2).unwrap()).unwrap();
        instance.sample(n, seed).unwrap()
    }

    /// Points of any scale, dense or sparse, give the same classifier.
    #[test]
    fn scale_and_form_do_not_matter() {
        let (points, labels) = noisy(800, 2);
        let learner = SamplePerspectron::params().check().unwrap();
        let fit = learner.fit(&points, &labels).unwrap();
        let sparse = SparsePoints::from_dense(&points).unwrap();
        assert_eq!(learner.fit(&sparse, &labels).unwrap(), fit);
        let large = Points::new(points.as_slice().iter().map(|v| v * 1024.0).collect(), 4).unwrap();
        let scaled = learner.fit(&large, &labels).unwrap();
        for (x, big) in points.rows().zip(large.rows()) {
            assert_eq!(fit.classifier().label(x), scaled.classifier().label(big));
            assert!(x.norm_sq() < big.norm_sq());
        }
        assert_eq!((fit.held_out(), fit.steps()), (160, 640));
        assert!(fit.candidates() > 1000);
    }

    /// Real points with their own labels, on examples not learned from.
    #[test]
    fn real_data() {
        let (points, labels, _) = Builtin::Wdbc.load().unwrap().into_parts();
        let points = ZScore::fit(&points).unwrap().apply(&points).unwrap();
        let (first, last): (Vec<usize>, Vec<usize>) = (0..569).partition(|i| i % 4 != 0);
        let of = |part: &[usize]| -> Vec<Label> { part.iter().map(|&i| labels[i]).collect() };
        let learner = SamplePerspectron::params().passes(20).check().unwrap();
        let fit = learner.fit(&points.select(&first).unwrap(), &of(&first)).unwrap();
        let fresh = points.select(&last).unwrap();
        let error = ErrorCount::count(fit.classifier(), &fresh, &of(&last)).unwrap().rate();
        assert!(error < 0.08, "{error}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        /// The bound on the error holds far more often than it must.
        #[test]
        fn the_bound_holds(seed in 0u64..1000) {
            let (points, labels) = noisy(400, seed);
            let fit = SamplePerspectron::params().check().unwrap().fit(&points, &labels).unwrap();
            let (points, labels) = noisy(4000, seed + 5000);
            let error = ErrorCount::count(fit.classifier(), &points, &labels).unwrap().rate();
            prop_assert!(error <= fit.error_bound(0.05), "{} {}", error, fit.error_bound(0.05));
        }
    }

    #[test]
    fn bad_input_is_typed() {
        let base = SamplePerspectron::params;
        for params in [
            base().noise(0.5),
            base().margin(Margin::Known(0.0)),
            base().margin(Margin::AtLeast(1.5)),
            base().held_out(0.0),
            base().passes(0),
            base().candidates(0),
        ] {
            assert!(matches!(params.check(), Err(InputError::ParameterOutOfRange { .. })));
        }
        let learner = base().check().unwrap();
        let (points, labels) = noisy(10, 1);
        assert!(matches!(
            learner.fit(&points, &labels[1..]),
            Err(InputError::LengthMismatch { points: 10, labels: 9 })
        ));
        let one = points.select(&[0]).unwrap();
        assert_eq!(learner.fit(&one, &labels[..1]), Err(InputError::Empty));
        let zeros = Points::new(vec![0.0; 6], 2).unwrap();
        assert_eq!(learner.fit(&zeros, &labels[..3]), Err(InputError::ZeroVector));
        assert!(learner.fit(&points.select(&[0, 1]).unwrap(), &labels[..2]).is_ok());
        let long = Points::from_rows(&[[1.0], [1e200]]).unwrap();
        assert_eq!(learner.fit(&long, &labels[..2]), Err(InputError::Overflow { row: 1 }));
        let many = base().candidates(u64::MAX).check().unwrap();
        assert!(matches!(many.fit(&points, &labels), Err(InputError::TooLarge { .. })));
    }

    /// A far point that is held out changes nothing but the count.
    #[test]
    fn the_held_out_part_does_not_reach_the_candidates() {
        let (points, labels) = noisy(200, 3);
        let learner = SamplePerspectron::params().candidates(1).margin(Margin::Known(0.2));
        let learner = learner.noise(0.2).check().unwrap();
        let values: Vec<f64> = points.as_slice().iter().map(|v| v * 1e-10).collect();
        let with_far = |i: usize, factor: f64| {
            let mut values = values.clone();
            values[4 * i..4 * (i + 1)].iter_mut().for_each(|v| *v *= factor);
            learner.fit(&Points::new(values, 4).unwrap(), &labels).unwrap()
        };
        let fit = with_far(0, 1.0);
        let mut changed = 0;
        for i in 0..200 {
            let far = with_far(i, 100.0);
            let mut both = far.classifier().weights().iter().zip(fit.classifier().weights());
            if both.any(|(a, b)| a.to_bits() != b.to_bits()) {
                changed += 1;
                continue;
            }
            // So far out that the square of the point, in units of the radius, overflows.
            let farther = with_far(i, 1e159);
            assert_eq!(farther.classifier(), far.classifier(), "{i}");
            assert_eq!(farther.held_out_errors(), far.held_out_errors(), "{i}");
        }
        // The 160 learned from do; of the 40 others only those that change the choice may.
        assert!((160..175).contains(&changed), "{changed}");
    }
}
