//! The Perspectron with a known noise rate and an unknown margin.
//!
//! For margins γ₀ = R, R/2, R/4, ...: fit for the excess ε/2; count the errors on fresh examples; stop
//! when their rate is at most η + 3ε/4.
//!
//! *Guarantee.* With probability at least 1 - δ it stops no later than at the first guess below the true
//! margin γ, with an error of at most η + ε: guess j may fail with probability δ/2^(j+1), half of it for
//! the fit and half for the count, which is within ε/4.
//!
//! *Source.* Ours; docs/theory/perspectron-schedules.md.

use super::massart::PerspectronParams;
use crate::fit::{Fit, Guarantee, Stage};
use crate::noise_setting::NoiseSetting;
#[cfg(feature = "serde")]
use crate::saved::{CheckSaved, saved};
use crate::schedule;
use halfspaces_data::LabelledPoints;
use halfspaces_linalg::{
    Classifier, ExampleStream, FitError, FitSample, FitStream, InputError, Label, Params, PointSet,
    Termination, classify_by, load_checked,
};

/// Guesses before the search gives up: the last is 2⁻³⁹ of the radius.
const MAX_GUESSES: u32 = 40;

/// A Perspectron for a known noise rate and an unknown margin.
///
/// For margins R, R/2, R/4, ...: fit for the excess ε/2, count the errors on fresh examples, and stop when
/// their rate is at most η + 3ε/4.
///
/// *Guarantee.* With probability at least 1 - δ it stops no later than at the first guess that is at most the
/// true margin γ, with an error of at most η + ε.
///
/// *Cost.* One pass. Guess j = 0, 1, ... takes the examples of a [`Perspectron`](crate::Perspectron) for the
/// margin R/2ʲ, ε/2 and δ/2^(j+2), and (8/ε²) ln(2^(j+3)/δ) to count errors on; the last guess dominates.
///
/// Use it where η is known and γ is not. Where neither is, use [`GridPerspectron`](crate::GridPerspectron);
/// for a sample of fixed size, [`SamplePerspectron`](crate::SamplePerspectron).
///
/// *Source.* Ours; docs/theory/perspectron-schedules.md. *Claims:* P6m.
///
/// ```
/// use halfspaces_data::{Instance, MarginBall, Rcn, random_target};
/// use halfspaces_linalg::{FitStream, Termination};
/// use halfspaces_pac::{MarginSearch, Perspectron};
/// let target = random_target(3, 1)?;
/// let instance = Instance::new(MarginBall::new(&target, 0.4)?, target, Rcn::new(0.1)?)?;
/// let params = Perspectron::params(0.1, 1.0).excess(0.4).failure(0.1);
/// let found = MarginSearch::new(params)?.fit_stream(&mut instance.stream(2))?;
/// assert_eq!(found.termination, Termination::Converged);
/// assert!(found.margin >= 0.2); // at most one halving beyond the true margin
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct MarginSearch {
    params: PerspectronParams,
}

load_checked!(MarginSearch { params: PerspectronParams } => MarginSearch::new);

/// What a [`MarginSearch`] has found: a [`Classifier`], the margin guessed last, and how the search ended.
///
/// ```
/// use halfspaces_linalg::{FitSample, Label, Points, Termination};
/// use halfspaces_pac::{Guarantee, MarginSearch, Perspectron};
/// let params = Perspectron::params(0.0, 1.0).excess(0.8).failure(0.5);
/// let search = MarginSearch::new(params)?;
/// let found = |n| -> Result<_, Box<dyn std::error::Error>> {
///     Ok(search.fit(&Points::new(vec![1.0; n], 1)?, &vec![Label::Positive; n])?)
/// };
/// assert_eq!(found(100)?.termination, Termination::ExamplesEnded);
/// assert_eq!(found(100)?.guarantee(), None);
/// let found = found(10_000)?;
/// assert_eq!(found.termination, Termination::Converged);
/// assert_eq!(found.guarantee(), Some(Guarantee { excess: 0.8, failure: 0.5 }));
/// // The guesses are 1, 1/2, 1/4, ...
/// assert_eq!(found.margin, 0.5f64.powi(found.guesses as i32 - 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct SearchFit {
    /// The last fit. It has no guarantee of its own, as its margin is a guess.
    pub fit: Fit,
    /// The margin guessed in it.
    pub margin: f64,
    /// Guesses made.
    pub guesses: u32,
    /// [`Termination::Converged`] if the error is at most η + ε, with probability at least 1 - δ;
    /// [`Termination::AssumptionFailed`] if no guess down to 2⁻³⁹ of the radius gave such a halfspace: the
    /// noise rate is higher than stated, or there is no margin. Then, and after
    /// [`Termination::ExamplesEnded`], the last fit is returned without a guarantee.
    pub termination: Termination,
    guarantee: Guarantee,
}

