//! The Perspectron for a sample of fixed size, if the noise rate and the margin are unknown.
//!
//! The documentation of [`SamplePerspectron`] describes the method and its guarantee.
//!
//! *Source.* CKST24 Algorithm 1 and Appendix A, with the examples of a sample.
//!
//! Claims: P10, P10o, P12p, PR, PRe.

use super::margin::Margin;
use crate::error_count::ErrorBound;
use crate::fit::{Denominator, Direction, Fitting, Lane, Placement, Retention, Settings, SignLink};
use crate::noise_setting::check_noise;
#[cfg(feature = "serde")]
use crate::saved::{CheckSaved, saved};
use crate::streams;

use crate::schedule;
use crate::selection::Elimination;
use halfspaces_linalg::{
    AffineHalfspace, FitSample, InputError, Label, Params, PointSet, Threads, classify_by, getters,
    load_checked, rng_for, setters,
};
use rand::seq::SliceRandom;

/// The guesses for an unknown noise rate.
const NOISE_GUESSES: [f64; 6] = [0.0, 0.05, 0.1, 0.2, 0.3, 0.4];

/// The largest allowed norm of a point. At least one training point must have a norm of at least the reciprocal of this
/// number.
const LARGEST_NORM: f64 = 1e150;

/// Unchecked parameters of a [`SamplePerspectron`].
///
/// ```
/// use halfspaces_linalg::Params;
/// use halfspaces_pac::{Margin, SamplePerspectron};
/// let params = SamplePerspectron::params().noise(0.2).margin(Margin::Known(0.1)).passes(3);
/// assert!(params.check().is_ok());
/// assert!(params.held_out(1.0).check().is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampleParams {
    noise: Option<f64>,
    margin: Margin,
    held_out: f64,
    passes: u64,
    candidates: u64,
    lift: bool,
    threads: Threads,
    seed: u64,
}

impl SampleParams {
    setters! {
        /// The noise rate η, if it is known. Default: the fit tries 0, 0.05, 0.1, 0.2, 0.3 and 0.4.
        noise: Some(f64),

        /// The margin, known or bounded from below. It is relative to the largest norm of the training points (after
        /// lifting, if points are lifted). Default: at least 1/256.
        margin: Margin,

        /// The fraction of the sample that is held out for the choice among the candidates. Default: 0.2.
        held_out: f64,

        /// The number of passes over the training part. Default: 1.
        passes: u64,

        /// The number of iterates that are drawn as candidates for each guess; repeated draws count once. Default: 32.
        candidates: u64,

        /// Whether the halfspace has a bias. Default: true.
        lift: bool,

        /// The number of threads. The guesses and the candidates are divided among the threads. The fit does not depend
        /// on the number of threads. Default: one.
        threads: Threads,

        /// The seed for the split and for the learner's random numbers. Default: 0.
        seed: u64,
    }
}

impl Params for SampleParams {
    type Learner = SamplePerspectron;
    type Error = InputError;

    /// # Errors
    /// [`InputError::ParameterOutOfRange`] for η outside [0, 1/2), a margin outside (0, 1], a held-out fraction outside
    /// (0, 1), or zero passes or candidates.
    fn check(self) -> Result<SamplePerspectron, InputError> {
        if let Some(noise) = self.noise {
            check_noise(noise)?;
        }
        self.margin.check(1.0)?;
        let in_range = self.held_out > 0.0 && self.held_out < 1.0;
        let requirement = "above 0 and below 1";
        InputError::check_parameter("held_out", self.held_out, in_range, requirement)?;
        for (name, value) in [("passes", self.passes), ("candidates", self.candidates)] {
            InputError::check_parameter(name, value as f64, value > 0, "at least 1")?;
        }
        Ok(SamplePerspectron(self))
    }
}

