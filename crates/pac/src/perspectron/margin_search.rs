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

use crate::fit::{Fit, Stage};
use crate::noise_setting::NoiseSetting;
use crate::perspectron::massart::{Perspectron, PerspectronParams};
use crate::schedule;
use halfspaces_linalg::{Classifier, ExampleStream, FitError, InputError};

/// Guesses before the search gives up: 2⁻⁴⁰ of the radius.
const MAX_GUESSES: u32 = 40;

/// A search for the margin, around the parameters of a [`Perspectron`] whose margin is not used.
///
/// ```
/// use halfspaces_data::{Instance, MarginBall, Rcn, random_target};
/// use halfspaces_pac::{MarginSearch, Perspectron, SearchStatus};
/// let target = random_target(3, 1)?;
/// let instance = Instance::new(MarginBall::new(&target, 0.4)?, target, Rcn::new(0.1)?)?;
/// let params = Perspectron::params(0.1, 1.0).excess(0.4).failure(0.1);
/// let found = MarginSearch::new(0.1, params)?.fit(&mut instance.stream(2))?;
/// assert_eq!(found.status, SearchStatus::Found);
/// assert!(found.margin >= 0.2); // at most one halving beyond the true margin
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MarginSearch {
    params: PerspectronParams,
}

/// How a search ended.
///
/// ```
/// use halfspaces_data::LabelledPoints;
/// use halfspaces_linalg::{Label, Points};
/// use halfspaces_pac::{MarginSearch, Perspectron, SearchStatus};
/// let search = MarginSearch::new(0.0, Perspectron::params(0.0, 1.0).excess(0.8).failure(0.5))?;
/// let status = |n| -> Result<SearchStatus, Box<dyn std::error::Error>> {
///     let (points, labels) = (Points::new(vec![1.0; n], 1)?, vec![Label::Positive; n]);
///     Ok(search.fit(&mut LabelledPoints::new(&points, &labels)?)?.status)
/// };
/// assert_eq!(status(100)?, SearchStatus::ExamplesEnded);
/// assert_eq!(status(10_000)?, SearchStatus::Found);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum SearchStatus {
    /// A halfspace of error at most η + ε was found, with probability at least 1 - δ.
    Found,
    /// The examples ended first; the last fit is returned, and nothing is promised of it.
    ExamplesEnded,
    /// No guess down to 2⁻⁴⁰ of the radius gave a halfspace of that error: the noise rate is higher than
    /// stated, or there is no margin. The last fit is returned.
    NotFound,
}

/// What a search has found.
///
/// ```
/// use halfspaces_data::{Instance, MarginBall, Rcn, random_target};
/// use halfspaces_pac::{MarginSearch, Perspectron, SearchStatus};
/// let target = random_target(2, 1)?;
/// let instance = Instance::new(MarginBall::new(&target, 0.6)?, target, Rcn::new(0.1)?)?;
/// let params = Perspectron::params(0.1, 1.0).excess(0.5).failure(0.2);
/// let found = MarginSearch::new(0.1, params)?.fit(&mut instance.stream(2))?;
/// assert_eq!(found.status, SearchStatus::Found);
/// // The guesses are 1, 1/2, 1/4, ...
/// assert_eq!(found.margin, 0.5f64.powi(found.guesses as i32 - 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SearchFit {
    /// The last fit. Its own status promises nothing: its margin is a guess.
    pub fit: Fit,
    /// The margin guessed in it.
    pub margin: f64,
    /// Guesses made.
    pub guesses: u32,
    /// How it ended.
    pub status: SearchStatus,
}

impl MarginSearch {
    /// For flips of probability at most `noise`; every other parameter is that of `params`.
    ///
    /// # Errors
    /// As [`PerspectronParams::check`].
    pub fn new(noise: f64, params: PerspectronParams) -> Result<MarginSearch, InputError> {
        let (margin, setting) = (params.largest_margin(), params.setting());
        let params = params.with_setting(NoiseSetting { noise, margin, ..setting });
        params.check()?;
        Ok(MarginSearch { params })
    }

    /// Learns from a stream, in one pass.
    ///
    /// # Errors
    /// [`FitError`].
    pub fn fit<S: ExampleStream>(&self, stream: &mut S) -> Result<SearchFit, FitError<S::Error>> {
        let NoiseSetting { noise, mut margin, excess, failure } = self.params.setting();
        let mut guesses = 0;
        // Examples taken by earlier guesses.
        let mut before = 0;
        loop {
            let share = schedule::guess_failure(failure, guesses) / 2.0;
            let setting = NoiseSetting { noise, margin, excess: excess / 2.0, failure: share };
            let learner: Perspectron =
                self.params.with_setting(setting).check().map_err(FitError::Input)?;
            let mut fitting = learner.start(stream.dim()).map_err(FitError::Input)?;
            let stage = fitting.advance(stream).map_err(|error| error.after(before))?;
            guesses += 1;
            let fit = fitting.finish().map_err(FitError::Input)?.unpromised();
            before += fit.training() + fit.validation();
            let done = |fit, status| Ok(SearchFit { fit, margin, guesses, status });
            if stage != Stage::Complete {
                return done(fit, SearchStatus::ExamplesEnded);
            }
            let planned = schedule::held_out(excess, share);
            let mut errors = 0u64;
            for taken in 0..planned {
                match stream.next_row() {
                    Err(source) => return Err(FitError::Stream { taken: before + taken, source }),
                    Ok(None) => return done(fit, SearchStatus::ExamplesEnded),
                    Ok(Some((x, label))) => {
                        let predicted = fit.label(x).map_err(|source| FitError::Example {
                            taken: before + taken,
                            source,
                        })?;
                        errors += u64::from(predicted != label);
                    }
                }
            }
            if errors as f64 <= (noise + 0.75 * excess) * planned as f64 {
                return done(fit, SearchStatus::Found);
            }
            before += planned;
            if guesses == MAX_GUESSES {
                return done(fit, SearchStatus::NotFound);
            }
            margin /= 2.0;
        }
    }
}