impl SearchFit {
    /// An error of at most η + ε with probability at least 1 - δ, if the search has converged.
    #[must_use]
    pub fn guarantee(&self) -> Option<Guarantee> {
        Some(self.guarantee).filter(|_| self.termination.is_converged())
    }
}

classify_by!(SearchFit, fit);

load_checked!(SearchFit {
    fit: Fit,
    margin: f64,
    guesses: u32,
    termination: Termination,
    guarantee: Guarantee,
});

#[cfg(feature = "serde")]
impl CheckSaved for SearchFit {
    fn check_saved(&self) -> Result<(), InputError> {
        let SearchFit { fit, margin, guesses, termination, guarantee } = self;
        let none = fit.guarantee().or(fit.average_guarantee()).is_none();
        InputError::check_state(none, "a fit for a guessed margin has a guarantee")?;
        let made = (1..=MAX_GUESSES).contains(guesses);
        saved("guesses", f64::from(*guesses), made)?;
        // R, R/2, R/4, ...
        let first = margin * 2f64.powf(f64::from(*guesses) - 1.0) * fit.scale();
        saved("margin", *margin, (first - 1.0).abs() < 1e-9)?;
        let complete = fit.termination().is_converged();
        let ended = match termination {
            Termination::Converged => complete,
            Termination::ExamplesEnded => true,
            Termination::AssumptionFailed => complete && *guesses == MAX_GUESSES,
            Termination::CapReached { .. } | Termination::Stalled => false,
        };
        saved("guesses, for how the search ended,", f64::from(*guesses), ended)?;
        guarantee.check_saved()
    }
}

impl MarginSearch {
    /// A search with the parameters of a [`Perspectron`](crate::Perspectron), whose margin is not used.
    ///
    /// # Errors
    /// As the check of the parameters.
    pub fn new(params: PerspectronParams) -> Result<MarginSearch, InputError> {
        let setting = NoiseSetting { margin: params.largest_margin(), ..params.setting() };
        let params = params.with_setting(setting);
        params.check()?;
        Ok(MarginSearch { params })
    }
}

impl FitStream for MarginSearch {
    type Model = SearchFit;