/// The Perspectron for a sample of fixed size, if neither the noise rate nor the margin is known. If you do not know
/// which learner to use on your data, use this one.
///
/// The sample is split into a training part and a held-out part. On the training part, one Perspectron runs for each
/// guess of the noise rate and the margin. Its step size is that of the theorem for the number of available examples.
/// The candidates are random iterates of each guess, and the mean of these iterates. The fit returns the candidate with
/// the fewest held-out errors.
///
/// *Guarantee.* Let the examples be independent, with any distribution. Then with probability at least 1 - δ, the error
/// of the result on fresh examples is at most [`SampleFit::error_bound`]`(δ)`. This is the error rate on the m held-out
/// examples, plus √(ln(|H|/δ)/(2m)). Under Massart noise and with one pass, the iterates of a correct guess have an
/// average error of at most η + [`schedule::average_excess_max`]. Several passes and the mean as a candidate are
/// heuristics; the first guarantee also holds with them.
///
/// *Cost.* A pass takes O(d) time for each example and guess. By default there are 54 guesses: 6 noise rates times 9
/// margins. Each candidate takes O(d) memory; by default there are at most 33 candidates per guess. Counting the errors
/// of the candidates on the held-out part takes additional time.
///
/// *When to use it.* Use this learner for any sample of your own. If η and γ are known and there are enough examples
/// for the theorem, [`Perspectron`](crate::Perspectron) guarantees in advance that the error is at most η + ε.
///
/// *Source.* CKST24 Algorithm 1 and Appendix A, with the examples of a sample. *Claims:* PR, PRe.
///
/// ```
/// use halfspaces_data::{Instance, MarginBall, Massart, Region, random_target};
/// use halfspaces_linalg::{FitSample, Params};
/// use halfspaces_pac::SamplePerspectron;
/// let target = random_target(5, 1)?;
/// let noise = Massart::new(0.2, Region::Far(0.4))?;
/// let instance = Instance::new(MarginBall::new(&target, 0.2)?, target, noise)?;
/// let (points, labels) = instance.sample(5000, 2)?;
///
/// let fit = SamplePerspectron::params().lift(false).check()?.fit(&points, &labels)?;
/// let error = instance.population(5000, 3)?.error(fit.halfspace().linear())?.mean();
/// assert!(error <= 0.25 && error <= fit.error_bound(0.05)?.value());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SamplePerspectron(SampleParams);

/// The model fitted by [`SamplePerspectron`]: a [`Classifier`](halfspaces_linalg::Classifier) of the original points,
/// with a bound on its error.
///
/// ```
/// use halfspaces_data::Builtin;
/// use halfspaces_linalg::{FitSample, Params};
/// use halfspaces_pac::{ErrorBound, SamplePerspectron};
/// let data = Builtin::Wdbc.load()?;
/// let fit = SamplePerspectron::params().check()?.fit(data.points(), data.labels())?;
/// let rate = fit.held_out_errors() as f64 / fit.held_out() as f64;
/// let accuracy = ((fit.candidates() as f64 / 0.05).ln() / (2.0 * fit.held_out() as f64)).sqrt();
/// assert_eq!(fit.error_bound(0.05)?, ErrorBound::AtMost(rate + accuracy));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct SampleFit {
    halfspace: AffineHalfspace,
    noise: f64,
    margin: f64,
    candidates: usize,
    held_out: u64,
    errors: u64,
    steps: u64,
}

load_checked!(SampleFit {
    halfspace: AffineHalfspace,
    noise: f64,
    margin: f64,
    candidates: usize,
    held_out: u64,
    errors: u64,
    steps: u64,
});

#[cfg(feature = "serde")]
impl CheckSaved for SampleFit {
    fn check_saved(&self) -> Result<(), InputError> {
        let SampleFit { noise, margin, candidates, held_out, errors, steps, .. } = *self;
        check_noise(noise)?;
        saved("margin", margin, margin > 0.0 && margin <= 1.0)?;
        saved("candidates", candidates as f64, candidates > 0)?;
        saved("steps", steps as f64, steps > 0)?;
        saved("errors", errors as f64, errors <= held_out && held_out > 0)
    }
}

impl SampleFit {
    getters! {
        /// The halfspace, in the coordinates of the original points.
        halfspace: &AffineHalfspace,

        /// The noise rate η of the chosen guess.
        noise: f64,

        /// The margin γ of the chosen guess, relative to the largest norm.
        margin: f64,

        /// The number |H| of candidates that were compared.
        candidates: usize,

        /// The number m of held-out examples.
        held_out: u64,

        /// The number of errors of the chosen candidate on held-out examples.
        held_out_errors: u64 => errors,

        /// The number of updates per guess: the number of training examples times the number of passes.
        steps: u64,
    }

    /// An upper bound on the error on fresh examples, whose labels may be noisy. The bound fails with probability at
    /// most `failure`. It equals [`SampleFit::hoeffding_sum`] if that sum is below 1.
    ///
    /// # Errors
    /// [`InputError::ParameterOutOfRange`] for a `failure` outside (0, 1).
    pub fn error_bound(&self, failure: f64) -> Result<ErrorBound, InputError> {
        let in_range = failure > 0.0 && failure < 1.0;
        InputError::check_parameter("failure", failure, in_range, "above 0 and below 1")?;
        let bound = self.hoeffding_sum(failure);
        Ok(if bound < 1.0 { ErrorBound::AtMost(bound) } else { ErrorBound::NoInformation })
    }

