//! The Perspectron with a known noise rate and an unknown margin.
//!
//! The search tries the margins R, R/2, R/4 and so on. For each margin, it fits a halfspace with the target excess ε/2
//! and counts the errors of the halfspace on fresh examples. It stops as soon as the error rate is at most η + 3ε/4.
//!
//! *Guarantee.* With probability at least 1 - δ, the search stops no later than at the first guess that is at most the
//! true margin γ, and the error is at most η + ε. Guess j fails with probability at most δ/2^(j+1). Half of this
//! probability is for the fit. The other half is for the count, whose error rate must be within ε/4 of the true error.
//!
//! *Source.* The search is ours; see docs/theory/perspectron-schedules.md.

use super::common::fit_in_order;
use super::massart::PerspectronParams;
use crate::fit::{Fit, Guarantee, Stage};
use crate::noise_setting::NoiseSetting;
use crate::schedule;
use halfspaces_linalg::{
    Classifier, ExampleStream, FitError, FitStream, InputError, Params, Termination, classify_by,
    getters,
};

/// The maximum number of guesses. The last guess is 2⁻³⁹ of the radius.
const MAX_GUESSES: u32 = 40;

/// Searches for the margin of a Perspectron with a known noise rate.
///
/// The search tries the margins R, R/2, R/4 and so on. For each margin, it fits a halfspace with the target excess ε/2
/// and counts the errors of the halfspace on fresh examples. It stops as soon as the error rate is at most η + 3ε/4.
///
/// *Guarantee.* With probability at least 1 - δ, the search stops no later than at the first guess that is at most the
/// true margin γ, and the error is at most η + ε.
///
/// *Cost.* The search makes one pass. Guess j = 0, 1, ... needs the examples of a [`Perspectron`](crate::Perspectron)
/// with the margin R/2ʲ, the excess ε/2 and the failure probability δ/2^(j+2), and another (8/ε²) ln(2^(j+3)/δ)
/// examples to count errors. The last guess dominates the cost.
///
/// *When to use it.* Use the search if η is known and γ is not. If both are unknown, use
/// [`GridPerspectron`](crate::GridPerspectron). For a sample of fixed size, use
/// [`SamplePerspectron`](crate::SamplePerspectron).
///
/// *Source.* The search is ours; see docs/theory/perspectron-schedules.md. *Claims:* P6m.
///
/// ```
/// use halfspaces_data::{Instance, MarginBall, Rcn, random_target};
/// use halfspaces_linalg::{FitStream, Termination};
/// use halfspaces_pac::{MarginSearch, Perspectron};
/// let target = random_target(3, 1)?;
/// let instance = Instance::new(MarginBall::new(&target, 0.4)?, target, Rcn::new(0.1)?)?;
/// let params = Perspectron::params(0.1, 1.0).excess(0.4).failure(0.1);
/// let found = MarginSearch::new(params)?.fit_stream(&mut instance.stream(2))?;
/// assert_eq!(found.termination(), Termination::Converged);
/// assert!(found.margin() >= 0.2); // at most one halving beyond the true margin
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MarginSearch {
    params: PerspectronParams,
}

/// The result of a [`MarginSearch`]: a [`Classifier`], the last guess of the margin, and how the search ended.
///
/// ```
/// use halfspaces_linalg::{FitSample, Label, Points, Termination};
/// use halfspaces_pac::{Guarantee, MarginSearch, Perspectron};
/// let params = Perspectron::params(0.0, 1.0).excess(0.8).failure(0.5);
/// let search = MarginSearch::new(params)?;
/// let found = |n| -> Result<_, Box<dyn std::error::Error>> {
///     Ok(search.fit(&Points::new(vec![1.0; n], 1)?, &vec![Label::Positive; n])?)
/// };
/// assert_eq!(found(100)?.termination(), Termination::ExamplesEnded);
/// assert_eq!(found(100)?.guarantee(), None);
/// let found = found(10_000)?;
/// assert_eq!(found.termination(), Termination::Converged);
/// assert_eq!(found.guarantee(), Some(Guarantee { excess: 0.8, failure: 0.5 }));
/// // The guesses are 1, 1/2, 1/4, ...
/// assert_eq!(found.margin(), 0.5f64.powi(found.guesses() as i32 - 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SearchFit {
    fit: Fit,
    margin: f64,
    guesses: u32,
    termination: Termination,
    guarantee: Guarantee,
}

impl SearchFit {
    getters! {
        /// The last fit. It has no guarantee of its own, because its margin is only a guess.
        fit: &Fit,

        /// The margin of the last fit.
        margin: f64,

        /// The number of guesses.
        guesses: u32,

        /// How the search ended. This is [`Termination::Converged`] if the error is at most η + ε with probability at
        /// least 1 - δ. It is [`Termination::AssumptionFailed`] if no guess down to 2⁻³⁹ of the radius gave a halfspace
        /// with a sufficiently low error rate. The noise rate is then higher than stated, or there is no margin. In
        /// that case, and after [`Termination::ExamplesEnded`], the last fit is returned without a guarantee.
        termination: Termination,
    }

    /// The guarantee that the error is at most η + ε with probability at least 1 - δ. Returns `None` if the search did
    /// not converge.
    #[must_use]
    pub fn guarantee(&self) -> Option<Guarantee> {
        Some(self.guarantee).filter(|_| self.termination.is_converged())
    }
}

classify_by!(SearchFit, fit);

impl MarginSearch {
    /// Creates a search with the parameters of a [`Perspectron`](crate::Perspectron). The search does not use their
    /// margin.
    ///
    /// # Errors
    /// Returns an error if the parameters are invalid.
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
        // The number of examples that earlier guesses used.
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

fit_in_order!(MarginSearch: SearchFit);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Perspectron;
    use halfspaces_data::LabelledPoints;
    use halfspaces_linalg::{FitSample, Label, Points, RngStream, rng_for};
    use rand::RngExt;

    /// Creates two pairs of opposite points: a frequent pair of long points, and a rare pair of short points. With a
    /// margin of 1 or 0.5, the rare pair cannot turn w, although its margin exceeds 0.04.
    fn lever(n: usize, seed: u64) -> (Points, Vec<Label>) {
        let mut rng = rng_for(RngStream::CALLER, seed);
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

    /// Repeats the guesses of the search one by one, with the numbers in the documentation.
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
            // The fit and the count each have the failure probability δ/2^(j+2).
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
            // The threshold is η + 3ε/4 = 0.25.
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