    fn fit_stream<S: ExampleStream>(
        &self,
        stream: &mut S,
    ) -> Result<SearchFit, FitError<S::Error>> {
        let NoiseSetting { noise, mut margin, excess, failure } = self.params.setting();
        let guarantee = Guarantee { excess, failure };
        let mut guesses = 0;
        // Examples taken by earlier guesses.
        let mut before = 0;
        loop {
            let share = schedule::guess_failure(failure, guesses) / 2.0;
            let setting = NoiseSetting { noise, margin, excess: excess / 2.0, failure: share };
            let learner = self.params.with_setting(setting).check()?;
            let mut fitting = learner.start(stream.dim())?;
            let stage = fitting.advance(stream).map_err(|error| error.after(before))?;
            guesses += 1;
            let fit = fitting.finish()?.without_guarantee();
            before += fit.training() + fit.validation();
            let done =
                |fit, termination| Ok(SearchFit { fit, margin, guesses, termination, guarantee });
            if stage != Stage::Complete {
                return done(fit, Termination::ExamplesEnded);
            }
            let planned = schedule::held_out(excess, share);
            let mut errors = 0u64;
            for taken in 0..planned {
                match stream.next_row() {
                    Err(source) => return Err(FitError::Stream { taken: before + taken, source }),
                    Ok(None) => return done(fit, Termination::ExamplesEnded),
                    Ok(Some((x, label))) => {
                        let predicted = fit
                            .label(x)
                            .map_err(|source| FitError::at_example(before + taken, source))?;
                        errors += u64::from(predicted != label);
                    }
                }
            }
            if errors as f64 <= (noise + 0.75 * excess) * planned as f64 {
                return done(fit, Termination::Converged);
            }
            before += planned;
            if guesses == MAX_GUESSES {
                return done(fit, Termination::AssumptionFailed);
            }
            margin /= 2.0;
        }
    }
}

impl FitSample for MarginSearch {
    type Model = SearchFit;
    type Error = FitError<InputError>;

    /// Streams the sample in its order; its examples must be independent for the guarantee to hold.
    fn fit<P: PointSet>(&self, points: &P, labels: &[Label]) -> Result<SearchFit, Self::Error> {
        self.fit_stream(&mut LabelledPoints::new(points, labels)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Perspectron;
    use halfspaces_linalg::{Points, RngStream, rng_for};
    use rand::RngExt;

    /// Two pairs of opposite points, of which the heavy one is long and the light one short: with a margin of 1 or
    /// 0.5 the light one cannot turn w, although it lies beyond the margin 0.04.
    fn lever(n: usize, seed: u64) -> (Points, Vec<Label>) {
        let mut rng = rng_for(RngStream::Examples, seed);
        let mut coordinates = Vec::new();
        let mut labels = Vec::new();
        for _ in 0..n {
            let x = if rng.random_bool(0.31) { [0.04, -0.08] } else { [0.04, 0.99] };
            let sign = if rng.random() { 1.0 } else { -1.0 };
            coordinates.extend(x.map(|v| sign * v));
            labels.push(Label::from_sign(sign));
        }
        (Points::new(coordinates, 2).unwrap(), labels)
    }

    /// The guesses one by one, with the numbers of the documentation.
    #[test]
    fn the_search_is_its_guesses_one_by_one() {
        let (noise, excess, failure) = (0.1, 0.2, 0.1);
        let (points, labels) = lever(300_000, 1);
        let params = Perspectron::params(noise, 1.0).excess(excess).failure(failure);
        let search = MarginSearch::new(params).unwrap();
        let found = search.fit(&points, &labels).unwrap();
        let mut stream = LabelledPoints::new(&points, &labels).unwrap();
        let mut refused = 0;
        loop {
            let margin = 0.5f64.powi(refused);
            // δ/2^(j+2) for the fit, and as much for the count.
            let share = failure / 2f64.powi(refused + 2);
            let params = Perspectron::params(noise, margin).excess(0.1).failure(share);
            let mut fitting = params.check().unwrap().start(2).unwrap();
            let stage = fitting.advance(&mut stream).unwrap();
            let fit = fitting.finish().unwrap().without_guarantee();
            let planned = (8.0 / (excess * excess) * (2.0 / share).ln()).ceil() as u64;
            let mut errors = 0;
            if stage == Stage::Complete {
                for _ in 0..planned {
                    let (x, label) = stream.next_row().unwrap().unwrap();
                    errors += u64::from(fit.label(x).unwrap() != label);
                }
            }
            // η + 3ε/4 = 0.25.
            if stage != Stage::Complete || errors as f64 <= 0.25 * planned as f64 {
                assert_eq!((&found.fit, found.margin), (&fit, margin));
                assert_eq!(found.guesses as i32, refused + 1);
                break;
            }
            refused += 1;
        }
        assert_eq!(refused, 2, "1 and 0.5 are refused");
    }
}