    /// The held-out error rate plus √(ln(|H|/failure)/(2m)), by Hoeffding's inequality for all candidates. A sum of 1
    /// or more carries no information. Returns infinity for a `failure` outside (0, 1]. In reports, use
    /// [`SampleFit::error_bound`] instead.
    #[must_use]
    pub fn hoeffding_sum(&self, failure: f64) -> f64 {
        if !(failure > 0.0 && failure <= 1.0) {
            return f64::INFINITY;
        }
        let m = self.held_out as f64;
        let accuracy = ((self.candidates as f64 / failure).ln() / (2.0 * m)).sqrt();
        self.errors as f64 / m + accuracy
    }
}

classify_by!(SampleFit, halfspace);

impl SamplePerspectron {
    /// The default parameters: one pass over 4/5 of the sample, six guesses of the noise rate, margins of at least
    /// 1/256 of the largest norm, a halfspace with a bias, and 32 iterates drawn per guess.
    #[must_use]
    pub fn params() -> SampleParams {
        SampleParams {
            noise: None,
            margin: Margin::AtLeast(1.0 / 256.0),
            held_out: 0.2,
            passes: 1,
            candidates: 32,
            lift: true,
            threads: Threads::ONE,
            seed: 0,
        }
    }

    /// The noise rate and the margin of each guess.
    fn guesses(&self) -> Vec<(f64, f64)> {
        let noises = self.0.noise.map_or(NOISE_GUESSES.to_vec(), |noise| vec![noise]);
        let margins = self.0.margin.guesses(1.0);
        noises.iter().flat_map(|&n| margins.iter().map(move |&m| (n, m))).collect()
    }
}

impl FitSample for SamplePerspectron {
    type Model = SampleFit;
    type Error = InputError;

    /// Fits a halfspace to a sample. The largest norm of the points may have any value between 1e-150 and 1e150.
    ///
    /// # Errors
    /// [`InputError::Empty`] for fewer than two points; [`InputError::LengthMismatch`]; [`InputError::ZeroVector`] if
    /// no training point has a norm of 1e-150 or more; [`InputError::Overflow`] for a norm above 1e150.
    fn fit<P: PointSet>(&self, points: &P, labels: &[Label]) -> Result<SampleFit, InputError> {
        let SampleParams { held_out, passes, candidates, lift, threads, seed, .. } = self.0;
        InputError::check_len(points.len(), labels.len())?;
        if points.len() < 2 {
            return Err(InputError::Empty);
        }
        let norms = points.norms();
        // Squared norms and the scale 1/R must stay within the range of `f64`.
        if let Some(row) = norms.iter().position(|r| r.is_nan() || *r > LARGEST_NORM) {
            return Err(InputError::Overflow { row });
        }
        let mut rng = rng_for(streams::SPLIT, seed);
        let mut order: Vec<usize> = (0..points.len()).collect();
        order.shuffle(&mut rng);
        let for_choice = (held_out * points.len() as f64).round() as usize;
        let for_choice = for_choice.clamp(1, points.len() - 1);
        let (validation, training) = order.split_at_mut(for_choice);
        let steps = (training.len() as u64).saturating_mul(passes);
        // The candidates must not depend on the held-out part, not even on its largest norm.
        let radius = training.iter().map(|&i| norms[i]).fold(0.0, f64::max);
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
            let retention = Retention::drawn(candidates, steps, &mut rng)?;
            Ok(Lane::new(direction, step, 1, steps, retention))
        };
        let lanes = guesses.iter().map(lane).collect::<Result<_, InputError>>()?;
        let settings = Settings {
            placement: Placement { scale: 1.0 / radius, lift },
            project: true,
            elimination: Elimination::Lossless,
            threads,
            seed,
        };
        let mut fitting =
            Fitting::new(points.dim(), lanes, validation.len() as u64, settings, None, 1.0)?
                .with_means()
                .with_clipping();
        for pass in 0..passes {
            if pass > 0 {
                training.shuffle(&mut rng);
            }
            for together in training.chunks(fitting.batch_rows().min(training.len())) {
                let example = |i: &usize| (row(points, *i), labels[*i]);
                let examples: Vec<_> = together.iter().map(example).collect();
                fitting.learn_from(&examples)?;
            }
        }
        for &i in validation.iter() {
            fitting.observe(row(points, i), labels[i])?;
        }
        let fit = fitting.finish()?;
        let (noise, margin) = guesses[fit.origin().lane];
        Ok(SampleFit {
            halfspace: fit.affine()?,
            noise,
            margin,
            candidates: fit.candidates(),
            held_out: fit.validation(),
            errors: fit.validation_errors(),
            steps: fit.training(),
        })
    }
}

fn row<P: PointSet>(points: &P, index: usize) -> P::Row<'_> {
    let Some(x) = points.row(index) else {
        unreachable!("the order contains indices of the points")
    };
    x
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorCount;
    use halfspaces_data::{Builtin, Instance, MarginBall, Rcn, random_target};
    use halfspaces_features::{FeatureMap, ZScore};
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
            assert_eq!(fit.halfspace().label(x), scaled.halfspace().label(big));
            assert!(x.norm_sq() < big.norm_sq());
        }
        assert_eq!((fit.held_out(), fit.steps()), (160, 640));
        let (errors, candidates) = (fit.held_out_errors() as f64, fit.candidates() as f64);
        let bound = errors / 160.0 + ((candidates / 0.05).ln() / 320.0).sqrt();
        assert!((fit.hoeffding_sum(0.05) - bound).abs() < 1e-12);
        assert!(fit.candidates() > 1000);
    }

    #[test]
    fn threads_change_nothing() {
        let (points, labels) = noisy(700, 3);
        for params in [SamplePerspectron::params(), SamplePerspectron::params().passes(2)] {
            let fit = |count: usize| {
                let params = params.threads(Threads::new(count).unwrap());
                params.check().unwrap().fit(&points, &labels).unwrap()
            };
            assert_eq!(fit(2), fit(1));
            assert_eq!(fit(5), fit(1));
        }
    }

    /// Fits a halfspace to real data with the original labels, and tests it on held-out examples.
    #[test]
    fn real_data() {
        let (points, labels, _) = Builtin::Wdbc.load().unwrap().into_parts();
        let points = ZScore::fit(&points).unwrap().apply(&points).unwrap();
        let (first, last): (Vec<usize>, Vec<usize>) = (0..569).partition(|i| i % 4 != 0);
        let of = |part: &[usize]| -> Vec<Label> { part.iter().map(|&i| labels[i]).collect() };
        let learner = SamplePerspectron::params().passes(20).check().unwrap();
        let fit = learner.fit(&points.select(&first).unwrap(), &of(&first)).unwrap();
        let fresh = points.select(&last).unwrap();
        let error = ErrorCount::count(fit.halfspace(), &fresh, &of(&last)).unwrap().rate();
        assert!(error < 0.08, "{error}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        /// The bound on the error holds far more often than required.
        #[test]
        fn the_bound_holds(seed in 0u64..1000) {
            let (points, labels) = noisy(400, seed);
            let fit = SamplePerspectron::params().check().unwrap().fit(&points, &labels).unwrap();
            let (points, labels) = noisy(4000, seed + 5000);
            let error = ErrorCount::count(fit.halfspace(), &points, &labels).unwrap().rate();
            prop_assert!(error <= fit.hoeffding_sum(0.05), "{} {}", error, fit.hoeffding_sum(0.05));
        }
    }

    #[test]
    fn bad_input_is_typed() {
        let base = SamplePerspectron::params;
        for (params, expected, bad) in [
            (base().noise(0.5), "noise", 0.5),
            (base().margin(Margin::Known(0.0)), "margin", 0.0),
            (base().margin(Margin::AtLeast(1.5)), "margin", 1.5),
            (base().held_out(0.0), "held_out", 0.0),
            (base().passes(0), "passes", 0.0),
            (base().candidates(0), "candidates", 0.0),
        ] {
            let Err(InputError::ParameterOutOfRange { name, value, .. }) = params.check() else {
                panic!("{expected} = {bad} is accepted")
            };
            assert_eq!((name, value), (expected, bad));
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

    /// A distant held-out point changes only the number of errors.
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
            let mut both = far.halfspace().weights().iter().zip(fit.halfspace().weights());
            if both.any(|(a, b)| a.to_bits() != b.to_bits()) {
                changed += 1;
                continue;
            }
            // The point is so distant that its squared norm, relative to the radius, overflows.
            let farther = with_far(i, 1e159);
            assert_eq!(farther.halfspace(), far.halfspace(), "{i}");
            assert_eq!(farther.held_out_errors(), far.held_out_errors(), "{i}");
        }
        // All 160 training points matter. Of the 40 other points, only those that change the choice may matter.
        assert!((160..175).contains(&changed), "{changed}");
    }

    /// There is one point per axis, so only the intercept determines the predictions for held-out points. A fit without
    /// errors on the held-out points must have used them.
    #[test]
    fn what_is_held_out_is_not_learned_from() {
        let rows: Vec<Vec<f64>> =
            (0..40).map(|i| (0..40).map(|j| f64::from(u8::from(i == j))).collect()).collect();
        let points = halfspaces_linalg::Points::from_rows(&rows).unwrap();
        let labels: Vec<Label> =
            (0..40).map(|i| Label::from_sign(if i % 2 == 0 { 1.0 } else { -1.0 })).collect();
        for seed in 0..5 {
            let fit = SamplePerspectron::params()
                .passes(30)
                .seed(seed)
                .check()
                .unwrap()
                .fit(&points, &labels)
                .unwrap();
            assert!(fit.held_out() == 8 && fit.held_out_errors() >= 1, "{fit:?}");
        }
    }
}
